//! Everything that can go wrong in a count.

mod journal;
mod shortage;

use std::path::PathBuf;

pub use journal::{IoError, JournalError};
pub use shortage::Shortage;

/// Why a count could not start or finish.
///
/// Each message names the value, the limit and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The board size is out of range.
    #[error("'{given}' is not a board size: choose a whole number from 0 to {max}")]
    SizeOutOfRange {
        /// What was asked for.
        given: String,
        /// The largest board.
        max: u32,
    },

    /// No engine has this name.
    #[error("unknown engine '{given}': choose one of {choices}")]
    UnknownEngine {
        /// What was asked for.
        given: String,
        /// The names of all engines.
        choices: String,
    },

    /// No kernel has this name.
    #[error("unknown kernel '{given}': choose one of {choices}")]
    UnknownKernel {
        /// What was asked for.
        given: String,
        /// The names of all kernels.
        choices: String,
    },

    /// The kernel exists, but this CPU lacks its instructions.
    #[error("this CPU cannot run the kernel '{name}': choose one of {choices}")]
    KernelUnavailable {
        /// The kernel's name.
        name: &'static str,
        /// The names of the kernels that this CPU can run.
        choices: String,
    },

    /// The number of rows in a prefix is out of range.
    #[error("'{given}' rows cannot be split off: choose a whole number from {min} to {max}")]
    SplitRowsOutOfRange {
        /// What was asked for.
        given: String,
        /// The fewest rows.
        min: u32,
        /// The most rows.
        max: u32,
    },

    /// The number of threads is out of range.
    #[error("'{given}' is not a number of threads: choose a whole number from 1 to {max}")]
    ThreadsOutOfRange {
        /// What was asked for.
        given: String,
        /// The most threads.
        max: usize,
    },

    /// The operating system refused to start the threads.
    #[error("cannot start {threads} threads: {reason}; ask for fewer")]
    ThreadsNotStarted {
        /// How many were asked for.
        threads: usize,
        /// The operating system's reason, and the limit that was reached, if known.
        reason: String,
    },

    /// The text is not the name of a square.
    #[error(
        "'{given}' is not a square: write d5 (column and row) or 5:4 (row and column), counted \
         from 1"
    )]
    NoSquare {
        /// What was asked for.
        given: String,
    },

    /// A given queen is off the board.
    #[error("the square {square} is not on a board of {n} rows and columns: choose 1 to {n}")]
    SquareOffBoard {
        /// The square.
        square: String,
        /// The size of the board.
        n: u32,
    },

    /// Two given queens attack each other.
    #[error("queens on {first} and {second} attack each other: choose others")]
    SquaresClash {
        /// The square of one queen.
        first: String,
        /// The square of the other queen.
        second: String,
    },

    /// Queens were given for a count that does not allow them.
    #[error(
        "given queens work only with engine subtrees, and without a journal, shards and estimates: \
         leave out the queens or the rest"
    )]
    QueensGiven,

    /// The engine has no second count.
    #[error(
        "engine {engine} has no second count (--second): choose engine subtrees or halves, or leave \
         --second out"
    )]
    NoSecondCount {
        /// The engine.
        engine: &'static str,
    },

    /// A plan has no such shard.
    #[error(
        "there is no shard {index} of {shards}: choose 1 to {most} shards and an index from 0 to \
         one less"
    )]
    ShardOutOfRange {
        /// The shard that was asked for.
        index: usize,
        /// The number of shards.
        shards: usize,
        /// The most shards.
        most: usize,
    },

    /// A unit's count passed `u64::MAX`.
    #[error("the count of unit {unit} does not fit in 64 bits: split off more rows")]
    UnitOverflow {
        /// The unit's number in its plan.
        unit: usize,
    },

    /// The count was cancelled before its end.
    #[error(
        "stopped after {done} of {units} units, {solutions} solutions so far{}",
        journal_fault.as_ref().map(|fault| format!("; {fault}")).unwrap_or_default()
    )]
    Stopped {
        /// Units finished.
        done: usize,
        /// Units in the plan.
        units: usize,
        /// Solutions in the finished units, with their weights.
        solutions: u128,
        /// What happened to the journal, if another process changed it: records are elsewhere.
        journal_fault: Option<Box<Self>>,
    },

    /// A single unit was cancelled.
    #[error("stopped before the end of unit {unit}")]
    UnitStopped {
        /// The unit's number in its plan.
        unit: usize,
    },

    /// The count was cancelled before its first unit.
    #[error("stopped while preparing the count")]
    PreparationStopped,

    /// The sample for an estimate was cancelled before it said anything.
    #[error("stopped before the sample was large enough")]
    SampleStopped,

    /// The count needs more memory than it may use.
    #[error("{0}")]
    MemoryBudget(Shortage),

    /// The search for symmetric solutions was cancelled before its end.
    #[error("stopped while counting the symmetric solutions")]
    SymmetryStopped,

    /// Burnside's sum is not a multiple of eight, so one of its three counts is wrong.
    #[error(
        "Q({n}) = {total} cannot be right: with the symmetric solutions it does not sum to a \
         multiple of 8"
    )]
    Inconsistent {
        /// The board size.
        n: u32,
        /// The computed total.
        total: u128,
    },

    /// A journal cannot be used.
    #[error("{}: {error}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        error: JournalError,
    },

    /// Two ways of counting a unit gave different counts.
    #[error(
        "engine {engine} counts {counted} in unit {unit}, {recounted_by} counts {recounted}: this \
         machine or this program is faulty; test its memory, and verify what it counted before"
    )]
    UnitsDiffer {
        /// The unit's number in its plan.
        unit: usize,
        /// The plan's engine.
        engine: &'static str,
        /// Its count.
        counted: u64,
        /// The other method.
        recounted_by: &'static str,
        /// Its count.
        recounted: u64,
    },

    /// The journals to be merged belong to different plans.
    #[error(
        "{} holds {second_plan}, and {} holds {first_plan}: merge only journals of one plan",
        second.display(),
        first.display()
    )]
    PlansDiffer {
        /// A file.
        first: PathBuf,
        /// Its plan.
        first_plan: String,
        /// Another file.
        second: PathBuf,
        /// Its plan.
        second_plan: String,
    },

    /// The journals to be merged hold both counts of one plan.
    #[error(
        "{} is of the first count and {} of the second: name the journals of one of them; those of \
         second counts are called n{n}-second-*.journal",
        first.display(),
        second.display()
    )]
    PassesDiffer {
        /// The size of the board.
        n: u32,
        /// A journal of the first count.
        first: PathBuf,
        /// A journal of the second count.
        second: PathBuf,
    },

    /// The journals to be merged hold different counts for one unit.
    #[error(
        "unit {unit} has the count {first_count} in {} and {second_count} in {}: one of the two \
         machines is faulty; find out which with 'nqueens verify' and remove its files",
        first.display(),
        second.display()
    )]
    CountsDiffer {
        /// The unit's number in the plan.
        unit: usize,
        /// A file.
        first: PathBuf,
        /// Its count, before its weight.
        first_count: u64,
        /// Another file.
        second: PathBuf,
        /// Its count.
        second_count: u64,
    },
}

impl Error {
    /// Whether the count was cancelled: nothing went wrong.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(
            self,
            Self::Stopped { .. }
                | Self::UnitStopped { .. }
                | Self::PreparationStopped
                | Self::SampleStopped
                | Self::SymmetryStopped
        )
    }
}
