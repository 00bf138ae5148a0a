//! The errors of journals.

use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::Error;
use crate::numbers::text_of_ranges;
use crate::version;

/// The reason why a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Opening, creating, locking, reading or writing the file failed. Finished lines stay in the file.
    #[error("cannot {action} the journal: {reason}")]
    #[non_exhaustive]
    Io {
        /// The operation that failed: `open`, `lock`, `read` or `write`.
        action: &'static str,
        /// The error that the operating system gave.
        reason: IoError,
    },

    /// The path leads to something other than a regular file. Its first line and its end are read again, so a journal
    /// cannot be a pipe.
    #[error("is not a regular file: a folder, pipe or device cannot be a journal")]
    NotAFile,

    /// The disk did not take the last lines that were written.
    #[error(
        "the disk did not take the last lines of the journal ({reason}); {}",
        state_after_failed_sync(*is_cut_back)
    )]
    #[non_exhaustive]
    NotSynced {
        /// The error that the operating system gave.
        reason: IoError,
        /// Whether the file now ends with the last line that the disk is known to hold.
        is_cut_back: bool,
    },

    /// The count was cancelled while it waited for the disk to take the last lines that were written. The operating
    /// system has them, so only a crash of the machine can lose them.
    #[error("the disk has not taken the last lines of the journal yet")]
    NotYetSynced,

    /// The journal is on disk, but its folder could not be synced. So after a crash of the machine the file may be
    /// without its name.
    #[error(
        "the journal is on disk, but its folder could not be synced ({reason}): if the machine crashes soon, the \
         journal may be gone"
    )]
    #[non_exhaustive]
    FolderNotSynced {
        /// The error that the operating system gave.
        reason: IoError,
    },

    /// The file was read back after it was written. All its lines are valid, but they do not hold the units and
    /// solutions that were counted.
    #[error("does not hold what was written: units are missing or have different counts")]
    NotAsWritten,

    /// The journal is no longer at its path: the path leads nowhere, or to another file. The process still has the
    /// file open.
    #[error("was removed or moved during the count, or replaced by another file")]
    Gone,

    /// The journal is no longer at its path. All that it held was saved in another file, where the count goes on.
    #[error(
        "was removed or moved during the count, or replaced by another file; all that it held is saved in {}, and the \
         count goes on there",
        path.display()
    )]
    #[non_exhaustive]
    GoneAndSaved {
        /// The other file. Its path may be the one at which the journal was.
        path: PathBuf,
    },

    /// The journal is no longer at its path, and what it held could not be saved in another file.
    #[error(
        "was removed or moved during the count, or replaced by another file, and what it held cannot be saved: {reason}"
    )]
    #[non_exhaustive]
    GoneForGood {
        /// The error that the operating system gave.
        reason: IoError,
    },

    /// The first line names another plan than it did when the count began.
    #[error(
        "was overwritten by a journal of another count during the count ({})",
        settings_of(plan)
    )]
    #[non_exhaustive]
    Overwritten {
        /// The plan that the first line names now.
        plan: String,
    },

    /// The journal lacks lines that this process wrote, or has lines that it did not write.
    #[error("was cut or written by another process during the count")]
    WrittenByOthers,

    /// Another file took the name of the journal while it was opened.
    #[error("was replaced by another file while it was opened")]
    Changed,

    /// Another process is writing this journal.
    #[error("another process has locked this journal, most likely to write it")]
    InUse,

    /// The file does not begin like a journal.
    #[error("is not a journal of nqueens")]
    NotAJournal,

    /// The first line is not as it was written, so the file does not say of which count it is.
    #[error("line 1 is damaged ({what}), so the file names no plan")]
    #[non_exhaustive]
    NoPlan {
        /// What is wrong with the line.
        what: &'static str,
    },

    /// The journal has a format that this version does not read.
    #[error("has journal format {format}, which this version of nqueens does not read")]
    #[non_exhaustive]
    UnknownFormat {
        /// The number of the format, as written in the file.
        format: String,
    },

    /// The journal belongs to a count with other settings.
    #[error("holds a count with {holds}, but {asked} was asked for")]
    #[non_exhaustive]
    OtherCount {
        /// The first setting that differs, with its value in the journal: `n = 19`.
        holds: String,
        /// That setting with the value that was asked for.
        asked: String,
    },

    /// This build cannot make the plan that the first line names: it has no such engine, or its units differ.
    #[error(
        "was begun by nqueens {version} with the plan '{holds}', but this build ({}) makes '{has}'",
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

    /// Lines after the first one are not as they were written. They are left out, and all other lines are used.
    #[error("{}{what})", damaged_lines(lines))]
    #[non_exhaustive]
    Damaged {
        /// The numbers of the lines, counted from 1, as ranges in increasing order.
        lines: Vec<RangeInclusive<usize>>,
        /// What is wrong with the first of them.
        what: &'static str,
    },

    /// Lines after the first one belong to another count, so journals of several counts were joined. They are left out,
    /// and all other lines are used.
    #[error("{} to another count ({})", belonging_lines(lines), settings_of(plan))]
    #[non_exhaustive]
    OfOtherCount {
        /// The numbers of the lines, counted from 1, as ranges in increasing order.
        lines: Vec<RangeInclusive<usize>>,
        /// The plan of the other count, as its first line names it.
        plan: String,
    },
}

