//! The one unit of boards that are too small for an engine to cut up.

use super::bitmask::Restricted;
use super::meaning::{CountMeaning, Meaning};
use super::{Interrupt, Prepared, Resources, Units, Worker};
use crate::cancel::Cancel;
use crate::error::Error;
use crate::size::BoardSize;
use crate::square::FixedQueens;

/// A whole board with some queens given, counted by engine `bitmask`. The empty board has one
/// solution (A000170).
#[derive(Clone, Debug)]
pub(crate) struct WholeBoard {
    size: BoardSize,
    queens: FixedQueens,
}

impl WholeBoard {
    pub(crate) fn new(size: BoardSize, queens: FixedQueens) -> Self {
        Self { size, queens }
    }
}

impl Units for WholeBoard {
    fn len(&self) -> usize {
        1
    }

    fn weight(&self, _unit: usize) -> u64 {
        1
    }

    fn meaning(&self, _unit: usize) -> Meaning {
        Meaning::with_queens(self.size, &self.queens)
    }

    fn prepare(&self, _: &Resources, _: &Cancel) -> Result<Box<dyn Prepared + '_>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Prepared for WholeBoard {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.clone())
    }
}

impl Worker for WholeBoard {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        Restricted.count(&self.meaning(unit), cancel)
    }
}
