//! Estimates the time and the result of a count: the count begins, and is stopped after a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::job::{Job, Outcome};
use super::observe::{Observer, SoFar, Start};
use super::settings::Count;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::forecast::{Approximate, TimeLeft, WallTime, core_hours};
use crate::machine::cores;
use crate::plan::shard::Shard;

/// The expected time and result of a count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// The outcome of the count that was stopped.
    pub sample: Outcome,
    /// The CPU time of all units, in seconds. If the sample has no finished unit, or the CPU clock stands still, this is
    /// a rough value for boards of this size, measured on other machines.
    pub cpu_seconds: Approximate,
    /// The wall time of all units in seconds, on the threads that took the sample, if they go on getting as many cores
    /// as they got.
    pub seconds: Approximate,
    /// The number of cores that the threads got: CPU time over wall time. `None` if no unit was finished.
    pub cores: Option<f64>,
    /// The number of solutions. This is an estimate, not a count. Its standard error is infinite if the sample is too
    /// small or has no solution.
    pub total: Approximate,
}

impl Estimate {
    /// Returns the wall time of all units in seconds on this many cores like the ones that took the sample, if nothing
    /// else runs there.
    pub fn on_cores(&self, cores: usize) -> Approximate {
        self.cpu_seconds.divided_by(cores as f64)
    }
}

/// A CPU clock that shows no progress after this time stands still.
const LONGEST_TICK: Duration = Duration::from_millis(100);

/// The times after which a sample ends. The less it has found, the longer it may take.
#[derive(Clone, Copy, Debug)]
struct EndsAfter {
    /// The time if enough units are finished to know the standard error.
    with_known_error: Duration,
    /// The time if any unit is finished.
    with_a_unit: Duration,
    /// The time if no unit is finished.
    without_units: Duration,
}

impl EndsAfter {
    /// Returns the times of a sample that should take about `time`.
    fn about(time: Duration) -> Self {
        let half_as_long = time / 2;
        let with_a_unit = time.saturating_add(half_as_long.max(Duration::from_secs(1)));
        let six_times_as_long = time.saturating_mul(6);
        Self {
            with_known_error: time,
            with_a_unit,
            without_units: six_times_as_long.max(with_a_unit),
        }
    }
}

impl Count<'_> {
    /// Estimates the time and the result of [`Count::run`] from a sample: the first units, counted for about `time`
    /// on all threads.
    ///
    /// The sample takes up to half as long again (at least a second more) if its standard error is still unknown. If
    /// no unit ends in six times that time, the estimate is a rough value for boards of this size, measured on other
    /// machines. [`Count::journal`] and [`Count::shard`] have no effect, and the observer hears only of finished units.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use nqueens::{BoardSize, Count};
    ///
    /// let count = Count::new(BoardSize::new(13)?).threads(2);
    /// let estimate = count.estimate(Duration::from_millis(50))?;
    /// println!("{:.1} s ± {:.1}", estimate.seconds.value, 2.0 * estimate.seconds.standard_error);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Count::run`]. A cancellation is an error only if no unit was finished before:
    /// [`Error::StoppedBefore`].
    pub fn estimate(&self, time: Duration) -> Result<Estimate, Error> {
        self.check()?;
        let (sample, left) = self.take_sample(time)?;
        let seconds_taken = sample.elapsed.as_secs_f64();
        let wall_time_of_rest = left.estimate();
        let is_whole = sample.is_complete();
        let whole_seconds = Approximate { value: seconds_taken, standard_error: 0.0 };
        let measured = left
            .estimate_all_cpu_seconds()
            .filter(|all| all.value > 0.0 || sample.elapsed < LONGEST_TICK);
        let (cpu_seconds, seconds) = match measured {
            // Both times are known. They are no estimates.
            Some(cpu_seconds) if is_whole => (cpu_seconds, whole_seconds),
            Some(cpu_seconds) => {
                let cpu_seconds = cpu_seconds.with_run_variation();
                let seconds = match wall_time_of_rest {
                    Some(WallTime { seconds, .. }) => {
                        Approximate { value: seconds_taken + seconds.value, ..seconds }
                    }
                    None => rough_wall_seconds(cpu_seconds, sample.threads),
                };
                (cpu_seconds, seconds)
            }
            None => {
                if sample.done.units == 0 {
                    self.cancel.check("a unit was finished")?;
                }
                let hours = core_hours(self.size, sample.engine, sample.kernel);
                let cpu_seconds = Approximate::roughly(3600.0 * hours);
                let seconds = if is_whole {
                    whole_seconds
                } else {
                    rough_wall_seconds(cpu_seconds, sample.threads)
                };
                (cpu_seconds, seconds)
            }
        };
        Ok(Estimate {
            sample,
            cpu_seconds,
            seconds,
            cores: wall_time_of_rest.map(|rest| rest.cores),
            total: left.estimate_total(),
        })
    }

    /// Counts the first units for about this time. Returns the outcome, and what is known of the rest.
    fn take_sample(&self, time: Duration) -> Result<(Outcome, TimeLeft), Error> {
        let ends_after = EndsAfter::about(time);
        let observer = SampleObserver {
            ends_after,
            observer: self.observer,
            left: Mutex::default(),
            enough: Cancel::new(),
        };
        let begun = Instant::now();
        let is_over = || self.cancel.is_cancelled() || begun.elapsed() > ends_after.without_units;
        let outcome = Cancel::run_until(is_over, |stop| self.run_observed(&observer, stop))??;
        let left = observer.left().clone();
        Ok((outcome, left))
    }

    /// Counts the whole board without a journal, until the observer has enough units or the flag is raised.
    fn run_observed(&self, observer: &SampleObserver<'_>, stop: &Cancel) -> Result<Outcome, Error> {
        let whole = self.clone().shard(Shard::WHOLE).without_journal();
        let count = whole.observer(observer).stop_on(stop);
        count.on_its_threads(|| {
            let mut job = Job::new(&count);
            job.stop = observer.enough.clone();
            job.run()
        })?
    }
}

/// Returns the wall time of a count if nothing is known of the cores that its threads get. Each thread is assumed to
/// have a core of its own, if there are that many.
fn rough_wall_seconds(cpu_seconds: Approximate, threads: usize) -> Approximate {
    let used_cores = threads.min(cores());
    Approximate::roughly(cpu_seconds.value / used_cores as f64)
}

/// Returns whether enough units are finished to estimate the error of their CPU time.
fn has_known_error(left: &TimeLeft) -> bool {
    left.estimate_all_cpu_seconds().is_some_and(|all| all.standard_error.is_finite())
}

/// An observer that stops a count when the sample is large enough.
#[derive(Debug)]
struct SampleObserver<'a> {
    ends_after: EndsAfter,
    observer: &'a dyn Observer,
    left: Mutex<TimeLeft>,
    enough: Cancel,
}

impl SampleObserver<'_> {
    fn left(&self) -> MutexGuard<'_, TimeLeft> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for SampleObserver<'_> {
    fn started(&self, start: &Start<'_>) {
        *self.left() = start.time_left.clone();
    }

    fn units_done(&self, so_far: &SoFar<'_>) {
        let elapsed = so_far.newest.elapsed;
        let mut left = self.left();
        left.record(so_far.newest);
        // A report is of finished units, so there is no sample without units here.
        let end = if has_known_error(&left) {
            self.ends_after.with_known_error
        } else {
            self.ends_after.with_a_unit
        };
        if elapsed >= end {
            self.enough.cancel();
        }
        drop(left);
        self.observer.units_done(so_far);
    }
}
