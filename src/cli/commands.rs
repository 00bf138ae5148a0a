//! The commands: one command, one file. A struct holds the options, and its method `run` parses no text, but does the
//! work and prints the answer. What the commands on journals share is in [`journals`].

pub(crate) mod compare;
pub(crate) mod count;
pub(crate) mod cpu;
pub(crate) mod estimate;
pub(crate) mod generate;
mod journals;
pub(crate) mod list;
pub(crate) mod merge;
pub(crate) mod status;
pub(crate) mod table;
pub(crate) mod unit;
pub(crate) mod verify;
