//! This machine: its CPU, its memory and the limits on it, its threads, its name and its date.

pub(crate) mod date;
pub(crate) mod memory;

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::thread::{self, Builder};
use std::time::Duration;

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use rustix::system::uname;
use rustix::time::{ClockId, clock_gettime};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::error::Error;
use crate::numbers::available_bytes;
use memory::MemoryLimit;

/// The largest number of threads that a count can start.
///
/// With more than a few threads for each CPU, a count gets no faster. A thread without work looks for some at all
/// other threads, so 4096 threads on one CPU take minutes.
pub(crate) const MAX_THREADS: usize = 4096;

/// The bytes of a thread's stack: Rust's default.
pub(crate) const STACK: u64 = 2 << 20;

/// The bytes that a thread reserves while it starts, beside its stack.
const STARTING_THREAD: u64 = 1 << 16;

/// Starts a pool of threads that several counts can use: `pool.install(|| count.run())`.
///
/// # Errors
///
/// [`Error::InvalidValue`] unless `threads` is 1 to [`MAX_THREADS`], and [`Error::ThreadsNotStarted`] if the
/// operating system refuses to start them.
pub(crate) fn thread_pool(threads: usize) -> Result<ThreadPool, Error> {
    pool_builder(threads)?.build().map_err(|error| not_started(threads, &error))
}

/// Runs work on new threads, and returns when they have ended: some limit counts threads, and the next count starts as
/// many.
///
/// If the caller is a thread of another pool, it only waits meanwhile. In rayon's `install` it would take up other work
/// of its own pool, for example the next count, and run it on top of this one on its stack.
///
/// # Errors
///
/// The errors of [`thread_pool`].
pub(crate) fn on_new_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    let builder = pool_builder(threads)?;
    thread::scope(|scope| {
        let mut started = Vec::new();
        let start = |thread: ThreadBuilder| {
            let named = Builder::new().name(thread.name().unwrap_or_default().to_owned());
            started.push(named.spawn_scoped(scope, || thread.run())?);
            Ok(())
        };
        let worked = match builder.spawn_handler(start).build() {
            Ok(pool) => install(&pool, work),
            Err(error) => Err(not_started(threads, &error)),
        };
        // The pool is gone, so its threads end. A scope only waits until they have done their work.
        for thread in started {
            thread.join().expect("a thread of a pool catches panics");
        }
        worked
    })
}

/// Runs work on a pool. If the caller is a thread of another pool, another thread waits for it.
fn install<T: Send>(pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    if rayon::current_thread_index().is_none() {
        return Ok(pool.install(work));
    }
    thread::scope(|scope| {
        let thread = Builder::new().name("nqueens-waits".to_owned());
        let waiting = thread.spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(Error::thread_not_started)?;
        Ok(waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Prepares a pool of threads.
fn pool_builder(threads: usize) -> Result<ThreadPoolBuilder, Error> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(Error::out_of_range("a number of threads", threads, 1..=MAX_THREADS));
    }
    check_stacks(threads)?;
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    Ok(builder.thread_name(|index| format!("nqueens-{index}")))
}

fn not_started(threads: usize, error: &ThreadPoolBuildError) -> Error {
    Error::ThreadsNotStarted { threads, reason: error.to_string() }
}

/// Checks that the limits of this process leave room for the stacks of some threads. Without room, an allocation may
/// fail while the threads are being started, which would end the program.
fn check_stacks(threads: usize) -> Result<(), Error> {
    let needed = threads as u64 * (STACK + STARTING_THREAD);
    for limit in MemoryLimit::of_process() {
        if limit.available < needed {
            let needed = needed.div_ceil(1 << 20);
            let available = available_bytes(limit.available);
            let name = limit.name;
            let reason =
                format!("their stacks take {needed} MiB, but {name} leaves only {available}");
            return Err(Error::ThreadsNotStarted { threads, reason });
        }
    }
    Ok(())
}

/// The CPU of this machine. What the operating system does not report is `None`, for example without `/proc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cpu {
    pub(crate) brand: Option<String>,
    /// The number of physical cores, including cores that this process may not use.
    pub(crate) physical_cores: Option<usize>,
    /// The number of CPUs, including CPUs that this process may not use. A physical core that runs two hardware threads
    /// is two CPUs.
    pub(crate) logical_cpus: Option<usize>,
}

impl Cpu {
    /// Asks the operating system about the CPU.
    pub(crate) fn detect() -> Self {
        let wanted = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
        let system = System::new_with_specifics(wanted);
        let Some(cpu) = system.cpus().first() else {
            return Self { brand: None, physical_cores: None, logical_cpus: None };
        };
        let brand = cpu.brand().trim().to_owned();
        Self {
            brand: Some(brand).filter(|brand| !brand.is_empty()),
            physical_cores: Some(num_cpus::get_physical()),
            logical_cpus: Some(system.cpus().len()),
        }
    }
}

/// Returns the number of CPUs that this process may use, 1 to [`MAX_THREADS`].
///
/// The number respects the CPU affinity of the process, and the CPU quotas of its control group and of all groups above
/// it. A quota is rounded down to whole CPUs, but to one CPU at least. The number is 1 if the operating system does
/// not report it.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)
}

/// Returns the name of this host, or `unknown` if it has none.
pub(crate) fn host_name() -> String {
    let system = uname();
    let name = system.nodename().to_string_lossy();
    if name.is_empty() { "unknown".to_owned() } else { name.into_owned() }
}

/// Returns the CPU time that this thread has used since it started. It measures the cost of a count, whatever else
/// the machine is doing.
pub(crate) fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Returns the CPU time that all threads of this process have used since it started. It is 0 if the system has no such
/// clock.
pub(crate) fn process_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// Reads the number that follows a name at the beginning of a line. With an empty name, reads the number on the first
/// line. Returns `None` for `max` or if there is no number.
pub(crate) fn read_number(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts a thread when it ends, late.
    struct Ended(Arc<AtomicUsize>);

    impl Drop for Ended {
        fn drop(&mut self) {
            thread::sleep(Duration::from_millis(50));
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    thread_local!(static END: RefCell<Option<Ended>> = const { RefCell::new(None) });

    /// Where the number of threads is limited, the next count could not start otherwise.
    #[test]
    fn all_threads_have_ended_when_the_work_returns() {
        let ended = Arc::new(AtomicUsize::new(0));
        let note_end = |_: rayon::BroadcastContext<'_>| {
            END.set(Some(Ended(Arc::clone(&ended))));
        };
        on_new_threads(3, || rayon::broadcast(note_end)).expect("three threads");
        assert_eq!(ended.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn sleep_costs_no_cpu_time() {
        let before = thread_time();
        std::thread::sleep(Duration::from_millis(100));
        let slept = thread_time() - before;
        assert!(slept < Duration::from_millis(50), "{slept:?}");
        // This loop ends only if the clock runs while the thread works.
        while thread_time() - before < Duration::from_millis(60) {}
    }
}
