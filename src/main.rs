//! The command line `nqueens`: parse, run, exit code.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let exit = cli::guarded(|| cli::run().unwrap_or_else(|failure| failure.report()));
    cli::finish_messages();
    ExitCode::from(exit as u8)
}
