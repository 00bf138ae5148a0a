//! Checks that there is memory before it is needed, because a process that takes too much is killed.

use crate::board::size::BoardSize;
use crate::engine::{Engine, recount_bytes};
use crate::error::{Error, LackOfMemory};
use crate::machine::STACK;
use crate::machine::memory::{MemoryLimit, StatedMemory};

const MIB: u64 = 1 << 20;
/// The bytes that a thread of a recount may reserve beyond those that it uses, mostly for small allocations.
const RECOUNT_RESERVE: u64 = MIB;
/// The least memory that is checked before it is used. To ask for all limits takes longer than a small count.
const MIN_CHECKED: u64 = MIB;
/// The bytes that a process may take between the choice of its threads and their work: for threads that hear signals
/// and print messages, and for what is known of some thousand journals.
const BEFORE_WORK: u64 = 8 * MIB;

/// Checks that there are these bytes for something that is needed once, however many threads there are.
pub(super) fn check_memory_once(
    user: &str,
    size: BoardSize,
    bytes: u64,
    stated: Option<StatedMemory>,
) -> Result<(), Error> {
    if bytes < MIN_CHECKED {
        return Ok(());
    }
    let limits = MemoryLimit::all(stated);
    let Some(limit) = limits.into_iter().min_by_key(|limit| limit.available) else { return Ok(()) };
    if bytes <= limit.usable() {
        return Ok(());
    }
    Err(Error::LacksMemory(LackOfMemory {
        user: user.to_owned(),
        n: size.get(),
        threads: None,
        bytes,
        usable: limit.usable(),
        fits_without_others: limit.fits_without_others(bytes),
        limit: limit.name,
        fitting_threads: 0,
    }))
}

/// The memory that each thread needs for its work on a board.
#[derive(Clone, Debug)]
pub(crate) struct ThreadMemory {
    /// What needs the memory, such as `engine colours`.
    user: String,
    size: BoardSize,
    /// The bytes that it uses.
    bytes: u64,
    /// The bytes that it may reserve beyond those, without its stack.
    reserve: u64,
}

impl ThreadMemory {
    /// Returns what a thread needs that counts with an engine.
    pub(crate) fn of_engine(engine: Engine, size: BoardSize) -> Self {
        Self {
            user: format!("engine {engine}"),
            size,
            bytes: engine.memory_of_thread(size),
            reserve: engine.worker_reserve(size),
        }
    }

    /// Returns what a thread needs that recounts units by backtracking.
    pub(super) fn of_backtracking(size: BoardSize) -> Self {
        Self { user: "the recount".to_owned(), size, bytes: 0, reserve: RECOUNT_RESERVE }
    }

    /// Returns what a thread needs that recounts units by a search of each colour.
    pub(super) fn of_each_colour(size: BoardSize) -> Self {
        Self { bytes: recount_bytes(size), ..Self::of_backtracking(size) }
    }

    /// Checks that all limits on memory leave room for threads that are not started yet.
    pub(crate) fn check_before_start(
        &self,
        threads: usize,
        stated: Option<StatedMemory>,
    ) -> Result<(), LackOfMemory> {
        let mut limits = self.limits(threads, stated);
        for limit in &mut limits {
            limit.available = limit.available.saturating_sub(BEFORE_WORK);
        }
        self.check(threads, limits)
    }

    /// Checks that all limits on memory leave room for the work of threads that have started.
    pub(super) fn check_started(
        &self,
        threads: usize,
        stated: Option<StatedMemory>,
    ) -> Result<(), LackOfMemory> {
        let mut limits = self.limits(threads, stated);
        for limit in &mut limits {
            // Where reserved memory counts, their stacks do already, but with fewer threads there would be fewer
            // stacks.
            if limit.counts_reserved {
                limit.available += threads as u64 * STACK;
            }
        }
        self.check(threads, limits)
    }

    /// Returns the limits that may matter. If the threads use little, these are only the limits of the process, which
    /// are asked in no time.
    fn limits(&self, threads: usize, stated: Option<StatedMemory>) -> Vec<MemoryLimit> {
        if self.bytes.saturating_mul(threads as u64) >= MIN_CHECKED {
            MemoryLimit::all(stated)
        } else {
            MemoryLimit::of_process()
        }
    }

