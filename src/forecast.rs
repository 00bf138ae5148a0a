//! The time and the result of a count, estimated from a random sample within a given time.
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
//! times half of Student's quantile for k - 1 degrees of freedom, so that twice of it is an interval of
//! 95 % also for few clusters.
//!
//! This is the ratio estimator of survey sampling, with its correction for finite populations
//! (W. G. Cochran, *Sampling Techniques*, chapter 6). [`TimeLeft`] uses it for the remaining time of a
//! running count.
//!
//! **Large units.** A unit can take an hour. If the time does not suffice for hundreds of units, each one
//! that is drawn is itself estimated, from a random part: a path of random choices leads into its
//! search (or its join), what lies at the end is counted, and all values are divided by the
//! probability of the path. Such clusters of one unit can be drawn again and their values are
//! estimates, so the correction for finite populations is left out.

mod cost;
mod ratio;
mod sample;
mod sampled;
mod time_left;

use std::time::Duration;

use crate::board::known::known;
use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel, MemoryUse};
use crate::error::Error;
use crate::observe::Observer;
use crate::plan::{Plan, Prepared};
pub use cost::core_hours;
pub use ratio::{Approximate, RatioEstimator};
use sample::{Sample, Taken};
pub use time_left::TimeLeft;

/// Runs of the same count differ by some percent, which one sample does not show: a standard error of
/// this share of the time is added to that of the sample.
const TIMES_DIFFER: f64 = 0.03;

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

/// Estimates a count from some of its units, on the current rayon pool.
pub(crate) fn estimate(
    (plan, kernel): (&Plan, Kernel),
    prepared: &Prepared<'_>,
    preparation: Duration,
    effort: Effort,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<Estimate, Error> {
    let threads = rayon::current_num_threads();
    let Taken { sampled, elapsed, cancelled } =
        Sample { plan, prepared, kernel, effort }.take(observer, cancel)?;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let (units, total) = (plan.units() as f64, known(plan.size()).total.map(|total| total as f64));
    let differ = if sampled.units == plan.units() { 0.0 } else { TIMES_DIFFER };
    let cpu = sampled.cpu_seconds(units, total).with_relative_error(differ);
    let wall_for_cpu = sampled.wall_for_cpu();
    // The thread with the most units is the last one.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let wall = wall_for_cpu.value * plan.units().div_ceil(threads) as f64 / units.max(1.0);
    let cpu_and_wall = cpu.with_relative_error(wall_for_cpu.relative_error());
    Ok(Estimate {
        engine: plan.engine(),
        kernel,
        threads,
        units: plan.units(),
        units_sampled: sampled.units,
        clusters: if sampled.parts > 0 { 0 } else { sampled.clusters() },
        parts: sampled.parts,
        cancelled,
        elapsed,
        cpu_seconds: cpu,
        seconds: Approximate {
            value: cpu.value * wall + preparation.as_secs_f64(),
            standard_error: cpu_and_wall.standard_error * wall,
        },
        total: sampled.solutions.sum_or_whole(units),
        memory: prepared.memory(),
    })
}
