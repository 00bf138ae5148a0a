//! The engines: their names, and what each of them provides.
//!
//! The command line, the benches, the tests and the tables all read the one list in this file. An engine provides a
//! list of independent [`Units`]. Each thread counts them with its own [`Counter`](unit::Counter). Everything else
//! (threads, progress, cancellation, the sum) belongs to the driver and does not depend on the engine.
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
pub(crate) use simd::Vectors;
use unit::Units;
pub use unit::{Pass, RowDomains};

use crate::board::size::BoardSize;
use crate::error::Error;
use colours::Colours;
pub(crate) use plain::{count_domains, recount_bytes};
use subtrees::Subtrees;
use textbook::{
    CountWithQueen, FirstRowUnits, bitmask, board_scan, bool_arrays, column_array, permutation,
};

/// An algorithm that counts the solutions of a board. [`Engine::summary`] describes each of them in one line.
///
/// ```
/// use nqueens::{BoardSize, Engine};
///
/// for engine in Engine::ALL {
///     println!("{engine}: {}", engine.summary());
/// }
/// assert_eq!(Engine::fastest_for(BoardSize::new(20)?), Engine::Colours);
/// assert_eq!("colours".parse(), Ok(Engine::Colours));
/// assert_eq!(Engine::Colours.name(), "colours");
/// # Ok::<(), nqueens::Error>(())
/// ```
///
/// [`Engine::Colours`] counts boards up to n = 30, and the others count all boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Generate and test.
    Permutation,
    /// Backtracking on a 0/1 board.
    BoardScan,
    /// Backtracking with the column of each queen.
    ColumnArray,
    /// Backtracking with boolean arrays.
    BoolArrays,
    /// Backtracking with bit masks.
    Bitmask,
    /// Bit masks, on many nodes at a time.
    Subtrees,
    /// The two colours of the squares, counted apart.
    Colours,
}

impl Engine {
    /// All engines, from the slowest to the fastest.
    pub const ALL: &[Self] = &[
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

    /// Returns the name of the engine, on the command line and everywhere else.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns what the engine does, in one line. The help, the completions and docs/PERFORMANCE.md use this line.
    pub fn summary(self) -> &'static str {
        self.spec().summary
    }

    /// Returns the largest board that a textbook engine counts in a few seconds on one core. Returns `None` for the
    /// engines made for large boards.
    pub(crate) fn largest_sensible(self) -> Option<u32> {
        self.spec().textbook.map(|textbook| textbook.largest_sensible)
    }

    /// Returns the fastest engine for boards of this size: `colours` from n = 14 to 30, otherwise `subtrees`. Smaller
    /// boards have too few placements to fill the vectors of `colours`.
    pub fn fastest_for(size: BoardSize) -> Self {
        let is_for_colours = (14..=colours::LARGEST).contains(&size.get());
        if is_for_colours { Self::Colours } else { Self::Subtrees }
    }

    /// Checks that the engine counts boards of this size.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] for [`Engine::Colours`] and boards above n = 30.
    pub(crate) fn check(self, size: BoardSize) -> Result<(), Error> {
        let largest = colours::LARGEST;
        if self == Self::Colours && size.get() > largest {
            return Err(Error::out_of_range(
                "a board of engine colours",
                size,
                0..=largest as usize,
            ));
        }
        Ok(())
    }

    /// Returns whether the inner loop of the engine has a version for each [`Kernel`].
    pub(crate) fn has_kernels(self) -> bool {
        self.spec().textbook.is_none()
    }

    /// Returns the bytes of memory that each counting thread may use, or 0 for engines that need little and for boards
    /// that the engine does not count ([`Engine::check`]).
    ///
    /// A count uses at most three quarters of the memory that is available.
    pub(crate) fn memory_of_thread(self, size: BoardSize) -> u64 {
        let uses_colours = self.cuts_by_colours(size) && self.check(size).is_ok();
        if uses_colours { colours::worker_bytes(size) } else { 0 }
    }

    /// Returns whether a unit of this board fixes which rows have a white queen. Smaller boards are one unit.
    pub(crate) fn cuts_by_colours(self, size: BoardSize) -> bool {
        self == Self::Colours && size.rows() >= colours::SMALLEST
    }

    /// Returns the bytes that each thread may reserve beyond [`Engine::memory_of_thread`], mostly for small
    /// allocations. With engine `colours` on larger boards, vectors have room that is not used, and the heap keeps some
    /// addresses of those that were freed: by `VmPeak` up to 12 MiB (n = 21, 22, 24 and 29).
    pub(crate) fn worker_reserve(self, size: BoardSize) -> u64 {
        let has_large_buffers = self == Self::Colours && size.get() > 20;
        if has_large_buffers { 32 << 20 } else { 1 << 20 }
    }

    /// Returns the bytes that the list of units takes at most. Only [`Engine::Subtrees`] has one that grows with the
    /// board.
    pub(crate) fn list_bytes(self, size: BoardSize, split_rows: usize) -> u64 {
        if self == Self::Subtrees { subtrees::list_bytes(size, split_rows) } else { 0 }
    }

    /// Cuts the count of a board into units. Boards that are too small for an engine are cut by
    /// [`Engine::Subtrees`].
    pub(crate) fn units(self, size: BoardSize, split_rows: usize) -> Box<dyn Units> {
        if let Some(textbook) = self.spec().textbook
            && size.rows() >= 1
        {
            return Box::new(FirstRowUnits { size, count: textbook.count });
        }
        if self.cuts_by_colours(size) {
            return Box::new(Colours::new(size));
        }
        Box::new(Subtrees::new(size, split_rows))
    }
}

/// The description of an engine for the command line. A textbook engine also has the function that counts its units.
struct EngineSpec {
    name: &'static str,
    summary: &'static str,
    textbook: Option<Textbook>,
}

/// A textbook engine.
#[derive(Clone, Copy)]
struct Textbook {
    /// The board that takes 2 to 8 seconds on one core. The next one takes ten times as long.
    largest_sensible: u32,
    count: CountWithQueen,
}

/// All engines, in the order of [`Engine::ALL`].
static ENGINES: [EngineSpec; 7] = [
    engine("permutation", "generate and test: every permutation, diagonals at the end")
        .textbook(12, permutation::count),
    engine("board-scan", "backtracking on a 0/1 board, scanned for queens above each square")
        .textbook(13, board_scan::count),
    engine("column-array", "backtracking with the column of each queen, compared pair by pair")
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
        for &engine in Self::ALL {
            if engine.name() == name {
                return Ok(engine);
            }
        }
        let names: Vec<&str> = Self::ALL.iter().map(|engine| engine.name()).collect();
        let advice = format!("choose one of {}", names.join(", "));
        Err(Error::invalid("an engine", name, advice))
    }
}

#[cfg(test)]
mod tests;
