//! Checks that there is memory before it is needed, because a process that takes too much is killed.

use std::cmp::Reverse;

use crate::board::size::BoardSize;
use crate::error::{Error, LackOfMemory, MemoryUser, Remedy};
use crate::machine::STACK;
use crate::machine::memory::{Memory, StatedMemory, process_limits};

const MIB: u64 = 1 << 20;
/// The bytes that a thread of a recount may reserve beyond those that it uses, mostly for small allocations.
pub(super) const RECOUNT_RESERVE: u64 = MIB;
/// The least memory that is checked before it is used. To ask for all limits takes longer than a small count.
const MIN_CHECKED: u64 = MIB;

/// Checks that every limit on memory leaves this many bytes. They are needed once, however many threads there are.
pub(super) fn check_memory_once(
    user: MemoryUser,
    size: BoardSize,
    bytes: u64,
    stated: Option<StatedMemory>,
) -> Result<(), Error> {
    if bytes < MIN_CHECKED {
        return Ok(());
    }
    let mut refusals = Vec::new();
    for limit in Memory::limits(stated) {
        if limit.usable() < bytes {
            refusals.push(Refusal {
                bytes,
                fitting_threads: 0,
                remedy: limit.remedy(bytes),
                limit,
            });
        }
    }
    match hardest(refusals) {
        Some(refusal) => Err(refusal.lacks_memory(user, size, None, 0)),
        None => Ok(()),
    }
}

/// Checks that every limit on memory lets these threads run.
///
/// A thread uses `bytes`, and reserves `reserve` bytes more.
pub(super) fn check_memory_of_threads(
    user: MemoryUser,
    size: BoardSize,
    bytes: u64,
    reserve: u64,
    threads: usize,
    stated: Option<StatedMemory>,
) -> Result<(), Error> {
    let mut refusals = Vec::new();
    for limit_now in limits_for(bytes.saturating_mul(threads as u64), stated) {
        let bytes_of_thread = counted_bytes(&limit_now, bytes, reserve);
        let limit = without_stacks(limit_now, threads);
        // Any number of threads fits if they need no memory.
        let Some(fitting_threads) = limit.usable().checked_div(bytes_of_thread) else { continue };
        if fitting_threads < threads as u64 {
            let needed = bytes_of_thread.saturating_mul(threads as u64);
            let remedy = limit.remedy(needed);
            refusals.push(Refusal { bytes: bytes_of_thread, fitting_threads, remedy, limit });
        }
    }
    let fewest = refusals.iter().map(|refusal| refusal.fitting_threads).min();
    match (hardest(refusals), fewest) {
        (Some(refusal), Some(fewest)) => {
            // There are fewer than the threads that were asked for.
            let fewest = usize::try_from(fewest).unwrap_or(threads);
            Err(refusal.lacks_memory(user, size, Some(threads), fewest))
        }
        _ => Ok(()),
    }
}

/// Returns the bytes of a thread that count under a limit.
fn counted_bytes(limit: &Memory, bytes: u64, reserve: u64) -> u64 {
    if limit.counts_reserved { bytes + reserve + STACK } else { bytes }
}

/// Returns a limit as it was before these threads started. Since then their stacks count as used where reserved memory
/// counts, but with fewer threads there would be fewer stacks.
fn without_stacks(limit: Memory, threads: usize) -> Memory {
    if !limit.counts_reserved {
        return limit;
    }
    let available = limit.available + threads as u64 * STACK;
    Memory { available, ..limit }
}

/// Returns the limits that may matter to threads that use this many bytes in all. If the bytes are few, these are only
/// the limits that also count stacks and reserved memory.
fn limits_for(bytes: u64, stated: Option<StatedMemory>) -> Vec<Memory> {
    if bytes >= MIN_CHECKED { Memory::limits(stated) } else { process_limits() }
}

/// A limit that leaves too little memory.
struct Refusal {
    /// The bytes that each thread needs under this limit.
    bytes: u64,
    /// The number of threads that fit under this limit.
    fitting_threads: u64,
    remedy: Remedy,
    limit: Memory,
}

/// Returns the refusal that is hardest to change. If waiting helps under one limit but never under another, the user
/// must know of the other. Among equals it is the limit under which the fewest threads fit, or the fewest bytes.
fn hardest(refusals: Vec<Refusal>) -> Option<Refusal> {
    refusals.into_iter().min_by_key(|refusal| {
        (Reverse(refusal.remedy), refusal.fitting_threads, refusal.limit.usable())
    })
}

impl Refusal {
    /// Makes the error of this refusal.
    fn lacks_memory(
        self,
        user: MemoryUser,
        size: BoardSize,
        threads: Option<usize>,
        fitting_threads: usize,
    ) -> Error {
        Error::LacksMemory(LackOfMemory {
            user,
            n: size.get(),
            threads,
            bytes: self.bytes,
            usable: self.limit.usable(),
            limit: self.limit.limit,
            remedy: self.remedy,
            fitting_threads,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// A machine that lets a count use this many bytes.
    fn with_usable(bytes: u64) -> Option<StatedMemory> {
        Some(StatedMemory { bytes: bytes / 3 * 4, name: "the test" })
    }

    /// The number of threads that fit, if these do not.
    fn fitting(bytes: u64, threads: usize, stated: Option<StatedMemory>) -> Option<usize> {
        let size = BoardSize::new(20).expect("in range");
        match check_memory_of_threads(MemoryUser::Colours, size, bytes, 0, threads, stated) {
            Ok(()) => None,
            Err(Error::LacksMemory(lack)) => Some(lack.fitting_threads),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn threads_fit_up_to_the_last_byte() {
        let stated = with_usable(12 << 20);
        assert_eq!(fitting(4 << 20, 3, stated), None);
        assert_eq!(fitting((4 << 20) + 1, 3, stated), Some(2));
        assert_eq!(fitting(4 << 20, 4, stated), Some(3));
        assert_eq!(fitting(13 << 20, 1, stated), Some(0));
        assert_eq!(fitting(0, 1, stated), None);
    }

    #[test]
    fn what_takes_less_than_a_megabyte_is_not_checked() {
        let check = |bytes, usable| {
            let size = BoardSize::new(20).expect("in range");
            check_memory_once(MemoryUser::Colours, size, bytes, with_usable(usable)).is_ok()
        };
        assert!(check(MIN_CHECKED - 1, 0));
        assert!(!check(MIN_CHECKED, 0));
        assert!(check(12 << 20, 12 << 20));
        assert!(!check((12 << 20) + 1, 12 << 20));
        assert_eq!(fitting(MIN_CHECKED - 1, 1, with_usable(0)), None);
        assert_eq!(fitting(MIN_CHECKED, 1, with_usable(0)), Some(0));
    }

    #[test]
    fn stacks_and_reserves_count_where_reserved_memory_counts() {
        let stated = with_usable(3 << 20).expect("a machine");
        let limits = Memory::limits(Some(stated));
        let machine = limits.into_iter().next().expect("the machine is the first");
        assert_eq!(without_stacks(machine.clone(), 2), machine);
        assert_eq!(counted_bytes(&machine, 5, 7), 5);
        let own = Memory { counts_reserved: true, ..machine };
        assert_eq!(without_stacks(own.clone(), 2).available, own.available + 2 * STACK);
        assert_eq!(counted_bytes(&own, 5, 7), 12 + STACK);
    }
}
