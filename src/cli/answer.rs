//! The answer on standard output. What was found out is the exit code, whoever reads it.

use std::io::{self, StdoutLock, Write};

use super::exit::Exit;
use super::talk::say;

/// Prints an answer; `found` is the exit code that it deserves.
pub(super) fn print(
    found: Exit,
    write: impl FnOnce(&mut StdoutLock<'static>) -> io::Result<()>,
) -> Exit {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => found,
        Err(error) => unprinted(found, &error),
    }
}

/// The exit code if not all of an answer could be printed. A reader that has gone has seen enough.
pub(super) fn unprinted(found: Exit, error: &io::Error) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return found;
    }
    say(format_args!("cannot write to standard output: {error}"));
    if found == Exit::Done { Exit::Failed } else { found }
}
