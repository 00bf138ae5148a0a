//! The driver counts the units of one count on the threads of a rayon pool, and adds up their solutions.
//!
//! Threads take units in ranges, so that handing out work costs little even if a unit takes only microseconds. They
//! take the ranges in a scattered order that is fixed before the count begins: see [`ranges`](super::ranges).
//!
//! The observer hears of finished units within a tenth of a second or at the end of a unit. A line of the journal
//! waits for more units, and the older the run, the longer it waits. So the journal stays small, and a kill loses
//! little: the units in progress, and of the finished work of each thread 1 % of the run so far, but at least 0.1 s
//! and at most 10 s.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::observe::{Progress, Start};
use super::ranges::{REPORT_EVERY, cut_into_ranges};
use super::settings::Count;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::forecast::TimeLeft;
use crate::journal_file::Journal;
use crate::machine::thread_time;
use crate::plan::Worker;
use crate::plan::done::{Sum, UnitsDone};

/// A thread records its finished units once the time since its last record exceeds the age of the run divided by this
/// number. With a larger number, a journal of long units would be several times as large.
const RECORD_INTERVAL_DIVISOR: u32 = 100;
/// The longest time between two records of a thread, if its units take less.
const MAX_RECORD_INTERVAL: Duration = Duration::from_secs(10);

/// The driver of one count.
pub(super) struct Driver<'a> {
    pub(super) count: &'a Count<'a>,
    pub(super) start: &'a Start<'a>,
    pub(super) journal: Option<&'a Journal>,
    pub(super) begun: Instant,
    /// The finished units of the board or shard so far.
    pub(super) done: Mutex<Sum>,
    pub(super) time_left: Mutex<TimeLeft>,
    /// Stops all threads before their next unit: one of them has failed, or a sample is large enough.
    pub(super) stop: Cancel,
}

impl<'a> Driver<'a> {
    /// Counts these units on the current rayon pool, until the end or until the count has to stop.
    pub(super) fn run(&self, todo: &[Range<usize>]) -> Result<Sum, Error> {
        let plan = self.start.plan;
        let ranges = cut_into_ranges(todo, self.start.threads, |unit| plan.counted_together(unit));
        // Each thread takes one range after the other, in their order, and counts all of them with one worker.
        let counted = ranges
            .into_iter()
            .par_bridge()
            .map_init(|| None, |worker, range| self.count_on_thread(worker, range));
        counted.try_reduce(Sum::default, |one, other| Ok(one + other))
    }

    /// Counts the units of a range with the worker of this thread. The worker is made for the first range of the
    /// thread, because it may need hundreds of MiB, and a thread may get no range.
    fn count_on_thread(
        &self,
        worker: &mut Option<Worker<'a>>,
        range: Range<usize>,
    ) -> Result<Sum, Error> {
        let worker =
            worker.get_or_insert_with(|| self.start.plan.checked_worker(self.start.kernel));
        self.count_range(worker, range)
    }

    /// Counts the units of a range, until its end or until the count has to stop.
    fn count_range(&self, worker: &mut Worker<'_>, mut rest: Range<usize>) -> Result<Sum, Error> {
        let mut whole = Sum::default();
        let mut unrecorded = Unrecorded {
            driver: self,
            done: UnitsDone::none_from(rest.start),
            since: Instant::now(),
        };
        while !rest.is_empty() && !self.must_stop() {
            let (done, ended) = self.count_until_report(worker, rest.clone());
            rest.start = done.units.end;
            whole += done.sum();
            // The CPU time of a cancelled unit is not recorded, because the unit has no count.
            if !done.units.is_empty() {
                self.report(&done);
                unrecorded.done.extend(done);
            }
            if let Some(lost) = self.journal.and_then(Journal::take_news) {
                self.count.observer.warned(&lost);
            }
            if unrecorded.since.elapsed() >= record_interval(self.begun.elapsed()) {
                unrecorded.record();
            }
            if let Err(error) = ended {
                self.stop.cancel();
                return if error.is_cancelled() { Ok(whole) } else { Err(error) };
            }
        }
        Ok(whole)
    }

    /// Reports finished units to the observer.
    fn report(&self, newest: &UnitsDone) {
        let mut time_left = self.time_left.lock().unwrap_or_else(PoisonError::into_inner);
        time_left.record(newest);
        // Before a count stops, threads wait for each other, and not for a core.
        if !self.must_stop() {
            time_left.read_clock();
        }
        // The observer may take its time, and other threads must not wait for it.
        drop(time_left);
        let mut done_so_far = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done_so_far += newest.sum();
        let done = *done_so_far;
        drop(done_so_far);
        self.count.observer.progress(&self.progress(done, newest.elapsed));
    }

    /// Returns how far the count is.
    pub(super) fn progress(&self, done: Sum, elapsed: Duration) -> Progress<'_> {
        Progress { start: self.start, done, elapsed, time_left: &self.time_left }
    }

    /// Returns whether the count has to stop. If the journal has failed, the reason is reported when the journal is
    /// closed.
    fn must_stop(&self) -> bool {
        self.count.cancel.is_cancelled()
            || self.stop.is_cancelled()
            || self.journal.is_some_and(Journal::has_failed)
    }

    /// Counts units until it is time for a report. The result is an error if counting ended early.
    fn count_until_report(
        &self,
        worker: &mut Worker<'_>,
        range: Range<usize>,
    ) -> (UnitsDone, Result<(), Error>) {
        let begun = Instant::now();
        let cpu_time_before = thread_time();
        let mut done = UnitsDone::none_from(range.start);
        let mut ended = Ok(());
        while done.units.end < range.end && begun.elapsed() < REPORT_EVERY {
            let counts;
            (counts, ended) = worker.count_batch(done.units.end..range.end, &self.count.cancel);
            // An error does not lose the units before it.
            done.solutions += self.start.plan.solutions(done.units.end, &counts);
            done.units.end += counts.len();
            done.counts.extend(counts);
            if ended.is_err() {
                break;
            }
        }
        done.elapsed = self.begun.elapsed();
        done.cpu_time = thread_time().saturating_sub(cpu_time_before);
        (done, ended)
    }
}

/// Returns the longest time between two records of a thread when the run has this age.
fn record_interval(age: Duration) -> Duration {
    (age / RECORD_INTERVAL_DIVISOR).clamp(REPORT_EVERY, MAX_RECORD_INTERVAL)
}

/// Consecutive units that a thread has finished, but not recorded yet.
struct Unrecorded<'a> {
    driver: &'a Driver<'a>,
    done: UnitsDone,
    /// The time at which the thread recorded units last.
    since: Instant,
}

impl Unrecorded<'_> {
    fn record(&mut self) {
        self.since = Instant::now();
        let next = UnitsDone::none_from(self.done.units.end);
        let done = std::mem::replace(&mut self.done, next);
        if let Some(journal) = self.driver.journal
            && !done.units.is_empty()
        {
            journal.append(&done);
        }
    }
}

/// Records the finished units even if the count stops between two units, or panics in one.
impl Drop for Unrecorded<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.driver.stop.cancel();
        }
        self.record();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_loses_a_hundredth_of_the_run_at_most() {
        for (age, interval) in [(0, 100), (10_000, 100), (100_000, 1000), (5_000_000, 10_000)] {
            let interval = Duration::from_millis(interval);
            assert_eq!(record_interval(Duration::from_millis(age)), interval, "{age} ms");
        }
    }
}
