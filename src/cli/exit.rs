//! Exit codes, and how failures become one line on stderr.

use std::io;
use std::process::ExitCode;

use super::talk::say;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Failed, or a result that differs from the published one.
    Failed,
    /// Wrong usage.
    Usage,
    /// Stopped before the end.
    Stopped,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Stopped => 3,
        })
    }
}

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments are wrong.
    Usage(String),
    /// The count was stopped.
    Stopped(String),
    /// Nobody reads stdout any more: nothing is left to say.
    ClosedOutput,
    /// Anything else.
    Other(anyhow::Error),
}

impl Failure {
    /// Says it in one line; returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        match self {
            Self::Usage(message) => {
                say(message);
                Exit::Usage
            }
            Self::Stopped(message) => {
                say(message);
                Exit::Stopped
            }
            Self::ClosedOutput => Exit::Done,
            Self::Other(error) => {
                say(format_args!("{error:#}"));
                Exit::Failed
            }
        }
    }
}

impl From<nqueens::Error> for Failure {
    fn from(error: nqueens::Error) -> Self {
        use nqueens::Error as E;
        use nqueens::journal::Problem as P;
        match error {
            E::Stopped { .. } | E::PreparationStopped | E::SymmetryStopped => {
                Self::Stopped(error.to_string())
            }
            E::ThreadsOutOfRange { .. } | E::ThreadsNotStarted { .. } => {
                Self::Usage(format!("--threads: {error}"))
            }
            E::QueensGiven => Self::Usage(format!("--place: {error}")),
            E::PlansDiffer { .. } => Self::Usage(error.to_string()),
            E::Journal { problem: P::OtherCount { .. } | P::NotAFile | P::NotAJournal, .. } => {
                Self::Usage(error.to_string())
            }
            E::MemoryBudget { .. } => Self::Usage(error.to_string()),
            _ => Self::Other(error.into()),
        }
    }
}

/// For writing to stdout.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedOutput
        } else {
            Self::Other(anyhow::Error::new(error).context("cannot write to standard output"))
        }
    }
}

impl From<csv::Error> for Failure {
    fn from(error: csv::Error) -> Self {
        io::Error::from(error).into()
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
