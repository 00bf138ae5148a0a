//! `nqueens completions SHELL` and `nqueens man`: made from the definition of the arguments.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

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
        program.build();
        if let Some(folder) = &self.out {
            write_all(&program, folder).map_err(|error| {
                Failure::Failed(format!("--out: cannot write to {}: {error}", folder.display()))
            })?;
            message!("the pages are written into {}", folder.display());
            return Ok(Exit::Done);
        }
        let command = match &self.command {
            None => &program,
            Some(name) => program.find_subcommand(name).ok_or_else(|| {
                let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
                Failure::Usage(format!("there is no such page: choose one of {}", names.join(", ")))
            })?,
        };
        let page = page(command)?;
        Ok(Exit::Done.print(|out| out.write_all(&page)))
    }
}

fn write_all(program: &Command, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for command in [program].into_iter().chain(program.get_subcommands()) {
        fs::write(folder.join(Man::new(command.clone()).get_filename()), page(command)?)?;
    }
    Ok(())
}

/// clap's page, with the examples of the help, and what all commands have in common.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).manual("n queens").render(&mut page)?;
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in Exit::MEANINGS {
        roff.control("TP", []).text([bold((exit as u8).to_string())]).text([roman(meaning)]);
    }
    roff.control("SH", ["ENVIRONMENT"]);
    roff.text([roman("Options name their variables. With NO_COLOR, nothing is coloured.")]);
    roff.control("SH", ["SEE ALSO"]).text([roman("nqueens(1)")]);
    roff.to_writer(&mut page)?;
    Ok(page)
}
