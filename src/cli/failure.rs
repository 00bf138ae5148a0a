//! Failures, which are one line on standard error and an exit code.

use std::fmt;
use std::io;
use std::panic::UnwindSafe;

use crate::cli::exit::Exit;
use crate::cli::stderr::message;

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

/// The reason why there is no result: the exit code, and the line on standard error.
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Empty if nothing is left to say.
    text: String,
}

impl Exit {
    /// Returns a failure that ends the program with this code.
    pub(crate) fn because(self, text: impl Into<String>) -> Failure {
        Failure { exit: self, text: text.into() }
    }
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
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Makes a failure of an error of writing to standard output. A reader that has gone has seen enough.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Exit::Done.because(""),
            _ => Exit::Failed.because(format!("cannot write to standard output: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of a table with a wrong total that is stopped at the next board.
    #[test]
    fn a_failure_hides_no_failure_before_it() {
        assert_eq!(Exit::Stopped.because("").after(Exit::Failed).exit, Exit::Failed);
        assert_eq!(Exit::Temporary.because("").after(Exit::Stopped).exit, Exit::Temporary);
    }
}
