//! What can be wrong with a journal.

use std::path::{Path, PathBuf};

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
        "cannot write the journal: {reason}; what was recorded before is good: {way_out}, then run \
         the same command again"
    )]
    CannotWrite {
        /// The operating system's reason.
        reason: String,
        /// What the user can do about it.
        way_out: &'static str,
    },

    /// Somebody else moved, replaced or cut the file while this process wrote it.
    #[error("{what} while this process wrote it: {}", kept(beside, *.whole))]
    ChangedWhileWritten {
        /// What happened to it.
        what: String,
        /// The file in which records go on.
        beside: PathBuf,
        /// Whether that file also holds all that the journal held before.
        whole: bool,
    },

    /// Reading it back after the last unit gave something else than was written.
    #[error(
        "does not hold what was counted: {what}; another process or the disk has changed it, so \
         keep it apart, and count again with another file"
    )]
    NotAsWritten {
        /// What is different.
        what: String,
    },

    /// A recount of a unit that it records differs.
    #[error(
        "records {recorded} for unit {unit}, {recounted_by} counts {recounted}: one of the two \
         machines makes errors; 'nqueens verify' shows how much is wrong, 'nqueens salvage \
         --without {unit}' leaves the unit out"
    )]
    RecountDiffers {
        /// The unit's number in the plan.
        unit: usize,
        /// Its count in the journal, before its weight.
        recorded: u64,
        /// The method of the recount.
        recounted_by: &'static str,
        /// What it counts.
        recounted: u64,
    },

    /// Another process writes this journal.
    #[error("another process is writing this journal: wait for it, or name another file")]
    InUse,

    /// The file system has no locks, so that nothing would keep a second process off.
    #[error(
        "this file system has no locks ({reason}), so two processes could write this file at once: \
         name one elsewhere, or use 'nqueens shard --index 0 --shards 1 --out FOLDER', whose processes \
         write files of their own"
    )]
    NoLocks {
        /// The operating system's reason.
        reason: String,
    },

    /// A file that was to be made exists.
    #[error("exists already, and is left as it is: name a file that does not exist yet")]
    Exists,

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

    /// The file ends within its first line.
    #[error(
        "ends within its first line, which is not the one that this count would write, and is left \
         as it is: nothing is recorded in it; remove it, or name another file"
    )]
    HeaderCutOff {
        /// What there is of the line.
        text: String,
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
    #[error(
        "line 1 is damaged ({what}), so its plan is not known, and the file is left as it is: \
         'nqueens salvage JOURNAL --into NEW --size N' keeps its good lines"
    )]
    DamagedHeader {
        /// What is wrong with it.
        what: String,
    },

    /// The plan that was given for a file without a good first line is not its plan.
    #[error(
        "its lines do not belong to a count with {plan}: give the size, the engine and the split \
         rows that it was begun with"
    )]
    NotOfPlan {
        /// The plan that was given.
        plan: String,
    },

    /// A line is not as it was written.
    #[error(
        "line {line} is damaged ({what}), and the file is left as it is: 'nqueens salvage JOURNAL \
         --into NEW' keeps its good lines"
    )]
    Damaged {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },

    /// A unit was recorded twice, with different counts.
    #[error(
        "line {line} records {second} for unit {unit}, a line before {first}, so one of them is \
         wrong: 'nqueens salvage JOURNAL --into NEW' leaves both out"
    )]
    TwoCounts {
        /// The line's number, from 1.
        line: usize,
        /// The unit.
        unit: usize,
        /// Its count in the earlier line, before its weight.
        first: u64,
        /// Its count in this line.
        second: u64,
    },
}

/// Where to find what was counted.
fn kept(beside: &Path, whole: bool) -> String {
    let beside = beside.display();
    match whole {
        true => format!("all that it held is in {beside}, and records go on there"),
        false => format!("records go on in {beside}; merge both files"),
    }
}
