//! A count cut into units of work, for programs that give out the work or check it by themselves.
//!
//! [`Count`](crate::Count) does all of this, and is faster, because it counts several units at once.

pub(crate) mod done;
mod hash;
mod memory;
pub(crate) mod shard;

use std::fmt;
use std::ops::Range;
use std::panic::UnwindSafe;
use std::sync::{Arc, OnceLock};

use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::subtrees::{MAX_SPLIT_ROWS, default_split_rows};
use crate::engine::unit::{self, Interrupt, Units};
use crate::engine::{Engine, Kernel, count_domains};
pub use crate::engine::{Pass, RowDomains};
use crate::error::Error;
use crate::machine::memory::StatedMemory;
pub(crate) use memory::ThreadMemory;
use memory::check_memory_once;

/// The units of one count.
///
/// A *unit* is an independent part of a count. A plan numbers its units from 0. Each unit has a count, and a
/// *weight*: the number of solutions of the board that each counted solution stands for. The sum of count times
/// weight over all units is the number of solutions of the board.
///
/// The list of units depends only on the board, the engine and the split rows, never on the machine, the kernel or
/// the threads. Plans with equal [`Plan::id`] almost certainly have equal lists.
///
/// ```
/// use nqueens::plan::Plan;
/// use nqueens::{BoardSize, Cancel, Engine, Kernel};
///
/// let plan = Plan::new(BoardSize::new(8)?, Engine::Subtrees, Some(2))?;
/// let mut worker = plan.worker(Kernel::detect())?;
/// let mut total = 0;
/// for unit in 0..plan.units() {
///     let count = worker.count(unit, &Cancel::new())?;
///     total += u128::from(plan.weight(unit)) * u128::from(count);
/// }
/// assert_eq!(total, 92);
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone)]
pub struct Plan {
    size: BoardSize,
    engine: Engine,
    split_rows: Option<usize>,
    pass: Pass,
    /// What the user states of the memory, for all checks of memory that come with the plan.
    stated_memory: Option<StatedMemory>,
    /// The first and the second pass have the same units.
    list: Arc<dyn Units>,
    hash: OnceLock<u32>,
}

impl Plan {
    /// Cuts the count of a board into the units of an engine.
    ///
    /// `split_rows` is the number of rows in the prefixes of [`Engine::Subtrees`], 1 to 4, of which a board below n = 7
    /// has at most n - 3. `None` chooses a number that suits the board. The other engines ignore it, but no number
    /// other than 1 to 4 is taken.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if the engine does not count boards of this size, or if `split_rows` is not 1 to 4.
    /// [`Error::LacksMemory`] if the list of units does not fit into memory.
    pub fn new(size: BoardSize, engine: Engine, split_rows: Option<usize>) -> Result<Self, Error> {
        Self::with_memory(size, engine, split_rows, None)
    }

    /// Cuts the count of a board into the units of an engine, where the user may have stated how much memory there is.
    pub(crate) fn with_memory(
        size: BoardSize,
        engine: Engine,
        split_rows: Option<usize>,
        stated_memory: Option<StatedMemory>,
    ) -> Result<Self, Error> {
        engine.check(size)?;
        check_split_rows(split_rows)?;
        let rows = split_rows.unwrap_or(default_split_rows(size));
        let list_bytes = engine.list_bytes(size, rows);
        check_memory_once("the list of units", size, list_bytes, stated_memory)?;
        let list = Arc::from(engine.units(size, rows));
        let split_rows = (engine == Engine::Subtrees).then_some(rows);
        let pass = Pass::First;
        let hash = OnceLock::new();
        Ok(Self { size, engine, split_rows, pass, stated_memory, list, hash })
    }

    /// Makes the plan of the first or of the second pass over these units.
    pub fn for_pass(&self, pass: Pass) -> Self {
        Self { pass, list: Arc::clone(&self.list), hash: self.hash.clone(), ..*self }
    }

