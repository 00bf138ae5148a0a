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

use super::cases::Case;
use super::kernel;
use crate::cancel::Cancel;
use crate::engine::{Interrupt, Kernel};
use crate::size::BoardSize;

/// Nodes in a full pass: a multiple of all kernels' lanes, large enough that the mispredicted
/// branch at its end is cheap, small enough that all levels stay in the first-level cache.
const BATCH: usize = 96;

/// Room for nodes in a level, a power of two so that an index is cut to it by one instruction.
const CAPACITY: usize = 256;

const _: () = assert!(2 * BATCH <= CAPACITY && CAPACITY.is_power_of_two());

/// A whole vector may be written behind the last node.
const LANES: usize = 16;

/// The state of the search before a row is filled; bit c stands for column c.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Columns taken.
    pub(crate) columns: u32,
    /// Squares of this row on falling diagonals of the queens above.
    pub(crate) falling: u32,
    /// Squares of this row on rising diagonals of the queens above.
    pub(crate) rising: u32,
    /// Squares of this row that are left to try.
    pub(crate) free: u32,
}

impl Node {
    /// The node below the first row's queen.
    pub(crate) fn top(case: &Case) -> Self {
        let empty = Self { columns: 0, falling: 0, rising: 0, free: case.first_queen };
        empty.with_queen(case.first_queen, case.blocked[1])
    }

    /// The node below this one and a queen in its row.
    pub(crate) fn with_queen(self, queen: u32, blocked_below: u32) -> Self {
        let columns = self.columns | queen;
        let falling = (self.falling | queen) << 1;
        let rising = (self.rising | queen) >> 1;
        Self { columns, falling, rising, free: !(columns | falling | rising | blocked_below) }
    }
}

/// One field of the nodes of a level, with room for a vector behind the last one.
#[derive(Clone, Debug)]
pub(crate) struct Field([u32; CAPACITY + LANES]);

impl Field {
    /// `W` nodes from `at` on. `W` is at most 16 and `at` below the capacity: the remainder changes
    /// nothing, it shows the compiler that no bounds check is needed.
    pub(crate) fn lanes<const W: usize>(&self, at: usize) -> &[u32; W] {
        const { assert!(W <= LANES) };
        debug_assert!(at < CAPACITY, "a level overflows");
        self.0[at % CAPACITY..].first_chunk().expect("W is at most LANES")
    }

    /// The same to write to.
    pub(crate) fn lanes_mut<const W: usize>(&mut self, at: usize) -> &mut [u32; W] {
        const { assert!(W <= LANES) };
        debug_assert!(at < CAPACITY, "a level overflows");
        self.0[at % CAPACITY..].first_chunk_mut().expect("W is at most LANES")
    }
}

/// The nodes of one row, field by field, so that one vector load brings the same field of many.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub(crate) columns: Field,
    pub(crate) falling: Field,
    pub(crate) rising: Field,
    pub(crate) free: Field,
    pub(crate) len: usize,
}

impl Level {
    pub(crate) fn new() -> Self {
        let field = Field([0; CAPACITY + LANES]);
        Self {
            columns: field.clone(),
            falling: field.clone(),
            rising: field.clone(),
            free: field,
            len: 0,
        }
    }

    /// Writes a node behind the last one, or over one.
    pub(crate) fn set(&mut self, index: usize, node: Node) {
        self.columns.lanes_mut::<1>(index)[0] = node.columns;
        self.falling.lanes_mut::<1>(index)[0] = node.falling;
        self.rising.lanes_mut::<1>(index)[0] = node.rising;
        self.free.lanes_mut::<1>(index)[0] = node.free;
    }

    pub(crate) fn push(&mut self, node: Node) {
        self.set(self.len, node);
        self.len += 1;
    }
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
        // A cancelled count leaves nodes behind.
        for level in &mut self.levels {
            level.len = 0;
        }
        self.levels[first_row].push(root);
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
            let found = self.pass(kernel, blocked, row);
            solutions = solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
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
