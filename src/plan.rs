//! A count cut into units of work: [`Plan`] says what a unit is.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::subtrees::{MAX_SPLIT_ROWS, default_split_rows};
use crate::engine::unit::{self, EVEN, RowDomains, Units};
use crate::engine::{Engine, Kernel, WhichCount, count_domains, recount_bytes};
use crate::error::Error;
use crate::machine::memory::Memory;

/// The units of one count.
///
/// A *unit* is an independent part of a count. A plan numbers its units from 0. Each unit has a count, and a
/// *weight*: the number of solutions of the board that each counted solution stands for. The sum of count times
/// weight over all units is the number of solutions of the board.
///
/// The list of units depends only on the board, the engine and the split rows, never on the machine, the kernel or
/// the threads. Plans with equal [`Plan::hash`] almost certainly have equal lists.
///
/// ```
/// use nqueens::{BoardSize, Cancel, Engine, Kernel, Plan};
///
/// let plan = Plan::new(BoardSize::new(8)?, Engine::Subtrees, Some(2));
/// let mut worker = plan.worker(Kernel::detect());
/// let mut total = 0;
/// for unit in 0..plan.units() {
///     total += plan.weight(unit) * worker.count(unit, &Cancel::new())?;
/// }
/// assert_eq!(total, 92);
/// # Ok::<(), nqueens::Error>(())
/// ```
pub struct Plan {
    size: BoardSize,
    engine: Engine,
    split_rows: Option<usize>,
    which: WhichCount,
    list: Box<dyn Units>,
    hash: OnceLock<u32>,
}

/// A number that goes into the hash. It is increased when units change their meaning in a way that the hash would
/// miss.
const HASH_VERSION: u32 = 1;
/// The number of units that are hashed if the list is longer, spread evenly over it.
const HASHED_UNITS: usize = 1024;
/// The bytes of a thread's stack: Rust's default.
const STACK: u64 = 2 << 20;

impl Plan {
    /// Cuts the count of a board into the units of an engine.
    ///
    /// `split_rows` is the number of rows in the prefixes of [`Engine::Subtrees`], clamped to 1 to 4. `None` chooses
    /// a number that suits the board. The other engines ignore it.
    ///
    /// # Panics
    ///
    /// If the engine does not count boards of this size: [`Engine::check`] returns an error then.
    pub fn new(size: BoardSize, engine: Engine, split_rows: Option<usize>) -> Self {
        let rows = split_rows.unwrap_or(default_split_rows(size)).clamp(1, MAX_SPLIT_ROWS);
        let list = engine.units(size, rows);
        let split_rows = (engine == Engine::Subtrees).then_some(rows);
        Self { size, engine, split_rows, which: WhichCount::First, list, hash: OnceLock::new() }
    }

    /// Makes the plan of the first or of the second count of these units.
    pub fn for_count(self, which: WhichCount) -> Self {
        Self { which, ..self }
    }

    /// Returns whether this is the plan of the first or of the second count.
    pub fn which_count(&self) -> WhichCount {
        self.which
    }

    /// Returns the size of the board.
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// Returns the engine that counts the units.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns the number of rows in the prefixes of [`Engine::Subtrees`], 1 to 4, or `None` for the other engines.
    pub fn split_rows(&self) -> Option<usize> {
        self.split_rows
    }

    /// Returns a number that identifies this list of units. The first and the second count of a plan have the
    /// same hash.
    ///
    /// It is the CRC-32 of the board, the engine, the split rows, the number of units, and the meaning of the units.
    /// Of more than 1024 units, 1024 are hashed. The meaning of a unit is its weight, the squares on which queens may
    /// stand, and for engine `colours` how many times it counts solutions whose columns tie with their rows, or
    /// nearly do.
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

    /// Returns the number of units, at least one.
    pub fn units(&self) -> usize {
        self.list.len()
    }

    /// Returns the number of solutions of the board that each solution in this unit stands for.
    ///
    /// # Panics
    ///
    /// If the plan has no unit with this number.
    pub fn weight(&self, unit: usize) -> u64 {
        self.list.weight(unit)
    }

    /// Returns the solutions in consecutive units from `first` on: the sum of the counts, each times the weight of
    /// its unit. The sum cannot overflow, because the weights and the number of units are far below 2^32.
    pub(crate) fn solutions(&self, first: usize, counts: &[u64]) -> u128 {
        let terms = (first..).zip(counts);
        terms.map(|(unit, count)| u128::from(*count) * u128::from(self.weight(unit))).sum()
    }

    /// Returns the range of units around this one that a thread counts fastest one after the other.
    pub(crate) fn counted_together(&self, unit: usize) -> Range<usize> {
        self.list.counted_together(unit)
    }

    /// Returns which solutions a unit counts, and how many times. Another program needs no more to count the unit.
    ///
    /// # Panics
    ///
    /// If the plan has no unit with this number.
    pub fn domains(&self, unit: usize) -> RowDomains {
        self.list.domains(unit)
    }

    /// Checks that this machine has enough memory to make a plan with these settings.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if it has not, [`Error::InvalidValue`] if `NQUEENS_MEMORY` cannot be read.
    pub(crate) fn check_list_memory(
        size: BoardSize,
        engine: Engine,
        split_rows: Option<usize>,
    ) -> Result<(), Error> {
        let rows = split_rows.unwrap_or(default_split_rows(size)).clamp(1, MAX_SPLIT_ROWS);
        check_memory_once("the list of units", size, engine.list_bytes(size, rows))
    }

