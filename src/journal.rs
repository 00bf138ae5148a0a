//! Finished units on disk.
//!
//! A journal is a text file that is only ever appended to. Each line ends with a space and the
//! CRC-32 (as in zip and PNG) of the text before it, as eight hexadecimal digits:
//!
//! ```text
//! nqueens-journal 1 version=0.1.0 n=8 engine=bitmask split-rows=none plan=0a84c9f3 units=8 195bec35
//! run version=0.1.0 kernel=portable threads=1 shard=0/1 machine=Intel(R) Xeon(R) Processor fc51999b
//! done units=4..5 solutions=18 elapsed-ms=0 busy-us=10 counts=18 e2a7ea9a
//! done units=0..3 solutions=28 elapsed-ms=0 busy-us=21 counts=4,8,16 ad56627d
//! ```
//!
//! * The first line names the format and its version, the program's version, and the plan: board,
//!   engine, split rows, [hash](crate::Plan::hash) and number of units. Journals of a
//!   [second count](crate::Pass::Second) have version 2 and a last field `count=second`.
//! * `run` starts the work of one process.
//! * `done` holds the counts of consecutive units, the end excluded, each before its weight;
//!   `solutions` is their weighted sum. `elapsed-ms` is wall time since the run began, `busy-us`
//!   the CPU time of the thread that counted them.
//! * `withdrawn` takes back units whose counts cannot be trusted because a recount differed.
//!
//! docs/JOURNAL.md describes the format for other programs that read journals, and what is
//! guaranteed.
//!
//! **Reading.** A last line without a line feed was cut off in the middle of a write. It is
//! dropped, and its units are counted again. Any other damage is an error that names the line: a
//! wrong CRC or sum, a unit with two counts, a unit that the plan does not have. A damaged file is
//! never changed; [`salvage()`] copies its good lines to a new journal. Units recorded twice with
//! the same count do no harm. Only the monotonic clock is used, so setting the system clock changes
//! nothing.
//!
//! **Counts.** A journal may hold a hundred million counts, and most readers need none of them. So
//! [`Finished`] says which units are finished, and only [`Counts`] hold counts, of as many units as
//! are needed.
//!
//! **One writer.** An advisory lock keeps a second process away from a file that the user named. On
//! a file system without locks such a file is refused. The journals of shards need no locks: each
//! process creates its own. The locks, and a heartbeat where they do not reach, tell which journals
//! are being written.

mod change;
mod counts;
mod finished;
mod header;
mod line;
mod name;
mod reader;
mod salvage;
mod sync;
mod writer;
mod writing;

use std::time::Duration;

pub use crate::error::{IoError, JournalError};
use crate::shard::Shard;

pub(crate) use change::{create_free, numbered};
pub use counts::Counts;
pub(crate) use counts::weighted_sum;
pub use finished::Finished;
pub(crate) use finished::{common, gaps, push, unite};
pub use header::pass_of;
pub(crate) use header::{NamedPlan, begins_header_of, read_plan};
pub(crate) use line::{DoneLine, Line, RunLine, header_of, seal};
pub(crate) use name::{file_name, named_host, named_shard};
pub use reader::{Contents, read};
pub(crate) use reader::{Overview, Recorded, SomeCounts, read_counts, read_overview};
pub use salvage::{Broken, Salvaged, salvage};
pub(crate) use sync::write_new;
pub(crate) use writer::{Access, Journal, Locked, State};
pub(crate) use writing::is_being_written;

/// The work of one process, as recorded in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ProcessRun {
    /// The program's version.
    pub version: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The number of counting threads.
    pub threads: usize,
    /// The shard that it was asked to count.
    pub shard: Shard,
    /// The CPU's brand.
    pub machine: String,
    /// The number of units that it finished.
    pub units: usize,
    /// Wall time from its start to its last record.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub elapsed: Duration,
    /// The CPU time that all its threads spent on units.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub cpu_time: Duration,
}
