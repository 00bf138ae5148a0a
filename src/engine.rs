//! The engines: their names, and what each of them provides.
//!
//! This is the one list that the command line, the benches, the tests and the tables read.
//! What an engine provides is a list of independent [`Units`]; a thread counts them with a
//! [`Worker`] of its own. Everything else (threads, progress, cancellation, the sum) belongs to
//! the driver and is the same for all engines.
//!
//! # How to add an engine
//!
//! 1. Write `engine/NAME.rs` with a module header (what it counts, idea, what it changes, time
//!    and memory, invariants, sources) and its [`Units`].
//! 2. Add a variant to [`Engine`], a line to [`Engine::ALL`] and one to each `match` below.
//! 3. Run `cargo test`: the tests in `tests/` take the new engine from [`Engine::ALL`].
//! 4. Add a row to the tables in README.md, with figures from `nqueens compare`.

pub(crate) mod bitmask;
mod board_scan;
mod bool_arrays;
mod column_array;
mod first_columns;
pub(crate) mod halves;
mod kernel;
pub(crate) mod meaning;
mod permutation;
pub(crate) mod row_domains;
pub(crate) mod subtrees;
mod whole_board;

use std::fmt;
use std::str::FromStr;

pub use kernel::Kernel;
pub use subtrees::SplitRows;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::size::BoardSize;
use crate::square::FixedQueens;
use first_columns::FirstColumns;
use halves::Halves;
use meaning::Meaning;
use subtrees::Subtrees;
use whole_board::WholeBoard;

/// An algorithm that counts the solutions of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// All permutations in lexicographic order, diagonals tested at the end.
    Permutation,
    /// A 0/1 board, scanned upwards and along both diagonals.
    BoardScan,
    /// One column for each row, compared pair by pair.
    ColumnArray,
    /// Flags for columns and for both families of diagonals.
    BoolArrays,
    /// Three words of flags, lowest free bit first.
    Bitmask,
    /// Prefixes of the first rows, all eight symmetries, many nodes of a row at a time.
    Subtrees,
    /// Joins of east and west half-boards.
    Halves,
}

impl Engine {
    /// All engines, from the slowest to the fastest.
    pub const ALL: [Self; 7] = [
        Self::Permutation,
        Self::BoardScan,
        Self::ColumnArray,
        Self::BoolArrays,
        Self::Bitmask,
        Self::Subtrees,
        Self::Halves,
    ];

    /// The engine's name, on the command line and everywhere else.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Permutation => "permutation",
            Self::BoardScan => "board-scan",
            Self::ColumnArray => "column-array",
            Self::BoolArrays => "bool-arrays",
            Self::Bitmask => "bitmask",
            Self::Subtrees => "subtrees",
            Self::Halves => "halves",
        }
    }

    /// The largest board for which a textbook engine is sensible: it takes seconds on one core.
    /// `None` for the engines made for large boards.
    #[must_use]
    pub fn largest_sensible(self) -> Option<u32> {
        match self {
            Self::Permutation => Some(permutation::LARGEST_SENSIBLE),
            Self::BoardScan => Some(board_scan::LARGEST_SENSIBLE),
            Self::ColumnArray => Some(column_array::LARGEST_SENSIBLE),
            Self::BoolArrays => Some(bool_arrays::LARGEST_SENSIBLE),
            Self::Bitmask => Some(bitmask::LARGEST_SENSIBLE),
            Self::Subtrees | Self::Halves => None,
        }
    }

    /// The engine that is fastest on boards of this size, with this kernel: the join needs boards of
    /// some size to fill its blocks, and longer vectors help the backtracker more.
    #[must_use]
    pub fn auto(size: BoardSize, kernel: Kernel) -> Self {
        let first_of_halves = if kernel == Kernel::Portable { 14 } else { 16 };
        if size.get() < first_of_halves { Self::Subtrees } else { Self::Halves }
    }

    /// Whether the engine's inner loop has a version for each [`Kernel`].
    #[must_use]
    pub fn has_kernels(self) -> bool {
        matches!(self, Self::Subtrees | Self::Halves)
    }

    /// Bytes that each thread may come to need, for engines that need much.
    pub(crate) fn worker_bytes(self, size: BoardSize) -> u64 {
        match self {
            Self::Halves => halves::worker_bytes(size),
            _ => 0,
        }
    }

    /// How many units [`Engine::units`] cuts a board into, and about how many bytes their list
    /// takes, found out without it.
    pub(crate) fn forecast(self, size: BoardSize, split_rows: SplitRows) -> (usize, u64) {
        match self {
            Self::Subtrees if size.rows() >= subtrees::SMALLEST => {
                Subtrees::forecast(size, split_rows)
            }
            Self::Halves if size.rows() >= halves::SMALLEST => halves::forecast(size),
            Self::Subtrees | Self::Halves => (1, 0),
            _ => (size.rows().max(1), 0),
        }
    }

    /// All names, in the order of [`Engine::ALL`].
    #[must_use]
    pub fn names() -> [&'static str; Self::ALL.len()] {
        Self::ALL.map(Self::name)
    }

    /// Cuts the count of a board into units.
    pub(crate) fn units(self, size: BoardSize, split_rows: SplitRows) -> Box<dyn Units> {
        let whole_board = || Box::new(WholeBoard::new(size, FixedQueens::default()));
        match self {
            Self::Permutation => Box::new(FirstColumns::new(size, permutation::count)),
            Self::BoardScan => Box::new(FirstColumns::new(size, board_scan::count)),
            Self::ColumnArray => Box::new(FirstColumns::new(size, column_array::count)),
            Self::BoolArrays => Box::new(FirstColumns::new(size, bool_arrays::count)),
            Self::Bitmask => Box::new(FirstColumns::new(size, bitmask::count)),
            Self::Subtrees if size.rows() < subtrees::SMALLEST => whole_board(),
            Self::Subtrees => Box::new(Subtrees::new(size, split_rows)),
            Self::Halves if size.rows() < halves::SMALLEST => whole_board(),
            Self::Halves => Box::new(Halves::new(size)),
        }
    }
}

