//! The expected time and result of a count: it begins, and is stopped after a while.

use std::iter::once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::settings::Count;
use crate::board::known::known;
use crate::cancel::Cancel;
use crate::done::UnitsDone;
use crate::engine::{Engine, Kernel};
use crate::error::Error;
use crate::forecast::{Approximate, Clusters, Rest, TimeLeft, core_hours};

/// The expected time and result of a count.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// The engine that would count.
    pub engine: Engine,
    /// The kernel that it would use; portable for engines that have no kernels.
    pub kernel: Kernel,
    /// How many threads would count.
    pub threads: usize,
    /// How many units the count has.
    pub units: usize,
    /// How many of them were counted for the sample. If none was, the times are what such boards cost elsewhere.
    pub units_sampled: usize,
    /// Whether the sample was cancelled before its end.
    pub cancelled: bool,
    /// How long the sample took, in wall time.
    pub elapsed: Duration,
    /// Seconds of CPU time for all units.
    pub cpu_seconds: Approximate,
    /// Seconds of wall time for all units on the threads that took the sample.
    pub seconds: Approximate,
    /// The number of solutions: an estimate, not a count. Its standard error is infinite if the sample
    /// has none.
    pub total: Approximate,
}

/// A sample waits so long for the units that have begun, or until it says how exact it is.
fn longest(time: Duration) -> Duration {
    time.saturating_add((time / 2).max(Duration::from_secs(1)))
}

/// Units that take longer than so many times of a sample are given up.
const GIVEN_UP: u32 = 6;

impl Count<'_> {
    /// Estimates the time and the result of [`Count::run`] from its first units, counted for about so long on
    /// all threads.
    ///
    /// # Errors
    ///
    /// As [`Count::run`], but [`Error::StoppedBefore`] if no unit was finished before a cancellation. If none was
    /// in six times that time, the estimate is what such boards cost elsewhere.
    pub fn estimate(&self, time: Duration) -> Result<Estimate, Error> {
        self.check(true)?;
        self.on_its_threads(|| {
            let begun = Instant::now();
            let given_up = longest(time).max(time.saturating_mul(GIVEN_UP));
            let is_over = || self.cancel.is_cancelled() || begun.elapsed() > given_up;
            Cancel::watched(is_over, |stop| self.begin(time, begun, stop))?
        })?
    }

    /// Begins the count, stops it when its time is up, and says what its forecast was then.
    fn begin(&self, time: Duration, begun: Instant, cancel: &Cancel) -> Result<Estimate, Error> {
        let threads = rayon::current_num_threads();
        let plan = &self.plan(threads);
        let (kernel, units) = (self.kernel_of(plan.engine()), plan.units());
        plan.check_memory(threads)?;
        let rest = Rest { units, solutions: known(self.size).total.map(|total| total as f64) };
        let left = Mutex::new(TimeLeft::new(Clusters::new(units), rest, threads));
        let stop = &AtomicBool::new(false);
        let watch = |done: &UnitsDone| {
            let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
            left.record(done);
            let is_exact =
                || left.all_cpu_seconds().is_some_and(|all| all.standard_error.is_finite());
            if done.elapsed >= longest(time) || done.elapsed >= time && is_exact() {
                stop.store(true, Ordering::Relaxed);
            }
            drop(left);
            self.observer.units_done(done);
        };
        let driver = Driver { plan, kernel, journal: None, observer: &watch, cancel, begun, stop };
        let units_sampled = driver.run(once(0..units))?.units;
        let elapsed = begun.elapsed();
        let left = left.lock().unwrap_or_else(PoisonError::into_inner);
        let all = match left.all_cpu_seconds() {
            Some(all) => all,
            None if self.cancel.is_cancelled() => {
                return Err(Error::StoppedBefore { what: "a unit was finished" });
            }
            None => {
                let seconds = 3600.0 * core_hours(self.size, plan.engine(), kernel);
                Approximate { value: seconds, standard_error: f64::INFINITY }
            }
        };
        let (is_whole, taken) = (units_sampled == units, elapsed.as_secs_f64());
        // As if each thread had a core of its own.
        let rough = all.value / threads as f64;
        let seconds = match left.estimate() {
            _ if is_whole => Approximate { value: taken, standard_error: 0.0 },
            Some(left) => Approximate { value: left.value + taken, ..left },
            None => Approximate { value: rough, standard_error: f64::INFINITY },
        };
        Ok(Estimate {
            engine: plan.engine(),
            kernel,
            threads,
            units,
            units_sampled,
            cancelled: !is_whole && self.cancel.is_cancelled(),
            elapsed,
            cpu_seconds: if is_whole { all } else { all.on_any_run() },
            seconds,
            total: left.total(),
        })
    }
}
