//! The command line `nqueens`: parse, run, exit code.

mod cli;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: cli::OrExit = cli::OrExit;

fn main() -> ExitCode {
    match cli::Options::from_command_line().and_then(cli::run) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report().into(),
    }
}
