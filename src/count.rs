//! [`Count`], the settings of a count and the ways to run it, and [`Outcome`], its results.

mod driver;
mod job;
mod ranges;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::board::known::Published;
use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel, MemoryUse, Pass, Resources, SplitRows};
use crate::error::Error;
use crate::forecast::{Effort, Estimate, estimate};
use crate::machine::memory;
use crate::machine::threads::thread_pool;
use crate::observe::Observer;
use crate::plan::Plan;
use crate::record::Run;
use crate::shard::Shard;
#[cfg(test)]
pub(crate) use driver::REPORT_EVERY;
use job::Job;
pub(crate) use ranges::range_length;
#[cfg(test)]
pub(crate) use ranges::{Ranges, Turn};

/// The number of ways to place `n` queens on an `n` x `n` board so that none attacks another:
/// Q(n), [A000170](https://oeis.org/A000170), with Q(0) = 1. Uses the current rayon pool.
///
/// # Errors
///
/// [`Error::SizeOutOfRange`] for `n` above 32.
///
/// ```
/// assert_eq!(nqueens::count(8)?, 92);
/// # Ok::<(), nqueens::Error>(())
/// ```
pub fn count(n: u32) -> Result<u128, Error> {
    Count::new(BoardSize::new(n)?).run().map(|outcome| outcome.total)
}

/// A count with its settings.
///
/// ```
/// use nqueens::{BoardSize, Count, Engine, Published};
///
/// let outcome = Count::new(BoardSize::new(12)?).engine(Engine::Subtrees).threads(2).run()?;
/// assert_eq!(outcome.total, 14_200);
/// assert_eq!(outcome.published, Published::Agrees);
/// # Ok::<(), nqueens::Error>(())
/// ```
///
/// A cancelled count reports how far it got, or that it had not begun:
///
/// ```
/// use nqueens::{BoardSize, Cancel, Count, Error};
///
/// let cancel = Cancel::new();
/// cancel.cancel(); // usually from another thread
/// let stopped = Count::new(BoardSize::new(20)?).cancel(&cancel).run();
/// assert_eq!(stopped.err(), Some(Error::PreparationStopped));
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a count does nothing until it is run"]
pub struct Count<'a> {
    size: BoardSize,
    engine: Option<Engine>,
    kernel: Option<Kernel>,
    split_rows: Option<SplitRows>,
    pass: Pass,
    memory: Option<u64>,
    threads: Option<usize>,
    pool: Option<&'a rayon::ThreadPool>,
    queens: FixedQueens,
    journal: Option<PathBuf>,
    observer: &'a dyn Observer,
    cancel: Cancel,
}

impl<'a> Count<'a> {
    /// A count of this board with the fastest engine and kernel on the current rayon pool.
    pub fn new(size: BoardSize) -> Self {
        Self {
            size,
            engine: None,
            kernel: None,
            split_rows: None,
            pass: Pass::First,
            memory: None,
            threads: None,
            pool: None,
            queens: FixedQueens::default(),
            journal: None,
            observer: &(),
            cancel: Cancel::new(),
        }
    }

    /// Counts with this engine.
    pub fn engine(self, engine: Engine) -> Self {
        Self { engine: Some(engine), ..self }
    }

