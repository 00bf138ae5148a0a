//! What is finished of a count: journals on disk, read and written.
//!
//! A *journal* is a text file that is only ever appended to. Each line ends with a space and a CRC-32,
//! eight hexadecimal digits:
//!
//! ```text
//! nqueens-journal 2 version=0.1.0+86eb928 n=8 count=first engine=bitmask split-rows=none plan=0a84c9f3 units=8 b3bf394e
//! run version=0.1.0+86eb928 date=2026-11-26 kernel=portable threads=1 shard=0/1 machine=Intel(R) Xeon(R) Processor 387dbb9a
//! done units=4..5 solutions=18 elapsed-ms=0 busy-us=10 counts=18 dc12f073
//! done units=0..3 solutions=28 elapsed-ms=0 busy-us=21 counts=4,8,16 4f430d3f
//! ```
//!
//! * The first line names the format, the program's version, and the plan: board, first or second count,
//!   engine, split rows, [hash](crate::Plan::hash) and number of units. Its CRC is that of its text.
//! * `run` starts the work of one process: the build of the program, and the day in UTC. Older journals have neither
//!   commit nor date.
//! * `done` holds the counts of consecutive units, the end excluded, each before its weight;
//!   `solutions` is their weighted sum. `elapsed-ms` is wall time since the run began, `busy-us`
//!   the CPU time of the thread that counted them.
//! * The CRC of all lines after the first starts from that of the plan's text (from `n=` on). So a line
//!   of another plan or count never has the right CRC, and one of the same plan is true wherever it lies.
//!
//! docs/JOURNAL.md describes the format for other programs, and what is guaranteed.
//!
//! There are three nouns. A `Journal` is a file that is being written. A [`JournalFile`] is one that was read: its
//! plan, the processes that wrote it, and its units. A [`Record`] is what such files hold together: which units are
//! finished, the sum of their solutions, who counted them, what is missing and what was left out. It has no counts,
//! because a plan may have a hundred million units; [`Record::counts`] reads those that are asked for.

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
