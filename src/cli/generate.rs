//! `nqueens completions SHELL` and `nqueens man`: made from the definition of the arguments.

use std::io::{self, Write};
use std::path::PathBuf;
use std::{fs, iter};

use clap::{Arg, Args, Command, ValueHint};
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
    pub(crate) fn run(self, program: Command) -> Result<Exit, Failure> {
        let mut program = program.mut_subcommands(|command| command.mut_args(with_hint));
        // Made before anything is written: the generator would panic if nobody reads.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "nqueens", &mut script);
        if self.shell == Shell::Bash {
            script.extend(include_bytes!("generate/names.bash"));
        }
        Ok(Exit::Done.print(|out| out.write_all(&script)))
    }
}

/// Files are offered only where a file is meant.
fn with_hint(argument: Arg) -> Arg {
    match argument.get_value_hint() {
        ValueHint::AnyPath => argument.value_hint(ValueHint::FilePath),
        _ if argument.get_possible_values().is_empty() => argument.value_hint(ValueHint::Other),
        _ => argument,
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
        let mut commands = iter::once(&program).chain(program.get_subcommands());
        let Some(folder) = self.out else {
            let is_meant = |name: &str| self.command.as_deref().is_none_or(|meant| meant == name);
            let command = commands.find(|command| is_meant(command.get_name()));
            let command = command.ok_or_else(|| {
                let names: Vec<_> = program.get_subcommands().map(Command::get_name).collect();
                Exit::Usage
                    .because(format!("there is no such command: choose {}", names.join(", ")))
            })?;
            let (_, text) = page(command)?;
            return Ok(Exit::Done.print(|out| out.write_all(text.as_bytes())));
        };
        let written = fs::create_dir_all(&folder).and_then(|()| {
            commands.try_for_each(|command| {
                let (name, text) = page(command)?;
                fs::write(folder.join(name), text)
            })
        });
        let cannot = |error| format!("--out: cannot write to {}: {error}", folder.display());
        written.map_err(|error: io::Error| Exit::Failed.because(cannot(error)))?;
        Ok(Exit::Done)
    }
}

/// The name of a command's page, and its text: what clap knows, and what is on every page.
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
