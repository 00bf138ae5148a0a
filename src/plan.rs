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

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use crate::engine::unit::{self, CountDomains, Interrupt, UnitEstimate, Units};
use crate::engine::{Engine, Kernel, MemoryUse, Pass, Resources, SplitRows};
use crate::error::{Error, Shortage};
use crate::machine::memory::fitting_threads;
use crate::machine::{check_threads, memory};

/// The units of one count.
#[derive(Debug)]
pub struct Plan {
    size: BoardSize,
    engine: Engine,
    split_rows: Option<SplitRows>,
    queens: FixedQueens,
    pass: Pass,
    /// Built when it is first needed. For large boards it takes hundreds of megabytes, and nobody
    /// should wait for it only to learn that the count does not fit.
    list: OnceLock<Box<dyn Units>>,
}

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
        let (queens, pass, list) = (FixedQueens::default(), Pass::First, OnceLock::new());
        Self { size, engine, split_rows, queens, pass, list }
    }

    /// Cuts the count of only those solutions that contain these queens. Only [`Engine::Subtrees`] can
    /// count them, so the units are of this engine. Journals cannot hold such plans.
    #[must_use]
    pub fn with_queens(self, queens: FixedQueens) -> Self {
        let plan = Self::new(self.size, Engine::Subtrees, self.split_rows);
        Self { queens, pass: self.pass, ..plan }
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
            let domains = self.list().domains(unit);
            add(self.weight(unit));
            add(domains.weighing.as_ref().map_or(0, |weighing| weighing.number_of_rows() as u64));
            domains.allowed.iter().for_each(|columns| add((*columns).into()));
        }
        hasher.finalize()
    }

    /// The number of units: at least one, unless given queens leave no free square in the first
    /// row.
    #[must_use]
    pub fn units(&self) -> usize {
        self.list().len()
    }

    /// How many solutions of the board each solution of this unit stands for.
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
    #[must_use]
    pub fn weight(&self, unit: usize) -> u64 {
        self.list().weight(unit)
    }

    /// The units around this one that are counted fastest together.
    pub(crate) fn batch(&self, unit: usize) -> Range<usize> {
        self.list().batch(unit)
    }

    fn list(&self) -> &dyn Units {
        let split_rows = self.split_rows.unwrap_or(SplitRows::TWO);
        &**self.list.get_or_init(|| self.engine.units(self.size, &self.queens, split_rows))
    }

    /// How many units there will be, and how many bytes their list will take, without building it.
    pub(crate) fn forecast(&self) -> (usize, u64) {
        let split_rows = self.split_rows.unwrap_or(SplitRows::TWO);
        self.engine.forecast(self.size, &self.queens, split_rows)
    }

    /// What is left of the memory besides `others`, bytes that something else takes. `given` says whether
    /// the user named this memory.
    pub(crate) fn within_budget(
        &self,
        resources: &Resources,
        others: u64,
        given: bool,
    ) -> Result<Resources, Error> {
        let Resources { threads, memory: budget, .. } = *resources;
        let per_thread = self.engine.worker_bytes(self.size);
        let needed = others.saturating_add(per_thread.saturating_mul(threads as u64));
        match budget.checked_sub(others) {
            Some(memory) if needed <= budget => Ok(Resources { memory, ..*resources }),
            rest => Err(Error::MemoryBudget(Shortage {
                engine: self.engine.name(),
                n: self.size.get(),
                needed,
                threads,
                least: others.saturating_add(per_thread),
                fitting: rest.map_or(0, |rest| fitting_threads(rest, per_thread)),
                budget,
                given,
            })),
        }
    }

    /// Makes sure that the engine has the count that is asked for.
    pub(crate) fn check_pass(&self) -> Result<(), Error> {
        match self.pass {
            Pass::Second if !self.engine.has_second_count() => {
                Err(Error::NoSecondCount { engine: self.engine.name() })
            }
            _ => Ok(()),
        }
    }

    /// Counts one unit, before its weight, with the fastest kernel. To count several, see
    /// [`Plan::prepare`].
    ///
    /// # Errors
    ///
    /// As [`Plan::prepare`] and [`Worker::count`].
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
    pub fn count_unit(&self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        let resources =
            Resources { kernel: Kernel::detect(), threads: 1, memory: memory::default_budget() };
        self.prepare(&resources, cancel)?.worker().count(unit, cancel)
    }

    /// Builds what the units share.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] unless it is for 1 to [`MAX_THREADS`](crate::MAX_THREADS)
    /// threads, [`Error::MemoryBudget`] if the engine cannot work within the memory given,
    /// [`Error::NoSecondCount`] if it has no second count, [`Error::StoppedBefore`] after a
    /// cancellation.
    pub fn prepare(&self, resources: &Resources, cancel: &Cancel) -> Result<Prepared<'_>, Error> {
        self.check_pass()?;
        check_threads(resources.threads)?;
        self.within_budget(resources, 0, true)?;
        let shared = self.list().prepare(self.pass, resources, cancel)?;
        Ok(Prepared { shared })
    }

    /// A worker that counts units by another engine than the plan's: units of [`Engine::Subtrees`] and
    /// [`Engine::Colours`] by the plain backtracker of [`Engine::Bitmask`], and units of all other engines by
    /// the passes of [`Engine::Subtrees`], with this kernel.
    #[must_use]
    pub fn recounter(&self, kernel: Kernel) -> Worker<'_> {
        let counter = self.engine.recounter(self.size, kernel);
        Worker { worker: Box::new(Recounter { units: self.list(), counter }) }
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

