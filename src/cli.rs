//! The command line: everything that reads arguments, prints, or exits.
//!
//! | module | holds |
//! |---|---|
//! | [`args`] | the list of commands, the parser, its errors |
//! | [`commands`] | one file a command: its arguments, what it does, its answer |
//! | [`session`] | threads, signals and progress of a command that counts |
//! | [`options`] | options that several commands share |
//! | [`exit`] | exit codes, failures, and the answer on standard output |
//! | [`output`] | how all that is printed looks |
//!
//! A module uses only what stands below it.

mod args;
mod commands;
mod exit;
mod options;
mod out_of_memory;
mod output;
mod session;
mod signals;
mod version;

pub(crate) use args::run;
pub(crate) use exit::guarded;
pub(crate) use out_of_memory::OrExit;
