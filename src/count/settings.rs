//! The settings of a count, and what follows from them.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::observe::{Nobody, Observer, OnProgress, Progress};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::{Engine, Kernel, Pass};
use crate::error::Error;
use crate::journal_file::Wanted;
use crate::machine::memory::StatedMemory;
use crate::machine::{cores, on_new_threads};
use crate::plan::shard::Shard;
use crate::plan::{Plan, ThreadMemory};

/// The smallest board that is counted on all CPUs. Smaller ones take at most 1 ms on one CPU with AVX2, and to start
/// threads takes about as long.
const SMALLEST_ON_ALL_CPUS: u32 = 14;

/// A count with its settings. Settings that are left out are chosen for the board and the machine.
///
/// ```
/// use nqueens::{Agreement, BoardSize, Count, Engine};
///
/// let outcome = Count::new(BoardSize::new(12)?).engine(Engine::Subtrees).threads(2).run()?;
/// assert_eq!(outcome.total, Some(14_200));
/// assert_eq!(outcome.agreement, Agreement::Agrees);
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
/// A count can run on a thread of its own, and a [`Cancel`] ends it early. The outcome then says how far it came:
///
/// ```
/// use std::thread;
///
/// use nqueens::{BoardSize, Cancel, Count};
///
/// let cancel = Cancel::new();
/// let count = Count::new(BoardSize::new(25)?).cancel_on(&cancel);
/// let counting = thread::spawn(move || count.run());
/// cancel.cancel();
/// match counting.join().expect("the count does not panic") {
///     Ok(outcome) => println!("{} of {} units", outcome.units_done, outcome.units),
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a count does nothing until it is run"]
pub struct Count<'a> {
    pub(super) size: BoardSize,
    engine: Option<Engine>,
    kernel: Option<Kernel>,
    split_rows: Option<usize>,
    pub(super) pass: Pass,
    threads: Option<usize>,
    pub(super) shard: Shard,
    pub(super) journal: Option<PathBuf>,
    pub(super) observer: Arc<dyn Observer + 'a>,
    pub(super) cancel: Cancel,
    stated_memory: Option<StatedMemory>,
}

impl<'a> Count<'a> {
    /// Makes a count of the board of this size, with the fastest engine and kernel, on all CPUs.
    pub fn new(size: BoardSize) -> Self {
        Self {
            size,
            engine: None,
            kernel: None,
            split_rows: None,
            pass: Pass::First,
            threads: None,
            shard: Shard::WHOLE,
            journal: None,
            observer: Arc::new(Nobody),
            cancel: Cancel::new(),
            stated_memory: None,
        }
    }

    /// Sets the engine. By default, or with `None`, it is the engine of the journal, or
    /// [`Engine::Subtrees`] with [`Count::split_rows`], or [`Engine::fastest_for`].
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

    /// Sets whether this is the first or the second pass over the units. By default it is the first.
    ///
    /// In a folder, the journals of the other pass are left alone.
    pub fn pass(self, pass: Pass) -> Self {
        Self { pass, ..self }
    }

    /// Counts only the units of this shard. The outcome then has a part of the number of solutions, and no total.
    ///
    /// To add shards up, record them in [journals](Self::journal) and read these as
    /// [`Records`](crate::journal::Records), which checks that they belong together.
    pub fn shard(self, shard: Shard) -> Self {
        Self { shard, ..self }
    }

