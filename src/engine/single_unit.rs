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

/// Counts the units of any engine as engine `bitmask` counts its own: squares that a unit forbids count as
/// taken, and each solution has the weight that the columns of some of its rows decide. (With these rows
/// first, every other one, it took 1.6 times as long at n = 18 to 20.) It would need centuries to reach a
/// count that overflows.
pub(crate) fn count_domains(domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt> {
    let search = Search { domains, rows: domains.size.rows(), cancel };
    let count = search.fill(0, Queens::default());
    if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(count) }
}

struct Search<'a> {
    domains: &'a RowDomains,
    rows: usize,
    cancel: &'a Cancel,
}

/// What the queens above a row take of it.
#[derive(Clone, Copy, Default)]
struct Queens {
    columns: u32,
    falling: u32,
    rising: u32,
    /// The columns of the rows that decide the weight.
    weighed: u32,
}

impl Search<'_> {
    /// The weighted number of ways to fill the rows from this one on.
    fn fill(&self, row: usize, queens: Queens) -> u64 {
        let weighing = self.domains.weighing.as_ref();
        if row == self.rows {
            return weighing.map_or(1, |weighing| (weighing.weight)(queens.weighed));
        }
        if self.cancel.is_cancelled() {
            return 0;
        }
        let Queens { columns, falling, rising, weighed } = queens;
        let mut free = self.domains.allowed[row] & !(columns | falling | rising);
        let is_weighed = weighing.is_some_and(|weighing| weighing.rows >> row & 1 == 1);
        let mut solutions = 0;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            solutions += self.fill(
                row + 1,
                Queens {
                    columns: columns | queen,
                    falling: (falling | queen) << 1,
                    rising: (rising | queen) >> 1,
                    weighed: if is_weighed { weighed | queen } else { weighed },
                },
            );
        }
        solutions
    }
}
