//! The one way through a count, a shard or an estimate: open the journal, plan, check the memory, drive, close.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::observe::Start;
use super::settings::Count;
use crate::board::known::{Published, known};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::done::Tally;
use crate::engine::{Engine, Kernel};
use crate::error::Error;
use crate::forecast::{Clusters, Rest, TimeLeft};
use crate::machine::cores;
use crate::plan::Plan;
use crate::record::{Journal, Lock, Record, Run, UnitSet, read_shard};
use crate::shard::Shard;

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
    /// How many units are finished: all, unless the count was stopped. Only samples of
    /// [estimates](crate::Estimate) are.
    pub units_done: usize,
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
    /// [`Error::QueensGiven`] or [`Error::InvalidValue`] for queens that cannot be given,
    /// [`Error::InvalidValue`] and [`Error::ThreadsNotStarted`] if it starts threads,
    /// [`Error::InvalidValue`] for a board that the engine does not count, [`Error::EntryOverflow`],
    /// [`Error::LacksMemory`] if the engine needs more memory than there is, [`Error::UnitOverflow`]
    /// if a unit's count does not fit, [`Error::Journal`] if the journal cannot be used.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.on_its_threads(|| Job::whole(self)?.run())??.complete()
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
        self.on_its_threads(|| Job::of_shard(self, shard, out)?.run())??.complete()
    }
}

impl Outcome {
    /// Returns the outcome of a count that was not stopped.
    fn complete(self) -> Result<Self, Error> {
        let Self { units_done, units, total: solutions, .. } = self;
        if units_done == units {
            return Ok(self);
        }
        let done = Tally { units: units_done, solutions };
        Err(Error::Stopped { done, units })
    }
}

/// The units to count, what is finished of them, and where to record the rest.
pub(super) struct Job<'a> {
    count: &'a Count<'a>,
    begun: Instant,
    shard: Shard,
    /// Stops the count between two units.
    pub(super) stop: Cancel,
    /// The lock on the journal to write, if it has a name.
    lock: Option<Lock>,
    /// The folder to create the journal in, if it has none.
    folder: Option<&'a Path>,
    record: Option<Record>,
    /// Why lines and journals of a folder were left out.
    left_out: Vec<Error>,
}

impl<'a> Job<'a> {
    /// A count without a journal.
    pub(super) fn new(count: &'a Count<'a>, shard: Shard) -> Self {
        let (begun, stop, left_out) = (Instant::now(), Cancel::new(), Vec::new());
        Self { count, begun, shard, stop, lock: None, folder: None, record: None, left_out }
    }

    /// Opens the journal of a whole count, if it is to have one.
    fn whole(count: &'a Count<'a>) -> Result<Self, Error> {
        count.check(count.journal.is_some())?;
        let job = Self::new(count, Shard::WHOLE);
        match &count.journal {
            Some(path) => job.open(path),
            None => Ok(job),
        }
    }

    /// Opens the journal of a shard, or reads its folder.
    fn of_shard(count: &'a Count<'a>, shard: Shard, out: &'a Path) -> Result<Self, Error> {
        count.check(true)?;
        let job = Self::new(count, shard);
        if out.is_file() || out.extension().is_some_and(|name| name == "journal") {
            return job.open(out);
        }
        // A folder that is missing is made when the count begins.
        let (record, left_out) = match out.is_dir() {
            true => read_shard(out, count.size, count.which, shard)?,
            false => (None, Vec::new()),
        };
        Ok(Self { folder: Some(out), record, left_out, ..job })
    }

    /// Locks and reads a journal.
    fn open(self, path: &Path) -> Result<Self, Error> {
        let (lock, record) = Lock::read(path)?;
        Ok(Self { lock: Some(lock), record, ..self })
    }

    /// Plans, checks the memory, drives and closes.
    pub(super) fn run(mut self) -> Result<Outcome, Error> {
        let (count, shard, threads) = (self.count, self.shard, rayon::current_num_threads());
        let (lock, record) = (self.lock.take(), self.record.as_ref());
        let plan = match record {
            Some(record) => count.recorded_plan(record)?,
            None => Arc::new(count.plan()),
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
            cut_off: lock.as_ref().and(record).map_or(0, |record| record.files()[0].cut_off),
            left_out: &self.left_out,
            time_left: &self.time_left(&plan, &run, before, &todo),
        };
        let mut journal = None;
        if !todo.is_empty() {
            plan.check_memory(threads)?;
            let new =
                self.folder.map(|folder| Lock::create_in(folder, &plan, shard)).transpose()?;
            let begin = |lock| Journal::begin(lock, &plan, record, &run);
            journal = new.or(lock).map(begin).transpose()?;
        }
        count.observer.started(&start);
        let (begun, stop) = (Instant::now(), self.stop.clone());
        let driver = Driver { count, start: &start, journal: journal.as_ref(), begun, stop };
        let counted = driver.run(&todo)?;
        self.close(&start, counted, journal)
    }

    /// The forecast of a count that begins: what runs like it have recorded is part of the sample.
    fn time_left(&self, plan: &Plan, run: &Run, before: Tally, todo: &UnitSet) -> TimeLeft {
        let of_alike = |record: &Record| record.clusters(|other| run.is_like(other));
        let recorded = self.record.as_ref().map(of_alike);
        let total = self.published_total();
        let solutions = total.map(|total| total as f64 - before.solutions as f64);
        let recorded = recorded.unwrap_or_else(|| Clusters::new(plan.units()));
        let rest = Rest { units: todo.len(), solutions };
        TimeLeft::new(recorded, rest, run.threads.min(cores()))
    }

    /// Waits until the disk has everything, reads it back, and compares it with what was counted.
    fn close(
        &self,
        start: &Start<'_>,
        counted: Tally,
        journal: Option<Journal>,
    ) -> Result<Outcome, Error> {
        let done = start.done + counted;
        let is_complete = done.units == start.units;
        let path = journal.as_ref().map(|journal| journal.path().to_owned());
        let waits = || self.count.observer.waits_for_disk(is_complete.then_some(done.solutions));
        let (read_back, journal_fault) =
            match journal.map(|journal| journal.close(counted, &waits)).transpose() {
                Ok(record) => (record, None),
                // It may be the reason why the count stopped, and the same command would not resume it.
                Err(error) if !is_complete => return Err(error),
                Err(error) => (None, Some(error)),
            };
        let record = read_back.as_ref().or(self.record.as_ref());
        Ok(Outcome {
            size: self.count.size,
            shard: self.shard,
            total: done.solutions,
            units_done: done.units,
            engine: start.plan.engine(),
            kernel: start.kernel,
            threads: start.threads,
            units: start.units,
            units_before: start.done.units,
            elapsed: self.begun.elapsed(),
            published: Published::compare(done.solutions, self.published_total()),
            runs: record.into_iter().flat_map(Record::runs).cloned().collect(),
            journal: path,
            journal_fault,
            left_out: self.left_out.clone(),
        })
    }

    /// The published total, if all solutions are counted.
    fn published_total(&self) -> Option<u128> {
        let is_all = self.shard == Shard::WHOLE && self.count.queens.is_empty();
        known(self.count.size).total.filter(|_| is_all)
    }
}
