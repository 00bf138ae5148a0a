//! The one way through a count, of a whole board or a shard, and through an estimate: read the journals, plan, count,
//! close the journal of this process.

use std::cell::LazyCell;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::observe::Start;
use super::ranges::number_of_units;
use super::settings::Count;
use crate::board::published::Agreement;
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel};
use crate::error::{Action, Error, Problem};
use crate::forecast::{Rest, Sample, TimeLeft};
use crate::journal_file::{Journal, Run, Wanted};
use crate::plan::Plan;
use crate::plan::done::Sum;
use crate::plan::shard::Shard;
use crate::record::{Difference, FolderRecord, RunKind, path_of_writer, read_folder};

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
    /// The engine that counted.
    pub engine: Engine,
    /// The kernel that counted: [`Kernel::PORTABLE`] for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// The number of units in the whole count or in the shard. A unit of a textbook engine is all that follows from one
    /// square of the first row, so a count that was stopped may have finished none of them.
    pub units: usize,
    /// The number of finished units, including units that journals already held.
    pub units_done: usize,
    /// The number of units that journals already held when the count began.
    pub units_before: usize,
    /// The number of solutions in the finished units. For a shard it is a part of the number of solutions of the board.
    /// To add shards up, record them in [journals](Count::journal): [`Records`](crate::journal::Records) checks that
    /// they belong together.
    pub solutions: u128,
    /// The wall time without the start of the threads. Reading journals and waiting for the disk are part of it.
    pub elapsed: Duration,
    /// How the total compares with the published one: [`Agreement::Unknown`] if there is no total, or none is
    /// published.
    pub agreement: Agreement,
    /// The processes that worked on this count: those that wrote the journals that were read, and this one, if it wrote
    /// a journal.
    pub runs: Vec<Run>,
    /// The journal that was written. `None` if no folder was set, if nothing was left to count, or if the count was
    /// cancelled before it began to count.
    pub journal: Option<PathBuf>,
    /// The reason why the journal lacks the last lines, although all units are counted and the total is right.
    pub journal_fault: Option<Error>,
    /// The units for which journals hold different counts. If none of its counts is used, a unit is missing, and
    /// another run of the count counts it once more.
    pub differences: Vec<Difference>,
    /// The reasons why lines and journals were left out. Their units were counted again.
    pub left_out: Vec<Error>,
    plan: Arc<Plan>,
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
    /// let outcome = Count::new(BoardSize::new(20)?).cancel_on(&cancel).run()?;
    /// assert_eq!(outcome.total, None);
    /// println!("{} of {} units, {} solutions", outcome.units_done, outcome.units, outcome.solutions);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Cancelled`] if a cancellation comes while journals are read, because nobody knows then how far the
    ///   count is. Before and after, it is no error.
    /// * [`Error::InvalidValue`] for a board that the engine does not count, a number of threads or of split rows out of
    ///   range, or a file in place of the folder for journals.
    /// * [`Error::ThreadsNotStarted`] if threads cannot be started.
    /// * [`Error::LacksMemory`] if the engine, the plan or the record needs more memory than there is.
    /// * [`Error::Journal`] if the journal cannot be written, if another count of the same shard that began before is
    ///   running on this host, or if the journals that were read are of several plans, and the settings do not say which
    ///   is meant. Not all journals of other shards are read, so name the engine where several are used.
    /// * [`Error::Overflow`] if a number does not fit.
    ///
    /// # Panics
    ///
    /// If the observer panics.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.on_its_threads(|| self.run_here())?
    }

    /// Runs the count on the current rayon pool.
    pub(crate) fn run_here(&self) -> Result<Outcome, Error> {
        let (outcome, _) = Job::new(self).run()?;
        Ok(outcome)
    }
}

