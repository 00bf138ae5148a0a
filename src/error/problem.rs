//! What can be wrong with a journal.

use crate::memory::readable;

/// Why a journal cannot be used. Each message names the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system does not let us read or make the file.
    #[error("cannot open the journal: {reason}")]
    CannotOpen {
        /// The operating system's reason.
        reason: String,
    },

    /// The path names something that is not a plain file.
    #[error("is not a plain file: name a file, or one that does not exist yet")]
    NotAFile,

    /// Reading failed.
    #[error("cannot read the journal: {reason}")]
    CannotRead {
        /// The operating system's reason.
        reason: String,
    },

    /// Writing failed; what was recorded before stays good.
    #[error(
        "cannot write the journal: {reason}; all lines before that are good: make room and run \
         the same command again"
    )]
    CannotWrite {
        /// The operating system's reason.
        reason: String,
    },

    /// Another process writes this journal.
    #[error("another process is writing this journal: wait for it, or name another file")]
    InUse,

    /// The file does not begin like a journal.
    #[error("is not a journal of nqueens, and is left as it is: name another file")]
    NotAJournal,

    /// The journal was written in a format that this version does not know.
    #[error("has journal format {format}, and this version of nqueens reads format {known}")]
    UnknownFormat {
        /// The format's number in the file.
        format: String,
        /// The format that this version knows.
        known: u32,
    },

    /// The journal belongs to another count.
    #[error(
        "holds a count with {holds}, and {asked} was asked for: name another file, or ask for the same"
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

    /// There is no room for what the journal records.
    #[error(
        "records a count of n = {n} by engine {engine}, whose {units} units take {} of memory, and \
         {} are to be had here: read it where there is more",
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
        /// Bytes for the list and the record of them.
        needed: u64,
        /// Bytes that this process can have.
        available: u64,
    },

    /// The first line is not as it was written.
    #[error("line 1 is damaged ({what}), so its plan is not known: begin another file")]
    DamagedHeader {
        /// What is wrong with it.
        what: String,
    },

    /// A line is not as it was written.
    #[error(
        "line {line} is damaged ({what}): the lines before it are good, keep them with \
         'head -n {} JOURNAL > NEW' and go on with NEW",
        line - 1
    )]
    Damaged {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },

    /// A unit was recorded twice.
    #[error(
        "line {line} records unit {unit} a second time, with {}: two processes wrote this file; \
         keep the lines before with 'head -n {} JOURNAL > NEW' and go on with NEW",
        if *.differs { "another count, so that one of them is wrong" } else { "the same count" },
        line - 1
    )]
    UnitTwice {
        /// The line's number, from 1.
        line: usize,
        /// The unit.
        unit: usize,
        /// Whether the two counts differ.
        differs: bool,
    },
}
