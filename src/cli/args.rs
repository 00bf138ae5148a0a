//! The arguments as clap sees them. The doc comments are the help texts.

mod how;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use nqueens::BoardSize;

use super::commands::compare::CompareArgs;
use super::salvage::SalvageArgs;
use super::sizes::Sizes;
use super::version;
pub(super) use how::{HowArgs, MachineArgs, ProgressWhen};

/// Counts the solutions of the n-queens problem exactly, on all cores.
///
/// The answer goes to standard output, everything else to standard error. Exit codes: 0 done;
/// 1 a result that differs, a damaged record, or a fault; 2 wrong usage; 3 stopped or not complete,
/// the same command goes on; 4 not here and now: memory, threads or a file that is in use.
#[derive(Debug, Parser)]
#[command(
    version = version::SHORT,
    long_version = version::long(),
    max_term_width = 100,
    disable_help_subcommand = true,
    after_long_help = EXAMPLES
)]
pub(super) struct CommandLine {
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  nqueens count 18                            the number of solutions, on all cores
  nqueens count 22 --journal q22.journal      a long count: stop it, kill it, run it again
  nqueens estimate 22                         how long that takes here
  nqueens table 1..=16                        the published table, reproduced
  nqueens list 8 --fundamental --style board  the twelve boards
  nqueens shard 24 --index 0 --of 100 --out q24; nqueens merge q24";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Count the solutions of one board
    Count(CountArgs),
    /// Count a range of boards and compare them with the published table
    Table(TableArgs),
    /// Estimate, from random units, how long a count would take on this machine
    Estimate(EstimateArgs),
    /// Print the placements themselves, in lexicographic order, one by one
    List(ListArgs),
    Compare(CompareArgs),
    /// Count one part of a board's units, for a cluster
    Shard(ShardArgs),
    /// Add up the parts: the total, if no unit is missing
    Merge(MergeArgs),
    /// Show how far the parts have come
    Status(StatusArgs),
    /// Check journals: recount some of their units in another way
    Verify(VerifyArgs),
    /// Copy the good lines of a damaged journal to a new one
    Salvage(SalvageArgs),
    /// Show what the program sees of this machine
    Cpu(CpuArgs),
    /// Print completions for a shell
    ///
    /// bash: nqueens completions bash > ~/.local/share/bash-completion/completions/nqueens
    ///
    /// zsh: nqueens completions zsh > a folder of $fpath/_nqueens
    ///
    /// fish: nqueens completions fish > ~/.config/fish/completions/nqueens.fish
    #[command(verbatim_doc_comment)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page: nqueens man | man -l -
    Man,
}

#[derive(Debug, Args)]
pub(super) struct CountArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    pub(super) n: BoardSize,

    /// Also count the solutions up to rotation and reflection
    #[arg(long)]
    pub(super) fundamental: bool,

    #[command(flatten)]
    pub(super) how: HowArgs,

    /// Fix queens in advance, with engine subtrees: squares as in chess (a1,d5: column and row) or as
    /// row:column
    #[arg(
        long,
        value_name = "SQUARES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with_all = ["fundamental", "journal"]
    )]
    pub(super) place: Vec<String>,

    /// Record finished units in FILE; the same command goes on where it was stopped or killed
    #[arg(long, value_name = "FILE")]
    pub(super) journal: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,

    /// Print the bare number (with --fundamental: the total, then the fundamental number)
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct TableArgs {
    /// Boards to count: FIRST..=LAST, or one size
    #[arg(value_name = "FIRST..=LAST", default_value = "1..=16", allow_hyphen_values = true)]
    pub(super) sizes: Sizes,

    #[command(flatten)]
    pub(super) how: HowArgs,

    /// Print comma-separated values with a header line
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct EstimateArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    pub(super) n: BoardSize,

    /// Count random units for so many seconds
    #[arg(long, value_name = "S", default_value = "10", allow_negative_numbers = true)]
    pub(super) seconds: f64,

    /// Draw the same units again: the number that an earlier estimate printed
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    pub(super) seed: Option<u64>,

    #[command(flatten)]
    pub(super) how: HowArgs,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Size of the board, 0 to 32; larger ones, up to 1000000, with --limit 1
    #[arg(allow_negative_numbers = true)]
    pub(super) n: String,

    /// How a placement is written
    #[arg(long, value_name = "STYLE", default_value = "columns")]
    pub(super) style: ListStyle,

    /// Print at most K placements
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(super) limit: Option<u64>,

    /// Print one placement of each class under rotation and reflection, the smallest, with the
    /// size of its class: 1, 2, 4 or 8
    #[arg(long)]
    pub(super) fundamental: bool,

    /// Begin after this placement: its columns, from 1, as style columns prints them
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true)]
    pub(super) from_columns: Option<String>,

    /// Fix queens in advance: squares as in chess (a1,d5: column and row) or as row:column
    #[arg(long, value_name = "SQUARES", value_delimiter = ',', allow_hyphen_values = true)]
    pub(super) place: Vec<String>,

    /// Print one JSON object a line
    #[arg(long, conflicts_with = "style")]
    pub(super) json: bool,
}

/// How a placement is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ListStyle {
    /// A line of columns, from 1, one for each row
    Columns,
    /// Q and #, a line for each row
    Board,
    /// A chequered board with chess queens
    Unicode,
    /// One picture of all boards
    Svg,
}

#[derive(Debug, Args)]
pub(super) struct ShardArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    pub(super) n: BoardSize,

    /// Which part, from 0; without it SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, JOB_COMPLETION_INDEX,
    /// AWS_BATCH_JOB_ARRAY_INDEX or HQ_TASK_ID, or one less than SGE_TASK_ID or LSB_JOBINDEX
    #[arg(long, value_name = "I", allow_negative_numbers = true)]
    pub(super) index: Option<String>,

    /// How many parts there are
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(super) of: String,

    /// Folder for the journals of all parts, on a file system that all machines share; or, if it
    /// ends in .journal, the journal of this part
    #[arg(long, value_name = "PATH")]
    pub(super) out: PathBuf,

    #[command(flatten)]
    pub(super) how: HowArgs,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    #[command(flatten)]
    pub(super) journals: JournalsArgs,

    /// Print one JSON object
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,

    /// Print the bare total
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    pub(super) journals: JournalsArgs,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Which journals.
#[derive(Debug, Args)]
pub(super) struct JournalsArgs {
    /// Journals of one plan, or folders of them
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub(super) paths: Vec<PathBuf>,

    /// How many parts there are, to name those that are missing [default: as the journals say]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(super) of: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Journals of one plan, or folders of them, finished or not, also while they are written
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub(super) paths: Vec<PathBuf>,

    /// How many units to recount, chosen at random
    #[arg(long, value_name = "K", default_value = "200", allow_negative_numbers = true)]
    pub(super) units: usize,

    /// Choose the same units again: the number that an earlier check printed
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    pub(super) seed: Option<u64>,

    #[command(flatten)]
    pub(super) machine: MachineArgs,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct CpuArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::CommandLine::command().debug_assert();
    }

    #[test]
    fn the_help_names_every_engine_and_kernel() {
        let mut command = super::CommandLine::command();
        let count = command.find_subcommand_mut("count").expect("a subcommand");
        // Line breaks depend on the terminal's width.
        let help = count.render_long_help().to_string();
        let words: Vec<_> = help.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
        for name in nqueens::Engine::names().iter().chain(&nqueens::Kernel::NAMES) {
            assert!(words.contains(name), "{name} is missing in:\n{help}");
        }
    }
}