    fn check(&self, threads: usize, limits: Vec<MemoryLimit>) -> Result<(), LackOfMemory> {
        let tightest = limits.into_iter().min_by_key(|limit| self.fitting_threads(limit));
        let Some(limit) = tightest else { return Ok(()) };
        let fitting_threads = self.fitting_threads(&limit);
        if fitting_threads >= threads {
            return Ok(());
        }
        let bytes = self.bytes_under(&limit);
        Err(LackOfMemory {
            user: self.user.clone(),
            n: self.size.get(),
            threads: Some(threads),
            bytes,
            usable: limit.usable(),
            fits_without_others: limit.fits_without_others(bytes.saturating_mul(threads as u64)),
            limit: limit.name,
            fitting_threads,
        })
    }

    /// Returns the number of threads that fit under a limit.
    fn fitting_threads(&self, limit: &MemoryLimit) -> usize {
        match limit.usable().checked_div(self.bytes_under(limit)) {
            Some(threads) => usize::try_from(threads).unwrap_or(usize::MAX),
            // Any number of threads fits if they need no memory.
            None => usize::MAX,
        }
    }

    /// Returns the bytes of a thread that count under a limit.
    fn bytes_under(&self, limit: &MemoryLimit) -> u64 {
        if limit.counts_reserved { self.bytes + self.reserve + STACK } else { self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that lets a count use this many bytes.
    fn with_usable(bytes: u64) -> Option<StatedMemory> {
        Some(StatedMemory { bytes: bytes / 3 * 4, name: "the test" })
    }

    fn board() -> BoardSize {
        BoardSize::new(20).expect("in range")
    }

    fn thread_memory(bytes: u64) -> ThreadMemory {
        ThreadMemory { bytes, ..ThreadMemory::of_backtracking(board()) }
    }

    /// The number of threads that fit, if these do not.
    fn fitting(bytes: u64, threads: usize, stated: Option<StatedMemory>) -> Option<usize> {
        let checked = thread_memory(bytes).check_started(threads, stated);
        checked.err().map(|lack| lack.fitting_threads)
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
            check_memory_once("the test", board(), bytes, with_usable(usable)).is_ok()
        };
        assert!(check(MIN_CHECKED - 1, 0));
        assert!(!check(MIN_CHECKED, 0));
        assert!(check(12 << 20, 12 << 20));
        assert!(!check((12 << 20) + 1, 12 << 20));
        assert_eq!(fitting(MIN_CHECKED - 1, 1, with_usable(0)), None);
        assert_eq!(fitting(MIN_CHECKED, 1, with_usable(0)), Some(0));
    }

    fn limit(name: &str, bytes: u64, counts_reserved: bool) -> MemoryLimit {
        let (total, available, without_others) = (bytes, bytes, bytes);
        MemoryLimit { name: name.to_owned(), total, available, without_others, counts_reserved }
    }

    #[test]
    fn stacks_and_reserves_count_where_reserved_memory_counts() {
        let thread = thread_memory(MIB);
        let of_thread = MIB + RECOUNT_RESERVE + STACK;
        for (counts_reserved, bytes) in [(false, MIB), (true, of_thread)] {
            let limit = limit("the test", 4 * bytes, counts_reserved);
            assert_eq!(thread.fitting_threads(&limit), 3, "{limit:?}");
        }
    }

    /// It need not be the limit that leaves the fewest bytes, because a thread reserves more than it uses.
    #[test]
    fn a_refusal_names_the_limit_under_which_the_fewest_threads_fit() {
        let limits =
            vec![limit("machine", 40 << 20, false), limit("of the process", 48 << 20, true)];
        let lack = thread_memory(MIB).check(31, limits).expect_err("too many");
        assert_eq!((&*lack.limit, lack.fitting_threads), ("of the process", 9));
    }

    #[test]
    fn memory_that_others_use_is_told_from_memory_that_is_not_there() {
        let thread = thread_memory(MIB);
        let shared = MemoryLimit { available: 4 << 20, ..limit("shared", 8 << 20, false) };
        for (threads, expected) in [(6, true), (7, false)] {
            let lack = thread.check(threads, vec![shared.clone()]).expect_err("three fit");
            assert_eq!((lack.fitting_threads, lack.fits_without_others), (3, expected));
        }
    }
}