/// Cuts the count of a board with some queens given into units, for [`Engine::Subtrees`].
pub(crate) fn units_with_queens(
    size: BoardSize,
    queens: &FixedQueens,
    split_rows: SplitRows,
) -> Box<dyn Units> {
    if size.rows() < subtrees::SMALLEST {
        Box::new(WholeBoard::new(size, queens.clone()))
    } else {
        Box::new(Subtrees::with_queens(size, queens, split_rows))
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|engine| engine.name() == name).ok_or_else(|| {
            Error::UnknownEngine { given: name.to_owned(), choices: Self::names().join(", ") }
        })
    }
}

/// The independent parts of one count, numbered from 0. The list depends on the board, the engine
/// and the number of split rows alone, never on the machine.
pub(crate) trait Units: fmt::Debug + Send + Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// How many solutions of the whole board each solution of this unit stands for.
    fn weight(&self, unit: usize) -> u64;

    /// Which placements the unit counts, and how often.
    fn meaning(&self, unit: usize) -> Meaning;

    /// Makes what the units of a count share, within the memory given.
    fn prepare(
        &self,
        resources: &Resources,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared + '_>, Error>;
}

/// What a count may use of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// The kernel for the inner loops.
    pub kernel: Kernel,
    /// Workers that will be at work at the same time.
    pub threads: usize,
    /// Bytes for all of them together.
    pub memory: u64,
}

/// Shared by the threads of a count.
pub(crate) trait Prepared: Sync {
    /// A counter of units for one thread, with its own scratch memory.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// How memory is used, for engines that need much.
    fn memory(&self) -> Option<MemoryUse> {
        None
    }

    /// Whether what the threads share is still as it was made.
    fn shared_is_intact(&self) -> bool {
        true
    }
}

/// Memory that a count plans to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// Bytes of what all threads share.
    pub shared: u64,
    /// Bytes that each thread may come to need.
    pub per_thread: u64,
    /// How the engine fits its lists into the budget, in a few words.
    pub strategy: &'static str,
}

/// Counts units on one thread.
pub(crate) trait Worker: Send {
    /// The number of solutions in this unit, before its weight.
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt>;
}

/// Why a unit has no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// The count was cancelled.
    Cancelled,
    /// The unit's count passed `u64::MAX`.
    Overflow,
}

impl Interrupt {
    /// The same as an error that names the unit.
    pub(crate) fn in_unit(self, unit: usize) -> Error {
        match self {
            Self::Cancelled => Error::UnitStopped { unit },
            Self::Overflow => Error::UnitOverflow { unit },
        }
    }
}
