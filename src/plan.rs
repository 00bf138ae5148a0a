//! A count cut into work units.
//!
//! A *unit* is data: a plan and an index give one count, and a weight, the number of solutions of
//! the board that each counted solution stands for. Units are independent and numbered from 0. The
//! list is the same on every machine: it depends only on the board, the engine and the split rows,
//! never on kernel, threads or memory. Two programs that use the same list agree on [`Plan::hash`].
//!
//! ```
//! use nqueens::{BoardSize, Cancel, Engine, Kernel, Plan};
//!
//! // The textbook engines have one unit for each column of the first row's queen.
//! let plan = Plan::new(BoardSize::new(8)?, Engine::Bitmask, None);
//! let mut worker = plan.worker(Kernel::detect());
//! let by_first_column: Vec<u64> = (0..plan.units())
//!     .map(|unit| worker.count(unit, &Cancel::new()))
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
use crate::engine::subtrees::{MOST_SPLIT_ROWS, default_split_rows};
use crate::engine::unit::{self, EVEN, RowDomains, Units};
use crate::engine::{Engine, Kernel, WhichCount, count_domains, recount_bytes};
use crate::error::Error;
use crate::machine::memory::Memory;

/// The units of one count.
pub struct Plan {
    size: BoardSize,
    engine: Engine,
    split_rows: Option<usize>,
    which: WhichCount,
    list: Box<dyn Units>,
    hash: OnceLock<u32>,
}

/// Increases whenever units change their meaning but their hash would stay the same.
const HASH_VERSION: u32 = 1;
/// Of longer lists, this many units are hashed, evenly spread.
const HASHED_UNITS: usize = 1024;
/// The bytes of a thread's stack, as Rust starts them.
const STACK: u64 = 2 << 20;

impl Plan {
    /// Cuts the count of a board into an engine's units. `split_rows` is for [`Engine::Subtrees`]:
    /// its prefixes have this many rows, 1 to 4; without it, as many as suit the board.
    ///
    /// # Panics
    ///
    /// If the engine does not count such boards, see [`Engine::check`].
    pub fn new(size: BoardSize, engine: Engine, split_rows: Option<usize>) -> Self {
        let rows = split_rows.unwrap_or(default_split_rows(size)).clamp(1, MOST_SPLIT_ROWS);
        let list = engine.units(size, &FixedQueens::default(), rows);
        let split_rows = (engine == Engine::Subtrees).then_some(rows);
        Self { size, engine, split_rows, which: WhichCount::First, list, hash: OnceLock::new() }
    }

    /// Cuts the count of only those solutions that contain these queens. Only [`Engine::Subtrees`] can
    /// count them, so the units are of this engine. Journals cannot hold such plans.
    pub fn with_queens(self, queens: &FixedQueens) -> Self {
        let (engine, rows) =
            (Engine::Subtrees, self.split_rows.unwrap_or(default_split_rows(self.size)));
        let list = engine.units(self.size, queens, rows);
        Self { engine, split_rows: Some(rows), list, hash: OnceLock::new(), ..self }
    }

    /// Makes the plan of the first or of the second count of these units.
    pub fn for_count(self, which: WhichCount) -> Self {
        Self { which, ..self }
    }

    /// Whether the units are counted for the first or the second time.
    pub fn which_count(&self) -> WhichCount {
        self.which
    }

    /// The board.
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// The engine that counts the units.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// How many rows the prefixes of [`Engine::Subtrees`] have; `None` for the other engines.
    pub fn split_rows(&self) -> Option<usize> {
        self.split_rows
    }

    /// A number that identifies this list of units: the CRC-32 of the board, the engine, the split
    /// rows, the number of units, and what they mean (for long lists, a sample of them): the
    /// squares on which queens may stand, the weight, and what solutions weigh whose columns tie with the
    /// rows or nearly do. Both counts of a plan have one hash.
    pub fn hash(&self) -> u32 {
        *self.hash.get_or_init(|| {
            let mut hasher = crc32fast::Hasher::new();
            let mut add = |number: u64| hasher.update(&number.to_le_bytes());
            let units = self.units();
            add(HASH_VERSION.into());
            add(self.size.get().into());
            self.engine.name().bytes().for_each(|byte| add(byte.into()));
            add(self.split_rows.unwrap_or(0) as u64);
            add(units as u64);
            let sample = units.min(HASHED_UNITS);
            for place in 0..sample {
                let unit = (place as u128 * units as u128 / sample as u128) as usize;
                let domains = self.list.domains(unit);
                add(self.weight(unit));
                match &domains.weight {
                    None => add(0),
                    Some(weight) => near_ties(&domains).for_each(|columns| add(weight(columns))),
                }
                domains.allowed.iter().for_each(|columns| add((*columns).into()));
            }
            hasher.finalize()
        })
    }

    /// The number of units: at least one, unless given queens leave no free square in the first
    /// row.
    pub fn units(&self) -> usize {
        self.list.len()
    }

    /// How many solutions of the board each solution of this unit stands for.
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
    pub fn weight(&self, unit: usize) -> u64 {
        self.list.weight(unit)
    }

