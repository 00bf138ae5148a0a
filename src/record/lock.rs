//! Locks a journal before it is written, and reads it under the lock.
//!
//! **One writer.** If the user names a file, a lock keeps other processes away from it. A process holds the lock
//! while it writes. Journals of shards do not need the lock, because each process creates its own. On some file
//! systems locks do nothing, and two processes may write one file. So a process never cuts off what it has not read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{create, drop_cache, file_name, leads_to, lock, open_with};
use super::reader::JournalFile;
use super::union::Record;
use crate::error::{Error, JournalError};
use crate::plan::Plan;
use crate::shard::Shard;

/// The lock on a journal before it is written. It keeps other processes from writing the journal.
pub(crate) struct Lock {
    pub(super) path: PathBuf,
    /// The open file, or `None` if it is to be created when the count begins.
    pub(super) file: Option<File>,
    /// The number of bytes that were read from the file.
    pub(super) length: u64,
}

impl Lock {
    /// Locks the journal at a path and reads it. If there is no file, it is created when the count begins.
    pub(crate) fn read(path: &Path) -> Result<(Self, Option<Record>), Error> {
        let path = path.to_owned();
        if fs::metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok((Self { path, file: None, length: 0 }, None));
        }
        // The file is opened without `create`: Linux may refuse that for a file of another user
        // (`fs.protected_regular`).
        let file = open_locked(&path, OpenOptions::new().read(true).append(true))?;
        // The cache keeps what is not yet on disk, so that is written first.
        let synced = file.sync_data().map_err(JournalError::cannot("write"));
        synced.map_err(|error| error.at(&path))?;
        let (record, length) = read_from_disk(&path, &file, None)?;
        Ok((Self { path, file: Some(file), length }, record))
    }

    /// Creates the journal of a process in a folder, with a name that no other process uses. Containers may share a
    /// host name and a process number, so a number is added if the name is taken. A missing folder is created, but
    /// not its parents: they might belong to a file system that is not mounted.
    pub(crate) fn create_in(folder: &Path, plan: &Plan, shard: Shard) -> Result<Self, Error> {
        let made = fs::create_dir(folder);
        if !folder.is_dir() {
            made.map_err(|error| JournalError::cannot("open")(error).at(folder))?;
        }
        let mut number = 1;
        loop {
            let path = folder.join(file_name(plan, shard, number));
            match create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(JournalError::cannot("open")(error).at(&path)),
                Ok(file) => {
                    // If the file system has no locks, nobody sees that this journal is being written.
                    let _ = lock(&file);
                    return Ok(Self { path, file: Some(file), length: 0 });
                }
            }
        }
    }
}

/// Opens a journal and locks it.
pub(super) fn open_locked(path: &Path, options: &OpenOptions) -> Result<File, Error> {
    let file = open_with(path, options)?;
    lock(&file).map_err(|error| error.at(path))?;
    // Another file may have taken its name before it was locked.
    let is_it = leads_to(path, &file).unwrap_or(false);
    if is_it { Ok(file) } else { Err(JournalError::Changed.at(path)) }
}

/// Reads a journal from the disk, not from the cache, as far as the system allows that. The file was just opened.
/// Returns what the journal holds, `None` if it has not begun, and its length in bytes. Damage is an error.
pub(super) fn read_from_disk(
    path: &Path,
    file: &File,
    known: Option<&Arc<Plan>>,
) -> Result<(Option<Record>, u64), Error> {
    let cannot_read = |error| JournalError::cannot("read")(error).at(path);
    drop_cache(file);
    let mut input = file.take(u64::MAX);
    let journal = JournalFile::scan(path, &mut input, false, known, |_, _| ())?;
    let record = journal.map(|journal| {
        Record::unite(&Arc::clone(&journal.plan), vec![Ok(Some(journal))])?.undamaged()
    });
    let record = record.transpose()?;
    let (read, length) = (u64::MAX - input.limit(), file.metadata().map_err(cannot_read)?.len());
    if read == length {
        return Ok((record, read));
    }
    // If the read ended early, the rest must not be cut off.
    Err(cannot_read(io::Error::other(format!("{read} of {length} bytes could be read"))))
}

#[cfg(test)]
mod tests {
    use super::super::line::Run;
    use super::super::writer::Journal;
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::{Engine, Kernel};

    /// Where locks do nothing, another process may write between the reading and the first line.
    #[test]
    fn nothing_is_cut_off_that_was_not_read() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let plan = Arc::new(plan);
        let run = Run::begin(Kernel::Portable, 1, Shard::WHOLE);
        let new = Lock::read(&path).expect("no file yet").0;
        assert!(!path.exists(), "it is made when the count begins");
        drop(Journal::begin(new, &plan, None, &run).expect("a journal"));
        let begun = fs::read_to_string(&path).expect("text");
        for read in ["", &begun[..50], &begun[..begun.len() - 3], &begun] {
            fs::write(&path, read).expect("room");
            let (lock, record) = Lock::read(&path).expect("nobody writes");
            let longer = read.to_owned() + &begun;
            fs::write(&path, &longer).expect("room");
            let refused = Journal::begin(lock, &plan, record.as_ref(), &run).map(drop);
            assert_eq!(refused, Err(JournalError::InUse.at(&path)));
            assert_eq!(fs::read_to_string(&path).expect("text"), longer);
        }
    }
}
