//! The command line: everything that reads arguments, prints, or exits. One command, one file.

mod args;
mod compare;
mod completions;
mod count;
mod cpu;
mod date;
mod estimate;
mod exit;
mod file;
mod format;
mod html;
mod list;
mod man;
mod merge;
mod options;
mod out_of_memory;
mod plot;
mod progress;
mod report;
mod rows;
mod salvage;
mod session;
mod shard;
mod signals;
mod status;
mod stderr;
mod stdout;
mod table;
mod timings;
mod usage;
mod verify;
mod version;

pub(crate) use args::run;
pub(crate) use exit::guarded;
pub(crate) use out_of_memory::OrExit;
