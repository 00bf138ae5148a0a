//! The one way through a count or a shard: open its journal, plan, check the memory, drive, close.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::observe::Start;
use super::settings::Count;
use crate::board::known::{Published, known};
use crate::board::size::BoardSize;
use crate::done::Tally;
use crate::engine::{Engine, Kernel};
use crate::error::{Error, JournalError};
use crate::forecast::{Clusters, Rest, TimeLeft};
use crate::record::{Output, Record, Run, UnitSet, read_shard};
use crate::shard::Shard;

/// Shards choose their split rows as if for this many threads, so that every machine makes the same
/// choice.
const SHARD_THREADS: usize = 64;

/// A finished count, or a finished shard of one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The board.
    pub size: BoardSize,
    /// The shard; of a whole count, all of it.
    pub shard: Shard,
    /// The number of solutions: of a whole count Q(n), of a shard those in its units, with their weights.
    pub total: u128,
    /// The engine that counted.
    pub engine: Engine,
    /// The kernel that it used; portable for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// How many units were to be counted.
    pub units: usize,
    /// How many of them journals already held.
    pub units_before: usize,
    /// Wall time, not including the start of the threads.
    pub elapsed: Duration,
    /// How the total compares with the published one; unknown for shards.
    pub published: Published,
    /// The processes that worked on the journal, as read back from it.
    pub runs: Vec<Run>,
    /// The journal that was written; `None` if nothing was left to count.
    pub journal: Option<PathBuf>,
    /// Why the journal cannot be relied on, although all units are counted.
    pub journal_fault: Option<Error>,
    /// Why lines and journals of a folder were left out. Their units counted as not finished.
    pub left_out: Vec<Error>,
}

impl Count<'_> {
    /// Counts.
    ///
    /// # Errors
    ///
    /// [`Error::StoppedBefore`] or [`Error::Stopped`] after a cancellation,
    /// [`Error::QueensGiven`] or [`Error::UnknownName`] for queens that cannot be given,
    /// [`Error::OutOfRange`] and [`Error::ThreadsNotStarted`] if it starts threads,
    /// [`Error::LacksMemory`] if the engine needs more memory than there is, [`Error::UnitOverflow`]
    /// if a unit's count does not fit, [`Error::Journal`] if the journal cannot be used.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.check_queens(self.journal.is_some())?;
        self.on_its_threads(|| {
            let begun = Instant::now();
            let opened = self.journal.as_deref().map(Output::lock).transpose()?;
            let (output, record) = opened.unzip();
            let (record, threads) = (record.flatten(), rayon::current_num_threads());
            let outcome = self.finish(Shard::WHOLE, output, record.as_ref(), threads)?;
            Ok(Outcome { elapsed: begun.elapsed(), ..outcome })
        })?
    }

    /// Counts only one shard of the units, and records them for [`Record::read`]. `out` is a journal if it is a
    /// file or ends in `.journal`; otherwise it is a folder, in which every process creates its own journal.
    /// Units that journals in the folder already hold are not counted again, and the plan is taken from those
    /// journals. Without any, an engine and split rows that are not set depend on the board alone.
    /// [`Count::journal`] has no effect on shards.
    ///
    /// # Errors
    ///
    /// As [`Count::run`], and [`Error::PlansDiffer`] or [`Error::CountsDiffer`] if the journals in
    /// the folder do not belong together.
    pub fn run_shard(&self, shard: Shard, out: &Path) -> Result<Outcome, Error> {
        self.check_queens(true)?;
        let is_file = out.is_file() || out.extension().is_some_and(|name| name == "journal");
        self.on_its_threads(|| {
            let begun = Instant::now();
            let (output, record, left_out) = if is_file {
                let (output, record) = Output::lock(out)?;
                (output, record, Vec::new())
            } else {
                let cannot_create = |error| JournalError::cannot("open")(error).at(out);
                fs::create_dir_all(out).map_err(cannot_create)?;
                let (record, left_out) = read_shard(out, self.size, self.which, shard)?;
                (Output::Folder(out.to_owned()), record, left_out)
            };
            let outcome = self.finish(shard, Some(output), record.as_ref(), SHARD_THREADS)?;
            Ok(Outcome { elapsed: begun.elapsed(), left_out, ..outcome })
        })?
    }

    /// Counts the units of a shard that the record does not have. Without a record, the plan suits so many
    /// threads.
    fn finish(
        &self,
        shard: Shard,
        output: Option<Output>,
        record: Option<&Record>,
        suited: usize,
    ) -> Result<Outcome, Error> {
        let plan = match record {
            Some(record) => self.recorded_plan(record)?,
            None => Arc::new(self.plan(suited)),
        };
        let (kernel, threads) = (self.kernel_of(plan.engine()), rayon::current_num_threads());
        let units: UnitSet = shard.ranges(plan.units()).collect();
        let before = record.map_or(Ok(Tally::default()), |held| held.tally_in(&units))?;
        let todo = record.map_or(units.clone(), |held| units.difference(&held.finished));
        let is_all = shard == Shard::WHOLE && self.queens.is_empty();
        let published = known(self.size).total.filter(|_| is_all);
        let mut outcome = Outcome {
            size: self.size,
            shard,
            total: before.solutions,
            engine: plan.engine(),
            kernel,
            threads,
            units: units.len(),
            units_before: before.units,
            elapsed: Duration::ZERO,
            published: Published::Unknown,
            runs: record.into_iter().flat_map(Record::runs).cloned().collect(),
            journal: None,
            journal_fault: None,
            left_out: Vec::new(),
        };
        if !todo.is_empty() {
            plan.check_memory(threads)?;
            let run = Run::begin(kernel, threads, shard);
            let journal = output.map(|output| output.begin(&plan, record, &run)).transpose()?;
            let solutions = published.map(|total| total as f64 - before.solutions as f64);
            // What is recorded is part of the sample if a run like this one recorded it.
            let times = record.and_then(|record| record.times_of(&run)).cloned();
            let times = times.unwrap_or_else(|| Clusters::new(plan.units()));
            self.observer.started(&Start {
                plan: &plan,
                shard,
                kernel,
                threads,
                units: units.len(),
                done: before,
                cut_off: journal.as_ref().map_or(0, |journal| journal.cut_off),
                time_left: &TimeLeft::new(times, Rest { units: todo.len(), solutions }, threads),
            });
            let driver = Driver {
                plan: &plan,
                kernel,
                journal: journal.as_ref(),
                observer: self.observer,
                cancel: &self.cancel,
                begun: Instant::now(),
                stop: &AtomicBool::new(false),
            };
            let counted = driver.run(todo.ranges())?;

            outcome.total += counted.solutions;
            let is_complete = counted.units == todo.len();
            if let Some(journal) = journal {
                outcome.journal = Some(journal.path().to_owned());
                let total = is_complete.then_some(outcome.total);
                let has_failed = journal.has_failed();
                match journal.close(counted, &|| self.observer.waits_for_disk(total)) {
                    Ok(record) => outcome.runs = record.runs().cloned().collect(),
                    // A journal that failed is the reason why the count stopped.
                    Err(error) if has_failed && !is_complete => return Err(error),
                    Err(error) => outcome.journal_fault = Some(error),
                }
            }
            if !is_complete {
                let journal_fault = outcome.journal_fault.map(Box::new);
                let done = before + counted;
                return Err(Error::Stopped { done, units: units.len(), journal_fault });
            }
        }
        outcome.published = Published::compare(outcome.total, published);
        Ok(outcome)
    }
}
