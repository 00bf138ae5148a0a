//! The one way through a count or a shard: open its journal, plan, check the memory, drive, close.

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
use crate::error::Error;
use crate::forecast::{Clusters, Rest, TimeLeft};
use crate::plan::Plan;
use crate::record::{Journal, Output, Record, Run, UnitSet, read_shard};
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
    /// [`Error::OutOfRange`] for a board that the engine does not count, [`Error::EntryOverflow`],
    /// [`Error::LacksMemory`] if the engine needs more memory than there is, [`Error::UnitOverflow`]
    /// if a unit's count does not fit, [`Error::Journal`] if the journal cannot be used.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.on_its_threads(|| {
            let begun = Instant::now();
            let outcome = Job::whole(self)?.run()?;
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
        self.on_its_threads(|| {
            let begun = Instant::now();
            let outcome = Job::of_shard(self, shard, out)?.run()?;
            Ok(Outcome { elapsed: begun.elapsed(), ..outcome })
        })?
    }
}

/// The units to count, what is finished of them, and where to record the rest.
struct Job<'a> {
    count: &'a Count<'a>,
    shard: Shard,
    output: Option<Output>,
    record: Option<Record>,
    /// Why lines and journals of a folder were left out.
    left_out: Vec<Error>,
    /// How many threads the split rows should suit.
    suited: usize,
}

impl<'a> Job<'a> {
    /// Opens the journal of a whole count, if it is to have one.
    fn whole(count: &'a Count<'a>) -> Result<Self, Error> {
        count.check(count.journal.is_some())?;
        let opened = count.journal.as_deref().map(Output::lock).transpose()?;
        let (output, record) = opened.unzip();
        let (record, left_out) = (record.flatten(), Vec::new());
        let suited = rayon::current_num_threads();
        Ok(Self { count, shard: Shard::WHOLE, output, record, left_out, suited })
    }

    /// Opens the journal of a shard, or reads its folder.
    fn of_shard(count: &'a Count<'a>, shard: Shard, out: &Path) -> Result<Self, Error> {
        count.check(true)?;
        let is_file = out.is_file() || out.extension().is_some_and(|name| name == "journal");
        let (output, record, left_out) = if is_file {
            let (output, record) = Output::lock(out)?;
            (output, record, Vec::new())
        } else {
            // A folder that is missing is made when the count begins.
            let (record, left_out) = match out.is_dir() {
                true => read_shard(out, count.size, count.which, shard)?,
                false => (None, Vec::new()),
            };
            (Output::Folder(out.to_owned()), record, left_out)
        };
        Ok(Self { count, shard, output: Some(output), record, left_out, suited: SHARD_THREADS })
    }

    /// Plans, checks the memory, drives and closes. The time is left to the caller, who has opened it.
    fn run(mut self) -> Result<Outcome, Error> {
        let (count, shard, threads) = (self.count, self.shard, rayon::current_num_threads());
        let (output, record) = (self.output.take(), self.record.as_ref());
        let plan = match record {
            Some(record) => count.recorded_plan(record)?,
            None => Arc::new(count.plan(self.suited)),
        };
        let units: UnitSet = shard.ranges(plan.units()).collect();
        let before = record.map_or(Ok(Tally::default()), |held| held.tally_in(&units))?;
        let todo = record.map_or(units.clone(), |held| units.difference(held.finished()));
        let run = Run::begin(count.kernel_of(plan.engine()), threads, shard);
        let start = Start {
            plan: &plan,
            shard,
            kernel: count.kernel_of(plan.engine()),
            threads,
            units: units.len(),
            done: before,
            cut_off: output.as_ref().map_or(0, |output| output.cut_off(record)),
            left_out: &self.left_out,
            time_left: &self.time_left(&plan, &run, before, &todo),
        };
        let runs = record.into_iter().flat_map(Record::runs).cloned().collect();
        let mut closed = Closed { done: before, runs, journal: None, fault: None };
        if todo.is_empty() {
            count.observer.started(&start);
        } else {
            plan.check_memory(threads)?;
            let journal = output.map(|output| output.begin(&plan, record, &run)).transpose()?;
            let counted = self.drive(&start, &todo, journal.as_ref())?;
            self.close(&start, counted, journal, &mut closed)?;
        }
        Ok(self.outcome(&start, closed))
    }

    /// The forecast of a count that begins: what is recorded is part of the sample.
    fn time_left(&self, plan: &Plan, run: &Run, before: Tally, todo: &UnitSet) -> TimeLeft {
        let recorded = self.record.as_ref().map(|record| record.clusters(Some(run)));
        let total = self.published_total();
        let solutions = total.map(|total| total as f64 - before.solutions as f64);
        let recorded = recorded.unwrap_or_else(|| Clusters::new(plan.units()));
        let rest = Rest { units: todo.len(), solutions };
        TimeLeft::new(recorded, rest, rayon::current_num_threads())
    }

    /// Counts on all threads.
    fn drive(
        &self,
        start: &Start<'_>,
        todo: &UnitSet,
        journal: Option<&Journal>,
    ) -> Result<Tally, Error> {
        let Count { observer, cancel, .. } = self.count;
        observer.started(start);
        let driver = Driver {
            plan: start.plan,
            kernel: start.kernel,
            journal,
            observer: *observer,
            cancel,
            begun: Instant::now(),
            stop: &AtomicBool::new(false),
        };
        driver.run(todo.ranges())
    }

    /// Waits until the disk has everything, reads it back, and compares it with what was counted.
    fn close(
        &self,
        start: &Start<'_>,
        counted: Tally,
        journal: Option<Journal>,
        closed: &mut Closed,
    ) -> Result<(), Error> {
        let done = start.done + counted;
        let is_complete = done.units == start.units;
        closed.done = done;
        if let Some(journal) = journal {
            let total = is_complete.then_some(done.solutions);
            let has_failed = journal.has_failed();
            closed.journal = Some(journal.path().to_owned());
            match journal.close(counted, &|| self.count.observer.waits_for_disk(total)) {
                Ok(record) => closed.runs = record.runs().cloned().collect(),
                // A journal that failed is the reason why the count stopped.
                Err(error) if has_failed && !is_complete => return Err(error),
                Err(error) => closed.fault = Some(error),
            }
        }
        if is_complete {
            return Ok(());
        }
        let journal_fault = closed.fault.take().map(Box::new);
        Err(Error::Stopped { done, units: start.units, journal_fault })
    }

    fn outcome(&self, start: &Start<'_>, closed: Closed) -> Outcome {
        Outcome {
            size: self.count.size,
            shard: self.shard,
            total: closed.done.solutions,
            engine: start.plan.engine(),
            kernel: start.kernel,
            threads: start.threads,
            units: start.units,
            units_before: start.done.units,
            elapsed: Duration::ZERO,
            published: Published::compare(closed.done.solutions, self.published_total()),
            runs: closed.runs,
            journal: closed.journal,
            journal_fault: closed.fault,
            left_out: self.left_out.clone(),
        }
    }

    /// The published total, if all solutions are counted.
    fn published_total(&self) -> Option<u128> {
        let is_all = self.shard == Shard::WHOLE && self.count.queens.is_empty();
        known(self.count.size).total.filter(|_| is_all)
    }
}

/// How a count has ended.
struct Closed {
    done: Tally,
    runs: Vec<Run>,
    journal: Option<PathBuf>,
    fault: Option<Error>,
}
