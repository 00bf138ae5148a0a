//! What journals ask of the file system: opening, locks, syncs, and whether a path leads to an open file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::{Error, JournalError};

/// The number of times that a held lock is tried, and the pause between two tries. A process that asks whether a
/// journal is being written holds a shared lock for a moment, and must not stop a writer.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Opens a journal for reading.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    open_with(path, OpenOptions::new().read(true))
}

/// Opens a journal. A path to anything but a regular file is an error.
pub(super) fn open_with(path: &Path, options: &OpenOptions) -> Result<File, Error> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(JournalError::NotAFile.at(path));
    }
    options.open(path).map_err(|error| JournalError::cannot("open", error).at(path))
}

/// Locks a journal for writing, until the file is closed.
pub(super) fn lock_for_writing(file: &File) -> Result<(), JournalError> {
    let mut locked = file.try_lock();
    for _ in 1..TRIES {
        if let Err(TryLockError::WouldBlock) = locked {
            sleep(PAUSE);
            locked = file.try_lock();
        }
    }
    match locked {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse),
        Err(TryLockError::Error(error)) => Err(JournalError::cannot("lock", error)),
    }
}

/// Returns whether another process holds the lock of a journal that was just opened.
pub(super) fn is_locked(file: &File) -> bool {
    let locked = file.try_lock_shared();
    // A process that begins to write the journal must not wait until it is read.
    let _ = file.unlock();
    matches!(locked, Err(TryLockError::WouldBlock))
}

/// Returns whether another process is writing a journal at this moment, as far as its lock shows it.
///
/// Some file systems do not show locks of other hosts. Then the processes of other hosts are not noticed.
pub(crate) fn is_being_written(path: &Path) -> bool {
    open(path).is_ok_and(|file| is_locked(&file))
}

/// The number of bytes that are compared to tell whether two files are the same journal.
const COMPARED_BYTES: usize = 4096;

/// Returns whether a path leads to this open file, as far as the content shows: whether the file there is at least
/// `end` bytes long, and has the last bytes before `end` in common with the open file.
///
/// Inode numbers do not tell. Some file systems give one file a new number at each look, others give all files the same
/// number.
pub(super) fn path_leads_to(path: &Path, file: &File, end: u64) -> io::Result<bool> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() < end {
        return Ok(false);
    }
    let named = File::open(path)?;
    match have_equal_ends(&named, file, end) {
        // One of them was cut meanwhile.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        compared => compared,
    }
}

/// Returns whether two files have the last bytes before `end` in common.
fn have_equal_ends(one: &File, other: &File, end: u64) -> io::Result<bool> {
    Ok(read_last_bytes(one, end)? == read_last_bytes(other, end)?)
}

/// Reads the last bytes of a file before `end`.
fn read_last_bytes(file: &File, end: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(end).unwrap_or(usize::MAX).min(COMPARED_BYTES);
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, end - length as u64)?;
    Ok(bytes)
}

/// Creates a journal. It is an error if the file exists.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create_new(true).open(path)
}

/// Drops the file from the cache of the operating system, so that it is read from the disk. Not every system can do
/// this.
pub(crate) fn drop_cache(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Returns the folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a folder. If a pipe has taken its place, to open that would take until somebody writes to it.
fn open_folder(folder: &Path) -> io::Result<File> {
    let only_folders = OFlags::DIRECTORY.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(only_folders).open(folder)
}

/// Syncs the folder of a file, so that the name of the file survives a power cut. Many file systems cannot sync
/// folders, and say so in one way or another: then nothing happens.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let synced = open_folder(folder_of(path)).and_then(|folder| folder.sync_all());
    let Err(error) = synced else { return Ok(()) };
    match Errno::from_io_error(&error) {
        Some(
            Errno::INVAL
            | Errno::NOTSUP
            | Errno::NOSYS
            | Errno::NOTTY
            | Errno::BADF
            | Errno::ISDIR
            | Errno::ACCESS
            | Errno::PERM
            | Errno::ROFS,
        ) => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_being_written_while_its_lock_is_held() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let file = create_new(&path).expect("a new file");
        let is_being_written = || is_locked(&open(&path).expect("it is there"));
        assert!(!is_being_written(), "it was made just now, by nobody");
        lock_for_writing(&file).expect("a local file system");
        assert!(is_being_written());
        let second = File::options().append(true).open(&path).expect("it is there");
        assert_eq!(lock_for_writing(&second), Err(JournalError::InUse));
        drop(file);
        assert!(!is_being_written());
    }

    /// A journal that was cut off or replaced has gone. What the system cannot read may still be there.
    #[test]
    fn a_path_leads_to_a_file_with_the_same_end() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let [longer, shorter, other] = ["123456789", "1234", "999999999"].map(|text| {
            let path = folder.path().join(text);
            fs::write(&path, text).expect("room");
            File::open(&path).expect("it is there")
        });
        fs::write(&path, "12345678").expect("room");
        let leads_to = |file: &File, end| path_leads_to(&path, file, end).ok();
        assert_eq!(leads_to(&longer, 0), Some(true));
        assert_eq!(leads_to(&longer, 8), Some(true));
        assert_eq!(leads_to(&longer, 9), Some(false), "the file there ends before");
        assert_eq!(leads_to(&shorter, 4), Some(true));
        assert_eq!(leads_to(&shorter, 8), Some(false), "the open file was cut off");
        assert_eq!(leads_to(&other, 8), Some(false));
        let unreadable = File::open(folder.path()).expect("it is there");
        assert_eq!(leads_to(&unreadable, 8), None, "nobody can read a folder");
    }

    #[test]
    fn a_writer_is_not_refused_because_somebody_looks() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let file = create_new(&path).expect("a new file");
        let looks = File::open(&path).expect("it is there");
        looks.try_lock_shared().expect("a local file system");
        let look = std::thread::spawn(move || {
            sleep(PAUSE);
            drop(looks);
        });
        lock_for_writing(&file).expect("nobody writes");
        look.join().expect("no panic");
    }
}
