//! The ratio estimator; the formulas are in [`estimate`](super).

/// An estimated number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Approximate {
    /// The expected value.
    pub value: f64,
    /// The standard error, larger for small samples: the true value lies within twice this distance in
    /// 19 of 20 cases. Infinite if the sample says nothing.
    pub standard_error: f64,
}

impl Approximate {
    /// With an independent error, in relation to the value, added.
    pub(super) fn with_relative_error(self, share: f64) -> Self {
        Self { standard_error: self.standard_error.hypot(share * self.value), ..self }
    }

    /// The standard error in relation to the value.
    pub(super) fn relative_error(self) -> f64 {
        if self.standard_error > 0.0 { self.standard_error / self.value } else { 0.0 }
    }
}

/// Estimates a sum over all clusters from a sample of them, each with a size and a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct RatioEstimator {
    clusters: usize,
    sizes: f64,
    values: f64,
    values_squared: f64,
    products: f64,
    sizes_squared: f64,
    draws_repeat: bool,
}

impl RatioEstimator {
    /// For clusters that may be drawn again and whose values are themselves estimates, so that no
    /// sample is the whole.
    #[must_use]
    pub fn of_repeated_draws() -> Self {
        Self { draws_repeat: true, ..Self::default() }
    }

    /// Adds a cluster to the sample.
    pub fn record(&mut self, size: f64, value: f64) {
        self.clusters += 1;
        self.sizes += size;
        self.values += value;
        self.values_squared += value * value;
        self.products += value * size;
        self.sizes_squared += size * size;
    }

    /// The number of clusters in the sample.
    #[must_use]
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// The sum of their values.
    #[must_use]
    pub fn values(&self) -> f64 {
        self.values
    }

    /// The sum of the values of all clusters, given the sum of their sizes. `None` with fewer than
    /// two recorded clusters, or if all of them have size 0.
    #[must_use]
    pub fn sum_over(&self, all_sizes: f64) -> Option<Approximate> {
        if self.clusters < 2 || self.sizes <= 0.0 {
            return None;
        }
        let clusters = self.clusters as f64;
        let each = self.values / self.sizes;
        let residuals =
            self.values_squared - 2.0 * each * self.products + each * each * self.sizes_squared;
        let variance = residuals.max(0.0) / (clusters - 1.0);
        let all_clusters = clusters * all_sizes / self.sizes;
        let left = match self.draws_repeat {
            true => all_clusters,
            false => (all_clusters - clusters).max(0.0),
        };
        let standard_error = (variance * left * all_clusters / clusters).sqrt();
        let standard_error = standard_error * widening(clusters - 1.0);
        // Nothing found is not nothing there.
        let is_blind = self.values <= 0.0 && left > 0.0;
        let standard_error = if is_blind { f64::INFINITY } else { standard_error };
        Some(Approximate { value: each * all_sizes, standard_error })
    }

    /// The same, but if the sample is too small for an estimate, it is all there is.
    pub(super) fn sum_or_whole(&self, all_sizes: f64) -> Approximate {
        let whole = Approximate { value: self.values, standard_error: 0.0 };
        self.sum_over(all_sizes).unwrap_or(whole)
    }
}

/// What makes twice the standard error of a small sample an interval of 95 %: half the quantile of
/// Student's distribution with this many degrees of freedom, by the expansion of Cornish and Fisher.
fn widening(freedom: f64) -> f64 {
    // For one degree the expansion gives 11.3.
    if freedom < 1.5 {
        return 0.5 * 12.706;
    }
    let terms = [1.590, 2.556, 2.823, 2.372, 1.960];
    0.5 * terms.into_iter().fold(0.0, |sum, term| sum / freedom + term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::known::known;
    use crate::board::size::BoardSize;
    use crate::cancel::Cancel;
    use crate::engine::{Engine, Kernel, Resources};
    use crate::plan::Plan;

    #[test]
    fn equal_units_give_an_exact_estimate() {
        let mut estimator = RatioEstimator::default();
        assert_eq!(estimator.sum_over(100.0), None);
        for _ in 0..10 {
            estimator.record(4.0, 8.0);
        }
        assert_eq!(
            estimator.sum_over(100.0),
            Some(Approximate { value: 200.0, standard_error: 0.0 })
        );
    }

    /// Boards with large units, of which fifteen parts are counted, always the same ones.
    #[test]
    #[ignore = "takes a quarter of a minute"]
    fn the_interval_from_parts_covers_the_published_total_in_45_of_50_cases() {
        let (kernel, cancel) = (Kernel::detect(), Cancel::new());
        let resources = Resources { kernel, threads: 1, memory: 1 << 30 };
        for (n, engine, depth) in [(16, Engine::Bitmask, 3), (22, Engine::Halves, 2)] {
            let size = BoardSize::new(n).expect("in range");
            let published = known(size).total.expect("published") as f64;
            let plan = Plan::new(size, engine, None);
            let prepared = plan.prepare(&resources, &cancel).expect("it fits");
            let mut worker = prepared.worker();
            let covered = (0..50).filter(|&seed| {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut parts = RatioEstimator::of_repeated_draws();
                for _ in 0..15 {
                    let unit = random.usize(..plan.units());
                    let part = worker.sample(unit, depth, &mut random, &cancel).expect("a part");
                    parts.record(1.0, part.solutions * plan.weight(unit) as f64);
                }
                let total = parts.sum_over(plan.units() as f64).expect("fifteen parts");
                (total.value - published).abs() <= 2.0 * total.standard_error
            });
            let covered = covered.count();
            assert!(covered >= 45, "{engine}: {covered} of 50");
        }
    }

    #[test]
    fn intervals_of_small_samples_are_those_of_student() {
        // M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, table 26.10.
        for (freedom, quantile) in
            [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (10.0, 2.228), (120.0, 1.980)]
        {
            let ratio = 2.0 * widening(freedom) / quantile;
            assert!((0.99..1.01).contains(&ratio), "{freedom}: {ratio}");
        }
    }

    #[test]
    fn draws_without_a_hit_say_nothing() {
        let mut estimator = RatioEstimator::of_repeated_draws();
        (0..10).for_each(|_| estimator.record(1.0, 0.0));
        let sum = estimator.sum_over(50.0).expect("ten draws");
        assert_eq!((sum.value, sum.standard_error), (0.0, f64::INFINITY));
    }

    #[test]
    fn a_whole_population_has_no_error() {
        let mut estimator = RatioEstimator::default();
        for value in 0..50 {
            estimator.record(1.0, f64::from(value * value));
        }
        let sum = estimator.sum_over(50.0).expect("fifty clusters");
        assert!((sum.value - 40_425.0).abs() < 1e-6 && sum.standard_error == 0.0, "{sum:?}");
    }
}
