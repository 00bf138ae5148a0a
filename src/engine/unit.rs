//! What an engine provides: the independent units of a count, and counters for them.
//!
//! The units of all engines have one form: the queen of each row stands in one of the columns that
//! the unit allows there. That is enough for any backtracker to count a unit again ([`RowDomains`]).

use std::fmt;
use std::ops::Range;

use super::simd::Kernel;
use crate::board::size::{BoardSize, Squares};
use crate::board::solution::Solution;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use crate::error::Error;

/// The even columns of all boards.
pub(crate) const EVEN: u32 = 0x5555_5555;

/// The independent units of one count, numbered from 0. The list depends only on the board, the
/// engine and the number of split rows, never on the machine.
pub(crate) trait Units: Send + Sync {
    /// The number of units.
    fn len(&self) -> usize;

    /// The number of solutions of the whole board that each solution of this unit stands for: 1 for
    /// engines that do not use symmetry.
    fn weight(&self, _unit: usize) -> u64 {
        1
    }

    /// The units around this one that one thread counts fastest one after the other. They all have the same
    /// neighbours.
    fn neighbours(&self, unit: usize) -> Range<usize> {
        unit..unit + 1
    }

    /// The solutions that the unit counts, and how many times.
    fn domains(&self, unit: usize) -> RowDomains;

    /// What counts units on one thread, for the first or the second count.
    fn counter(&self, which: WhichCount, kernel: Kernel) -> Box<dyn Counter + '_>;
}

/// Whether the units of a plan are counted for the first or for the second time.
///
/// Nobody believes an unpublished count that was counted once. The second count has the same units,
/// with the same counts, but it finds them on other data: each unit on its image under a symmetry
/// of the board, so that a fault which depends on the data does not hit both counts alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhichCount {
    /// The units as they are.
    #[default]
    First,
    /// Their images.
    Second,
}

impl fmt::Display for WhichCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}

/// Counts units on one thread.
pub(crate) trait Counter: Send {
    /// The number of solutions in this unit, before its weight.
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt>;

    /// The numbers of solutions in the first of these units, of which there is one at least, and in those after
    /// it that the engine counts at once with it.
    fn count_batch(&mut self, units: Range<usize>, cancel: &Cancel) -> Result<Vec<u64>, Interrupt> {
        Ok(vec![self.count(units.start, cancel)?])
    }
}

/// A function that counts a unit, for engines that count each unit for itself.
impl<F: FnMut(usize, &Cancel) -> Result<u64, Interrupt> + Send> Counter for F {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        self(unit, cancel)
    }
}

/// The solutions that a unit counts, and how many times: the queen of each row stands in a column that is allowed
/// there. Units of engine `colours` allow columns of one parity in each row, and count each solution 0, 1, 2 or 4
/// times.
pub struct RowDomains {
    pub(crate) size: BoardSize,
    /// The columns in which the queen of each row may stand, as bits; none beyond the board.
    pub(crate) allowed: Squares,
    /// The weight of each solution; without it, 1.
    pub(crate) weight: Option<Weight>,
}

/// The weight of the solutions whose white queens, those with row and column of one parity, take these
/// columns.
pub(crate) type Weight = Box<dyn Fn(u32) -> u64 + Send + Sync>;

impl RowDomains {
    /// Returns the columns, from 0, in which the queen of a row may stand, as bits; rows count from 0.
    ///
    /// # Panics
    ///
    /// If the board has no such row.
    pub fn columns(&self, row: usize) -> u32 {
        assert!(row < self.size.rows(), "row {row} of {}", self.size);
        self.allowed[row]
    }

    /// Returns how many times the unit counts a solution of its board, before the weight of the unit.
    pub fn times(&self, solution: &Solution) -> u64 {
        let columns = solution.columns().iter().map(|column| 1 << column);
        if columns.clone().zip(self.allowed).any(|(column, allowed)| column & allowed == 0) {
            return 0;
        }
        let white = columns.enumerate().filter(|(row, _)| self.is_white(*row));
        let white = white.fold(0, |columns, (_, column)| columns | column);
        self.weight.as_ref().map_or(1, |weight| weight(white))
    }

    /// Returns whether the queen of a row stands on a square whose row and column have the same parity, as each
    /// unit of engine `colours` decides for each row.
    pub(crate) fn is_white(&self, row: usize) -> bool {
        row.is_multiple_of(2) == (self.allowed[row] & EVEN != 0)
    }

    /// All solutions that have these queens.
    pub(crate) fn with_queens(size: BoardSize, queens: &FixedQueens) -> Self {
        Self { size, allowed: queens.allowed(size), weight: None }
    }
}

impl fmt::Debug for RowDomains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let allowed = &self.allowed[..self.size.rows()];
        f.debug_struct("RowDomains").field("allowed", &allowed).finish_non_exhaustive()
    }
}

/// Why a unit has no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// The count was cancelled.
    Cancelled,
    /// The unit's count passed `u64::MAX`.
    Overflow,
    /// An entry of a matrix of engine `colours` passed 16 bits.
    LargeEntry,
}

impl Interrupt {
    /// The error for this unit.
    pub(crate) fn in_unit(self, unit: usize) -> Error {
        match self {
            Self::Cancelled => Error::StoppedBefore { what: "the end of the unit" },
            Self::Overflow => Error::UnitOverflow { unit },
            Self::LargeEntry => Error::EntryOverflow { unit },
        }
    }
}
