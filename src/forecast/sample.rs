//! Takes a sample: clusters of whole units if hundreds of units fit into the time, or parts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use super::cost::core_hours;
use super::ratio::Approximate;
use super::sampled::{Record, Totals};
use crate::board::known::known;
use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel, MemoryUse};
use crate::error::Error;
use crate::machine::cpu::Stopwatch;
use crate::observe::{Observer, Sampling, Start};
use crate::plan::{Plan, Prepared, Worker};
use crate::ranges::range_length;

/// Clusters that a sample should have, if the time allows it.
const CLUSTERS: u32 = 64;
/// Whole units are counted if there is time for so many of them, and each takes less than this many
/// seconds. Parts say more in the same time, but nothing of what neighbouring units share; that matters
/// for short units only.
const FEWEST_UNITS: usize = 256;
const LONGEST_UNIT: f64 = 0.1;
/// Clusters that a sample has unless they take half as long again as they should, and parts that it always
/// has, unless the plan has fewer units.
const FEWEST_CLUSTERS: usize = 20;
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

/// The expected time and result of a count.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Estimate {
    /// The engine that would count.
    pub engine: Engine,
    /// The kernel that it would use; portable for engines that have no kernels.
    pub kernel: Kernel,
    /// How many threads would count.
    pub threads: usize,
    /// How many units the count has.
    pub units: usize,
    /// Whole units counted for the sample.
    pub units_sampled: usize,
    /// How many clusters of neighbouring units they form.
    pub clusters: usize,
    /// How many units were estimated from a random part of them. Either this is 0, or the two numbers
    /// above are.
    pub parts: usize,
    /// Whether the sample was cancelled before its end.
    pub cancelled: bool,
    /// How long the sample took, in wall time.
    #[cfg_attr(feature = "serde", serde(rename = "sample_seconds"))]
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub elapsed: Duration,
    /// Seconds of CPU time for all units.
    pub cpu_seconds: Approximate,
    /// Seconds of wall time for all units on the threads that took the sample, including
    /// preparation.
    pub seconds: Approximate,
    /// The number of solutions: an estimate, not a count. Its standard error is infinite if the sample
    /// has none.
    pub total: Approximate,
    /// How memory is planned; `None` for engines that need little.
    pub memory: Option<MemoryUse>,
}

/// The limits of a sample. The default is ten seconds of counting, with seed 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Time to count, on all threads. What has begun then is finished, unless it takes half as long
    /// again, or a second if that is longer; but the sample goes on until it has two clusters or parts.
    pub time: Duration,
    /// The most units to count, or to estimate from parts.
    pub units: usize,
    /// The seed of the sample: the same seed draws the same units, if clusters or parts are as large.
    /// That depends on the time they take.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), units: usize::MAX, seed: 0 }
    }
}

impl Start<'_> {
    /// Estimates the time of the units that are not finished, before they are counted, as
    /// [`Count::estimate`](crate::Count::estimate) does. The sample is reported to this observer.
    ///
    /// # Errors
    ///
    /// As [`Count::estimate`](crate::Count::estimate).
    pub fn estimate(&self, effort: Effort, observer: &dyn Observer) -> Result<Estimate, Error> {
        let Self { plan, prepared, kernel, cancel, .. } = *self;
        let whole = Sample { plan, prepared, kernel, effort, observer, cancel };
        let whole = whole.estimate(Duration::ZERO)?;
        let part = self.rest.units as f64 / plan.units() as f64;
        let [cpu_seconds, seconds] = [whole.cpu_seconds, whole.seconds].map(|time| time.part(part));
        Ok(Estimate { cpu_seconds, seconds, ..whole })
    }
}

/// A sample of a count, to be taken on the current rayon pool.
pub(crate) struct Sample<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) prepared: &'a Prepared<'a>,
    pub(crate) kernel: Kernel,
    pub(crate) effort: Effort,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) cancel: &'a Cancel,
}

/// What is counted, in the order of the threads' turns.
struct Turns {
    /// The numbers of clusters, or of units if parts of them are counted.
    order: Vec<usize>,
    /// Neighbouring units of a cluster.
    length: usize,
    /// The depth of parts; 0 if whole units are counted.
    depth: usize,
}

/// What the threads have counted, by turns.
type Records = Mutex<BTreeMap<usize, Record>>;

