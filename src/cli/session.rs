//! A command that counts: its threads, its progress, and the signals that stop it.

use nqueens::forecast::core_hours;
use nqueens::symmetry::Classes;
use nqueens::{BoardSize, Cancel, Count, Engine, Error, Kernel, Outcome, cores, thread_pool};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::args::{EngineArgs, MachineArgs};
use super::exit::Failure;
use super::format::time;
use super::progress::{Progress, rough_seconds};
use super::signals::cancel_on_signals;
use super::stderr::message;
use super::values::default_threads;

pub(crate) struct Session {
    pub(crate) cancel: Cancel,
    pub(crate) pool: ThreadPool,
    pub(crate) progress: Progress,
}

impl Session {
    pub(crate) fn new(args: &MachineArgs) -> Result<Self, Failure> {
        Ok(Self {
            cancel: cancel_on_signals()?,
            pool: thread_pool(args.threads.map_or_else(default_threads, Ok)?)?,
            progress: Progress::new(args.progress),
        })
    }

    /// Returns a session for counts with these settings, and warns of options without effect.
    pub(crate) fn counting(args: &EngineArgs, machine: &MachineArgs) -> Result<Self, Failure> {
        args.warn_of_kernel();
        Self::new(machine)
    }

    /// Prints how long a board would take that is too large for engine `colours`.
    pub(crate) fn announce(&self, size: BoardSize, args: &EngineArgs) {
        if Engine::Colours.check(size).is_err() && args.engine.is_none() {
            let engine = Engine::auto(size);
            let hours = core_hours(size, engine, Kernel::detect());
            let time = time(rough_seconds(hours, self.pool.current_num_threads()));
            message!(
                "n = {size} would take {time} or more here with engine {engine}: engine colours, the \
                 fastest, counts boards up to n = 30"
            );
        }
    }

    /// Returns the count with a bar, stopped by signals.
    pub(crate) fn set_up<'a>(&'a self, count: Count<'a>) -> Count<'a> {
        count.observer(&self.progress).cancel(&self.cancel)
    }

    /// Counts on these threads, then takes the bar off the terminal.
    pub(crate) fn run<T: Send>(
        &self,
        count: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Failure> {
        let result = self.pool.install(count);
        self.progress.clear();
        Ok(result?)
    }

    /// Returns the solutions up to symmetry. If the search for symmetric solutions is stopped, the message has the
    /// total, which may have taken long.
    pub(crate) fn classes(&self, outcome: &Outcome) -> Result<Classes, Failure> {
        let Outcome { size, total, .. } = outcome;
        Classes::new(*size, *total, &self.cancel).map_err(|error| {
            let reason = Failure::from(error);
            reason.if_stopped(|text| format!("{text}; the total is complete: Q({size}) = {total}"))
        })
    }
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

/// Runs a command that reads journals on threads of its own, or on this one alone if none can be started:
/// rayon's global pool would panic then.
pub(crate) fn on_readers<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let here = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    match thread_pool(cores()).ok().or_else(|| here().ok()) {
        Some(pool) => pool.install(run),
        None => run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::progress::ProgressWhen;

    #[test]
    fn a_stopped_search_for_symmetric_solutions_does_not_lose_the_total() {
        let outcome = Count::new(BoardSize::new(8).expect("in range")).run().expect("a count");
        let (cancel, pool) = (Cancel::new(), thread_pool(1).expect("a thread"));
        cancel.cancel();
        let session = Session { cancel, pool, progress: Progress::new(ProgressWhen::Never) };
        let Err(stopped) = session.classes(&outcome) else {
            panic!("it was stopped");
        };
        assert_eq!(stopped.exit, crate::cli::exit::Exit::Stopped);
        assert!(stopped.to_string().ends_with("Q(8) = 92"), "{stopped}");
    }
}
