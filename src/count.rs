//! A count as a library user asks for it.

use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel, MemoryUse, Resources, SplitRows};
use crate::error::Error;
use crate::known::{Published, known};
use crate::memory;
use crate::observe::Observer;
use crate::plan::Plan;
use crate::run::run;
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
    /// needs more memory, [`Error::UnitOverflow`] if a unit's count does not fit.
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
        let engine = self.engine.unwrap_or_else(|| Engine::auto(self.size, kernel));
        let kernel = if engine.has_kernels() { kernel } else { Kernel::Portable };
        let split_rows =
            self.split_rows.unwrap_or_else(|| SplitRows::suited_to(self.size, threads));
        let memory = self.memory.unwrap_or_else(memory::default_budget);
        let resources = Resources { kernel, threads, memory };
        engine.check_budget(self.size, &resources)?;
        let plan = Plan::new(self.size, engine, Some(split_rows));
        let prepared = plan.prepare(&resources, &self.cancel)?;
        let total = run(&plan, &prepared, self.observer, &self.cancel)?;
        Ok(Outcome {
            size: self.size,
            total,
            engine,
            kernel,
            threads,
            units: plan.units(),
            memory: prepared.memory(),
            elapsed: begun.elapsed(),
            published: Published::compare(total, known(self.size).total),
        })
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
    /// How many units they counted.
    pub units: usize,
    /// How memory was planned; `None` for engines that need little.
    pub memory: Option<MemoryUse>,
    /// Wall-clock time, without starting the threads.
    pub elapsed: Duration,
    /// How the total stands to the published one.
    pub published: Published,
}
