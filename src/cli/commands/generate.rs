//! `nqueens completions SHELL` and `nqueens man`: made from the definition of the arguments.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::files::{cannot_write, write_drawing};
use crate::cli::values::path;
use crate::machine::date::date_and_time;

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

/// Write the manual pages
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens man --out ~/.cargo/share/man/man1   then: man nqueens-count
  nqueens man --out man                       then: man man/nqueens.1")]
pub(crate) struct ManArgs {
    /// Write all pages into this folder
    #[arg(long, value_name = "FOLDER", value_parser = path())]
    out: PathBuf,
}

impl ManArgs {
    pub(crate) fn run(self, mut program: Command) -> Result<Exit, Failure> {
        program.build();
        let folder = self.out;
        fs::create_dir_all(&folder).map_err(|error| cannot_write("--out", &folder, error))?;
        write_page(&program, &folder)?;
        for command in program.get_subcommands() {
            write_page(command, &folder)?;
        }
        Ok(Exit::Done)
    }
}

/// Writes the page of a command: what clap knows, and what is on every page.
fn write_page(command: &Command, folder: &Path) -> Result<(), Failure> {
    // clap_mangen leaves out the text of options that the short help leaves out.
    let command = command.clone().mut_args(|argument| argument.hide_short_help(false));
    let source = format!("nqueens {}", crate::version::VERSION);
    let page = Man::new(command).date(date()).source(source).manual("User Commands");
    let mut text = Vec::new();
    page.render(&mut text).expect("memory takes it");
    let text = String::from_utf8_lossy(&text).into_owned() + &exit_status() + ENVIRONMENT;
    write_drawing("--out", &folder.join(page.get_filename()), &text)
}

/// Returns the date of the pages: that in `SOURCE_DATE_EPOCH`, in seconds since 1970, with which packagers make the
/// same pages each time, or else today.
fn date() -> String {
    let given = env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let time = match given {
        Some(seconds) => SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)),
        None => Some(SystemTime::now()),
    };
    let (date, _time) = date_and_time(time.unwrap_or(SystemTime::UNIX_EPOCH));
    date
}

/// Returns the section on exit codes.
fn exit_status() -> String {
    let mut section = ".SH \"EXIT STATUS\"\n".to_owned();
    for exit in Exit::ALL {
        section += &format!(".TP\n{}\n{}\n", exit as u8, exit.meaning());
    }
    section
}

/// The section on variables.
const ENVIRONMENT: &str = include_str!("generate/environment.roff");
