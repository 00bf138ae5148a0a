//! The errors of journals.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::Error;
use crate::numbers::text_of_ranges;
use crate::version;

/// The reason why a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Creating, opening, reading, writing or syncing the file failed. Finished lines stay in the file.
    #[error("cannot {action} the journal: {reason}")]
    #[non_exhaustive]
    Io {
        /// The operation that failed: `create`, `open`, `read`, `write` or `sync`.
        action: &'static str,
        /// The error that the operating system gave.
        reason: IoError,
    },

    /// The file has no line of a journal, or is no regular file.
    #[error("is not a journal of nqueens")]
    NotAJournal,

    /// The journal has a format that this version does not read.
    #[error("has journal format {format}, which this version of nqueens does not read")]
    #[non_exhaustive]
    UnknownFormat {
        /// The number of the format, as written in the file.
        format: String,
    },

    /// This build cannot make the plan that the first line names: it has no such engine, or its units differ.
    #[error(
        "was begun by nqueens '{version}' with the plan '{holds}', but this build ({}) makes '{has}'",
        version::version()
    )]
    #[non_exhaustive]
    OtherPlan {
        /// The version that began the journal, with its commit where it was known.
        version: String,
        /// The plan in the first line.
        holds: String,
        /// The plan that this build makes from the settings in the first line.
        has: String,
    },

    /// Lines are not as they were written. They are left out, and all other lines are used.
    #[error("{} damaged", lines_are(lines))]
    #[non_exhaustive]
    Damaged {
        /// The numbers of the lines, counted from 1, as ranges in increasing order.
        lines: Vec<RangeInclusive<usize>>,
    },

    /// The file of this process was moved, removed or cut while units were being counted. All that it still held is in
    /// another file, to which the process writes now.
    #[error(
        "was {}, and the count goes on there",
        what_was_lost(*is_cut, saved_in)
    )]
    #[non_exhaustive]
    Lost {
        /// The other file. Its path may be the one at which the journal was.
        saved_in: PathBuf,
        /// Whether lines were cut off, so that they are in no file.
        is_cut: bool,
    },

    /// Another process on this host counts the same shard, and writes this journal.
    #[error("is being written: another process counts this at the moment")]
    InUse,
}

/// The largest number of ranges of lines in a message.
const MAX_RANGES: usize = 10;

/// Returns `line 3 is`, `lines 3,7-9 are`, or `lines 3,7-9,..,40 and others are`.
fn lines_are(lines: &[RangeInclusive<usize>]) -> String {
    let numbers = text_of_ranges(&lines[..lines.len().min(MAX_RANGES)]);
    match lines {
        [range] if range.start() == range.end() => format!("line {numbers} is"),
        _ if lines.len() > MAX_RANGES => format!("lines {numbers} and others are"),
        _ => format!("lines {numbers} are"),
    }
}

/// Returns what happened to the journal of a process, and where its lines are.
fn what_was_lost(is_cut: bool, saved_in: &Path) -> String {
    let saved_in = saved_in.display();
    if is_cut {
        format!("cut, and its last lines are lost; all others are in {saved_in}")
    } else {
        format!("moved, removed or replaced; all that it held is in {saved_in}")
    }
}

impl JournalError {
    /// Makes the error of the journal at this path.
    pub(crate) fn at(self, path: &Path) -> Error {
        Error::Journal { path: path.to_owned(), error: self }
    }

    /// Makes the error of an operation on a journal, such as `read`, that the operating system refused.
    pub(crate) fn cannot(action: &'static str, error: io::Error) -> Self {
        Self::Io { action, reason: error.into() }
    }
}

/// An error of the operating system. Unlike [`io::Error`], it can be cloned and compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct IoError {
    /// The kind of error.
    pub kind: io::ErrorKind,
    /// The message of the operating system.
    pub message: String,
}

impl From<io::Error> for IoError {
    fn from(error: io::Error) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}
