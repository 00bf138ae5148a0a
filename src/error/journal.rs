//! The errors of journals.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use crate::numbers::text_of_ranges;
use crate::version;

/// The reason why a journal, or a folder of journals, cannot be used.
///
/// The message begins with the path. If the operating system refused something, its [`io::Error`] is the source:
///
/// ```
/// use std::error::Error as _;
/// use std::io;
///
/// use nqueens::Error;
/// use nqueens::journal::{JournalErrorKind, Records};
///
/// match Records::read(&["no/such/folder"]) {
///     Err(Error::Journal(error)) => {
///         assert_eq!(error.kind(), JournalErrorKind::Io);
///         assert_eq!(error.path().to_str(), Some("no/such/folder"));
///         let refusal = error.source().and_then(|source| source.downcast_ref::<io::Error>());
///         assert_eq!(refusal.map(io::Error::kind), Some(io::ErrorKind::NotFound));
///         println!("{error}");
///     }
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalError {
    /// The journal, or the folder of journals.
    path: PathBuf,
    pub(crate) problem: Problem,
}

/// The kind of a [`JournalError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JournalErrorKind {
    /// The operating system refused to create, open, read, write or sync the file. Finished lines stay in the file.
    Io,
    /// The file has no line of a journal, or is no regular file.
    NotAJournal,
    /// The journal has a format that this version does not read.
    UnknownFormat,
    /// The journal belongs to a plan that this build cannot make, or to another plan than a journal with which it
    /// should be read.
    OtherPlan,
    /// Lines are not as they were written. They are left out, and all other lines are used.
    Damaged,
    /// The file of this process was moved, removed or cut while units were being counted. All that it still held is in
    /// another file, to which the process writes now.
    Lost,
    /// Another count of the same shard is writing this journal, in this process or in another one of this host.
    InUse,
}

impl JournalError {
    /// Returns the path of the journal, or of the folder of journals.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> JournalErrorKind {
        match self.problem {
            Problem::Io { .. } => JournalErrorKind::Io,
            Problem::NotAJournal => JournalErrorKind::NotAJournal,
            Problem::UnknownFormat { .. } => JournalErrorKind::UnknownFormat,
            Problem::OtherBuild { .. } | Problem::OtherPlan { .. } => JournalErrorKind::OtherPlan,
            Problem::Damaged { .. } => JournalErrorKind::Damaged,
            Problem::Lost { .. } => JournalErrorKind::Lost,
            Problem::InUse => JournalErrorKind::InUse,
        }
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

impl StdError for JournalError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.problem {
            Problem::Io { error, .. } => Some(&*error.0),
            _ => None,
        }
    }
}

/// What is wrong with a journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    /// The operating system refused something.
    #[error("cannot {} the journal: {error}", action.verb())]
    Io { action: Action, error: Refusal },

    /// The file has no line of a journal, or is no regular file.
    #[error("is not a journal of nqueens")]
    NotAJournal,

    /// The journal has a format with this number, which this version does not read.
    #[error("has journal format {format}, which this version of nqueens does not read")]
    UnknownFormat { format: u32 },

    /// This build cannot make the plan that the first line names: it has no such engine, or its units differ.
    #[error(
        "was begun by nqueens '{version}' with the plan '{holds}', but this build ({}) makes '{has}'",
        version::version()
    )]
    OtherBuild {
        /// The version that began the journal, with its commit where it was known.
        version: String,
        /// The plan in the first line.
        holds: String,
        /// The plan that this build makes from the settings in the first line.
        has: String,
    },

    /// Two journals that should be read together belong to different plans.
    #[error("holds '{plan}', but {} holds '{other_plan}'", other.display())]
    OtherPlan {
        plan: String,
        /// The other journal.
        other: PathBuf,
        other_plan: String,
    },

    /// Lines are not as they were written.
    #[error("{} damaged", lines_are(lines))]
    Damaged {
        /// The numbers of the lines, counted from 1, as ranges in increasing order.
        lines: Vec<RangeInclusive<usize>>,
    },

    /// The file of this process was moved, removed or cut.
    #[error("was {}, and the count goes on there", what_was_lost(*is_cut, saved_in))]
    Lost {
        /// The file to which the process writes now. Its path may be the one at which the journal was.
        saved_in: PathBuf,
        /// Whether lines were cut off, so that they are in no file.
        is_cut: bool,
    },

    /// Another count of the same shard writes the journal.
    #[error("is being written by another count of the same shard on this host")]
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

impl Problem {
    /// Makes the error of the journal at this path.
    pub(crate) fn at(self, path: &Path) -> Error {
        Error::Journal(JournalError { path: path.to_owned(), problem: self })
    }

    /// Makes the problem of an operation on a journal that the operating system refused.
    pub(crate) fn cannot(action: Action, error: io::Error) -> Self {
        Self::Io { action, error: Refusal(Arc::new(error)) }
    }
}

/// An operation on a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Create,
    Open,
    Read,
    Write,
    Sync,
}

impl Action {
    fn verb(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
        }
    }
}

/// An error of the operating system that can be cloned and compared.
#[derive(Clone, Debug)]
pub(crate) struct Refusal(Arc<io::Error>);

// The error is shared, and nothing changes it, so no panic can leave it half changed.
impl UnwindSafe for Refusal {}
impl RefUnwindSafe for Refusal {}

impl Refusal {
    pub(crate) fn kind(&self) -> io::ErrorKind {
        self.0.kind()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Two refusals are equal if they have one kind and one text.
impl PartialEq for Refusal {
    fn eq(&self, other: &Self) -> bool {
        self.0.kind() == other.0.kind() && self.0.to_string() == other.0.to_string()
    }
}

impl Eq for Refusal {}
