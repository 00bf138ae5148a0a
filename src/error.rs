//! The errors of the library.
//!
//! A message names the value and its limit. It does not say what to do next, because that depends on the program: the
//! command line adds its own advice. For other programs the enums are `non_exhaustive`. Within this crate matches have
//! to name every error, so the command line does not compile if an error lacks its advice.

mod journal;

use std::fmt;
use std::io;
use std::ops::RangeInclusive;

use crate::numbers::{available_bytes, choose};
pub(crate) use journal::{Action, Problem};
pub use journal::{JournalError, JournalErrorKind};

/// The reason why a count could not start or finish.
///
/// The message says everything. Variants may get more fields, so patterns end with `..`:
///
/// ```
/// use nqueens::Error;
///
/// fn advice(error: &Error) -> String {
///     match error {
///         Error::InvalidValue { given, .. } => format!("choose another value than {given}"),
///         Error::LacksMemory(lack) => format!("use {} threads", lack.fitting_threads()),
///         Error::Journal(error) => format!("look at {}", error.path().display()),
///         Error::Cancelled => "go on later".to_owned(),
///         other => other.to_string(),
///     }
/// }
/// # assert_eq!(advice(&nqueens::count(33).unwrap_err()), "choose another value than 33");
/// ```
///
/// [`Error::source`](std::error::Error::source) is the [`io::Error`] if the operating
/// system refused to read or write a journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that cannot be used: a number out of range, an unknown engine, a kernel that this CPU cannot run, a
    /// square that is off the board or attacked by another queen.
    #[error("{message}")]
    #[non_exhaustive]
    InvalidValue {
        /// The value that was given.
        given: String,
        /// The value, what it was given for, and which values are valid.
        message: String,
    },

    /// The operating system refused to start threads.
    #[error("cannot start {}: {reason}", many_threads(*threads))]
    #[non_exhaustive]
    ThreadsNotStarted {
        /// The number of threads that were asked for.
        threads: usize,
        /// The reason that the operating system gave.
        reason: String,
    },

    /// A number in the count of a unit does not fit: the count itself in 64 bits, or an entry of a matrix of engine
    /// `colours` in 16 bits. No unit with such an entry is known.
    #[error("unit {unit} is too large for the engine, because a number in its count does not fit")]
    #[non_exhaustive]
    Overflow {
        /// The number of the unit in its plan.
        unit: usize,
    },

    /// The work was cancelled before it had a result.
    #[error("stopped before the end")]
    Cancelled,

    /// The count needs more memory than it may use.
    #[error("{0}")]
    LacksMemory(LackOfMemory),

    /// A total that contradicts the numbers of symmetric solutions: a number of [`Classes`](crate::Classes)
    /// would not be whole. So the total or a number of symmetric solutions is wrong.
    #[error("Q({n}) = {total} cannot be right: it does not fit the numbers of symmetric solutions")]
    #[non_exhaustive]
    Inconsistent {
        /// The board size.
        n: u32,
        /// The total.
        total: u128,
    },

    /// A journal, or a folder of journals, cannot be used.
    #[error(transparent)]
    Journal(JournalError),
}

/// Memory that a count needs and may not use.
///
/// ```
/// use nqueens::{BoardSize, Count, Error};
///
/// let count = Count::new(BoardSize::new(24)?).threads(64).memory(1 << 30);
/// match count.run() {
///     Err(Error::LacksMemory(lack)) => {
///         assert!(lack.usable_bytes() < lack.needed_bytes());
///         println!("{lack}; {} threads fit", lack.fitting_threads());
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LackOfMemory {
    /// What needs the memory, such as `engine colours`.
    pub(crate) user: String,
    /// The size of the board.
    pub(crate) n: u32,
    /// The number of threads, each of which needs the memory. `None` if it is needed once.
    pub(crate) threads: Option<usize>,
    /// The bytes that each thread may need. Under a limit that also counts reserved memory, they include what a thread
    /// only reserves.
    pub(crate) bytes: u64,
    /// The limit that leaves the least memory.
    pub(crate) limit: String,
    /// The bytes that the count may use under this limit at this moment.
    pub(crate) usable: u64,
    /// Whether it would be enough if other processes used no memory.
    pub(crate) fits_without_others: bool,
    /// The number of threads that fit at this moment. It is 0 if the memory is needed once.
    pub(crate) fitting_threads: usize,
}

impl LackOfMemory {
    /// Returns the bytes that all threads need together.
    pub fn needed_bytes(&self) -> u64 {
        let threads = self.threads.unwrap_or(1) as u64;
        self.bytes.saturating_mul(threads)
    }

    /// Returns the bytes that the count may use.
    pub fn usable_bytes(&self) -> u64 {
        self.usable
    }

    /// Returns the number of threads that fit at this moment. It is 0 if none does, or if the memory is needed once,
    /// however many threads there are.
    pub fn fitting_threads(&self) -> usize {
        self.fitting_threads
    }
}

impl std::error::Error for LackOfMemory {}

impl fmt::Display for LackOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, n, limit, .. } = self;
        let needed = self.needed_bytes().div_ceil(1 << 20);
        write!(f, "{user} needs {needed} MiB for n = {n}")?;
        if let Some(threads) = self.threads {
            write!(f, " on {}", many_threads(threads))?;
        }
        write!(f, ", but {limit} leaves only {}", available_bytes(self.usable))
    }
}

/// Returns `1 thread` or `8 threads`.
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
        Self::invalid(what, given, choose(least, most))
    }

    /// Makes the error of an invalid value.
    pub(crate) fn invalid(
        what: &'static str,
        given: impl ToString,
        advice: impl fmt::Display,
    ) -> Self {
        let given = given.to_string();
        let message = format!("'{given}' is not {what}: {advice}");
        Self::InvalidValue { given, message }
    }

    /// Makes the error of one thread that could not be started, and that would not have counted.
    pub(crate) fn thread_not_started(error: io::Error) -> Self {
        Self::ThreadsNotStarted { threads: 1, reason: error.to_string() }
    }

    /// Returns whether the operating system did not read or write a journal.
    pub(crate) fn is_of_file_system(&self) -> bool {
        matches!(self, Self::Journal(error) if error.kind() == JournalErrorKind::Io)
    }

    /// Returns whether the journal of this process was lost to others while it was written.
    pub(crate) fn is_of_lost_journal(&self) -> bool {
        matches!(self, Self::Journal(error) if error.kind() == JournalErrorKind::Lost)
    }

    /// Returns whether the count was cancelled: then nothing went wrong.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }
}
