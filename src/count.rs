//! A count as a library user asks for it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::cpu::Cpu;
use crate::engine::{Engine, Kernel, MemoryUse, Resources, SplitRows};
use crate::error::Error;
use crate::journal::{self, Finished, Journal, Locked};
use crate::known::{Published, known};
use crate::memory;
use crate::observe::{Observer, Start};
use crate::plan::Plan;
use crate::run::Job;
use crate::self_check::SelfCheck;
use crate::shard::Shard;
use crate::size::BoardSize;

/// The most threads that a count starts.
pub const MAX_THREADS: usize = 4096;

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
/// A count that was cancelled says how far it came, or that it had not begun:
///
/// ```
/// use nqueens::{BoardSize, Cancel, Count, Error};
///
/// let cancel = Cancel::new();
/// cancel.cancel(); // from another thread, as a rule
/// let stopped = Count::new(BoardSize::new(20)?).cancel(&cancel).run();
/// assert_eq!(stopped.err(), Some(Error::PreparationStopped));
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a count does nothing until it is run"]
pub struct Count<'a> {
    size: BoardSize,
    engine: Option<Engine>,
    kernel: Option<Kernel>,
    split_rows: Option<SplitRows>,
    memory: Option<u64>,
    threads: Threads<'a>,
    journal: Option<PathBuf>,
    self_check: bool,
    observer: &'a dyn Observer,
    cancel: Cancel,
}

/// Where a count runs.
#[derive(Clone, Copy, Debug)]
enum Threads<'a> {
    Current,
    Own(usize),
    Pool(&'a rayon::ThreadPool),
}

impl<'a> Count<'a> {
    /// A count of this board with the fastest engine and kernel on the current rayon pool.
    pub fn new(size: BoardSize) -> Self {
        Self {
            size,
            engine: None,
            kernel: None,
            split_rows: None,
            memory: None,
            threads: Threads::Current,
            journal: None,
            self_check: true,
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

    /// Splits this many rows off, if the engine is [`Engine::Subtrees`].
    pub fn split_rows(self, split_rows: SplitRows) -> Self {
        Self { split_rows: Some(split_rows), ..self }
    }

    /// Uses at most this many bytes; without it [`memory::default_budget`].
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Starts this many threads for the count, 1 to [`MAX_THREADS`].
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Threads::Own(threads), ..self }
    }

    /// Counts on this pool.
    pub fn pool(self, pool: &'a rayon::ThreadPool) -> Self {
        Self { threads: Threads::Pool(pool), ..self }
    }

    /// Records finished units in this file. If it holds some of the same count already, they are
    /// not counted again; engine and split rows are then those of the file unless they are set, and
    /// it is an error if they are set to others. See [`journal`].
    pub fn journal(self, path: impl AsRef<Path>) -> Self {
        Self { journal: Some(path.as_ref().to_owned()), ..self }
    }

