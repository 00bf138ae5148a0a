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
use crate::error::{Error, JournalError};
use crate::forecast::{Clusters, Rest, TimeLeft};
use crate::plan::Plan;
use crate::record::{Journal, Locked, Record, Run, UnitSet, read_shard};
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
    /// [`Error::QueensGiven`] or [`Error::SquareOffBoard`] for queens that cannot be given,
    /// [`Error::OutOfRange`] and
    /// [`Error::ThreadsNotStarted`] if it starts threads, [`Error::LacksMemory`] if the engine
    /// needs more memory than there is, [`Error::UnitOverflow`] if a unit's count does not fit,
    /// [`Error::Journal`] if the journal cannot be used.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.on_its_threads(|| Job::whole(self).run())?
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
        self.on_its_threads(|| Job::of_shard(self, shard, out)?.run())?
    }
}

/// Where finished units are recorded.
enum Place {
    Nowhere,
    /// One journal.
    File(PathBuf),
    /// A folder shared by many processes, each with its own journal.
    Folder(PathBuf),
}

/// What is finished before a count begins.
#[derive(Default)]
struct Opened {
    /// The journal to write, if it is a file.
    locked: Option<Locked>,
    record: Option<Record>,
    /// Why lines and journals of a folder were left out.
    left_out: Vec<Error>,
}

/// The units to count, and where to record them.
struct Job<'a> {
    count: &'a Count<'a>,
    shard: Shard,
    place: Place,
    threads: usize,
    /// How many threads the split rows should suit.
    suited: usize,
}

impl<'a> Job<'a> {
    /// All units.
    fn whole(count: &'a Count<'a>) -> Self {
        let place = count.journal.clone().map_or(Place::Nowhere, Place::File);
        let threads = rayon::current_num_threads();
        Self { count, shard: Shard::WHOLE, place, threads, suited: threads }
    }

    /// The units of a shard, recorded in a journal or in a folder, which is created if it is missing.
    fn of_shard(count: &'a Count<'a>, shard: Shard, out: &Path) -> Result<Self, Error> {
        let is_file = out.is_file() || out.extension().is_some_and(|name| name == "journal");
        let place = if is_file {
            Place::File(out.to_owned())
        } else {
            std::fs::create_dir_all(out)
                .map_err(|error| JournalError::cannot_open(error).at(out))?;
            Place::Folder(out.to_owned())
        };
        Ok(Self { shard, place, suited: SHARD_THREADS, ..Self::whole(count) })
    }

    fn run(&self) -> Result<Outcome, Error> {
        let (begun, threads) = (Instant::now(), self.threads);
        let Opened { locked, record, left_out } = self.open()?;
        let plan = self.plan(record.as_ref())?;
        let units: UnitSet = self.shard.ranges(plan.units()).collect();
        let before = record.as_ref().map_or(Ok(Tally::default()), |held| held.tally_in(&units))?;
        let todo = record.as_ref().map_or(units.clone(), |held| &units - held.finished());
        let run = Run::begin(self.count.kernel_of(plan.engine()), threads, self.shard);
        let start = Start {
            plan: &plan,
            shard: self.shard,
            kernel: self.count.kernel_of(plan.engine()),
            threads,
            units: units.len(),
            done: before,
            cut_off: locked.as_ref().map_or(0, Locked::cut_off),
            time_left: &self.time_left(&plan, record.as_ref(), &run, before, &todo),
        };
        let runs = record.iter().flat_map(Record::runs).cloned().collect();
        let mut closed = Closed { done: before, runs, journal: None, fault: None };
        if !todo.is_empty() {
            plan.check_memory(threads)?;
            let journal = self.begin(locked, &plan, &run)?;
            let counted = self.drive(&start, &todo, journal.as_ref())?;
            self.close(&start, counted, journal, &mut closed)?;
        }
        Ok(self.outcome(&start, closed, left_out, begun.elapsed()))
    }

    /// Locks the journal, and reads what is finished. In a folder, this is what journals hold that may
    /// have units of the shard; those of the other count are not read.
    fn open(&self) -> Result<Opened, Error> {
        let Count { size, which, .. } = *self.count;
        self.count.check_queens(!matches!(self.place, Place::Nowhere))?;
        match &self.place {
            Place::Nowhere => Ok(Opened::default()),
            Place::File(path) => {
                let (locked, record) = Locked::open(path)?;
                Ok(Opened { locked: Some(locked), record, left_out: Vec::new() })
            }
            Place::Folder(path) => {
                let (record, left_out) = read_shard(path, size, which, self.shard)?;
                // A machine made errors. Whatever this one counts, it would not be settled.
                let differ = |error: &&Error| matches!(error, Error::CountsDiffer { .. });
                match left_out.iter().find(differ) {
                    Some(error) => Err(error.clone()),
                    None => Ok(Opened { locked: None, record, left_out }),
                }
            }
        }
    }

    /// The plan of the record, if it is one that is asked for; without a record, the one that suits.
    fn plan(&self, record: Option<&Record>) -> Result<Arc<Plan>, Error> {
        let Some(record) = record else { return Ok(Arc::new(self.count.plan(self.suited))) };
        let path = record.files().first().map_or(Path::new(""), |file| &file.path);
        self.count.check_plan(record.plan()).map_err(|error| error.at(path))?;
        Ok(Arc::clone(record.plan()))
    }

    /// Begins the journal that this process writes, if there is to be one.
    fn begin(
        &self,
        locked: Option<Locked>,
        plan: &Arc<Plan>,
        run: &Run,
    ) -> Result<Option<Journal>, Error> {
        match (locked, &self.place) {
            (Some(locked), _) => locked.begin(plan, run).map(Some),
            (None, Place::Folder(folder)) => Journal::create_in(folder, plan, run).map(Some),
            (None, _) => Ok(None),
        }
    }

    /// The forecast of a count that begins: what is recorded is part of the sample if a run like this one
    /// recorded it.
    fn time_left(
        &self,
        plan: &Plan,
        record: Option<&Record>,
        run: &Run,
        before: Tally,
        todo: &UnitSet,
    ) -> TimeLeft {
        let recorded = record.and_then(|record| record.times_of(run)).cloned();
        let total = self.published_total();
        let rest = Rest {
            units: todo.len(),
            solutions: total.map(|total| total as f64 - before.solutions as f64),
        };
        let recorded = recorded.unwrap_or_else(|| Clusters::new(plan.units()));
        TimeLeft::new(recorded, rest, self.threads)
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
        let total = is_complete.then_some(done.solutions);
        closed.done = done;
        if let Some(journal) = journal {
            let has_failed = journal.has_failed();
            closed.journal = Some(journal.path.clone());
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

    fn outcome(
        &self,
        start: &Start<'_>,
        closed: Closed,
        left_out: Vec<Error>,
        elapsed: Duration,
    ) -> Outcome {
        Outcome {
            size: self.count.size,
            shard: self.shard,
            total: closed.done.solutions,
            engine: start.plan.engine(),
            kernel: start.kernel,
            threads: self.threads,
            units: start.units,
            units_before: start.done.units,
            elapsed,
            published: Published::compare(closed.done.solutions, self.published_total()),
            runs: closed.runs,
            journal: closed.journal,
            journal_fault: closed.fault,
            left_out,
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
