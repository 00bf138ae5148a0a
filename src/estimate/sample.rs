//! Ratio estimates from a sample of clusters; [`estimate`](super) tells the formulas.

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    /// The expected value.
    pub mean: f64,
    /// Its standard error: the truth lies within twice as much in 19 of 20 cases.
    pub error: f64,
}

/// A sample of clusters, each with a size and a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    clusters: f64,
    sizes: f64,
    values: f64,
    values_squared: f64,
    products: f64,
    sizes_squared: f64,
}

impl Sample {
    /// Takes a cluster into the sample.
    pub fn record(&mut self, size: f64, value: f64) {
        self.clusters += 1.0;
        self.sizes += size;
        self.values += value;
        self.values_squared += value * value;
        self.products += value * size;
        self.sizes_squared += size * size;
    }

    /// How many clusters were taken.
    #[must_use]
    pub fn clusters(&self) -> f64 {
        self.clusters
    }

    /// The sum of their sizes.
    #[must_use]
    pub fn sizes(&self) -> f64 {
        self.sizes
    }

    /// The sum of their values.
    #[must_use]
    pub fn values(&self) -> f64 {
        self.values
    }

    /// The sum of the values of all clusters, given that of their sizes; `None` for fewer than two
    /// clusters, or if all have the size 0.
    #[must_use]
    pub fn sum_over(&self, all_sizes: f64) -> Option<Estimated> {
        if self.clusters < 2.0 || self.sizes <= 0.0 {
            return None;
        }
        let each = self.values / self.sizes;
        let residuals =
            self.values_squared - 2.0 * each * self.products + each * each * self.sizes_squared;
        let variance = residuals.max(0.0) / (self.clusters - 1.0);
        let all_clusters = self.clusters * all_sizes / self.sizes;
        let left = (all_clusters - self.clusters).max(0.0);
        let error = (variance * left * all_clusters / self.clusters).sqrt();
        Some(Estimated { mean: each * all_sizes, error })
    }

    /// Both samples together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            clusters: self.clusters + other.clusters,
            sizes: self.sizes + other.sizes,
            values: self.values + other.values,
            values_squared: self.values_squared + other.values_squared,
            products: self.products + other.products,
            sizes_squared: self.sizes_squared + other.sizes_squared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_units_give_an_exact_estimate() {
        let mut sample = Sample::default();
        assert_eq!(sample.sum_over(100.0), None);
        for _ in 0..10 {
            sample.record(4.0, 8.0);
        }
        assert_eq!(sample.sum_over(100.0), Some(Estimated { mean: 200.0, error: 0.0 }));
    }

    #[test]
    fn a_whole_population_has_no_error() {
        let mut sample = Sample::default();
        for value in 0..50 {
            sample.record(1.0, f64::from(value * value));
        }
        let sum = sample.sum_over(50.0).expect("a sample");
        assert!((sum.mean - 40_425.0).abs() < 1e-6 && sum.error == 0.0, "{sum:?}");
    }
}
