//! The one way through a count or a shard: open its journal, plan, prepare, drive, close.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::driver::{Driver, Tally};
use super::observe::Start;
use super::settings::Count;
use crate::board::known::{Published, known};
use crate::board::size::BoardSize;
use crate::engine::{Engine, Kernel};
use crate::error::{Error, JournalError};
use crate::forecast::{Blocks, Rest};
use crate::plan::Plan;
use crate::record::{Journal, Locked, Record, Run, half_open, len, read_shard, units_of};
use crate::shard::Shard;

/// Shards choose their split rows as if for this many threads, so that every machine makes the same
/// choice.
const SHARD_THREADS: usize = 64;

/// A finished count, or a finished shard of one.
#[derive(Clone, Debug)]
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

    /// Counts only one shard of the units, and records them for
    /// [`Record::read`](crate::record::Record::read). `out` is a journal if it is a file or ends in `.journal`; otherwise it is a folder, in which every
    /// process creates its own journal. Units that journals in the folder already hold are not
    /// counted again, and the plan is taken from those journals. Without any, an engine and split
    /// rows that are not set depend on the board alone. [`Count::journal`] has no effect on shards.
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
pub(super) struct Job<'a> {
    count: &'a Count<'a>,
    shard: Shard,
    place: Place,
    kernel: Kernel,
    pub(super) threads: usize,
    /// How many threads the split rows should suit.
    suited: usize,
}

impl<'a> Job<'a> {
    /// All units.
    pub(super) fn whole(count: &'a Count<'a>) -> Self {
        let place = count.journal.clone().map_or(Place::Nowhere, Place::File);
        let kernel = count.kernel.unwrap_or_else(Kernel::detect);
        let threads = rayon::current_num_threads();
        Self { count, shard: Shard::WHOLE, place, kernel, threads, suited: threads }
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
        let begun = Instant::now();
        let Self { count, shard, threads, .. } = *self;
        count.check_queens(!matches!(self.place, Place::Nowhere))?;
        let Opened { locked, record, left_out } = self.open()?;
        let plan = self.plan(record.as_ref())?;
        let units = units_of(shard.ranges(plan.units()));
        let (mut todo, mut before) = (units.clone(), Tally::default());
        if let Some(record) = &record {
            let solutions = record.solutions_in(&units)?;
            todo = &units - &record.finished;
            before = Tally { units: len(&units) - len(&todo), solutions };
        }
        let mut outcome = Outcome {
            size: count.size,
            shard,
            total: before.solutions,
            engine: plan.engine(),
            kernel: self.kernel_of(&plan),
            threads,
            units: len(&units),
            units_before: before.units,
            elapsed: begun.elapsed(),
            published: Published::Unknown,
            runs: record.iter().flat_map(Record::runs).cloned().collect(),
            journal: None,
            journal_fault: None,
            left_out,
        };
        if !todo.is_empty() {
            plan.check_memory(threads)?;
            // In a folder, what others have recorded is not read back.
            let held = record.as_ref().filter(|_| locked.is_some());
            let recorded = held.map_or(Tally::default(), Tally::of);
            let cut_off = held.map_or(0, |record| record.files[0].cut_off);
            let run = Run::begin(outcome.kernel, threads, shard);
            let journal = self.begin(locked, held, &plan, &run)?;
            let is_like =
                |record: &&Record| record.runs().last().is_some_and(|last| last.is_like(&run));
            let blocks = record.as_ref().filter(is_like).map(|record| record.blocks.clone());
            let is_plain = shard == Shard::WHOLE && count.queens.is_empty();
            let total = known(count.size).total.filter(|_| is_plain);
            count.observer.started(&Start {
                plan: &plan,
                shard,
                threads,
                units: outcome.units,
                units_done: before.units,
                solutions: before.solutions,
                cut_off,
                kernel: outcome.kernel,
                blocks: &blocks.unwrap_or_else(|| Blocks::new(plan.units())),
                rest: Rest {
                    units: len(&todo),
                    solutions: total.map(|total| total as f64 - before.solutions as f64),
                },
            });
            let driver = Driver {
                plan: &plan,
                kernel: outcome.kernel,
                journal: journal.as_ref(),
                observer: count.observer,
                cancel: &count.cancel,
                begun: Instant::now(),
                stop: &AtomicBool::new(false),
            };
            let counted = driver.run(half_open(&todo));
            let has_failed = journal.as_ref().is_some_and(Journal::has_failed);
            let is_complete = counted.as_ref().is_ok_and(|now| now.units == len(&todo));
            let total = counted.as_ref().ok().filter(|_| is_complete);
            let total = total.map(|now| before.plus(*now).solutions);
            outcome.journal = journal.as_ref().map(|journal| journal.path.clone());
            let closed = journal
                .map(|journal| journal.close(&|waited| count.observer.disk_hangs(waited, total)));
            let now = counted?;
            let check = |record| check_written(record, recorded.plus(now));
            match closed.map(|closed| closed.and_then(check)) {
                None => {}
                Some(Ok(record)) => outcome.runs = record.runs().cloned().collect(),
                // A journal that failed is the reason why the count stopped.
                Some(Err(error)) if !is_complete && has_failed => return Err(error),
                Some(Err(error)) => outcome.journal_fault = Some(error),
            }
            let sum = before.plus(now);
            if !is_complete {
                return Err(Error::Stopped {
                    done: sum.units,
                    units: outcome.units,
                    solutions: sum.solutions,
                    journal_fault: outcome.journal_fault.map(Box::new),
                });
            }
            outcome.total = sum.solutions;
        }
        if shard == Shard::WHOLE && count.queens.is_empty() {
            outcome.published = Published::compare(outcome.total, known(count.size).total);
        }
        outcome.elapsed = begun.elapsed();
        Ok(outcome)
    }

