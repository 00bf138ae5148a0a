//! The file of a journal: its lines, how they are read and written, and what they ask of the file system.
//!
//! What several journals hold together is a [`Record`](crate::record::Record), and the documentation of
//! [`record`](crate::record) describes the format.

mod disk;
mod first_line;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod line;
mod lock;
mod names;
mod reader;
mod run;
mod sync;
mod writer;

pub(crate) use disk::{drop_cache, is_being_written, open};
pub(crate) use first_line::{FirstLine, Wanted};
pub(crate) use lock::{LockedJournal, create_in};
pub use names::journals_in;
pub(crate) use names::{journal_names, parse_file_name};
pub use reader::JournalFile;
pub(crate) use reader::{DoneLine, Found, Reading};
pub use run::Run;
pub(crate) use writer::Journal;
