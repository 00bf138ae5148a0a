//! Estimates the time and the result of a count: the count begins, and is stopped after a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::job::{Job, Outcome};
use super::observe::{Observer, SoFar, Start};
use super::settings::Count;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::forecast::{Approximate, Forecast, TimeLeft, core_hours};
use crate::machine::cores;
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
        let all_cpu_seconds = left.estimate_all_cpu_seconds();
        let time = match all_cpu_seconds.filter(|all| is_measured(*all, sample.elapsed)) {
            // Both times are known. They are no estimates.
            Some(cpu_seconds) if sample.is_complete() => Forecast {
                cpu_seconds,
                wall_seconds: Some(time_taken(&sample)),
                cores: left.estimate().and_then(|left| left.cores),
            },
            Some(cpu_seconds) => time_of_all(&sample, &left, cpu_seconds),
            None => {
                if sample.done.units == 0 {
                    self.cancel.check("a unit was finished")?;
                }
                self.rough_time(&sample)
            }
        };
        Ok(Estimate { sample, time, total: left.estimate_total() })
    }

    /// Returns the time of all units if nothing is known of their CPU time.
    fn rough_time(&self, sample: &Outcome) -> Forecast {
        let hours = core_hours(self.size, sample.engine, sample.kernel);
        let cpu_seconds = Approximate::roughly(3600.0 * hours);
        let wall_seconds = if sample.is_complete() {
            time_taken(sample)
        } else {
            rough_wall_seconds(cpu_seconds, sample.threads)
        };
        Forecast { cpu_seconds, wall_seconds: Some(wall_seconds), cores: None }
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

/// Returns whether the CPU clock was running during a sample. It may show no time if the sample was short.
fn is_measured(cpu_seconds: Approximate, elapsed: Duration) -> bool {
    cpu_seconds.value > 0.0 || elapsed < LONGEST_TICK
}

/// Returns the wall time of a sample. It is no estimate.
fn time_taken(sample: &Outcome) -> Approximate {
    Approximate { value: sample.elapsed.as_secs_f64(), standard_error: 0.0 }
}

/// Returns the time of a whole count, of which the units of the sample are finished.
fn time_of_all(sample: &Outcome, left: &TimeLeft, cpu_seconds: Approximate) -> Forecast {
    let cpu_seconds = cpu_seconds.with_run_variation();
    let rest = left.estimate();
    let wall_seconds = match rest.and_then(|rest| rest.wall_seconds) {
        Some(rest) => Approximate { value: sample.elapsed.as_secs_f64() + rest.value, ..rest },
        None => rough_wall_seconds(cpu_seconds, sample.threads),
    };
    let cores = rest.and_then(|rest| rest.cores);
    Forecast { cpu_seconds, wall_seconds: Some(wall_seconds), cores }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::count::observe::OnProgress;
    use crate::engine::Engine;
    use crate::forecast::{Rest, Sample};
    use crate::plan::done::UnitsDone;

    #[test]
    fn a_sample_without_units_takes_up_to_six_times_as_long() {
        for (time, with_a_unit, without_units) in [(0, 1, 1), (1, 2, 6), (2, 3, 12), (10, 15, 60)] {
            let ends = EndsAfter::about(Duration::from_secs(time));
            assert_eq!(ends.with_known_error, Duration::from_secs(time));
            assert_eq!(ends.with_a_unit, Duration::from_secs(with_a_unit));
            assert_eq!(ends.without_units, Duration::from_secs(without_units));
        }
    }

    /// A forecast of a thousand units on one thread, of which none is finished.
    fn nothing_done() -> TimeLeft {
        TimeLeft::new(Sample::new(1000), Rest { units: 1000, solutions: None }, 1)
    }

    /// Units of one second each that come from all over the plan, the last of them finished at this time.
    fn units_done(units: usize, last: Duration) -> Vec<UnitsDone> {
        let mut reports = Vec::new();
        for unit in 0..units {
            reports.push(UnitsDone {
                units: 20 * unit..20 * unit + 1,
                elapsed: last.mul_f64((unit + 1) as f64 / units as f64),
                cpu_time: Duration::from_secs(1),
                ..UnitsDone::default()
            });
        }
        reports
    }

    #[test]
    fn a_sample_ends_when_it_is_large_enough_or_its_time_is_over() {
        for (units, seconds, is_enough) in [
            (19, 10.0, false),
            (20, 9.9, false),
            (20, 10.0, true),
            (19, 14.9, false),
            (1, 15.0, true),
        ] {
            let heard = Mutex::new(0);
            let listener = OnProgress(|_: &SoFar<'_>| *heard.lock().expect("no panic") += 1);
            let observer = SampleObserver {
                ends_after: EndsAfter::about(Duration::from_secs(10)),
                observer: &listener,
                left: Mutex::new(nothing_done()),
                enough: Cancel::new(),
            };
            for newest in &units_done(units, Duration::from_secs_f64(seconds)) {
                observer.units_done(&SoFar { newest, done: newest.sum(), units: 1000 });
            }
            assert_eq!(observer.enough.is_cancelled(), is_enough, "{units} units, {seconds} s");
            assert_eq!(heard.into_inner().expect("no panic"), units);
        }
    }

    #[test]
    fn a_cpu_clock_stands_still_if_it_shows_nothing_after_a_tenth_of_a_second() {
        let elapsed = [99, 100].map(Duration::from_millis);
        let is_measured_after =
            |seconds| elapsed.map(|elapsed| is_measured(Approximate::roughly(seconds), elapsed));
        assert_eq!(is_measured_after(0.0), [true, false]);
        assert_eq!(is_measured_after(1e-6), [true, true]);
    }

    #[test]
    fn the_time_of_all_is_that_of_the_sample_and_of_the_rest() {
        let count = Count::new(BoardSize::new(8).expect("in range"));
        let mut sample = count.run().expect("a count");
        sample.elapsed = Duration::from_secs(200);
        sample.threads = 1;
        let mut left = nothing_done();
        let cpu_seconds = Approximate { value: 1000.0, standard_error: 40.0 };
        let roughly = time_of_all(&sample, &left, cpu_seconds);
        assert_eq!(roughly.wall_seconds, Some(Approximate::roughly(1000.0)));
        for done in units_done(50, sample.elapsed) {
            left.record(&done);
        }
        let time = time_of_all(&sample, &left, cpu_seconds);
        let rest = left.estimate().expect("fifty units");
        let rest_seconds = rest.wall_seconds.expect("fifty units");
        let seconds = time.wall_seconds.expect("fifty units");
        // A quarter of a core.
        assert!((seconds.value - 4000.0).abs() < 200.0, "{seconds:?}");
        assert_eq!(seconds.value, 200.0 + rest_seconds.value);
        assert_eq!(seconds.standard_error, rest_seconds.standard_error);
        assert_eq!(time.cores, rest.cores);
        // Runs differ by three percent.
        assert_eq!(time.cpu_seconds, Approximate { value: 1000.0, standard_error: 50.0 });
        let estimate = Estimate { sample, time, total: Approximate::roughly(1.0) };
        let on_ten = Approximate { value: 100.0, standard_error: 5.0 };
        assert_eq!(estimate.on_cores(10), on_ten);
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
    fn a_rough_wall_time_is_the_cpu_time_over_the_cores_that_the_threads_can_use() {
        let cpu_seconds = Approximate { value: 60.0, standard_error: 1.0 };
        assert_eq!(rough_wall_seconds(cpu_seconds, 1), Approximate::roughly(60.0));
        let all_cores = Approximate::roughly(60.0 / cores() as f64);
        assert_eq!(rough_wall_seconds(cpu_seconds, 1_000_000), all_cores);
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
        let hours = core_hours(size, sample.engine, sample.kernel);
        assert_eq!(time.cpu_seconds, Approximate::roughly(3600.0 * hours));
        assert_eq!(time.wall_seconds, Some(time_taken(&sample)));
    }
}
