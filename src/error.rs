//! The errors of the library.
//!
//! A message names the value and its limit. It does not say what to do next, because that depends on the program: the
//! command line adds its own advice. The enums are not `non_exhaustive`. So the command line no longer compiles if a
//! new error lacks its advice.

use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::done::Sum;

/// The reason why a count could not start or finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A value that cannot be used: a number out of range, an unknown engine, a kernel that this CPU cannot run, a
    /// square that is off the board or attacked by another queen, text in the environment variable `NQUEENS_MEMORY` that
    /// is no size.
    #[error("'{given}' is not {what}: {advice}")]
    InvalidValue {
        /// The kind of value that is expected, such as `a board size` or `an engine`.
        what: &'static str,
        /// The value that was given.
        given: String,
        /// Advice on which values are valid.
        advice: String,
    },

    /// The operating system refused to start threads.
    #[error("cannot start {}: {reason}", many_threads(*threads))]
    ThreadsNotStarted {
        /// The number of threads that were asked for.
        threads: usize,
        /// The reason that the operating system gave.
        reason: String,
    },

    /// The count of a unit is larger than `u64::MAX`.
    #[error("the count of unit {unit} does not fit in 64 bits")]
    UnitOverflow {
        /// The number of the unit in its plan.
        unit: usize,
    },

    /// An entry of a matrix of engine `colours` does not fit in 16 bits, so the engine cannot count the unit. No unit
    /// is known for which this happens.
    #[error("a matrix entry of unit {unit} does not fit in the 16 bits of engine colours")]
    EntryOverflow {
        /// The number of the unit in its plan.
        unit: usize,
    },

    /// The count was cancelled before its end.
    #[error(
        "stopped after {} of {units} units, {} solutions so far",
        done.units,
        done.solutions
    )]
    Stopped {
        /// The units that are finished, including units from earlier runs.
        done: Sum,
        /// The number of units that were to be finished.
        units: usize,
    },

    /// The work was cancelled before it had a result.
    #[error("stopped before {what}")]
    StoppedBefore {
        /// What had not happened yet, such as `the end of the unit`.
        what: &'static str,
    },

    /// The count needs more memory than it may use.
    #[error(
        "{what} needs {} MiB for n = {n}{}, but {limit} leaves only {} MiB",
        bytes.saturating_mul(threads.unwrap_or(1) as u64).div_ceil(1 << 20),
        threads.map_or(String::new(), |threads| format!(" on {}", many_threads(threads))),
        usable >> 20
    )]
    LacksMemory {
        /// What needs the memory: `engine colours`, `plain backtracking` for [`verify`](crate::verify), `the list of
        /// units` or `the record of all units`.
        what: String,
        /// The board size.
        n: u32,
        /// The number of threads, each of which needs the memory. `None` if it is needed once.
        threads: Option<usize>,
        /// The bytes that each thread may need. Under a limit that also counts reserved memory, they include what a
        /// thread only reserves.
        bytes: u64,
        /// The bytes that the count may use at this moment.
        usable: u64,
        /// The bytes that the count might use if all other programs gave their memory back. If it needs more, it never
        /// fits under this limit.
        most: u64,
        /// The limit that leaves the least memory, as in [`Memory::limit`](crate::Memory::limit).
        limit: String,
    },

    /// A total that contradicts the numbers of symmetric solutions: a number of [`Classes`](crate::symmetry::Classes)
    /// would not be whole. So the total or a number of symmetric solutions is wrong.
    #[error("Q({n}) = {total} cannot be right: it does not fit the numbers of symmetric solutions")]
    Inconsistent {
        /// The board size.
        n: u32,
        /// The total.
        total: u128,
    },

    /// A journal cannot be used.
    #[error("{}: {error}", path.display())]
    Journal {
        /// The journal, or the folder of journals.
        path: PathBuf,
        /// The reason why it cannot be used.
        #[source]
        error: JournalError,
    },

    /// Two journals that should be read together belong to different plans, or to different counts of one plan.
    #[error(
        "{} holds {}, but {} holds {}",
        files[1].display(), plans[1], files[0].display(), plans[0]
    )]
    PlansDiffer {
        /// Two journals.
        files: [PathBuf; 2],
        /// The plan of each journal.
        plans: [String; 2],
    },

    /// Lines of journals hold different counts of one unit, so a machine has made an error.
    #[error(
        "unit {} has the count {} in line {} of {}, but {} in line {} of {}",
        lines[0].unit,
        lines[0].count,
        lines[0].line,
        lines[0].path.display(),
        lines[lines.len() - 1].count,
        lines[lines.len() - 1].line,
        lines[lines.len() - 1].path.display()
    )]
    CountsDiffer {
        /// All lines that hold the unit, in the order of their counts: at least two.
        lines: Vec<RecordedCount>,
    },
}

fn many_threads(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

impl Error {
    /// Makes the error of a number outside a range.
    pub(crate) fn out_of_range(
        what: &'static str,
        given: impl ToString,
        numbers: RangeInclusive<usize>,
    ) -> Self {
        let (least, most) = numbers.into_inner();
        let advice = if least < most {
            format!("choose {least} to {most}")
        } else {
            format!("choose {least}")
        };
        Self::invalid(what, given, advice)
    }

    /// Makes the error of an invalid value.
    pub(crate) fn invalid(
        what: &'static str,
        given: impl ToString,
        advice: impl Into<String>,
    ) -> Self {
        Self::InvalidValue { what, given: given.to_string(), advice: advice.into() }
    }

    /// Makes the error of one thread that could not be started, a thread that does not count.
    pub(crate) fn no_thread(error: io::Error) -> Self {
        Self::ThreadsNotStarted { threads: 1, reason: error.to_string() }
    }

    /// Returns whether the count was cancelled: then nothing went wrong.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Stopped { .. } | Self::StoppedBefore { .. })
    }
}

