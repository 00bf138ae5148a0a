//! What is finished of a plan, in 1024 clusters of neighbouring units, and what the rest will take.
//!
//! Neighbouring units are alike, so they are one cluster of the ratio estimator, however many lines or reports
//! told of them. The rest of the plan takes, for each unit or for each solution that it has, as much as what is
//! finished. A count takes the first units from all over the plan (`count::ranges`), so after seconds there
//! are dozens of clusters.
//!
//! If the total is published, the solutions are the better measure: CPU time follows them closely. At n = 23
//! the interval is half as wide, and cheap units, which are finished first, have few solutions too.
//!
//! What was finished with another kernel, for instance, is scaled to what it would take now, and how well that is
//! known is an error of its own. So there are two samples: of all units, and of those that need no scaling, which are
//! few after a change and soon say more.

use std::collections::BTreeMap;

use super::ratio::{Approximate, RatioEstimator};
use crate::done::Tally;

/// Clusters of a plan. The sample is no larger, and the memory for it.
const CLUSTERS: usize = 1024;

/// The finished units of a plan: a fair sample of all, unless they are few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clusters {
    /// Units of a cluster.
    length: usize,
    /// By their numbers; those that are scaled stand apart, after the others.
    clusters: BTreeMap<(bool, usize), Cluster>,
}

/// Before all clusters that are scaled.
const SCALED: (bool, usize) = (true, 0);

/// What is finished of a cluster.
#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    units: f64,
    solutions: f64,
    cpu_seconds: f64,
    /// The standard error of the CPU seconds, which is likely to go the same way in all clusters.
    doubt: f64,
}

/// What is not finished.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    pub(crate) units: usize,
    /// `None` if the total is not published.
    pub(crate) solutions: Option<f64>,
}

impl Clusters {
    /// Nothing is finished of a plan with so many units.
    pub(crate) fn new(units: usize) -> Self {
        Self { length: units.div_ceil(CLUSTERS).max(1), clusters: BTreeMap::new() }
    }

    /// Adds neighbouring units, with the CPU seconds that they would take now.
    pub(crate) fn add(&mut self, first: usize, done: Tally, seconds: Approximate) {
        let Approximate { value: cpu_seconds, standard_error: doubt } = seconds;
        let (units, solutions) = (done.units as f64, done.solutions as f64);
        let cluster = Cluster { units, solutions, cpu_seconds, doubt };
        self.add_to((doubt > 0.0, first / self.length.max(1)), cluster);
    }

    /// With what others finished of the same plan.
    pub(crate) fn merged(mut self, others: Self) -> Self {
        others.clusters.into_iter().for_each(|(number, other)| self.add_to(number, other));
        self
    }

    fn add_to(&mut self, number: (bool, usize), more: Cluster) {
        let cluster = self.clusters.entry(number).or_default();
        cluster.units += more.units;
        cluster.solutions += more.solutions;
        cluster.cpu_seconds += more.cpu_seconds;
        cluster.doubt += more.doubt;
    }

    /// The solutions of the whole.
    pub(crate) fn total(&self, rest: Rest) -> Approximate {
        let sample = self.clusters.values().map(|of| (of.units, of.solutions));
        sample.collect::<RatioEstimator>().sum_with(rest.units as f64)
    }

    /// The CPU seconds that the rest takes. `None` while nothing is finished.
    pub(crate) fn cpu_seconds(&self, rest: Rest) -> Option<Approximate> {
        let measured: Vec<_> = self.clusters.range(..SCALED).map(|(_, cluster)| cluster).collect();
        let all: Vec<_> = self.clusters.values().collect();
        Some(by_sample(&all, rest)?.or_closer(by_sample(&measured, rest)))
    }
}

/// The CPU seconds that the rest takes, by some of the clusters.
fn by_sample(sample: &[&Cluster], rest: Rest) -> Option<Approximate> {
    let by = |size: fn(&Cluster) -> f64| -> RatioEstimator {
        sample.iter().map(|of| (size(of), of.cpu_seconds)).collect()
    };
    let by_solutions = rest.solutions.map(|left| by(|of| of.solutions).sum_over(left.max(0.0)));
    let left = by(|of| of.units).sum_over(rest.units as f64).or_closer(by_solutions);
    let sum = |number: fn(&Cluster) -> f64| sample.iter().map(|of| number(of)).sum::<f64>();
    let doubt = sum(|of| of.doubt) / sum(|of| of.cpu_seconds).max(f64::MIN_POSITIVE);
    let standard_error = left.standard_error.hypot(doubt * left.value);
    (!sample.is_empty()).then_some(Approximate { standard_error, ..left })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(value: f64) -> Approximate {
        Approximate { value, standard_error: 0.0 }
    }

    /// Units whose time follows their solutions, of which mostly cheap ones are finished.
    #[test]
    fn solutions_tell_what_cheap_units_hide() {
        let mut clusters = Clusters::new(100_000);
        for first in (0..100_000).step_by(2000) {
            let units = 100 + first / 5000;
            let done = Tally { units, solutions: 10_000 };
            clusters.add(first, done, exactly(0.01));
        }
        let rest = Rest { units: 94_500, solutions: None };
        let left = |rest| clusters.cpu_seconds(rest).expect("fifty clusters").value;
        assert!((8.0..10.0).contains(&left(rest)), "as many CPU seconds for each unit");
        let rest = Rest { solutions: Some(9.5e7), ..rest };
        assert!((left(rest) - 95.0).abs() < 1e-6, "as many for each solution");
    }

    #[test]
    fn what_is_scaled_counts_until_enough_is_measured() {
        let mut clusters = Clusters::new(5000);
        let rest = Rest { units: 100, solutions: None };
        let done = Tally { units: 1, solutions: 0 };
        let mut add = |units: std::ops::Range<usize>, seconds| {
            units.for_each(|unit| clusters.add(50 * unit, done, seconds));
            let left = clusters.cpu_seconds(rest).expect("some");
            (left.value.round(), left.standard_error.round())
        };
        let scaled = Approximate { value: 2.0, standard_error: 0.4 };
        assert_eq!(add(0..50, scaled), (200.0, 40.0));
        let (left, error) = add(0..10, exactly(4.0));
        assert!((200.0..300.0).contains(&left) && error < 100.0, "ten are few: {left} ± {error}");
        assert_eq!(add(10..30, exactly(4.0)), (400.0, 0.0));
    }

    #[test]
    fn others_add_up_and_nothing_says_nothing() {
        let [mut all, mut other] = [Clusters::new(5000), Clusters::new(5000)];
        let rest = Rest { units: 10, solutions: None };
        assert!(all.cpu_seconds(rest).is_none());
        for first in 0..30 {
            let clusters = if first % 2 == 0 { &mut all } else { &mut other };
            clusters.add(100 * first, Tally { units: 2, solutions: 7 }, exactly(4.0));
        }
        let error = |clusters: &Clusters| clusters.cpu_seconds(rest).expect("some").standard_error;
        assert!(error(&all).is_infinite(), "fifteen clusters are too few");
        let all = all.merged(other);
        let left = all.cpu_seconds(rest).expect("thirty clusters");
        assert!(left.value == 20.0 && left.standard_error.is_finite(), "{left:?}");
        let total = all.total(rest).value;
        assert!(
            (total - 245.0).abs() < 1e-9,
            "sixty units have 210 solutions, seventy have {total}"
        );
    }
}
