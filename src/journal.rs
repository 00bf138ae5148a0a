//! Journals: files that hold the finished units of a count, so that it can be resumed, shared between machines and
//! checked.
//!
//! [`Count::journal`](crate::Count::journal) names a folder, and each process that counts makes a journal of its own in
//! it. It is called `n24-0007-of-1000.HOST.PID.journal` after the shard, the host and the process, and in a second pass
//! `n24-second-0007-of-1000.HOST.PID.journal`. A journal is a text file to which only its process appends:
//!
//! ```text
//! nqueens-journal 2 version=1.0.0+7e6a26d n=8 count=first engine=bitmask split-rows=none plan=0a84c9f3 units=8 1836640b
//! run version=1.0.0+7e6a26d date=2026-11-28 kernel=portable threads=1 shard=0/1 machine=Intel(R) Xeon(R) Processor 854714ea
//! done units=4..5 solutions=18 elapsed-ms=0 busy-us=10 counts=18 dc12f073
//! done units=0..3 solutions=28 elapsed-ms=0 busy-us=21 counts=4,8,16 4f430d3f
//! ```
//!
//! Each line ends with a space and a CRC-32 in eight hexadecimal digits. That of the first line is the CRC of its text.
//! That of all other lines is the CRC of the plan's text (from `n=` on) with the text of the line behind it, so a line
//! of another plan never has the right CRC. A line that is not as it was written is left out, and its units are
//! missing. All other lines are used. docs/FORMAT.md in the repository describes the format for other programs, and
//! docs/JOURNAL.md what it guarantees.
//!
//! A board that is counted for the first time should be counted twice: [`Pass`](crate::plan::Pass) says why.
//! [`Records`] is what the journals of both passes over one plan hold together. It refuses journals of different plans,
//! so shards that do not belong together are never added up:
//!
//! ```
//! use nqueens::journal::Records;
//! use nqueens::plan::Pass;
//! use nqueens::{BoardSize, Count, Shard};
//!
//! let folder = tempfile::tempdir()?;
//! let count = Count::new(BoardSize::new(10)?).journal(folder.path());
//! count.clone().shard(Shard::new(0, 2)?).run()?;
//!
//! let records = Records::read(&[folder.path()])?;
//! let record = records.first().expect("a shard is finished");
//! assert_eq!(record.total(), None);
//! let missing = records.missing_shards(Pass::First, 2)?;
//! assert_eq!(missing, [Shard::new(1, 2)?]);
//!
//! count.shard(missing[0]).run()?;
//! assert_eq!(Records::read(&[folder.path()])?.total(), Some(724));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::error::{JournalError, JournalErrorKind};
pub use crate::journal_file::Run;
pub use crate::record::{BothPasses, Difference, Record, Records};
pub use crate::verify::Verdict;
