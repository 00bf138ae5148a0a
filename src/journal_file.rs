//! The files of journals: their names, their lines, how they are read, and how a process writes its own.
//!
//! What several journals hold together is a [`Record`](crate::record::Record), and the documentation of
//! [`record`](crate::record) describes the format.

mod first_line;
mod line;
mod names;
mod read;
mod run;
mod write;

pub(crate) use first_line::{FirstLine, Wanted};
pub(crate) use names::{journal_names, journals_in, parse_file_name, this_host};
pub(crate) use read::{DoneLine, FileRead, JournalFile, Reading, read_journal};
pub use run::Run;
pub(crate) use write::{Journal, is_being_written};
