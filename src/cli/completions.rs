//! `nqueens completions SHELL`: made from the definition of the arguments.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::exit::{Exit, Failure};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens completions bash > ~/.local/share/bash-completion/completions/nqueens
  nqueens completions fish > ~/.config/fish/completions/nqueens.fish
  nqueens completions zsh > ~/.zfunc/_nqueens       with ~/.zfunc in $fpath")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, mut command: Command) -> Result<Exit, Failure> {
        // Made before anything is written: the generator would panic if nobody reads.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "nqueens", &mut script);
        Ok(Exit::Done.print(|out| out.write_all(&script)))
    }
}
