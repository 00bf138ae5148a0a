//! Takes a sample: clusters of whole units if hundreds of units fit into the time, or parts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use super::sampled::{Record, Totals};
use super::{Effort, core_hours};
use crate::cancel::Cancel;
use crate::count::range_length;
use crate::engine::Kernel;
use crate::error::Error;
use crate::machine::cpu::Stopwatch;
use crate::observe::{Observer, Sampling};
use crate::plan::{Plan, Prepared, Worker};

/// Clusters that a sample should have, if the time allows it.
const CLUSTERS: u32 = 64;
/// Whole units are counted if there is time for so many of them, and each takes less than this many
/// seconds. Parts say more in the same time, but nothing of what neighbouring units share; that matters
/// for short units only.
const FEWEST_UNITS: usize = 256;
const LONGEST_UNIT: f64 = 0.1;
/// Clusters that a sample has unless they take half as long again as they should, and parts that it always
/// has, unless the plan has fewer units.
const FEWEST_CLUSTERS: usize = 8;
const FEWEST_PARTS: usize = 2;
/// After its time, a sample waits at least this long for what has begun, or half of its time.
const LEAST_WAIT: Duration = Duration::from_secs(1);
/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The most clusters or parts of a sample.
const MOST: usize = 1 << 20;

/// Parts take at least this long on average: the blocks of a backtracker are seldom full in shorter
/// ones. At n = 22, `subtrees` would seem 40 % slower with parts of 0.05 ms. In less time for the
/// sample parts may be shorter, down to `SHORTEST_PART`.
const PART: f64 = 2e-3;
const SHORTEST_PART: f64 = 1e-4;
/// Parts that are tried to find the depth for this.
const TRIED: f64 = 16.0;

/// Spreads the numbers of turns over all seeds: 2^64 divided by the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Lists of units up to this length are gone through evenly, in a random order.
const LISTED: usize = 1 << 16;

pub(super) struct Sample<'a> {
    pub(super) plan: &'a Plan,
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) kernel: Kernel,
    pub(super) effort: Effort,
}

/// What is counted, in the order of the threads' turns.
enum Turns {
    /// Clusters of neighbouring units.
    Clusters { chosen: Vec<usize>, length: usize },
    /// Parts of units at this depth. A short list of units is gone through in this order.
    Parts { depth: usize, order: Vec<usize> },
}

/// What the threads have counted, by turns.
type Records = Mutex<BTreeMap<usize, Record>>;

/// A sample, and how long it took.
pub(super) struct Taken {
    pub(super) sampled: Totals,
    pub(super) elapsed: Duration,
    /// Whether it was cancelled before its end.
    pub(super) cancelled: bool,
}

