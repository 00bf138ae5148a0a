//! Engine `colours`: white queens and black queens, and a dot product between them.
//!
//! **Counts** the solutions whose white queens stand in given rows, reduced by all eight symmetries; see
//! [`units`].
//!
//! **Idea.** All squares of a diagonal have one colour. So queens on white squares and queens on black ones
//! attack each other only along rows and columns:
//!
//! ```text
//!     . # . Q . #       Q(n) = sum over R, C of
//!     # Q # . # .
//!     . # . # . Q       (placements of white queens in rows R and columns C)
//!     Q . # . # .   x   (placements of black queens in the other rows and columns)
//!     . # Q # . #
//!     # . # . Q .
//! ```
//!
//! White squares fall into those with even row and column and those with odd row and column, black ones
//! into the other two ([`squares`]). Once it is fixed which rows have a white queen, a colour is a matrix:
//! its entries count, for each set of even and each set of odd columns, the pairs of placements on its two
//! sub-boards that share no diagonal. The count of a unit is the dot product of two such matrices. The one
//! with fewer queens is filled ([`counter`]); of the other each entry is multiplied as it is found.
//!
//! To fill a matrix, one sub-board's placements come as lists by label ([`list`]), the other's as a tree,
//! compiled to a program that runs on 64 labels at a time ([`compile`], [`kernel`]).
//!
//! **Compared with `subtrees`,** no solution is ever visited, nor any pair of placements that is no hit of
//! one colour. docs/COLOURS.md derives all of it.
//!
//! **Time.** See docs/COLOURS.md. **Memory** for each thread: see [`worker_bytes`].
//!
//! **Invariants.** The number of units, and what each of them counts, depend on n alone.
//!
//! **Sources.** Found for this program; docs/COLOURS.md names its relatives.

#![expect(
    clippy::cast_possible_truncation,
    reason = "row sets have at most 32 bits, and there are few of them"
)]

mod code;
mod colour;
mod compile;
mod completions;
mod counter;
mod kernel;
mod limits;
mod list;
mod matrix;
mod squares;
mod subsets;
mod tree;
mod units;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use super::simd::Kernel;
use super::unit::{Counter, RowDomains, Units, WhichCount};
use crate::board::size::BoardSize;
use counter::ColoursCounter;
use limits::Limits;
pub(crate) use limits::bytes as worker_bytes;
use units::UnitList;

/// Smaller boards are counted whole.
pub(crate) const SMALLEST: usize = 4;
/// On larger boards a word would have no room for the label of a block. One would take a million core-hours.
pub(crate) const LARGEST: u32 = 30;

/// The largest board on which all units with the same programs, up to 400, are counted by one thread:
/// they take some 40 ms then.
const LARGEST_BY_CLASSES: usize = 22;

/// The units of a board.
pub(crate) struct Colours {
    units: Arc<UnitList>,
}

impl Colours {
    pub(crate) fn new(size: BoardSize) -> Self {
        debug_assert!(size.rows() >= SMALLEST, "smaller boards are counted whole");
        assert!(size.get() <= LARGEST, "engine colours counts boards up to n = {LARGEST}");
        Self { units: Arc::new(UnitList::new(size)) }
    }
}

impl Units for Colours {
    fn len(&self) -> usize {
        self.units.len
    }

    fn weight(&self, unit: usize) -> u64 {
        self.units.weight(unit)
    }

    fn neighbours(&self, unit: usize) -> Range<usize> {
        let is_short = self.units.size.rows() <= LARGEST_BY_CLASSES;
        if is_short { self.units.of_classes(unit) } else { self.units.batch(unit).units }
    }

    fn domains(&self, unit: usize) -> RowDomains {
        self.units.domains(unit)
    }

    fn counter(&self, which: WhichCount, kernel: Kernel) -> Box<dyn Counter + '_> {
        let limits = Limits::new(self.units.size);
        Box::new(ColoursCounter::new(&self.units, kernel, which, limits))
    }
}
