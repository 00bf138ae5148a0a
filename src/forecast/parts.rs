//! A sample of random parts of units, for boards whose units take long.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::cost::core_hours;
use super::estimate::{Estimate, longest};
use super::ratio::RatioEstimator;
use crate::board::known::known;
use crate::cancel::Cancel;
use crate::engine::Kernel;
use crate::error::Error;
use crate::machine::cpu::Stopwatch;
use crate::observe::{Observer, Sampling, Start};
use crate::plan::{Plan, Prepared, Worker};

/// A count begins and is stopped, if there is time for so many of its units, and each takes less than this
/// many seconds. Parts say more in the same time, but nothing of what neighbouring units share; that matters
/// for short units only.
const FEWEST_UNITS: usize = 256;
const LONGEST_UNIT: f64 = 0.1;
/// Parts that a sample always has, and as many as say how exact it is.
const FEWEST_PARTS: usize = 2;
const FEWEST_BEGINNING: usize = 20;
/// The most parts of a sample, and how many it should have if the time allows it.
const MOST_PARTS: usize = 1 << 20;
const GOOD_PARTS: u32 = 64;

/// Parts take at least this long on average: the blocks of a backtracker are seldom full in shorter
/// ones. At n = 22, `subtrees` would seem 40 % slower with parts of 0.05 ms. In less time for the
/// sample parts may be shorter, down to `SHORTEST_PART`.
const PART: f64 = 2e-3;
const SHORTEST_PART: f64 = 1e-4;
/// Parts that are tried to find the depth for this.
const TRIED: f64 = 16.0;

/// Spreads the numbers of parts over all seeds: 2^64 divided by the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Lists of units up to this length are gone through evenly, in a random order.
const LISTED: usize = 1 << 16;

impl Start<'_> {
    /// Estimates the time of the units that are not finished, before they are counted, from random parts of
    /// units, for about so long. The sample is reported to this observer.
    ///
    /// # Errors
    ///
    /// [`Error::StoppedBefore`] after a cancellation before the sample was large enough.
    pub fn estimate(&self, time: Duration, observer: &dyn Observer) -> Result<Estimate, Error> {
        let Self { plan, prepared, kernel, cancel, .. } = *self;
        let whole = Parts { plan, prepared, kernel, time, observer, cancel }.estimate()?;
        let part = self.rest.units as f64 / plan.units() as f64;
        let [cpu_seconds, seconds] = [whole.cpu_seconds, whole.seconds].map(|time| time.part(part));
        Ok(Estimate { cpu_seconds, seconds, ..whole })
    }
}

/// A sample of a count, to be taken on the current rayon pool. It is the same each time, if the parts are.
pub(crate) struct Parts<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) prepared: &'a Prepared<'a>,
    pub(crate) kernel: Kernel,
    pub(crate) time: Duration,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) cancel: &'a Cancel,
}

/// How parts are drawn.
struct Draws {
    /// Units in a random order; empty if there are too many to list.
    order: Vec<usize>,
    depth: usize,
}

/// A unit that was estimated from a part of it.
#[derive(Clone, Copy, Debug)]
struct Part {
    solutions: f64,
    seconds: f64,
    /// Wall and CPU time that the thread has spent on it.
    wall: f64,
    cpu: f64,
}