/// The reason why a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Opening, creating, locking, reading or writing the file failed. Finished lines stay in the file.
    #[error("cannot {action} the journal: {source}")]
    Io {
        /// The operation that failed: `open`, `lock`, `read` or `write`.
        action: &'static str,
        /// The error that the operating system gave.
        source: IoError,
    },

    /// The path leads to something other than a regular file. Its first line and its end are read again, so a journal
    /// cannot be a pipe.
    #[error("is not a regular file: a folder, pipe or device cannot be a journal")]
    NotAFile,

    /// The disk did not take the last lines that were written.
    #[error(
        "the disk did not take the last lines of the journal ({source}); {}",
        match is_cut_back {
            true => "the journal was cut back to the lines that the disk has",
            false => "after a restart of the machine, lines of the journal may be damaged",
        }
    )]
    NotSynced {
        /// The error that the operating system gave.
        source: IoError,
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
        "the journal is on disk, but its folder could not be synced ({source}): if the machine crashes soon, the \
         journal may be gone"
    )]
    FolderNotSynced {
        /// The error that the operating system gave.
        source: IoError,
    },

    /// The file was read back after it was written. All its lines are valid, but they do not hold the units and
    /// solutions that were counted.
    #[error("does not hold what was written: units are missing or have different counts")]
    NotAsWritten,

    /// The journal is no longer at its path: the path leads nowhere, or to another file. Perhaps the folder of a
    /// shard was removed.
    #[error("was removed or moved during the count, or replaced by another file")]
    Gone,

    /// The journal lacks lines that this process wrote, or has lines that it did not write.
    #[error("was cut or written by another process during the count")]
    WrittenByOthers,

    /// Another file took the name of the journal while it was opened.
    #[error("was replaced by another file while it was opened")]
    Changed,

    /// Another process is writing this journal.
    #[error("another process is writing this journal")]
    InUse,

    /// The file does not begin like a journal.
    #[error("is not a journal of nqueens")]
    NotAJournal,

    /// The first line is not as it was written, so the file does not say of which count it is.
    #[error("line 1 is damaged ({what}), so the file names no plan")]
    NoPlan {
        /// What is wrong with the line.
        what: &'static str,
    },

    /// The journal has a format that this version does not read.
    #[error("has journal format {format}, which this version of nqueens does not read")]
    UnknownFormat {
        /// The number of the format, as written in the file.
        format: String,
    },

    /// The journal belongs to a count with other settings.
    #[error("holds a count with {holds}, but {asked} was asked for")]
    OtherCount {
        /// The first setting that differs, with its value in the journal: `n = 19`.
        holds: String,
        /// That setting with the value that was asked for.
        asked: String,
    },

    /// This build cannot make the plan that the first line names: it has no such engine, or its units differ.
    #[error(
        "was begun by nqueens {version} with the plan '{holds}', but this build ({}) makes '{has}'",
        crate::version::version()
    )]
    OtherPlan {
        /// The version that began the journal, with its commit where it was known.
        version: String,
        /// The plan in the first line.
        holds: String,
        /// The plan that this build makes from the settings in the first line.
        has: String,
    },

    /// Lines after the first one are not as they were written. They are left out, and all other lines are used.
    #[error("{} ({what})", damaged_lines(lines))]
    Damaged {
        /// The numbers of the lines, counted from 1, as ranges in increasing order.
        lines: Vec<RangeInclusive<usize>>,
        /// What is wrong with the first of them.
        what: &'static str,
    },
}

/// Returns `line 3 is damaged` or `lines 3,7-9 are damaged`.
fn damaged_lines(lines: &[RangeInclusive<usize>]) -> String {
    let texts: Vec<String> = lines
        .iter()
        .map(|range| match (range.start(), range.end()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last}"),
        })
        .collect();
    let is_one = lines.iter().map(|range| range.end() + 1 - range.start()).sum::<usize>() == 1;
    let (noun, verb) = if is_one { ("line", "is") } else { ("lines", "are") };
    format!("{noun} {} {verb} damaged", texts.join(","))
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

    /// Returns a function that makes the error of a failed operation on a journal.
    pub(crate) fn cannot(action: &'static str) -> impl Fn(io::Error) -> Self + Copy {
        move |error| Self::Io { action, source: error.into() }
    }
}

/// An error of the operating system. Unlike [`io::Error`], it can be cloned and compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct IoError {
    /// The kind of error.
    pub kind: io::ErrorKind,
    /// What the machine or the process lacked. If it lacked something, the error does not show that anything is wrong
    /// with the file.
    pub lack: Option<Lack>,
    /// The message of the operating system.
    pub message: String,
}

/// What a machine or a process may lack when a file is opened or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
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
        use rustix::io::Errno as E;
        let lack = match E::from_io_error(&error) {
            Some(E::MFILE) => Some(Lack::HandlesOfProcess),
            Some(E::NFILE) => Some(Lack::HandlesOfMachine),
            Some(E::NOMEM) => Some(Lack::Memory),
            Some(E::STALE) => Some(Lack::FileServer),
            _ => None,
        };
        Self { kind: error.kind(), lack, message: error.to_string() }
    }
}
