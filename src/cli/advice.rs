//! The exit code of each error of the library, and the way out that follows the error's message.
//!
//! No match on an error of the library has an arm for the rest, so a new error cannot be forgotten.

use std::io::ErrorKind;

use crate::error::{Action, Error, LackOfMemory, Problem};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// Adds the exit code and the way out to what the library says is wrong.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (exit, way_out) = way_out(&error);
        exit.because(format!("{error}{way_out}"))
    }
}

/// Returns the exit code, and the way out to follow the error's message.
fn way_out(error: &Error) -> (Exit, String) {
    let (exit, text) = match error {
        Error::InvalidValue { .. } => (Exit::Usage, ""),
        Error::ThreadsNotStarted { .. } => (Exit::Failed, ": use fewer --threads"),
        Error::Overflow { .. } => (Exit::Failed, ": count with --engine subtrees --split-rows 4"),
        Error::Cancelled => (Exit::Stopped, ""),
        Error::LacksMemory(lack) => return memory_way_out(lack),
        Error::Inconsistent { .. } => (Exit::Failed, ""),
        Error::Journal(error) => journal_way_out(&error.problem),
    };
    (exit, text.to_owned())
}

/// Returns the exit code and the way out if a limit leaves too little memory.
fn memory_way_out(lack: &LackOfMemory) -> (Exit, String) {
    let fewer_threads = match lack.fitting_threads {
        0 => String::new(),
        fitting => format!("it fits with --threads {fitting}; "),
    };
    let (exit, more_memory) = if lack.fits_without_others {
        (Exit::Temporary, "try later, because other programs use memory at the moment")
    } else {
        (Exit::Failed, "count where there is more memory (see 'nqueens cpu')")
    };
    (exit, format!(": {fewer_threads}{more_memory}"))
}

/// Returns the exit code and the way out if a journal cannot be used.
fn journal_way_out(problem: &Problem) -> (Exit, &'static str) {
    match problem {
        // It may have been possible when the count began.
        Problem::Io { action: Action::Create, error } if !is_full(error.kind()) => {
            (Exit::Failed, ": make its folder, or check the path and its permissions")
        }
        Problem::Io { error, .. } => io_way_out(error.kind()),
        Problem::NotAJournal => (
            Exit::Usage,
            ": unpack it if it is compressed; if its line 1 is damaged, count with its folder as --journal first",
        ),
        Problem::UnknownFormat { .. } | Problem::OtherBuild { .. } => {
            (Exit::Failed, ": finish it with the build that began it, or count in another folder")
        }
        Problem::OtherPlan { .. } => (
            Exit::Usage,
            ": name the files or folders of one of them, or for a count its --engine and --split-rows; if one is there \
             by mistake, move it to another folder",
        ),
        Problem::InUse => (Exit::Temporary, ": wait for it, or count another shard"),
        Problem::Lost { is_cut: true, .. } => {
            (Exit::Stopped, ": the same command counts what is missing")
        }
        // These end no command.
        Problem::Damaged { .. } | Problem::Lost { .. } => (Exit::Failed, ""),
    }
}

/// Returns the exit code and the way out if the operating system refuses to read or write a file.
pub(crate) fn io_way_out(kind: ErrorKind) -> (Exit, &'static str) {
    match kind {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            (Exit::Usage, ": name a file or folder that exists")
        }
        ErrorKind::IsADirectory | ErrorKind::AlreadyExists => (Exit::Usage, ": name another one"),
        kind if is_full(kind) => (
            Exit::Failed,
            ": make room (disk, quota, inodes) or raise the limit on files (ulimit -f), then run the same command again",
        ),
        _ => (Exit::Failed, ": check the disk, the path and its permissions"),
    }
}

/// Returns whether the disk or a limit leaves no room.
fn is_full(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::WriteZero
            | ErrorKind::FileTooLarge
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_names_what_fits_and_only_waiting_for_others_is_temporary() {
        let more = "count where there is more memory (see 'nqueens cpu')";
        let later = "try later, because other programs use memory at the moment";
        for (fitting_threads, fits_without_others, exit, expected) in [
            (2, false, Exit::Failed, format!(": it fits with --threads 2; {more}")),
            (0, false, Exit::Failed, format!(": {more}")),
            (2, true, Exit::Temporary, format!(": it fits with --threads 2; {later}")),
            (0, true, Exit::Temporary, format!(": {later}")),
        ] {
            let lack = LackOfMemory {
                user: "engine colours".to_owned(),
                n: 24,
                threads: Some(8),
                bytes: 1 << 27,
                limit: "ulimit -v".to_owned(),
                usable: 1 << 28,
                fits_without_others,
                fitting_threads,
            };
            assert_eq!(memory_way_out(&lack), (exit, expected));
        }
    }

    #[test]
    fn each_refusal_of_the_system_has_its_way_out() {
        for (kind, exit, words) in [
            (ErrorKind::StorageFull, Exit::Failed, "make room"),
            (ErrorKind::QuotaExceeded, Exit::Failed, "make room"),
            (ErrorKind::WriteZero, Exit::Failed, "make room"),
            (ErrorKind::FileTooLarge, Exit::Failed, "ulimit -f"),
            (ErrorKind::NotFound, Exit::Usage, "folder that exists"),
            (ErrorKind::NotADirectory, Exit::Usage, "folder that exists"),
            (ErrorKind::AlreadyExists, Exit::Usage, "name another one"),
            (ErrorKind::IsADirectory, Exit::Usage, "name another one"),
            (ErrorKind::PermissionDenied, Exit::Failed, "permissions"),
            (ErrorKind::Other, Exit::Failed, "check the disk"),
        ] {
            let (found, text) = io_way_out(kind);
            assert_eq!(found, exit, "{kind}");
            assert!(text.contains(words), "{kind}: {text}");
        }
    }
}
