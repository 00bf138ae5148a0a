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

mod sample;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::engine::MemoryUse;
use crate::error::Error;
use crate::known::known;
use crate::plan::{Plan, PreparedPlan};
use crate::run::RANGES_PER_THREAD;
pub use sample::{Estimated, Sample};

/// Clusters that a sample should have, where the time allows it.
const CLUSTERS: usize = 64;
/// Clusters that a sample has in any case, or all there are.
const FEWEST: usize = 8;
/// No sample has more.
const MOST: usize = 1 << 20;

/// What a count is expected to take and to give.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// Units counted for the sample.
    pub units_sampled: usize,
    /// In so many clusters.
    pub clusters: usize,
    /// How long the sample took, in wall time.
    pub elapsed: Duration,
    /// Seconds of one thread for all units.
    pub core_seconds: Estimated,
    /// Wall-clock seconds for all units on as many threads as took the sample, preparation
    /// included.
    pub seconds: Estimated,
    /// The number of solutions: an estimate, not a count.
    pub total: Estimated,
    /// How memory is planned; `None` for engines that need little.
    pub memory: Option<MemoryUse>,
}

/// How large a sample is.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Time to count for, on all threads; single units are counted to their end.
    pub time: Duration,
    /// At most so many units.
    pub units: usize,
    /// The same seed draws the same units.
    pub seed: u64,
}

/// One thread's part of the sample.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    clusters: usize,
    units: usize,
    solutions_by_units: Sample,
    seconds_by_units: Sample,
    seconds_by_solutions: Sample,
}

impl Part {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn record(&mut self, units: usize, solutions: u128, seconds: f64) {
        let (size, solutions) = (units as f64, solutions as f64);
        self.clusters += 1;
        self.units += units;
        self.solutions_by_units.record(size, solutions);
        self.seconds_by_units.record(size, seconds);
        self.seconds_by_solutions.record(solutions, seconds);
    }

    fn plus(self, other: Self) -> Self {
        Self {
            clusters: self.clusters + other.clusters,
            units: self.units + other.units,
            solutions_by_units: self.solutions_by_units.plus(other.solutions_by_units),
            seconds_by_units: self.seconds_by_units.plus(other.seconds_by_units),
            seconds_by_solutions: self.seconds_by_solutions.plus(other.seconds_by_solutions),
        }
    }
}

/// Estimates a count from some of its units, on the current rayon pool.
pub(crate) fn estimate(
    plan: &Plan,
    prepared: &PreparedPlan<'_>,
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
            let (cluster_begun, many) = (Instant::now(), units.len());
            let mut solutions = 0;
            for unit in units {
                let count = counter.count(unit, cancel)?;
                solutions += u128::from(count) * u128::from(plan.weight(unit));
            }
            part.record(many, solutions, cluster_begun.elapsed().as_secs_f64());
        }
    };
    let parts: Vec<Part> = rayon::broadcast(part).into_iter().collect::<Result<_, _>>()?;
    let part = parts.into_iter().fold(Part::default(), Part::plus);
    Ok(conclude(plan, &part, preparation, begun.elapsed(), prepared.memory()))
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

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn conclude(
    plan: &Plan,
    part: &Part,
    preparation: Duration,
    elapsed: Duration,
    memory: Option<MemoryUse>,
) -> Estimate {
    let units = plan.units() as f64;
    let whole = |sample: &Sample| Estimated { mean: sample.values(), error: 0.0 };
    let by_units = |sample: &Sample| sample.sum_over(units).unwrap_or_else(|| whole(sample));
    // A total that is published tells the size of what is left better than the number of units.
    let published = known(plan.size()).total.map(|total| total as f64);
    let core_seconds = published
        .and_then(|total| part.seconds_by_solutions.sum_over(total))
        .unwrap_or_else(|| by_units(&part.seconds_by_units));
    let threads = rayon::current_num_threads() as f64;
    Estimate {
        units_sampled: part.units,
        clusters: part.clusters,
        elapsed,
        core_seconds,
        seconds: Estimated {
            mean: core_seconds.mean / threads + preparation.as_secs_f64(),
            error: core_seconds.error / threads,
        },
        total: by_units(&part.solutions_by_units),
        memory,
    }
}
