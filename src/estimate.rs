//! What a count would take, and what would come out, from a random sample of its units.
//!
//! Units differ in size, so clusters of neighbouring ones (which share what a worker keeps) are
//! drawn at random, without repetition, and counted until the time is over. What is wanted is the
//! sum Y of a value (seconds, or solutions) over all clusters; what is known is the sum X of another
//! one, their *size*: the number of units, or the number of solutions where it is published, which
//! goes with the time much better. From k clusters with sizes x_i and values y_i
//!
//! ```text
//! Y = X m, m = sum y_i / sum x_i       s² = sum (y_i - m x_i)² / (k - 1)
//! standard error of Y: s sqrt((K - k) K / k), with K = k X / sum x_i clusters in all
//! ```
//!
//! This is the ratio estimator of survey sampling, with its correction for finite populations
//! (W. G. Cochran, *Sampling Techniques*, chapter 6). The same estimates the remaining time of a
//! running count, whose ranges of units are taken in a scattered order.

mod ratio;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::cpu_time;
use crate::engine::{Engine, Kernel, MemoryUse};
use crate::error::Error;
use crate::known::known;
use crate::plan::{Plan, PreparedPlan};
use crate::run::RANGES_PER_THREAD;
pub use ratio::{Approximate, RatioEstimator};

/// Clusters that a sample should have, where the time allows it.
const CLUSTERS: usize = 64;
/// Clusters that a sample has in any case, or all there are.
const FEWEST: usize = 8;
/// No sample has more.
const MOST: usize = 1 << 20;

/// What a count is expected to take and to give.
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
    /// Units counted for the sample.
    pub units_sampled: usize,
    /// How many clusters of neighbouring units they form.
    pub clusters: usize,
    /// How long the sample took, in wall time.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub elapsed: Duration,
    /// Seconds of CPU time for all units.
    pub cpu_seconds: Approximate,
    /// Seconds of wall time for all units on as many threads as took the sample, preparation
    /// included.
    pub seconds: Approximate,
    /// The number of solutions: an estimate, not a count.
    pub total: Approximate,
    /// How memory is planned; `None` for engines that need little.
    pub memory: Option<MemoryUse>,
}

/// How much work an estimate may be. The default is ten seconds of counting, with seed 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Time to count for, on all threads; single units are counted to their end.
    pub time: Duration,
    /// At most this many units.
    pub units: usize,
    /// The same seed draws the same units.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), units: usize::MAX, seed: 0 }
    }
}

/// One thread's part of the sample.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    units: usize,
    solutions: RatioEstimator,
    wall: Times,
    cpu: Times,
}

/// Times of clusters, against both of their sizes.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    by_units: RatioEstimator,
    by_solutions: RatioEstimator,
}

impl Part {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn record(&mut self, units: usize, solutions: u128, wall: Duration, cpu: Duration) {
        let (size, solutions) = (units as f64, solutions as f64);
        self.units += units;
        self.solutions.record(size, solutions);
        for (times, time) in [(&mut self.wall, wall), (&mut self.cpu, cpu)] {
            times.by_units.record(size, time.as_secs_f64());
            times.by_solutions.record(solutions, time.as_secs_f64());
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            units: self.units + other.units,
            solutions: self.solutions.plus(other.solutions),
            wall: self.wall.plus(other.wall),
            cpu: self.cpu.plus(other.cpu),
        }
    }
}

impl Times {
    fn plus(self, other: Self) -> Self {
        Self {
            by_units: self.by_units.plus(other.by_units),
            by_solutions: self.by_solutions.plus(other.by_solutions),
        }
    }

    /// The time of all clusters. A published total tells the size of what is left better than the
    /// number of units.
    fn sum_over(&self, units: f64, total: Option<f64>) -> Approximate {
        let by_solutions = total.and_then(|total| self.by_solutions.sum_over(total));
        by_solutions.unwrap_or_else(|| sum_or_whole(&self.by_units, units))
    }
}

