//! The one unit of boards that are too small for an engine to cut up.

use super::meaning::Meaning;
use super::{Interrupt, Prepared, Resources, Units, Worker, bitmask};
use crate::cancel::Cancel;
use crate::error::Error;
use crate::size::BoardSize;

/// A whole board, counted by engine `bitmask`. The empty board has one solution (A000170).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeBoard(BoardSize);

impl WholeBoard {
    pub(crate) fn new(size: BoardSize) -> Self {
        Self(size)
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
        Meaning::whole_board(self.0)
    }

    fn prepare(&self, _: &Resources, _: &Cancel) -> Result<Box<dyn Prepared + '_>, Error> {
        Ok(Box::new(*self))
    }
}

impl Prepared for WholeBoard {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(*self)
    }
}

impl Worker for WholeBoard {
    fn count(&mut self, _unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        let n = self.0.rows();
        if n == 0 {
            return Ok(1);
        }
        let count = (0..n).map(|column| bitmask::count(n, column, cancel)).sum();
        if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(count) }
    }
}
