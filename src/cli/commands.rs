//! The commands: one command, one file. A struct holds the options, and its method `run` parses no text, but does the work
//! and prints the answer. What several commands share is in [`facts`] and [`merged`].

pub(crate) mod compare;
pub(crate) mod count;
pub(crate) mod cpu;
pub(crate) mod estimate;
mod facts;
pub(crate) mod generate;
pub(crate) mod list;
pub(crate) mod merge;
mod merged;
pub(crate) mod status;
pub(crate) mod table;
pub(crate) mod unit;
pub(crate) mod verify;
