//! Journals: files on disk that hold the finished units of a count.
//!
//! A *journal* is a text file to which processes only append. Each line ends with a space and a CRC-32 in eight
//! hexadecimal digits:
//!
//! ```text
//! nqueens-journal 2 version=0.1.0+86eb928 n=8 count=first engine=bitmask split-rows=none plan=0a84c9f3 units=8 b3bf394e
//! run version=0.1.0+86eb928 date=2026-11-26 kernel=portable threads=1 shard=0/1 machine=Intel(R) Xeon(R) Processor 387dbb9a
//! done units=4..5 solutions=18 elapsed-ms=0 busy-us=10 counts=18 dc12f073
//! done units=0..3 solutions=28 elapsed-ms=0 busy-us=21 counts=4,8,16 4f430d3f
//! ```
//!
//! * The first line names the format, the version of the program, and the plan: board, first or second count, engine,
//!   split rows, [hash](crate::Plan::hash) and number of units. Its CRC is the CRC of its text.
//! * A `run` line starts the work of one process. It names the build of the program, and the day in UTC. Older
//!   journals have neither commit nor date.
//! * A `done` line holds the counts of consecutive units, with the end of the range excluded. The counts are not yet
//!   multiplied by the weights of the units. `solutions` is the weighted sum. `elapsed-ms` is the wall time since the
//!   run began, and `busy-us` the CPU time of the thread that counted the units.
//! * The CRC of every line after the first starts from the CRC of the plan's text (from `n=` on). So a line of
//!   another plan or count never has the right CRC, and a line of this plan is valid in any file, at any place.
//!
//! docs/JOURNAL.md in the repository describes the format for other programs, and what it guarantees.
//!
//! A [`JournalFile`] is a journal that was read: its plan, the processes that wrote it, and its units. A [`Record`] is
//! what several such files hold together: the finished units, the sum of their solutions, the processes that counted
//! them, and what was left out. A record has no counts, because a plan may have a hundred million units.
//! [`Record::counts`] reads the counts of chosen units.
//!
//! ```
//! use nqueens::record::{Record, journals_in};
//! use nqueens::{BoardSize, Count, Shard};
//!
//! let folder = tempfile::tempdir()?;
//! let count = Count::new(BoardSize::new(10)?);
//! count.run_shard(Shard::new(0, 2)?, folder.path())?;
//!
//! let journals = journals_in(&[folder.path().to_owned()])?;
//! let record = Record::read(&journals)?.expect("a shard is finished");
//! assert_eq!(record.total(), None);
//! assert_eq!(record.missing_shards(2)?, [1]);
//!
//! count.run_shard(Shard::new(1, 2)?, folder.path())?;
//! let journals = journals_in(&[folder.path().to_owned()])?;
//! let record = Record::read(&journals)?.expect("both shards are finished");
//! assert_eq!(record.total(), Some(724));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod disk;
mod first_line;
mod folder;
mod line;
mod lock;
mod reader;
mod save;
mod second;
mod shards;
mod union;
mod units;
mod writer;

pub use crate::error::{IoError, JournalError};
pub(crate) use folder::read_shard;
pub use folder::{journals_in, split_by_plan};
pub use line::Run;
pub(crate) use lock::Lock;
pub use reader::JournalFile;
pub use second::{Comparison, compare};
pub use shards::{ShardUnits, WorkLeft};
pub use union::{Record, Witness};
pub use units::UnitSet;
pub(crate) use writer::Journal;
