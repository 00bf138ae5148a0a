//! Fits the lists of a count into a memory budget.
//!
//! Each thread needs memory for the quadrant lists of a unit and for the products of its join. With
//! less memory the products are smaller, and the lists are made in pieces; the count takes longer. On
//! small boards the threads share raw lists of row sets, if they fit.
//!
//! The numbers are for the worst units. Peaks measured for n = 18 to 24 are 0.6 to 1.1 of them.

use super::half_board::HalvedBoard;
use super::join::{Join, LEAST_PAIRS};
use super::quadrants::pieces;
use super::units::{TILE, subsets};
use crate::engine::unit::{MemoryUse, Resources};

/// What one worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Bytes of the quadrant lists of a unit.
    pub(crate) list_bytes: u64,
    /// Pairs of words that are multiplied at once.
    pub(crate) most_pairs: u64,
}

/// The size of the raw quadrant lists that threads share, in bytes; 0 for boards on which they do not.
fn table_bytes(board: HalvedBoard) -> u64 {
    let words = match board.half {
        ..=8 => 119_000,
        9 => 916_000,
        10 => 2_040_000,
        _ => 0,
    };
    8 * words
}

/// The most bytes of the lists that a worker keeps for other units of a tile.
fn kept_bytes(board: HalvedBoard) -> u64 {
    let lists = 2 * u64::from(board.gap) * (TILE as u64 - 1);
    let longest = (0..=board.half).map(|rows| pieces::most_words(board.half, rows)).max();
    8 * lists * longest.unwrap_or(0)
}

/// The most bytes that a worker uses for joins, if products have at most this many pairs: the list of
/// half-boards of both sides and the parts of them, and stacks of groups.
fn join_bytes(board: HalvedBoard, most_pairs: u64) -> u64 {
    BYTES_PER_PAIR * most_pairs + BYTES_PER_SET * column_sets(board) + OTHER_BYTES
}

/// A list has room for a word for each pair, and the lists of a product and their parts have 0.3 to 0.4
/// of that. The longer list of one product and the shorter one of another can use the same memory.
const BYTES_PER_PAIR: u64 = 20;

/// Groups of all parts on the stack of the join.
const BYTES_PER_SET: u64 = 400;

/// Tables and buffers that do not grow with the board.
const OTHER_BYTES: u64 = 500_000;

/// The most groups of a half: one for each set of southern columns.
fn column_sets(board: HalvedBoard) -> u64 {
    subsets(board.half, board.half / 2) as u64
}

/// The least bytes with which one worker can count every unit.
pub(crate) fn least_worker_bytes(board: HalvedBoard) -> u64 {
    pieces::list_bytes(board.half, true) + join_bytes(board, LEAST_PAIRS)
}

/// The memory of a count, and the limits of each worker. There must be memory for the least that each of
/// them needs.
pub(crate) fn plan(board: HalvedBoard, resources: &Resources) -> (MemoryUse, Limits) {
    let threads = resources.threads as u64;
    let usual_pairs = Join::usual_pairs(column_sets(board)).min(pieces::most_pairs(board.half));
    let whole_lists = pieces::list_bytes(board.half, false);
    let wanted = whole_lists + join_bytes(board, usual_pairs);
    let with_kept = wanted + kept_bytes(board);
    let rest = resources.memory.saturating_sub(with_kept.saturating_mul(threads));
    let table = table_bytes(board);
    if (1..=rest).contains(&table) {
        let list_bytes = whole_lists + kept_bytes(board);
        let limits = Limits { list_bytes, most_pairs: usual_pairs };
        let memory =
            MemoryUse { shared: table, per_thread: with_kept, strategy: "quadrant lists shared" };
        return (memory, limits);
    }
    let per_thread = wanted.min(resources.memory / threads);
    assert!(per_thread >= least_worker_bytes(board), "no lists fit {per_thread} bytes");
    // Smaller products cost less time than pieces, until they get very small.
    let for_join = per_thread.saturating_sub(whole_lists).max(per_thread / 4);
    let [least, usual] = [LEAST_PAIRS, usual_pairs].map(|pairs| join_bytes(board, pairs));
    let for_join = for_join.clamp(least, usual);
    let most_pairs = (for_join - join_bytes(board, 0)) / BYTES_PER_PAIR;
    let list_bytes = per_thread - for_join;
    let strategy = match list_bytes < whole_lists {
        true => "quadrant lists in pieces",
        false => "quadrant lists by row set",
    };
    (MemoryUse { shared: 0, per_thread, strategy }, Limits { list_bytes, most_pairs })
}
