//! How the lists of a count fit a memory budget.
//!
//! Two things need memory: the lists of all quadrants, which threads share, and each thread's lists
//! of half-boards. If the budget is too small for the first, they are made for each row set when a
//! unit needs them; if it is too small for the second, the engine cannot work.

use super::half_board::HalvedBoard;
use crate::engine::subtrees;
use crate::engine::unit::{MemoryUse, Resources};
use crate::error::{Error, Shortage};
use crate::memory::fitting_threads;

/// What is kept of the quadrant lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All of them, shared by the threads.
    Whole,
    /// Those of the current unit's row sets, in each thread.
    RowSets,
}

/// Quadrant lists are not kept whole beyond this: making them would take seconds, and from there
/// on a unit takes so long that making the lists of its row sets hardly matters.
const WHOLE_TABLE_LIMIT: u64 = 2 << 30;

/// Bytes of all quadrant lists.
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

/// Bytes that one worker may need: two lists of half-boards, the arena of the join and the lists of
/// the row sets. Measured peaks, mostly from samples: 45 MB for h = 11, 360 MB for 12, 1.4 GB for 13;
/// this is two to four times as much.
pub(crate) fn worker_bytes(board: HalvedBoard) -> u64 {
    let words = match board.half {
        ..=8 => 10_000,
        half => 10_000 * 7_u64.pow(half - 8),
    };
    8 * 4 * words
}

/// Decides what is kept.
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
