//! What journals ask of the file system: opening, locks, syncs, and which file it is.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::error::{Error, JournalError};

/// How often a lock that is held is tried again, and how long to wait before that: whoever looks whether
/// a process is writing takes a shared lock for a moment.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Opens a journal for reading.
pub(super) fn open(path: &Path) -> Result<File, Error> {
    open_with(path, OpenOptions::new().read(true))
}

/// Opens a journal, unless it is a folder or a pipe.
pub(super) fn open_with(path: &Path, options: &OpenOptions) -> Result<File, Error> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(JournalError::NotAFile.at(path));
    }
    options.open(path).map_err(|error| JournalError::cannot("open")(error).at(path))
}

/// Locks a journal for writing, until the file is closed.
pub(super) fn lock(file: &File) -> Result<(), JournalError> {
    let mut locked = file.try_lock();
    for _ in 1..TRIES {
        if let Err(TryLockError::WouldBlock) = locked {
            sleep(PAUSE);
            locked = file.try_lock();
        }
    }
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => JournalError::InUse,
        TryLockError::Error(error) => JournalError::NoLocks { source: error.into() },
    })
}

pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create_new(true).open(path)
}

/// Makes the system read the file from the disk, where it can be asked to.
pub(super) fn drop_cache(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a file's name survive a power cut, where folders can be synced.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let cannot_be = [InvalidInput, PermissionDenied, Unsupported];
    match File::open(folder_of(path)).and_then(|folder| folder.sync_all()) {
        Err(error) if cannot_be.contains(&error.kind()) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::JournalFile;
    use super::*;

    #[test]
    fn a_journal_is_being_written_while_its_lock_is_held() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let file = create(&path).expect("a new file");
        let is_being_written = |name| {
            let path = folder.path().join(name);
            JournalFile { path, ..JournalFile::default() }.is_being_written()
        };
        assert!(!is_being_written("q.journal"), "it was made just now, by nobody");
        lock(&file).expect("a local file system");
        assert!(is_being_written("q.journal"));
        let second = File::options().append(true).open(&path).expect("it is there");
        assert_eq!(lock(&second), Err(JournalError::InUse));
        drop(file);
        assert!(!is_being_written("q.journal") && !is_being_written("none.journal"));
    }

    #[test]
    fn a_writer_is_not_refused_because_somebody_looks() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let file = create(&path).expect("a new file");
        let looks = File::open(&path).expect("it is there");
        looks.try_lock_shared().expect("a local file system");
        let look = std::thread::spawn(move || {
            sleep(PAUSE);
            drop(looks);
        });
        lock(&file).expect("nobody writes");
        look.join().expect("no panic");
    }
}
