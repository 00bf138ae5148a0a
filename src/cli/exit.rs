//! Exit codes, failures in one line on standard error, and answers on standard output. [`way_out`](super::way_out) knows
//! the exit code of each error of the library. The parser of the command line prints its own errors.
//!
//! The code is decided before anything is printed, and kept whatever happens to standard output.

use std::fmt;
use std::io;
use std::panic::UnwindSafe;

use super::output::write_lines;
use super::report::{Format, Report};
use super::stderr::{self, message};

/// The ways in which the program ends, with their exit codes. [`Exit::meaning`] says what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Stopped = 3,
    Temporary = 4,
}

impl Exit {
    /// All exit codes, in the order of their numbers.
    pub(crate) const ALL: [Self; 5] =
        [Self::Done, Self::Failed, Self::Usage, Self::Stopped, Self::Temporary];

    /// Returns what an exit code means. Help, manual pages and docs/JSON.md take their words from here.
    ///
    /// Schedulers retry a command that ends with code 4. So only what passes by waiting has that code.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => {
                "a total that differs from the published one, a unit with two different counts, damage while units \
                 are missing, or something that waiting does not cure: a disk, a permission, too little memory, a fault"
            }
            Self::Usage => "wrong usage",
            Self::Stopped => {
                "stopped, not complete, or nothing recorded yet: with a journal, the same command resumes"
            }
            Self::Temporary => {
                "temporarily impossible (memory or threads that others use, a journal that is being written): the same \
                 command works later, or on another machine"
            }
        }
    }

    /// Returns the code of two answers: a failure outweighs what could not be read, which outweighs what is not
    /// complete.
    pub(crate) fn and(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    /// Returns the place of an exit code among all codes, the gravest last.
    fn rank(self) -> usize {
        match self {
            Self::Done => 0,
            Self::Stopped => 1,
            Self::Temporary => 2,
            Self::Usage => 3,
            Self::Failed => 4,
        }
    }

    /// Returns a failure that ends the program with this code.
    pub(crate) fn because(self, text: impl Into<String>) -> Failure {
        Failure { exit: self, text: text.into() }
    }

    /// Prints an answer that ends with this code.
    pub(crate) fn answer(self, format: Format, report: Report) -> Self {
        self.print(|out| report.write(format, out))
    }

    /// Writes to standard output, and waits until somebody has taken it.
    pub(crate) fn print(self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Self {
        // On a terminal, messages and the answer come in their order.
        stderr::hide();
        let mut lines = Vec::new();
        match write(&mut lines).and_then(|()| write_lines(&lines, self)) {
            Ok(()) => self,
            Err(error) => self.unprinted(&error),
        }
    }

    /// Returns the code if not all of an answer could be printed. A reader that has gone has seen enough.
    pub(crate) fn unprinted(self, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => self,
            _ => {
                message!("cannot write to standard output: {error}");
                if self == Self::Done { Self::Failed } else { self }
            }
        }
    }
}

/// Runs the program. A panic is a fault of the program: its message is one line, like that of every error,
/// and what was recorded before it stays good.
pub(crate) fn guarded(program: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| {
            let fault = panic.to_string().replace('\n', " ");
            message!(
                "the program has a fault: {fault}; please report this line; a journal keeps its units"
            );
        }));
    }
    std::panic::catch_unwind(program).unwrap_or(Exit::Failed)
}

/// Why there is no result: the exit code, and the line on standard error.
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Empty if nothing is left to say.
    text: String,
}

impl Failure {
    /// Prints the failure in one line, and returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        if !self.text.is_empty() {
            message!("{self}");
        }
        self.exit
    }

    /// Returns this failure with the code for it and what was found before it.
    pub(crate) fn after(self, found: Exit) -> Self {
        Self { exit: self.exit.and(found), ..self }
    }

    /// Adds to the message of a count that was stopped.
    pub(crate) fn if_stopped(self, change: impl FnOnce(String) -> String) -> Self {
        match self.exit {
            Exit::Stopped => Self { text: change(self.text), ..self },
            _ => self,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Makes a failure of an error of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Exit::Done.unprinted(&error).because("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of a first count with a journal that may not be read, and a second one with damage; or of a table with a
    /// wrong total that is stopped at the next board.
    #[test]
    fn what_is_not_complete_hides_no_failure() {
        for (one, other) in [(Exit::Stopped, Exit::Failed), (Exit::Failed, Exit::Stopped)] {
            assert_eq!(one.and(other), Exit::Failed);
            assert_eq!(one.because("").after(other).exit, Exit::Failed);
        }
        assert_eq!(Exit::Temporary.because("").after(Exit::Stopped).exit, Exit::Temporary);
        assert_eq!(Exit::Done.and(Exit::Stopped), Exit::Stopped);
    }

    #[test]
    fn the_page_on_scripts_has_the_meanings_of_all_codes() {
        let page = include_str!("../../docs/JSON.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |\n", exit as u8, exit.meaning());
            assert!(page.contains(&row), "not in docs/JSON.md: {row}");
        }
    }
}