    /// The solutions in consecutive units from `first` on, given the count of each: the sum of the counts times
    /// the weights. It fits: weights and numbers of units are far below 2^32.
    pub(crate) fn solutions(&self, first: usize, counts: &[u64]) -> u128 {
        let terms = (first..).zip(counts);
        terms.map(|(unit, count)| u128::from(*count) * u128::from(self.weight(unit))).sum()
    }

    /// The units around this one that one thread counts fastest one after the other.
    pub(crate) fn neighbours(&self, unit: usize) -> Range<usize> {
        self.list.neighbours(unit)
    }

    /// Returns the solutions that a unit counts, and how many times: all that another program needs to count it.
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
    pub fn domains(&self, unit: usize) -> RowDomains {
        self.list.domains(unit)
    }

    /// Makes sure that this machine has the memory to count on this number of threads.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`].
    pub fn check_memory(&self, threads: usize) -> Result<(), Error> {
        let reserve = self.engine.worker_reserve(self.size);
        let bytes = self.engine.worker_bytes(self.size);
        self.fits(format!("engine {}", self.engine), bytes, reserve, threads)
    }

    /// Makes sure that this machine has the memory to [recount](Self::recount) units on this number of threads.
    pub(crate) fn check_recount(&self, threads: usize) -> Result<(), Error> {
        let bytes = if self.engine == Engine::Colours { recount_bytes(self.size) } else { 0 };
        self.fits("plain backtracking".to_owned(), bytes, 1 << 20, threads)
    }

    /// Finds the limit that lets the fewest threads run. Each needs these bytes, and reserves some more. They have
    /// started, so their stacks count as used; with fewer threads there would be fewer.
    fn fits(&self, counter: String, bytes: u64, reserve: u64, threads: usize) -> Result<(), Error> {
        let limits = Memory::limits().into_iter().filter_map(|mut limit| {
            let mut per_thread = bytes;
            if limit.counts_reserved {
                per_thread += reserve + STACK;
                limit.available += threads as u64 * STACK;
            }
            let fitting = limit.usable().checked_div(per_thread)?;
            (fitting < threads as u64).then_some((fitting, per_thread, limit))
        });
        let Some((_, per_thread, limit)) = limits.min_by_key(|(fitting, ..)| *fitting) else {
            return Ok(());
        };
        let (n, usable) = (self.size.get(), limit.usable());
        Err(Error::LacksMemory { counter, n, threads, per_thread, usable, limit: limit.limit })
    }

    /// What counts units on one thread.
    pub fn worker(&self, kernel: Kernel) -> Worker<'_> {
        Worker { worker: self.list.counter(self.which, kernel) }
    }

    /// Counts one unit by another method than the plan's: the plain backtracker, on any units.
    ///
    /// # Errors
    ///
    /// As [`Worker::count`].
    ///
    /// # Panics
    ///
    /// If the plan has no such unit.
    pub fn recount(&self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        count_domains(&self.list.domains(unit), cancel).map_err(|interrupt| interrupt.in_unit(unit))
    }
}

/// Returns columns of white queens whose weights show by which rule ties are counted: the rows of the white queens of
/// a unit taken as columns, these reversed, and sets around them with as many even and odd columns.
fn near_ties(domains: &RowDomains) -> impl Iterator<Item = u32> {
    let (n, board) = (domains.size.get(), domains.size.columns());
    // White rows allow the columns of their own parity.
    let white = (0..n).filter(|row| domains.is_white(*row as usize));
    let white = white.fold(0, |rows, row| rows | 1 << row);
    // The even or the odd columns, one place further.
    let turned = move |set: u32, parity: u32| {
        let side = board & EVEN << parity;
        set & !side | (set << 2 | set >> (2 * side.count_ones() - 2)) & side
    };
    let around = [1, 0, 0, 1, 1, 0].into_iter().scan(white, move |set, parity| {
        *set = turned(*set, parity);
        Some(*set)
    });
    [white, white.reverse_bits() >> (32 - n)].into_iter().chain(around)
}

/// What distinguishes a plan, and its first from its second count, as journals name it:
/// `n=8 count=first engine=bitmask split-rows=none plan=0a84c9f3 units=8`.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, engine, which, .. } = self;
        let rows = self.split_rows.map_or("none".to_owned(), |rows| rows.to_string());
        let (hash, units) = (self.hash(), self.units());
        write!(f, "n={size} count={which} engine={engine} ")?;
        write!(f, "split-rows={rows} plan={hash:08x} units={units}")
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({self})")
    }
}

/// Counts units on one thread, in its own memory.
pub struct Worker<'a> {
    worker: Box<dyn unit::Counter + 'a>,
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

    /// Counts the first of these units, at least one, and those after it that belong to its batch.
    pub(crate) fn count_batch(
        &mut self,
        units: Range<usize>,
        cancel: &Cancel,
    ) -> Result<Vec<u64>, Error> {
        let first = units.start;
        self.worker.count_batch(units, cancel).map_err(|interrupt| interrupt.in_unit(first))
    }
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
