//! One buffer of nodes for each row, and the order in which they are worked off.
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
//! Going down first keeps the levels short: a level is below [`BATCH`] before a pass over the one
//! above adds at most [`BATCH`] nodes. The passes of the last case, with fewer nodes, are few: a
//! subtree of a million nodes has a hundred of them.

use super::kernel;
use super::level::{CAPACITY, Level, Node};
use crate::cancel::Cancel;
use crate::engine::{Interrupt, Kernel};
use crate::size::BoardSize;

/// Nodes in a full pass: a multiple of all kernels' lanes, large enough that the mispredicted
/// branch at its end is cheap, small enough that all levels stay in the first-level cache.
const BATCH: usize = 96;

const _: () = assert!(2 * BATCH <= CAPACITY && CAPACITY.is_power_of_two());

/// Decides which nodes of a row are searched; the row is below the first and has a level.
pub(super) struct Sieve<'a> {
    pub(super) row: usize,
    pub(super) keep: &'a mut dyn FnMut(Node) -> bool,
}

/// The levels of one thread.
#[derive(Debug)]
pub(crate) struct Levels {
    size: BoardSize,
    /// Indexed by row; the last two rows have none.
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
        blocked: &[u32; BoardSize::MAX as usize],
        first_row: usize,
        root: Node,
        cancel: &Cancel,
    ) -> Result<u64, Interrupt> {
        self.count_sifted(kernel, blocked, first_row, &[root], None, cancel)
    }

    /// Counts the solutions below some nodes of `first_row` that pass the sieve.
    pub(super) fn count_sifted(
        &mut self,
        kernel: Kernel,
        blocked: &[u32; BoardSize::MAX as usize],
        first_row: usize,
        roots: &[Node],
        mut sieve: Option<Sieve<'_>>,
        cancel: &Cancel,
    ) -> Result<u64, Interrupt> {
        // A cancelled count leaves nodes behind.
        for level in &mut self.levels {
            level.len = 0;
        }
        let mut solutions = 0u64;
        for roots in roots.chunks(BATCH) {
            for root in roots {
                self.levels[first_row].push(*root);
            }
            let found = self.work_off(kernel, blocked, first_row, &mut sieve, cancel)?;
            solutions = solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
        }
        Ok(solutions)
    }

    /// Makes passes until all levels are empty.
    fn work_off(
        &mut self,
        kernel: Kernel,
        blocked: &[u32; BoardSize::MAX as usize],
        first_row: usize,
        sieve: &mut Option<Sieve<'_>>,
        cancel: &Cancel,
    ) -> Result<u64, Interrupt> {
        let mut solutions = 0u64;
        let mut row = first_row;
        loop {
            if self.levels[row].len < BATCH {
                if row > first_row {
                    row -= 1;
                    continue;
                }
                match self.levels.iter().position(|level| level.len > 0) {
                    Some(highest) => row = highest,
                    None => return Ok(solutions),
                }
            }
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            let below = self.levels.get(row + 1).map_or(0, |level| level.len);
            let found = self.pass(kernel, blocked, row);
            solutions = solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
            if let Some(sieve) = sieve.as_mut().filter(|sieve| sieve.row == row + 1) {
                self.levels[row + 1].retain_from(below, &mut sieve.keep);
            }
            if self.levels.get(row + 1).is_some_and(|below| below.len >= BATCH) {
                row += 1;
            }
        }
    }

    /// Takes the next child of the last nodes of a row; returns the solutions found.
    fn pass(&mut self, kernel: Kernel, blocked: &[u32; 32], row: usize) -> u64 {
        let from = self.levels[row].len.saturating_sub(BATCH);
        match &mut self.levels[row..] {
            [last] => {
                let below = [blocked[row + 1], blocked[row + 2]];
                kernel::finish(kernel, last, from, below, self.size.columns())
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
