//! The engines: their names, and what each of them provides.
//!
//! This is the one list that the command line, the benches, the tests and the tables read. An
//! engine provides a list of independent [`Units`]; each thread counts them with its own
//! [`Counter`](unit::Counter).
//! Everything else (threads, progress, cancellation, the sum) belongs to the driver and is the same
//! for all engines.
//!
//! CONTRIBUTING.md has a recipe for adding an engine.

#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[macro_use]
mod vectors;
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
pub use unit::{RowDomains, WhichCount};

use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::error::Error;
use colours::Colours;
pub(crate) use plain::{count_domains, recount_bytes};
use subtrees::Subtrees;
use textbook::{
    CountWithQueen, FirstRowUnits, bitmask, board_scan, bool_arrays, column_array, permutation,
};

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
        self.spec().textbook.map(|textbook| textbook.largest_sensible)
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
    /// [`Error::InvalidValue`] for [`Engine::Colours`] and boards above n = 30.
    pub fn check(self, size: BoardSize) -> Result<(), Error> {
        let most = colours::LARGEST;
        if self != Self::Colours || size.get() <= most {
            return Ok(());
        }
        Err(Error::out_of_range("a board of engine colours", size, 0..=most as usize))
    }

    /// Whether the engine's inner loop has a version for each [`Kernel`].
    pub fn has_kernels(self) -> bool {
        self.spec().textbook.is_none()
    }

    /// The bytes that each thread may need; 0 for engines that need little.
    pub(crate) fn worker_bytes(self, size: BoardSize) -> u64 {
        let is_for_colours = self == Self::Colours && size.rows() >= colours::SMALLEST;
        if is_for_colours { colours::worker_bytes(size) } else { 0 }
    }

    /// The bytes that each thread may reserve beside these: small allocations, and on boards for which engine
    /// `colours` gives memory back what the heap has not given back yet, up to 12 MiB at n = 24 by `VmPeak`.
    pub(crate) fn worker_reserve(self, size: BoardSize) -> u64 {
        let gives_back = self == Self::Colours && size.get() > 20;
        if gives_back { 32 << 20 } else { 1 << 20 }
    }

    /// Cuts the count of a board into units. Only [`Engine::Subtrees`] uses the given queens. It also has the
    /// boards that are too small for the others.
    pub(crate) fn units(
        self,
        size: BoardSize,
        queens: &FixedQueens,
        split_rows: usize,
    ) -> Box<dyn Units> {
        match (self, self.spec().textbook) {
            (_, Some(Textbook { count, .. })) if size.rows() >= 1 => {
                Box::new(FirstRowUnits { size, count })
            }
            (Self::Colours, _) if size.rows() >= colours::SMALLEST => Box::new(Colours::new(size)),
            _ => Box::new(Subtrees::new(size, queens, split_rows)),
        }
    }
}

/// What the command line says about an engine, and what counts its units if it is a textbook engine.
struct EngineSpec {
    name: &'static str,
    summary: &'static str,
    textbook: Option<Textbook>,
}

/// A textbook engine.
#[derive(Clone, Copy)]
struct Textbook {
    /// This board takes 2 to 8 seconds on one core, and the next one ten times as long.
    largest_sensible: u32,
    count: CountWithQueen,
}

/// All engines, in the order of [`Engine::ALL`].
static ENGINES: [EngineSpec; Engine::ALL.len()] = [
    engine("permutation", "generate and test: every permutation, diagonals at the end")
        .textbook(12, permutation::count),
    engine("board-scan", "backtracking on a 0/1 board, scanned for queens above each square")
        .textbook(13, board_scan::count),
    engine("column-array", "backtracking with one column a row, compared pair by pair")
        .textbook(14, column_array::count),
    engine("bool-arrays", "backtracking with boolean arrays for columns and diagonals")
        .textbook(14, bool_arrays::count),
    engine("bitmask", "backtracking with bit masks, lowest free bit first")
        .textbook(16, bitmask::count),
    engine("subtrees", "bit masks and all eight symmetries, on many nodes at a time"),
    engine("colours", "white queens, black queens, and a dot product between them"),
];

const fn engine(name: &'static str, summary: &'static str) -> EngineSpec {
    EngineSpec { name, summary, textbook: None }
}

impl EngineSpec {
    const fn textbook(self, largest_sensible: u32, count: CountWithQueen) -> Self {
        Self { textbook: Some(Textbook { largest_sensible, count }), ..self }
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
            Error::invalid("an engine", name, advice)
        })
    }
}

#[cfg(test)]
mod tests;
