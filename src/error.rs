//! Everything that can go wrong in a count.
//!
//! A message names the value and the limit. The way out depends on the program: the command line
//! adds it. The enums are not `non_exhaustive`, so that a new error without a way out does not
//! compile.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::done::Tally;

/// Why a count could not start or finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The value cannot be used: a number out of range, an unknown engine, a kernel that this CPU cannot run, a
    /// square off the board or attacked by another queen.
    #[error("'{given}' is not {what}: {advice}")]
    InvalidValue {
        /// What the value is for, such as `a board size` or `an engine`.
        what: &'static str,
        /// What was asked for.
        given: String,
        /// What to write instead.
        advice: String,
    },

    /// The operating system refused to start the threads.
    #[error("cannot start {}: {reason}", many_threads(*threads))]
    ThreadsNotStarted {
        /// How many were asked for.
        threads: usize,
        /// The operating system's reason.
        reason: String,
    },

    /// Queens were given for a count that does not allow them.
    #[error("fixed queens need engine subtrees, and exclude journals, shards and estimates")]
    QueensGiven,

    /// A unit's count passed `u64::MAX`.
    #[error("the count of unit {unit} does not fit in 64 bits")]
    UnitOverflow {
        /// The unit's number in its plan.
        unit: usize,
    },

    /// A number on the way to a unit's count is too large for engine `colours`. No unit is known in which this
    /// happens.
    #[error("a number in unit {unit} does not fit in the 16 bits that engine colours has for it")]
    EntryOverflow {
        /// The unit's number in its plan.
        unit: usize,
    },

    /// The count was cancelled before its end.
    #[error(
        "stopped after {} of {units} units, {} solutions so far",
        done.units,
        done.solutions
    )]
    Stopped {
        /// What is finished, together with what was before.
        done: Tally,
        /// Units that were to be finished.
        units: usize,
    },

    /// Something was cancelled before there was a result.
    #[error("stopped before {what}")]
    StoppedBefore {
        /// As `the end of the unit`.
        what: &'static str,
    },

    /// The count needs more memory than this machine has now.
    #[error(
        "{counter} needs {} MiB for n = {n} on {}, but {limit} leaves only {} MiB",
        (per_thread.saturating_mul(*threads as u64) >> 20).max(1),
        many_threads(*threads),
        usable >> 20
    )]
    LacksMemory {
        /// What counts: `engine colours`, or `plain backtracking` of the check of a journal.
        counter: String,
        /// The size of the board.
        n: u32,
        /// The number of threads.
        threads: usize,
        /// Bytes that each of them may need; under a limit that counts them, with those only reserved.
        per_thread: u64,
        /// Bytes that the count may use here and now.
        usable: u64,
        /// What leaves no more of them, as [`Memory::limit`](crate::Memory::limit).
        limit: String,
    },

    /// A number of classes of solutions would not be whole, so the total or a count of symmetric solutions is wrong.
    #[error(
        "Q({n}) = {total} cannot be right: with the symmetric solutions, a number of classes would not be whole"
    )]
    Inconsistent {
        /// The board size.
        n: u32,
        /// The computed total.
        total: u128,
    },

    /// A journal cannot be used.
    #[error("{}: {error}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        error: JournalError,
    },

    /// The journals to be merged belong to different plans.
    #[error(
        "{} holds {}, but {} holds {}",
        files[1].display(), plans[1], files[0].display(), plans[0]
    )]
    PlansDiffer {
        /// A file, and another one.
        files: [PathBuf; 2],
        /// Their plans.
        plans: [String; 2],
    },

    /// The journals to be merged hold different counts for one unit.
    #[error(
        "unit {unit} has the count {} in {}, but {} in {}",
        counts[0], files[0].display(), counts[1], files[1].display()
    )]
    CountsDiffer {
        /// The unit's number in the plan.
        unit: usize,
        /// A file, and another one.
        files: [PathBuf; 2],
        /// Their counts, before the weight of the unit.
        counts: [u64; 2],
    },
}

fn many_threads(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

impl Error {
    pub(crate) fn out_of_range(
        what: &'static str,
        given: impl ToString,
        numbers: RangeInclusive<usize>,
    ) -> Self {
        let (least, most) = numbers.into_inner();
        Self::invalid(what, given, format!("choose {least} to {most}"))
    }

    pub(crate) fn invalid(
        what: &'static str,
        given: impl ToString,
        advice: impl Into<String>,
    ) -> Self {
        Self::InvalidValue { what, given: given.to_string(), advice: advice.into() }
    }

    /// The error of starting a thread beside those that count.
    pub(crate) fn no_thread(error: io::Error) -> Self {
        Self::ThreadsNotStarted { threads: 1, reason: error.to_string() }
    }

    /// Whether the count was cancelled: nothing went wrong.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Stopped { .. } | Self::StoppedBefore { .. })
    }
}

