//! Finished units on disk.
//!
//! A journal is a text file that is only ever appended to. Each line ends in the CRC-32 (as of zip
//! and PNG) of what stands before it, after a space, as eight hexadecimal digits:
//!
//! ```text
//! nqueens-journal 1 version=0.1.0 n=8 engine=bitmask split-rows=none plan=0a84c9f3 units=8 195bec35
//! run version=0.1.0 kernel=portable threads=1 shard=0/1 machine=Intel(R) Xeon(R) Processor fc51999b
//! done units=4..5 solutions=18 elapsed-ms=0 busy-us=10 counts=18 e2a7ea9a
//! done units=0..3 solutions=28 elapsed-ms=0 busy-us=21 counts=4,8,16 ad56627d
//! ```
//!
//! * The first line names the format and its version, the program's version, and the plan: board,
//!   engine, split rows, [hash](crate::Plan::hash) and number of units.
//! * `run` begins the work of one process.
//! * `done` holds the counts of some consecutive units, the end excluded, each before its weight;
//!   `solutions` is their sum with weights. `elapsed-ms` is wall time since the run began, `busy-us`
//!   the CPU time of the thread that counted them.
//! * `withdrawn` takes units back whose counts are not to be trusted, because a recount differed.
//!
//! docs/JOURNAL.md says the same for those who read journals with other programs, and what is
//! promised.
//!
//! **Reading.** A last line without its line feed was cut off while it was written: it is dropped,
//! and its units are counted again. Anything else that is not as it was written is an error that
//! names the line: a CRC or a sum that differs, a unit that has two counts, a unit that the plan
//! does not have. What is refused is never changed; [`salvage()`] makes a new journal of what is good
//! in it. Units that are recorded twice with the same count do no harm. No clock is read but the
//! monotonic one, so a clock that is set back changes nothing.
//!
//! **One writer.** An advisory lock keeps a second process off a file that the user named; on a file
//! system without locks such a file is refused. The journals of shards need none: each process
//! makes its own.

mod change;
mod finished;
mod line;
mod reader;
mod salvage;
mod sync;
mod writer;

use std::time::Duration;

pub use crate::error::{IoError, JournalError};
use crate::shard::Shard;

pub(crate) use change::{create_free, numbered};
pub use finished::Finished;
pub use reader::{Contents, read};
pub(crate) use reader::{Recorded, begins_header_of};
pub use salvage::{Broken, Salvaged, salvage};
pub(crate) use writer::{Access, Journal, Locked, State};

/// One process's work, as a journal tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ProcessRun {
    /// The program's version.
    pub version: String,
    /// The name of the kernel.
    pub kernel: String,
    /// How many threads counted.
    pub threads: usize,
    /// The shard of the plan that it was to count.
    pub shard: Shard,
    /// The CPU's brand.
    pub machine: String,
    /// How many units it finished.
    pub units: usize,
    /// Wall time from its beginning to its last record.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub elapsed: Duration,
    /// The CPU time that its threads spent on units, summed.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub cpu_time: Duration,
}
