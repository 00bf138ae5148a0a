//! The settings of a count, and what follows from them.

use std::path::{Path, PathBuf};

use super::observe::Observer;
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel, WhichCount};
use crate::error::Error;
use crate::journal::Wanted;
use crate::machine::memory::StatedMemory;
use crate::machine::{run_on, thread_pool};
use crate::plan::Plan;
use crate::plan::shard::Shard;

/// A count with its settings. Settings that are left out are chosen for the board and the machine.
///
/// ```
/// use nqueens::{BoardSize, Count, Engine, Published};
///
/// let outcome = Count::new(BoardSize::new(12)?).engine(Engine::Subtrees).threads(2).run()?;
/// assert_eq!(outcome.total, Some(14_200));
/// assert_eq!(outcome.published, Published::Agrees);
/// # Ok::<(), nqueens::Error>(())
/// ```
///
/// With a folder for journals, a count resumes where an earlier one was stopped or killed:
///
/// ```
/// use nqueens::{BoardSize, Count};
///
/// let folder = tempfile::tempdir()?;
/// let count = Count::new(BoardSize::new(10)?).journal(folder.path().join("q10"));
/// assert_eq!(count.run()?.total, Some(724));
///
/// let again = count.run()?;
/// assert_eq!(again.total, Some(724));
/// assert_eq!(again.units_before, again.units); // nothing was left to count
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A [`Cancel`] stops a count, whose outcome then says how far it came:
///
/// ```
/// use nqueens::{BoardSize, Cancel, Count};
///
/// let cancel = Cancel::new();
/// cancel.cancel(); // usually from another thread
/// let stopped = Count::new(BoardSize::new(20)?).stop_on(&cancel).run()?;
/// assert!(!stopped.is_complete());
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
    pub(super) shard: Shard,
    pub(super) journal: Option<PathBuf>,
    pub(super) observer: &'a dyn Observer,
    pub(super) cancel: Cancel,
    stated_memory: Option<StatedMemory>,
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
            shard: Shard::WHOLE,
            journal: None,
            observer: &(),
            cancel: Cancel::new(),
            stated_memory: None,
        }
    }

    /// Sets the engine. By default, or with `None`, it is the engine of the journal, or
    /// [`Engine::Subtrees`] with [`Count::split_rows`], or [`Engine::auto`].
    pub fn engine(self, engine: impl Into<Option<Engine>>) -> Self {
        Self { engine: engine.into(), ..self }
    }

    /// Sets the kernel. By default, or with `None`, it is [`Kernel::detect`]. Engines without kernels ignore it.
    pub fn kernel(self, kernel: impl Into<Option<Kernel>>) -> Self {
        Self { kernel: kernel.into(), ..self }
    }

    /// Sets the number of rows in the prefixes of [`Engine::Subtrees`], 1 to 4. This also sets that engine if none is
    /// set. By default, or with `None`, it suits the board, or it is the number of the journal.
    ///
    /// Other engines ignore the number, but none other than 1 to 4 is taken.
    pub fn split_rows(self, split_rows: impl Into<Option<usize>>) -> Self {
        Self { split_rows: split_rows.into(), ..self }
    }

    /// Sets whether this is the first or the second count of the units. By default it is the first.
    ///
    /// In a folder, the journals of the other count are passed over.
    pub fn which_count(self, which: WhichCount) -> Self {
        Self { which, ..self }
    }

    /// Counts only the units of this shard. The result is a part of the number of solutions then.
    ///
    /// To add shards up, record them in [journals](Self::journal).
    pub fn shard(self, shard: Shard) -> Self {
        Self { shard, ..self }
    }

    /// Runs the count on this number of new threads, 1 to 4096. By default, or with
    /// `None`, it runs on the current rayon pool: `pool.install(|| count.run())`.
    pub fn threads(self, threads: impl Into<Option<usize>>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// Records finished units in this folder, and does not count units again that are recorded there.
    ///
    /// Every process makes a journal of its own in the folder, and changes no other file. It skips the units that the
    /// journals of this count there hold. So the same count resumes where it was stopped, and several processes may use
    /// one folder, each with a [shard](Self::shard) of its own. A missing folder is made, but its parents are not.
    ///
    /// Existing journals of this count set the engine and the split rows. If they do not agree with these settings, they
    /// are passed over. Damaged lines are left out, and their units are counted again. See [`record`](crate::record).
    pub fn journal(self, folder: impl AsRef<Path>) -> Self {
        Self { journal: Some(folder.as_ref().to_owned()), ..self }
    }

    pub(super) fn without_journal(self) -> Self {
        Self { journal: None, ..self }
    }

    /// Reports progress to this observer.
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Stops the count when this flag is raised.
    pub fn stop_on(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Sets how many bytes of memory the machine has available, in place of what the operating system reports. By default,
    /// or with `None`, the system is asked. With ZFS, for example, Linux does not count the cache as available, although
    /// it can be freed.
    ///
    /// A count uses at most three quarters of it. Limits of the process and of its control groups hold all the same.
    pub fn memory(self, bytes: impl Into<Option<u64>>) -> Self {
        let state = |bytes| StatedMemory { bytes, name: "the stated memory" };
        self.with_stated_memory(bytes.into().map(state))
    }

    /// Sets what the user has stated of the memory.
    pub(crate) fn with_stated_memory(self, stated_memory: Option<StatedMemory>) -> Self {
        Self { stated_memory, ..self }
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

    /// Makes the plan of this count, as it is without journals. An engine and split rows that are not set are chosen
    /// for the board.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`].
    pub(crate) fn plan(&self) -> Result<Plan, Error> {
        let engine = self.new_engine();
        let plan = Plan::with_memory(self.size, engine, self.split_rows, self.stated_memory)?;
        Ok(plan.for_count(self.which))
    }

    /// Returns the engine of this count, as it is without journals.
    pub(crate) fn new_engine(&self) -> Engine {
        self.engine_asked().unwrap_or(Engine::auto(self.size))
    }

    /// Returns which journals in a folder belong to this count.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            size: self.size,
            which: self.which,
            engine: self.engine_asked(),
            split_rows: self.split_rows,
            stated_memory: self.stated_memory,
        }
    }

    /// Returns the engine that is set, or the engine that other settings need.
    fn engine_asked(&self) -> Option<Engine> {
        self.engine.or(self.split_rows.map(|_| Engine::Subtrees))
    }

    /// Returns the kernel with which an engine counts: the portable one for engines without kernels.
    pub(crate) fn kernel_of(&self, engine: Engine) -> Kernel {
        if engine.has_kernels() {
            self.kernel.unwrap_or_else(Kernel::detect)
        } else {
            Kernel::PORTABLE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_memory_counts() {
        let cancel = Cancel::new();
        cancel.cancel();
        let count = Count::new(BoardSize::new(20).expect("in range")).threads(1).stop_on(&cancel);
        let refused = count.clone().memory(1 << 20).run();
        assert!(matches!(refused, Err(Error::LacksMemory(_))), "{refused:?}");
        let stopped = count.memory(4 << 40).run();
        assert!(stopped.is_ok_and(|outcome| !outcome.is_complete()));
    }
}
