//! The engines: their names, and what each of them provides.
//!
//! This is the one list that the command line, the benches, the tests and the tables read. An
//! engine provides a list of independent [`Units`]; each thread counts them with its own
//! [`Counter`](unit::Counter).
//! Everything else (threads, progress, cancellation, the sum) belongs to the driver and is the same
//! for all engines.
//!
//! CONTRIBUTING.md has a recipe for adding an engine.

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod x86;
#[macro_use]
mod simd;
mod colours;
mod plain;
pub(crate) mod subtrees;
mod textbook;
pub(crate) mod unit;

use std::fmt;
use std::str::FromStr;

pub use simd::Kernel;
use unit::Units;
pub use unit::WhichCount;

use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::error::Error;
use colours::Colours;
use plain::SingleUnit;
pub(crate) use plain::{EVEN, count_domains, recount_bytes};
use subtrees::Subtrees;
use textbook::{FirstRowUnits, bitmask, board_scan, bool_arrays, column_array, permutation};

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
    /// Prefixes of the first rows, all eight symmetries, many nodes of a row at once.
    Subtrees,
    /// White queens and black queens, and a dot product between them.
    Colours,
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
        Self::Colours,
    ];

    fn spec(self) -> &'static EngineSpec {
        &ENGINES[self as usize]
    }

    /// The engine's name, on the command line and everywhere else.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// What the engine does, in one line: the help, the completions and the README have it from here.
    pub fn summary(self) -> &'static str {
        self.spec().summary
    }

    /// The largest board for which a textbook engine is sensible: it takes a few seconds on one
    /// core. `None` for the engines made for large boards.
    pub fn largest_sensible(self) -> Option<u32> {
        self.spec().largest_sensible
    }

    /// The fastest engine for boards of this size: `colours` from n = 14 to 30. Smaller boards have too few
    /// placements to fill its vectors.
    pub fn auto(size: BoardSize) -> Self {
        let is_for_colours = (14..=colours::LARGEST).contains(&size.get());
        if is_for_colours { Self::Colours } else { Self::Subtrees }
    }

    /// Makes sure that the engine counts boards of this size.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] for [`Engine::Colours`] and boards above n = 30.
    pub fn check(self, size: BoardSize) -> Result<(), Error> {
        let most = colours::LARGEST;
        if self != Self::Colours || size.get() <= most {
            return Ok(());
        }
        Err(Error::out_of_range("a board of engine colours", size, 0..=most as usize))
    }

    /// Whether the engine's inner loop has a version for each [`Kernel`].
    pub fn has_kernels(self) -> bool {
        self.largest_sensible().is_none()
    }

    /// The bytes that each thread may need; 0 for engines that need little.
    pub(crate) fn worker_bytes(self, size: BoardSize) -> u64 {
        if self.counts_whole(size) { 0 } else { (self.spec().worker_bytes)(size) }
    }

    /// The bytes that each thread may reserve beside these: small allocations, and on boards for which engine
    /// `colours` gives memory back what the heap has not given back yet, up to 12 MiB at n = 24 by `VmPeak`.
    pub(crate) fn worker_reserve(self, size: BoardSize) -> u64 {
        let gives_back = self == Self::Colours && size.get() > 20;
        if gives_back { 32 << 20 } else { 1 << 20 }
    }

    /// Cuts the count of a board into units. Only [`Engine::Subtrees`] uses the given queens.
    pub(crate) fn units(
        self,
        size: BoardSize,
        queens: &FixedQueens,
        split_rows: usize,
    ) -> Box<dyn Units> {
        if self.counts_whole(size) {
            return Box::new(SingleUnit { size, queens: queens.clone() });
        }
        (self.spec().units)(size, queens, split_rows)
    }

    /// Whether the board is too small to be cut into the units of this engine.
    fn counts_whole(self, size: BoardSize) -> bool {
        size.rows() < self.spec().smallest
    }
}

/// What an engine is, and what it provides.
struct EngineSpec {
    name: &'static str,
    summary: &'static str,
    largest_sensible: Option<u32>,
    /// Boards of fewer rows are one unit, counted by the plain backtracker.
    smallest: usize,
    units: MakeUnits,
    worker_bytes: fn(BoardSize) -> u64,
}

type MakeUnits = fn(BoardSize, &FixedQueens, usize) -> Box<dyn Units>;

/// All engines, in the order of [`Engine::ALL`]. The largest sensible board of a textbook engine takes
/// 2 to 8 seconds on one core, and the next one ten times as long.
static ENGINES: [EngineSpec; Engine::ALL.len()] = [
    EngineSpec {
        name: "permutation",
        summary: "generate and test: every permutation, diagonals at the end",
        ..textbook(12, |size, _, _| Box::new(FirstRowUnits { size, count: permutation::count }))
    },
    EngineSpec {
        name: "board-scan",
        summary: "backtracking on a 0/1 board, scanned for queens above each square",
        ..textbook(13, |size, _, _| Box::new(FirstRowUnits { size, count: board_scan::count }))
    },
    EngineSpec {
        name: "column-array",
        summary: "backtracking with one column a row, compared pair by pair",
        ..textbook(14, |size, _, _| Box::new(FirstRowUnits { size, count: column_array::count }))
    },
    EngineSpec {
        name: "bool-arrays",
        summary: "backtracking with boolean arrays for columns and diagonals",
        ..textbook(14, |size, _, _| Box::new(FirstRowUnits { size, count: bool_arrays::count }))
    },
    EngineSpec {
        name: "bitmask",
        summary: "backtracking with bit masks, lowest free bit first",
        ..textbook(16, |size, _, _| Box::new(FirstRowUnits { size, count: bitmask::count }))
    },
    EngineSpec {
        name: "subtrees",
        summary: "bit masks and all eight symmetries, on many nodes at a time",
        largest_sensible: None,
        smallest: subtrees::SMALLEST,
        units: |size, queens, split_rows| Box::new(Subtrees::new(size, queens, split_rows)),
        worker_bytes: |_| 0,
    },
    EngineSpec {
        name: "colours",
        summary: "white queens, black queens, and a dot product between them",
        largest_sensible: None,
        smallest: colours::SMALLEST,
        units: |size, _, _| Box::new(Colours::new(size)),
        worker_bytes: colours::worker_bytes,
    },
];

/// What the textbook engines have in common.
const fn textbook(largest_sensible: u32, units: MakeUnits) -> EngineSpec {
    EngineSpec {
        name: "",
        summary: "",
        largest_sensible: Some(largest_sensible),
        smallest: 1,
        units,
        worker_bytes: |_| 0,
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
            let advice = format!("choose one of {}", Self::ALL.map(Self::name).join(", "));
            Error::UnknownName { what: "an engine", given: name.to_owned(), advice }
        })
    }
}

#[cfg(test)]
mod tests;
