//! What a command that counts works with, made from its options in one place: which engine counts, on which threads,
//! what shows its progress, and what stops it.

use crate::forecast::rough_seconds;
use crate::machine::memory::StatedMemory;
use crate::numbers::available_bytes;
use crate::plan::ThreadMemory;
use crate::{
    BoardSize, Cancel, Classes, Count, Engine, Error, Kernel, LackOfMemory, Plan, cores,
    thread_pool,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cli::args::{EngineArgs, MachineArgs, SplitArgs};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::memory::stated_memory;
use crate::cli::print::format::time;
use crate::cli::progress::{Progress, Work};
use crate::cli::signals::cancel_on_signals;
use crate::cli::stderr::message;
use crate::cli::values::default_threads;

/// Which engine counts. What is `None` is chosen for the board and the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineChoice {
    engine: Option<Engine>,
    kernel: Option<Kernel>,
    split_rows: Option<usize>,
}

impl EngineChoice {
    /// Returns the engine that options name, and warns of an option without effect.
    pub(crate) fn new(args: &EngineArgs) -> Self {
        if let Some(engine) = args.engine
            && !engine.has_kernels()
            && args.kernel.is_some()
        {
            message!("warning: --kernel has no effect on engine {engine}");
        }
        Self { engine: args.engine, kernel: args.kernel, split_rows: None }
    }

    /// Returns the engine that options name, with its number of split rows.
    ///
    /// # Errors
    ///
    /// Wrong usage if `--split-rows` is given and another engine than subtrees, because it would not obey the option.
    pub(crate) fn with_split_rows(args: &EngineArgs, split: &SplitArgs) -> Result<Self, Failure> {
        if split.split_rows.is_some()
            && let Some(engine) = args.engine
            && engine != Engine::Subtrees
        {
            let text =
                format!("--split-rows needs engine subtrees, not {engine}: leave out one of them");
            return Err(Exit::Usage.because(text));
        }
        Ok(Self { split_rows: split.split_rows, ..Self::new(args) })
    }

    /// Returns the plan of the first pass of a board.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if the engine does not count boards of this size, and [`Error::LacksMemory`] if the plan
    /// does not fit into memory.
    pub(crate) fn plan(&self, size: BoardSize) -> Result<Plan, Error> {
        let count = Count::new(size).engine(self.engine).split_rows(self.split_rows);
        count.with_stated_memory(stated_memory()?).plan()
    }

    /// Returns what each thread needs to count a board, if no journal names another engine.
    pub(crate) fn memory_of_thread(&self, size: BoardSize) -> ThreadMemory {
        let count = Count::new(size).engine(self.engine).split_rows(self.split_rows);
        ThreadMemory::of_engine(count.new_engine(), size)
    }

    /// Returns the kernel that counts.
    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel.unwrap_or_else(Kernel::detect)
    }
}

/// Threads that count, with the progress that they show, and the signals that stop them.
pub(crate) struct Session {
    pub(crate) cancel: Cancel,
    pub(crate) progress: Progress,
    pool: ThreadPool,
    stated_memory: Option<StatedMemory>,
}

impl Session {
    /// Starts the threads. `memory` is what each of them needs for each board.
    pub(crate) fn new(args: &MachineArgs, memory: &[ThreadMemory]) -> Result<Self, Failure> {
        let threads = match args.threads {
            Some(threads) => threads,
            None => threads_that_fit(memory)?,
        };
        Ok(Self {
            cancel: cancel_on_signals()?,
            progress: Progress::new(args.progress),
            pool: thread_pool(threads)?,
            stated_memory: stated_memory()?,
        })
    }

