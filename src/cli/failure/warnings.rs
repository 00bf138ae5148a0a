//! Warnings of what journals have left out.

use std::collections::BTreeSet;
use std::path::Path;

use crate::Error;
use crate::record::{JournalError, JournalFile, Record};

use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::output::quote::quoted;
use crate::cli::output::stderr::{message, print_first};

/// Warns of what is left out because it is damaged or cannot be read. Prints no commands that take lines out, because
/// a count needs none, and because it may be writing these journals. `files` are the journals of which lines are used, if
/// they are known.
pub(crate) fn warn_of_left_out(left_out: &[Error], files: Option<&[JournalFile]>) {
    let mut warnings = Vec::new();
    for error in left_out {
        warnings.push(match error {
            Error::CountsDiffer(_) => format!("warning: left out: {error}"),
            Error::Journal { path, error: JournalError::NoPlan { .. } | JournalError::NotAJournal }
                if files.is_none_or(|files| files.iter().any(|file| file.path == *path)) =>
            {
                format!(
                    "warning: left out: line 1 of {}, which is damaged: the lines behind it are used if they belong to this \
                     count",
                    path.display()
                )
            }
            _ => format!("warning: left out: {}", Failure::from(error.clone())),
        });
    }
    print_first(warnings.into_iter());
    let mut disputed = BTreeSet::new();
    for error in left_out {
        if let Error::CountsDiffer(unit) = error {
            disputed.extend(unit.lines().iter().map(|line| quoted(&line.path)));
        }
    }
    if !disputed.is_empty() {
        let files: Vec<String> = disputed.into_iter().collect();
        let files = files.join(" ");
        message!(
            "a machine made an error; find out which counts are wrong, and how to take them out: nqueens verify {files}"
        );
    }
}

/// Warns of last lines that a killed process did not finish.
pub(crate) fn warn_of_cut_off(record: &Record) {
    for file in record.files() {
        if file.cut_off > 0 {
            let path = file.path.display();
            message!("warning: the last line of {path} was cut off and is left out");
        }
    }
}

/// Returns the journal of an error.
pub(crate) fn file_of(error: &Error) -> Option<&Path> {
    match error {
        Error::Journal { path, .. } => Some(path),
        _ => None,
    }
}

/// Returns whether a journal was not read for a reason that says nothing of its lines. For example, it belongs to
/// another user, or there are too few file handles.
pub(crate) fn is_unread(error: &Error) -> bool {
    let Error::Journal { error, .. } = error else { return false };
    match error {
        JournalError::Io { action, reason } => *action == "open" || reason.lack.is_some(),
        JournalError::NotAFile => true,
        _ => false,
    }
}

/// Returns whether what an error left out may be read later.
pub(crate) fn is_temporary(error: &Error) -> bool {
    Failure::from(error.clone()).exit == Exit::Temporary
}
