//! Options that several commands share, parsed into the library's types.

mod environment;
mod journals;
mod names;
mod values;

use clap::Args;
use nqueens::{BoardSize, Count, Engine, Kernel, Pass, SplitRows};

use super::exit::Failure;
use super::progress::ProgressWhen;
use super::session::Session;
use super::stderr::message;
pub(crate) use environment::{ARRAY_INDEX, THREADS, default_threads, shard};
pub(crate) use journals::{Journals, JournalsArgs, MissingShards};
pub(crate) use names::{Engines, engine_or_auto, engines_or_all, kernel_or_auto};
pub(crate) use values::{bytes, file, number_of_shards, number_of_threads, sizes, whole_number};

/// `None` for `auto`. The alias keeps clap from taking the field for an option without a default.
pub(crate) type OrAuto<T> = Option<T>;

/// How to count.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Engine that counts
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = engine_or_auto())]
    pub(crate) engine: OrAuto<Engine>,

    /// Rows in a prefix of engine subtrees, 1 to 4 [default: enough for 30 units a thread]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    pub(crate) split_rows: Option<SplitRows>,

    /// Memory that the count may use, for example 4G, besides a few megabytes for the program and
    /// its threads' stacks [default: three quarters of what is available]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = bytes)]
    pub(crate) memory: Option<u64>,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// What to use of the machine, and when to show progress.
#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// Threads; without it NQUEENS_THREADS, SLURM_CPUS_PER_TASK, or all cores that this process
    /// may use
    #[arg(long, short, value_name = "T", allow_negative_numbers = true)]
    #[arg(value_parser = number_of_threads)]
    pub(crate) threads: Option<usize>,

    /// Vector instructions to use
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = kernel_or_auto())]
    pub(crate) kernel: OrAuto<Kernel>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: ProgressWhen,
}

/// What `--second` asks for.
pub(crate) fn pass(second: bool) -> Pass {
    if second { Pass::Second } else { Pass::First }
}

impl EngineArgs {
    /// A count with these settings. Its threads, its observer and its end are the session's.
    pub(crate) fn count(&self, size: BoardSize) -> Count<'static> {
        let mut count = Count::new(size);
        if let Some(engine) = self.engine {
            warn_if_slow(engine, size);
            count = count.engine(engine);
        }
        if let Some(kernel) = self.machine.kernel {
            count = count.kernel(kernel);
        }
        if let Some(split_rows) = self.split_rows {
            count = count.split_rows(split_rows);
        }
        if let Some(bytes) = self.memory {
            count = count.memory(bytes);
        }
        count
    }

    /// A session for such counts; it warns of options without effect.
    pub(crate) fn session(&self) -> Result<Session, Failure> {
        if let Some(engine) = self.engine {
            if self.split_rows.is_some() && engine != Engine::Subtrees {
                message!("warning: --split-rows has no effect on engine {engine}");
            }
            if self.machine.kernel.is_some() && !engine.has_kernels() {
                message!("warning: --kernel has no effect on engine {engine}");
            }
        }
        Session::new(&self.machine)
    }
}

impl MachineArgs {
    /// The threads to start.
    pub(crate) fn threads(&self) -> Result<usize, Failure> {
        self.threads.map_or_else(default_threads, Ok)
    }
}

/// A textbook engine may take very long.
fn warn_if_slow(engine: Engine, size: BoardSize) {
    if let Some(largest) = engine.largest_sensible().filter(|largest| size.get() > *largest) {
        message!(
            "warning: engine {engine} is sensible up to n = {largest}; \
             n = {size} may take very long, --engine auto is faster"
        );
    }
}