    /// Returns a count of a board by the chosen engine. It shows its progress, and signals stop it.
    pub(crate) fn count(&self, size: BoardSize, choice: EngineChoice) -> Count<'_> {
        let count = Count::new(size).observer(&self.progress).cancel_on(&self.cancel);
        let count = count.with_stated_memory(self.stated_memory);
        count.engine(choice.engine).kernel(choice.kernel).split_rows(choice.split_rows)
    }

    /// Prints how long a board takes that is too large for engine `colours`, if no engine is named.
    pub(crate) fn announce_slow_engine(&self, size: BoardSize, choice: EngineChoice) {
        if choice.engine.is_some() || Engine::Colours.check(size).is_ok() {
            return;
        }
        let engine = Engine::fastest_for(size);
        let time = time(rough_seconds(size, engine, Kernel::detect(), self.threads()));
        message!(
            "n = {size} would take {time} or more here with engine {engine}: engine colours, the fastest, counts boards \
             up to n = 30"
        );
    }

    /// Returns the number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs a piece of work on these threads, then takes the bar off the terminal.
    pub(crate) fn run<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Failure> {
        let result = self.pool.install(work);
        self.progress.clear();
        Ok(result?)
    }

    /// Returns the classes of a board's solutions up to symmetry. If the search for symmetric solutions is stopped, the
    /// message has the total, which may have taken long.
    pub(crate) fn classes(&self, size: BoardSize, total: u128) -> Result<Classes, Failure> {
        let name = format!("fundamental n = {size}");
        self.progress.begin(&name, [0, 0], Work::Steps("steps"));
        let note = |done, all| self.progress.note(done, all);
        let classes = Classes::count_in_steps(size, total, &self.cancel, note);
        self.progress.clear();
        classes.map_err(|error| match error {
            Error::Cancelled => Exit::Stopped.because(format!(
                "stopped before the symmetric solutions were counted; the total is complete: Q({size}) = {total}"
            )),
            error => error.into(),
        })
    }
}

/// Returns the number of threads without `--threads`: the default, or as many as fit into memory. `memory` is what each
/// thread needs for each board. Prints a line if fewer fit.
///
/// If not even one fits, the number is 1, and the count is refused when it checks the memory: only then it knows the
/// plan, which may be of a journal.
pub(crate) fn threads_that_fit(memory: &[ThreadMemory]) -> Result<usize, Failure> {
    let stated_memory = stated_memory()?;
    let default = default_threads()?;
    let mut threads = default;
    let mut tightest = None;
    for of_board in memory {
        if let Err(lack) = of_board.check_before_start(threads, stated_memory) {
            threads = lack.fitting_threads.max(1);
            tightest = Some(lack);
        }
    }
    if let Some(lack) = tightest
        && lack.fitting_threads > 0
    {
        let LackOfMemory { n, bytes, limit, usable, .. } = lack;
        let each = bytes.div_ceil(1 << 20);
        let usable = available_bytes(usable);
        message!(
            "{threads} of {default} threads: each needs {each} MiB for n = {n}, and {limit} leaves {usable}"
        );
    }
    Ok(threads)
}

/// Makes all threads share one heap if reserved memory counts (`ulimit -v`): glibc would reserve 64 MiB for the
/// heap of each thread, and twice as much for a moment.
pub(crate) fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if rustix::process::getrlimit(rustix::process::Resource::As).current.is_some() {
        // SAFETY: it sets a number, before there are other threads.
        #[expect(unsafe_code, reason = "the standard library does not set it")]
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1)
        };
    }
}

/// Runs a command that reads journals on threads of its own, or on this one alone if none can be started, because
/// rayon's global pool would panic then.
pub(crate) fn on_readers<T: Send>(command: impl FnOnce() -> T + Send) -> T {
    if let Ok(pool) = thread_pool(cores()) {
        return pool.install(command);
    }
    match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(this_thread) => this_thread.install(command),
        Err(_) => command(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::progress::ProgressWhen;

    #[test]
    fn a_stopped_search_for_symmetric_solutions_does_not_lose_the_total() {
        let session = Session {
            cancel: Cancel::new(),
            progress: Progress::new(ProgressWhen::Never),
            pool: thread_pool(1).expect("a thread"),
            stated_memory: None,
        };
        session.cancel.cancel();
        let Err(stopped) = session.classes(BoardSize::new(8).expect("in range"), 92) else {
            panic!("it was stopped");
        };
        assert_eq!(stopped.exit, Exit::Stopped);
        assert!(stopped.to_string().ends_with("Q(8) = 92"), "{stopped}");
    }
}
