//! What is finished of a count: journals on disk, read and written.
//!
//! A *journal* is a text file that is only ever appended to. Each line ends with a space and a CRC-32,
//! eight hexadecimal digits:
//!
//! ```text
//! nqueens-journal 2 version=0.1.0 n=8 count=first engine=bitmask split-rows=none plan=0a84c9f3 units=8 0301bb27
//! run version=0.1.0 kernel=portable threads=1 shard=0/1 machine=Intel(R) Xeon(R) Processor 7916ab7c
//! done units=4..5 solutions=18 elapsed-ms=0 busy-us=10 counts=18 dc12f073
//! done units=0..3 solutions=28 elapsed-ms=0 busy-us=21 counts=4,8,16 4f430d3f
//! ```
//!
//! * The first line names the format, the program's version, and the plan: board, first or second count,
//!   engine, split rows, [hash](crate::Plan::hash) and number of units. Its CRC is that of its text.
//! * `run` starts the work of one process.
//! * `done` holds the counts of consecutive units, the end excluded, each before its weight;
//!   `solutions` is their weighted sum. `elapsed-ms` is wall time since the run began, `busy-us`
//!   the CPU time of the thread that counted them.
//! * The CRC of all lines after the first starts from that of the plan's text (from `n=` on). So a line
//!   of another plan or count never has the right CRC, and one of the same plan is true wherever it lies.
//!
//! docs/JOURNAL.md describes the format for other programs, and what is guaranteed.
//!
//! A [`Record`] is what one journal or many hold together: which units are finished, the sum of their
//! solutions, and who counted them. It has no counts, because a plan may have a hundred million units;
//! [`Record::counts`] reads those that are asked for.

mod counts;
mod folder;
mod header;
mod line;
mod name;
mod reader;
mod save;
mod second;
mod shards;
mod union;
mod writer;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::error::Error;
pub use crate::error::{IoError, JournalError};
use crate::plan::Plan;
use crate::shard::Shard;
pub use counts::Counts;
use counts::weighted_sum;
pub(crate) use folder::Folder;
pub use folder::{journals_in, split_by_pass};
pub use reader::Mode;
pub use save::Saved;
pub use second::{Comparison, compare};
pub use shards::ShardUnits;
pub use union::Witness;
pub use writer::is_locked;
pub(crate) use writer::{Journal, Locked};

/// A set of unit numbers, kept as disjoint ranges.
pub type Units = range_set_blaze::RangeSetBlaze<usize>;

/// The ranges of a set in increasing order, the ends excluded.
pub fn half_open(units: &Units) -> impl Iterator<Item = Range<usize>> {
    units.ranges().map(|range| *range.start()..range.end() + 1)
}

/// The units of some ranges, the ends excluded.
pub(crate) fn units_of(ranges: impl IntoIterator<Item = Range<usize>>) -> Units {
    let inclusive = |range: Range<usize>| range.start..=range.end - 1;
    ranges.into_iter().filter(|range| !range.is_empty()).map(inclusive).collect()
}

/// How many units there are.
pub(crate) fn len(units: &Units) -> usize {
    units.len() as usize
}

/// What journals of one plan hold together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The units that are finished in any of the journals.
    pub finished: Units,
    /// The solutions in them, with their weights.
    pub solutions: u128,
    /// The journals, in the order in which they were named.
    pub files: Vec<JournalFile>,
    /// Journals that hold nothing: they are empty, or end within their first line.
    pub unbegun: Vec<PathBuf>,
    /// How many times a unit is held once more, with the same count.
    pub repeated: usize,
    /// Why lines, journals and units with two counts were left out, if that is allowed.
    pub left_out: Vec<Error>,
    mode: Mode,
    /// The units that are held more than once.
    shared: Units,
}

/// One of the journals of a record.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JournalFile {
    /// Where it is.
    pub path: PathBuf,
    /// The processes that wrote it.
    pub runs: Vec<Run>,
    /// The units that it holds.
    pub units: Units,
    /// Bytes of its lines.
    pub bytes: u64,
    /// Bytes after them, of a line that was cut off in the middle of a write.
    pub cut_off: u64,
    /// When it was last written, by the clock of the file system.
    pub modified: Option<SystemTime>,
}

impl JournalFile {
    /// The host in the name of the file, if the process of a shard made it.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        name::named_host(&self.path)
    }
}

/// The work of one process, as recorded in a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Run {
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
    /// Wall time from its start to its last line.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub elapsed: Duration,
    /// The CPU time that all its threads spent on units.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub cpu_time: Duration,
}