/// Describes the file after a failed sync.
fn state_after_failed_sync(is_cut_back: bool) -> &'static str {
    if is_cut_back {
        "the journal was cut back to the lines that the disk has"
    } else {
        "after a restart of the machine, lines of the journal may be damaged"
    }
}

/// Returns `line 3 is damaged (` or `lines 3,7-9 are damaged (the first: `, before what is wrong with the first of them.
fn damaged_lines(lines: &[RangeInclusive<usize>]) -> String {
    let numbers = text_of_ranges(lines);
    if is_one(lines) {
        format!("line {numbers} is damaged (")
    } else {
        format!("lines {numbers} are damaged (the first: ")
    }
}

/// Returns `line 3 belongs` or `lines 3,7-9 belong`.
fn belonging_lines(lines: &[RangeInclusive<usize>]) -> String {
    let numbers = text_of_ranges(lines);
    if is_one(lines) {
        format!("line {numbers} belongs")
    } else {
        format!("lines {numbers} belong")
    }
}

fn is_one(lines: &[RangeInclusive<usize>]) -> bool {
    matches!(lines, [range] if range.start() == range.end())
}

/// Returns the board, the count and the engine of a plan, which are its first three fields: `n=8 count=first
/// engine=colours`.
fn settings_of(plan: &str) -> String {
    let fields: Vec<&str> = plan.split(' ').take(3).collect();
    fields.join(" ")
}

/// The count of a unit as a line of a journal holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RecordedCount {
    /// The number of the unit in its plan.
    pub unit: usize,
    /// The count, not yet multiplied by the weight of the unit.
    pub count: u64,
    /// The journal.
    pub path: PathBuf,
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The brand of the CPU that counted the unit.
    pub machine: String,
}

/// Writes `5 in line 17 of q20.journal (some CPU)`.
impl fmt::Display for RecordedCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, path, line, machine, .. } = self;
        write!(f, "{count} in line {line} of {} ({machine})", path.display())
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
    /// What the machine or the process lacked. If it lacked something, the error does not show that anything is wrong
    /// with the file.
    pub(crate) lack: Option<Lack>,
    /// The message of the operating system.
    pub message: String,
}

/// What a machine or a process may lack when a file is opened or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The process may not open more files.
    HandlesOfProcess,
    /// The operating system cannot open more files.
    HandlesOfMachine,
    /// The operating system has no memory for this.
    Memory,
    /// The file server no longer knows the file, for example because it was started again.
    FileServer,
}

impl From<io::Error> for IoError {
    fn from(error: io::Error) -> Self {
        let lack = match Errno::from_io_error(&error) {
            Some(Errno::MFILE) => Some(Lack::HandlesOfProcess),
            Some(Errno::NFILE) => Some(Lack::HandlesOfMachine),
            Some(Errno::NOMEM) => Some(Lack::Memory),
            Some(Errno::STALE) => Some(Lack::FileServer),
            _ => None,
        };
        Self { kind: error.kind(), lack, message: error.to_string() }
    }
}
