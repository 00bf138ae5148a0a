//! `nqueens completions SHELL` and `nqueens man`: made from the definition of the arguments.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use super::exit::{Exit, Failure};
use super::stderr::message;

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
    pub(crate) fn run(self, mut program: Command) -> Result<Exit, Failure> {
        // Made before anything is written: the generator would panic if nobody reads.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "nqueens", &mut script);
        Ok(Exit::Done.print(|out| out.write_all(&script)))
    }
}

/// Print a manual page: nqueens man count | man -l -
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens man count | man -l -                the page of one command
  nqueens man --out ~/.local/share/man/man1   all pages; then: man nqueens-count")]
pub(crate) struct ManArgs {
    /// Command whose page to print; without it the page of the program
    #[arg(value_name = "COMMAND")]
    command: Option<String>,

    /// Write all pages into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(self, mut program: Command) -> Result<Exit, Failure> {
        if let Some(folder) = &self.out {
            let written =
                fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
            written.map_err(|error| {
                Exit::Failed
                    .because(format!("--out: cannot write to {}: {error}", folder.display()))
            })?;
            message!("the pages are written into {}", folder.display());
            return Ok(Exit::Done);
        }
        program.build();
        let command = match &self.command {
            None => &program,
            Some(name) => program.find_subcommand(name).ok_or_else(|| {
                let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
                Exit::Usage
                    .because(format!("there is no such page: choose one of {}", names.join(", ")))
            })?,
        };
        let mut page = Vec::new();
        Man::new(command.clone()).render(&mut page)?;
        Ok(Exit::Done.print(|out| out.write_all(&page)))
    }
}
