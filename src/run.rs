//! The one driver: units x engine on a rayon pool, reduced to a sum.
//!
//! Units are handed out in ranges, so that scheduling costs little even if a unit takes only
//! microseconds. The ranges are taken in a scattered order, the same in every run, see [`ranges`].
//!
//! A thread records what it has finished in batches: the longer the run, the longer the batches, so
//! that a journal stays small and a kill loses a hundredth of the work at most. The observer learns of
//! finished units at once. Units are recorded before they are recounted: a recount may take long. If a
//! recount differs, its record is withdrawn.

mod ranges;
mod reporter;

use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::cpu_time;
use crate::error::Error;
use crate::observe::UnitsDone;
use crate::plan::{Plan, PreparedPlan, UnitCounter};
pub(crate) use ranges::{Ranges, Turn, range_length};
pub(crate) use reporter::Reporter;

/// A range reports its progress this often, between two units.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Finished units are recorded once they have taken this part of the age of the run, which is all
/// that a kill can lose of them. Short intervals would make a journal of long units several times
/// as large.
const RECORDED_PART: u32 = 100;
const RECORD_EVERY: RangeInclusive<Duration> = REPORT_EVERY..=Duration::from_secs(10);

/// Counts units on all threads of a rayon pool.
pub(crate) struct Driver<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) prepared: &'a PreparedPlan<'a>,
    /// Receives the finished units.
    pub(crate) reporter: &'a Reporter<'a>,
    pub(crate) cancel: &'a Cancel,
}

/// The sum over some units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) units: usize,
    pub(crate) solutions: u128,
}

impl Tally {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { units: self.units + other.units, solutions: self.solutions + other.solutions }
    }
}

/// One thread's scratch memory.
struct Scratch<'a> {
    counter: UnitCounter<'a>,
    recounter: Option<UnitCounter<'a>>,
}

impl Driver<'_> {
    /// Counts these units on the current rayon pool, unless the count must stop.
    pub(crate) fn run(&self, todo: &[Range<usize>]) -> Result<Tally, Error> {
        let ranges = Ranges::new(todo, rayon::current_num_threads());
        // Scratch memory passes from range to range: each thread takes a set and returns it.
        let idle: Mutex<Vec<Scratch<'_>>> = Mutex::default();
        // Tells the other threads that one has failed.
        let failed = AtomicBool::new(false);

        (0..ranges.len())
            .into_par_iter()
            .with_max_len(1)
            .filter_map(|_| ranges.take())
            .map(|turn| {
                let scratch = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut scratch = scratch.unwrap_or_else(|| Scratch {
                    counter: self.prepared.counter(),
                    recounter: self.reporter.recounter(),
                });
                let tally = self.count_range(&mut scratch, turn, &failed);
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
                tally
            })
            .try_reduce(Tally::default, |one, other| Ok(one.plus(other)))
    }

    /// Counts the units of a range until its end or until the count must stop, and reports them now
    /// and then.
    fn count_range(
        &self,
        scratch: &mut Scratch<'_>,
        Turn { turn, units: mut rest }: Turn,
        failed: &AtomicBool,
    ) -> Result<Tally, Error> {
        let _stop = StopOthers(failed);
        let must_stop = || {
            self.cancel.is_cancelled()
                || failed.load(Ordering::Relaxed)
                || self.reporter.has_failed()
        };
        let mut whole = Tally::default();
        let mut batch =
            Batch { reporter: self.reporter, done: UnitsDone::none_from(rest.start, turn) };
        while !rest.is_empty() && !must_stop() {
            let (done, ended) = self.count_some(&mut scratch.counter, rest.clone(), turn);
            rest.start = done.units.end;
            whole = whole.plus(Tally { units: done.units.len(), solutions: done.solutions });
            self.reporter.progress(&done);
            batch.done.append(done);
            let is_due = batch.done.busy >= self.record_after() || rest.is_empty();
            let recorded = match is_due || ended.is_err() || must_stop() {
                true => {
                    let done = batch.record();
                    self.reporter.check(&done, scratch.recounter.as_mut(), self.cancel)
                }
                false => Ok(()),
            };
            match recorded.and(ended) {
                Ok(()) => {}
                Err(Error::UnitStopped { .. }) => break,
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(whole)
    }

    /// How long units are counted before they are recorded.
    fn record_after(&self) -> Duration {
        let part = self.reporter.age() / RECORDED_PART;
        part.clamp(*RECORD_EVERY.start(), *RECORD_EVERY.end())
    }

    /// Counts units until it is time for a report. The error is the reason for an early end.
    fn count_some(
        &self,
        counter: &mut UnitCounter<'_>,
        range: Range<usize>,
        turn: usize,
    ) -> (UnitsDone, Result<(), Error>) {
        let (begun, cpu_begun) = (Instant::now(), cpu_time::of_this_thread());
        let (first, end, mut counts, mut solutions) = (range.start, range.end, Vec::new(), 0);
        let mut ended = Ok(());
        for unit in range {
            match counter.count(unit, self.cancel) {
                Ok(count) => {
                    #[cfg(nqueens_faulty)]
                    let count = count + fault(unit);
                    counts.push(count);
                    solutions += u128::from(count) * u128::from(self.plan.weight(unit));
                }
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
            if begun.elapsed() >= REPORT_EVERY {
                break;
            }
        }
        let units = first..first + counts.len();
        let cpu_time = cpu_time::of_this_thread().saturating_sub(cpu_begun);
        let (busy, ends_turn) = (begun.elapsed(), units.end == end);
        (UnitsDone { units, counts, solutions, busy, cpu_time, turn, ends_turn }, ended)
    }
}

/// The error of a faulty machine: 1 for one in every `NQUEENS_FAULTY` units. Only builds that
/// measure the self-check have it; see scripts/measure-self-check.sh.
#[cfg(nqueens_faulty)]
fn fault(unit: usize) -> u64 {
    use std::sync::OnceLock;
    static ONE_IN: OnceLock<u64> = OnceLock::new();
    let one_in = *ONE_IN.get_or_init(|| {
        let variable = std::env::var("NQUEENS_FAULTY").ok();
        variable.and_then(|text| text.parse().ok()).unwrap_or(u64::MAX)
    });
    // Scattered over the plan.
    let scattered = (unit as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    u64::from(scattered % one_in == 0)
}

/// Stops the other threads if this one panics.
struct StopOthers<'a>(&'a AtomicBool);

impl Drop for StopOthers<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Consecutive units of one thread that are finished, but not recorded.
struct Batch<'a> {
    reporter: &'a Reporter<'a>,
    done: UnitsDone,
}

impl Batch<'_> {
    /// Records the units, and returns them.
    fn record(&mut self) -> UnitsDone {
        let next = UnitsDone::none_from(self.done.units.end, self.done.turn);
        let done = std::mem::replace(&mut self.done, next);
        self.reporter.record(&done);
        done
    }
}

