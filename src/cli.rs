//! The command line: everything that reads arguments, prints, or exits. One command, one file.
//!
//! The list of commands, and the parser, are here. Doc comments of commands and options are the help
//! texts.
//!
//! CONTRIBUTING.md has a recipe for adding a command.

mod commands;
mod exit;
mod failure;
mod input;
mod output;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use commands::{compare, count, cpu, estimate, generate, list, merge, status, table, unit, verify};
use exit::Exit;
use failure::failure::{Failure, guarded};
use failure::signals;
use input::memory::stated_memory;
use input::session::{self, on_readers};
use input::values::sizes;
use output::quote::escaped;
use output::stderr;

/// Counts the solutions of the n-queens problem exactly, on all cores.
#[derive(Debug, Parser)]
#[command(
    name = "nqueens",
    version,
    long_about = long_about(),
    args_override_self = true,
    long_version = format!("{}, commit {}", crate::VERSION, crate::COMMIT),
    max_term_width = 100,
    after_help = EXAMPLES
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// Returns what the long help says before it lists the commands.
fn long_about() -> String {
    let mut text = "Counts the solutions of the n-queens problem exactly, on all cores.\n\n\
                    The answer goes to standard output, everything else to standard error. Exit codes:\n"
        .to_owned();
    for exit in Exit::ALL {
        text += &format!("\n  {}  {}", exit as u8, exit.meaning());
    }
    text
}

const EXAMPLES: &str = "\
Examples:
  nqueens count 18                              the number of solutions
  nqueens count 22 --journal q22                stop it, kill it, run it again
  nqueens estimate 22                           how long that takes here
  nqueens table 1-16                            Q(1) to Q(16), checked with OEIS
  nqueens list 8 --fundamental --style unicode  the twelve boards
  nqueens count 27 --shard 0/300 --journal q27  one of 300 shards
  nqueens merge q27                             adds the shards up";

/// The only list of commands, in the order of the help.
#[derive(Debug, Subcommand)]
enum Command {
    Count(count::CountArgs),
    Table(table::TableArgs),
    List(list::ListArgs),
    Compare(compare::CompareArgs),
    Estimate(estimate::EstimateArgs),
    Merge(merge::MergeArgs),
    Status(status::StatusArgs),
    Verify(verify::VerifyArgs),
    Unit(unit::UnitArgs),
    Cpu(cpu::CpuArgs),
    Completions(generate::CompletionsArgs),
    Man(generate::ManArgs),
}

impl Command {
    fn run(self) -> Result<Exit, Failure> {
        match self {
            Self::Count(args) => args.run(),
            Self::Table(args) => args.run(),
            Self::List(args) => args.run(),
            Self::Compare(args) => args.run(),
            Self::Estimate(args) => args.run(),
            Self::Merge(args) => on_readers(|| args.run()),
            Self::Status(args) => on_readers(|| args.run()),
            Self::Verify(args) => on_readers(|| args.run()),
            Self::Unit(args) => args.run(),
            Self::Cpu(args) => args.run(),
            Self::Completions(args) => args.run(CommandLine::command()),
            Self::Man(args) => args.run(CommandLine::command().disable_help_subcommand(true)),
        }
    }
}

/// Runs the program: parses the command line, runs the command, and waits until all messages are written.
pub fn main() -> ExitCode {
    let exit = guarded(|| run().unwrap_or_else(|failure| failure.report()));
    stderr::finish(exit);
    ExitCode::from(exit as u8)
}

/// Parses the command line and runs the command. Help and version are answers too.
fn run() -> Result<Exit, Failure> {
    signals::survive_file_size_limit();
    signals::end_first_process();
    session::share_one_heap();
    match CommandLine::try_parse() {
        Ok(line) => {
            // A wrong value is an error of every command, before it begins.
            stated_memory()?;
            line.command.run()
        }
        // Also the short help for a command line without arguments. If nobody can be told, the exit code says enough.
        Err(error) if error.use_stderr() => {
            let _ = explained(printable(error, env::args_os())).print();
            Ok(Exit::Usage)
        }
        // Help or version that was asked for.
        Err(help) => Ok(print_help(&help)),
    }
}

/// Returns the parser's error for these arguments with everything escaped that a terminal would obey, because the error
/// repeats arguments.
fn printable(error: clap::Error, arguments: impl Iterator<Item = OsString>) -> clap::Error {
    let arguments = arguments.map(|argument| escaped(argument.display()));
    match CommandLine::try_parse_from(arguments) {
        Err(printable) => printable,
        // The escaped arguments make sense, for example because they name a folder that exists.
        Ok(_) => CommandLine::command().error(error.kind(), escaped(error)),
    }
}

/// What people write in place of a command, with the advice for it. The parser would suggest the command whose name is
/// spelt most similarly.
const OTHER_WORDS: [(&str, &str); 6] = [
    ("resume", "'nqueens count' with the same --journal resumes a count"),
    ("continue", "'nqueens count' with the same --journal resumes a count"),
    ("run", "'nqueens count' counts the solutions of a board"),
    ("start", "'nqueens count' counts the solutions of a board"),
    ("combine", "'nqueens merge' adds up the journals of a count"),
    ("version", "'nqueens --version' prints the version"),
];