    /// Returns whether this is the plan of the first or of the second pass.
    pub fn pass(&self) -> Pass {
        self.pass
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

    /// Returns a number that identifies this list of units. The first and the second pass over a plan have the same
    /// number.
    ///
    /// It is the CRC-32 of the board, the engine, the split rows, the number of units, and the meaning of the units.
    /// Of more than 1024 units, 1024 are hashed. The meaning of a unit is its weight, the squares on which queens may
    /// stand, and for engine `colours` how many times it counts solutions whose columns tie with their rows, or
    /// nearly do.
    pub fn id(&self) -> u32 {
        *self.hash.get_or_init(|| hash::hash(self))
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
        assert!(unit < self.units(), "unit {unit} of {}", self.units());
        self.list.weight(unit)
    }

    /// Checks that there is memory for something that is needed once, whatever the number of threads.
    pub(crate) fn check_memory_of(&self, user: &str, bytes: u64) -> Result<(), Error> {
        check_memory_once(user, self.size, bytes, self.stated_memory)
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

    /// Returns which solutions a unit counts, and how many times. In the second pass these are the images of the
    /// solutions of the first pass. Another program needs no more to count the unit.
    ///
    /// # Panics
    ///
    /// If the plan has no unit with this number.
    pub fn domains(&self, unit: usize) -> RowDomains {
        assert!(unit < self.units(), "unit {unit} of {}", self.units());
        self.list.domains(unit, self.pass)
    }

    /// Checks that this machine has enough memory to count on this number of threads.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if it has not.
    pub(crate) fn check_memory(&self, threads: usize) -> Result<(), Error> {
        let memory = ThreadMemory::of_engine(self.engine, self.size);
        memory.check_started(threads, self.stated_memory).map_err(Error::LacksMemory)
    }

    /// Returns how [`Plan::recount`] counts the units.
    pub(crate) fn recount_method(&self) -> RecountMethod {
        if self.engine.cuts_by_colours(self.size) {
            RecountMethod::EachColour
        } else {
            RecountMethod::Backtracking
        }
    }

    /// Returns what each thread needs that [recounts](Self::recount) units.
    pub(crate) fn recount_memory(&self) -> ThreadMemory {
        match self.recount_method() {
            RecountMethod::EachColour => ThreadMemory::of_each_colour(self.size),
            RecountMethod::Backtracking => ThreadMemory::of_backtracking(self.size),
        }
    }

    /// Checks that this machine has enough memory to [recount](Self::recount) units on this number of threads.
    pub(crate) fn check_recount_memory(&self, threads: usize) -> Result<(), Error> {
        let memory = self.recount_memory();
        memory.check_started(threads, self.stated_memory).map_err(Error::LacksMemory)
    }

    /// Makes a worker, which counts units on one thread with this kernel. It may need 1 GiB (n = 28).
    ///
    /// One plan serves all threads, and each of them makes a worker of its own. Neighbouring units share work, so a
    /// thread should count consecutive units. [`Count`](crate::Count) counts several of them at once, and is faster.
    ///
    /// ```
    /// use nqueens::plan::Plan;
    /// use nqueens::{BoardSize, Cancel, Engine, Error, Kernel, Shard};
    ///
    /// let plan = Plan::new(BoardSize::new(12)?, Engine::Colours, None)?;
    /// let count_shard = &|index| -> Result<u128, Error> {
    ///     let mut worker = plan.worker(Kernel::detect())?;
    ///     let mut sum = 0;
    ///     for unit in Shard::new(index, 2)?.ranges(plan.units()).flatten() {
    ///         let count = worker.count(unit, &Cancel::new())?;
    ///         sum += u128::from(plan.weight(unit)) * u128::from(count);
    ///     }
    ///     Ok(sum)
    /// };
    /// let total = std::thread::scope(|scope| {
    ///     let threads = [0, 1].map(|index| scope.spawn(move || count_shard(index)));
    ///     threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<Result<u128, Error>>()
    /// })?;
    /// assert_eq!(total, 14_200);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if the machine has too little memory for one worker. Whoever makes several has to know
    /// that there is enough for all.
    pub fn worker(&self, kernel: Kernel) -> Result<Worker<'_>, Error> {
        self.check_memory(1)?;
        Ok(self.checked_worker(kernel))
    }

    /// Makes a worker. There must be memory for it.
    pub(crate) fn checked_worker(&self, kernel: Kernel) -> Worker<'_> {
        Worker { counter: self.list.counter(self.pass, kernel) }
    }