impl Sample<'_> {
    /// Takes the sample, and estimates the count from it and from the time that its preparation took.
    pub(crate) fn estimate(&self, preparation: Duration) -> Result<Estimate, Error> {
        let (begun, threads) = (Instant::now(), rayon::current_num_threads());
        let (sampled, cancelled) = self.take(begun)?;
        let (plan, elapsed) = (self.plan, begun.elapsed());
        let (units, total) =
            (plan.units() as f64, known(plan.size()).total.map(|total| total as f64));
        let cpu = sampled.cpu_seconds(units, total);
        let cpu = if sampled.units == plan.units() { cpu } else { cpu.on_any_run() };
        // The thread with the most units is the last one.
        let most_units = plan.units().div_ceil(threads) as f64 / units.max(1.0);
        let wall = sampled.wall_for_cpu() * most_units;
        Ok(Estimate {
            engine: plan.engine(),
            kernel: self.kernel,
            threads,
            units: plan.units(),
            units_sampled: sampled.units,
            clusters: sampled.clusters,
            parts: sampled.parts,
            cancelled,
            elapsed,
            cpu_seconds: cpu,
            seconds: Approximate {
                value: cpu.value * wall + preparation.as_secs_f64(),
                standard_error: cpu.standard_error * wall,
            },
            total: sampled.solutions.sum_over(units),
            memory: self.prepared.memory(),
        })
    }

    /// Takes the sample, and tells whether it was cancelled before its end.
    fn take(&self, begun: Instant) -> Result<(Totals, bool), Error> {
        let is_whole = self.has_time_for_whole_units() || self.prepared.worker().deepest() == 0;
        let records = Records::default();
        // Raised with the caller's, or if the sample takes too long and says something already.
        let stop = Cancel::new();
        let time = self.effort.time;
        let longest = time.saturating_add(LEAST_WAIT.max(time / 2));
        let look = || {
            let counted = records.lock().unwrap_or_else(PoisonError::into_inner).len();
            let elapsed = begun.elapsed();
            if self.cancel.is_cancelled() || elapsed > longest && counted >= FEWEST_PARTS {
                stop.cancel();
            }
            self.observer.sampling(&Sampling { elapsed, time, counted });
        };
        let ended = thread::scope(|scope| {
            let (_end, ended) = channel::<()>();
            let watch = move || {
                while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    look();
                }
            };
            // Where no thread can be started, only the caller can stop what takes too long.
            let watch = Builder::new().name("nqueens-watch".to_owned()).spawn_scoped(scope, watch);
            let cancel = if watch.is_ok() { &stop } else { self.cancel };
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
        let is_enough =
            sampled.clusters + sampled.parts >= FEWEST_PARTS || sampled.units == self.plan.units();
        match ended {
            Err(error) if !error.is_cancelled() => Err(error),
            _ if !is_enough => Err(Error::StoppedBefore { what: "the sample was large enough" }),
            ended => Ok((sampled, ended.is_err() && self.cancel.is_cancelled())),
        }
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
        let mut order = random.choose_multiple(0..all, most.min(all));
        random.shuffle(&mut order);
        Ok(Turns { order, length, depth: 0 })
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
        Ok(Turns { order, length: 1, depth })
    }

    /// Counts on all threads until the time is up.
    fn count(
        &self,
        turns: &Turns,
        begun: Instant,
        records: &Records,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let (fewest, most) = match turns.depth {
            0 => (FEWEST_CLUSTERS, turns.order.len()),
            _ => (FEWEST_PARTS, MOST.min(self.effort.units).max(FEWEST_PARTS)),
        };
        let next = AtomicUsize::new(0);
        let ended = rayon::broadcast(|_| {
            let mut worker = self.prepared.worker();
            loop {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                if turn >= most || turn >= fewest && begun.elapsed() >= self.effort.time {
                    return Ok(());
                }
                let record = match turns.depth {
                    0 => self.count_cluster(&mut worker, turn, turns, cancel)?,
                    _ => self.count_part(&mut worker, turn, turns, cancel)?,
                };
                records.lock().unwrap_or_else(PoisonError::into_inner).insert(turn, record);
            }
        });
        ended.into_iter().collect()
    }

    fn count_cluster(
        &self,
        worker: &mut Worker<'_>,
        turn: usize,
        Turns { order, length, .. }: &Turns,
        cancel: &Cancel,
    ) -> Result<Record, Error> {
        let first = order[turn] * length;
        let units = first..self.plan.units().min(first + length);
        let mut count = |unit| worker.count(unit, cancel);
        // As in a whole count, the unit before loads what neighbours share.
        if let Some(before) = first.checked_sub(1).filter(|_| *length > 1) {
            count(before)?;
        }
        let (mut stopwatch, begun) = (Stopwatch::start(), Instant::now());
        let (whole_units, mut solutions) = (units.len(), 0);
        for unit in units {
            solutions += u128::from(count(unit)?) * u128::from(self.plan.weight(unit));
        }
        let (wall, cpu) = (begun.elapsed().as_secs_f64(), stopwatch.lap());
        let solutions = solutions as f64;
        Ok(Record { whole_units, solutions, seconds: cpu, wall, cpu })
    }

    /// Each part has random numbers of its own, so that it does not depend on the threads.
    fn count_part(
        &self,
        worker: &mut Worker<'_>,
        turn: usize,
        Turns { order, depth, .. }: &Turns,
        cancel: &Cancel,
    ) -> Result<Record, Error> {
        let seed = self.effort.seed ^ (turn as u64).wrapping_mul(ODD);
        // The generator does not mix its seed, but its first number is mixed.
        let mut random = fastrand::Rng::with_seed(fastrand::Rng::with_seed(seed).u64(..));
        let unit = match order.len() {
            0 => random.usize(..self.plan.units()),
            units => order[turn % units],
        };
        let (mut stopwatch, begun) = (Stopwatch::start(), Instant::now());
        let estimate = worker.sample(unit, *depth, &mut random, cancel)?;
        let (wall, cpu) = (begun.elapsed().as_secs_f64(), stopwatch.lap());
        let solutions = estimate.solutions * self.plan.weight(unit) as f64;
        Ok(Record { whole_units: 0, solutions, seconds: estimate.seconds, wall, cpu })
    }
}
