//! The one driver: units x engine on a rayon pool, reduced to a sum.
//!
//! Units are handed out in ranges, so that scheduling costs little even if a unit takes only
//! microseconds. The ranges are taken in a scattered order, the same in every run, see
//! [`ranges`](super::ranges).
//!
//! A thread records what it has finished in batches: the longer the run, the longer the batches, so
//! that a journal stays small and a kill loses a hundredth of the work at most. The observer learns of
//! finished units at once.

use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::observe::Observer;
use super::ranges::{REPORT_EVERY, Ranges};
use crate::cancel::Cancel;
use crate::engine::Kernel;
use crate::error::Error;
use crate::machine::cpu::thread_time;
use crate::plan::{Plan, UnitsDone, Worker};
use crate::record::{DoneLine, Journal, Record};

/// Finished units are recorded once they have taken this part of the age of the run, which is all
/// that a kill can lose of them. Short intervals would make a journal of long units several times
/// as large.
const RECORDED_PART: u32 = 100;
const RECORD_EVERY: RangeInclusive<Duration> = REPORT_EVERY..=Duration::from_secs(10);

/// Counts units on all threads of a rayon pool.
pub(super) struct Driver<'a> {
    pub(super) plan: &'a Plan,
    pub(super) kernel: Kernel,
    pub(super) journal: Option<&'a Journal>,
    pub(super) observer: &'a dyn Observer,
    pub(super) cancel: &'a Cancel,
    pub(super) begun: Instant,
    /// Stops all threads: one has failed, or the observer has seen enough.
    pub(super) stop: &'a AtomicBool,
}

/// The sum over some units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) units: usize,
    pub(super) solutions: u128,
}

impl Tally {
    /// What a record holds.
    pub(super) fn of(record: &Record) -> Self {
        Self { units: record.units_done(), solutions: record.solutions }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { units: self.units + other.units, solutions: self.solutions + other.solutions }
    }
}

impl Driver<'_> {
    /// Counts these units on the current rayon pool, unless the count must stop.
    pub(super) fn run(&self, todo: impl Iterator<Item = Range<usize>>) -> Result<Tally, Error> {
        let todo: Vec<_> = todo.collect();
        let threads = rayon::current_num_threads();
        let ranges = Ranges::new(&todo, threads, |unit| self.plan.batch(unit));
        // Scratch memory passes from range to range: each thread takes a set and returns it.
        let idle: Mutex<Vec<Worker<'_>>> = Mutex::default();
        (0..ranges.len())
            .into_par_iter()
            .with_max_len(1)
            .filter_map(|_| ranges.take())
            .map(|range| {
                let worker = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut worker = worker.unwrap_or_else(|| self.plan.worker(self.kernel));
                let tally = self.count_range(&mut worker, range);
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
                tally
            })
            .try_reduce(Tally::default, |one, other| Ok(one.plus(other)))
    }

    /// Counts the units of a range until its end or until the count must stop.
    fn count_range(&self, worker: &mut Worker<'_>, mut rest: Range<usize>) -> Result<Tally, Error> {
        let mut whole = Tally::default();
        let line = DoneLine { units: rest.start..rest.start, ..DoneLine::default() };
        let mut batch = Batch { driver: self, busy: Duration::ZERO, line };
        while !rest.is_empty() && !self.must_stop() {
            let (done, ended) = self.count_some(worker, rest.clone());
            rest.start = done.units.end;
            whole = whole.plus(Tally { units: done.units.len(), solutions: done.solutions });
            if !done.units.is_empty() {
                self.observer.units_done(&done);
            }
            if let Some(waited) = self.journal.and_then(Journal::hangs) {
                self.observer.disk_hangs(waited, None);
            }
            batch.add(done);
            let part = self.begun.elapsed() / RECORDED_PART;
            if batch.busy >= part.clamp(*RECORD_EVERY.start(), *RECORD_EVERY.end()) {
                batch.record();
            }
            match ended {
                Ok(()) => {}
                Err(error) if error.is_cancelled() => break,
                Err(error) => {
                    self.stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(whole)
    }

    /// Whether there is no point in continuing. Why a journal has failed is reported when it is closed.
    fn must_stop(&self) -> bool {
        self.cancel.is_cancelled()
            || self.stop.load(Ordering::Relaxed)
            || self.journal.is_some_and(Journal::has_failed)
    }

    /// Counts units until it is time for a report. The error is the reason for an early end.
    fn count_some(
        &self,
        worker: &mut Worker<'_>,
        range: Range<usize>,
    ) -> (UnitsDone, Result<(), Error>) {
        let (begun, cpu_begun) = (Instant::now(), thread_time());
        let (first, mut counts, mut solutions) = (range.start, Vec::new(), 0);
        let mut ended = Ok(());
        while first + counts.len() < range.end && begun.elapsed() < REPORT_EVERY {
            match worker.count_first(first + counts.len()..range.end, self.cancel) {
                Ok(some) => {
                    let weights = (first + counts.len()..).map(|unit| self.plan.weight(unit));
                    let weighed = some.iter().zip(weights);
                    solutions += weighed
                        .map(|(count, weight)| u128::from(*count) * u128::from(weight))
                        .sum::<u128>();
                    counts.extend(some);
                }
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
        }
        let units = first..first + counts.len();
        let cpu_time = thread_time().saturating_sub(cpu_begun);
        let busy = begun.elapsed();
        (UnitsDone { units, counts, solutions, busy, cpu_time }, ended)
    }
}

/// Consecutive units of one thread that are finished, but not recorded.
struct Batch<'a> {
    driver: &'a Driver<'a>,
    /// Wall time that they took.
    busy: Duration,
    line: DoneLine,
}

impl Batch<'_> {
    /// Adds the units that follow.
    fn add(&mut self, done: UnitsDone) {
        debug_assert_eq!(
            self.line.units.end, done.units.start,
            "units are missing between the two"
        );
        self.busy += done.busy;
        self.line.units.end = done.units.end;
        self.line.counts.extend(done.counts);
        self.line.solutions += done.solutions;
        self.line.cpu_time += done.cpu_time;
    }

    fn record(&mut self) {
        let end = self.line.units.end;
        let next = DoneLine { units: end..end, ..DoneLine::default() };
        let line = std::mem::replace(&mut self.line, next);
        self.busy = Duration::ZERO;
        if let Some(journal) = self.driver.journal.filter(|_| !line.units.is_empty()) {
            journal.append(line);
        }
    }
}

/// Neither a stop between two units nor a panic in one must lose those before it.
impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.driver.stop.store(true, Ordering::Relaxed);
        }
        self.record();
    }
}