/// A panic in a unit must not lose those before it, and neither must a stop between two.
impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.record();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::engine::{Engine, Kernel, Resources};
    use crate::journal::{Access, Contents, Locked, Recorded, read};
    use crate::self_check::SelfCheck;
    use crate::shard::Shard;
    use crate::size::BoardSize;

    fn plan(n: u32) -> Plan {
        Plan::new(BoardSize::new(n).expect("in range"), Engine::Bitmask, None)
    }

    /// Counts some units of a board of eight columns with a journal. Returns the result and the
    /// contents of the journal.
    fn count(
        name: &str,
        todo: &[Range<usize>],
        check: Option<&SelfCheck<'_>>,
        prepare: impl FnOnce(&Plan) -> PreparedPlan<'_>,
    ) -> (Result<Tally, Error>, Contents) {
        let plan = plan(8);
        let path = std::env::temp_dir().join(format!("nqueens-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let locked = Locked::open(&path, &plan, Access::Named, &mut Recorded::default());
        let journal = locked.expect("a new file");
        let journal = journal.begin(&plan, Kernel::Portable, 1, Shard::WHOLE, "a test");
        let prepared = prepare(&plan);
        let reporter = Reporter::new(&(), Some(journal.expect("room")), check);
        let cancel = Cancel::new();
        let driver =
            Driver { plan: &plan, prepared: &prepared, reporter: &reporter, cancel: &cancel };
        let pool = crate::thread_pool(1).expect("one thread");
        let ended = pool.install(|| driver.run(todo));
        assert!(matches!(reporter.finish(), Some((_, Ok(())))));
        let contents = read(&path).expect("good").expect("lines");
        let _ = std::fs::remove_file(&path);
        (ended, contents)
    }

    const RESOURCES: Resources =
        Resources { kernel: Kernel::Portable, threads: 1, memory: 1 << 30 };

    /// The units are recounted as those of another board.
    #[test]
    fn a_unit_whose_recount_differs_is_recorded_and_withdrawn() {
        let other = plan(9);
        let check = SelfCheck::new(&other, Kernel::Portable).after(1e9);
        let (ended, contents) = count("differs", &[0..4, 4..8], Some(&check), |plan| {
            plan.prepare(&RESOURCES, &Cancel::new()).expect("a small board")
        });
        let Err(Error::UnitsDiffer { unit, .. }) = ended else { panic!("{ended:?}") };
        assert_eq!((contents.withdrawn, contents.counts.get(unit)), (1, None));
    }
}
