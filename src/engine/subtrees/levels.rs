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
//! The last step is left out where more nodes will come: a pass over a full batch costs least for each
//! of its nodes.
//!
//! Going down first keeps the levels short: a level has fewer than [`BATCH`] nodes before a pass over
//! the one above adds at most [`BATCH`]. Passes of the last kind, with fewer nodes, are rare: a
//! subtree of a million nodes has a hundred of them.

use std::ops::Range;

use super::kernel;
use super::level::{CAPACITY, Level};
use crate::board::size::{BoardSize, Squares};
use crate::board::solution::Node;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// Nodes in a full pass: a multiple of all kernels' lanes, large enough that the mispredicted
/// branch at its end is cheap, small enough that all levels stay in the first-level cache.
pub(super) const BATCH: usize = 96;

const _: () = assert!(2 * BATCH <= CAPACITY && CAPACITY.is_power_of_two());

#[derive(Clone, Debug)]
pub(crate) struct Levels {
    size: BoardSize,
    /// One for each row but the last two.
    levels: Vec<Level>,
}

impl Levels {
    pub(crate) fn new(size: BoardSize) -> Self {
        Self { size, levels: vec![Level::new(); size.rows().saturating_sub(2)] }
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
        self.clear();
        self.levels[first_row].push(root);
        self.count_waiting(kernel, blocked, first_row, 1, cancel)
    }

    /// Forgets all nodes: a cancelled count leaves some behind.
    pub(super) fn clear(&mut self) {
        for level in &mut self.levels {
            level.len = 0;
        }
    }

    /// The nodes of a row.
    pub(super) fn of_row(&mut self, row: usize) -> &mut Level {
        &mut self.levels[row]
    }

    /// Counts the solutions below the nodes from `first_row` on, until each level has fewer than
    /// `enough` nodes: [`BATCH`] if more will come, 1 if all shall be counted.
    pub(super) fn count_waiting(
        &mut self,
        kernel: Kernel,
        blocked: &Squares,
        first_row: usize,
        enough: usize,
        cancel: &Cancel,
    ) -> Result<u64, Interrupt> {
        let mut solutions = 0u64;
        self.walk(first_row..self.levels.len(), enough, cancel, |levels, row| {
            let found = levels.pass(kernel, blocked, row);
            solutions = solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
            Ok(())
        })?;
        Ok(solutions)
    }

    /// Makes passes over these rows, in the order of the header, until each has fewer than `enough`
    /// nodes.
    pub(super) fn walk(
        &mut self,
        rows: Range<usize>,
        enough: usize,
        cancel: &Cancel,
        mut pass: impl FnMut(&mut Self, usize) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let mut row = rows.start;
        loop {
            if self.levels[row].len < BATCH {
                if row > rows.start {
                    row -= 1;
                    continue;
                }
                match self.levels[rows.clone()].iter().position(|level| level.len >= enough) {
                    Some(highest) => row = rows.start + highest,
                    None => return Ok(()),
                }
            }
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            pass(self, row)?;
            if row + 1 < rows.end && self.levels[row + 1].len >= BATCH {
                row += 1;
            }
        }
    }

    /// Takes the next child of each of the last nodes of a row; returns the solutions found.
    pub(super) fn pass(&mut self, kernel: Kernel, blocked: &Squares, row: usize) -> u64 {
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
