//! Counts the solutions of the n-queens problem exactly: the ways to place n queens on an n x n board so that no two
//! share a row, a column or a diagonal.
//!
//! ```
//! assert_eq!(nqueens::count(8)?, 92);
//! # Ok::<(), nqueens::Error>(())
//! ```
//!
//! A [`Count`] chooses the engine and the number of threads, records finished work in a journal, reports progress and
//! can be stopped:
//!
//! ```no_run
//! use nqueens::{BoardSize, Cancel, Count, OnProgress, SoFar};
//!
//! let watch = OnProgress(|so_far: &SoFar<'_>| {
//!     eprintln!("{} of {} units, {} solutions", so_far.done.units, so_far.units, so_far.done.solutions);
//! });
//! // If the process is killed, running this code again resumes from the journal.
//! let count = Count::new(BoardSize::new(22)?).threads(8).journal("q22");
//! let cancel = Cancel::new(); // `cancel.cancel()` on another thread stops the count
//! let outcome = count.observer(&watch).stop_on(&cancel).run()?;
//! if let Some(total) = outcome.total {
//!     println!("{total} solutions in {:?}, published: {}", outcome.elapsed, outcome.published);
//! }
//! # Ok::<(), nqueens::Error>(())
//! ```
//!
//! [`SoFar::time_left`] estimates how long the rest takes, and [`record::Record`] reads journals.
//!
//! # Map
//!
//! | item | what it is |
//! |---|---|
//! | [`count()`], [`Count`], [`Outcome`] | a count in one call; a count with its settings; its result |
//! | [`Estimate`] | the expected time and result of a count |
//! | [`Observer`], [`OnProgress`], [`Start`], [`SoFar`], [`Cancel`] | how to watch and to stop a count |
//! | [`BoardSize`] | the side of a board, 0 to 32 |
//! | [`Engine`], [`Kernel`] | the algorithms, and the vector instructions that they use |
//! | [`Known`], [`Published`] | the published counts with their sources; how a total compares with them |
//! | [`Solution`], [`Square`] | one way to place n queens: legality, symmetric images, pictures |
//! | [`Solutions`], [`FixedQueens`] | an iterator over solutions; queens that they must contain |
//! | [`symmetry`] | the numbers of symmetric solutions, and of solutions up to rotation and reflection |
//! | [`Plan`], [`Worker`] | a count cut into units, independent parts of the work; a counter of units |
//! | [`Shard`] | one machine's share of the units |
//! | [`RowDomains`] | what a unit counts, for programs that count it by themselves |
//! | [`UnitsDone`], [`Sum`] | finished units with their counts; a number of units and of solutions |
//! | [`WhichCount`] | the first count of a plan, or the second one as a check |
//! | [`record`] | journals: files that hold the finished units of a count |
//! | [`verify`] | counts some recorded units again by a simple search |
//! | [`forecast`] | estimates of time and total from a sample of the units |
//! | [`Error`], [`InvalidValue`], [`LackOfMemory`] | why a count could not start or finish |
//! | [`VERSION`], [`COMMIT`] | the name of this build |
//!
//! In the repository, ARCHITECTURE.md shows how these parts depend on each other, and docs/STABLE.md says what stays the
//! same in all versions 1.x.
//!
//! # Features
//!
//! The feature `cli` (on by default) is the command line `nqueens`. Without it the crate depends only on crc32fast,
//! humantime, num_cpus, rayon, rustix, sysinfo and thiserror.
//!
//! The package is called `nqueens-count`, because another package in the Rust package registry is called `nqueens`:
//!
//! ```toml
//! [dependencies]
//! nqueens = { package = "nqueens-count", version = "1", default-features = false }
//! ```
//!
//! The crate needs a 64-bit CPU. It is tested on Linux only, and compiles for macOS and FreeBSD.

// On 32-bit CPUs offsets overflow, and the counts of `colours` are wrong from n = 22 on.
#[cfg(not(target_pointer_width = "64"))]
compile_error!("nqueens needs a 64-bit CPU: on 32 bits its counts would be wrong");
#[cfg(not(unix))]
compile_error!("nqueens needs Unix: on Windows, build it in WSL");

mod board;
mod cancel;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod count;
mod engine;
mod error;
pub mod forecast;
mod journal;
mod machine;
mod numbers;
mod plan;
pub mod record;
pub mod verify;
mod version;

pub use board::known::{Known, Published};
pub use board::size::BoardSize;
pub use board::solution::Solution;
pub use board::solutions::Solutions;
pub use board::square::{FixedQueens, Square};
pub use board::symmetry;
pub use cancel::Cancel;
pub use count::{Count, Estimate, Observer, OnProgress, Outcome, SoFar, Start, count};
pub use engine::{Engine, Kernel, RowDomains, WhichCount};
pub use error::{Error, InvalidValue, LackOfMemory};
#[cfg(feature = "cli")]
pub(crate) use machine::memory::MemoryLimit;
#[cfg(feature = "cli")]
pub(crate) use machine::{Cpu, MAX_THREADS, cores, thread_pool};
pub use plan::done::{Sum, UnitsDone};
pub use plan::shard::Shard;
pub use plan::{Plan, Worker};
pub use version::{COMMIT, VERSION};

/// Runs the README's Rust examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
