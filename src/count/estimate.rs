//! The expected time and result of a count: it begins, and after a while its forecast is asked.

use std::iter::once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::job::{Job, kernel_of};
use super::settings::Count;
use crate::board::known::known;
use crate::error::Error;
use crate::forecast::{Estimate, Parts, TimeLeft, longest};
use crate::observe::{Observer, Sampling, UnitsDone};

impl Count<'_> {
    /// Estimates the time and the result of [`Count::run`] from a sample, for about so long on all threads:
    /// the first units, or random parts of units if those take long.
    ///
    /// # Errors
    ///
    /// As [`Count::run`], but [`Error::StoppedBefore`] after a cancellation before the sample was large
    /// enough; a larger one is used as it is.
    pub fn estimate(&self, time: Duration) -> Result<Estimate, Error> {
        self.check_queens(true)?;
        self.on_its_threads(|| {
            let begun = Instant::now();
            let job = Job::whole(self);
            let plan = job.plan(None)?;
            let resources = job.within_budget(&plan)?;
            let (prepared, kernel) =
                (plan.prepare(&resources, &self.cancel)?, kernel_of(&resources, plan.engine()));
            let preparation = begun.elapsed();
            let Self { observer, cancel, .. } = self;
            let (plan, prepared, observer) = (&*plan, &prepared, *observer);
            let parts = Parts { plan, prepared, kernel, time, observer, cancel };
            let estimate = if parts.are_better() { parts.estimate() } else { begin(&parts) };
            estimate.map(|mut estimate| {
                estimate.seconds.value += preparation.as_secs_f64();
                estimate
            })
        })?
    }
}

/// Watches a count that has begun, and stops it when its time is up.
struct Beginning<'a> {
    sample: &'a Parts<'a>,
    begun: Instant,
    left: Mutex<TimeLeft>,
    stop: AtomicBool,
}

impl Observer for Beginning<'_> {
    fn units_done(&self, done: &UnitsDone) {
        let Parts { plan, time, observer, .. } = *self.sample;
        let elapsed = self.begun.elapsed();
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.record(done);
        let is_exact = || left.all_cpu_seconds().is_some_and(|all| all.standard_error.is_finite());
        if elapsed >= longest(time) || elapsed >= time && is_exact() {
            self.stop.store(true, Ordering::Relaxed);
        }
        let counted = plan.units() - left.units_left();
        observer.sampling(&Sampling { elapsed, time, counted });
    }
}

/// Begins the count instead of the sample of parts, and says what its forecast was in the end.
fn begin(sample: &Parts<'_>) -> Result<Estimate, Error> {
    let Parts { plan, prepared, kernel, cancel, .. } = *sample;
    let (units, begun) = (plan.units(), Instant::now());
    let unknown = Estimate::unknown(plan, prepared, kernel);
    let total = known(plan.size()).total.map(|total| total as f64);
    let left = Mutex::new(TimeLeft::of_sample(units, total, unknown.threads));
    let observer = &Beginning { sample, begun, left, stop: AtomicBool::new(false) };
    let driver =
        Driver { plan, prepared, journal: None, observer, cancel, begun, stop: &observer.stop };
    let units_sampled = driver.run(once(0..units))?.units;
    let (elapsed, left) =
        (begun.elapsed(), observer.left.lock().unwrap_or_else(PoisonError::into_inner));
    let (Some(all), Some(mut seconds)) = (left.all_cpu_seconds(), left.estimate(elapsed)) else {
        return Err(Error::StoppedBefore { what: "the sample was large enough" });
    };
    seconds.value += elapsed.as_secs_f64();
    let is_whole = units_sampled == units;
    Ok(Estimate {
        units_sampled,
        cancelled: !is_whole && cancel.is_cancelled(),
        elapsed,
        cpu_seconds: if is_whole { all } else { all.on_any_run() },
        seconds,
        total: left.total(),
        ..unknown
    })
}