/// Corrects the advice of the parser where we know better what is meant.
fn explained(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        // The parser advises to pass a wrong option as a value, but no value begins with a dash.
        error.remove(ContextKind::Suggested);
    }
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(advice) = advice_for(name)
    {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    }
    error
}

/// Returns the advice for a word in the place of a command, if we know what is meant.
fn advice_for(word: &str) -> Option<String> {
    if word.parse::<u32>().is_ok() {
        return Some(format!("'nqueens count {word}' counts the solutions of this board"));
    }
    if sizes(word).is_ok() {
        return Some(format!("'nqueens table {word}' counts the solutions of these boards"));
    }
    let (_, advice) = OTHER_WORDS.iter().find(|(other, _)| *other == word)?;
    Some((*advice).to_owned())
}

/// Prints help, and returns the exit code.
fn print_help(help: &clap::Error) -> Exit {
    match help.print() {
        Ok(()) => Exit::Done,
        Err(error) => Exit::Done.unprinted(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        CommandLine::command().debug_assert();
    }

    /// Returns the parser's message for these arguments, with our advice.
    fn message(args: &[&str]) -> String {
        let line = CommandLine::try_parse_from([&["nqueens"], args].concat());
        explained(line.expect_err("refused")).to_string()
    }

    #[test]
    fn misspelt_names_are_recognised_and_others_are_not_guessed() {
        for (args, wanted) in [
            (&["8"][..], "tip: 'nqueens count 8' counts"),
            (&["33"], "tip: 'nqueens count 33' counts"),
            (&["8-10"], "tip: 'nqueens table 8-10' counts"),
            (&["resume", "q22"], "tip: 'nqueens count' with the same --journal resumes"),
            (&["continue", "q22"], "tip: 'nqueens count' with the same --journal resumes"),
            (&["start", "20"], "tip: 'nqueens count' counts"),
            (&["combine", "q24"], "tip: 'nqueens merge' adds up"),
            (&["version"], "tip: 'nqueens --version' prints"),
            (&["cuont", "8"], "tip: a similar subcommand exists: 'count'"),
            (&["count", "8", "--thread", "2"], "tip: a similar argument exists: '--threads'"),
            (&["compare", "8", "--engine", "colours"], "a similar argument exists: '--engines'"),
            (&["count", "8", "--engine", "colour"], "tip: a similar value exists: 'colours'"),
        ] {
            let message = message(args);
            assert!(message.contains(wanted), "{args:?}: {message}");
            assert_eq!(message.matches("tip:").count(), 1, "{args:?}: {message}");
        }
        for args in [
            &["frobnicate"][..],
            &[""],
            &["8x"],
            &["count", "8", "-x"],
            &["count", "8", "--frobnicate"],
            &["list", "8", "--engines", "colours"],
        ] {
            let message = message(args);
            assert!(!message.contains("tip:"), "{args:?}: {message}");
        }
    }

    /// All examples in the help are commands that the parser takes, and every command has two.
    #[test]
    fn examples_can_be_run() {
        let program = CommandLine::command();
        let mut commands = vec![&program];
        commands.extend(program.get_subcommands().filter(|command| command.get_name() != "help"));
        for command in commands {
            let name = command.get_name();
            let help = command.get_after_help().unwrap_or_else(|| panic!("{name} has no examples"));
            let help = help.to_string();
            let mut lines = help.lines();
            assert_eq!(lines.next(), Some("Examples:"), "{name}");
            let examples: Vec<&str> = lines.collect();
            assert!(examples.len() >= 2, "{name}");
            for line in examples {
                assert!(line.chars().count() <= 80, "{line}");
                // Descriptions follow after two spaces; shells do the rest.
                let (command, _) = line.trim_start().split_once("  ").unwrap_or((line, ""));
                let (command, _) = command.split_once(['>', '|']).unwrap_or((command, ""));
                CommandLine::try_parse_from(command.split_whitespace())
                    .unwrap_or_else(|error| panic!("{line}: {error}"));
            }
        }
    }

    #[test]
    fn every_line_of_the_help_fits_80_columns() {
        let mut program = CommandLine::command().term_width(80);
        program.build();
        for command in program.get_subcommands_mut() {
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                let long = help.lines().find(|line| line.chars().count() > 80);
                assert_eq!(long, None, "{}", command.get_name());
            }
        }
    }

    #[test]
    fn the_help_names_every_engine_and_kernel() {
        let mut command = CommandLine::command();
        let count = command.find_subcommand_mut("count").expect("a subcommand");
        // Line breaks depend on the terminal's width.
        let help = count.render_long_help().to_string();
        let words: Vec<_> = help.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
        let mut names = Vec::from_iter(crate::Engine::ALL.iter().map(|engine| engine.name()));
        names.extend(crate::Kernel::NAMES);
        for name in names {
            assert!(words.contains(&name), "{name} is missing in:\n{help}");
        }
    }
}
