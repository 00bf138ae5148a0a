//! A count cut into work units.
//!
//! A *unit* is data: a plan and an index give one count, and a weight, the number of solutions of
//! the board that each counted solution stands for. Units are independent and numbered from 0. The
//! list is the same on every machine: it depends only on the board, the engine and the split rows,
//! never on kernel, threads or memory. Two programs that use the same list agree on [`Plan::hash`].
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

mod cut;

use std::fmt;

use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use crate::engine::{
    Engine, Kernel, MemoryUse, Pass, Prepared, Resources, SplitRows, Units, Worker, unit::Interrupt,
};
use crate::error::Error;
use crate::machine::memory;
pub(crate) use cut::Cut;

/// The units of one count.
#[derive(Debug)]
pub struct Plan {
    size: BoardSize,
    engine: Engine,
    split_rows: Option<SplitRows>,
    pass: Pass,
    units: Box<dyn Units>,
}

/// The most threads that a count can start.
pub const MAX_THREADS: usize = 4096;

/// Increases whenever units change their meaning but their hash would stay the same.
const HASH_VERSION: u32 = 1;
/// Of longer lists, this many units are hashed, evenly spread.
const HASHED_UNITS: usize = 1024;

impl Plan {
    /// Cuts the count of a board into an engine's units. `split_rows` is for [`Engine::Subtrees`],
    /// whose prefixes have two rows without it.
    #[must_use]
    pub fn new(size: BoardSize, engine: Engine, split_rows: Option<SplitRows>) -> Self {
        let split_rows = (engine == Engine::Subtrees).then(|| split_rows.unwrap_or(SplitRows::TWO));
        let units =
            engine.units(size, &FixedQueens::default(), split_rows.unwrap_or(SplitRows::TWO));
        Self { size, engine, split_rows, pass: Pass::First, units }
    }

    /// Cuts the count of the solutions that contain these queens into units of
    /// [`Engine::Subtrees`]. Journals cannot hold such plans.
    #[must_use]
    pub fn with_queens(
        size: BoardSize,
        queens: &FixedQueens,
        split_rows: Option<SplitRows>,
    ) -> Self {
        let split_rows = split_rows.unwrap_or(SplitRows::TWO);
        let units = Engine::Subtrees.units(size, queens, split_rows);
        let (engine, split_rows) = (Engine::Subtrees, Some(split_rows));
        Self { size, engine, split_rows, pass: Pass::First, units }
    }

    /// The same units, counted for the first or the second time.
    #[must_use]
    pub fn in_pass(self, pass: Pass) -> Self {
        Self { pass, ..self }
    }

    /// Whether the units are counted for the first or the second time.
    #[must_use]
    pub fn pass(&self) -> Pass {
        self.pass
    }

