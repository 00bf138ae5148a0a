//! What was counted for a sample.

use std::collections::BTreeMap;

use super::ratio::{Approximate, RatioEstimator};

/// The clusters of a sample, or the units that were estimated from parts, as the threads finish them.
///
/// A sample that is cut short would favour those that are finished early, the cheap ones. Then it is, as in
/// [`TimeLeft`](super::TimeLeft), the beginning of the order of turns up to the first one that is missing,
/// if that says anything.
#[derive(Debug)]
pub(super) struct Sampled {
    beginning: Totals,
    /// The first turn that is not in the beginning, and those after it that are finished.
    next: usize,
    later: BTreeMap<usize, Record>,
}

/// A cluster, or a unit that was estimated from a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Whole units; 0 if one was estimated.
    pub(super) whole_units: usize,
    pub(super) solutions: f64,
    /// CPU time.
    pub(super) seconds: f64,
    /// Wall and CPU time that the thread has spent on it.
    pub(super) spent: Spent,
}

/// Seconds of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    pub(super) wall: f64,
    pub(super) cpu: f64,
}

/// The sums over a sample.
#[derive(Debug)]
pub(super) struct Totals {
    pub(super) units: usize,
    pub(super) parts: usize,
    pub(super) solutions: RatioEstimator,
    /// CPU time of clusters, against both of their sizes.
    by_units: RatioEstimator,
    by_solutions: RatioEstimator,
    wall_by_cpu: RatioEstimator,
}

impl Sampled {
    /// An empty sample: of parts, or of clusters.
    pub(super) fn new(is_of_parts: bool) -> Self {
        Self { beginning: Totals::new(is_of_parts), next: 0, later: BTreeMap::new() }
    }

    pub(super) fn record(&mut self, turn: usize, record: Record) {
        self.later.insert(turn, record);
        while let Some(record) = self.later.remove(&self.next) {
            self.beginning.add(record);
            self.next += 1;
        }
    }

    /// How many clusters or parts are finished.
    pub(super) fn finished(&self) -> usize {
        self.beginning.clusters() + self.later.len()
    }

    /// The sample: of one that was cut short the beginning, if it has at least so many clusters or
    /// parts.
    pub(super) fn into_totals(mut self, is_cut_short: bool, fewest: usize) -> Totals {
        if !is_cut_short || self.beginning.clusters() < fewest {
            self.later.values().for_each(|record| self.beginning.add(*record));
        }
        self.beginning
    }
}

impl Totals {
    fn new(is_of_parts: bool) -> Self {
        let repeated = RatioEstimator::of_repeated_draws();
        let empty = if is_of_parts { repeated } else { RatioEstimator::default() };
        Self {
            units: 0,
            parts: 0,
            solutions: empty,
            by_units: empty,
            by_solutions: empty,
            wall_by_cpu: repeated,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn add(&mut self, record: Record) {
        let Record { whole_units, solutions, seconds, spent } = record;
        self.units += whole_units;
        self.parts += usize::from(whole_units == 0);
        let units = whole_units.max(1) as f64;
        self.solutions.record(units, solutions);
        self.by_units.record(units, seconds);
        self.by_solutions.record(solutions, seconds);
        self.wall_by_cpu.record(spent.cpu, spent.wall);
    }

    /// How many clusters or parts there are.
    pub(super) fn clusters(&self) -> usize {
        self.solutions.clusters()
    }

    /// CPU time of all units. It follows a published total more closely than the number of units, unless
    /// the sample has found few solutions.
    pub(super) fn cpu_seconds(&self, units: f64, total: Option<f64>) -> Approximate {
        let by_units = self.by_units.sum_or_whole(units);
        let by_solutions = total.and_then(|total| self.by_solutions.sum_over(total));
        let is_closer = |sum: &Approximate| sum.relative_error() <= by_units.relative_error();
        by_solutions.filter(is_closer).unwrap_or(by_units)
    }

    /// Wall time of a thread for each second of its CPU time: more than 1 on a busy machine, or with
    /// more threads than cores.
    pub(super) fn wall_for_cpu(&self) -> Approximate {
        let as_measured = self.wall_by_cpu.sum_over(1.0);
        as_measured.unwrap_or(Approximate { value: 1.0, standard_error: 0.0 })
    }
}
