//! How long a count still takes, from the units measured so far.
//!
//! Units differ in size, so the mean of the finished ones is an estimate with an error. The driver
//! takes ranges of units in a scattered order and reports them one after the other, so the reports
//! are a sample of all. With U' of U units done in k reports of u_i units and t_i seconds, a unit
//! takes m = sum t_i / U' on the mean, the rest (U - U') m of one thread's time, and with the
//! residuals s² = sum (t_i - m u_i)² / k and K = k U / U' reports in all the standard error is
//! s sqrt((K - k) K / k): the ratio estimator of survey sampling (W. G. Cochran, *Sampling
//! Techniques*, chapter 6).

use std::time::Duration;

/// Fewer reports than this, or than twice the threads, are no sample.
const SMALLEST_SAMPLE: usize = 8;

/// A running estimate.
#[derive(Clone, Debug, Default)]
pub(super) struct RemainingTime {
    units: usize,
    threads: usize,
    units_done: usize,
    reports: usize,
    busy: f64,
    busy_squares: f64,
    busy_times_units: f64,
    units_squares: f64,
}

/// An expected duration and twice its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    pub(super) mean: Duration,
    pub(super) error: Duration,
}

impl RemainingTime {
    pub(super) fn new(units: usize, threads: usize) -> Self {
        Self { units, threads, ..Self::default() }
    }

    /// Takes the time of some finished units into the sample.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn record(&mut self, units: usize, busy: Duration) {
        let busy = busy.as_secs_f64();
        self.units_done += units;
        self.reports += 1;
        let units = units as f64;
        self.busy += busy;
        self.busy_squares += busy * busy;
        self.busy_times_units += busy * units;
        self.units_squares += units * units;
    }

    /// The expected time to the end; `None` while the sample is too small.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn estimate(&self, elapsed: Duration) -> Option<Estimate> {
        if self.reports < SMALLEST_SAMPLE.max(2 * self.threads) || self.units_done == 0 {
            return None;
        }
        let reports = self.reports as f64;
        let threads = self.threads as f64;
        let per_unit = self.busy / self.units_done as f64;
        let residuals = self.busy_squares - 2.0 * per_unit * self.busy_times_units
            + per_unit * per_unit * self.units_squares;
        let variance = (residuals / reports).max(0.0);
        let all_reports = reports * self.units as f64 / self.units_done as f64;
        let expected = per_unit * self.units.saturating_sub(self.units_done) as f64;
        // Units under way have used up part of what the rest will take.
        let begun = (elapsed.as_secs_f64() * threads - self.busy).max(0.0);
        let rest = (expected - begun).max(0.0) / threads;
        let error = 2.0
            * (variance * (all_reports - reports).max(0.0) * all_reports / reports).sqrt()
            / threads;
        Some(Estimate { mean: seconds(rest), error: seconds(error) })
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_sample_gives_no_estimate() {
        let mut remaining = RemainingTime::new(100, 2);
        for _ in 1..SMALLEST_SAMPLE {
            remaining.record(1, Duration::from_secs(1));
            assert_eq!(remaining.estimate(Duration::from_secs(4)), None);
        }
        remaining.record(1, Duration::from_secs(1));
        assert!(remaining.estimate(Duration::from_secs(4)).is_some());
    }

    #[test]
    fn equal_units_give_an_exact_estimate() {
        let mut remaining = RemainingTime::new(100, 2);
        for _ in 0..40 {
            remaining.record(1, Duration::from_secs(1));
        }
        let estimate = remaining.estimate(Duration::from_secs(20)).expect("a sample");
        assert_eq!(estimate.mean, Duration::from_secs(30));
        assert!(estimate.error < Duration::from_millis(1));
    }

    /// Sizes that differ a hundredfold, taken in a scattered order: the truth lies within the
    /// stated error (two standard errors) nearly always.
    #[test]
    fn the_stated_error_covers_the_truth() {
        let sizes: Vec<f64> =
            (0..500u32).map(|unit| 1.0 + f64::from(unit * unit) / 2500.0).collect();
        let (mut covered, mut estimates) = (0, 0);
        for start in 0..100 {
            let mut remaining = RemainingTime::new(500, 1);
            let mut elapsed = 0.0;
            for turn in 0..500 {
                let unit = (start * 7 + turn * 309) % 500;
                remaining.record(1, Duration::from_secs_f64(sizes[unit]));
                elapsed += sizes[unit];
                let Some(estimate) = remaining.estimate(Duration::from_secs_f64(elapsed)) else {
                    continue;
                };
                let truth = sizes.iter().sum::<f64>() - elapsed;
                let off = (estimate.mean.as_secs_f64() - truth).abs();
                covered += u32::from(off <= estimate.error.as_secs_f64() + 1e-6);
                estimates += 1;
            }
        }
        assert!(covered * 100 >= estimates * 95, "{covered} of {estimates}");
    }
}
