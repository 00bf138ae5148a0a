//! The command line: everything that reads arguments, prints, or exits.
//!
//! `args` (clap) -> `options` (checked) -> one module for each subcommand -> `report` (text, CSV,
//! JSON) and `progress` (the bar).

mod answer;
mod args;
mod array;
mod bytes;
mod commands;
mod count;
mod cpu;
mod estimate;
mod exit;
mod fields;
mod generated;
mod list;
mod machine;
mod merge;
mod options;
mod out_of_memory;
mod output;
mod progress;
mod record;
mod remaining;
mod report;
mod salvage;
mod shard;
mod signals;
mod sizes;
mod status;
mod table;
mod talk;
mod ticker;
mod verify;
mod version;

pub(crate) use exit::{Exit, Failure, guarded};
pub(crate) use options::Options;
pub(crate) use out_of_memory::OrExit;

/// Runs the subcommand.
pub(crate) fn run(options: Options) -> Result<Exit, Failure> {
    match options {
        Options::Count(options) => count::run(&options),
        Options::Table(options) => table::run(&options),
        Options::Estimate(options) => estimate::run(&options),
        Options::List(options) => list::run(&options),
        Options::Compare(options) => options.run(),
        Options::Shard(options) => shard::run(&options),
        Options::Merge(options) => merge::run(&options),
        Options::Status(options) => status::run(&options),
        Options::Verify(options) => verify::run(&options),
        Options::Salvage(options) => salvage::run(options),
        Options::Cpu(options) => cpu::run(&options),
        Options::Completions(shell) => generated::completions(shell),
        Options::Man => generated::man(),
    }
}