    /// Checks that this machine has enough memory to count on this number of threads.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if it has not, [`Error::InvalidValue`] if `NQUEENS_MEMORY` cannot be read.
    pub fn check_memory(&self, threads: usize) -> Result<(), Error> {
        let (size, engine) = (self.size, self.engine);
        let reserve = engine.worker_reserve(size);
        let bytes = engine.memory_of_thread(size);
        check_memory_of_threads(format!("engine {engine}"), size, bytes, reserve, threads)
    }

    /// Checks that this machine has enough memory to [recount](Self::recount) units on this number of threads.
    pub(crate) fn check_recount(&self, threads: usize) -> Result<(), Error> {
        let bytes = if self.engine == Engine::Colours { recount_bytes(self.size) } else { 0 };
        check_memory_of_threads("plain backtracking".to_owned(), self.size, bytes, 1 << 20, threads)
    }

    /// Makes a worker, which counts units on one thread with this kernel. It may need hundreds of megabytes:
    /// [`Plan::check_memory`] checks whether the machine has this memory.
    pub fn worker(&self, kernel: Kernel) -> Worker<'_> {
        Worker { counter: self.list.counter(self.which, kernel) }
    }

    /// Counts one unit with another method than the plan's engine: a plain backtracker that can count any unit.
    ///
    /// # Errors
    ///
    /// [`Error::StoppedBefore`] after a cancellation, [`Error::UnitOverflow`] if the count does not fit in a `u64`.
    ///
    /// # Panics
    ///
    /// If the plan has no unit with this number.
    pub fn recount(&self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        count_domains(&self.list.domains(unit), cancel).map_err(|interrupt| interrupt.in_unit(unit))
    }
}

/// The smallest allocation that is checked before it is made. To ask for all limits takes longer than a small count.
const MIN_CHECKED: u64 = 1 << 20;

/// Checks that every limit on memory leaves this many bytes. They are needed once, however many threads there are.
pub(crate) fn check_memory_once(what: &str, size: BoardSize, bytes: u64) -> Result<(), Error> {
    if bytes < MIN_CHECKED {
        return Ok(());
    }
    let least = Memory::limits()?.into_iter().min_by_key(Memory::usable);
    match least {
        Some(limit) if limit.usable() < bytes => Err(Error::LacksMemory {
            what: what.to_owned(),
            n: size.get(),
            threads: None,
            bytes,
            usable: limit.usable(),
            most: limit.most(),
            limit: limit.limit,
        }),
        _ => Ok(()),
    }
}

/// Checks that every limit on memory lets these threads run. The error names the limit that lets the fewest run.
///
/// A thread uses `bytes`, and reserves `reserve` bytes more. The threads have already started, so their stacks count
/// as used. With fewer threads there would be fewer stacks, so the stacks are added to what is available.
fn check_memory_of_threads(
    what: String,
    size: BoardSize,
    bytes: u64,
    reserve: u64,
    threads: usize,
) -> Result<(), Error> {
    let limits = Memory::limits()?.into_iter().filter_map(|mut limit| {
        let mut per_thread = bytes;
        if limit.counts_reserved {
            per_thread += reserve + STACK;
            limit.available += threads as u64 * STACK;
        }
        let fitting = limit.usable().checked_div(per_thread)?;
        (fitting < threads as u64).then_some((fitting, per_thread, limit))
    });
    let Some((_, bytes, limit)) = limits.min_by_key(|(fitting, ..)| *fitting) else {
        return Ok(());
    };
    Err(Error::LacksMemory {
        what,
        n: size.get(),
        threads: Some(threads),
        bytes,
        usable: limit.usable(),
        most: limit.most(),
        limit: limit.limit,
    })
}

/// Returns sets of columns for the white queens, chosen so that their weights show how the unit counts ties.
///
/// These are the unit's white rows taken as columns, the reverse of this set, and sets near it that have as many even
/// and as many odd columns.
fn near_ties(domains: &RowDomains) -> impl Iterator<Item = u32> {
    let (n, board) = (domains.size.get(), domains.size.columns());
    // In a white row the columns of the row's own parity are allowed.
    let white = (0..n).filter(|row| domains.is_white(*row as usize));
    let white = white.fold(0, |rows, row| rows | 1 << row);
    // Moves the even columns, or the odd ones, one place further, the last one to the front.
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

/// Writes the plan as the first line of a journal names it, with its first or second count: `n=8 count=first
/// engine=bitmask split-rows=none plan=0a84c9f3 units=8`.
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

/// A counter of units for one thread, with its own memory.
pub struct Worker<'a> {
    counter: Box<dyn unit::Counter + 'a>,
}

impl Worker<'_> {
    /// Counts one unit. The count is not yet multiplied by the weight of the unit.
    ///
    /// # Errors
    ///
    /// [`Error::StoppedBefore`] after a cancellation, [`Error::UnitOverflow`] if the count does not fit in a `u64`,
    /// and [`Error::EntryOverflow`] if a number inside engine `colours` does not fit.
    ///
    /// # Panics
    ///
    /// If the plan has no unit with this number.
    pub fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        self.counter.count(unit, cancel).map_err(|interrupt| interrupt.in_unit(unit))
    }

    /// Counts the first of these units, and the following ones of them that belong to its batch. The range must not
    /// be empty.
    pub(crate) fn count_batch(
        &mut self,
        units: Range<usize>,
        cancel: &Cancel,
    ) -> Result<Vec<u64>, Error> {
        let first = units.start;
        self.counter.count_batch(units, cancel).map_err(|interrupt| interrupt.in_unit(first))
    }
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
