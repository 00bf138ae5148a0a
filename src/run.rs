//! The one driver: units x engine on a rayon pool, reduced to a sum.
//!
//! Units are handed out in ranges, so that units of microseconds cost no scheduling. The ranges
//! are taken in a scattered order, the same at every run: neighbouring units are alike, and with
//! the order scattered those done at any time are a fair sample of all. That is what makes an
//! estimate of the remaining time from the time measured so far an honest one.
//!
//! Finished units are recorded first and recounted after that: a recount may take long, and a
//! killed process must not lose what it has finished. If a recount differs, or the lists that the
//! threads share have changed in memory, the records that this touches are withdrawn.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::cpu_time;
use crate::error::Error;
use crate::journal::Journal;
use crate::observe::{Observer, UnitsDone};
use crate::plan::{Plan, PreparedPlan, UnitCounter, UnitRecounter};
use crate::self_check::SelfCheck;

/// Ranges for each thread: enough that the last one to finish is short.
pub(crate) const RANGES_PER_THREAD: usize = 256;

/// A range reports at least this often, between two units: so much finished work may stay
/// unrecorded.
const REPORT_EVERY: Duration = Duration::from_millis(100);
/// How often it is asked what happened to the journal.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often the lists that the threads share are compared with what was made.
const INSPECT_EVERY: Duration = Duration::from_secs(60);

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) units: usize,
    pub(crate) solutions: u128,
}

/// A job that is under way.
struct Running<'a> {
    job: &'a Job<'a>,
    /// Raised when one thread fails, for the others.
    failed: AtomicBool,
    watch: Mutex<Watch>,
}

/// What is looked at now and then, by whichever thread reports when it is due.
struct Watch {
    looked: Instant,
    inspected: Instant,
    /// Units recorded since the shared lists were last found to be good.
    uninspected: Vec<Range<usize>>,
    has_told_change: bool,
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
        let running = Running { job: self, failed: AtomicBool::new(false), watch: Watch::new() };

