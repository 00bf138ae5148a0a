//! Counts the solutions of the n-queens problem exactly: the ways to place n queens on an n x n board so that no two
//! share a row, a column or a diagonal.
//!
//! ```
//! assert_eq!(nqueens::count(8)?, 92);
//! # Ok::<(), nqueens::Error>(())
//! ```
//!
//! One CPU with AVX-512 needs 0.02 s for n = 16, 5 to 7 s for n = 20, 1.3 to 1.7 hours for n = 24, and an estimated
//! three to six months for n = 28. With AVX2 it needs about one and a half times as long. All CPUs of the process count
//! together, so 16 of them took 7 to 10 minutes for n = 24. A debug build is many times slower.
//!
//! A [`Count`] reports its progress, can be cancelled, and resumes from its journals:
//!
//! ```no_run
//! use nqueens::{BoardSize, Cancel, Count};
//!
//! let cancel = Cancel::new(); // `cancel.cancel()` on another thread, or in a signal handler, ends the count early
//! let count = Count::new(BoardSize::new(24)?)
//!     .journal("q24") // if the process is killed, running this code again goes on from the files in this folder
//!     .cancel_on(&cancel)
//!     .on_progress(|progress| eprintln!("{:.1} %", 100.0 * progress.fraction()));
//! let outcome = count.run()?;
//! if let Some(total) = outcome.total {
//!     println!("{total} solutions: {}", outcome.agreement); // with the published number
//! }
//! # Ok::<(), nqueens::Error>(())
//! ```
//!
//! [`Count::shard`] shares a count between machines, [`journal::Records`] adds the shards up and checks them, and
//! [`Count::estimate`] says how long a count will take. [`Solutions`] lists solutions, and [`Classes`] counts them up
//! to rotation and reflection. The folder `examples` of the repository has four programs.
//!
//! Without its command line, the feature `cli`, the crate depends only on crc32fast, humantime, num_cpus, rayon,
//! rustix, sysinfo and thiserror:
//!
//! ```toml
//! [dependencies]
//! nqueens-count = { version = "1", default-features = false } # `use nqueens::...`
//! ```
//!
//! It needs a 64-bit CPU and Unix. It is tested on Linux, and compiles for macOS and FreeBSD.

// What only the command line uses is dead code without it.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

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
mod forecast;
pub mod journal;
mod journal_file;
mod machine;
mod numbers;
pub mod plan;
mod record;
mod verify;
mod version;

pub use board::published::{Agreement, PublishedCounts};
pub use board::size::BoardSize;
pub use board::solution::Solution;
pub use board::solutions::Solutions;
pub use board::square::Square;
pub use board::symmetry::Classes;
pub use cancel::Cancel;
pub use count::{Count, Observer, Outcome, Progress, count};
pub use engine::{Engine, Kernel};
pub use error::{Error, LackOfMemory};
pub use forecast::{Approximate, Forecast};
pub(crate) use machine::memory::MemoryLimit;
pub(crate) use machine::{Cpu, MAX_THREADS, cores, thread_pool};
pub use plan::shard::Shard;
pub(crate) use plan::{Pass, Plan};

/// Runs the README's Rust examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
