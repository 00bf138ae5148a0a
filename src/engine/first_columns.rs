//! The units of the textbook engines: one for each column of the first row's queen.
//!
//! Their subtotals are the same read from either side, since mirroring the board maps the
//! solutions of column c to those of column n - 1 - c. The textbook engines do not use that; the
//! tests do. The empty board has one unit with one solution, the empty placement (A000170).

use super::meaning::Meaning;
use super::{Interrupt, Prepared, Resources, Units, Worker};
use crate::cancel::Cancel;
use crate::error::Error;
use crate::size::BoardSize;

/// Counts the solutions of an n x n board whose queen in row 0 stands in the given column; what
/// it returns after a cancellation has no meaning. `n >= 1`.
pub(crate) type CountFirstColumn = fn(n: usize, first_column: usize, cancel: &Cancel) -> u64;

/// A textbook engine's units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstColumns {
    size: BoardSize,
    count: CountFirstColumn,
}

impl FirstColumns {
    pub(crate) fn new(size: BoardSize, count: CountFirstColumn) -> Self {
        Self { size, count }
    }
}

impl Units for FirstColumns {
    fn len(&self) -> usize {
        self.size.rows().max(1)
    }

    fn weight(&self, _unit: usize) -> u64 {
        1
    }

    fn meaning(&self, unit: usize) -> Meaning {
        let mut meaning = Meaning::whole_board(self.size);
        meaning.allowed[0] &= 1 << unit;
        meaning
    }

    fn prepare(&self, _: &Resources, _: &Cancel) -> Result<Box<dyn Prepared + '_>, Error> {
        Ok(Box::new(*self))
    }
}

impl Prepared for FirstColumns {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(*self)
    }
}

impl Worker for FirstColumns {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        if self.size.rows() == 0 {
            return Ok(1);
        }
        let count = (self.count)(self.size.rows(), unit, cancel);
        if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(count) }
    }
}
