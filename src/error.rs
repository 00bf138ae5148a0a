//! The errors of the library.
//!
//! A message names the value and its limit. It does not say what to do next, because that depends on the program: the
//! command line adds its own advice. The enums are not `non_exhaustive`. So the command line does not compile if an
//! error lacks its advice.

mod journal;

use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::numbers::choose;
pub use journal::{IoError, JournalError, Lack, RecordedCount};

/// The reason why a count could not start or finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A value that cannot be used: a number out of range, an unknown engine, a kernel that this CPU cannot run, a
    /// square that is off the board or attacked by another queen, text in the environment variable `NQUEENS_MEMORY`
    /// that is no size.
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

    /// The work was cancelled before it had a result.
    #[error("stopped before {what}")]
    StoppedBefore {
        /// What had not happened yet, such as `the end of the unit`.
        what: &'static str,
    },

    /// The count needs more memory than it may use.
    #[error(
        "{what} needs {} MiB for n = {n}{}, but {limit} leaves only {} MiB",
        mebibytes_of_all_threads(*bytes, *threads),
        on_threads(*threads),
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
        /// A limit that leaves too little memory, as in [`Memory::limit`](crate::Memory::limit). If several limits do,
        /// it is the one that is hardest to change.
        limit: String,
        /// The bytes that the count may use under this limit at this moment.
        usable: u64,
        /// What would give the count its memory under this limit.
        remedy: Remedy,
        /// The number of threads that fit at this moment under all limits. It is 0 if the memory is needed once.
        fitting_threads: usize,
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

/// What gives a count the memory that it lacks, the easiest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Waiting until other programs give their memory back.
    Waiting,
    /// A higher limit, because this one leaves too little whatever other programs do.
    HigherLimit,
    /// A machine with more memory.
    LargerMachine,
}

/// Returns `1 thread` or `8 threads`.
fn many_threads(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// Returns ` on 8 threads`, or nothing if the memory is needed once, however many threads there are.
fn on_threads(threads: Option<usize>) -> String {
    match threads {
        Some(threads) => format!(" on {}", many_threads(threads)),
        None => String::new(),
    }
}

/// Returns the memory that all threads need together, rounded up to whole MiB.
fn mebibytes_of_all_threads(bytes: u64, threads: Option<usize>) -> u64 {
    let threads = threads.unwrap_or(1) as u64;
    bytes.saturating_mul(threads).div_ceil(1 << 20)
}

impl Error {
    /// Makes the error of a number outside a range.
    pub(crate) fn out_of_range(
        what: &'static str,
        given: impl ToString,
        numbers: RangeInclusive<usize>,
    ) -> Self {
        let (least, most) = numbers.into_inner();
        Self::invalid(what, given, choose(least, most))
    }

    /// Makes the error of an invalid value.
    pub(crate) fn invalid(
        what: &'static str,
        given: impl ToString,
        advice: impl Into<String>,
    ) -> Self {
        Self::InvalidValue { what, given: given.to_string(), advice: advice.into() }
    }

    /// Makes the error of one thread that could not be started, and that would not have counted.
    pub(crate) fn thread_not_started(error: io::Error) -> Self {
        Self::ThreadsNotStarted { threads: 1, reason: error.to_string() }
    }

    /// Returns whether the count was cancelled: then nothing went wrong.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::StoppedBefore { .. })
    }
}
