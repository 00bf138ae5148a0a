//! What was counted for a sample.

use super::ratio::{Approximate, RatioEstimator};

/// The clusters of a sample, or the units that were estimated from parts.
#[derive(Debug)]
pub(super) struct Sampled {
    pub(super) units: usize,
    pub(super) parts: usize,
    pub(super) solutions: RatioEstimator,
    /// Seconds of CPU time.
    pub(super) times: Times,
    /// Wall and CPU time that threads have spent on the sample.
    spent: Spent,
}

/// CPU time of clusters, against both of their sizes.
#[derive(Debug)]
pub(super) struct Times {
    by_units: RatioEstimator,
    by_solutions: RatioEstimator,
}

/// Seconds of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) wall: f64,
    pub(super) cpu: f64,
}

impl Sampled {
    /// A sample of clusters.
    pub(super) fn of_clusters() -> Self {
        Self::with(RatioEstimator::default())
    }

    /// A sample of parts.
    pub(super) fn of_parts() -> Self {
        Self::with(RatioEstimator::of_repeated_draws())
    }

    fn with(empty: RatioEstimator) -> Self {
        let times = Times { by_units: empty, by_solutions: empty };
        Self { units: 0, parts: 0, solutions: empty, times, spent: Spent::default() }
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn record_cluster(&mut self, units: usize, solutions: u128, spent: Spent) {
        self.units += units;
        self.record(units as f64, solutions as f64, spent.cpu, spent);
    }

    /// Records the estimated solutions and CPU time of a unit, and what the part of it took.
    pub(super) fn record_part(&mut self, solutions: f64, seconds: f64, spent: Spent) {
        self.parts += 1;
        self.record(1.0, solutions, seconds, spent);
    }

    fn record(&mut self, units: f64, solutions: f64, seconds: f64, spent: Spent) {
        self.solutions.record(units, solutions);
        self.times.by_units.record(units, seconds);
        self.times.by_solutions.record(solutions, seconds);
        self.spent.wall += spent.wall;
        self.spent.cpu += spent.cpu;
    }

    /// How many clusters or parts there are.
    pub(super) fn clusters(&self) -> usize {
        self.solutions.clusters()
    }

    /// Wall time of a thread for each second of its CPU time: more than 1 on a busy machine, or with
    /// more threads than cores.
    pub(super) fn wall_for_cpu(&self) -> f64 {
        let Spent { wall, cpu } = self.spent;
        if cpu > 0.0 { wall / cpu } else { 1.0 }
    }
}

impl Times {
    /// The time of all clusters. It follows a published total more closely than the number of units,
    /// unless the sample has found few solutions.
    pub(super) fn sum_over(&self, units: f64, total: Option<f64>) -> Approximate {
        let by_units = self.by_units.sum_or_whole(units);
        let by_solutions = total.and_then(|total| self.by_solutions.sum_over(total));
        let is_closer = |sum: &Approximate| sum.relative_error() <= by_units.relative_error();
        by_solutions.filter(is_closer).unwrap_or(by_units)
    }
}
