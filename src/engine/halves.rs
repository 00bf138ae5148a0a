//! Engine `halves`: joins east and west half-boards.
//!
//! **Counts** the solutions in which a given set of rows has its queens in the east half of the
//! board, reduced by all eight symmetries; see [`units`].
//!
//! **Idea.** Cut the board down the middle. Once it is chosen which rows have their queen in the
//! east half (the row set E), the two halves share neither rows nor columns, only diagonals:
//!
//! ```text
//!     west     east
//!   Q . . . | . . . .        Q(n) = sum over E of the number of pairs
//!   . . . . | Q . . .               (east half-board, west half-board)
//!   . . . . | . . . Q               that have no diagonal in common
//!   . . . . | . Q . .
//!   . . Q . | . . . .        A half-board is one word: the set of its diagonals
//!   . . . . | . . Q .        that cross the other half. A pair fits if the AND
//!   . Q . . | . . . .        of its words is 0.
//!   . . . Q | . . . .
//! ```
//!
//! This is meet in the middle; counting the pairs is a join on orthogonal vectors. [`half_board`]
//! explains what a word holds, [`quadrants`] how lists of quadrants are made, and [`join`] how the
//! half-boards are made of these and their pairs counted, hundreds at a time. docs/HALVES.md derives
//! all of it.
//!
//! **Compared with `subtrees`.** It meets in the middle: no solution is ever visited.
//!
//! **Time.** 1 ns for each solution at n = 18, 0.5 at n = 20, 0.35 at n = 22 on one core with
//! AVX-512; odd boards take up to twice as long. Backtrackers take 8 ns and more, rising with n.
//! **Memory:** lists of quadrants and a bounded number of half-boards, within the given budget; see
//! [`budget`].
//!
//! **Invariants.** The number of units, and what each of them counts, depend on n alone.
//!
//! **Sources.** E. Kluev's N-Queens-Count-Sol joins quadrants, after an idea from the older
//! "DeepGreen" page; the cut into halves by row sets, the symmetries group by group and the
//! bit-sliced join are derived in docs/HALVES.md. Meet in the middle and the orthogonal-vectors
//! problem are the names under which the two ideas are known.

#![expect(
    clippy::cast_possible_truncation,
    reason = "row sets have at most 32 bits, and chunks of a probe word have six bits; the \
              lengths of lists are checked"
)]

mod budget;
mod canonical;
mod cuts;
mod group;
mod grouped_half;
mod half_board;
mod join;
mod kernel;
mod prepared;
mod quadrants;
mod unit_rows;
mod units;
mod word_list;
mod worker;

use super::unit::{Pass, Prepared, Resources, RowDomains, Units};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::error::Error;
use half_board::HalvedBoard;
use prepared::PreparedHalves;
use units::UnitList;

/// Smaller boards are counted whole.
pub(crate) const SMALLEST: usize = 4;

/// The units of a board.
#[derive(Debug)]
pub(crate) struct Halves {
    size: BoardSize,
    units: UnitList,
}

impl Halves {
    pub(crate) fn new(size: BoardSize) -> Self {
        debug_assert!(size.rows() >= SMALLEST, "smaller boards are counted whole");
        Self { size, units: UnitList::new(size) }
    }
}

/// The number of units of a board, and the size of their list in bytes, without making it.
pub(crate) fn forecast(size: BoardSize) -> (usize, u64) {
    UnitList::forecast(size)
}

/// The least bytes with which a thread can count every unit.
pub(crate) fn worker_bytes(size: BoardSize) -> u64 {
    budget::least_worker_bytes(HalvedBoard::new(size.get()))
}

impl Units for Halves {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn weight(&self, unit: usize) -> u64 {
        self.units.weight(unit)
    }

    fn domains(&self, unit: usize) -> RowDomains {
        self.units.unit(unit).domains(self.size)
    }

    fn prepare(
        &self,
        pass: Pass,
        resources: &Resources,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared + '_>, Error> {
        let planned = budget::plan(self.units.board, resources);
        Ok(Box::new(PreparedHalves::new(&self.units, pass, resources.kernel, planned, cancel)?))
    }
}

/// Parts of the engine for benchmarks; not stable.
pub mod internals {
    use crate::engine::simd::Kernel;

    /// The leaf of the join: a function that counts the disjoint pairs of build and probe words, of which
    /// only the lowest `bits` bits are set.
    #[must_use]
    pub fn leaf(
        kernel: Kernel,
        build: &[u64],
        probe: &[u64],
        bits: u32,
    ) -> Box<dyn FnMut() -> u64> {
        let layout = kernel.layout();
        let placed = |words: &[u64]| -> Vec<u64> {
            let bits = |word: u64| (0..bits).map(move |bit| (word >> bit & 1) << layout.place(bit));
            words.iter().map(|word| bits(*word).sum()).collect()
        };
        let (build, probe, places) = (placed(build), placed(probe), layout.place(bits - 1) + 1);
        let mut tables = kernel.tables();
        Box::new(move || kernel.count_bit_sliced(&build, &probe, places, &mut tables))
    }
}

#[cfg(test)]
mod tests {
    mod counts;
    mod kernels;
    mod memory;
    mod second;
}
