//! Counts the solutions of the n-queens problem exactly: the ways to place n queens on an n x n
//! board so that no two share a row, a column or a diagonal.
//!
//! ```
//! assert_eq!(nqueens::count(8)?, 92);
//! # Ok::<(), nqueens::Error>(())
//! ```
//!
//! [`Count`] chooses the engine and the threads, records what is finished, watches a count and stops it:
//!
//! ```no_run
//! use nqueens::{BoardSize, Count, UnitsDone};
//!
//! let watch = |done: &UnitsDone| eprintln!("{} more solutions", done.solutions);
//! // Killed at any moment, the same call goes on from the journal.
//! let count = Count::new(BoardSize::new(22)?).threads(8).journal("q22.journal");
//! let outcome = count.observer(&watch).run()?;
//! println!("{} solutions in {:?}, published: {}", outcome.total, outcome.elapsed, outcome.published);
//! # Ok::<(), nqueens::Error>(())
//! ```
//!
//! [`forecast::TimeLeft`] estimates for an observer how long the rest takes, and [`record::Record`] reads journals.
//!
//! # Map
//!
//! | item | what it is |
//! |---|---|
//! | [`BoardSize`] | the side of a board, 0 to 32, checked once |
//! | [`Solution`] | one way to place n queens: legality, images, pictures |
//! | [`Solutions`], [`FixedQueens`] | solutions one at a time; queens that they must contain |
//! | [`known`] | the published counts, with their sources |
//! | [`symmetry`] | symmetric solutions; solutions up to rotation and reflection |
//! | [`Engine`], [`Kernel`] | the algorithms, and the vector instructions they use |
//! | [`Plan`], [`Shard`] | a count cut into independent work units, and one machine's share of them |
//! | [`RowDomains`] | what a unit counts, for programs that count it by themselves |
//! | [`UnitsDone`], [`Tally`] | finished units with their counts; how many, and their solutions |
//! | [`WhichCount`] | the first and the second count of a plan |
//! | [`record`] | what is finished, in journals on disk |
//! | [`verify`] | counting recorded units again in another way |
//! | [`forecast`] | time and total from a sample of the units |
//! | [`Cpu`], [`cores`], [`Memory`], [`thread_pool`] | the CPU, memory and threads of this machine |
//! | [`Observer`], [`Cancel`] | watching and stopping a count |
//! | [`Count`] | a count with its settings, and its result, the [`Outcome`] |
//!
//! ARCHITECTURE.md shows how they are built on each other.
//!
//! # Features
//!
//! The feature `cli` (default) is the command line `nqueens`. Without it the crate depends only on
//! crc32fast, fastrand, git-version, jiff, range-set-blaze, rayon, rustix, sysinfo, tempfile and thiserror.
//!
//! The crate needs a 64-bit CPU, and Linux; it also compiles for macOS and FreeBSD, where nobody has tested it.

// Not only offsets would overflow: on a 32-bit CPU the counts of `colours` were wrong from n = 22 on.
#[cfg(not(target_pointer_width = "64"))]
compile_error!("nqueens counts right on 64-bit CPUs only");
#[cfg(not(unix))]
compile_error!("nqueens needs Unix: on Windows, build it in WSL");

mod board;
mod cancel;
mod count;
mod done;
mod engine;
mod error;
pub mod forecast;
mod machine;
mod plan;
pub mod record;
mod shard;
pub mod verify;
mod version;

pub use board::known::Published;
pub use board::size::BoardSize;
pub use board::solution::Solution;
pub use board::solutions::Solutions;
pub use board::square::{FixedQueens, Square};
pub use board::{known, symmetry};
pub use cancel::Cancel;
pub use count::{Count, Estimate, Observer, Outcome, Start, count};
pub use done::{Tally, UnitsDone};
pub use engine::{Engine, Kernel, RowDomains, WhichCount};
pub use error::Error;
pub use machine::memory::Memory;
pub use machine::{Cpu, MAX_THREADS, cores, thread_pool};
pub use plan::{Plan, Worker};
pub use shard::Shard;
pub use version::COMMIT;

/// Runs the README's Rust examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
