//! The finished units of a plan, in at most 1024 clusters of neighbouring units, and an estimate for the rest.
//!
//! Neighbouring units are alike, so they form one cluster of the ratio estimator, however many lines or reports they
//! came in. The rest of the plan is assumed to take as much time as the finished units, for each unit or for each
//! solution. A count takes its first units from all over the plan (`count::ranges`), so after seconds there are
//! dozens of clusters.
//!
//! If the total is published, the number of solutions is the better measure, because CPU time follows it closely. At
//! n = 23 the interval is half as wide. Cheap units, which are finished first, also have few solutions.

use std::collections::BTreeMap;

use super::ratio::{Approximate, sum_of_others};
use crate::done::UnitsDone;

/// The largest number of clusters of a plan. It limits the sample and its memory.
const MAX_CLUSTERS: usize = 1024;

/// The finished units of a plan, by cluster. Unless they are few, they are a fair sample of all units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clusters {
    /// The number of units in a cluster.
    length: usize,
    /// The clusters with finished units, by their numbers.
    clusters: BTreeMap<usize, Cluster>,
}

/// The finished part of a cluster.
#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    units: f64,
    solutions: f64,
    cpu_seconds: f64,
}

/// The part of a plan that is not finished.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    pub(crate) units: usize,
    /// The number of solutions that are not counted yet. `None` if the total is not published.
    pub(crate) solutions: Option<f64>,
}

impl Clusters {
    /// Makes the clusters of a plan of this many units, of which none is finished.
    pub(crate) fn new(units: usize) -> Self {
        Self { length: units.div_ceil(MAX_CLUSTERS).max(1), clusters: BTreeMap::new() }
    }

    /// Returns whether no unit is finished.
    pub(crate) fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// Adds neighbouring finished units.
    pub(crate) fn add(&mut self, done: &UnitsDone) {
        let (units, solutions) = (done.units.len() as f64, done.solutions as f64);
        let cluster = Cluster { units, solutions, cpu_seconds: done.cpu_time.as_secs_f64() };
        self.add_to(done.units.start / self.length.max(1), &cluster);
    }

    /// Adds units of the plan that others have finished.
    pub(crate) fn merged(mut self, others: &Self) -> Self {
        others.clusters.iter().for_each(|(number, other)| self.add_to(*number, other));
        self
    }

    fn add_to(&mut self, number: usize, more: &Cluster) {
        let cluster = self.clusters.entry(number).or_default();
        cluster.units += more.units;
        cluster.solutions += more.solutions;
        cluster.cpu_seconds += more.cpu_seconds;
    }

    /// Estimates the number of solutions of the whole plan.
    pub(crate) fn total(&self, rest: Rest) -> Approximate {
        let found: f64 = self.clusters.values().map(|of| of.solutions).sum();
        let left = self.others(|of| of.units, |of| of.solutions, rest.units as f64);
        Approximate { value: found + left.value, ..left }
    }

    /// Estimates the CPU time of the rest in seconds. Returns `None` while nothing is finished.
    pub(crate) fn cpu_seconds(&self, rest: Rest) -> Option<Approximate> {
        let by_units = self.others(|of| of.units, |of| of.cpu_seconds, rest.units as f64);
        let by_solutions =
            |left: f64| self.others(|of| of.solutions, |of| of.cpu_seconds, left.max(0.0));
        let left = by_units.or_closer(rest.solutions.map(by_solutions));
        (!self.is_empty()).then_some(left)
    }

    /// Estimates the sum of a value over the rest, given the sum of its sizes.
    fn others(
        &self,
        size: fn(&Cluster) -> f64,
        value: fn(&Cluster) -> f64,
        sizes: f64,
    ) -> Approximate {
        let sample = self.clusters.values().map(|of| (size(of), value(of)));
        sum_of_others(&sample.collect::<Vec<_>>(), sizes)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn done(first: usize, units: usize, solutions: u128, milliseconds: u64) -> UnitsDone {
        let cpu_time = Duration::from_millis(milliseconds);
        UnitsDone { units: first..first + units, solutions, cpu_time, ..UnitsDone::default() }
    }

    /// Units whose time follows their solutions, of which mostly cheap ones are finished.
    #[test]
    fn solutions_tell_what_cheap_units_hide() {
        let mut clusters = Clusters::new(100_000);
        for first in (0..100_000).step_by(2000) {
            clusters.add(&done(first, 100 + first / 5000, 10_000, 10));
        }
        let rest = Rest { units: 94_500, solutions: None };
        let left = |rest| clusters.cpu_seconds(rest).expect("fifty clusters").value;
        assert!((8.0..10.0).contains(&left(rest)), "as many CPU seconds for each unit");
        let rest = Rest { solutions: Some(9.5e7), ..rest };
        assert!((left(rest) - 95.0).abs() < 1e-6, "as many for each solution");
    }

    #[test]
    fn others_add_up_and_nothing_says_nothing() {
        let [mut all, mut other] = [Clusters::new(5000), Clusters::new(5000)];
        let rest = Rest { units: 10, solutions: None };
        assert!(all.cpu_seconds(rest).is_none());
        for first in 0..30 {
            let clusters = if first % 2 == 0 { &mut all } else { &mut other };
            clusters.add(&done(100 * first, 2, 7, 4000));
        }
        let error = |clusters: &Clusters| clusters.cpu_seconds(rest).expect("some").standard_error;
        assert!(error(&all).is_infinite(), "fifteen clusters are too few");
        let all = all.merged(&other);
        let left = all.cpu_seconds(rest).expect("thirty clusters");
        assert!(left.value == 20.0 && left.standard_error.is_finite(), "{left:?}");
        let total = all.total(rest).value;
        assert!(
            (total - 245.0).abs() < 1e-9,
            "sixty units have 210 solutions, seventy have {total}"
        );
    }
}
