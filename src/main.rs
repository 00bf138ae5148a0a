//! The command line `nqueens`: parse, run, exit code.

mod cli;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: cli::OrExit = cli::OrExit;

fn main() -> ExitCode {
    let run = || cli::Options::from_command_line().and_then(cli::run);
    cli::guarded(|| run().unwrap_or_else(|failure| failure.report())).into()
}
