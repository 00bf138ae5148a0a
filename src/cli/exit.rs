//! Exit codes, failures in one line on standard error, and answers on standard output.
//!
//! The code is decided before anything is printed, and kept whatever happens to standard output.

use std::io::{self, StdoutLock, Write};
use std::panic::UnwindSafe;
use std::process::ExitCode;

use nqueens::forecast::core_hours;
use nqueens::{BoardSize, Engine, Kernel, Shortage};

use super::format::core_time;
use super::report::{Format, Report};
use super::stderr::message;
use super::stdout::stdout;

/// The ways in which the program ends, with their exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Failed, or a result that differs from the published one.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// Stopped before the end.
    Stopped = 3,
    /// Not here and now: another machine or another time may do.
    NotNow = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// All codes with their meanings, for the manual.
    pub(crate) const MEANINGS: [(Self, &'static str); 5] = [
        (Self::Done, "Done."),
        (Self::Failed, "A result that differs, a damaged record, or a fault."),
        (Self::Usage, "Wrong usage."),
        (Self::Stopped, "Stopped or not complete; the same command resumes the count."),
        (
            Self::NotNow,
            "Not here and now: memory, threads or a file that is in use; another machine or \
             another time may do.",
        ),
    ];

    /// Prints an answer that ends with this code.
    pub(crate) fn answer(self, format: Format, report: Report) -> Self {
        self.print(|out| report.write(format, out))
    }

    /// Writes to standard output.
    pub(crate) fn print(
        self,
        write: impl FnOnce(&mut StdoutLock<'static>) -> io::Result<()>,
    ) -> Self {
        let written = stdout().and_then(|mut out| {
            write(&mut out)?;
            out.flush()
        });
        match written {
            Ok(()) => self,
            Err(error) => self.unprinted(&error),
        }
    }

    /// The code if not all of an answer could be printed. A reader that has gone has seen enough.
    pub(crate) fn unprinted(self, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return self;
        }
        message!("cannot write to standard output: {error}");
        if self == Self::Done { Self::Failed } else { self }
    }
}

/// Runs the program. A panic is a fault of ours: its message is one line, as that of every error,
/// and what was recorded before it stays good.
pub(crate) fn guarded(program: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map_or_else(String::new, |at| format!(" at {at}"));
            let payload = panic.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let message = text.unwrap_or("no message");
            message!(
                "the program has a fault{place}: {message}; please report it; finished units are in \
                 the journal, if there is one"
            );
        }));
    }
    std::panic::catch_unwind(program).unwrap_or(Exit::Failed)
}

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments are wrong.
    Usage(String),
    /// The count was stopped.
    Stopped(String),
    /// This machine lacks something at the moment: memory, threads, a file that nobody else writes.
    NotNow(String),
    /// Nobody reads stdout any more: nothing is left to say.
    ClosedOutput,
    /// Anything else.
    Failed(String),
}

impl Failure {
    /// Prints it in one line; returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        let (text, exit) = match self {
            Self::Usage(text) => (text, Exit::Usage),
            Self::Stopped(text) => (text, Exit::Stopped),
            Self::NotNow(text) => (text, Exit::NotNow),
            Self::ClosedOutput => return Exit::Done,
            Self::Failed(text) => (text, Exit::Failed),
        };
        message!("{text}");
        exit
    }

    /// Changes the message of a count that was stopped.
    pub(crate) fn if_stopped(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Stopped(text) => Self::Stopped(change(text)),
            other => other,
        }
    }
}

impl From<nqueens::Error> for Failure {
    fn from(error: nqueens::Error) -> Self {
        use nqueens::Error as E;
        use nqueens::record::JournalError as J;
        match error {
            E::Stopped { journal_fault: Some(_), .. } => Self::Failed(error.to_string()),
            _ if error.is_cancelled() => Self::Stopped(error.to_string()),
            E::ThreadsOutOfRange { .. } => Self::Usage(format!("--threads: {error}")),
            E::ThreadsNotStarted { .. } => Self::NotNow(format!("--threads: {error}")),
            E::QueensGiven | E::SquareOffBoard { .. } | E::SquaresClash { .. } => {
                Self::Usage(format!("--place: {error}"))
            }
            E::PlansDiffer { .. } | E::NoSecondCount { .. } => Self::Usage(error.to_string()),
            E::Journal { error: ref reason, .. } => match reason {
                J::OtherCount { .. }
                | J::NotAFile
                | J::NotAJournal
                | J::NoLocks { .. }
                | J::Exists => Self::Usage(error.to_string()),
                J::InUse | J::TooLarge { .. } => Self::NotNow(error.to_string()),
                _ => Self::Failed(error.to_string()),
            },
            E::MemoryBudget(shortage) => {
                let text = with_cost(&shortage);
                if shortage.given { Self::Usage(text) } else { Self::NotNow(text) }
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// What is lacking, and how long the way out takes.
fn with_cost(shortage: &Shortage) -> String {
    match BoardSize::new(shortage.n) {
        Ok(size) if shortage.engine != Engine::Subtrees.name() => {
            let hours = core_hours(size, Engine::Subtrees, Kernel::detect());
            format!("{shortage}, about {}", core_time(hours))
        }
        _ => shortage.to_string(),
    }
}

/// For writing to stdout.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedOutput
        } else {
            Self::Failed(format!("cannot write to standard output: {error}"))
        }
    }
}
