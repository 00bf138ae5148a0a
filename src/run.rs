//! The one driver: units x engine on a rayon pool, reduced to a sum.
//!
//! Units are handed out in ranges, so that units of microseconds cost no scheduling. The ranges
//! are taken in a scattered order, the same at every run: neighbouring units are alike, and with
//! the order scattered those done at any time are a fair sample of all. That is what makes an
//! estimate of the remaining time from the time measured so far an honest one.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::journal::Journal;
use crate::observe::{Observer, UnitsDone};
use crate::plan::{Plan, PreparedPlan, UnitCounter, UnitRecounter};
use crate::self_check::SelfCheck;

/// Ranges for each thread: enough that the last one to finish is short.
pub(crate) const RANGES_PER_THREAD: usize = 256;

/// A range reports at least this often, between two units.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// What is to be counted, and who hears of it.
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) prepared: &'a PreparedPlan<'a>,
    /// The units to count.
    pub(crate) todo: Vec<Range<usize>>,
    pub(crate) journal: Option<&'a Journal>,
    pub(crate) self_check: Option<&'a SelfCheck<'a>>,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) cancel: &'a Cancel,
}

/// The sum over some units.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) units: usize,
    pub(crate) solutions: u128,
}

/// One thread's scratch memory.
struct Scratch<'a> {
    counter: UnitCounter<'a>,
    recounter: Option<UnitRecounter<'a>>,
}

impl Tally {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { units: self.units + other.units, solutions: self.solutions + other.solutions }
    }
}

impl Job<'_> {
    /// Counts the units on the current rayon pool, all of them unless the count must stop.
    pub(crate) fn run(&self) -> Result<Tally, Error> {
        let units: usize = self.todo.iter().map(Range::len).sum();
        let length = (units / (rayon::current_num_threads() * RANGES_PER_THREAD)).max(1);
        let ranges: Vec<Range<usize>> =
            self.todo.iter().flat_map(|units| pieces(units.clone(), length)).collect();
        let stride = scattering_stride(ranges.len());
        // Scratch memory goes from range to range: each thread takes a set and brings it back.
        let idle: Mutex<Vec<Scratch<'_>>> = Mutex::default();

        (0..ranges.len())
            .into_par_iter()
            .with_max_len(1)
            .map(|turn| {
                let range = ranges[turn * stride % ranges.len()].clone();
                let scratch = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut scratch = scratch.unwrap_or_else(|| self.scratch());
                let tally = self.count_range(&mut scratch, range);
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
                tally
            })
            .try_reduce(Tally::default, |one, other| Ok(one.plus(other)))
    }

    fn scratch(&self) -> Scratch<'_> {
        Scratch {
            counter: self.prepared.counter(),
            recounter: self.self_check.map(SelfCheck::recounter),
        }
    }

    /// A journal that has ended early has failed; it tells the reason when it is asked at the end.
    fn must_stop(&self) -> bool {
        self.cancel.is_cancelled() || self.journal.is_some_and(Journal::has_ended)
    }

    /// Counts the units of a range up to its end or until the count must stop, and reports them now
    /// and then.
    fn count_range(&self, scratch: &mut Scratch<'_>, range: Range<usize>) -> Result<Tally, Error> {
        let mut whole = Tally::default();
        let mut rest = range;
        while !rest.is_empty() && !self.must_stop() {
            let Some(done) = self.count_some(&mut scratch.counter, rest.clone())? else { break };
            if let (Some(check), Some(recounter)) = (self.self_check, &mut scratch.recounter) {
                check.check(recounter, &done, self.cancel)?;
            }
            rest.start = done.units.end;
            whole = whole.plus(Tally { units: done.units.len(), solutions: done.solutions });
            self.observer.units_done(&done);
            if let Some(journal) = self.journal {
                journal.record(done);
            }
        }
        Ok(whole)
    }

    /// Counts units until it is time for a report; `None` after a cancellation.
    fn count_some(
        &self,
        counter: &mut UnitCounter<'_>,
        range: Range<usize>,
    ) -> Result<Option<UnitsDone>, Error> {
        let begun = Instant::now();
        let (first, mut counts, mut solutions) = (range.start, Vec::new(), 0);
        for unit in range {
            match counter.count(unit, self.cancel) {
                Ok(count) => {
                    counts.push(count);
                    solutions += u128::from(count) * u128::from(self.plan.weight(unit));
                }
                Err(Error::UnitStopped { .. }) => break,
                Err(error) => return Err(error),
            }
            if begun.elapsed() >= REPORT_EVERY {
                break;
            }
        }
        let units = first..first + counts.len();
        let done = UnitsDone { units, counts, solutions, busy: begun.elapsed() };
        Ok((!done.units.is_empty()).then_some(done))
    }
}

/// Cuts a range into pieces of this length; the last may be shorter.
fn pieces(units: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    units.clone().step_by(length).map(move |start| start..units.end.min(start + length))
}

/// A step that visits all of `0..len` when taken `len` times modulo `len`, and whose first steps
/// are spread evenly: the golden section of the length, or the next number that shares no factor
/// with it.
fn scattering_stride(len: usize) -> usize {
    let golden = len * 618 / 1000;
    (golden.max(1)..).find(|stride| greatest_common_divisor(*stride, len) == 1).unwrap_or(1)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scattered_order_visits_every_range_once() {
        for len in 1..200 {
            let stride = scattering_stride(len);
            let mut visited: Vec<usize> = (0..len).map(|turn| turn * stride % len).collect();
            visited.sort_unstable();
            assert!(visited.into_iter().eq(0..len), "{len} ranges, stride {stride}");
        }
    }
}
