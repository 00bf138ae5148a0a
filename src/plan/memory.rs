//! Checks that there is memory before it is needed, because a process that takes too much is killed.

use crate::board::size::BoardSize;
use crate::error::Error;
use crate::machine::memory::Memory;

/// The bytes of a thread's stack: Rust's default.
const STACK: u64 = 2 << 20;
/// The bytes that a thread of a recount may reserve beyond those that it uses, mostly for small allocations.
pub(super) const RECOUNT_RESERVE: u64 = 1 << 20;
/// The smallest allocation that is checked before it is made. To ask for all limits takes longer than a small count.
const MIN_CHECKED: u64 = 1 << 20;

/// Checks that every limit on memory leaves this many bytes. They are needed once, however many threads there are.
pub(crate) fn check_memory_once(what: &str, size: BoardSize, bytes: u64) -> Result<(), Error> {
    if bytes < MIN_CHECKED {
        return Ok(());
    }
    let limits = Memory::limits()?;
    match limits.into_iter().min_by_key(Memory::usable) {
        Some(limit) if limit.usable() < bytes => {
            Err(lacks_memory(what.to_owned(), size, None, bytes, limit))
        }
        _ => Ok(()),
    }
}

/// Checks that every limit on memory lets these threads run. The error names the limit that lets the fewest run.
///
/// A thread uses `bytes`, and reserves `reserve` bytes more. The threads have already started, so their stacks count
/// as used. With fewer threads there would be fewer stacks, so the stacks are added to what is available.
pub(super) fn check_memory_of_threads(
    what: String,
    size: BoardSize,
    bytes: u64,
    reserve: u64,
    threads: usize,
) -> Result<(), Error> {
    let mut fewest_fitting = threads as u64;
    let mut tightest = None;
    for mut limit in Memory::limits()? {
        let mut bytes_of_thread = bytes;
        if limit.counts_reserved {
            bytes_of_thread += reserve + STACK;
            limit.available += threads as u64 * STACK;
        }
        // Any number of threads fits if they need no memory.
        let Some(fitting) = limit.usable().checked_div(bytes_of_thread) else { continue };
        if fitting < fewest_fitting {
            fewest_fitting = fitting;
            tightest = Some((bytes_of_thread, limit));
        }
    }
    match tightest {
        Some((bytes, limit)) => Err(lacks_memory(what, size, Some(threads), bytes, limit)),
        None => Ok(()),
    }
}

/// Makes the error of a limit that leaves too little memory.
fn lacks_memory(
    what: String,
    size: BoardSize,
    threads: Option<usize>,
    bytes: u64,
    limit: Memory,
) -> Error {
    Error::LacksMemory {
        what,
        n: size.get(),
        threads,
        bytes,
        usable: limit.usable(),
        most: limit.most(),
        limit: limit.limit,
    }
}
