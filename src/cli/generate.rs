//! `nqueens completions SHELL` and `nqueens man`: made from the definition of the arguments.

use std::io::{self, Write};
use std::path::PathBuf;
use std::{fs, iter};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use super::exit::{Exit, Failure};

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
    /// Command whose page to print [default: the page of the program]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,

    /// Write all pages into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(self, mut program: Command) -> Result<Exit, Failure> {
        program.build();
        let commands = || iter::once(&program).chain(program.get_subcommands());
        let Some(folder) = self.out else {
            let name = self.command.as_deref().unwrap_or(program.get_name());
            let command =
                commands().find(|command| command.get_name() == name).ok_or_else(|| {
                    Exit::Usage
                        .because(format!("there is no command '{name}': 'nqueens help' lists all"))
                })?;
            let (_, text) = page(command)?;
            return Ok(Exit::Done.print(|out| out.write_all(text.as_bytes())));
        };
        let write = |command| {
            let (name, text) = page(command)?;
            fs::write(folder.join(name), text)
        };
        let written = fs::create_dir_all(&folder).and_then(|()| commands().try_for_each(write));
        let cannot = |error| format!("--out: cannot write to {}: {error}", folder.display());
        written.map_err(|error| Exit::Failed.because(cannot(error)))?;
        Ok(Exit::Done)
    }
}

/// Returns the file name of a command's page, and its text: what clap knows, and what is on every page.
fn page(command: &Command) -> io::Result<(String, String)> {
    // clap_mangen leaves out the text of options that the short help leaves out.
    let command = command.clone().mut_args(|argument| argument.hide_short_help(false));
    let page = Man::new(command).source(concat!("nqueens ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    // It would run the examples together.
    let text = String::from_utf8_lossy(&text);
    let text = text.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n");
    Ok((page.get_filename(), (text + include_str!("generate/sections.roff"))))
}
