//! The units of the textbook engines: one for each column of the first row's queen.
//!
//! Their counts form a palindrome, since mirroring the board maps the solutions of column c to those
//! of column n - 1 - c. The textbook engines do not use that, but the tests do. The empty board has
//! one unit with one solution (A000170).

use super::domains::RowDomains;
use super::pass::Pass;
use super::unit::{Interrupt, Prepared, Resources, Units, Worker};
use crate::cancel::Cancel;
use crate::error::Error;
use crate::size::BoardSize;

/// Counts the solutions of an n x n board, n >= 1, whose queen in row 0 stands in the given column.
/// The result after a cancellation is meaningless.
pub(crate) type CountFirstColumn = fn(n: usize, first_column: usize, cancel: &Cancel) -> u64;

/// A textbook engine's units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstRowUnits {
    size: BoardSize,
    count: CountFirstColumn,
}

impl FirstRowUnits {
    pub(crate) fn new(size: BoardSize, count: CountFirstColumn) -> Self {
        Self { size, count }
    }
}

impl Units for FirstRowUnits {
    fn len(&self) -> usize {
        self.size.rows().max(1)
    }

    fn domains(&self, unit: usize) -> RowDomains {
        let mut domains = RowDomains::whole_board(self.size);
        domains.allowed[0] &= 1 << unit;
        domains
    }

    fn prepare(&self, _: Pass, _: &Resources, _: &Cancel) -> Result<Box<dyn Prepared + '_>, Error> {
        Ok(Box::new(*self))
    }
}

impl Worker for FirstRowUnits {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        if self.size.rows() == 0 {
            return Ok(1);
        }
        let count = (self.count)(self.size.rows(), unit, cancel);
        if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(count) }
    }
}