    /// Counts one unit again, by a simple search.
    ///
    /// Units of [`Engine::Colours`] are counted by a short search of each colour. The engine counts each colour by
    /// itself, too, so the recount shares with it the split into colours, the units, and how many times a unit counts
    /// each solution. It shares none of the lists, trees and kernels. Units of other engines, and of boards below n =
    /// 4, are counted by plain backtracking, which visits each solution.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] after a cancellation, [`Error::Overflow`] if the count does not fit in a `u64`, and
    /// [`Error::LacksMemory`] if the machine has too little memory for one recount.
    ///
    /// # Panics
    ///
    /// If the plan has no unit with this number.
    ///
    /// ```
    /// use nqueens::plan::Plan;
    /// use nqueens::{BoardSize, Cancel, Engine, Kernel};
    ///
    /// let plan = Plan::new(BoardSize::new(16)?, Engine::Colours, None)?;
    /// let counted = plan.worker(Kernel::detect())?.count(17, &Cancel::new())?;
    /// assert_eq!(plan.recount(17, &Cancel::new())?, counted);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn recount(&self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        self.check_recount_memory(1)?;
        self.recount_unit(unit, cancel)
    }

    /// Counts one unit again as [`Plan::recount`] does. There must be memory for it.
    pub(crate) fn recount_unit(&self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        // A cancelled check asks for every unit that is left, and the domains of all units take minutes on large
        // boards.
        if cancel.is_cancelled() {
            return Err(Interrupt::Cancelled.in_unit(unit));
        }
        count_domains(&self.domains(unit), cancel).map_err(|interrupt| interrupt.in_unit(unit))
    }
}

/// How [`Plan::recount`] counts the units of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecountMethod {
    /// White queens are placed without the black ones, and black queens without the white ones.
    EachColour,
    /// Whole solutions are visited.
    Backtracking,
}

impl fmt::Display for RecountMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EachColour => f.write_str("a search of each colour"),
            Self::Backtracking => f.write_str("backtracking"),
        }
    }
}

/// Checks a number of rows in the prefixes of [`Engine::Subtrees`].
///
/// # Errors
///
/// [`Error::InvalidValue`] unless it is 1 to 4.
fn check_split_rows(split_rows: Option<usize>) -> Result<(), Error> {
    match split_rows {
        Some(rows) if !(1..=MAX_SPLIT_ROWS).contains(&rows) => {
            Err(Error::out_of_range("a number of split rows", rows, 1..=MAX_SPLIT_ROWS))
        }
        _ => Ok(()),
    }
}

/// Returns the text of a number of split rows.
pub(crate) fn text_of_split_rows(split_rows: Option<usize>) -> String {
    match split_rows {
        Some(rows) => rows.to_string(),
        None => "none".to_owned(),
    }
}

/// Writes the plan as the first line of a journal names it, with its first or second pass: `n=8 count=first
/// engine=bitmask split-rows=none plan=0a84c9f3 units=8`.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, engine, pass, .. } = self;
        let split_rows = text_of_split_rows(self.split_rows);
        let hash = self.id();
        let units = self.units();
        write!(f, "n={size} count={pass} engine={engine} ")?;
        write!(f, "split-rows={split_rows} plan={hash:08x} units={units}")
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
    /// [`Error::Cancelled`] after a cancellation, and [`Error::Overflow`] if the count does not fit in a `u64`, or a
    /// number inside engine `colours` does not fit.
    ///
    /// # Panics
    ///
    /// If the plan has no unit with this number.
    pub fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Error> {
        self.counter.count(unit, cancel).map_err(|interrupt| interrupt.in_unit(unit))
    }

    /// Counts the first of these units, and the following ones of them that the engine counts at once with it. Returns
    /// the counts, and the error if the unit behind them could not be counted. The range must not be empty.
    pub(crate) fn count_batch(
        &mut self,
        units: Range<usize>,
        cancel: &Cancel,
    ) -> (Vec<u64>, Result<(), Error>) {
        let first = units.start;
        let mut counts = Vec::new();
        let ended = self.counter.count_batch(units, cancel, &mut counts);
        let ended = ended.map_err(|interrupt| interrupt.in_unit(first + counts.len()));
        (counts, ended)
    }
}

