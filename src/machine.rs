//! This machine: its CPU, its memory with the limits on it, and its threads.

pub(crate) mod cgroup;
pub mod cpu;
pub mod memory;

use crate::error::Error;

/// The most threads that a count can start. More than a few for each core count no faster: threads without
/// work look for some at all others, so 4096 of them on one core take minutes.
pub const MAX_THREADS: usize = 4096;

/// A pool of this many threads, for several counts ([`Count::pool`](crate::Count::pool)).
///
/// # Errors
///
/// [`Error::OutOfRange`] unless `threads` is 1 to [`MAX_THREADS`];
/// [`Error::ThreadsNotStarted`] if the operating system refuses.
pub fn thread_pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(Error::out_of_range("a number of threads", threads, 1..=MAX_THREADS));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("nqueens-{index}"))
        .build()
        .map_err(|error| Error::ThreadsNotStarted { threads, reason: error.to_string() })
}
