//! The expected time and result of a count: it begins, and is stopped after a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::job::{Job, Outcome};
use super::observe::{Observer, Start};
use super::settings::Count;
use crate::cancel::Cancel;
use crate::done::UnitsDone;
use crate::error::Error;
use crate::forecast::{Approximate, TimeLeft, core_hours};
use crate::shard::Shard;

/// The expected time and result of a count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// The count that was stopped. If it finished no unit, the times are what such boards cost elsewhere.
    pub sample: Outcome,
    /// Seconds of CPU time for all units.
    pub cpu_seconds: Approximate,
    /// Seconds of wall time for all units on the threads that took the sample.
    pub seconds: Approximate,
    /// The number of solutions: an estimate, not a count. Its standard error is infinite if the sample
    /// has none.
    pub total: Approximate,
}

/// Returns how long a sample waits for the units that have begun, or until it says how exact it is.
fn longest_sample(time: Duration) -> Duration {
    time.saturating_add((time / 2).max(Duration::from_secs(1)))
}

/// Units that take longer than this many times the length of the sample are given up.
const MAX_TIMES_SAMPLE: u32 = 6;

impl Count<'_> {
    /// Estimates the time and the result of [`Count::run`] from its first units, counted for about this time on
    /// all threads.
    ///
    /// # Errors
    ///
    /// As [`Count::run`], but [`Error::StoppedBefore`] if no unit was finished before a cancellation. If none was
    /// in six times that time, the estimate is what such boards cost elsewhere.
    pub fn estimate(&self, time: Duration) -> Result<Estimate, Error> {
        self.check(true)?;
        let (left, enough) = (Mutex::default(), Cancel::new());
        let sample = Sample { time, observer: self.observer, left, enough };
        let begun = Instant::now();
        let given_up = longest_sample(time).max(time.saturating_mul(MAX_TIMES_SAMPLE));
        let is_over = || self.cancel.is_cancelled() || begun.elapsed() > given_up;
        let outcome = Cancel::run_until(is_over, |stop| {
            let count = self.clone().observer(&sample).cancel(stop);
            count.on_its_threads(|| {
                let mut job = Job::new(&count, Shard::WHOLE);
                job.stop = sample.enough.clone();
                job.run()
            })?
        })??;
        let left = sample.left();
        let Outcome { engine, kernel, threads, .. } = outcome;
        let is_whole = outcome.units_done == outcome.units;
        let all = match left.all_cpu_seconds() {
            Some(all) if is_whole => all,
            Some(all) => all.on_any_run(),
            None => {
                self.cancel.check("a unit was finished")?;
                Approximate::roughly(3600.0 * core_hours(self.size, engine, kernel))
            }
        };
        let taken = outcome.elapsed.as_secs_f64();
        let seconds = match left.estimate() {
            _ if is_whole => Approximate { value: taken, standard_error: 0.0 },
            Some(left) => Approximate { value: left.value + taken, ..left },
            // As if each thread had a core of its own.
            None => Approximate::roughly(all.value / threads as f64),
        };
        Ok(Estimate { sample: outcome, cpu_seconds: all, seconds, total: left.total() })
    }
}

/// Watches a count, and stops it when the sample is large enough.
#[derive(Debug)]
struct Sample<'a> {
    time: Duration,
    observer: &'a dyn Observer,
    left: Mutex<TimeLeft>,
    enough: Cancel,
}

impl Sample<'_> {
    fn left(&self) -> MutexGuard<'_, TimeLeft> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Sample<'_> {
    fn started(&self, start: &Start<'_>) {
        *self.left() = start.time_left.clone();
    }

    fn units_done(&self, done: &UnitsDone) {
        let mut left = self.left();
        left.record(done);
        let is_exact = || left.all_cpu_seconds().is_some_and(|all| all.standard_error.is_finite());
        if done.elapsed >= longest_sample(self.time) || done.elapsed >= self.time && is_exact() {
            self.enough.cancel();
        }
        drop(left);
        self.observer.units_done(done);
    }
}
