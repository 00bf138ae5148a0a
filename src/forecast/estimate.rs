//! What a count takes and comes to, by a sample of it.

use std::time::Duration;

use super::ratio::Approximate;
use crate::engine::{Engine, Kernel, MemoryUse};
use crate::plan::{Plan, Prepared};

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
    /// How many of them were counted for the sample.
    pub units_sampled: usize,
    /// How many units were estimated from a random part of them. Either this is 0, or the number above is.
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

impl Estimate {
    /// Nothing is known yet of a count on the current rayon pool.
    pub(crate) fn unknown(plan: &Plan, prepared: &Prepared<'_>, kernel: Kernel) -> Self {
        let unknown = Approximate { value: 0.0, standard_error: f64::INFINITY };
        Self {
            engine: plan.engine(),
            kernel,
            threads: rayon::current_num_threads(),
            units: plan.units(),
            units_sampled: 0,
            parts: 0,
            cancelled: false,
            elapsed: Duration::ZERO,
            cpu_seconds: unknown,
            seconds: unknown,
            total: unknown,
            memory: prepared.memory(),
        }
    }
}

/// How long a sample of this time may take: it waits for what has begun, or until it says something.
pub(crate) fn longest(time: Duration) -> Duration {
    time.saturating_add((time / 2).max(Duration::from_secs(1)))
}
