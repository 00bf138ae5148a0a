//! The one way through a count, of a whole board or a shard, and through an estimate: open the place for journals,
//! plan, count, close the journal.

use std::cell::LazyCell;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::observe::Start;
use super::ranges::number_of_units;
use super::settings::Count;
use crate::board::known::Published;
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel};
use crate::error::Error;
use crate::forecast::{Rest, Sample, TimeLeft};
use crate::journal::{Journal, Run};
use crate::plan::Plan;
use crate::plan::done::Sum;
use crate::plan::shard::Shard;
use crate::record::{Closed, Place, Record, RunKind};

/// The result of a count, of a whole board or of a shard, finished or stopped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The size of the board.
    pub size: BoardSize,
    /// The shard: [`Shard::WHOLE`] for a whole count.
    pub shard: Shard,
    /// The number of solutions of the board, Q(n). `None` for a shard, and while units are missing.
    pub total: Option<u128>,
    /// The finished units, including units that journals already held, and the solutions in them: each count times the
    /// weight of its unit.
    pub done: Sum,
    /// The engine that counted.
    pub engine: Engine,
    /// The kernel that counted: [`Kernel::PORTABLE`] for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// The number of units in the whole count or in the shard.
    pub units: usize,
    /// The number of units that journals already held when the count began.
    pub units_before: usize,
    /// The wall time without the start of the threads. Reading journals and waiting for the disk are part of it.
    pub elapsed: Duration,
    /// How the total compares with the published one: [`Published::Unknown`] if there is no total, or none is published.
    pub published: Published,
    /// The processes that worked on this count, as the journals hold them: those that wrote the journals that were read, and
    /// this one, unless nothing was left to count or the journal could not be read back.
    pub runs: Vec<Run>,
    /// The journal that was written. `None` if there is none: if none was set, if nothing was left to count, or if the
    /// count was stopped before its first unit.
    pub journal: Option<PathBuf>,
    /// The reason why the journal cannot be relied on, although all units are counted and the total is right.
    pub journal_fault: Option<Error>,
    /// The reasons why lines and journals were left out. Their units were counted again.
    pub left_out: Vec<Error>,
}

impl Count<'_> {
    /// Counts all units of the board, or of the shard that is set.
    ///
    /// If a cancellation stops the count, the outcome says how far it came: it [is not
    /// complete](Outcome::is_complete), and has no total.
    ///
    /// ```
    /// use nqueens::{BoardSize, Cancel, Count};
    ///
    /// let cancel = Cancel::new();
    /// cancel.cancel(); // usually from another thread
    /// let outcome = Count::new(BoardSize::new(20)?).stop_on(&cancel).run()?;
    /// assert_eq!(outcome.total, None);
    /// println!("{} of {} units, {} solutions", outcome.done.units, outcome.units, outcome.done.solutions);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::StoppedBefore`] if a cancellation comes before the journals that are there are read and on disk. After
    ///   that it is no error.
    /// * [`Error::InvalidValue`] for a board that the engine does not count, a number of threads or of split rows out of
    ///   range, or a journal whose name does not end in `.journal`.
    /// * [`Error::ThreadsNotStarted`] if threads cannot be started.
    /// * [`Error::LacksMemory`] if the engine, the plan or the record needs more memory than there is.
    /// * [`Error::Journal`] if the journal cannot be used, and [`Error::CountsDiffer`] if a unit has two different
    ///   counts.
    /// * [`Error::PlansDiffer`] if a folder holds journals of several plans of this board, and the settings do not say
    ///   which is meant.
    /// * [`Error::UnitOverflow`] or [`Error::EntryOverflow`] if a number does not fit.
    ///
    /// # Panics
    ///
    /// Without [`Count::threads`], outside of a pool, if rayon cannot start its global pool. If the observer panics.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.on_its_threads(|| Job::new(self).run())?
    }
}

impl Outcome {
    /// Returns whether all units of the board or of the shard are finished.
    pub fn is_complete(&self) -> bool {
        self.done.units == self.units
    }