    /// Locks the journal, and reads what is finished. In a folder, this is what journals hold that may
    /// have units of the shard; those of the other count are not read.
    fn open(&self) -> Result<Opened, Error> {
        match &self.place {
            Place::Nowhere => Ok(Opened::default()),
            Place::File(path) => {
                let (locked, record) = Locked::open(path)?;
                Ok(Opened { locked: Some(locked), record, left_out: Vec::new() })
            }
            Place::Folder(path) => {
                let Count { size, which, .. } = *self.count;
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

    /// The plan of the record, if it is the one that is asked for; without a record, the one that suits.
    pub(super) fn plan(&self, record: Option<&Record>) -> Result<Arc<Plan>, Error> {
        let asked = self.count.plan(record.map(|record| &*record.plan), self.suited);
        let Some(record) = record else { return Ok(Arc::new(asked)) };
        let path = record.files.first().map_or(Path::new(""), |file| &file.path);
        check_same(&asked, &record.plan).map_err(|error| error.at(path))?;
        Ok(Arc::clone(&record.plan))
    }

    /// Begins the journal that this process writes, if there is to be one.
    fn begin(
        &self,
        locked: Option<Locked>,
        held: Option<&Record>,
        plan: &Arc<Plan>,
        run: &Run,
    ) -> Result<Option<Journal>, Error> {
        match (locked, &self.place) {
            (Some(locked), _) => locked.begin(held, plan, run).map(Some),
            (None, Place::Folder(folder)) => Journal::create_in(folder, plan, run).map(Some),
            (None, _) => Ok(None),
        }
    }

    /// The kernel that an engine uses.
    pub(super) fn kernel_of(&self, plan: &Plan) -> Kernel {
        if plan.engine().has_kernels() { self.kernel } else { Kernel::Portable }
    }
}

/// Makes sure that a recorded plan is the one that is asked for.
fn check_same(asked: &Plan, held: &Plan) -> Result<(), JournalError> {
    let fields = |plan: &Plan| {
        [
            format!("n = {}", plan.size()),
            format!("engine = {}", plan.engine()),
            format!("split rows = {}", plan.split_rows().unwrap_or(0)),
            format!("count = {}", plan.which_count()),
        ]
    };
    let differing = fields(held).into_iter().zip(fields(asked)).find(|(held, asked)| held != asked);
    differing.map_or(Ok(()), |(holds, asked)| Err(JournalError::OtherCount { holds, asked }))
}

/// Makes sure that a journal, read back, holds what was counted.
fn check_written(record: Record, expected: Tally) -> Result<Record, Error> {
    if Tally::of(&record) == expected {
        return Ok(record);
    }
    let what = "units are missing or have different counts".to_owned();
    Err(JournalError::NotAsWritten { what }.at(&record.files[0].path))
}
