//! What a unit counts, independent of the engine that counts it.
//!
//! The units of all engines have one form: the queen of each row stands in one of the columns that
//! the unit allows there. That is enough for any backtracker to count a unit again. Canonical units
//! of `halves` also weigh each solution by the set of columns that its northern rows take; see
//! `halves/units.rs`.

use std::fmt;

use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;

/// The solutions of a unit.
#[derive(Debug)]
pub(crate) struct RowDomains {
    pub(crate) size: BoardSize,
    /// The columns in which the queen of each row may stand, as bits; none beyond the board.
    pub(crate) allowed: [u32; BoardSize::MAX as usize],
    /// The weight of each solution; without it, 1.
    pub(crate) weighing: Option<Weighing>,
}

/// The weight of a solution, known as soon as its northern rows are filled.
pub(crate) struct Weighing {
    /// The first row that does not affect the weight.
    pub(crate) row: usize,
    /// The weight, given the columns that the rows above it take.
    pub(crate) weight: Box<dyn Fn(u32) -> u64 + Send + Sync>,
}

impl fmt::Debug for Weighing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Weighing").field("row", &self.row).finish_non_exhaustive()
    }
}

impl RowDomains {
    /// All solutions of a board.
    pub(crate) fn whole_board(size: BoardSize) -> Self {
        let mut allowed = [0; BoardSize::MAX as usize];
        allowed[..size.rows()].fill(size.columns());
        Self { size, allowed, weighing: None }
    }

    /// All solutions that have these queens.
    pub(crate) fn with_queens(size: BoardSize, queens: &FixedQueens) -> Self {
        Self { size, allowed: queens.allowed(size), weighing: None }
    }

    /// The weight of the solutions whose rows above `row` take these columns, if `row` is where it
    /// becomes known.
    pub(crate) fn weight_at(&self, row: usize, columns: u32) -> Option<u64> {
        let weighing = self.weighing.as_ref().filter(|weighing| weighing.row == row);
        weighing.map(|weighing| (weighing.weight)(columns))
    }
}