impl Parts<'_> {
    /// Whether this is the sample to take, rather than the beginning of the count.
    pub(crate) fn are_better(&self) -> bool {
        let units = self.plan.units();
        let hours = core_hours(self.plan.size(), self.plan.engine(), self.kernel);
        let one = 3600.0 * hours / units as f64;
        let fewest = if one < LONGEST_UNIT { units.min(FEWEST_UNITS) } else { units };
        let time = self.time.as_secs_f64() * rayon::current_num_threads() as f64;
        // The rough time may be twice the true one.
        one * fewest as f64 > 2.0 * time && self.prepared.worker().deepest() > 0
    }

    /// Takes the sample, and estimates the count from it.
    pub(crate) fn estimate(&self) -> Result<Estimate, Error> {
        let begun = Instant::now();
        // What the threads have counted, by the numbers of the draws.
        let parts = Mutex::new(BTreeMap::new());
        let is_over = || {
            let counted = parts.lock().unwrap_or_else(PoisonError::into_inner).len();
            let (elapsed, time) = (begun.elapsed(), self.time);
            self.observer.sampling(&Sampling { elapsed, time, counted });
            // It takes too long, and says something already.
            let is_enough = elapsed > longest(time) && counted >= FEWEST_PARTS;
            is_enough || self.cancel.is_cancelled()
        };
        let count = |stop: &Cancel| self.count(&self.draws(stop)?, &parts, stop);
        let ended = Cancel::watched(is_over, count)?;
        let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A sample that is cut short would favour the parts that are finished early, the cheap ones. Then it
        // is the beginning of the draws up to the first one that is missing, if that says anything.
        let beginning = (0..).zip(parts.keys()).take_while(|(draw, key)| draw == *key).count();
        let is_beginning = ended.is_err() && beginning >= FEWEST_BEGINNING;
        let counted = if is_beginning { beginning } else { parts.len() };
        match ended {
            Err(error) if !error.is_cancelled() => return Err(error),
            _ if counted < FEWEST_PARTS => {
                return Err(Error::StoppedBefore { what: "the sample was large enough" });
            }
            _ => {}
        }
        let is_cancelled = ended.is_err() && self.cancel.is_cancelled();
        let (plan, elapsed) = (self.plan, begun.elapsed());
        let [mut solutions, mut by_units, mut by_solutions] =
            [RatioEstimator::of_repeated_draws(); 3];
        let [mut wall, mut cpu] = [0.0; 2];
        for part in parts.into_values().take(counted) {
            solutions.record(1.0, part.solutions);
            by_units.record(1.0, part.seconds);
            by_solutions.record(part.solutions, part.seconds);
            wall += part.wall;
            cpu += part.cpu;
        }
        let units = plan.units() as f64;
        // The time follows a published total more closely than the number of units.
        let total = known(plan.size()).total;
        let of_total = total.map(|total| by_solutions.sum_over(total as f64));
        let cpu_seconds = by_units.sum_over(units).or_closer(of_total).on_any_run();
        let unknown = Estimate::unknown(plan, self.prepared, self.kernel);
        // The thread with the most units is the last one. More threads than cores, or a busy machine, take
        // more wall time than CPU time.
        let on_last = plan.units().div_ceil(unknown.threads) as f64 / units;
        let wall_for_cpu = if cpu > 0.0 { wall / cpu } else { 1.0 };
        Ok(Estimate {
            parts: counted,
            cancelled: is_cancelled,
            elapsed,
            cpu_seconds,
            seconds: cpu_seconds.part(on_last * wall_for_cpu),
            total: solutions.sum_over(units),
            ..unknown
        })
    }

    /// Chooses the greatest depth at which parts are not too short.
    fn draws(&self, cancel: &Cancel) -> Result<Draws, Error> {
        let mut random = fastrand::Rng::with_seed(0);
        let units = self.plan.units();
        let mut order: Vec<usize> = if units <= LISTED { (0..units).collect() } else { Vec::new() };
        random.shuffle(&mut order);
        let mut worker = self.prepared.worker();
        let affordable = self.time.as_secs_f64() / f64::from(GOOD_PARTS);
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
        Ok(Draws { order, depth })
    }

    /// Counts on all threads until the time is up.
    fn count(
        &self,
        draws: &Draws,
        parts: &Mutex<BTreeMap<usize, Part>>,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let (begun, next) = (Instant::now(), AtomicUsize::new(0));
        let ended = rayon::broadcast(|_| {
            let mut worker = self.prepared.worker();
            loop {
                let draw = next.fetch_add(1, Ordering::Relaxed);
                let is_over = draw >= FEWEST_PARTS && begun.elapsed() >= self.time;
                if is_over || draw >= MOST_PARTS {
                    return Ok(());
                }
                let part = self.count_part(&mut worker, draw, draws, cancel)?;
                parts.lock().unwrap_or_else(PoisonError::into_inner).insert(draw, part);
            }
        });
        ended.into_iter().collect()
    }

    /// Each part has random numbers of its own, so that it does not depend on the threads.
    fn count_part(
        &self,
        worker: &mut Worker<'_>,
        draw: usize,
        Draws { order, depth }: &Draws,
        cancel: &Cancel,
    ) -> Result<Part, Error> {
        let seed = (draw as u64).wrapping_mul(ODD);
        // The generator does not mix its seed, but its first number is mixed.
        let mut random = fastrand::Rng::with_seed(fastrand::Rng::with_seed(seed).u64(..));
        let unit = match order.len() {
            0 => random.usize(..self.plan.units()),
            units => order[draw % units],
        };
        let (mut stopwatch, begun) = (Stopwatch::start(), Instant::now());
        let estimate = worker.sample(unit, *depth, &mut random, cancel)?;
        let (wall, cpu) = (begun.elapsed().as_secs_f64(), stopwatch.lap());
        let solutions = estimate.solutions * self.plan.weight(unit) as f64;
        Ok(Part { solutions, seconds: estimate.seconds, wall, cpu })
    }
}
