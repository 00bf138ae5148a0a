//! The list of commands, and the parser. Doc comments of commands and options are the help texts.
//!
//! # How to add a command
//!
//! 1. Write `commands/NAME.rs`: a struct that derives [`clap::Args`] and parses into the library's
//!    types, its method `run(self) -> Result<Exit, Failure>`, its report and its tests. Options that
//!    other commands have as well stand in `options.rs`.
//! 2. Add a line to `commands.rs`, a variant to [`Command`] and a line to [`Command::run`].
//! 3. Add its help to `tests/cmd/help.trycmd`: an empty block, then
//!    `TRYCMD=overwrite cargo test --test cli the_help`.
//! 4. Describe the fields of its JSON in `docs/JSON.md`.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use super::commands::compare::CompareArgs;
use super::commands::completions::CompletionsArgs;
use super::commands::count::CountArgs;
use super::commands::cpu::CpuArgs;
use super::commands::estimate::EstimateArgs;
use super::commands::list::ListArgs;
use super::commands::man::ManArgs;
use super::commands::merge::MergeArgs;
use super::commands::salvage::SalvageArgs;
use super::commands::shard::ShardArgs;
use super::commands::status::StatusArgs;
use super::commands::table::TableArgs;
use super::commands::verify::VerifyArgs;
use super::exit::{Exit, Failure};
use super::version;

/// Counts the solutions of the n-queens problem exactly, on all cores.
///
/// The answer goes to standard output, everything else to standard error. Exit codes: 0 done;
/// 1 a result that differs, a damaged record, or a fault; 2 wrong usage; 3 stopped or not complete,
/// the same command resumes the count; 4 not here and now: memory, threads or a file that is in use.
#[derive(Debug, Parser)]
#[command(
    version = version::SHORT,
    long_version = version::long(),
    max_term_width = 100,
    after_long_help = EXAMPLES
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  nqueens count 18                            the number of solutions, on all cores
  nqueens count 22 --journal q22.journal      a long count: stop it, kill it, run it again
  nqueens estimate 22                         how long that takes here
  nqueens table 1..=16                        the published table, reproduced
  nqueens list 8 --fundamental --style board  the twelve boards
  nqueens shard 24 --index 0 --shards 100 --out q24; nqueens merge q24";

/// The only list of commands, in the order of the help.
#[derive(Debug, Subcommand)]
enum Command {
    Count(CountArgs),
    Table(TableArgs),
    List(ListArgs),
    Compare(CompareArgs),
    Estimate(EstimateArgs),
    Shard(ShardArgs),
    Merge(MergeArgs),
    Status(StatusArgs),
    Verify(VerifyArgs),
    Salvage(SalvageArgs),
    Cpu(CpuArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

impl Command {
    fn run(self) -> Result<Exit, Failure> {
        match self {
            Self::Count(args) => args.run(),
            Self::Table(args) => args.run(),
            Self::List(args) => args.run(),
            Self::Compare(args) => args.run(),
            Self::Estimate(args) => args.run(),
            Self::Shard(args) => args.run(),
            Self::Merge(args) => args.run(),
            Self::Status(args) => args.run(),
            Self::Verify(args) => args.run(),
            Self::Salvage(args) => args.run(),
            Self::Cpu(args) => args.run(),
            Self::Completions(args) => args.run(CommandLine::command()),
            Self::Man(args) => args.run(CommandLine::command()),
        }
    }
}

/// Parses the command line and runs the command. Help and version are answers as well.
pub(crate) fn run() -> Result<Exit, Failure> {
    match CommandLine::try_parse() {
        Ok(line) => line.command.run(),
        Err(help) if matches!(help.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            help.print()?;
            Ok(Exit::Done)
        }
        Err(error) => Err(Failure::Usage(one_line(&error))),
    }
}

/// clap's message as one line.
fn one_line(error: &clap::Error) -> String {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    if matches!(error.kind(), MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand) {
        return "no command given; try 'nqueens count 16' or 'nqueens --help'".to_owned();
    }
    let text = error.render().to_string();
    // The reason comes first, then hints, the usage and a pointer to the help.
    let reason: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let reason = reason.join(" ");
    let reason = reason.strip_prefix("error: ").unwrap_or(&reason);
    format!("{reason}; see 'nqueens --help'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_help_names_every_engine_and_kernel() {
        let mut command = CommandLine::command();
        let count = command.find_subcommand_mut("count").expect("a subcommand");
        // Line breaks depend on the terminal's width.
        let help = count.render_long_help().to_string();
        let words: Vec<_> = help.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
        for name in nqueens::Engine::names().iter().chain(&nqueens::Kernel::NAMES) {
            assert!(words.contains(name), "{name} is missing in:\n{help}");
        }
    }
}