impl Outcome {
    /// Returns the plan that was counted. Shards are parts of one count only if their plans are equal as text.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns whether all units of the board or of the shard are finished.
    pub fn is_complete(&self) -> bool {
        self.units_done == self.units
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

    /// Reads the journals, makes the plan, counts the units that are missing, and closes the journal of this process.
    /// Also returns what a forecast knows at the end.
    pub(super) fn run(self) -> Result<(Outcome, TimeLeft), Error> {
        let count = self.count;
        let threads = rayon::current_num_threads();
        let journals = self.read_journals()?;
        let plan = match &journals {
            Some(journals) => journals.record.shared_plan(),
            None => Arc::new(count.plan()?),
        };
        let kernel = count.kernel_of(plan.engine());
        // Only a journal names the machine. To ask for it takes longer than a small count.
        let run = LazyCell::new(|| Run::of_this_process(kernel, threads, count.shard));
        let units: Vec<Range<usize>> = count.shard.ranges(plan.units()).collect();
        // This drops the record, so that the counting threads can use its memory.
        let recorded = match journals {
            Some(journals) => Recorded::from_journals(&journals, &units, &run)?,
            None => Recorded::nothing(&plan, units.clone()),
        };
        let start = Start {
            plan: &plan,
            shard: count.shard,
            kernel,
            threads,
            units: number_of_units(&units),
            done: recorded.done,
            left_out: &recorded.left_out,
            differences: &recorded.differences,
        };
        if !recorded.todo.is_empty() {
            plan.check_memory(threads)?;
        }
        let mut journal = None;
        // A count that is stopped before its first unit makes no file.
        if let Some(folder) = &count.journal
            && recorded.needs_journal
            && !count.cancel.is_cancelled()
        {
            journal = Some(Journal::create(folder, &plan, &run)?);
        }
        for warning in start.left_out {
            count.observer.warned(warning);
        }
        let rest = self.rest(&recorded);
        let driver = Driver {
            count,
            start: &start,
            journal: journal.as_ref(),
            begun: Instant::now(),
            done: Mutex::new(start.done),
            time_left: Mutex::new(TimeLeft::new(recorded.sample, rest, threads)),
            stop: self.stop.clone(),
        };
        count.observer.started(&driver.progress(start.done, Duration::ZERO));
        let counted = driver.run(&recorded.todo)?;
        let time_left = driver.time_left.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outcome = self.finish(&plan, &start, counted, journal, recorded.runs)?;
        Ok((outcome, time_left))
    }

    /// Reads what the folder for journals holds of the shard. Returns `None` if no folder is set, or if it is not there
    /// yet.
    fn read_journals(&self) -> Result<Option<FolderRecord>, Error> {
        let count = self.count;
        let Some(folder) = &count.journal else { return Ok(None) };
        let metadata = match folder.metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // What cannot be seen may be there, so its units may be finished.
            Err(error) => return Err(Problem::cannot(Action::Open, error).at(folder)),
        };
        if !metadata.is_dir() {
            let advice = "journals live in a folder; move this file into one, and name the folder";
            return Err(Error::invalid("a folder", folder.display(), advice));
        }
        read_folder(folder, &count.wanted(), count.shard, || count.plan(), &count.cancel).map(Some)
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
        plan: &Arc<Plan>,
        start: &Start<'_>,
        counted: Sum,
        journal: Option<Journal>,
        runs_before: Vec<Run>,
    ) -> Result<Outcome, Error> {
        let mut done = start.done + counted;
        let mut runs = runs_before;
        let mut journal_path = None;
        let mut journal_fault = None;
        if let Some(mut journal) = journal {
            let finished = journal.finish();
            if let Some(lost) = journal.take_news() {
                self.count.observer.warned(&lost);
            }
            match finished {
                Ok((path, run)) => {
                    runs.push(run);
                    journal_path = Some(path);
                    journal_fault = journal.lines_cut_off();
                }
                // That may be the reason why the count stopped.
                Err(error) if done.units < start.units => return Err(error),
                Err(error) => journal_fault = Some(error),
            }
        }
        let mut differences = start.differences.to_vec();
        if let Some(folder) = &self.count.journal
            && differences.iter().any(|difference| difference.used.is_none())
        {
            // The new lines may have settled it, or not. Journals of other plans may have come meanwhile.
            let wanted = Wanted {
                engine: Some(plan.engine()),
                split_rows: plan.split_rows(),
                ..self.count.wanted()
            };
            let new_plan = || self.count.plan();
            let FolderRecord { record, .. } =
                read_folder(folder, &wanted, start.shard, new_plan, &Cancel::new())?;
            let units: Vec<Range<usize>> = start.shard.ranges(start.plan.units()).collect();
            done = record.sum_in(&units);
            differences = record.differences().to_vec();
        }
        let is_complete = done.units == start.units;
        let agreement = if is_complete {
            Agreement::compare(done.solutions, self.published_total())
        } else {
            Agreement::Unknown
        };
        let has_total = is_complete && start.shard.is_whole();
        Ok(Outcome {
            size: self.count.size,
            shard: start.shard,
            total: has_total.then_some(done.solutions),
            units_done: done.units,
            solutions: done.solutions,
            engine: start.plan.engine(),
            kernel: start.kernel,
            threads: start.threads,
            units: start.units,
            units_before: start.done.units,
            elapsed: self.begun.elapsed(),
            agreement,
            runs,
            journal: journal_path,
            journal_fault,
            differences,
            left_out: start.left_out.to_vec(),
            plan: Arc::clone(plan),
        })
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
    /// Whether there is anything to write: units that are missing, or the plan, if no journal names it.
    needs_journal: bool,
    /// The sum of its finished units.
    done: Sum,
    /// The finished units of runs with the kernel, CPU and number of threads of this one.
    sample: Sample,
    /// The processes that wrote the journals.
    runs: Vec<Run>,
    /// The reasons why lines and journals were left out.
    left_out: Vec<Error>,
    /// The units for which journals hold different counts.
    differences: Vec<Difference>,
}

impl Recorded {
    /// Makes what there is without journals: all units are missing.
    fn nothing(plan: &Plan, units: Vec<Range<usize>>) -> Self {
        Self {
            needs_journal: !units.is_empty(),
            todo: units,
            done: Sum::default(),
            sample: Sample::new(plan.units()),
            runs: Vec::new(),
            left_out: Vec::new(),
            differences: Vec::new(),
        }
    }

    /// Prepares a count of the given units. `run` then counts those that the journals do not hold.
    ///
    /// # Errors
    ///
    /// [`Problem::InUse`] if another count, of this process or of another one of this host, is counting them.
    fn from_journals(
        journals: &FolderRecord,
        units: &[Range<usize>],
        run: &Run,
    ) -> Result<Self, Error> {
        let FolderRecord { record, is_plan_named } = journals;
        let todo = record.missing_in(units);
        if !todo.is_empty()
            && let Some(path) = path_of_writer(record, run.shard)
        {
            return Err(Problem::InUse.at(path));
        }
        Ok(Self {
            needs_journal: !todo.is_empty() || (record.sum().units > 0 && !is_plan_named),
            todo,
            done: record.sum_in(units),
            sample: record.sample_of(&RunKind::of(run)),
            runs: record.runs().cloned().collect(),
            left_out: record.left_out().to_vec(),
            differences: record.differences().to_vec(),
        })
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