        let tally = (0..ranges.len())
            .into_par_iter()
            .with_max_len(1)
            .map(|turn| {
                let range = ranges[turn * stride % ranges.len()].clone();
                let scratch = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut scratch = scratch.unwrap_or_else(|| self.scratch());
                let tally = running.count_range(&mut scratch, range);
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
                tally
            })
            .try_reduce(Tally::default, |one, other| Ok(one.plus(other)));
        running.inspect()?;
        tally
    }

    fn scratch(&self) -> Scratch<'_> {
        Scratch {
            counter: self.prepared.counter(),
            recounter: self.self_check.map(SelfCheck::recounter),
        }
    }

    /// Counts units until it is time for a report; says whether there is a reason not to go on.
    fn count_some(
        &self,
        counter: &mut UnitCounter<'_>,
        range: Range<usize>,
    ) -> (UnitsDone, Result<(), Error>) {
        let (begun, cpu_begun) = (Instant::now(), cpu_time::of_this_thread());
        let (first, mut counts, mut solutions) = (range.start, Vec::new(), 0);
        let mut ended = Ok(());
        for unit in range {
            match counter.count(unit, self.cancel) {
                Ok(count) => {
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
        let cpu = cpu_time::of_this_thread().saturating_sub(cpu_begun);
        (UnitsDone { units, counts, solutions, busy: begun.elapsed(), cpu }, ended)
    }
}

impl Running<'_> {
    /// A journal that has ended early has failed; it tells the reason when it is asked at the end.
    fn must_stop(&self) -> bool {
        self.job.cancel.is_cancelled()
            || self.failed.load(Ordering::Relaxed)
            || self.job.journal.is_some_and(Journal::has_ended)
    }

    /// Counts the units of a range up to its end or until the count must stop, and reports them now
    /// and then.
    fn count_range(&self, scratch: &mut Scratch<'_>, range: Range<usize>) -> Result<Tally, Error> {
        let _stop = StopOthers(&self.failed);
        let mut whole = Tally::default();
        let mut rest = range;
        while !rest.is_empty() && !self.must_stop() {
            let (done, ended) = self.job.count_some(&mut scratch.counter, rest.clone());
            rest.start = done.units.end;
            whole = whole.plus(Tally { units: done.units.len(), solutions: done.solutions });
            let reported = self.report(scratch.recounter.as_mut(), &done);
            match reported.and(ended) {
                Ok(()) => {}
                Err(Error::UnitStopped { .. }) => break,
                Err(error) => {
                    self.failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(whole)
    }

    /// Records finished units, tells of them, and recounts one of them if it is time.
    fn report(
        &self,
        recounter: Option<&mut UnitRecounter<'_>>,
        done: &UnitsDone,
    ) -> Result<(), Error> {
        let Job { journal, self_check, observer, cancel, .. } = self.job;
        if done.units.is_empty() {
            return Ok(());
        }
        if let Some(journal) = journal {
            journal.record(done);
        }
        observer.units_done(done);
        self.look_around(&done.units)?;
        let (Some(check), Some(recounter)) = (self_check, recounter) else { return Ok(()) };
        let Some(chosen) = check.choose(done) else { return Ok(()) };
        check.recount(recounter, chosen, cancel).inspect_err(|error| {
            if let (Error::UnitsDiffer { unit, .. }, Some(journal)) = (error, journal) {
                journal.withdraw(*unit..unit + 1);
            }
        })
    }

    /// Takes units into account that were just recorded, and looks at the journal and at the shared
    /// lists if it is time.
    fn look_around(&self, units: &Range<usize>) -> Result<(), Error> {
        let is_due = {
            let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch.add(units);
            if watch.looked.elapsed() >= LOOK_EVERY {
                watch.looked = Instant::now();
                self.tell_change(&mut watch);
            }
            let is_due = watch.inspected.elapsed() >= INSPECT_EVERY;
            if is_due {
                watch.inspected = Instant::now();
            }
            is_due
        };
        if is_due { self.inspect() } else { Ok(()) }
    }

    fn tell_change(&self, watch: &mut Watch) {
        let state = self.job.journal.map(Journal::state);
        if let Some(fault) = state.and_then(|state| state.fault).filter(|_| !watch.has_told_change)
        {
            watch.has_told_change = true;
            self.job.observer.journal_changed(&fault);
        }
    }

    /// Makes sure that the lists that the threads share are as they were made; else withdraws what
    /// was recorded since they last were.
    fn inspect(&self) -> Result<(), Error> {
        let watch = || self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        // What is recorded from here on is left to the next inspection.
        let mut inspected = std::mem::take(&mut watch().uninspected);
        if self.job.prepared.shared_is_intact() {
            return Ok(());
        }
        inspected.append(&mut watch().uninspected);
        if let Some(journal) = self.job.journal {
            inspected.iter().for_each(|units| journal.withdraw(units.clone()));
        }
        let units = inspected.iter().map(Range::len).sum();
        Err(Error::SharedListsChanged { units })
    }
}

impl Watch {
    fn new() -> Mutex<Self> {
        let now = Instant::now();
        Mutex::new(Self {
            looked: now,
            inspected: now,
            uninspected: Vec::new(),
            has_told_change: false,
        })
    }

    fn add(&mut self, units: &Range<usize>) {
        match self.uninspected.last_mut().filter(|last| last.end == units.start) {
            Some(last) => last.end = units.end,
            None => self.uninspected.push(units.clone()),
        }
    }
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

    use std::path::Path;

    use crate::engine::{Engine, Kernel, Prepared, Resources, SplitRows, Worker};
    use crate::journal::{Access, Locked, read};
    use crate::shard::Shard;
    use crate::size::BoardSize;
    use crate::square::FixedQueens;

    fn journal(plan: &Plan, path: &Path) -> Journal {
        let _ = std::fs::remove_file(path);
        let (locked, _) = Locked::open(path, plan, Access::Named).expect("a new file");
        locked.begin(plan, Kernel::Portable, 1, Shard::WHOLE, "a test").expect("room")
    }

    fn plan(n: u32) -> Plan {
        Plan::new(BoardSize::new(n).expect("in range"), Engine::Bitmask, None)
    }

    /// Shared lists in memory that fails.
    struct Damaged<'a>(Box<dyn Prepared + 'a>);

    impl Prepared for Damaged<'_> {
        fn worker(&self) -> Box<dyn Worker + '_> {
            self.0.worker()
        }

        fn shared_is_intact(&self) -> bool {
            false
        }
    }

    #[test]
    fn what_was_counted_with_damaged_lists_is_withdrawn() {
        let plan = plan(8);
        let path = std::env::temp_dir().join(format!("nqueens-damaged-{}", std::process::id()));
        let journal = journal(&plan, &path);
        let resources = Resources { kernel: Kernel::Portable, threads: 1, memory: 1 << 30 };
        let cancel = Cancel::new();
        let units = Engine::Bitmask.units(plan.size(), &FixedQueens::default(), SplitRows::TWO);
        let lists = units.prepare(&resources, &cancel).expect("a small board");
        let prepared = PreparedPlan::of(Box::new(Damaged(lists)));
        let pool = crate::thread_pool(1).expect("one thread");
        let job = Job {
            plan: &plan,
            prepared: &prepared,
            todo: vec![0..3, 5..8],
            journal: Some(&journal),
            self_check: None,
            observer: &(),
            cancel: &cancel,
        };
        assert_eq!(pool.install(|| job.run()), Err(Error::SharedListsChanged { units: 6 }));
        assert_eq!(journal.finish(&|_| ()).1, Ok(()));
        let contents = read(&path).expect("good").expect("lines");
        assert_eq!((contents.withdrawn, contents.finished.units_done()), (6, 0));
        let _ = std::fs::remove_file(&path);
    }

    /// A count of eight columns with a journal, whose units are recounted as those of another
    /// board.
    #[test]
    fn a_unit_whose_recount_differs_is_recorded_and_withdrawn() {
        let (plan, other) = (plan(8), plan(9));
        let path = std::env::temp_dir().join(format!("nqueens-differs-{}", std::process::id()));
        let journal = journal(&plan, &path);
        let resources = Resources { kernel: Kernel::Portable, threads: 1, memory: 1 << 30 };
        let cancel = Cancel::new();
        let prepared = plan.prepare(&resources, &cancel).expect("a small board");
        let check = SelfCheck::new(&other, Kernel::Portable).after(1e9);
        let pool = crate::thread_pool(1).expect("one thread");
        let job = Job {
            plan: &plan,
            prepared: &prepared,
            todo: vec![0..4, 4..8],
            journal: Some(&journal),
            self_check: Some(&check),
            observer: &(),
            cancel: &cancel,
        };
        let ended = pool.install(|| job.run());
        let Err(Error::UnitsDiffer { unit, .. }) = ended else { panic!("{ended:?}") };
        let (_, written) = journal.finish(&|_| ());
        assert_eq!(written, Ok(()));
        let contents = read(&path).expect("good").expect("lines");
        assert_eq!((contents.withdrawn, contents.finished.count(unit)), (1, None));
        let _ = std::fs::remove_file(&path);
    }

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
