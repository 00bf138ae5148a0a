//! Answers on standard output.

use std::io;

use crate::cli::exit::Exit;
use crate::cli::output::report::{Format, Report};
use crate::cli::output::stderr::{self, message};
use crate::cli::output::stdout::write_lines;

impl Exit {
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
