//! What was counted for a sample.

use super::ratio::{Approximate, RatioEstimator};

/// A cluster, or a unit that was estimated from a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Whole units; 0 if one was estimated.
    pub(super) whole_units: usize,
    pub(super) solutions: f64,
    /// CPU time.
    pub(super) seconds: f64,
    /// Seconds that the thread has spent on it.
    pub(super) wall: f64,
    pub(super) cpu: f64,
}

/// The sums over a sample.
#[derive(Debug)]
pub(super) struct Totals {
    pub(super) units: usize,
    pub(super) clusters: usize,
    pub(super) parts: usize,
    pub(super) solutions: RatioEstimator,
    /// CPU time of clusters, against both of their sizes.
    by_units: RatioEstimator,
    by_solutions: RatioEstimator,
    wall: f64,
    cpu: f64,
}

impl Totals {
    /// An empty sample: of parts, or of clusters.
    pub(super) fn new(is_of_parts: bool) -> Self {
        let empty = match is_of_parts {
            true => RatioEstimator::of_repeated_draws(),
            false => RatioEstimator::default(),
        };
        Self {
            units: 0,
            clusters: 0,
            parts: 0,
            solutions: empty,
            by_units: empty,
            by_solutions: empty,
            wall: 0.0,
            cpu: 0.0,
        }
    }

    /// Adds a cluster or part.
    pub(super) fn add(&mut self, record: Record) {
        let Record { whole_units, solutions, seconds, wall, cpu } = record;
        self.units += whole_units;
        let counted = if whole_units == 0 { &mut self.parts } else { &mut self.clusters };
        *counted += 1;
        let units = whole_units.max(1) as f64;
        self.solutions.record(units, solutions);
        self.by_units.record(units, seconds);
        self.by_solutions.record(solutions, seconds);
        self.wall += wall;
        self.cpu += cpu;
    }

    /// CPU time of all units. It follows a published total more closely than the number of units.
    pub(super) fn cpu_seconds(&self, units: f64, total: Option<f64>) -> Approximate {
        let by_solutions = total.map(|total| self.by_solutions.sum_over(total));
        self.by_units.sum_over(units).or_closer(by_solutions)
    }

    /// Wall time of a thread for each second of its CPU time: more than 1 on a busy machine, or with
    /// more threads than cores.
    pub(super) fn wall_for_cpu(&self) -> f64 {
        if self.cpu > 0.0 { self.wall / self.cpu } else { 1.0 }
    }
}
