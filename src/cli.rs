//! The command line: everything that reads arguments, prints, or exits. One command, one file.
//!
//! The list of commands, and the parser, are here. Doc comments of commands and options are the help
//! texts.
//!
//! CONTRIBUTING.md has a recipe for adding a command.

mod advice;
mod args;
mod commands;
mod exit;
mod failure;
mod files;
mod memory;
mod print;
mod progress;
mod quote;
mod session;
mod signals;
mod stderr;
mod values;
mod warnings;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::{BoardSize, Square};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use commands::{compare, count, cpu, estimate, generate, list, merge, status, table, unit, verify};
use exit::Exit;
use failure::{Failure, guarded};
use memory::stated_memory;
use quote::escaped;
use session::on_readers;
use values::sizes;

/// Counts the solutions of the n-queens problem exactly, on all CPUs.
#[derive(Debug, Parser)]
#[command(
    name = "nqueens",
    version,
    long_about = long_about(),
    args_override_self = true,
    long_version = format!("{}, commit {}", crate::version::VERSION, crate::version::COMMIT),
    max_term_width = 100,
    after_help = EXAMPLES
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// Returns what the long help says before it lists the commands.
fn long_about() -> String {
    let mut text = "Counts the solutions of the n-queens problem exactly, on all CPUs.\n\n\
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
    stderr::hide();
    ExitCode::from(exit as u8)
}

/// Parses the command line and runs the command. Help and version are answers too.
fn run() -> Result<Exit, Failure> {
    signals::survive_file_size_limit();
    session::share_one_heap();
    match CommandLine::try_parse() {
        Ok(line) => {
            // A wrong value is an error of every command, before it begins.
            stated_memory()?;
            line.command.run()
        }
        // Also the short help for a command line without arguments.
        Err(error) if error.use_stderr() => {
            let words = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
            print_wrong_usage(&with_tip(error, &words.collect::<Vec<_>>()));
            Ok(Exit::Usage)
        }
        // Help or version that was asked for.
        Err(help) => {
            help.print()?;
            Ok(Exit::Done)
        }
    }
}

/// Prints the message for a wrong command line. The message repeats arguments, so whatever a terminal would obey is
/// escaped. If nobody can be told, the exit code says enough.
fn print_wrong_usage(error: &clap::Error) {
    let lines: Vec<String> = error.to_string().lines().map(escaped).collect();
    let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
}

/// Adds our tip to an error of the parser, in place of what the parser would suggest.
fn with_tip(mut error: clap::Error, words: &[String]) -> clap::Error {
    let refused = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument,
        _ => "",
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let tip = tip(&words, refused);
    if error.kind() == ErrorKind::UnknownArgument {
        // The parser advises to pass a wrong option as a value, but no value begins with a dash.
        error.remove(ContextKind::Suggested);
    }
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        // It repeats what the parser would suggest.
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Returns the tip for a mistake that people often make. `refused` is the argument or option that the parser refuses,
/// and is empty if it refuses the command.
fn tip(words: &[&str], refused: &str) -> Option<String> {
    let is_board = |text: &str| text.parse::<BoardSize>().is_ok();
    let are_boards = |text: &str| text.split(',').all(|part| sizes(part).is_ok());
    let is_square = |text: &str| text.parse::<Square>().is_ok();
    let tip = match (words, refused) {
        ([n, ..], "") if is_board(n) => format!("write 'nqueens count {n}'"),
        ([boards, ..], "") if are_boards(boards) => format!("write 'nqueens table {boards}'"),
        (["count", boards, ..], "<N>") if are_boards(boards) => {
            format!("write 'nqueens table {boards}'")
        }
        (["count", n, ..], more) if are_boards(n) && are_boards(more) => {
            format!("write 'nqueens table {n},{more}'")
        }
        (["count", "-n", n, ..], "-n") => format!("write 'nqueens count {n}'"),
        (["count", ..], "--csv") => "'nqueens table' has --csv".to_owned(),
        (["count", ..], "--seconds") => "'nqueens estimate' has --seconds".to_owned(),
        (["table", ..], "--fundamental") => {
            "'nqueens table' always prints the fundamental numbers".to_owned()
        }
        (["count" | "list", ..], square) if is_square(square) => {
            "write squares with commas between them, such as --place a1,b2".to_owned()
        }
        _ => return None,
    };
    Some(tip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        CommandLine::command().debug_assert();
    }

    /// Returns the parser's message for these words.
    fn message(words: &str) -> String {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let line = CommandLine::try_parse_from([&["nqueens".to_owned()], &words[..]].concat());
        with_tip(line.expect_err("refused"), &words).to_string()
    }

    #[test]
    fn mistakes_that_people_make_get_one_tip() {
        const COMMAS: &str = "write squares with commas between them, such as --place a1,b2";
        for (words, wanted) in [
            ("8", "write 'nqueens count 8'"),
            ("8-10", "write 'nqueens table 8-10'"),
            ("8,10", "write 'nqueens table 8,10'"),
            ("count 10-12", "write 'nqueens table 10-12'"),
            ("count 8,9 --json", "write 'nqueens table 8,9'"),
            ("count 8 9", "write 'nqueens table 8,9'"),
            ("count -n 8", "write 'nqueens count 8'"),
            ("count 8 --csv", "'nqueens table' has --csv"),
            ("count --seconds 10 20", "'nqueens estimate' has --seconds"),
            ("count 20 --seconds=10", "'nqueens estimate' has --seconds"),
            ("table 8 --fundamental", "'nqueens table' always prints the fundamental numbers"),
            ("list 8 --place a1 b2", COMMAS),
            ("count 8 --place a1 b2", COMMAS),
            // Tips of the parser.
            ("cuont 8", "a similar subcommand exists: 'count'"),
            ("count 8 --thread 2", "a similar argument exists: '--threads'"),
            ("compare 8 --engine colours", "a similar argument exists: '--engines'"),
            ("count 8 --engine colour", "a similar value exists: 'colours'"),
        ] {
            let message = message(words);
            let tips: Vec<&str> = message.lines().filter(|line| line.contains("tip:")).collect();
            assert_eq!(tips, [format!("  tip: {wanted}")], "{words}: {message}");
        }
    }

    #[test]
    fn other_mistakes_get_no_tip_that_does_not_fit() {
        for words in [
            "frobnicate",
            "33",
            "8x",
            "count 33",
            "count 8 --threads 8-9",
            "count 8 --frobnicate",
            "list 8 --block a1",
            "table 9-3",
        ] {
            let message = message(words);
            assert!(!message.contains("tip:"), "{words}: {message}");
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
                let command = command.replace('~', "/home/user");
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
