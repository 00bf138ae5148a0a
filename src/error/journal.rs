//! What can be wrong with a journal.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::Error;
use crate::machine::memory::readable;

/// Why a journal cannot be used. Each message names the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system did not let us open or create the file.
    #[error("cannot open the journal: {source}")]
    CannotOpen {
        /// The operating system's reason.
        source: IoError,
    },

    /// The path names something that is not a plain file.
    #[error("is not a plain file: name a file, or one that does not exist yet")]
    NotAFile,

    /// Reading failed.
    #[error("cannot read the journal: {source}")]
    CannotRead {
        /// The operating system's reason.
        source: IoError,
    },

    /// Writing failed. The lines before stay as they are.
    #[error(
        "cannot write the journal: {source}; the lines before stay: {}, then run the same command \
         again",
        way_out(source)
    )]
    CannotWrite {
        /// The operating system's reason.
        source: IoError,
    },

    /// The disk did not take what was written, twice.
    #[error(
        "the disk did not take the last lines of the journal ({source}), nor when they were written \
         again; {}: {}, then run the same command again",
        match is_cut_back {
            true => "it was cut back to those that the disk has",
            false => "after a restart of the machine, lines of it may be damaged",
        },
        way_out(source)
    )]
    NotSynced {
        /// The operating system's reason.
        source: IoError,
        /// Whether the file ends now where it was last good.
        is_cut_back: bool,
    },

    /// The file, read back after the last unit, does not hold what was written.
    #[error(
        "does not hold what was counted: {what}; another process or the disk has changed it, so \
         set it aside, and count again with another file"
    )]
    NotAsWritten {
        /// What is different.
        what: String,
    },

    /// Another process is writing this journal.
    #[error("another process is writing this journal: wait for it, or name another file")]
    InUse,

    /// The file system has no locks, so nothing would keep a second process away.
    #[error(
        "this file system has no locks ({source}), so two processes could write this file at once: \
         name one elsewhere, or use 'nqueens shard --index 0 --shards 1 --out FOLDER', whose \
         processes write files of their own"
    )]
    NoLocks {
        /// The operating system's reason.
        source: IoError,
    },

    /// The file to be created exists already.
    #[error("already exists, and is left unchanged: name a file that does not exist yet")]
    Exists,

    /// The file does not begin like a journal.
    #[error("is not a journal of nqueens, and is left unchanged: name another file")]
    NotAJournal,

    /// The journal was written in a format that this version does not know.
    #[error(
        "has journal format {format}, and this version of nqueens reads format {known}: finish it \
         with the version that began it, or count with another file"
    )]
    UnknownFormat {
        /// The format's number in the file.
        format: String,
        /// The format that this version knows.
        known: u32,
    },

    /// The journal belongs to another count.
    #[error(
        "holds a count with {holds}, but {asked} was asked for: name another file, or ask for the \
         same"
    )]
    OtherCount {
        /// What the journal holds: `n = 19` or the like.
        holds: String,
        /// What was asked for.
        asked: String,
    },

    /// The same board and engine, but other units.
    #[error(
        "was written by nqueens {version}, whose plan (hash {holds:08x}, {units} units) this \
         version does not make (hash {makes:08x}): finish it with that version"
    )]
    OtherPlan {
        /// The version that began the journal.
        version: String,
        /// The plan's hash in the journal.
        holds: u32,
        /// The number of units in the journal.
        units: usize,
        /// The hash of this version's plan.
        makes: u32,
    },

    /// The journal's plan does not fit in memory.
    #[error(
        "records a count of n = {n} by engine {engine}, whose {units} units take {} of memory, and \
         only {} is available here: read it where there is more",
        readable(*needed),
        readable(*available)
    )]
    TooLarge {
        /// The size of the board.
        n: u32,
        /// The engine.
        engine: &'static str,
        /// How many units its plan has.
        units: usize,
        /// Bytes for the list of the units and their counts.
        needed: u64,
        /// Bytes that this process can use.
        available: u64,
    },

    /// The first line has changed since it was written.
    #[error(
        "line 1 is damaged ({what}), so its plan is not known, and the file is left unchanged: put \
         line 1 of another journal of the same count in its place, then 'nqueens salvage JOURNAL \
         --into NEW' keeps its good lines"
    )]
    DamagedHeader {
        /// What is wrong with it.
        what: &'static str,
    },

    /// A line has changed since it was written.
    #[error(
        "line {line} is damaged ({what}), and the file is left unchanged: 'nqueens salvage JOURNAL \
         --into NEW' keeps its good lines"
    )]
    Damaged {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// What the user can do if writing fails.
fn way_out(error: &IoError) -> &'static str {
    use io::ErrorKind as K;
    match error.kind() {
        K::StorageFull | K::QuotaExceeded | K::FileTooLarge | K::WriteZero => "make room",
        K::PermissionDenied | K::ReadOnlyFilesystem => "make the file writable",
        K::StaleNetworkFileHandle => "mount the file system again",
        _ => "check the disk or the file server",
    }
}

impl JournalError {
    /// The error of the journal at this path.
    pub(crate) fn at(self, path: &Path) -> Error {
        Error::Journal { path: path.to_owned(), error: self }
    }

    pub(crate) fn cannot_open(error: io::Error) -> Self {
        Self::CannotOpen { source: error.into() }
    }

    pub(crate) fn cannot_read(error: io::Error) -> Self {
        Self::CannotRead { source: error.into() }
    }

    pub(crate) fn cannot_write(error: io::Error) -> Self {
        Self::CannotWrite { source: error.into() }
    }
}

/// An error of the operating system that can be cloned and compared, like the other errors of this
/// crate. Two are equal if they have the same kind and the same message.
#[derive(Clone, Debug)]
pub struct IoError(Arc<io::Error>);

impl IoError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.0.kind()
    }
}

impl From<io::Error> for IoError {
    fn from(error: io::Error) -> Self {
        Self(Arc::new(error))
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for IoError {}

impl PartialEq for IoError {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

impl Eq for IoError {}