    /// Counts with this kernel, if the engine has kernels.
    pub fn kernel(self, kernel: Kernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// Splits off this many rows, if the engine is [`Engine::Subtrees`].
    pub fn split_rows(self, split_rows: SplitRows) -> Self {
        Self { split_rows: Some(split_rows), ..self }
    }

    /// Counts the units for the first or the second time. A journal holds one of the two counts, and a
    /// shard reads only the journals of its own.
    pub fn pass(self, pass: Pass) -> Self {
        Self { pass, ..self }
    }

    /// Counts only the *completions*, the solutions that contain these queens, with
    /// [`Engine::Subtrees`]. They have no published value, and no journal or shard can hold them.
    pub fn with_queens(self, queens: FixedQueens) -> Self {
        Self { queens, ..self }
    }

    /// Uses at most this many bytes; the default is [`memory::default_budget`]. The module
    /// [`memory`] explains what the budget covers.
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Starts this many threads for the count, 1 to [`MAX_THREADS`](crate::MAX_THREADS).
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), pool: None, ..self }
    }

    /// Counts on this pool.
    pub fn pool(self, pool: &'a rayon::ThreadPool) -> Self {
        Self { threads: None, pool: Some(pool), ..self }
    }

    /// Records finished units in this file. Units that it already holds are not counted again. The
    /// engine and the split rows are then those of the file, and setting others is an error. See
    /// [`record`](crate::record).
    pub fn journal(self, path: impl AsRef<Path>) -> Self {
        Self { journal: Some(path.as_ref().to_owned()), ..self }
    }

    /// Reports to this observer.
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Stops when this is cancelled.
    pub fn cancel(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Counts.
    ///
    /// # Errors
    ///
    /// [`Error::PreparationStopped`] or [`Error::Stopped`] after a cancellation,
    /// [`Error::QueensGiven`] or [`Error::SquareOffBoard`] for queens that cannot be given,
    /// [`Error::ThreadsOutOfRange`] and
    /// [`Error::ThreadsNotStarted`] if it starts threads, [`Error::MemoryBudget`] if the engine
    /// needs more memory, [`Error::UnitOverflow`] if a unit's count does not fit,
    /// [`Error::NoSecondCount`] if the engine has no second count, [`Error::Journal`] if the journal
    /// cannot be used.
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

    /// Estimates the time and the result of [`Count::run`] from a random sample of the units.
    ///
    /// # Errors
    ///
    /// As [`Count::run`], but [`Error::SampleStopped`] after a cancellation before the sample was large
    /// enough; a larger one is used as it is.
    pub fn estimate(&self, effort: Effort) -> Result<Estimate, Error> {
        self.check_queens(true)?;
        self.on_its_threads(|| {
            let machine = self.machine();
            let plan = self.plan(None, machine.kernel, machine.threads);
            let resources = Job::whole(self).within_budget(&plan)?;
            let begun = Instant::now();
            let prepared = plan.prepare(&resources, &self.cancel)?;
            let kernel = machine.kernel_of(plan.engine());
            let observer = self.observer;
            estimate((&plan, kernel), &prepared, begun.elapsed(), effort, observer, &self.cancel)
        })?
    }

    fn on_its_threads<T: Send>(&self, count: impl FnOnce() -> T + Send) -> Result<T, Error> {
        Ok(match (self.threads, self.pool) {
            (Some(threads), _) => thread_pool(threads)?.install(count),
            (None, Some(pool)) => pool.install(count),
            (None, None) => count(),
        })
    }

    /// The resources that the count may use.
    fn machine(&self) -> Resources {
        Resources {
            kernel: self.kernel.unwrap_or_else(Kernel::detect),
            threads: rayon::current_num_threads(),
            memory: self.memory.unwrap_or_else(memory::default_budget),
        }
    }

    /// The plan that is asked for. Settings that are missing come from the plan of a journal;
    /// without one, they suit this kernel and this number of threads.
    fn plan(&self, held: Option<&Plan>, kernel: Kernel, threads: usize) -> Plan {
        let split_rows = self.split_rows.or(held.and_then(Plan::split_rows));
        let split_rows = split_rows.unwrap_or_else(|| SplitRows::suited_to(self.size, threads));
        let engine = self.engine.or(held.map(Plan::engine));
        let engine = engine.unwrap_or_else(|| match self.queens.is_empty() {
            true => Engine::auto(self.size, kernel),
            false => Engine::Subtrees,
        });
        let plan = Plan::new(self.size, engine, Some(split_rows)).in_pass(self.pass);
        if self.queens.is_empty() { plan } else { plan.with_queens(self.queens.clone()) }
    }

    /// Given queens work only with engine `subtrees`, and without a journal.
    fn check_queens(&self, has_journal: bool) -> Result<(), Error> {
        let other_engine = self.engine.is_some_and(|engine| engine != Engine::Subtrees);
        if !self.queens.is_empty() && (other_engine || has_journal) {
            return Err(Error::QueensGiven);
        }
        self.queens.check(self.size)
    }
}

/// A finished count, or a finished shard of one.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Outcome {
    /// The board.
    pub size: BoardSize,
    /// The shard; of a whole count, all of it.
    pub shard: Shard,
    /// The number of solutions: of a whole count Q(n), of a shard those in its units, with their weights.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
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
    /// How memory was used; `None` for engines that need little.
    pub memory: Option<MemoryUse>,
    /// Wall time, not including the start of the threads.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
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