    /// Sets the number of threads, 1 to 4096. By default, or with `None`, there are as many as the process has CPUs,
    /// but no more than fit into memory. Boards below n = 14 get one with a fast engine, because they take about a
    /// millisecond.
    ///
    /// Each run starts threads of its own, and returns when they have ended. With thousands of threads, each run takes
    /// a minute or more.
    pub fn threads(self, threads: impl Into<Option<usize>>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// Records finished units in this folder, and does not count units again that are recorded there.
    ///
    /// Every process makes a journal of its own in the folder, and changes no other file. It skips the units that the
    /// journals of this count there hold. So the same count resumes where it was stopped, and several processes may use
    /// one folder, each with a [shard](Self::shard) of its own. A missing folder is made, but its parents are not.
    ///
    /// Existing journals of this count set the engine and the split rows. If they do not agree with these settings,
    /// they are passed over. Damaged lines are left out, and their units are counted again. See
    /// [`journal`](crate::journal).
    pub fn journal(self, folder: impl AsRef<Path>) -> Self {
        Self { journal: Some(folder.as_ref().to_owned()), ..self }
    }

    pub(super) fn without_journal(self) -> Self {
        Self { journal: None, ..self }
    }

    /// Calls this function whenever some units are finished: see [`Observer::progress`]. It replaces the observer, if
    /// there is one.
    ///
    /// ```
    /// use nqueens::{BoardSize, Count};
    ///
    /// let count = Count::new(BoardSize::new(13)?).on_progress(|progress| {
    ///     eprintln!("{:.1} %, {} solutions", 100.0 * progress.fraction(), progress.solutions());
    /// });
    /// assert_eq!(count.run()?.total, Some(73_712));
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn on_progress(self, report: impl Fn(&Progress<'_>) + Send + Sync + 'a) -> Self {
        self.observer(OnProgress(report))
    }

    /// Reports to this observer: an observer, or a reference, an `Arc` or a `Box` of one. It replaces the one before.
    pub fn observer(self, observer: impl Observer + 'a) -> Self {
        Self { observer: Arc::new(observer), ..self }
    }

    /// Ends the count early when this flag is raised. It replaces the flag before.
    pub fn cancel_on(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Sets how many bytes of memory the machine has available, in place of what the operating system reports. By
    /// default, or with `None`, the system is asked. With ZFS, for example, Linux does not count the cache as
    /// available, although it can be freed.
    ///
    /// A count uses at most three quarters of it. Limits of the process and of its control groups hold all the same.
    /// Under `ulimit -v`, leave 64 MiB more for each thread, because the GNU C library reserves as many addresses.
    pub fn memory(self, bytes: impl Into<Option<u64>>) -> Self {
        let state = |bytes| StatedMemory { bytes, name: "the stated memory" };
        self.with_stated_memory(bytes.into().map(state))
    }

    /// Sets what the user has stated of the memory.
    pub(crate) fn with_stated_memory(self, stated_memory: Option<StatedMemory>) -> Self {
        Self { stated_memory, ..self }
    }

    /// Runs work on new threads, as many as the count has.
    pub(super) fn on_its_threads<T: Send>(
        &self,
        count: impl FnOnce() -> T + Send,
    ) -> Result<T, Error> {
        let threads = self.threads.unwrap_or_else(|| self.default_threads());
        on_new_threads(threads, count)
    }

    /// Returns the number of threads if none is set. If not even one fits into memory, it is 1, and the count is
    /// refused when it knows its plan, which may be that of a journal.
    fn default_threads(&self) -> usize {
        let engine = self.new_engine();
        if self.size.get() < SMALLEST_ON_ALL_CPUS && engine.has_kernels() {
            return 1;
        }
        let memory = ThreadMemory::of_engine(engine, self.size);
        match memory.check_before_start(cores(), self.stated_memory) {
            Ok(()) => cores(),
            Err(lack) => lack.fitting_threads.max(1),
        }
    }

    /// Makes the plan of this count, as it is without journals. An engine and split rows that are not set are chosen
    /// for the board.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`].
    pub fn plan(&self) -> Result<Plan, Error> {
        let engine = self.new_engine();
        let plan = Plan::with_memory(self.size, engine, self.split_rows, self.stated_memory)?;
        Ok(plan.for_pass(self.pass))
    }

    /// Returns the engine of this count, as it is without journals.
    pub(crate) fn new_engine(&self) -> Engine {
        self.engine_asked().unwrap_or(Engine::fastest_for(self.size))
    }

    /// Returns which journals in a folder belong to this count.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            size: self.size,
            pass: self.pass,
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

/// What a count changes while it runs is lost if it panics, so no later run sees a part of it.
impl UnwindSafe for Count<'_> {}
impl RefUnwindSafe for Count<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_memory_counts() {
        let cancel = Cancel::new();
        cancel.cancel();
        let count = Count::new(BoardSize::new(20).expect("in range")).threads(1).cancel_on(&cancel);
        let refused = count.clone().memory(1 << 20).run();
        assert!(matches!(refused, Err(Error::LacksMemory(_))), "{refused:?}");
        let stopped = count.memory(4 << 40).run();
        assert!(stopped.is_ok_and(|outcome| !outcome.is_complete()));
    }

    #[test]
    fn larger_boards_take_all_cpus_that_fit_into_memory() {
        let count = |n| Count::new(BoardSize::new(n).expect("in range"));
        assert_eq!(count(SMALLEST_ON_ALL_CPUS - 1).default_threads(), 1);
        assert_eq!(count(SMALLEST_ON_ALL_CPUS).default_threads(), cores());
        // 11 MiB are needed for a thread, and a quarter of the memory is left to others.
        assert_eq!(count(20).memory(16 << 20).default_threads(), 1);
        assert_eq!(count(20).memory(1 << 20).default_threads(), 1);
    }
}
