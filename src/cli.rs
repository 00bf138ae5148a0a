//! The command line: everything that reads arguments, prints, or exits.
//!
//! | module | holds |
//! |---|---|
//! | [`args`] | the list of commands, the parser |
//! | [`commands`] | one file for each command: its arguments, its work, its answer |
//! | [`usage`] | one line for arguments that make no sense |
//! | [`session`] | threads, signals and progress of a command that counts |
//! | [`options`] | options that several commands share |
//! | [`signals`] | signals that stop a count, or would kill the program |
//! | [`exit`] | exit codes, failures, and the answer on standard output |
//! | [`output`] | the format of everything that is printed |
//!
//! A module uses only modules listed below it.

mod args;
mod commands;
mod exit;
mod options;
mod out_of_memory;
mod output;
mod session;
mod signals;
mod usage;
mod version;

pub(crate) use args::run;
pub(crate) use exit::guarded;
pub(crate) use out_of_memory::OrExit;
