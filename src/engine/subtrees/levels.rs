//! One buffer of nodes for each row, and the order in which the buffers are processed.
//!
//! A *level* holds the nodes of one row: in these nodes all rows above are filled. A pass takes up to [`PASS`] nodes
//! from the end of a level. It writes the next child of each node to the level below, and keeps the nodes that have
//! more children.
//!
//! ```text
//! loop:
//!   make a pass over the lowest level that is full, with at least PASS nodes;
//!   if none is full, over the highest level with nodes; done if there is none
//! ```
//!
//! Going down first keeps the levels short: a level has fewer than [`PASS`] nodes before a pass over the level above
//! adds at most [`PASS`]. Passes over levels that are not full are rare: a subtree of a million nodes has a hundred
//! of them. The rows of a prefix are passed in this way too, with one node in each row.

use super::level::{CAPACITY, Level};
use crate::board::size::{BoardSize, Squares};
use crate::board::solutions::Node;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// The number of nodes in a full pass. It is a multiple of the lanes of every kernel. It is so large that the
/// mispredicted branch at the end of a pass is cheap, and so small that all levels stay in the first-level cache.
const PASS: usize = 96;

const _: () = assert!(2 * PASS <= CAPACITY && CAPACITY.is_power_of_two());

/// The buffers of one thread.
pub(super) struct Levels {
    kernel: Kernel,
    /// One bit for each column.
    board: u32,
    /// A level for each row except the last two.
    levels: Vec<Level>,
}

impl Levels {
    /// Makes buffers for boards of this size, at least three rows.
    pub(super) fn new(kernel: Kernel, size: BoardSize) -> Self {
        Self { kernel, board: size.columns(), levels: vec![Level::EMPTY; size.rows() - 2] }
    }

    /// Counts the solutions whose queens stand in the allowed columns of each row.
    pub(super) fn count(&mut self, allowed: &Squares, cancel: &Cancel) -> Result<u64, Interrupt> {
        // A cancelled count leaves nodes behind.
        for level in &mut self.levels {
            level.len = 0;
        }
        self.levels[0].set(0, Node::top(allowed[0]));
        self.levels[0].len = 1;
        let mut last_row = 0;
        let mut solutions = 0_u64;
        while let Some(row) = self.next_row(last_row) {
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            let from = self.levels[row].len.saturating_sub(PASS);
            match &mut self.levels[row..] {
                [level, next, ..] => {
                    assert!(next.len < PASS, "a full level has room for no other pass");
                    let below = [allowed[row + 1], allowed[row + 2], allowed[row + 3]];
                    self.kernel.expand(level, next, from, below);
                }
                [level] => {
                    let below = [allowed[row + 1], allowed[row + 2]];
                    let found = self.kernel.finish(level, from, below, self.board);
                    solutions = solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
                }
                [] => unreachable!("the next row has a level"),
            }
            last_row = row;
        }
        Ok(solutions)
    }

    /// Returns the row of the next pass, given the row of the last one: the lowest row with a full level, or the
    /// highest row with nodes. Returns `None` if no nodes are left.
    fn next_row(&self, last_row: usize) -> Option<usize> {
        // Below the row of the last pass, only the next level can be full.
        let reach = self.levels.len().min(last_row + 2);
        let lowest_full = self.levels[..reach].iter().rposition(|level| level.len >= PASS);
        if lowest_full.is_some() {
            return lowest_full;
        }
        self.levels.iter().position(|level| level.len > 0)
    }
}