    /// Whether to count a few units twice, by another engine, in less than a hundredth of the
    /// time. It is so unless it is switched off.
    pub fn self_check(self, self_check: bool) -> Self {
        Self { self_check, ..self }
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
    /// [`Error::Stopped`] after a cancellation, [`Error::ThreadsOutOfRange`] and
    /// [`Error::ThreadsNotStarted`] for threads of its own, [`Error::MemoryBudget`] if the engine
    /// needs more memory, [`Error::UnitOverflow`] if a unit's count does not fit,
    /// [`Error::UnitsDiffer`] if a recount differs, [`Error::Journal`] if the journal cannot be
    /// used.
    pub fn run(&self) -> Result<Outcome, Error> {
        match self.threads {
            Threads::Current => self.run_on_current_pool(),
            Threads::Pool(pool) => pool.install(|| self.run_on_current_pool()),
            Threads::Own(threads) => thread_pool(threads)?.install(|| self.run_on_current_pool()),
        }
    }

    fn run_on_current_pool(&self) -> Result<Outcome, Error> {
        let begun = Instant::now();
        let threads = rayon::current_num_threads();
        let kernel = self.kernel.unwrap_or_else(Kernel::detect);
        let held = self.journal.as_deref().map(journal::read).transpose()?.flatten();
        let plan = self.plan(kernel, threads, held.as_ref().map(|held| &held.plan));
        let kernel = if plan.engine().has_kernels() { kernel } else { Kernel::Portable };
        let outcome = |total, units_before, units_recounted, memory| Outcome {
            size: self.size,
            total,
            engine: plan.engine(),
            kernel,
            threads,
            units: plan.units(),
            units_before,
            units_recounted,
            memory,
            elapsed: begun.elapsed(),
            published: Published::compare(total, known(self.size).total),
        };
        if let (Some(held), Some(path)) = (held, &self.journal) {
            held.check_plan(&plan, path)?;
            if held.finished.is_complete() {
                return Ok(outcome(held.finished.solutions(), plan.units(), 0, None));
            }
        }
        let memory = self.memory.unwrap_or_else(memory::default_budget);
        let resources = Resources { kernel, threads, memory };
        plan.engine().check_budget(self.size, &resources)?;
        // Locked before the lists are made, which may take long.
        let locked = self.journal.as_deref().map(|path| Locked::open(path, &plan)).transpose()?;
        let (locked, finished) = locked.unzip();
        let finished: Option<Finished> = finished.flatten();
        let prepared = plan.prepare(&resources, &self.cancel)?;

        let units_before = finished.as_ref().map_or(0, Finished::units_done);
        self.observer.started(&Start {
            plan: &plan,
            threads,
            units_done: units_before,
            solutions: finished.as_ref().map_or(0, Finished::solutions),
            torn: locked.as_ref().map_or(0, |locked| locked.torn),
        });
        let begin =
            |locked: Locked| locked.begin(&plan, kernel, threads, Shard::WHOLE, &Cpu::look().brand);
        let journal = locked.map(begin).transpose()?;
        let self_check = self.self_check.then(|| SelfCheck::new(&plan, kernel));
        let job = Job {
            plan: &plan,
            prepared: &prepared,
            finished: finished.as_ref(),
            journal: journal.as_ref(),
            self_check: self_check.as_ref(),
            observer: self.observer,
            cancel: &self.cancel,
        };
        let total = job.run();
        // A journal that failed is the reason why the count stopped.
        journal.map_or(Ok(()), Journal::finish)?;
        let recounted = self_check.as_ref().map_or(0, SelfCheck::recounted);
        Ok(outcome(total?, units_before, recounted, prepared.memory()))
    }

    /// The units to count; what is not set is taken from the plan of a journal, if there is one.
    fn plan(&self, kernel: Kernel, threads: usize, held: Option<&Plan>) -> Plan {
        let engine = self.engine.or(held.map(Plan::engine));
        let engine = engine.unwrap_or_else(|| Engine::auto(self.size, kernel));
        let split_rows = self.split_rows.or(held.and_then(Plan::split_rows));
        let split_rows = split_rows.unwrap_or_else(|| SplitRows::suited_to(self.size, threads));
        Plan::new(self.size, engine, Some(split_rows))
    }
}

impl std::fmt::Debug for Count<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Count")
            .field("size", &self.size)
            .field("engine", &self.engine)
            .field("kernel", &self.kernel)
            .field("split_rows", &self.split_rows)
            .field("memory", &self.memory)
            .field("threads", &self.threads)
            .field("journal", &self.journal)
            .field("self_check", &self.self_check)
            .finish_non_exhaustive()
    }
}

/// A rayon pool of this many threads, for several counts.
///
/// # Errors
///
/// [`Error::ThreadsOutOfRange`] unless it is 1 to [`MAX_THREADS`]; [`Error::ThreadsNotStarted`] if
/// the operating system refuses.
pub fn thread_pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(Error::ThreadsOutOfRange { given: threads.to_string(), max: MAX_THREADS });
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("nqueens-{index}"))
        .build()
        .map_err(|error| Error::ThreadsNotStarted { threads, reason: error.to_string() })
}

/// A finished count.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The board.
    pub size: BoardSize,
    /// The number of solutions, Q(n).
    pub total: u128,
    /// The engine that counted.
    pub engine: Engine,
    /// The kernel that it used; portable for engines that have no kernels.
    pub kernel: Kernel,
    /// How many threads counted.
    pub threads: usize,
    /// How many units the count has.
    pub units: usize,
    /// How many of them a journal held before.
    pub units_before: usize,
    /// How many of them were counted a second time by another engine.
    pub units_recounted: usize,
    /// How memory was planned; `None` for engines that need little.
    pub memory: Option<MemoryUse>,
    /// Wall-clock time, without starting the threads.
    pub elapsed: Duration,
    /// How the total stands to the published one.
    pub published: Published,
}