/// What the threads of a count share.
pub struct Prepared<'a> {
    shared: Box<dyn unit::Prepared + 'a>,
}

impl Prepared<'_> {
    /// A worker for one thread.
    #[must_use]
    pub fn worker(&self) -> Worker<'_> {
        Worker { worker: self.shared.worker() }
    }

    /// How memory is used; `None` for engines that need little.
    #[must_use]
    pub fn memory(&self) -> Option<MemoryUse> {
        self.shared.memory()
    }
}

/// Counts units on one thread, in its own memory.
pub struct Worker<'a> {
    worker: Box<dyn unit::Worker + 'a>,
}

impl Worker<'_> {
    /// Counts one unit, before its weight.
    ///
    /// # Errors
    ///
    /// [`Error::StoppedBefore`] after a cancellation, [`Error::UnitOverflow`] if the count does not
    /// fit.
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
    pub fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        self.worker.count(unit, cancel).map_err(|interrupt| interrupt.in_unit(unit))
    }

    /// Counts the first of these units, of which there is one at least, and with it those that follow in
    /// its batch.
    pub(crate) fn count_first(
        &mut self,
        units: Range<usize>,
        cancel: &Cancel,
    ) -> Result<Vec<u64>, Error> {
        let first = units.start;
        self.worker.count_first(units, cancel).map_err(|interrupt| interrupt.in_unit(first))
    }

    /// The greatest depth of [`Worker::sample`]; 0 if only whole units can be counted.
    pub(crate) fn deepest(&self) -> usize {
        self.worker.deepest()
    }

    /// Estimates a unit from a random part of it, which is the smaller the greater the depth.
    pub(crate) fn sample(
        &mut self,
        unit: usize,
        depth: usize,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Result<UnitEstimate, Error> {
        let estimate = self.worker.sample(unit, depth, random, cancel);
        estimate.map_err(|interrupt| interrupt.in_unit(unit))
    }
}

/// Counts the units of any engine by their domains.
struct Recounter<'a> {
    units: &'a dyn Units,
    counter: Box<dyn CountDomains>,
}

impl unit::Worker for Recounter<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        self.counter.count(&self.units.domains(unit), cancel)
    }
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_is_as_long_as_forecast() {
        for n in 0..=12 {
            let size = BoardSize::new(n).expect("in range");
            let queens = if n > 4 { "b1" } else { "" };
            let squares = queens.parse().into_iter().collect::<Vec<_>>();
            let queens = FixedQueens::new(size, &squares).expect("one queen");
            for split_rows in (1..=4).map(|rows| SplitRows::new(rows).ok()) {
                let plans = Engine::ALL.map(|engine| Plan::new(size, engine, split_rows));
                let given =
                    Plan::new(size, Engine::Subtrees, split_rows).with_queens(queens.clone());
                for plan in plans.into_iter().chain([given]) {
                    assert_eq!(plan.forecast().0, plan.units(), "{plan:?}");
                }
            }
        }
    }
}
