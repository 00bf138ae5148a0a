//! The program `nqueens`. All of it is in the library's room [`cli`](nqueens::cli).

use std::process::ExitCode;

fn main() -> ExitCode {
    nqueens::cli::main()
}
