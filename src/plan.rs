//! A count cut into work units.
//!
//! A *unit* is data: a plan and an index give one count, and a weight that says how many solutions
//! of the board each of them stands for. Units are independent, numbered from 0, and the list is
//! the same on every machine: it depends on the board, the engine and the split rows alone.
//!
//! ```
//! use nqueens::{BoardSize, Cancel, Engine, Plan};
//!
//! // The textbook engines have one unit for each column of the first row's queen.
//! let plan = Plan::new(BoardSize::new(8)?, Engine::Bitmask, None);
//! let by_first_column: Vec<u64> = (0..plan.units())
//!     .map(|unit| plan.count_unit(unit, &Cancel::new()))
//!     .collect::<Result<_, _>>()?;
//! assert_eq!(by_first_column, [4, 8, 16, 18, 18, 16, 8, 4]);
//! # Ok::<(), nqueens::Error>(())
//! ```

use std::fmt;

use crate::cancel::Cancel;
use crate::engine::{
    Engine, Interrupt, Kernel, MemoryUse, Prepared, Resources, SplitRows, Units, Worker,
};
use crate::error::Error;
use crate::memory;
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

    /// Counts one unit, before its weight, with the fastest kernel. To count several, see
    /// [`Plan::prepare`].
    ///
    /// # Errors
    ///
    /// As [`Plan::prepare`] and [`UnitCounter::count`].
    pub fn count_unit(&self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        let resources =
            Resources { kernel: Kernel::detect(), threads: 1, memory: memory::default_budget() };
        self.prepare(&resources, cancel)?.counter().count(unit, cancel)
    }

    /// Makes what the units share.
    ///
    /// # Errors
    ///
    /// [`Error::MemoryBudget`] if the engine cannot work within the memory given,
    /// [`Error::PreparationStopped`] after a cancellation.
    pub fn prepare(
        &self,
        resources: &Resources,
        cancel: &Cancel,
    ) -> Result<PreparedPlan<'_>, Error> {
        Ok(PreparedPlan(self.units.prepare(resources, cancel)?))
    }
}

/// A plan with what its units share.
pub struct PreparedPlan<'a>(Box<dyn Prepared + 'a>);

impl PreparedPlan<'_> {
    /// A counter for one thread.
    #[must_use]
    pub fn counter(&self) -> UnitCounter<'_> {
        UnitCounter(self.0.worker())
    }

    /// How memory is used; `None` for engines that need little.
    #[must_use]
    pub fn memory(&self) -> Option<MemoryUse> {
        self.0.memory()
    }
}

/// Counts units on one thread, in memory of its own.
pub struct UnitCounter<'a>(Box<dyn Worker + 'a>);

impl UnitCounter<'_> {
    /// Counts one unit, before its weight.
    ///
    /// # Errors
    ///
    /// [`Error::UnitStopped`] after a cancellation, [`Error::UnitOverflow`] if the count does not
    /// fit.
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
    pub fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        self.0.count(unit, cancel).map_err(|interrupt| match interrupt {
            Interrupt::Cancelled => Error::UnitStopped { unit },
            Interrupt::Overflow => Error::UnitOverflow { unit },
        })
    }
}

impl fmt::Debug for PreparedPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedPlan").finish_non_exhaustive()
    }
}

impl fmt::Debug for UnitCounter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnitCounter").finish_non_exhaustive()
    }
}
