//! The textbook engines, and their units: one for each column of the first row's queen.
//!
//! The counts of the units form a palindrome, because mirroring the board maps the solutions of column c to the
//! solutions of column n - 1 - c. Only the second pass uses this: it counts the image of each unit.

pub(super) mod bitmask;
pub(super) mod board_scan;
pub(super) mod bool_arrays;
pub(super) mod column_array;
pub(super) mod permutation;

use super::simd::Kernel;
use super::unit::{Counter, Interrupt, Pass, RowDomains, Units};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;

/// A function that counts the solutions of an n x n board, n >= 1, whose queen in the first row stands in this
/// column. After a cancellation the result is meaningless.
pub(crate) type CountWithQueen = fn(n: usize, first_column: usize, cancel: &Cancel) -> u64;

/// The units of a textbook engine, for boards of one row or more.
pub(crate) struct FirstRowUnits {
    pub(crate) size: BoardSize,
    pub(crate) count: CountWithQueen,
}

impl Units for FirstRowUnits {
    fn len(&self) -> usize {
        self.size.rows()
    }

    fn domains(&self, unit: usize, pass: Pass) -> RowDomains {
        let mut domains = RowDomains::all(self.size);
        domains.allowed[0] = 1 << first_column(self.size.rows(), unit, pass);
        domains
    }

    fn counter(&self, pass: Pass, _: Kernel) -> Box<dyn Counter + '_> {
        Box::new(FirstRowCounter { n: self.size.rows(), count: self.count, pass })
    }
}

/// Returns the column of the first row's queen in the first or the second pass over a unit.
fn first_column(n: usize, unit: usize, pass: Pass) -> usize {
    assert!(unit < n, "unit {unit} of {n}");
    match pass {
        Pass::First => unit,
        Pass::Second => n - 1 - unit,
    }
}

/// A counter of the units of a textbook engine.
struct FirstRowCounter {
    n: usize,
    count: CountWithQueen,
    pass: Pass,
}

impl Counter for FirstRowCounter {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        let first_column = first_column(self.n, unit, self.pass);
        let solutions = (self.count)(self.n, first_column, cancel);
        if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(solutions) }
    }
}
