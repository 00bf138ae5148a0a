//! The one way through a count, a shard or an estimate: open the journal, plan, check the memory, count, close the
//! journal.

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

/// The result of a finished count, or of a finished shard of one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The size of the board.
    pub size: BoardSize,
    /// The shard: [`Shard::WHOLE`] for a whole count.
    pub shard: Shard,
    /// The number of solutions in the finished units, each count times the weight of its unit. For a whole count,
    /// this is Q(n).
    pub total: u128,
    /// The number of finished units. It is less than `units` only in the sample of an [estimate](crate::Estimate).
    pub units_done: usize,
    /// The engine that counted.
    pub engine: Engine,
    /// The kernel that counted: [`Kernel::Portable`] for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// The number of units in the whole count or in the shard.
    pub units: usize,
    /// The number of units that journals already held when the count began.
    pub units_before: usize,
    /// The wall time without the start of the threads. Reading journals and waiting for the disk are part of it.
    pub elapsed: Duration,
    /// How the total compares with the published one: [`Published::Unknown`] for shards, samples and counts with
    /// fixed queens.
    pub published: Published,
    /// The processes that worked on the journal, as read back from it.
    pub runs: Vec<Run>,
    /// The journal that was written. `None` if there is no journal, or nothing was left to count.
    pub journal: Option<PathBuf>,
    /// The reason why the journal cannot be relied on, although all units are counted and the total is right.
    pub journal_fault: Option<Error>,
    /// The reasons why lines and journals of a folder were left out. Their units were counted again.
    pub left_out: Vec<Error>,
}

impl Count<'_> {
    /// Counts all units of the board.
    ///
    /// # Errors
    ///
    /// * [`Error::Stopped`] or [`Error::StoppedBefore`] after a cancellation.
    /// * [`Error::InvalidValue`] for a board that the engine does not count, a number of threads out of range, or a
    ///   fixed queen that is not on the board.
    /// * [`Error::QueensGiven`] for fixed queens with another engine than `subtrees`, or with a journal.
    /// * [`Error::ThreadsNotStarted`] if threads cannot be started.
    /// * [`Error::LacksMemory`] if the engine needs more memory than there is.
    /// * [`Error::Journal`] if the journal cannot be used, and [`Error::CountsDiffer`] if it holds a unit with two
    ///   different counts.
    /// * [`Error::UnitOverflow`] or [`Error::EntryOverflow`] if a number does not fit.
    ///
    /// # Panics
    ///
    /// Without [`Count::threads`], outside of a pool, if rayon cannot start its global pool.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.on_its_threads(|| Job::whole(self)?.run())??.complete()
    }

    /// Counts the units of one shard, and records them for [`Record::read`].
    ///
    /// `out` is a journal if it is a file, or if its name ends in `.journal`. Otherwise it is a folder, in which
    /// every process creates a journal of its own. The folder is created if it is missing, but its parents are not.
    /// Units that the journals of the folder already hold are not counted again, and these journals set the engine
    /// and the split rows. Without journals, an engine and split rows that are not set depend on the board alone, so
    /// all shards have one plan. [`Count::journal`] has no effect on shards.
    ///
    /// # Errors
    ///
    /// The errors of [`Count::run`], with [`Error::QueensGiven`] for any fixed queens, and [`Error::PlansDiffer`] if
    /// the journals in the folder do not belong together.
    pub fn run_shard(&self, shard: Shard, out: &Path) -> Result<Outcome, Error> {
        self.on_its_threads(|| Job::of_shard(self, shard, out)?.run())??.complete()
    }
}

impl Outcome {
    /// Returns the outcome if all units are finished, else [`Error::Stopped`].
    fn complete(self) -> Result<Self, Error> {
        let Self { units_done, units, total: solutions, .. } = self;
        if units_done == units {
            return Ok(self);
        }
        let done = Tally { units: units_done, solutions };
        Err(Error::Stopped { done, units })
    }
}

/// A count that is about to run: its units, what is finished of them, and where to record the rest.
pub(super) struct Job<'a> {
    count: &'a Count<'a>,
    begun: Instant,
    shard: Shard,
    /// Stops all threads before their next unit.
    pub(super) stop: Cancel,
    /// The lock on the journal, if the user named a file.
    lock: Option<Lock>,
    /// The folder in which to create a journal, if the user named a folder.
    folder: Option<&'a Path>,
    record: Option<Record>,
    /// The reasons why lines and journals of a folder were left out.
    left_out: Vec<Error>,
}

impl<'a> Job<'a> {
    /// Makes a job without a journal.
    pub(super) fn new(count: &'a Count<'a>, shard: Shard) -> Self {
        let (begun, stop, left_out) = (Instant::now(), Cancel::new(), Vec::new());
        Self { count, begun, shard, stop, lock: None, folder: None, record: None, left_out }
    }

    /// Makes the job of a whole count: opens its journal, if it has one.
    fn whole(count: &'a Count<'a>) -> Result<Self, Error> {
        count.check(count.journal.is_some())?;
        let job = Self::new(count, Shard::WHOLE);
        match &count.journal {
            Some(path) => job.open(path),
            None => Ok(job),
        }
    }

    /// Makes the job of a shard: opens its journal, or reads its folder.
    fn of_shard(count: &'a Count<'a>, shard: Shard, out: &'a Path) -> Result<Self, Error> {
        count.check(true)?;
        let job = Self::new(count, shard);
        if out.is_file() || out.extension().is_some_and(|name| name == "journal") {
            return job.open(out);
        }
        // A missing folder is created when the count begins.
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

    /// Makes the plan, checks the memory, counts the units and closes the journal.
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
        let kernel = count.kernel_of(plan.engine());
        let run = Run::begin(kernel, threads, shard);
        let start = Start {
            plan: &plan,
            shard,
            kernel,
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

    /// Makes the forecast of a count that begins. Runs in the journal with the same kernel, CPU and number of threads
    /// are part of the sample.
    fn time_left(&self, plan: &Plan, run: &Run, before: Tally, todo: &UnitSet) -> TimeLeft {
        let of_alike = |record: &Record| record.clusters(|other| run.is_like(other));
        let recorded = self.record.as_ref().map(of_alike);
        let total = self.published_total();
        let solutions = total.map(|total| total as f64 - before.solutions as f64);
        let recorded = recorded.unwrap_or_else(|| Clusters::new(plan.units()));
        let rest = Rest { units: todo.len(), solutions };
        TimeLeft::new(recorded, rest, run.threads.min(cores()))
    }

    /// Waits until the disk has the whole journal, reads it back and compares it with what was counted.
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
                // A fault of the journal may be the reason why the count stopped. Then the same command would not
                // resume it.
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
            published: Published::compare(
                done.solutions,
                self.published_total().filter(|_| is_complete),
            ),
            runs: record.into_iter().flat_map(Record::runs).cloned().collect(),
            journal: path,
            journal_fault,
            left_out: self.left_out.clone(),
        })
    }

    /// Returns the published total, if this counts all solutions of the board.
    fn published_total(&self) -> Option<u128> {
        let is_all = self.shard == Shard::WHOLE && self.count.queens.is_empty();
        known(self.count.size).total.filter(|_| is_all)
    }
}
