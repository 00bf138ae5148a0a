//! The plain backtracker for units of any engine, and the single unit of boards that are too small to
//! cut.

use super::simd::Kernel;
use super::unit::{Interrupt, RowDomains, Units, WhichCount, Worker};
use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;

/// A whole board with some queens given, counted by the plain backtracker. The empty board has one
/// solution (A000170).
#[derive(Clone, Debug)]
pub(crate) struct SingleUnit {
    size: BoardSize,
    queens: FixedQueens,
}

impl SingleUnit {
    pub(crate) fn new(size: BoardSize, queens: FixedQueens) -> Self {
        Self { size, queens }
    }
}

impl Units for SingleUnit {
    fn len(&self) -> usize {
        1
    }

    fn domains(&self, _unit: usize) -> RowDomains {
        RowDomains::with_queens(self.size, &self.queens)
    }

    fn worker(&self, _: WhichCount, _: Kernel) -> Box<dyn Worker + '_> {
        Box::new(self.clone())
    }
}

impl Worker for SingleUnit {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        count_domains(&self.domains(unit), cancel)
    }
}

/// Counts the units of any engine as engine `bitmask` counts its own, but with rows in any order:
/// squares that a unit forbids count as taken, and the rows that decide the weight come first.
/// It would need centuries to reach a count that overflows.
pub(crate) fn count_domains(domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt> {
    let mut rows: Vec<usize> = (0..domains.size.rows()).collect();
    let mut weighed_rows = 0;
    if let Some(weighing) = &domains.weighing {
        rows.sort_by_key(|row| weighing.rows >> row & 1 == 0);
        weighed_rows = weighing.number_of_rows();
    }
    let search = Search { domains, rows, weighed_rows, cancel };
    let count = search.fill(0, Queens::default());
    if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(count) }
}

/// The order of the rows, and what they hold.
struct Search<'a> {
    domains: &'a RowDomains,
    rows: Vec<usize>,
    /// So many of the first rows decide the weight.
    weighed_rows: usize,
    cancel: &'a Cancel,
}

/// What some queens take, in the frame of the board, since rows are filled in any order.
#[derive(Clone, Copy, Default)]
struct Queens {
    columns: u32,
    /// Bit row + column.
    sums: u64,
    /// Bit column - row + 31.
    differences: u64,
}

impl Search<'_> {
    /// The weighted number of ways to fill the rows from this place on.
    fn fill(&self, place: usize, queens: Queens) -> u64 {
        let weighing = self.domains.weighing.as_ref().filter(|_| place == self.weighed_rows);
        let weight = weighing.map_or(1, |weighing| (weighing.weight)(queens.columns));
        let Some(&row) = self.rows.get(place) else { return weight };
        if weight == 0 || self.cancel.is_cancelled() {
            return 0;
        }
        let Queens { columns, sums, differences } = queens;
        #[expect(clippy::cast_possible_truncation, reason = "higher bits are beyond the board")]
        let attacked = columns | (sums >> row) as u32 | (differences >> (31 - row)) as u32;
        let mut free = self.domains.allowed[row] & !attacked;
        let mut solutions = 0;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            solutions += self.fill(
                place + 1,
                Queens {
                    columns: columns | queen,
                    sums: sums | u64::from(queen) << row,
                    differences: differences | u64::from(queen) << (31 - row),
                },
            );
        }
        weight * solutions
    }
}
