//! How long a count still takes, from the units measured so far.
//!
//! Units differ in size, so the mean of the finished ones is an estimate with an error. The driver
//! takes ranges of units in a scattered order, so the finished ones are a sample of all: with k
//! ranges of mean duration m and variance s² done out of K, the rest is expected to take (K - k) m
//! of one thread's time, with a standard error of s sqrt((K - k) K / k).

use std::time::Duration;

/// Fewer ranges than this, or than twice the threads, are no sample.
const SMALLEST_SAMPLE: usize = 8;

/// A running estimate.
#[derive(Clone, Debug, Default)]
pub(super) struct RemainingTime {
    units: usize,
    threads: usize,
    units_done: usize,
    ranges_done: usize,
    busy: f64,
    busy_squares: f64,
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

    /// Takes the time of a finished range into the sample.
    pub(super) fn record(&mut self, units: usize, busy: Duration) {
        let busy = busy.as_secs_f64();
        self.units_done += units;
        self.ranges_done += 1;
        self.busy += busy;
        self.busy_squares += busy * busy;
    }

    /// The expected time to the end; `None` while the sample is too small.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn estimate(&self, elapsed: Duration) -> Option<Estimate> {
        if self.ranges_done < SMALLEST_SAMPLE.max(2 * self.threads) || self.units_done == 0 {
            return None;
        }
        let done = self.ranges_done as f64;
        let threads = self.threads as f64;
        let all = done * self.units as f64 / self.units_done as f64;
        let mean = self.busy / done;
        let variance = (self.busy_squares / done - mean * mean).max(0.0);
        // Ranges under way have used up part of what the rest will take.
        let begun = (elapsed.as_secs_f64() * threads - self.busy).max(0.0);
        let rest = ((all - done) * mean - begun).max(0.0) / threads;
        let error = 2.0 * (variance * (all - done).max(0.0) * all / done).sqrt() / threads;
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
