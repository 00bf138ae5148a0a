//! The settings of a count, and what follows from them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::observe::Observer;
use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel, WhichCount};
use crate::error::{Error, JournalError};
use crate::machine::{run_on, thread_pool};
use crate::plan::Plan;
use crate::record::Record;

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
    /// A count of the board of this size with the fastest engine and kernel on the current rayon pool.
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

    /// Counts with this engine.
    pub fn engine(self, engine: Engine) -> Self {
        Self { engine: Some(engine), ..self }
    }

    /// Counts with this kernel, if the engine has kernels.
    pub fn kernel(self, kernel: Kernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// Splits off this many rows, 1 to 4. Only [`Engine::Subtrees`] does, which then is the engine if none is
    /// set.
    pub fn split_rows(self, split_rows: usize) -> Self {
        Self { split_rows: Some(split_rows), ..self }
    }

    /// Counts the units for the first or the second time. A journal holds one of the two counts, and a
    /// shard reads only the journals of its own.
    pub fn which_count(self, which: WhichCount) -> Self {
        Self { which, ..self }
    }

    /// Counts only the *completions*, the solutions that contain these queens, with
    /// [`Engine::Subtrees`]. They have no published value, and no journal or shard can hold them.
    pub fn with_queens(self, queens: FixedQueens) -> Self {
        Self { queens, ..self }
    }

    /// Starts this many threads for the count, 1 to 4096. Without it, the count runs on the current rayon pool, that of
    /// `pool.install(|| count.run())`.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Records finished units in this file. Units that it already holds are not counted again. The
    /// file then sets the engine and the split rows, and other ones are an error. See
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

    pub(super) fn on_its_threads<T: Send>(
        &self,
        count: impl FnOnce() -> T + Send,
    ) -> Result<T, Error> {
        match self.threads {
            Some(threads) => run_on(&thread_pool(threads)?, count),
            None => Ok(count()),
        }
    }

    /// The plan of a count that begins. Settings that are missing suit the board.
    pub(super) fn plan(&self) -> Plan {
        let engine = self.engine_asked().unwrap_or(Engine::auto(self.size));
        let plan = Plan::new(self.size, engine, self.split_rows).for_count(self.which);
        if self.queens.is_empty() { plan } else { plan.with_queens(&self.queens) }
    }

    /// The plan of a record, if it is one of this count. Settings that are missing allow any.
    pub(super) fn recorded_plan(&self, record: &Record) -> Result<Arc<Plan>, Error> {
        let held = record.plan();
        let rows = |rows: Option<usize>| rows.map_or("none".to_owned(), |rows| rows.to_string());
        let (engine, split_rows) = (self.engine_asked(), self.split_rows.or(held.split_rows()));
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

    /// The engine that is set, or that other settings need.
    fn engine_asked(&self) -> Option<Engine> {
        let is_split = self.split_rows.is_some() || !self.queens.is_empty();
        self.engine.or(is_split.then_some(Engine::Subtrees))
    }

    /// The kernel with which an engine counts: portable for engines without kernels.
    pub(super) fn kernel_of(&self, engine: Engine) -> Kernel {
        if engine.has_kernels() {
            self.kernel.unwrap_or_else(Kernel::detect)
        } else {
            Kernel::Portable
        }
    }

    /// Makes sure that the engine counts such boards. Given queens work only with engine `subtrees`, and without a
    /// journal.
    pub(super) fn check(&self, has_journal: bool) -> Result<(), Error> {
        self.engine.map_or(Ok(()), |engine| engine.check(self.size))?;
        let other_engine = self.engine.is_some_and(|engine| engine != Engine::Subtrees);
        if !self.queens.is_empty() && (other_engine || has_journal) {
            return Err(Error::QueensGiven);
        }
        self.queens.check(self.size)
    }
}
