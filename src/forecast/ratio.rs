//! The ratio estimator; the formulas are in [`forecast`](super).

/// An estimated number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approximate {
    /// The expected value.
    pub value: f64,
    /// The standard error: the true value lies within twice this distance in 19 of 20 cases. Infinite if
    /// the sample is too small to say.
    pub standard_error: f64,
}

impl Approximate {
    /// A number of which nobody can say how exact it is.
    pub(crate) fn roughly(value: f64) -> Self {
        Self { value, standard_error: f64::INFINITY }
    }

    /// A time with the error that no sample shows added.
    pub(crate) fn on_any_run(self) -> Self {
        Self { standard_error: self.standard_error.hypot(TIMES_DIFFER * self.value), ..self }
    }

    /// So many times this number, whose error grows with it.
    pub(crate) fn scaled(self, times: f64) -> Self {
        Self { value: times * self.value, standard_error: times * self.standard_error }
    }

    /// The sum of both, which err apart from each other.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            standard_error: self.standard_error.hypot(other.standard_error),
        }
    }

    /// This or another estimate of the same number: the one with the smaller error in relation to its value.
    pub(super) fn or_closer(self, other: Option<Self>) -> Self {
        let is_closer =
            |other: &Self| other.standard_error * self.value < self.standard_error * other.value;
        other.filter(is_closer).unwrap_or(self)
    }
}

/// Runs of the same count differ by some percent, which no sample shows: a standard error of this share of the
/// time is added to that of the sample.
const TIMES_DIFFER: f64 = 0.03;

/// Values are skewed, many small and few large, and small samples often lack the large ones: with k clusters the
/// standard error is larger by so many times 1/k. Without it, 30 clusters covered the total in 44 of 50 cases.
const SMALL_SAMPLE: f64 = 3.0;

/// With fewer clusters, nobody can say how exact an estimate is.
const FEWEST: f64 = 20.0;

/// Estimates a sum over all clusters from a sample of them, each with a size and a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RatioEstimator {
    clusters: f64,
    sizes: f64,
    values: f64,
    values_squared: f64,
    products: f64,
    sizes_squared: f64,
}

/// From the size and the value of each cluster.
impl FromIterator<(f64, f64)> for RatioEstimator {
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(sample: I) -> Self {
        let mut sums = Self::default();
        for (size, value) in sample {
            sums.clusters += 1.0;
            sums.sizes += size;
            sums.values += value;
            sums.values_squared += value * value;
            sums.products += value * size;
            sums.sizes_squared += size * size;
        }
        sums
    }
}

impl RatioEstimator {
    /// The sum of the values of all clusters, given the sum of the sizes of those that are not in the sample.
    pub(super) fn sum_with(&self, other_sizes: f64) -> Approximate {
        let clusters = self.clusters;
        let each = if self.sizes > 0.0 { self.values / self.sizes } else { 0.0 };
        let value = self.values + each * other_sizes;
        let left = clusters * other_sizes / self.sizes.max(f64::MIN_POSITIVE);
        if left <= 1e-9 * clusters && clusters > 0.0 {
            return Approximate { value, standard_error: 0.0 };
        }
        // Nothing found is not nothing there.
        if self.equal_clusters() < FEWEST || self.values <= 0.0 {
            return Approximate::roughly(value);
        }
        let residuals =
            self.values_squared - 2.0 * each * self.products + each * each * self.sizes_squared;
        let variance = residuals.max(0.0) / (clusters - 1.0);
        let standard_error = (variance * left * (clusters + left) / clusters).sqrt();
        let standard_error = standard_error * (1.0 + SMALL_SAMPLE / self.equal_clusters());
        Approximate { value, standard_error }
    }

    /// The sum of the values of the clusters that are not in the sample, given the sum of their sizes.
    pub(super) fn sum_over(&self, other_sizes: f64) -> Approximate {
        let all = self.sum_with(other_sizes);
        Approximate { value: all.value - self.values, ..all }
    }

    /// How many clusters of equal size say as much (L. Kish, *Survey Sampling*, chapter 11).
    fn equal_clusters(&self) -> f64 {
        self.sizes * self.sizes / self.sizes_squared.max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of so many clusters of size 1.
    fn of_size_1(clusters: u32, value: impl Fn(u32) -> u32) -> RatioEstimator {
        (0..clusters).map(|cluster| (1.0, f64::from(value(cluster)))).collect()
    }

    #[test]
    fn equal_units_give_an_exact_estimate() {
        let estimator: RatioEstimator = (0..20).map(|_| (4.0, 8.0)).collect();
        let sum = Approximate { value: 200.0, standard_error: 0.0 };
        assert_eq!(estimator.sum_with(20.0), sum);
        assert_eq!(estimator.sum_over(20.0), Approximate { value: 40.0, ..sum });
    }

    #[test]
    fn nineteen_clusters_are_too_few_to_say_and_so_are_twenty_of_unequal_size() {
        let error = |sizes: &[f64]| {
            let wrong = [0.9, 1.1].into_iter().cycle();
            let sample = sizes.iter().zip(wrong).map(|(size, wrong)| (*size, size * wrong));
            sample.collect::<RatioEstimator>().sum_with(1000.0).standard_error
        };
        assert!(error(&[1.0; 19]).is_infinite() && error(&[1.0; 20]).is_finite());
        let mut sizes = [1.0; 20];
        sizes[0] = 2.0;
        assert!(error(&sizes).is_infinite());
    }

    #[test]
    fn clusters_without_a_hit_say_nothing() {
        let sum = of_size_1(30, |_| 0).sum_with(20.0);
        assert_eq!((sum.value, sum.standard_error), (0.0, f64::INFINITY));
    }

    #[test]
    fn a_whole_population_has_no_error() {
        let sum = of_size_1(50, |value| value * value).sum_with(0.0);
        assert_eq!(sum, Approximate { value: 40_425.0, standard_error: 0.0 });
    }
}
