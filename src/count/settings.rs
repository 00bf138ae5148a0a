//! The settings of a count, and what follows from them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::observe::Observer;
use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use crate::engine::subtrees::MAX_SPLIT_ROWS;
use crate::engine::{Engine, Kernel, WhichCount};
use crate::error::{Error, JournalError};
use crate::machine::{run_on, thread_pool};
use crate::plan::Plan;
use crate::record::Record;

/// A count with its settings. Settings that are left out are chosen for the board and the machine.
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
/// With a journal, a count resumes where an earlier one was stopped or killed:
///
/// ```
/// use nqueens::{BoardSize, Count};
///
/// let folder = tempfile::tempdir()?;
/// let count = Count::new(BoardSize::new(10)?).journal(folder.path().join("q10.journal"));
/// assert_eq!(count.run()?.total, 724);
///
/// let again = count.run()?;
/// assert_eq!(again.total, 724);
/// assert_eq!(again.units_before, again.units); // nothing was left to count
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A cancelled count returns an error that says how far it came:
///
/// ```
/// use nqueens::{BoardSize, Cancel, Count};
///
/// let cancel = Cancel::new();
/// cancel.cancel(); // usually from another thread
/// let stopped = Count::new(BoardSize::new(20)?).cancel(&cancel).run();
/// assert!(stopped.is_err_and(|error| error.is_cancelled()));
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a count does nothing until it is run"]
pub struct Count<'a> {
    pub(super) size: BoardSize,
    engine: Option<Engine>,
    kernel: Option<Kernel>,
    split_rows: Option<usize>,
    pub(super) which: WhichCount,
    threads: Option<usize>,
    pub(super) queens: FixedQueens,
    pub(super) journal: Option<PathBuf>,
    pub(super) observer: &'a dyn Observer,
    pub(super) cancel: Cancel,
}

impl<'a> Count<'a> {
    /// Makes a count of the board of this size, with the fastest engine and kernel, on the current rayon pool.
    pub fn new(size: BoardSize) -> Self {
        Self {
            size,
            engine: None,
            kernel: None,
            split_rows: None,
            which: WhichCount::First,
            threads: None,
            queens: FixedQueens::default(),
            journal: None,
            observer: &(),
            cancel: Cancel::new(),
        }
    }

    /// Sets the engine. By default it is [`Engine::auto`], or the engine of the journal.
    pub fn engine(self, engine: Engine) -> Self {
        Self { engine: Some(engine), ..self }
    }

    /// Sets the kernel. By default it is [`Kernel::detect`]. Engines without kernels ignore it.
    pub fn kernel(self, kernel: Kernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// Sets the number of rows in the prefixes of [`Engine::Subtrees`], clamped to 1 to 4. This also sets that engine
    /// if none is set.
    ///
    /// Other engines ignore the number. A journal whose plan has another number is refused.
    pub fn split_rows(self, split_rows: usize) -> Self {
        Self { split_rows: Some(split_rows.clamp(1, MAX_SPLIT_ROWS)), ..self }
    }

    /// Sets whether this is the first or the second count of the units. By default it is the first.
    ///
    /// A journal holds units of only one of the two. A shard reads only the journals of its own count.
    pub fn which_count(self, which: WhichCount) -> Self {
        Self { which, ..self }
    }

    /// Counts only the solutions that contain these queens. The engine is [`Engine::Subtrees`] then.
    ///
    /// No count of this kind is published, and no journal or shard can hold it.
    pub fn with_queens(self, queens: FixedQueens) -> Self {
        Self { queens, ..self }
    }

    /// Runs the count on this number of new threads, 1 to [`MAX_THREADS`](crate::MAX_THREADS). By default it runs on
    /// the current rayon pool: `pool.install(|| count.run())`.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Records finished units in this file, and does not count units again that the file already holds.
    ///
    /// If the file exists, its plan sets the engine and the split rows, and other settings are an error. See
    /// [`record`](crate::record).
    pub fn journal(self, path: impl AsRef<Path>) -> Self {
        Self { journal: Some(path.as_ref().to_owned()), ..self }
    }

    /// Reports progress to this observer.
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Stops the count when this flag is raised.
    pub fn cancel(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Runs work on the threads of the count: on new ones, or on the current rayon pool.
    pub(super) fn on_its_threads<T: Send>(
        &self,
        count: impl FnOnce() -> T + Send,
    ) -> Result<T, Error> {
        match self.threads {
            Some(threads) => run_on(&thread_pool(threads)?, count),
            None => Ok(count()),
        }
    }

    /// Makes the plan of a new count. Settings that are left out are chosen for the board.
    pub(super) fn plan(&self) -> Plan {
        let engine = self.engine_asked().unwrap_or(Engine::auto(self.size));
        let plan = Plan::new(self.size, engine, self.split_rows).for_count(self.which);
        if self.queens.is_empty() { plan } else { plan.with_queens(&self.queens) }
    }

    /// Returns the plan of a record if it agrees with the settings. A setting that was left out agrees with any plan.
    pub(super) fn recorded_plan(&self, record: &Record) -> Result<Arc<Plan>, Error> {
        let held = record.plan();
        let rows = |rows: Option<usize>| rows.map_or("none".to_owned(), |rows| rows.to_string());
        let engine = self.engine_asked();
        // Only prefixes have split rows.
        let split_rows = held.split_rows().map(|held| self.split_rows.unwrap_or(held));
        let fields = [
            ("n", held.size().to_string(), self.size.to_string()),
            ("engine", held.engine().to_string(), engine.unwrap_or(held.engine()).to_string()),
            ("split rows", rows(held.split_rows()), rows(split_rows)),
            ("count", held.which_count().to_string(), self.which.to_string()),
        ];
        match fields.into_iter().find(|(_, holds, asked)| holds != asked) {
            None => Ok(Arc::clone(held)),
            Some((name, holds, asked)) => {
                let [holds, asked] = [holds, asked].map(|value| format!("{name} = {value}"));
                let path = record.files().first().map_or(Path::new(""), |file| &file.path);
                Err(JournalError::OtherCount { holds, asked }.at(path))
            }
        }
    }

    /// Returns the engine that is set, or the engine that other settings need.
    fn engine_asked(&self) -> Option<Engine> {
        let is_split = self.split_rows.is_some() || !self.queens.is_empty();
        self.engine.or(is_split.then_some(Engine::Subtrees))
    }

    /// Returns the kernel with which an engine counts: the portable one for engines without kernels.
    pub(super) fn kernel_of(&self, engine: Engine) -> Kernel {
        if engine.has_kernels() {
            self.kernel.unwrap_or_else(Kernel::detect)
        } else {
            Kernel::Portable
        }
    }

    /// Checks that the engine counts boards of this size, and that fixed queens are on the board, with engine
    /// `subtrees`, and not in a count that excludes them.
    pub(super) fn check(&self, excludes_queens: bool) -> Result<(), Error> {
        self.engine.map_or(Ok(()), |engine| engine.check(self.size))?;
        let other_engine = self.engine.is_some_and(|engine| engine != Engine::Subtrees);
        if !self.queens.is_empty() && (other_engine || excludes_queens) {
            return Err(Error::QueensGiven);
        }
        self.queens.check(self.size)
    }
}