/// A worker begins each unit anew, so it counts right after a panic that was caught.
impl UnwindSafe for Worker<'_> {}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::unit::Counter;

    /// A list of one unit, of which nothing may be asked.
    struct Untouched;

    impl Units for Untouched {
        fn len(&self) -> usize {
            1
        }

        fn domains(&self, _unit: usize, _which: Pass) -> RowDomains {
            panic!("its domains were made")
        }

        fn counter(&self, _which: Pass, _kernel: Kernel) -> Box<dyn Counter + '_> {
            panic!("its counter was made")
        }
    }

    /// Domains take a while, and a check that is cancelled may have ten million units left.
    #[test]
    fn after_a_cancellation_no_unit_is_touched() {
        let size = BoardSize::new(8).expect("in range");
        let plan = Plan::new(size, Engine::Bitmask, None).expect("it counts all boards");
        let plan = Plan { list: Arc::new(Untouched), ..plan };
        let cancel = Cancel::new();
        cancel.cancel();
        assert!(plan.recount(0, &cancel).is_err_and(|error| error.is_cancelled()));
    }

    #[test]
    fn each_colour_is_searched_where_domains_have_multiplicities() {
        for &engine in Engine::ALL {
            for n in 0..=8 {
                let size = BoardSize::new(n).expect("in range");
                let plan = Plan::new(size, engine, None).expect("it counts small boards");
                let method = match plan.domains(0).multiplicity {
                    Some(_) => RecountMethod::EachColour,
                    None => RecountMethod::Backtracking,
                };
                assert_eq!(plan.recount_method(), method, "{plan}");
            }
        }
    }

    #[test]
    fn threads_need_memory_to_count_and_to_recount() {
        let size = BoardSize::new(12).expect("in range");
        let plan = Plan::new(size, Engine::Colours, None).expect("a plan");
        assert_eq!((plan.check_memory(1), plan.check_recount_memory(1)), (Ok(()), Ok(())));
        let stated_memory = Some(StatedMemory { bytes: 1 << 22, name: "the test" });
        let plan = Plan { stated_memory, ..plan };
        let many = 1_000_000_000;
        let once = |bytes| plan.check_memory_of("the test", bytes);
        assert_eq!(once(3 << 20), Ok(()));
        assert!(matches!(once(4 << 20), Err(Error::LacksMemory(_))));
        assert!(matches!(plan.check_memory(many), Err(Error::LacksMemory(_))));
        assert!(matches!(plan.check_recount_memory(many), Err(Error::LacksMemory(_))));
    }

    /// A program may count and recount units by itself, and nothing else has checked the memory.
    #[test]
    fn a_worker_and_a_recount_need_memory() {
        let size = BoardSize::new(28).expect("in range");
        let plan = Plan::new(size, Engine::Colours, None).expect("a plan");
        let stated_memory = Some(StatedMemory { bytes: 1 << 20, name: "the test" });
        let plan = Plan { stated_memory, ..plan };
        assert!(matches!(plan.worker(Kernel::PORTABLE), Err(Error::LacksMemory(_))));
        let recounted = plan.recount(0, &Cancel::new());
        assert!(matches!(recounted, Err(Error::LacksMemory(_))), "{recounted:?}");
    }

    #[test]
    #[should_panic(expected = "unit 8 of 8")]
    fn a_unit_that_is_not_there_has_no_weight() {
        let size = BoardSize::new(8).expect("in range");
        Plan::new(size, Engine::Bitmask, None).expect("a plan").weight(8);
    }
}
