//! Fits the lists of a count into a memory budget.
//!
//! Two things need memory: the lists of all quadrants, which threads share, and each thread's lists
//! of half-boards. If the budget is too small for the first, the lists of a row set are made when a
//! unit needs them. If it is too small for the second, the engine cannot run.

use super::half_board::HalvedBoard;
use crate::engine::subtrees;
use crate::engine::unit::{MemoryUse, Resources};
use crate::error::{Error, Shortage};
use crate::memory::fitting_threads;

/// Which quadrant lists are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All of them, shared by the threads.
    Whole,
    /// Those of the current unit's row sets, in each thread.
    RowSets,
}

/// The largest size at which all quadrant lists are kept. Making larger ones would take seconds, and
/// then a unit takes so long that making the lists of its row sets hardly matters.
const WHOLE_TABLE_LIMIT: u64 = 2 << 30;

/// The size of all quadrant lists in bytes.
fn table_bytes(board: HalvedBoard) -> u64 {
    let words = match board.half {
        ..=8 => 100_000,
        9 => 850_000,
        10 => 7_600_000,
        11 => 68_000_000,
        half => 68_000_000 * 10_u64.pow(half - 11),
    };
    16 * words
}

/// The memory that one worker may need, in bytes: two lists of half-boards, the arena of the join and
/// the lists of the row sets. It is two to four times the peaks measured, mostly in samples: 45 MB for
/// h = 11, 360 MB for 12, 1.4 GB for 13.
pub(crate) fn worker_bytes(board: HalvedBoard) -> u64 {
    let words = match board.half {
        ..=8 => 10_000,
        half => 10_000 * 7_u64.pow(half - 8),
    };
    8 * 4 * words
}

pub(crate) fn plan(board: HalvedBoard, resources: &Resources) -> Result<(Keep, MemoryUse), Error> {
    let per_thread = worker_bytes(board);
    let for_threads = per_thread.saturating_mul(resources.threads as u64);
    let Some(rest) = resources.memory.checked_sub(for_threads) else {
        return Err(Error::MemoryBudget(Shortage {
            engine: "halves",
            n: board.size,
            needed: for_threads,
            threads: resources.threads,
            least: per_thread,
            fitting: fitting_threads(resources.memory, per_thread),
            budget: resources.memory,
            given: true,
            subtrees_time: subtrees::expected_time(board.size),
        }));
    };
    let whole = table_bytes(board);
    if whole <= rest.min(WHOLE_TABLE_LIMIT) {
        let strategy = "quadrant lists whole";
        Ok((Keep::Whole, MemoryUse { shared: whole, per_thread, strategy }))
    } else {
        let strategy = "quadrant lists by row set";
        Ok((Keep::RowSets, MemoryUse { shared: 0, per_thread, strategy }))
    }
}
