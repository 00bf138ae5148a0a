//! One buffer of nodes for each row, and the order in which they are processed.
//!
//! A *level* holds nodes whose rows above are filled. A pass takes up to [`PASS`] nodes from the
//! end of a level, moves each one's next child down and keeps the nodes that have more children.
//!
//! ```text
//! loop:
//!   make a pass over the lowest level that is full, with at least PASS nodes;
//!   if none is full, over the highest level with nodes; done if there is none
//! ```
//!
//! Going down first keeps the levels short: a level has fewer than [`PASS`] nodes before a pass over
//! the one above adds at most [`PASS`]. Passes of the last kind, with fewer nodes, are rare: a
//! subtree of a million nodes has a hundred of them. A prefix is passed in the same way, one node a row.

use super::level::{CAPACITY, Level};
use crate::board::size::{BoardSize, Squares};
use crate::board::solutions::Node;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// Nodes in a full pass: a multiple of all kernels' lanes, large enough that the mispredicted
/// branch at its end is cheap, small enough that all levels stay in the first-level cache.
const PASS: usize = 96;

const _: () = assert!(2 * PASS <= CAPACITY && CAPACITY.is_power_of_two());

/// The buffers of one thread.
pub(super) struct Levels {
    kernel: Kernel,
    /// One bit for each column.
    board: u32,
    /// One for each row but the last two.
    levels: Vec<Level>,
}

impl Levels {
    /// Buffers for boards of this size, which have three rows or more.
    pub(super) fn new(kernel: Kernel, size: BoardSize) -> Self {
        Self { kernel, board: size.columns(), levels: vec![Level::EMPTY; size.rows() - 2] }
    }

    /// Counts the solutions whose queens stand in the allowed columns of each row.
    pub(super) fn count(&mut self, allowed: &Squares, cancel: &Cancel) -> Result<u64, Interrupt> {
        // A cancelled count leaves nodes behind.
        self.levels.iter_mut().for_each(|level| level.len = 0);
        self.levels[0].set(0, Node::top(allowed[0]));
        self.levels[0].len = 1;
        let (mut row, mut solutions) = (0, 0_u64);
        loop {
            // Below the last pass, only the next level can be full.
            let reach = self.levels.len().min(row + 2);
            let full = self.levels[..reach].iter().rposition(|level| level.len >= PASS);
            let highest = || self.levels.iter().position(|level| level.len > 0);
            match full.or_else(highest) {
                Some(next) => row = next,
                None => return Ok(solutions),
            }
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            let below = |rows| allowed[row + rows];
            let from = self.levels[row].len.saturating_sub(PASS);
            match &mut self.levels[row..] {
                [level, next, ..] => {
                    assert!(next.len < PASS, "a full level has room for no other pass");
                    self.kernel.expand(level, next, from, [1, 2, 3].map(below));
                }
                level => {
                    let found =
                        self.kernel.finish(&mut level[0], from, [1, 2].map(below), self.board);
                    solutions = solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
                }
            }
        }
    }
}
