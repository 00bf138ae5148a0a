//! The exit code of each error of the library, and the way out that follows the error's message.
//!
//! No match on an error of the library has an arm for the rest, so a new error cannot be forgotten.

use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, LackOfMemory, MemoryUser, Remedy};
use crate::record::{IoError, JournalError};

use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::failure::thread_limits::lasting_limit;

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
        Error::InvalidValue(_) => (Exit::Usage, ""),
        Error::ThreadsNotStarted { threads, .. } => {
            return threads_way_out(lasting_limit(*threads).as_deref());
        }
        Error::EntryOverflow { .. } => (Exit::Failed, ": count with --engine subtrees"),
        Error::UnitOverflow { .. } => {
            (Exit::Failed, ": make smaller units with --engine subtrees --split-rows 4")
        }
        Error::StoppedBefore { .. } => (Exit::Stopped, ""),
        Error::LacksMemory(LackOfMemory { user, limit, remedy, fitting_threads, .. }) => {
            return memory_way_out(*user, limit, *remedy, *fitting_threads);
        }
        Error::Inconsistent { .. } => (Exit::Failed, ""),
        Error::Journal { path, error } => journal_way_out(path, error),
        Error::PlansDiffer { .. } => (
            Exit::Usage,
            ": name the files or folders of one of them, or for a count its --engine and --split-rows; if one is there \
             by mistake, move it to another folder",
        ),
    };
    (exit, text.to_owned())
}

/// Returns the exit code and the way out if threads cannot be started. Under a lasting limit, waiting is in vain.
fn threads_way_out(lasting_limit: Option<&str>) -> (Exit, String) {
    match lasting_limit {
        Some(limit) => (Exit::Failed, format!(": use fewer --threads, or raise {limit}")),
        None => {
            let text = ": use fewer --threads, or try later, when other programs have ended";
            (Exit::Temporary, text.to_owned())
        }
    }
}

/// Returns the exit code and the way out if a limit leaves too little memory.
fn memory_way_out(
    user: MemoryUser,
    limit: &str,
    remedy: Remedy,
    fitting_threads: usize,
) -> (Exit, String) {
    let fewer_threads = match fitting_threads {
        0 => String::new(),
        fitting => format!("it fits with --threads {fitting}; "),
    };
    let (exit, higher_limit) = match remedy {
        Remedy::Waiting => (Exit::Temporary, String::new()),
        Remedy::HigherLimit => (Exit::Failed, format!("raise {limit}, or ")),
        Remedy::LargerMachine => (Exit::Failed, String::new()),
    };
    let slower_engine =
        if user == MemoryUser::Colours { ", or, much slower, with --engine subtrees" } else { "" };
    let text = format!(
        ": {fewer_threads}{higher_limit}count where there is more memory (see 'nqueens cpu'){slower_engine}"
    );
    (exit, text)
}

const CHECK_DISK: &str = ": check the disk, then run the same command again";

/// Returns the exit code and the way out if a journal cannot be used.
fn journal_way_out(path: &Path, error: &JournalError) -> (Exit, &'static str) {
    match error {
        JournalError::Io { reason, action } => io_way_out(path, action, reason),
        JournalError::NotAJournal => (
            Exit::Usage,
            ": unpack it if it is compressed; if its line 1 is damaged, count with its folder as --journal first",
        ),
        JournalError::UnknownFormat { .. } | JournalError::OtherPlan { .. } => {
            (Exit::Failed, ": finish it with the build that began it, or count in another folder")
        }
        JournalError::InUse => (Exit::Temporary, ": wait for it, or count another shard"),
        JournalError::Lost { is_cut: true, .. } => {
            (Exit::Stopped, ": the same command counts what is missing")
        }
        // These end no command.
        JournalError::Damaged { .. } | JournalError::Lost { .. } => (Exit::Failed, ""),
    }
}

const MAKE_ROOM: (Exit, &str) =
    (Exit::Failed, ": make room (bytes or inodes), then run the same command again");

/// Returns the exit code and the way out if the operating system refuses an action, such as `open`.
pub(crate) fn io_way_out(path: &Path, action: &str, reason: &IoError) -> (Exit, &'static str) {
    if is_full(reason.kind) {
        return MAKE_ROOM;
    }
    match reason.kind {
        // The arguments were right, so the folder was taken away since.
        ErrorKind::NotFound | ErrorKind::NotADirectory if action == "create" => {
            (Exit::Failed, ": make the folder again, then run the same command again")
        }
        ErrorKind::FileTooLarge => {
            let text = ": raise the limit on the size of files (ulimit -f), then run the same command again";
            (Exit::Failed, text)
        }
        ErrorKind::NotFound => {
            let is_in_a_folder = path.parent().is_some_and(Path::is_dir);
            if is_in_a_folder && action == "open" {
                (Exit::Usage, ": name a file or folder that exists, in a folder that takes files")
            } else {
                (Exit::Usage, ": name a file or folder that exists")
            }
        }
        ErrorKind::InvalidFilename
        | ErrorKind::IsADirectory
        | ErrorKind::NotADirectory
        | ErrorKind::AlreadyExists => (Exit::Usage, ": name another one"),
        ErrorKind::PermissionDenied if action == "write" => {
            // The file was opened for writing, so it is not about permissions of users.
            let text = ": its file system, or an attribute of the file (lsattr), forbids that: name another file";
            (Exit::Failed, text)
        }
        ErrorKind::PermissionDenied if is_missing(path) => {
            (Exit::Failed, ": change the permissions of its folder")
        }
        ErrorKind::PermissionDenied => (Exit::Failed, ": change its permissions"),
        ErrorKind::ReadOnlyFilesystem => {
            (Exit::Failed, ": name a file on a file system that can be written")
        }
        _ if action == "open" => (Exit::Failed, ": check the path and the file system"),
        _ => (Exit::Failed, CHECK_DISK),
    }
}

