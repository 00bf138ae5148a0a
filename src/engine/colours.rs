//! Engine `colours`: white queens and black queens, and a dot product between them.
//!
//! **Counts** the solutions whose white queens stand in given rows, reduced by all eight symmetries: see [`units`].
//!
//! **Idea.** All squares of a diagonal have the same colour. So a queen on a white square and a queen on a black one
//! attack each other only along rows and columns:
//!
//! ```text
//!     . Q . # . #       Q(n) = sum over R, C of
//!     # . # Q # .
//!     . # . # . Q       (placements of white queens in rows R and columns C)
//!     Q . # . # .   x   (placements of black queens in the other rows and columns)
//!     . # Q # . #
//!     # . # . Q .
//! ```
//!
//! White squares have an even row and an even column, or an odd row and an odd column. Black squares have an even row
//! and an odd column, or the reverse. These are the four sub-boards ([`squares`]). Once it is fixed which rows have a
//! white queen, a colour is a matrix. It has an entry for each set of even columns and each set of odd columns. The
//! entry counts the pairs of placements on the two sub-boards of the colour that take these columns and share no
//! diagonal. The count of a unit is the dot product of two such matrices. The matrix of the colour with fewer queens
//! is stored ([`counter`]). Each entry of the other matrix is multiplied as soon as it is found.
//!
//! To fill a matrix, the placements on the even rows come as a list of **words**. A word is the set of diagonals of a
//! placement, as the bits of a number, and the list is ordered by **label**, which is the placement's Ce or Co
//! ([`list`]). The placements on the odd rows form a tree, which is compiled to a program that runs on 64 labels at a
//! time ([`compile`], [`kernel`]):
//!
//! ```text
//! for each Re, for each class of Ro
//!   fill the light matrix, of the colour with fewer queens, by loops like those below
//!   for each stretch of the heavy list, for each part of the heavy program, for each block of the stretch
//!     make the coefficients of the block: light entries times multiplicities
//!     for each node of the part
//!       keep the words of the block that fit the queen of the node
//!       if the node is a leaf: for each layer of the words, for each section, for each completion
//!         AND, count bits, times the coefficients
//! ```
//!
//! **Compared with `subtrees`.** No solution is ever visited. Pairs of placements of one colour are tested 512 at a
//! time, and a placement that conflicts with a queen of the tree is not tested with the placements below this queen.
//! docs/COLOURS.md derives the method.
//!
//! **Time.** docs/PERFORMANCE.md has the times of boards. **Memory** for each thread: see [`worker_bytes`].
//!
//! **Invariants.** The number of units, and what each of them counts, depend on n alone.
//!
//! **Sources.** Found for this program. docs/COLOURS.md names relatives.

mod code;
mod compile;
mod completions;
mod counter;
mod kernel;
mod limits;
mod list;
mod matrix;
mod role;
mod squares;
mod subsets;
mod tree;
mod units;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use super::simd::Kernel;
use super::unit::{Counter, Pass, RowDomains, Units};
use crate::board::size::BoardSize;
use counter::ColoursCounter;
use limits::Limits;
pub(crate) use limits::bytes as worker_bytes;
use units::UnitList;

/// The smallest board that this engine counts. Smaller boards are counted whole.
pub(crate) const SMALLEST: usize = 4;
/// The largest board that this engine counts. On larger boards a word would have no room for the number of a label.
/// Counting one would take a million core-hours anyway.
pub(crate) const LARGEST: u32 = 30;

/// The largest board on which one thread counts all units with the same pair of classes one after the other, because
/// they share programs. There are up to 400 of them, and on this board they take 85 ms on average, and up to 0.3 s,
/// with AVX-512 on a Zen 4 CPU.
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

    fn counted_together(&self, unit: usize) -> Range<usize> {
        let is_short = self.units.size.rows() <= LARGEST_BY_CLASSES;
        if is_short { self.units.class_pair_units(unit) } else { self.units.batch(unit).units }
    }

    fn domains(&self, unit: usize, pass: Pass) -> RowDomains {
        let domains = self.units.domains(unit);
        match pass {
            Pass::First => domains,
            Pass::Second => domains.with_rows_flipped(),
        }
    }

    fn counter(&self, pass: Pass, kernel: Kernel) -> Box<dyn Counter + '_> {
        let limits = Limits::new(self.units.size);
        Box::new(ColoursCounter::new(&self.units, kernel, pass, limits))
    }
}
