//! The threads of a count.

use std::path::Path;

use crate::error::Error;
use crate::machine::cgroup::{self, GroupLimit};

/// The most threads that a count can start.
pub const MAX_THREADS: usize = 4096;

/// Makes sure that this is a number of threads.
pub(crate) fn check(threads: usize) -> Result<(), Error> {
    match threads {
        1..=MAX_THREADS => Ok(()),
        _ => Err(Error::ThreadsOutOfRange { given: threads.to_string(), max: MAX_THREADS }),
    }
}

/// A rayon pool of this many threads, for several counts.
///
/// # Errors
///
/// [`Error::ThreadsOutOfRange`] unless `threads` is 1 to [`MAX_THREADS`];
/// [`Error::ThreadsNotStarted`] if the operating system refuses.
pub fn thread_pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    check(threads)?;
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("nqueens-{index}"))
        .build()
        .map_err(|error| {
            let reason = limit().map_or(error.to_string(), |limit| format!("{error}; {limit}"));
            Error::ThreadsNotStarted { threads, reason }
        })
}

/// The tightest limit on processes and threads, if there is one.
fn limit() -> Option<String> {
    let group = cgroup::tasks(Path::new("/"));
    let own = user_limit();
    match group {
        Some(GroupLimit { file, limit, .. }) if own.is_none_or(|own| limit < own) => {
            Some(format!("{} allows {limit} processes and threads", file.display()))
        }
        _ => own.map(|own| format!("ulimit -u allows this user {own} processes and threads")),
    }
}

/// The limit of `ulimit -u`. It does not bind root.
#[cfg(unix)]
fn user_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nproc).current
}

#[cfg(not(unix))]
fn user_limit() -> Option<u64> {
    None
}
