//! The options that several commands share.

use clap::{Args, ValueEnum};
use nqueens::SplitRows;

use crate::cli::bytes::Bytes;

/// How to count.
#[derive(Debug, Args)]
pub(in crate::cli) struct HowArgs {
    /// Engine that counts: auto, permutation, board-scan, column-array, bool-arrays, bitmask,
    /// subtrees or halves
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(in crate::cli) engine: String,

    /// Rows in a prefix of engine subtrees, 1 to 4 [default: enough for 30 units a thread]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    pub(in crate::cli) split_rows: Option<SplitRows>,

    /// Memory that the count may use, for example 4G, besides a few megabytes for the program and
    /// its threads' stacks [default: three quarters of what is available]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(in crate::cli) memory: Option<Bytes>,

    /// Do not count a few units twice, in two ways, to find out faults of the machine
    #[arg(long)]
    pub(in crate::cli) no_self_check: bool,

    #[command(flatten)]
    pub(in crate::cli) machine: MachineArgs,
}

/// What to use of the machine, and when to show progress.
#[derive(Debug, Args)]
pub(in crate::cli) struct MachineArgs {
    /// Threads; without it NQUEENS_THREADS, SLURM_CPUS_PER_TASK, or all cores that this process
    /// may use
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(in crate::cli) threads: Option<String>,

    /// Vector instructions to use: auto, portable, avx2 or avx512
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(in crate::cli) kernel: String,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(in crate::cli) progress: ProgressWhen,
}

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ProgressWhen {
    /// Not at all
    Never,
    /// As a bar, if standard error is a terminal
    Auto,
    /// As a bar on a terminal, as lines elsewhere
    Always,
}