/// Returns whether the disk has no room.
fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::WriteZero)
}

/// Returns whether nothing has this name, as far as this user may see it.
fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_names_what_fits() {
        let colours =
            |remedy, threads| memory_way_out(MemoryUser::Colours, "ulimit -v", remedy, threads);
        let fits = ": it fits with --threads 2; count where there is more memory (see 'nqueens cpu'), or, \
                    much slower, with --engine subtrees";
        assert_eq!(colours(Remedy::Waiting, 2), (Exit::Temporary, fits.to_owned()));
        let (_, text) = colours(Remedy::Waiting, 0);
        assert!(!text.contains("--threads"), "{text}");
        assert_eq!(colours(Remedy::LargerMachine, 2), (Exit::Failed, fits.to_owned()));
        let (exit, text) = colours(Remedy::HigherLimit, 2);
        assert_eq!(exit, Exit::Failed, "nobody gives memory back under such a limit");
        assert!(
            text.starts_with(": it fits with --threads 2; raise ulimit -v, or count where"),
            "{text}"
        );
    }

    /// The exit code if the system refuses an action on a file that is there.
    fn refused(action: &str, kind: ErrorKind) -> (Exit, &'static str) {
        let reason = IoError { kind, message: String::new() };
        io_way_out(Path::new("Cargo.toml"), action, &reason)
    }

    #[test]
    fn each_refusal_of_the_system_has_its_way_out() {
        for (action, kind, exit, words) in [
            ("open", ErrorKind::StorageFull, Exit::Failed, "make room"),
            ("write", ErrorKind::QuotaExceeded, Exit::Failed, "make room"),
            ("write", ErrorKind::WriteZero, Exit::Failed, "make room"),
            ("write", ErrorKind::FileTooLarge, Exit::Failed, "ulimit -f"),
            ("read", ErrorKind::NotFound, Exit::Usage, "folder that exists"),
            ("open", ErrorKind::InvalidFilename, Exit::Usage, "another one"),
            ("open", ErrorKind::IsADirectory, Exit::Usage, "another one"),
            ("open", ErrorKind::NotADirectory, Exit::Usage, "another one"),
            ("open", ErrorKind::AlreadyExists, Exit::Usage, "another one"),
            ("create", ErrorKind::NotFound, Exit::Failed, "make the folder again"),
            ("create", ErrorKind::NotADirectory, Exit::Failed, "make the folder again"),
            ("write", ErrorKind::PermissionDenied, Exit::Failed, "lsattr"),
            ("open", ErrorKind::PermissionDenied, Exit::Failed, "change its permissions"),
            ("open", ErrorKind::ReadOnlyFilesystem, Exit::Failed, "can be written"),
            ("open", ErrorKind::Other, Exit::Failed, "check the path"),
            ("read", ErrorKind::Other, Exit::Failed, "check the disk"),
        ] {
            let (found, text) = refused(action, kind);
            assert_eq!(found, exit, "{action}, {kind}");
            assert!(text.contains(words), "{action}, {kind}: {text}");
        }
    }

    #[test]
    fn what_is_not_there_is_named_elsewhere() {
        let missing = |path, action, kind| {
            let reason = IoError { kind, message: String::new() };
            io_way_out(Path::new(path), action, &reason).1
        };
        let in_a_folder = "src/none.journal";
        let without_a_folder = "none/none.journal";
        let takes_files = "in a folder that takes files";
        let not_found = ErrorKind::NotFound;
        assert!(missing(in_a_folder, "open", not_found).contains(takes_files));
        assert!(!missing(in_a_folder, "read", not_found).contains(takes_files));
        assert!(!missing(without_a_folder, "open", not_found).contains(takes_files));
        let denied = missing(in_a_folder, "open", ErrorKind::PermissionDenied);
        assert_eq!(denied, ": change the permissions of its folder");
    }

    #[test]
    fn threads_that_a_lasting_limit_forbids_never_start_later() {
        let (exit, text) = threads_way_out(Some("ulimit -u"));
        assert_eq!(
            (exit, text.as_str()),
            (Exit::Failed, ": use fewer --threads, or raise ulimit -u")
        );
        assert_eq!(threads_way_out(None).0, Exit::Temporary);
    }
}