    /// The board.
    #[must_use]
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// How the plan was cut, for plans without given queens.
    pub(crate) fn cut(&self) -> Cut<'static> {
        let Self { size, engine, split_rows, pass, .. } = *self;
        Cut { size, engine, split_rows, pass, queens: None }
    }

    /// The engine that counts the units.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// How many rows the prefixes of [`Engine::Subtrees`] have; `None` for the other engines.
    #[must_use]
    pub fn split_rows(&self) -> Option<SplitRows> {
        self.split_rows
    }

    /// A number that identifies this list of units: the CRC-32 of the board, the engine, the split
    /// rows, the number of units, and what they mean (for long lists, a sample of them): the
    /// squares on which queens may stand, and the weight. It is the same for the first and the second
    /// count.
    #[must_use]
    pub fn hash(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        let mut add = |number: u64| hasher.update(&number.to_le_bytes());
        let units = self.units();
        add(HASH_VERSION.into());
        add(self.size.get().into());
        self.engine.name().bytes().for_each(|byte| add(byte.into()));
        add(self.split_rows.map_or(0, SplitRows::get).into());
        add(units as u64);
        let sample = units.min(HASHED_UNITS);
        for place in 0..sample {
            let unit = (place as u128 * units as u128 / sample as u128) as usize;
            let domains = self.units.domains(unit);
            add(self.weight(unit));
            add(domains.weighing.as_ref().map_or(0, |weighing| weighing.row as u64));
            domains.allowed.iter().for_each(|columns| add((*columns).into()));
        }
        hasher.finalize()
    }

    /// The number of units: at least one, unless given queens leave no free square in the first
    /// row.
    #[must_use]
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// How many solutions of the board each solution of this unit stands for.
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
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
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
    pub fn count_unit(&self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        let resources =
            Resources { kernel: Kernel::detect(), threads: 1, memory: memory::default_budget() };
        self.prepare(&resources, cancel)?.counter().count(unit, cancel)
    }

    /// A counter that counts units by another engine than the plan's: units of [`Engine::Subtrees`] by
    /// the plain backtracker of [`Engine::Bitmask`], and units of all other engines by the passes of
    /// [`Engine::Subtrees`], with this kernel.
    #[must_use]
    pub fn recounter(&self, kernel: Kernel) -> UnitCounter<'_> {
        let (method, mut counter) = self.engine.recounter(self.size, kernel);
        let count = move |unit, cancel: &Cancel| counter.count(&self.units.domains(unit), cancel);
        UnitCounter { method: method.name(), count: Box::new(count) }
    }

    /// Builds what the units share.
    ///
    /// # Errors
    ///
    /// [`Error::ThreadsOutOfRange`] unless it is for 1 to [`MAX_THREADS`] threads,
    /// [`Error::MemoryBudget`] if the engine cannot work within the memory given,
    /// [`Error::NoSecondCount`] if it has no second count, [`Error::PreparationStopped`] after a
    /// cancellation.
    pub fn prepare(
        &self,
        resources: &Resources,
        cancel: &Cancel,
    ) -> Result<PreparedPlan<'_>, Error> {
        self.cut().check_pass()?;
        if !(1..=MAX_THREADS).contains(&resources.threads) {
            let given = resources.threads.to_string();
            return Err(Error::ThreadsOutOfRange { given, max: MAX_THREADS });
        }
        self.engine.check_memory(self.size, resources)?;
        let prepared = self.units.prepare(self.pass, resources, cancel)?;
        Ok(PreparedPlan { engine: self.engine, prepared })
    }
}

/// As `n = 20, engine subtrees, split rows = 2, hash 1f0ac321`.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n = {}, engine {}", self.size, self.engine)?;
        if let Some(rows) = self.split_rows {
            write!(f, ", split rows = {rows}")?;
        }
        write!(f, ", hash {:08x}", self.hash())?;
        match self.pass {
            Pass::First => Ok(()),
            Pass::Second => f.write_str(", second count"),
        }
    }
}

/// A plan with what its units share.
pub struct PreparedPlan<'a> {
    engine: Engine,
    prepared: Box<dyn Prepared + 'a>,
}

impl<'a> PreparedPlan<'a> {
    /// A counter for one thread.
    #[must_use]
    pub fn counter(&self) -> UnitCounter<'_> {
        let mut worker = self.worker();
        let count = move |unit, cancel: &Cancel| worker.count(unit, cancel);
        UnitCounter { method: self.engine.name(), count: Box::new(count) }
    }

    /// A worker for one thread.
    pub(crate) fn worker(&self) -> Box<dyn Worker + '_> {
        self.prepared.worker()
    }

    /// How memory is used; `None` for engines that need little.
    #[must_use]
    pub fn memory(&self) -> Option<MemoryUse> {
        self.prepared.memory()
    }
}

/// Counts one unit, before its weight.
type CountUnit<'a> = dyn FnMut(usize, &Cancel) -> Result<u64, Interrupt> + Send + 'a;

/// Counts units on one thread, in its own memory.
pub struct UnitCounter<'a> {
    method: &'static str,
    count: Box<CountUnit<'a>>,
}

impl UnitCounter<'_> {
    /// The name of the engine that counts.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

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
        (self.count)(unit, cancel).map_err(|interrupt| interrupt.in_unit(unit))
    }
}

impl fmt::Debug for PreparedPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedPlan").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl fmt::Debug for UnitCounter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnitCounter").field("method", &self.method).finish_non_exhaustive()
    }
}
