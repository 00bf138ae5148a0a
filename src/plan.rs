//! A count cut into work units.
//!
//! A *unit* is data: a plan and an index give one count, and a weight that says how many solutions
//! of the board each of them stands for. Units are independent, numbered from 0, and the list is
//! the same on every machine: it depends on the board, the engine and the split rows alone.
//!
//! ```
//! use nqueens::{BoardSize, Cancel, Engine, Kernel, Plan};
//!
//! // The textbook engines have one unit for each column of the first row's queen.
//! let plan = Plan::new(BoardSize::new(8)?, Engine::Bitmask, None);
//! let by_first_column: Vec<u64> = (0..plan.units())
//!     .map(|unit| plan.count_unit(unit, Kernel::detect(), &Cancel::new()))
//!     .collect::<Result<_, _>>()?;
//! assert_eq!(by_first_column, [4, 8, 16, 18, 18, 16, 8, 4]);
//! # Ok::<(), nqueens::Error>(())
//! ```

use crate::cancel::Cancel;
use crate::engine::{Engine, Interrupt, Kernel, SplitRows, Units, Worker};
use crate::error::Error;
use crate::size::BoardSize;

/// The units of one count.
#[derive(Debug)]
pub struct Plan {
    size: BoardSize,
    engine: Engine,
    units: Box<dyn Units>,
}

impl Plan {
    /// Cuts the count of a board by an engine. `split_rows` is for [`Engine::Subtrees`]; without it
    /// prefixes have two rows.
    #[must_use]
    pub fn new(size: BoardSize, engine: Engine, split_rows: Option<SplitRows>) -> Self {
        let units = engine.units(size, split_rows.unwrap_or(SplitRows::TWO));
        Self { size, engine, units }
    }

    /// The board.
    #[must_use]
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// The engine that counts the units.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// How many units there are, at least one.
    #[must_use]
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// How many solutions of the board each solution of this unit stands for.
    #[must_use]
    pub fn weight(&self, unit: usize) -> u64 {
        self.units.weight(unit)
    }

    /// Counts one unit, before its weight.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] after a cancellation, [`Error::UnitOverflow`] if the count does not fit.
    pub fn count_unit(&self, unit: usize, kernel: Kernel, cancel: &Cancel) -> Result<u64, Error> {
        self.worker(kernel).count(unit, cancel).map_err(|interrupt| match interrupt {
            Interrupt::Cancelled => Error::Stopped { done: 0, units: 1, solutions: 0 },
            Interrupt::Overflow => Error::UnitOverflow { unit },
        })
    }

    /// A counter for one thread.
    pub(crate) fn worker(&self, kernel: Kernel) -> Box<dyn Worker + '_> {
        self.units.worker(kernel)
    }
}
