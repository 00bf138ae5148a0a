//! Answers and rows on standard output. The command writes them by itself, and waits for whoever reads them, as every
//! program does.

use std::io::{self, Write};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::print::report::{Format, Report};
use crate::cli::stderr;

/// Prints what is written here. On a terminal, messages and answers come in their order.
pub(crate) fn print(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), Failure> {
    stderr::hide();
    let mut text = Vec::new();
    write(&mut text)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(&text)?;
    stdout.flush()?;
    Ok(())
}

impl Exit {
    /// Prints an answer that ends with this code.
    pub(crate) fn answer(self, format: Format, report: Report) -> Self {
        self.print(|out| report.write(format, out))
    }

    /// Prints what is written here, and returns the exit code. That of the work comes before that of the printing.
    pub(crate) fn print(self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Self {
        match (self, print(write)) {
            (Self::Done, Err(failure)) => failure.report(),
            (_, Err(failure)) => {
                failure.report();
                self
            }
            (_, Ok(())) => self,
        }
    }
}
