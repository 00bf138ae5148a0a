//! Estimates the time and the result of a count: the count begins, and is stopped after a while.

use std::time::{Duration, Instant};

use super::job::{Job, Outcome};
use super::observe::{OnProgress, SoFar};
use super::settings::Count;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::forecast::{Approximate, Forecast, TimeLeft, rough_cpu_seconds, rough_seconds};
use crate::plan::shard::Shard;

/// The expected time and result of a count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// The outcome of the count that was stopped.
    pub sample: Outcome,
    /// The time of all units. The wall time is always there: it is that on the threads that took the sample. If the sample
    /// has no finished unit, or the CPU clock stands still, both times are rough values for boards of this size, measured
    /// on other machines.
    pub time: Forecast,
    /// The number of solutions. This is an estimate, not a count. Its standard error is infinite if the sample is too
    /// small or has no solution.
    pub total: Approximate,
}

impl Estimate {
    /// Returns the wall time of all units in seconds on this many cores like the ones that took the sample, if nothing
    /// else runs there.
    pub fn on_cores(&self, cores: usize) -> Approximate {
        self.time.cpu_seconds.divided_by(cores as f64)
    }
}

impl Count<'_> {
    /// Estimates the time and the result of [`Count::run`] from a sample: the first units, counted for about `time`
    /// on all threads.
    ///
    /// The sample takes up to half as long again if its standard error is still unknown. If no unit ends in six times
    /// that time, or in a second if that is longer, the estimate is a rough value for boards of this size, measured on
    /// other machines. [`Count::journal`] and [`Count::shard`] have no effect, and the observer hears only of finished units.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use nqueens::{BoardSize, Count};
    ///
    /// let count = Count::new(BoardSize::new(13)?).threads(2);
    /// let estimate = count.estimate(Duration::from_millis(50))?;
    /// let cpu_seconds = estimate.time.cpu_seconds;
    /// println!("{:.1} s ± {:.1}", cpu_seconds.value, 2.0 * cpu_seconds.standard_error);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Count::run`]. A cancellation is an error only if no unit was finished before:
    /// [`Error::StoppedBefore`].
    ///
    /// # Panics
    ///
    /// Without [`Count::threads`], outside of a pool, if rayon cannot start its global pool. If the observer panics.
    pub fn estimate(&self, time: Duration) -> Result<Estimate, Error> {
        let (sample, left) = self.take_sample(time)?;
        let time = match left.estimate_whole() {
            Some(whole) if sample.is_complete() => measured(&sample, whole),
            Some(whole) if whole.wall_seconds.is_some() => whole,
            _ => {
                if sample.done.units == 0 {
                    self.cancel.check("a unit was finished")?;
                }
                self.rough_time(&sample)
            }
        };
        Ok(Estimate { sample, time, total: left.estimate_total() })
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
        }
    }

    /// Counts the first units of the whole board for about this time, without a journal. Returns the outcome, and what
    /// is known of the rest.
    fn take_sample(&self, time: Duration) -> Result<(Outcome, TimeLeft), Error> {
        let enough = Cancel::new();
        let observer = OnProgress(|so_far: &SoFar<'_>| {
            if is_enough(so_far.time_left(), so_far.newest.elapsed, time) {
                enough.cancel();
            }
            self.observer.units_done(so_far);
        });
        let whole = self.clone().shard(Shard::WHOLE).without_journal().observer(&observer);
        let longest = time.saturating_mul(6).max(Duration::from_secs(1));
        let begun = Instant::now();
        let is_over = || self.cancel.is_cancelled() || begun.elapsed() > longest;
        Cancel::run_until(is_over, |stop| {
            let count = whole.stop_on(stop);
            count.on_its_threads(|| {
                let mut job = Job::new(&count);
                job.stop = enough.clone();
                job.run()
            })?
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    #[test]
    fn a_sample_ends_when_its_error_is_known_or_its_time_is_over() {
        let left = |standard_error| {
            let cpu_seconds = Approximate { value: 1.0, standard_error };
            Some(Forecast { cpu_seconds, wall_seconds: None, cores: None })
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
    fn the_time_on_other_cores_is_the_cpu_time_over_their_number() {
        let count = Count::new(BoardSize::new(8).expect("in range"));
        let mut estimate = count.estimate(Duration::from_secs(60)).expect("all units");
        estimate.time.cpu_seconds = Approximate { value: 1000.0, standard_error: 50.0 };
        assert_eq!(estimate.on_cores(10), Approximate { value: 100.0, standard_error: 5.0 });
    }

    #[test]
    fn the_time_of_a_part_is_an_estimate() {
        let cancel = Cancel::new();
        let stop = OnProgress(|_: &SoFar<'_>| cancel.cancel());
        let count = Count::new(BoardSize::new(13).expect("in range")).engine(Engine::Bitmask);
        let count = count.threads(1).observer(&stop).stop_on(&cancel);
        let estimate = count.estimate(Duration::from_secs(60)).expect("some units");
        assert!(!estimate.sample.is_complete());
        let seconds = estimate.time.wall_seconds.expect("a wall time");
        assert!(seconds.standard_error > 0.0, "{seconds:?}");
    }

    #[test]
    fn the_sample_is_of_the_whole_board_and_has_no_journal() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let half = Shard::new(0, 2).expect("in range");
        let count = Count::new(BoardSize::new(8).expect("in range")).shard(half).journal(&path);
        let estimate = count.estimate(Duration::from_secs(60)).expect("all units");
        assert_eq!(estimate.total, Approximate { value: 92.0, standard_error: 0.0 });
        assert!(!path.exists());
    }

    #[test]
    fn a_sample_that_is_enough_ends_its_count() {
        let count = Count::new(BoardSize::new(16).expect("in range")).split_rows(4).threads(1);
        let sample = count.estimate(Duration::from_millis(20)).expect("some units").sample;
        assert!(0 < sample.done.units && sample.done.units < sample.units, "{sample:?}");
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