/// The sum over all units; if the sample is too small to tell, it is taken for all there is.
fn sum_or_whole(estimator: &RatioEstimator, units: f64) -> Approximate {
    let whole = || Approximate { value: estimator.values(), standard_error: 0.0 };
    estimator.sum_over(units).unwrap_or_else(whole)
}

/// Estimates a count from some of its units, on the current rayon pool.
pub(crate) fn estimate(
    plan: &Plan,
    prepared: &PreparedPlan<'_>,
    kernel: Kernel,
    preparation: Duration,
    effort: Effort,
    cancel: &Cancel,
) -> Result<Estimate, Error> {
    let threads = rayon::current_num_threads();
    let mut random = fastrand::Rng::with_seed(effort.seed);
    let length = cluster_length(
        plan,
        prepared,
        effort.time.saturating_mul(threads.try_into().unwrap_or(u32::MAX)),
        &mut random,
        cancel,
    )?;
    let all = plan.units().div_ceil(length);
    let most = MOST.min(effort.units.div_ceil(length)).max(FEWEST.max(2));
    let mut clusters = random.choose_multiple(0..all, most.min(all));
    random.shuffle(&mut clusters);

    let begun = Instant::now();
    let next = AtomicUsize::new(0);
    let part = |_: rayon::BroadcastContext<'_>| -> Result<Part, Error> {
        let mut counter = prepared.counter();
        let mut part = Part::default();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let wanted = place < FEWEST.max(2 * threads) || begun.elapsed() < effort.time;
            let Some(cluster) = clusters.get(place).filter(|_| wanted) else { return Ok(part) };
            let first = cluster * length;
            let units = first..plan.units().min(first + length);
            // The unit before brings into memory what neighbours share, as in a whole count.
            if let Some(before) = first.checked_sub(1).filter(|_| length > 1) {
                counter.count(before, cancel)?;
            }
            let (wall, cpu, many) = (Instant::now(), cpu_time::of_this_thread(), units.len());
            let mut solutions = 0;
            for unit in units {
                let count = counter.count(unit, cancel)?;
                solutions += u128::from(count) * u128::from(plan.weight(unit));
            }
            let cpu = cpu_time::of_this_thread().saturating_sub(cpu);
            part.record(many, solutions, wall.elapsed(), cpu);
        }
    };
    let parts: Vec<Part> = rayon::broadcast(part).into_iter().collect::<Result<_, _>>()?;
    let part = parts.into_iter().fold(Part::default(), Part::plus);
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let (units, total) = (plan.units() as f64, known(plan.size()).total.map(|total| total as f64));
    let wall = part.wall.sum_over(units, total);
    #[expect(clippy::cast_precision_loss, reason = "few threads")]
    let parallel = threads as f64;
    Ok(Estimate {
        engine: plan.engine(),
        kernel,
        threads,
        units: plan.units(),
        units_sampled: part.units,
        clusters: part.wall.by_units.clusters(),
        elapsed: begun.elapsed(),
        cpu_seconds: part.cpu.sum_over(units, total),
        seconds: Approximate {
            value: wall.value / parallel + preparation.as_secs_f64(),
            standard_error: wall.standard_error / parallel,
        },
        total: sum_or_whole(&part.solutions, units),
        memory: prepared.memory(),
    })
}

/// As many neighbouring units as are taken at once: clusters of eight overstated the time of n = 20
/// by up to a quarter.
fn cluster_length(
    plan: &Plan,
    prepared: &PreparedPlan<'_>,
    core_time: Duration,
    random: &mut fastrand::Rng,
    cancel: &Cancel,
) -> Result<usize, Error> {
    // The driver's ranges: in longer clusters units would find more in the caches than they do there.
    let range = plan.units() / (rayon::current_num_threads() * RANGES_PER_THREAD);
    if range < 2 {
        return Ok(1);
    }
    // One unit shows roughly how long they take.
    let begun = Instant::now();
    prepared.counter().count(random.usize(0..plan.units()), cancel)?;
    let unit = begun.elapsed().as_secs_f64().max(1e-9);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number, and one that is too large is cut off"
    )]
    let affordable = (core_time.as_secs_f64() / (CLUSTERS as f64 * unit)) as usize;
    Ok(affordable.clamp(1, range))
}