impl Sample<'_> {
    /// Takes the sample on the current rayon pool.
    pub(super) fn take(&self, observer: &dyn Observer, cancel: &Cancel) -> Result<Taken, Error> {
        let begun = Instant::now();
        let is_whole = self.has_time_for_whole_units() || self.prepared.worker().deepest() == 0;
        let records = Mutex::default();
        let ended = self.watched(begun, &records, observer, cancel, |cancel| {
            let turns = if is_whole { self.clusters(cancel)? } else { self.parts(cancel)? };
            self.count(&turns, begun, &records, cancel)
        });
        let records = records.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A sample that is cut short would favour the clusters that are finished early, the cheap ones.
        // Then it is, as in `TimeLeft`, the beginning of the order of turns up to the first one that is
        // missing, if that says anything.
        let beginning = (0..).zip(records.keys()).take_while(|(turn, key)| turn == *key).count();
        let is_beginning = ended.is_err() && beginning >= FEWEST_CLUSTERS;
        let counted = if is_beginning { beginning } else { records.len() };
        let mut sampled = Totals::new(!is_whole);
        records.into_values().take(counted).for_each(|record| sampled.add(record));
        let is_enough = sampled.clusters() >= FEWEST_PARTS || sampled.units == self.plan.units();
        let elapsed = begun.elapsed();
        match ended {
            Err(error) if !error.is_cancelled() => Err(error),
            _ if !is_enough => Err(Error::SampleStopped),
            Err(_) => Ok(Taken { sampled, elapsed, cancelled: cancel.is_cancelled() }),
            Ok(()) => Ok(Taken { sampled, elapsed, cancelled: false }),
        }
    }

    /// Runs a sample, and reports its progress. The cancellation that it is given is raised with the
    /// caller's, or if it takes too long and says something already.
    fn watched<T>(
        &self,
        begun: Instant,
        records: &Records,
        observer: &dyn Observer,
        cancel: &Cancel,
        take: impl FnOnce(&Cancel) -> T,
    ) -> T {
        let stop = Cancel::new();
        let time = self.effort.time;
        let longest = time.saturating_add(LEAST_WAIT.max(time / 2));
        let look = || {
            let counted = records.lock().unwrap_or_else(PoisonError::into_inner).len();
            let elapsed = begun.elapsed();
            if cancel.is_cancelled() || elapsed > longest && counted >= FEWEST_PARTS {
                stop.cancel();
            }
            observer.sampling(&Sampling { elapsed, time, counted });
        };
        thread::scope(|scope| {
            let (end, ended) = channel::<()>();
            let watch = move || {
                while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    look();
                }
            };
            // Where no thread can be started, only the caller can stop what takes too long.
            let watch = Builder::new().name("nqueens-watch".to_owned()).spawn_scoped(scope, watch);
            let result = take(if watch.is_ok() { &stop } else { cancel });
            drop(end);
            result
        })
    }

    /// Seconds of CPU time for the sample.
    fn cpu_seconds(&self) -> f64 {
        self.effort.time.as_secs_f64() * rayon::current_num_threads() as f64
    }

    fn has_time_for_whole_units(&self) -> bool {
        let units = self.plan.units();
        let hours = core_hours(self.plan.size(), self.plan.engine(), self.kernel);
        let one = 3600.0 * hours / units as f64;
        let fewest = if one < LONGEST_UNIT { units.min(FEWEST_UNITS) } else { units };
        // The rough time may be twice the true one.
        one * fewest as f64 <= 2.0 * self.cpu_seconds()
    }

    fn clusters(&self, cancel: &Cancel) -> Result<Turns, Error> {
        let mut random = fastrand::Rng::with_seed(self.effort.seed);
        let length = self.cluster_length(&mut random, cancel)?;
        let all = self.plan.units().div_ceil(length);
        let most = MOST.min(self.effort.units.div_ceil(length)).max(FEWEST_CLUSTERS);
        let mut chosen = random.choose_multiple(0..all, most.min(all));
        random.shuffle(&mut chosen);
        Ok(Turns::Clusters { chosen, length })
    }

    /// How many neighbouring units form a cluster. Always taking eight overstated the time of n = 20
    /// by up to a quarter.
    fn cluster_length(&self, random: &mut fastrand::Rng, cancel: &Cancel) -> Result<usize, Error> {
        // No longer than the driver's ranges: units of longer clusters would find more in the caches.
        let range = range_length(self.plan.units(), rayon::current_num_threads());
        if range < 2 {
            return Ok(1);
        }
        // One unit shows roughly how long each of them takes.
        let begun = Instant::now();
        let unit = random.usize(0..self.plan.units());
        self.prepared.worker().count(unit, cancel)?;
        let one = begun.elapsed().as_secs_f64().max(1e-9);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number; one that is too large saturates"
        )]
        let affordable = (self.cpu_seconds() / (f64::from(CLUSTERS) * one)) as usize;
        Ok(affordable.clamp(1, range))
    }

    /// Chooses the greatest depth at which parts are not too short.
    fn parts(&self, cancel: &Cancel) -> Result<Turns, Error> {
        let mut random = fastrand::Rng::with_seed(self.effort.seed);
        let units = self.plan.units();
        let mut order: Vec<usize> = if units <= LISTED { (0..units).collect() } else { Vec::new() };
        random.shuffle(&mut order);
        let mut worker = self.prepared.worker();
        let affordable = self.effort.time.as_secs_f64() / f64::from(CLUSTERS);
        let enough = affordable.clamp(SHORTEST_PART, PART);
        let mut depth = worker.deepest();
        while depth > 1 {
            // CPU time: a pause of the thread would make short parts seem long.
            let (mut stopwatch, mut spent, mut tried) = (Stopwatch::start(), 0.0, 0.0);
            while tried < TRIED && spent < TRIED * enough {
                let unit = random.usize(..units);
                worker.sample(unit, depth, &mut random, cancel)?;
                spent += stopwatch.lap();
                tried += 1.0;
            }
            if spent >= tried * enough {
                break;
            }
            depth -= 1;
        }
        Ok(Turns::Parts { depth, order })
    }

    /// Counts on all threads until the time is up.
    fn count(
        &self,
        turns: &Turns,
        begun: Instant,
        records: &Records,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let (fewest, most) = match turns {
            Turns::Clusters { chosen, .. } => (FEWEST_CLUSTERS, chosen.len()),
            Turns::Parts { .. } => (FEWEST_PARTS, MOST.min(self.effort.units).max(FEWEST_PARTS)),
        };
        let next = AtomicUsize::new(0);
        let ended = rayon::broadcast(|_| {
            let mut worker = self.prepared.worker();
            loop {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                if turn >= most || turn >= fewest && begun.elapsed() >= self.effort.time {
                    return Ok(());
                }
                let record = match turns {
                    Turns::Clusters { chosen, length } => {
                        let first = chosen[turn] * length;
                        self.count_cluster(&mut worker, first, *length, cancel)?
                    }
                    Turns::Parts { depth, order } => {
                        self.count_part(&mut worker, turn, (*depth, order), cancel)?
                    }
                };
                records.lock().unwrap_or_else(PoisonError::into_inner).insert(turn, record);
            }
        });
        ended.into_iter().collect()
    }

    fn count_cluster(
        &self,
        worker: &mut Worker<'_>,
        first: usize,
        length: usize,
        cancel: &Cancel,
    ) -> Result<Record, Error> {
        let units = first..self.plan.units().min(first + length);
        let mut count = |unit| worker.count(unit, cancel);
        // As in a whole count, the unit before loads what neighbours share.
        if let Some(before) = first.checked_sub(1).filter(|_| length > 1) {
            count(before)?;
        }
        let (mut stopwatch, begun) = (Stopwatch::start(), Instant::now());
        let (whole_units, mut solutions) = (units.len(), 0);
        for unit in units {
            solutions += u128::from(count(unit)?) * u128::from(self.plan.weight(unit));
        }
        let (wall, cpu) = (begun.elapsed().as_secs_f64(), stopwatch.lap());
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let solutions = solutions as f64;
        Ok(Record { whole_units, solutions, seconds: cpu, wall, cpu })
    }

    /// Each part has random numbers of its own, so that it does not depend on the threads.
    fn count_part(
        &self,
        worker: &mut Worker<'_>,
        turn: usize,
        (depth, order): (usize, &[usize]),
        cancel: &Cancel,
    ) -> Result<Record, Error> {
        let seed = self.effort.seed ^ (turn as u64).wrapping_mul(ODD);
        // The generator does not mix its seed, but its first number is mixed.
        let mut random = fastrand::Rng::with_seed(fastrand::Rng::with_seed(seed).u64(..));
        let unit = match order {
            [] => random.usize(..self.plan.units()),
            order => order[turn % order.len()],
        };
        let (mut stopwatch, begun) = (Stopwatch::start(), Instant::now());
        let estimate = worker.sample(unit, depth, &mut random, cancel)?;
        let (wall, cpu) = (begun.elapsed().as_secs_f64(), stopwatch.lap());
        let solutions = estimate.solutions * self.plan.weight(unit) as f64;
        Ok(Record { whole_units: 0, solutions, seconds: estimate.seconds, wall, cpu })
    }
}
