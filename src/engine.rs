//! The engines: their names, and what each of them provides.
//!
//! This is the one list that the command line, the benches, the tests and the tables read. An
//! engine provides a list of independent [`Units`]; each thread counts them with its own
//! [`Worker`](unit::Worker).
//! Everything else (threads, progress, cancellation, the sum) belongs to the driver and is the same
//! for all engines.
//!
//! # How to add an engine
//!
//! 1. Write `engine/NAME.rs` with a module header (what it counts, the idea, what it changes from
//!    the engine before it, time and memory, invariants, sources), and its [`Units`]. A textbook
//!    engine only needs a `count` for [`FirstRowUnits`].
//! 2. Add a variant to [`Engine`], a line to [`Engine::ALL`] and one to each `match` below. The
//!    summary of [`Engine::summary`] is what users read in the help, so name the textbook's method.
//! 3. Run `cargo test`: the tests find the new engine in [`Engine::ALL`].
//! 4. Add a row to the tables in README.md, with figures from `nqueens compare`.

pub(crate) mod bitmask;
mod board_scan;
mod bool_arrays;
mod column_array;
pub(crate) mod domains;
mod first_row_units;
pub(crate) mod halves;
mod kernel;
mod pass;
mod permutation;
mod single_unit;
pub(crate) mod subtrees;
pub(crate) mod unit;

use std::fmt;
use std::str::FromStr;

pub use kernel::Kernel;
pub use pass::Pass;
pub use subtrees::SplitRows;
use unit::Units;
pub use unit::{MemoryUse, Resources};

use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::error::Error;
use first_row_units::Attacked::{Abandoned, Completed};
use first_row_units::FirstRowUnits;
use halves::Halves;
use single_unit::SingleUnit;
use subtrees::Subtrees;

/// An algorithm that counts the solutions of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// All permutations in lexicographic order, diagonals tested at the end.
    Permutation,
    /// A 0/1 board, scanned upwards and along both diagonals.
    BoardScan,
    /// One column for each row, compared pair by pair.
    ColumnArray,
    /// Flags for columns and for both families of diagonals.
    BoolArrays,
    /// Three words of flags, lowest free bit first.
    Bitmask,
    /// Prefixes of the first rows, all eight symmetries, many nodes of a row at once.
    Subtrees,
    /// Joins of east and west half-boards.
    Halves,
}

impl Engine {
    /// All engines, from the slowest to the fastest.
    pub const ALL: [Self; 7] = [
        Self::Permutation,
        Self::BoardScan,
        Self::ColumnArray,
        Self::BoolArrays,
        Self::Bitmask,
        Self::Subtrees,
        Self::Halves,
    ];

    /// The engine's name, on the command line and everywhere else.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Permutation => "permutation",
            Self::BoardScan => "board-scan",
            Self::ColumnArray => "column-array",
            Self::BoolArrays => "bool-arrays",
            Self::Bitmask => "bitmask",
            Self::Subtrees => "subtrees",
            Self::Halves => "halves",
        }
    }

    /// What the engine does, in one line: the help, the completions and the README have it from here.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Permutation => "generate and test: every permutation, diagonals at the end",
            Self::BoardScan => "backtracking on a 0/1 board, scanned for queens above each square",
            Self::ColumnArray => "backtracking with one column a row, compared pair by pair",
            Self::BoolArrays => "backtracking with boolean arrays for columns and diagonals",
            Self::Bitmask => "backtracking with bit masks, lowest free bit first",
            Self::Subtrees => "bit masks and all eight symmetries, on many nodes at a time",
            Self::Halves => "meet in the middle: half-boards that share no diagonal",
        }
    }

    /// The largest board for which a textbook engine is sensible: it takes a few seconds on one
    /// core. `None` for the engines made for large boards.
    #[must_use]
    pub fn largest_sensible(self) -> Option<u32> {
        match self {
            Self::Permutation => Some(permutation::LARGEST_SENSIBLE),
            Self::BoardScan => Some(board_scan::LARGEST_SENSIBLE),
            Self::ColumnArray => Some(column_array::LARGEST_SENSIBLE),
            Self::BoolArrays => Some(bool_arrays::LARGEST_SENSIBLE),
            Self::Bitmask => Some(bitmask::LARGEST_SENSIBLE),
            Self::Subtrees | Self::Halves => None,
        }
    }

    /// The fastest engine for boards of this size with this kernel. Only larger boards fill the
    /// blocks of the join, and longer vectors help the backtracker more.
    #[must_use]
    pub fn auto(size: BoardSize, kernel: Kernel) -> Self {
        let first_of_halves = if kernel == Kernel::Portable { 14 } else { 16 };
        if size.get() < first_of_halves { Self::Subtrees } else { Self::Halves }
    }

    /// Whether the engine's inner loop has a version for each [`Kernel`].
    #[must_use]
    pub fn has_kernels(self) -> bool {
        matches!(self, Self::Subtrees | Self::Halves)
    }

    /// Whether the engine has a [second count](Pass::Second), on other data than the first.
    #[must_use]
    pub fn has_second_count(self) -> bool {
        matches!(self, Self::Subtrees | Self::Halves)
    }

    /// The least bytes that each thread needs; 0 for engines that need little.
    pub(crate) fn worker_bytes(self, size: BoardSize) -> u64 {
        match self {
            Self::Halves => halves::worker_bytes(size),
            _ => 0,
        }
    }

    /// How many units [`Engine::units`] cuts a board into, and roughly how many bytes their list
    /// takes, without building it.
    pub(crate) fn forecast(
        self,
        size: BoardSize,
        queens: &FixedQueens,
        split_rows: SplitRows,
    ) -> (usize, u64) {
        match self {
            Self::Subtrees if size.rows() >= subtrees::SMALLEST => {
                Subtrees::forecast(size, queens, split_rows)
            }
            Self::Halves if size.rows() >= halves::SMALLEST => halves::forecast(size),
            Self::Subtrees | Self::Halves => (1, 0),
            _ => (size.rows().max(1), 0),
        }
    }

    /// All names, in the order of [`Engine::ALL`].
    #[must_use]
    pub fn names() -> [&'static str; Self::ALL.len()] {
        Self::ALL.map(Self::name)
    }

    /// Cuts the count of a board into units. Only [`Engine::Subtrees`] uses the given queens.
    pub(crate) fn units(
        self,
        size: BoardSize,
        queens: &FixedQueens,
        split_rows: SplitRows,
    ) -> Box<dyn Units> {
        let first_rows = |count, attacked| -> Box<dyn Units> {
            Box::new(FirstRowUnits::new(size, count, attacked))
        };
        match self {
            Self::Permutation => first_rows(permutation::count, Completed),
            Self::BoardScan => first_rows(board_scan::count, Abandoned),
            Self::ColumnArray => first_rows(column_array::count, Abandoned),
            Self::BoolArrays => first_rows(bool_arrays::count, Abandoned),
            Self::Bitmask => first_rows(bitmask::count, Abandoned),
            Self::Subtrees if size.rows() >= subtrees::SMALLEST => {
                Box::new(Subtrees::new(size, queens, split_rows))
            }
            Self::Halves if size.rows() >= halves::SMALLEST => Box::new(Halves::new(size)),
            Self::Subtrees | Self::Halves => Box::new(SingleUnit::new(size, queens.clone())),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|engine| engine.name() == name).ok_or_else(|| {
            Error::UnknownEngine { given: name.to_owned(), choices: Self::names().join(", ") }
        })
    }
}

#[cfg(test)]
mod tests;
