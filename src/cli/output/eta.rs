//! How long a count still takes, from the units measured so far.
//!
//! The driver takes ranges of units in a scattered order and reports them one after the other, so
//! the reports are a sample of all; [`nqueens::estimate`] tells how it is used.

use std::time::Duration;

use nqueens::estimate::RatioEstimator;

use super::text::seconds;

/// Fewer reports than this, or than twice the threads, are no sample.
const SMALLEST_SAMPLE: usize = 8;

/// A running estimate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Eta {
    units: usize,
    threads: usize,
    sample: RatioEstimator,
}

impl Eta {
    /// For so many units that are not finished.
    pub(crate) fn new(units: usize, threads: usize) -> Self {
        Self { units, threads, ..Self::default() }
    }

    /// Takes the time of some finished units into the sample.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn record(&mut self, units: usize, busy: Duration) {
        self.sample.record(units as f64, busy.as_secs_f64());
    }

    /// The expected time to the end and twice its standard error; `None` while the sample is too
    /// small.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn estimate(&self, elapsed: Duration) -> Option<(Duration, Duration)> {
        if self.sample.clusters() < SMALLEST_SAMPLE.max(2 * self.threads) {
            return None;
        }
        let threads = self.threads as f64;
        let all = self.sample.sum_over(self.units as f64)?;
        // Units under way have used up part of what the rest will take.
        let busy = self.sample.values();
        let begun = (elapsed.as_secs_f64() * threads - busy).max(0.0);
        Some((
            seconds((all.value - busy - begun) / threads),
            seconds(2.0 * all.standard_error / threads),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_units_give_an_exact_estimate_once_they_are_enough() {
        let mut eta = Eta::new(100, 2);
        for done in 1..=40 {
            eta.record(1, Duration::from_secs(1));
            assert_eq!(eta.estimate(Duration::ZERO).is_some(), done >= SMALLEST_SAMPLE);
        }
        let (rest, error) = eta.estimate(Duration::from_secs(20)).expect("a sample");
        assert_eq!(rest, Duration::from_secs(30));
        assert!(error < Duration::from_millis(1));
    }

    /// Sizes that differ a hundredfold, taken in a scattered order: the truth lies within the
    /// stated error (two standard errors) nearly always.
    #[test]
    fn the_stated_error_covers_the_truth() {
        let sizes: Vec<f64> =
            (0..500u32).map(|unit| 1.0 + f64::from(unit * unit) / 2500.0).collect();
        let (mut covered, mut estimates) = (0, 0);
        for start in 0..100 {
            let mut eta = Eta::new(500, 1);
            let mut elapsed = 0.0;
            for turn in 0..500 {
                let unit = (start * 7 + turn * 309) % 500;
                eta.record(1, Duration::from_secs_f64(sizes[unit]));
                elapsed += sizes[unit];
                let Some((rest, error)) = eta.estimate(Duration::from_secs_f64(elapsed)) else {
                    continue;
                };
                let truth = sizes.iter().sum::<f64>() - elapsed;
                let off = (rest.as_secs_f64() - truth).abs();
                covered += u32::from(off <= error.as_secs_f64() + 1e-6);
                estimates += 1;
            }
        }
        assert!(covered * 100 >= estimates * 95, "{covered} of {estimates}");
    }
}