    /// Returns whether this was a count of the whole board, and not of a shard.
    pub fn is_whole(&self) -> bool {
        self.shard.is_whole()
    }
}

/// A count that is about to run.
pub(super) struct Job<'a> {
    count: &'a Count<'a>,
    begun: Instant,
    /// Stops all threads before their next unit.
    pub(super) stop: Cancel,
}

impl<'a> Job<'a> {
    pub(super) fn new(count: &'a Count<'a>) -> Self {
        Self { count, begun: Instant::now(), stop: Cancel::new() }
    }

    /// Opens the place for journals, makes the plan, counts the units that are missing, and closes the journal.
    pub(super) fn run(self) -> Result<Outcome, Error> {
        let count = self.count;
        let threads = rayon::current_num_threads();
        let (place, record) = self.open_journals()?;
        let plan = match &record {
            Some(record) => count.check_recorded_plan(record)?,
            None => Arc::new(count.plan()?),
        };
        let kernel = count.kernel_of(plan.engine());
        // Only a journal names the machine. To ask for it takes longer than a small count.
        let run = LazyCell::new(|| Run::of_this_process(kernel, threads, count.shard));
        let units: Vec<Range<usize>> = count.shard.ranges(plan.units()).collect();
        // A count appends to no journal of a folder, so nothing is cut off from them.
        let cut_off = match (&place, &record) {
            (Some(Place::File(_)), Some(record)) => record.files()[0].cut_off,
            _ => 0,
        };
        // This drops the record, so that the counting threads can use its memory.
        let recorded = match record {
            Some(record) => Recorded::from_record(record, &units, &run),
            None => Recorded::nothing(&plan, units.clone()),
        };
        let start = Start {
            plan: &plan,
            shard: count.shard,
            kernel,
            threads,
            units: number_of_units(&units),
            done: recorded.done,
            cut_off,
            left_out: &recorded.left_out,
            time_left: &TimeLeft::new(recorded.sample.clone(), self.rest(&recorded), threads),
        };
        let mut journal = None;
        if !recorded.todo.is_empty() {
            plan.check_memory(threads)?;
            // A count that is stopped before its first unit leaves the journals as they are.
            if !count.cancel.is_cancelled() {
                journal = place.map(|place| place.begin(&plan, recorded.held, &run)).transpose()?;
            }
        }
        count.observer.started(&start);
        let driver = Driver {
            count,
            start: &start,
            journal: journal.as_ref(),
            begun: Instant::now(),
            done: Mutex::new(start.done),
            stop: self.stop.clone(),
        };
        let counted = driver.run(&recorded.todo)?;
        self.finish(&start, counted, journal, recorded.runs)
    }

    /// Opens the place for journals, if there is one, and reads what it holds of the shard.
    fn open_journals(&self) -> Result<(Option<Place>, Option<Record>), Error> {
        let count = self.count;
        let Some(path) = &count.journal else { return Ok((None, None)) };
        let new_plan = || count.plan();
        let (place, record) =
            Place::open_and_read(path, &count.wanted(), count.shard, new_plan, &count.cancel)?;
        Ok((Some(place), record))
    }

    /// Returns what the count has to do when it begins.
    fn rest(&self, recorded: &Recorded) -> Rest {
        let total = self.published_total();
        Rest {
            units: number_of_units(&recorded.todo),
            solutions: total.map(|total| total as f64 - recorded.done.solutions as f64),
        }
    }

