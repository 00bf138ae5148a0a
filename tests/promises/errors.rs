//! Promise: an error of the library says what it is about, and hands on the error of the operating system. The
//! documentation of `nqueens::Error` and of `nqueens::journal::JournalError` makes this promise.

use std::error::Error as StdError;
use std::fs;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};

use nqueens::journal::{JournalError, JournalErrorKind, Records};
use nqueens::{BoardSize, Error};

use crate::common::{fresh_folder, journal_error};

/// The kind of the error of the operating system that is the source of this error.
fn kind_of_source(error: &dyn StdError) -> Option<io::ErrorKind> {
    Some(error.source()?.downcast_ref::<io::Error>()?.kind())
}

#[test]
fn the_source_is_the_error_of_the_operating_system() {
    let folder = fresh_folder("errors-source");
    let path = folder.join("part").join("q.journal");
    let read = || Records::read(&[&path]).expect_err("there is no such file");
    let missing = read();
    assert_eq!(kind_of_source(&missing), Some(io::ErrorKind::NotFound));
    let error = journal_error(Err::<(), _>(missing.clone()));
    assert_eq!((error.kind(), error.path()), (JournalErrorKind::Io, &*path));
    assert_eq!(kind_of_source(&error), Some(io::ErrorKind::NotFound));

    // Errors can be compared, and whatever the system says is a part of them.
    assert_eq!(read(), missing);
    fs::write(folder.join("part"), "a file in place of the folder\n").expect("room");
    let in_file = read();
    assert_eq!(kind_of_source(&in_file), Some(io::ErrorKind::NotADirectory));
    assert_ne!(in_file, missing);

    // The system has refused nothing here.
    let no_journal = Records::read(&[folder.join("part")]).expect_err("it is no journal");
    let error = journal_error(Err::<(), _>(no_journal.clone()));
    assert_eq!(error.kind(), JournalErrorKind::NotAJournal);
    assert!(no_journal.source().is_none() && error.source().is_none(), "{no_journal:?}");
}

#[test]
fn an_invalid_value_is_named() {
    let refused = BoardSize::new(33).expect_err("too large");
    let text = refused.to_string();
    let Error::InvalidValue { given, message, .. } = refused else { panic!("{refused:?}") };
    assert_eq!((&*given, &message), ("33", &text));
    assert!(message.starts_with("'33' is not a board size: "), "{message}");
}

/// They may be sent to other threads, and pass the end of a thread that has panicked.
#[test]
fn errors_may_go_wherever_a_program_sends_them() {
    fn goes_everywhere<T: Send + Sync + UnwindSafe + RefUnwindSafe + 'static>() {}
    goes_everywhere::<Error>();
    goes_everywhere::<JournalError>();
}