/// Why a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Opening, creating, reading or writing the file failed. Lines that were written before stay.
    #[error("cannot {action} the journal: {source}")]
    Io {
        /// What failed: `open`, `read` or `write`; or `lock`, if the file system has no locks.
        action: &'static str,
        /// The operating system's reason.
        source: IoError,
    },

    /// The path names something that is not a plain file. Journals are read more than once, so a pipe is none.
    #[error("is not a plain file; pipes and devices cannot be journals")]
    NotAFile,

    /// The disk did not take what was written.
    #[error(
        "the disk did not take the last lines of the journal ({source}); {}",
        match is_cut_back {
            true => "the journal was cut back to the lines that the disk has",
            false => "after a restart of the machine, lines of the journal may be damaged",
        }
    )]
    NotSynced {
        /// The operating system's reason.
        source: IoError,
        /// Whether the file ends now where it was last good.
        is_cut_back: bool,
    },

    /// The file, read back after the last line, does not hold what was written, although all its lines are good.
    #[error("does not hold what was written: units are missing or have different counts")]
    NotAsWritten,

    /// It is no longer where it was when the count began: nothing is there, or another file. It may be the folder of a
    /// shard that is gone.
    #[error("was removed or moved during the count, or replaced by another file")]
    Gone,

    /// It lost lines that this process had written, or has lines that this process did not write.
    #[error("was shortened or written by another process during the count")]
    WrittenByOthers,

    /// A journal that had to be read twice had changed the second time.
    #[error("was changed or removed while it was read")]
    Changed,

    /// Another process is writing this journal.
    #[error("another process is writing this journal")]
    InUse,

    /// The file to be created exists already.
    #[error("already exists, and is left unchanged")]
    Exists,

    /// The file does not begin like a journal.
    #[error("is not a journal of nqueens, and is left unchanged")]
    NotAJournal,

    /// The journal was written in a format that this version does not know.
    #[error("has journal format {format}, which this version of nqueens does not read")]
    UnknownFormat {
        /// The format's number in the file.
        format: String,
    },

    /// The journal belongs to another count.
    #[error("holds a count with {holds}, but {asked} was asked for")]
    OtherCount {
        /// What the journal holds: `n = 19` or the like.
        holds: String,
        /// What was asked for.
        asked: String,
    },

    /// This version has no such plan: no such engine, or other units.
    #[error(
        "was begun by nqueens {version} with the plan '{holds}', but this build ({}) makes '{has}'",
        crate::version::version()
    )]
    OtherPlan {
        /// The version that began the journal, with its commit if it was known.
        version: String,
        /// The plan in the first line.
        holds: String,
        /// The plan that this build makes of these settings.
        has: String,
    },

    /// A line has changed since it was written. Line 1 names the plan.
    #[error("line {line} is damaged ({what}), and the file is left unchanged")]
    Damaged {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl JournalError {
    /// The error of the journal at this path.
    pub(crate) fn at(self, path: &Path) -> Error {
        Error::Journal { path: path.to_owned(), error: self }
    }

    /// The error of opening, reading or writing a journal.
    pub(crate) fn cannot(action: &'static str) -> impl Fn(io::Error) -> Self + Copy {
        move |error| Self::Io { action, source: error.into() }
    }
}

/// An error of the operating system that can be cloned and compared, like the other errors of this
/// crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct IoError {
    /// What kind of error it is.
    pub kind: io::ErrorKind,
    /// Whether the process or the machine lacks what it takes to look: file handles, memory, or a file server
    /// that still knows the file. This says nothing of what a file holds.
    pub is_of_machine: bool,
    /// The operating system's words.
    pub message: String,
}

impl From<io::Error> for IoError {
    fn from(error: io::Error) -> Self {
        use rustix::io::Errno as E;
        let lacks = E::from_io_error(&error);
        let is_of_machine = matches!(lacks, Some(E::MFILE | E::NFILE | E::NOMEM | E::STALE));
        Self { kind: error.kind(), is_of_machine, message: error.to_string() }
    }
}