    /// Closes the journal, if there is one, and makes the outcome.
    fn finish(
        &self,
        start: &Start<'_>,
        counted: Sum,
        journal: Option<Journal>,
        runs_before: Vec<Run>,
    ) -> Result<Outcome, Error> {
        let done = start.done + counted;
        let is_complete = done.units == start.units;
        let mut runs = runs_before;
        let mut journal_path = None;
        let mut journal_fault = None;
        if let Some(journal) = journal {
            journal_path = Some(journal.path());
            match self.close_journal(journal, start, counted) {
                Ok(closed) => {
                    journal_path = Some(closed.path);
                    if !closed.is_end {
                        runs.clear();
                    }
                    runs.extend(closed.runs);
                }
                // A fault of the journal may be the reason why the count stopped. Then the same command would not
                // resume it.
                Err(error) if !is_complete => return Err(error),
                Err(error) => journal_fault = Some(error),
            }
        }
        let published = if is_complete {
            Published::compare(done.solutions, self.published_total())
        } else {
            Published::Unknown
        };
        let has_total = is_complete && start.shard.is_whole();
        Ok(Outcome {
            size: self.count.size,
            shard: start.shard,
            total: has_total.then_some(done.solutions),
            done,
            engine: start.plan.engine(),
            kernel: start.kernel,
            threads: start.threads,
            units: start.units,
            units_before: start.done.units,
            elapsed: self.begun.elapsed(),
            published,
            runs,
            journal: journal_path,
            journal_fault,
            left_out: start.left_out.to_vec(),
        })
    }

    /// Waits until the disk has the whole journal, reads it back, and compares it with what was counted. The observer
    /// hears what has happened to the journal.
    fn close_journal(
        &self,
        journal: Journal,
        start: &Start<'_>,
        counted: Sum,
    ) -> Result<Closed, Error> {
        let observer = self.count.observer;
        let done = start.done + counted;
        let is_complete = done.units == start.units;
        let total = is_complete.then_some(done.solutions);
        let waits = || observer.waits_for_disk(total);
        // The first cancellation stops the counting, or, if all units are counted, this wait.
        let is_over = || is_complete && self.count.cancel.is_cancelled();
        let closed = Closed::close(journal, counted, is_complete, &waits, &is_over)?;
        if let Some(news) = &closed.news {
            observer.journal_harmed(news);
        }
        for error in &closed.left_out {
            // No unit is missing, but somebody else has written lines that mean nothing.
            if !start.left_out.contains(error) {
                observer.journal_harmed(error);
            }
        }
        Ok(closed)
    }

    /// Returns the published total, if this counts the whole board.
    fn published_total(&self) -> Option<u128> {
        self.count.size.published().total.filter(|_| self.count.shard.is_whole())
    }
}

/// What the journals of a count hold when it begins, and what is missing in them.
struct Recorded {
    /// The units of the board or shard that are not finished.
    todo: Vec<Range<usize>>,
    /// The sum of its finished units.
    done: Sum,
    /// The sum of all units in the journals. A file may hold units of other shards, too.
    held: Sum,
    /// The finished units of runs with the kernel, CPU and number of threads of this one.
    sample: Sample,
    /// The processes that wrote the journals.
    runs: Vec<Run>,
    /// The reasons why lines and journals were left out.
    left_out: Vec<Error>,
}

impl Recorded {
    /// Makes what there is without journals: all units are missing.
    fn nothing(plan: &Plan, units: Vec<Range<usize>>) -> Self {
        Self {
            todo: units,
            done: Sum::default(),
            held: Sum::default(),
            sample: Sample::new(plan.units()),
            runs: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Takes from a record what `run` needs to count those of the given units that are missing.
    fn from_record(record: Record, units: &[Range<usize>], run: &Run) -> Self {
        Self {
            todo: record.missing_in(units),
            done: record.sum_in(units),
            held: record.sum(),
            sample: record.sample_of(&RunKind::of(run)),
            runs: record.runs().cloned().collect(),
            left_out: record.left_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_resumed_count_is_what_its_journals_lack() {
        let size = BoardSize::new(8).expect("in range");
        let count = Count::new(size).engine(Engine::Bitmask);
        let plan = count.plan().expect("a plan");
        let done = Sum { units: 2, solutions: 12 };
        let recorded = Recorded { done, ..Recorded::nothing(&plan, vec![2..3, 4..9]) };
        let rest = Job::new(&count).rest(&recorded);
        assert_eq!((rest.units, rest.solutions), (6, Some(80.0)));
        let shard = count.shard(Shard::new(0, 2).expect("in range"));
        assert_eq!(Job::new(&shard).rest(&recorded).solutions, None, "no total is published");
    }
}
