//! One buffer of nodes for each row, and the order in which they are processed.
//!
//! A *level* holds nodes whose rows above are filled. A pass takes up to [`BATCH`] nodes from the
//! end of a level, moves each one's next child down and keeps the nodes that have more children.
//!
//! ```text
//! loop:
//!   if this level has a full batch:  make a pass; go down a level if that one is now full
//!   else if there are levels above:  go up one
//!   else:                            make a pass over the highest level with nodes; done if none
//! ```
//!
//! Going down first keeps the levels short: a level has fewer than [`BATCH`] nodes before a pass over
//! the one above adds at most [`BATCH`]. Passes of the last kind, with fewer nodes, are rare: a
//! subtree of a million nodes has a hundred of them.

use super::kernel;
use super::level::{CAPACITY, Level};
use crate::board::size::{BoardSize, Squares};
use crate::board::solution::Node;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// Nodes in a full pass: a multiple of all kernels' lanes, large enough that the mispredicted
/// branch at its end is cheap, small enough that all levels stay in the first-level cache.
const BATCH: usize = 96;

const _: () = assert!(2 * BATCH <= CAPACITY && CAPACITY.is_power_of_two());

#[derive(Clone, Debug)]
pub(crate) struct Levels {
    size: BoardSize,
    /// One for each row but the last two.
    levels: Vec<Level>,
}

impl Levels {
    pub(crate) fn new(size: BoardSize) -> Self {
        Self { size, levels: vec![Level::EMPTY; size.rows().saturating_sub(2)] }
    }

    /// Counts the solutions below a node of `first_row`.
    pub(crate) fn count(
        &mut self,
        kernel: Kernel,
        blocked: &Squares,
        first_row: usize,
        root: Node,
        cancel: &Cancel,
    ) -> Result<u64, Interrupt> {
        // A cancelled count leaves nodes behind.
        self.levels.iter_mut().for_each(|level| level.len = 0);
        self.levels[first_row].push(root);
        let (mut row, mut solutions) = (first_row, 0_u64);
        loop {
            if self.levels[row].len < BATCH {
                if row > first_row {
                    row -= 1;
                    continue;
                }
                match self.levels[first_row..].iter().position(|level| level.len > 0) {
                    Some(highest) => row = first_row + highest,
                    None => return Ok(solutions),
                }
            }
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            let found = self.pass(kernel, blocked, row);
            solutions = solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
            if self.levels.get(row + 1).is_some_and(|next| next.len >= BATCH) {
                row += 1;
            }
        }
    }

    /// Takes the next child of each of the last nodes of a row; returns the solutions found.
    fn pass(&mut self, kernel: Kernel, blocked: &Squares, row: usize) -> u64 {
        let from = self.levels[row].len.saturating_sub(BATCH);
        match &mut self.levels[row..] {
            [last] => {
                let below = [blocked[row + 1], blocked[row + 2]];
                kernel.finish(last, from, below, self.size.columns())
            }
            [level, next, ..] => {
                let below = [blocked[row + 1], blocked[row + 2], blocked[row + 3]];
                kernel::expand(kernel, level, next, from, below);
                0
            }
            [] => unreachable!("the row has a level"),
        }
    }
}
