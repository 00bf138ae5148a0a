//! Journals that this process has locked, before it begins to write.
//!
//! The lock is held until the process ends. So a second process that is given the same file is refused. On some file
//! systems locks do nothing, and two processes may write one file. So a process never cuts off what it has not read.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::Builder;

use super::disk::{create_new, folder_of, lock_for_writing, open_with, path_leads_to};
use super::names::file_name;
use super::reader::JournalFile;
use crate::cancel::{Cancel, Waited, wait_for_message};
use crate::error::{Error, JournalError};
use crate::plan::Plan;
use crate::plan::shard::Shard;

/// A journal that this process has locked, and to which it will append.
pub(crate) struct LockedJournal {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    /// The number of bytes that were read from the file.
    pub(super) length: u64,
    /// The number of these bytes that stay: all but an incomplete last line.
    pub(super) kept: u64,
    /// Whether a damaged line without a line feed stays at the end.
    pub(super) lacks_line_feed: bool,
    /// Whether the folder of the file was made for it.
    pub(super) is_in_new_folder: bool,
}

impl LockedJournal {
    /// Makes the journal of a file in which nothing was found.
    fn empty(path: &Path, file: File, is_in_new_folder: bool) -> Self {
        Self {
            path: path.to_owned(),
            file,
            length: 0,
            kept: 0,
            lacks_line_feed: false,
            is_in_new_folder,
        }
    }

    /// Locks the journal at a path, and waits until the disk has what it holds. It has to be read next.
    pub(crate) fn lock(path: &Path, cancel: &Cancel) -> Result<Self, Error> {
        // The file is opened without `create`: Linux may refuse that for a file of another user
        // (`fs.protected_regular`).
        let file = open_and_lock(path, OpenOptions::new().read(true).append(true))?;
        // The cache keeps what is not yet on disk, so that is written before anything is read.
        sync_unless_cancelled(path, &file, cancel)?;
        Ok(Self::empty(path, file, false))
    }

    /// Notes that `length` bytes were read, and what they turned out to be: `None` if the journal has not begun.
    pub(crate) fn was_read(&mut self, length: u64, read: Option<&JournalFile>) {
        self.length = length;
        if let Some(read) = read {
            self.kept = read.bytes;
            self.lacks_line_feed = read.lacks_line_feed;
        }
    }

    /// Creates a journal and locks it. If another process has made the file meanwhile, the file is opened.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let file = open_and_lock(path, OpenOptions::new().read(true).append(true).create(true))?;
        Ok(Self::empty(path, file, false))
    }
}

/// Creates the journal of a process in a folder, with a name that no other process uses. Containers may share a host name
/// and a process number, so a number is added if the name is taken. A missing folder is created, but not its parents:
/// they might belong to a file system that is not mounted.
pub(crate) fn create_in(folder: &Path, plan: &Plan, shard: Shard) -> Result<LockedJournal, Error> {
    let is_new_folder = match fs::create_dir(folder) {
        Ok(()) => true,
        // Something has the name. If it is no folder, or cannot be seen, the new file cannot be made in it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(_) if folder.is_dir() => false,
        Err(error) => return Err(JournalError::cannot("open", error).at(folder)),
    };
    let mut number = 1;
    loop {
        let path = folder.join(file_name(plan, shard, number));
        match create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(JournalError::cannot("open", error).at(&path)),
            Ok(file) => {
                // If the file system has no locks, nobody sees that this journal is being written.
                let _ = lock_for_writing(&file);
                return Ok(LockedJournal::empty(&path, file, is_new_folder));
            }
        }
    }
}

/// Creates a journal at a path where one was, and its folder if that is gone as well.
pub(super) fn create_again(path: &Path) -> io::Result<(PathBuf, File)> {
    // Whatever is wrong with the folder shows when the file is made.
    let _ = fs::create_dir(folder_of(path));
    let file = create_new(path)?;
    let _ = lock_for_writing(&file);
    Ok((path.to_owned(), file))
}

/// Opens a journal, locks it, and checks that it is still at its path.
fn open_and_lock(path: &Path, options: &OpenOptions) -> Result<File, Error> {
    let file = open_with(path, options)?;
    lock_for_writing(&file).map_err(|error| error.at(path))?;
    // Another file may have taken its name before it was locked.
    check_path(path, &file)?;
    Ok(file)
}

/// Checks that an open journal is still at its path.
fn check_path(path: &Path, file: &File) -> Result<(), Error> {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    match path_leads_to(path, file, length) {
        Ok(true) => Ok(()),
        Ok(false) => Err(JournalError::Changed.at(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(JournalError::Changed.at(path))
        }
        Err(error) => Err(JournalError::cannot("open", error).at(path)),
    }
}

/// Forces a journal to disk, which may take its time. A cancellation ends the wait.
fn sync_unless_cancelled(path: &Path, file: &File, cancel: &Cancel) -> Result<(), Error> {
    let cannot_write = |error| JournalError::cannot("write", error).at(path);
    let file = file.try_clone().map_err(cannot_write)?;
    let (sender, receiver) = channel();
    // If the wait is over, there is no receiver.
    let sync_file = move || _ = sender.send(file.sync_data());
    let thread = Builder::new().name("nqueens-sync".to_owned());
    thread.spawn(sync_file).map_err(Error::thread_not_started)?;
    match wait_for_message(&receiver, || cancel.is_cancelled()) {
        Waited::Message(synced) => synced.map_err(cannot_write),
        Waited::Ended => Err(cannot_write(io::Error::other("the thread that syncs has failed"))),
        Waited::Over => Err(Error::StoppedBefore { what: "the disk had taken the journal" }),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    #[test]
    fn a_journal_that_has_lost_its_name_is_not_taken() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let file = create_new(&path).expect("a new file");
        assert_eq!(check_path(&path, &file), Ok(()));
        fs::write(&path, "one\n").expect("room");
        assert_eq!(check_path(&path, &file), Ok(()));
        let changed = Err(JournalError::Changed.at(&path));
        fs::remove_file(&path).expect("it is there");
        assert_eq!(check_path(&path, &file), changed);
        fs::write(&path, "two\n").expect("room");
        assert_eq!(check_path(&path, &file), changed);
        fs::remove_file(&path).expect("it is there");
        symlink(&path, &path).expect("a loop");
        let unseen = check_path(&path, &file).expect_err("a path without end");
        assert_ne!(Err(unseen), changed);
    }

    #[test]
    fn each_journal_of_a_process_in_a_folder_has_its_own_name() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let size = BoardSize::new(8).expect("in range");
        let plan = Plan::new(size, Engine::Bitmask, None).expect("a plan");
        for number in 1..=3 {
            let journal = create_in(folder.path(), &plan, Shard::WHOLE);
            let path = journal.expect("the folder can be written").path;
            assert_eq!(path, folder.path().join(file_name(&plan, Shard::WHOLE, number)));
        }
    }

    #[test]
    fn a_folder_in_a_missing_one_is_not_made() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let inner = folder.path().join("missing").join("q8");
        let size = BoardSize::new(8).expect("in range");
        let plan = Plan::new(size, Engine::Bitmask, None).expect("a plan");
        match create_in(&inner, &plan, Shard::WHOLE).map(|journal| journal.path) {
            Err(Error::Journal { path, .. }) => assert_eq!(path, inner),
            other => panic!("{other:?}"),
        }
    }
}
