//! Estimates the time and the result of a count: the count begins, and is stopped after a while.

use std::time::{Duration, Instant};

use super::job::{Job, Outcome};
use super::observe::Progress;
use super::settings::Count;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::forecast::{Approximate, Forecast, TimeLeft, rough_cpu_seconds, rough_seconds};
use crate::plan::shard::Shard;

impl Count<'_> {
    /// Forecasts the time and the result of a count of the whole board from a sample: the first units, counted for
    /// about `time` on all threads. The wall time is that on these threads, and is always there.
    ///
    /// The sample takes up to half as long again if its standard error is still unknown. If no unit ends in six times
    /// that time, or in a second if that is longer, the times are rough values for boards of this size, measured on
    /// other machines. [`Count::journal`] and [`Count::shard`] have no effect, and the observer hears only of finished
    /// units.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use nqueens::{BoardSize, Count};
    ///
    /// let count = Count::new(BoardSize::new(13)?).threads(2);
    /// let forecast = count.estimate(Duration::from_millis(50))?;
    /// println!("{} s of CPU time, {} s on 16 CPUs", forecast.cpu_seconds, forecast.on_cores(16));
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Count::run`]. A cancellation is an error only if no unit was finished before:
    /// [`Error::Cancelled`].
    ///
    /// # Panics
    ///
    /// If the observer panics.
    pub fn estimate(&self, time: Duration) -> Result<Forecast, Error> {
        self.cancel.check()?;
        let (_, forecast) = self.on_its_threads(|| self.estimate_here(time))??;
        let total = forecast.total.filter(|total| total.standard_error.is_finite());
        Ok(Forecast { total, ..forecast })
    }

    /// Estimates on the current rayon pool. Also returns the outcome of the count that was stopped.
    pub(crate) fn estimate_here(&self, time: Duration) -> Result<(Outcome, Forecast), Error> {
        let (sample, left) = self.take_sample(time)?;
        let forecast = match left.estimate_whole() {
            Some(whole) if sample.is_complete() => measured(&sample, whole),
            Some(whole) if whole.wall_seconds.is_some() => whole,
            _ => {
                if sample.units_done == 0 {
                    self.cancel.check()?;
                }
                self.rough_time(&sample)
            }
        };
        let total = Some(left.estimate_total());
        Ok((sample, Forecast { total, ..forecast }))
    }

    /// Returns the time of all units if nothing is known of it.
    fn rough_time(&self, sample: &Outcome) -> Forecast {
        let Outcome { engine, kernel, threads, .. } = *sample;
        let cpu_seconds = rough_cpu_seconds(self.size, engine, kernel);
        let seconds = rough_seconds(self.size, engine, kernel, threads);
        Forecast {
            cpu_seconds: Approximate::roughly(cpu_seconds),
            wall_seconds: Some(Approximate::roughly(seconds)),
            cores: None,
            total: None,
        }
    }

    /// Counts the first units of the whole board for about this time, without a journal. Returns the outcome, and what
    /// is known of the rest.
    fn take_sample(&self, time: Duration) -> Result<(Outcome, TimeLeft), Error> {
        let enough = Cancel::new();
        let report = |progress: &Progress<'_>| {
            if is_enough(progress.time_left(), progress.elapsed, time) {
                enough.cancel();
            }
            self.observer.progress(progress);
        };
        let whole = self.clone().shard(Shard::WHOLE).without_journal().on_progress(report);
        let longest = time.saturating_mul(6).max(Duration::from_secs(1));
        let begun = Instant::now();
        let is_over = || self.cancel.is_cancelled() || begun.elapsed() > longest;
        Cancel::run_until(is_over, |stop| {
            let count = whole.cancel_on(stop);
            let mut job = Job::new(&count);
            job.stop = enough.clone();
            job.run()
        })?
    }
}

/// Returns whether a sample that should take about `time` can end, once some units are finished.
fn is_enough(left: Option<Forecast>, elapsed: Duration, time: Duration) -> bool {
    let has_known_error = left.is_some_and(|left| left.cpu_seconds.standard_error.is_finite());
    let end = if has_known_error { time } else { time.saturating_add(time / 2) };
    elapsed >= end
}

/// Returns the time of a sample of all units. It is no estimate.
fn measured(sample: &Outcome, whole: Forecast) -> Forecast {
    let exactly = |value| Approximate { value, standard_error: 0.0 };
    Forecast {
        cpu_seconds: exactly(whole.cpu_seconds.value),
        wall_seconds: Some(exactly(sample.elapsed.as_secs_f64())),
        cores: whole.cores,
        total: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    /// Estimates on the threads of a count, and returns the sample as well.
    fn estimated(count: &Count<'_>, time: Duration) -> (Outcome, Forecast) {
        let estimate = count.on_its_threads(|| count.estimate_here(time));
        estimate.expect("threads").expect("some units")
    }

    #[test]
    fn a_sample_ends_when_its_error_is_known_or_its_time_is_over() {
        let left = |standard_error| {
            let cpu_seconds = Approximate { value: 1.0, standard_error };
            Some(Forecast { cpu_seconds, wall_seconds: None, cores: None, total: None })
        };
        for (left, milliseconds, is_enough) in [
            (left(0.1), 9999, false),
            (left(0.1), 10_000, true),
            (left(f64::INFINITY), 14_999, false),
            (left(f64::INFINITY), 15_000, true),
            (None, 14_999, false),
            (None, 15_000, true),
        ] {
            let elapsed = Duration::from_millis(milliseconds);
            let said = super::is_enough(left, elapsed, Duration::from_secs(10));
            assert_eq!(said, is_enough, "{left:?}, {milliseconds} ms");
        }
    }

    #[test]
    fn the_time_of_a_part_is_an_estimate() {
        let cancel = Cancel::new();
        let count = Count::new(BoardSize::new(13).expect("in range")).engine(Engine::Bitmask);
        let count = count.threads(1).on_progress(|_| cancel.cancel()).cancel_on(&cancel);
        let (sample, forecast) = estimated(&count, Duration::from_secs(60));
        assert!(!sample.is_complete());
        let seconds = forecast.wall_seconds.expect("a wall time");
        assert!(seconds.standard_error > 0.0, "{seconds:?}");
    }

    #[test]
    fn the_sample_is_of_the_whole_board_and_has_no_journal() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let half = Shard::new(0, 2).expect("in range");
        let count = Count::new(BoardSize::new(8).expect("in range")).shard(half).journal(&path);
        let forecast = count.estimate(Duration::from_secs(60)).expect("all units");
        assert_eq!(forecast.total, Some(Approximate { value: 92.0, standard_error: 0.0 }));
        assert!(!path.exists());
    }

    #[test]
    fn a_sample_that_is_enough_ends_its_count() {
        let count = Count::new(BoardSize::new(16).expect("in range")).split_rows(4).threads(1);
        let (sample, _) = estimated(&count, Duration::from_millis(20));
        assert!(0 < sample.units_done && sample.units_done < sample.units, "{sample:?}");
    }

    #[test]
    fn a_rough_time_is_in_seconds() {
        let size = BoardSize::new(8).expect("in range");
        let count = Count::new(size);
        let sample = count.run().expect("a count");
        let time = count.rough_time(&sample);
        let cpu_seconds = rough_cpu_seconds(size, sample.engine, sample.kernel);
        assert_eq!(time.cpu_seconds, Approximate::roughly(cpu_seconds));
        let seconds = rough_seconds(size, sample.engine, sample.kernel, sample.threads);
        assert_eq!(time.wall_seconds, Some(Approximate::roughly(seconds)));
        assert_eq!(time.cores, None);
    }
}
