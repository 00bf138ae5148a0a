//! `nqueens man`: a page for the program and one for each command, made from the definition of the
//! arguments.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::many;
use crate::cli::options::{ARRAY_INDEX, THREADS};
use crate::cli::stderr::message;
use crate::cli::version;

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
            return write_all(&program, folder).map_err(|error| {
                Failure::Failed(format!("--out: cannot write to {}: {error}", folder.display()))
            });
        }
        let command = match &self.command {
            None => &program,
            Some(name) => {
                commands(&program).find(|command| command.get_name() == name).ok_or_else(|| {
                    let names = commands(&program).map(Command::get_name).collect::<Vec<_>>();
                    Failure::Usage(format!(
                        "there is no such page: choose one of {}",
                        names.join(", ")
                    ))
                })?
            }
        };
        let page = page(&program, command)?;
        Ok(Exit::Done.print(|out| out.write_all(&page)))
    }
}

/// The commands that have a page.
fn commands(program: &Command) -> impl Iterator<Item = &Command> {
    program.get_subcommands().filter(|command| command.get_name() != "help")
}

fn write_all(program: &Command, folder: &Path) -> io::Result<Exit> {
    fs::create_dir_all(folder)?;
    let all = || [program].into_iter().chain(commands(program));
    for command in all() {
        fs::write(folder.join(format!("{}.1", title(command))), page(program, command)?)?;
    }
    message!("{} written into {}", many(all().count(), "page"), folder.display());
    Ok(Exit::Done)
}

/// `nqueens-count`
fn title(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(program: &Command, command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).manual("n queens");
    let man = man.source(format!("nqueens {}", version::SHORT));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.has_subcommands() {
        let mut roff = Roff::new();
        roff.control("SH", ["COMMANDS"]);
        for command in commands(command) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            entry(&mut roff, &format!("{}(1)", title(command)), &about);
        }
        roff.to_writer(&mut page)?;
    }
    man.render_options_section(&mut page)?;
    let mut roff = Roff::new();
    examples(&mut roff, command);
    exit_status(&mut roff);
    environment(&mut roff, command);
    roff.control("SH", ["SEE ALSO"]);
    let others: Vec<String> = match command.has_subcommands() {
        true => commands(program).map(|command| format!("{}(1)", title(command))).collect(),
        false => vec![format!("{}(1)", title(program))],
    };
    roff.text([roman(others.join(", "))]);
    roff.to_writer(&mut page)?;
    Ok(page)
}

/// A term and what it means.
fn entry(roff: &mut Roff, term: &str, meaning: &str) {
    roff.control("TP", []).text([bold(term)]).text([roman(meaning)]);
}

fn examples(roff: &mut Roff, command: &Command) {
    let help = command.get_after_long_help().or_else(|| command.get_after_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in help.lines().filter(|line| line.starts_with(' ')) {
        roff.text([roman(line.trim_start())]);
    }
    roff.control("fi", []);
}

fn exit_status(roff: &mut Roff) {
    roff.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in Exit::MEANINGS {
        entry(roff, &(exit as u8).to_string(), meaning);
    }
}

/// The variables that this command reads.
fn environment(roff: &mut Roff, command: &Command) {
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_id() == option);
    roff.control("SH", ["ENVIRONMENT"]);
    if has("threads") || command.has_subcommands() {
        let [first, second] = THREADS;
        entry(roff, first, "The number of threads without --threads.");
        entry(roff, second, &format!("The same, without {first} either."));
    }
    if has("index") || command.has_subcommands() {
        let names = ARRAY_INDEX.map(|(name, _)| name).join(", ");
        let from_one = ARRAY_INDEX.iter().filter(|(_, first)| *first == 1);
        let from_one: Vec<&str> = from_one.map(|(name, _)| *name).collect();
        let meaning = format!(
            "Which shard a task of a job array counts, without --index. {} count from 1.",
            from_one.join(" and ")
        );
        entry(roff, &names, &meaning);
    }
    entry(roff, "NO_COLOR", "If it is set, nothing is coloured.");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::program;

    #[test]
    fn every_command_has_a_page_with_all_sections() {
        let program = program();
        for command in [&program].into_iter().chain(commands(&program)) {
            let page = page(&program, command).expect("memory does not fail");
            let page = String::from_utf8(page).expect("text");
            for section in [
                "NAME",
                "SYNOPSIS",
                "DESCRIPTION",
                "OPTIONS",
                "EXAMPLES",
                "\"EXIT STATUS\"",
                "ENVIRONMENT",
                "\"SEE ALSO\"",
            ] {
                let heading = format!(".SH {section}\n");
                assert_eq!(page.matches(&heading).count(), 1, "{section} in:\n{page}");
            }
        }
    }
}
