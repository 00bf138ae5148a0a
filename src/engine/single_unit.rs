//! The single unit of boards that are too small to cut.

use super::bitmask::Restricted;
use super::domains::RowDomains;
use super::pass::Pass;
use super::unit::{CountDomains, Interrupt, Prepared, Resources, Units, Worker};
use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use crate::error::Error;

/// A whole board with some queens given, counted by engine `bitmask`. The empty board has one
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

    fn prepare(&self, _: Pass, _: &Resources, _: &Cancel) -> Result<Box<dyn Prepared + '_>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Worker for SingleUnit {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        Restricted.count(&self.domains(unit), cancel)
    }
}
