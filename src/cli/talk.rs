//! The program's talk: lines on stderr.

use std::fmt::Display;
use std::io::{self, Write};

/// Says one line. If stderr is closed or full nobody can be told, and the count goes on.
pub(super) fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "nqueens: {message}");
}
