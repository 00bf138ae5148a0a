//! The time and the result of a count, estimated from a random sample of its units.
//!
//! Units differ in size, so clusters of neighbouring units (which share what a worker keeps) are
//! drawn at random, without repetition, and counted until the time is up. The sample estimates the
//! sum Y of a value (seconds, or solutions) over all clusters, given the sum X of their *sizes*. A
//! cluster's size is its number of units or, if the total is published, its number of solutions,
//! which follows the time much more closely. From k clusters with sizes x_i and values y_i
//!
//! ```text
//! Y = X m, m = sum y_i / sum x_i       s² = sum (y_i - m x_i)² / (k - 1)
//! standard error of Y: s sqrt((K - k) K / k), with K = k X / sum x_i clusters in all
//! ```
//!
//! This is the ratio estimator of survey sampling, with its correction for finite populations
//! (W. G. Cochran, *Sampling Techniques*, chapter 6). [`TimeLeft`] uses it for the remaining time of a
//! running count.

mod ratio;
mod rough;
mod time_left;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::cpu_time;
use crate::engine::{Engine, Kernel, MemoryUse};
use crate::error::Error;
use crate::known::known;
use crate::plan::{Plan, PreparedPlan};
use crate::run::range_length;
pub use ratio::{Approximate, RatioEstimator};
pub use rough::rough_core_hours;
pub use time_left::TimeLeft;

/// Clusters that a sample should have, if the time allows it.
const CLUSTERS: usize = 64;
/// Clusters that a sample always has, unless the plan has fewer.
const FEWEST: usize = 8;
/// The most clusters of a sample.
const MOST: usize = 1 << 20;

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
    /// Units counted for the sample.
    pub units_sampled: usize,
    /// How many clusters of neighbouring units they form.
    pub clusters: usize,
    /// How long the sample took, in wall time.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub elapsed: Duration,
    /// Seconds of CPU time for all units.
    pub cpu_seconds: Approximate,
    /// Seconds of wall time for all units on the threads that took the sample, including
    /// preparation.
    pub seconds: Approximate,
    /// The number of solutions: an estimate, not a count.
    pub total: Approximate,
    /// How memory is planned; `None` for engines that need little.
    pub memory: Option<MemoryUse>,
}

/// The limits of a sample. The default is ten seconds of counting, with seed 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Time to count, on all threads. Units that have begun are finished.
    pub time: Duration,
    /// The most units to count.
    pub units: usize,
    /// The seed of the sample: the same seed draws the same units.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), units: usize::MAX, seed: 0 }
    }
}

/// What was counted for the sample.
#[derive(Debug, Default)]
struct Sampled {
    units: usize,
    solutions: RatioEstimator,
    wall: Times,
    cpu: Times,
}

/// Times of clusters, against both of their sizes.
#[derive(Debug, Default)]
struct Times {
    by_units: RatioEstimator,
    by_solutions: RatioEstimator,
}

impl Sampled {
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
}

impl Times {
    /// The time of all clusters, which follows a published total more closely than the number of
    /// units.
    fn sum_over(&self, units: f64, total: Option<f64>) -> Approximate {
        let by_solutions = total.and_then(|total| self.by_solutions.sum_over(total));
        by_solutions.unwrap_or_else(|| sum_or_whole(&self.by_units, units))
    }
}

/// The sum over all units. If the sample is too small for an estimate, it is all there is.
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
    let sampled = Mutex::new(Sampled::default());
    let count_clusters = |_: rayon::BroadcastContext<'_>| -> Result<(), Error> {
        let mut counter = prepared.counter();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let wanted = place < FEWEST.max(2 * threads) || begun.elapsed() < effort.time;
            let Some(cluster) = clusters.get(place).filter(|_| wanted) else { return Ok(()) };
            let first = cluster * length;
            let units = first..plan.units().min(first + length);
            // As in a whole count, the unit before loads what neighbours share.
            if let Some(before) = first.checked_sub(1).filter(|_| length > 1) {
                counter.count(before, cancel)?;
            }
            let (wall, cpu, size) = (Instant::now(), cpu_time::of_this_thread(), units.len());
            let mut solutions = 0;
            for unit in units {
                let count = counter.count(unit, cancel)?;
                solutions += u128::from(count) * u128::from(plan.weight(unit));
            }
            let (wall, cpu) = (wall.elapsed(), cpu_time::of_this_thread().saturating_sub(cpu));
            let mut sampled = sampled.lock().unwrap_or_else(PoisonError::into_inner);
            sampled.record(size, solutions, wall, cpu);
        }
    };
    rayon::broadcast(count_clusters).into_iter().collect::<Result<(), _>>()?;
    let sampled = sampled.into_inner().unwrap_or_else(PoisonError::into_inner);
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let (units, total) = (plan.units() as f64, known(plan.size()).total.map(|total| total as f64));
    let wall = sampled.wall.sum_over(units, total);
    #[expect(clippy::cast_precision_loss, reason = "few threads")]
    let parallel = threads as f64;
    Ok(Estimate {
        engine: plan.engine(),
        kernel,
        threads,
        units: plan.units(),
        units_sampled: sampled.units,
        clusters: sampled.wall.by_units.clusters(),
        elapsed: begun.elapsed(),
        cpu_seconds: sampled.cpu.sum_over(units, total),
        seconds: Approximate {
            value: wall.value / parallel + preparation.as_secs_f64(),
            standard_error: wall.standard_error / parallel,
        },
        total: sum_or_whole(&sampled.solutions, units),
        memory: prepared.memory(),
    })
}

/// How many neighbouring units form a cluster. Always taking eight overstated the time of n = 20 by
/// up to a quarter.
fn cluster_length(
    plan: &Plan,
    prepared: &PreparedPlan<'_>,
    cpu_time: Duration,
    random: &mut fastrand::Rng,
    cancel: &Cancel,
) -> Result<usize, Error> {
    // No longer than the driver's ranges: units of longer clusters would find more in the caches.
    let range = range_length(plan.units(), rayon::current_num_threads());
    if range < 2 {
        return Ok(1);
    }
    // One unit shows roughly how long each of them takes.
    let begun = Instant::now();
    prepared.counter().count(random.usize(0..plan.units()), cancel)?;
    let unit = begun.elapsed().as_secs_f64().max(1e-9);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number; one that is too large saturates"
    )]
    let affordable = (cpu_time.as_secs_f64() / (CLUSTERS as f64 * unit)) as usize;
    Ok(affordable.clamp(1, range))
}
