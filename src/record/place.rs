//! The place where a count keeps its journals: one file, or a folder in which each process makes a file of its own.
//!
//! **A file** is locked before it is read, and until its process ends. So a second process that is given the same file
//! is refused. On some file systems locks do nothing, and two processes may write one file. So a process never cuts
//! off what it has not read.
//!
//! **A folder** needs no lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use super::disk::{create, drop_cache, file_name, goes_on_at, lock, open_with};
use super::first_line::{FirstLine, Wanted};
use super::folder::read_folder;
use super::reader::{DoneLine, JournalFile};
use super::runs::Run;
use super::writer::Journal;
use super::{Counts, Record};
use crate::cancel::Cancel;
use crate::done::Sum;
use crate::error::{Error, JournalError};
use crate::plan::Plan;
use crate::shard::Shard;

/// The ending of the names of all journals. Other files in a folder are not read.
const ENDING: &str = "journal";

/// The interval at which a wait for the disk looks for a cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A place for journals that was opened and read.
pub(crate) enum Place {
    /// A journal that this process has locked, or that it makes when the count begins.
    File(Lock),
    /// A folder, which is made when the count begins.
    Folder(PathBuf),
}

impl Place {
    /// Opens a place for journals and reads what it holds of a shard.
    ///
    /// The path stands for a folder if there is one, or if it ends in a slash. Otherwise it stands for a journal. There
    /// is no record if nothing is there yet. `new_plan` makes the plan of a folder in which no journal names one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if the name of a journal does not end in `.journal`. [`Error::CountsDiffer`] if a unit
    /// has two different counts: counting it once more would not settle which of them is right. [`Error::Journal`] if
    /// the journal, or a journal in the folder, cannot be read now: its units may be finished. [`Error::StoppedBefore`]
    /// if the count is cancelled while the disk takes what it does not have yet.
    pub(crate) fn open(
        path: &Path,
        wanted: &Wanted,
        shard: Shard,
        new_plan: impl FnOnce() -> Result<Plan, Error>,
        cancel: &Cancel,
    ) -> Result<(Self, Option<Record>), Error> {
        let (place, record) = if path.is_dir() {
            let record = read_folder(path, wanted, shard, new_plan)?;
            (Self::Folder(path.to_owned()), Some(record))
        } else if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            (Self::Folder(path.to_owned()), None)
        } else if path.extension().is_some_and(|ending| ending == ENDING) {
            let (lock, record) = Lock::open(path, cancel)?;
            (Self::File(lock), record)
        } else {
            let advice = "name a file that ends in .journal, or a folder with a slash behind it";
            return Err(Error::invalid("a place for journals", path.display(), advice));
        };
        let is_final = |error: &&Error| match error {
            Error::Journal { error: JournalError::Io { source, .. }, .. } => source.lack.is_some(),
            error => matches!(error, Error::CountsDiffer { .. }),
        };
        let left_out = record.as_ref().map_or(&[][..], |record| &record.left_out);
        match left_out.iter().find(is_final) {
            Some(error) => Err(error.clone()),
            None => Ok((place, record)),
        }
    }

    /// Begins to write the journal of this process. `held` is the sum of all that was read at this place.
    pub(crate) fn begin(self, plan: &Arc<Plan>, held: Sum, run: &Run) -> Result<Journal, Error> {
        match self {
            Self::File(lock) => Journal::begin(lock, plan, held, run),
            // The new file holds nothing, even if other journals in its folder do.
            Self::Folder(folder) => {
                let lock = Lock::create_in(&folder, plan, run.shard)?;
                Journal::begin(lock, plan, Sum::default(), run)
            }
        }
    }
}

/// The lock on a journal before it is written. It keeps other processes from writing the journal.
pub(crate) struct Lock {
    pub(super) path: PathBuf,
    /// The open file, or `None` if it is to be created when the count begins.
    pub(super) file: Option<File>,
    /// The number of bytes that were read from the file.
    pub(super) length: u64,
    /// The number of these bytes that stay: all but an incomplete last line.
    pub(super) kept: u64,
    /// Whether a damaged line without a line feed stays at the end.
    pub(super) lacks_line_feed: bool,
    /// Whether the folder of the file was made for it.
    pub(super) is_in_new_folder: bool,
}

impl Lock {
    fn new(path: &Path, file: Option<File>) -> Self {
        Self {
            path: path.to_owned(),
            file,
            length: 0,
            kept: 0,
            lacks_line_feed: false,
            is_in_new_folder: false,
        }
    }

    /// Locks the journal at a path and reads it. If there is no file, it is created when the count begins.
    fn open(path: &Path, cancel: &Cancel) -> Result<(Self, Option<Record>), Error> {
        if fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok((Self::new(path, None), None));
        }
        // The file is opened without `create`: Linux may refuse that for a file of another user
        // (`fs.protected_regular`).
        let file = open_locked(path, OpenOptions::new().read(true).append(true))?;
        // The cache keeps what is not yet on disk, so that is written first.
        sync(path, &file, cancel)?;
        let (record, length) = read_from_disk(path, &file, None)?;
        let mut lock = Self { length, ..Self::new(path, Some(file)) };
        if let Some(record) = &record {
            let file = &record.files()[0];
            (lock.kept, lock.lacks_line_feed) = (file.bytes, file.lacks_line_feed);
        }
        Ok((lock, record))
    }

    /// Creates the journal of a process in a folder, with a name that no other process uses. Containers may share a
    /// host name and a process number, so a number is added if the name is taken. A missing folder is created, but
    /// not its parents: they might belong to a file system that is not mounted.
    fn create_in(folder: &Path, plan: &Plan, shard: Shard) -> Result<Self, Error> {
        let mut is_new = false;
        match fs::create_dir(folder) {
            Ok(()) => is_new = true,
            Err(_) if folder.is_dir() => {}
            Err(error) => return Err(JournalError::cannot("open")(error).at(folder)),
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
                    return Ok(Self { is_in_new_folder: is_new, ..Self::new(&path, Some(file)) });
                }
            }
        }
    }
}

/// Forces a journal to disk, which may take its time. A cancellation ends the wait.
fn sync(path: &Path, file: &File, cancel: &Cancel) -> Result<(), Error> {
    let of_file = |error| JournalError::cannot("write")(error).at(path);
    let file = file.try_clone().map_err(of_file)?;
    let (sender, synced) = channel();
    let thread = Builder::new().name("nqueens-sync".to_owned());
    // The receiver may have gone.
    let started = thread.spawn(move || _ = sender.send(file.sync_data()));
    started.map_err(Error::no_thread)?;
    loop {
        match synced.recv_timeout(LOOK_EVERY) {
            Ok(synced) => return synced.map_err(of_file),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(of_file(io::Error::other("the thread that syncs has failed")));
            }
            Err(RecvTimeoutError::Timeout) => cancel.check("the disk had taken the journal")?,
        }
    }
}

/// Opens a journal and locks it.
pub(super) fn open_locked(path: &Path, options: &OpenOptions) -> Result<File, Error> {
    let file = open_with(path, options)?;
    lock(&file).map_err(|error| error.at(path))?;
    // Another file may have taken its name before it was locked.
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    match goes_on_at(path, &file, length) {
        Ok(true) => Ok(file),
        Ok(false) => Err(JournalError::Changed.at(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(JournalError::Changed.at(path))
        }
        Err(error) => Err(JournalError::cannot("open")(error).at(path)),
    }
}

/// Reads a journal from the disk, not from the cache, as far as the system allows that. The file was just opened.
/// Returns what the journal holds, `None` if it has not begun, and its length in bytes.
///
/// # Errors
///
/// [`Error::Journal`] if the file cannot be read to its end, or if its first line names no plan, whether the plan is
/// known or not: nobody could read the file again.
pub(super) fn read_from_disk(
    path: &Path,
    mut file: &File,
    known: Option<&Arc<Plan>>,
) -> Result<(Option<Record>, u64), Error> {
    let cannot_read = |error| JournalError::cannot("read")(error).at(path);
    drop_cache(file);
    let first = FirstLine::read(&mut BufReader::new(file)).map_err(|error| error.at(path))?;
    file.rewind().map_err(cannot_read)?;
    let plan = match (known, first) {
        (Some(plan), _) => Arc::clone(plan),
        (None, Some(first)) => Arc::new(first.make_plan(path)?),
        (None, None) => return Ok((None, file.metadata().map_err(cannot_read)?.len())),
    };
    let counts = Mutex::new(Counts::new(Arc::clone(&plan))?);
    let put = |line: DoneLine<'_>| super::lock(&counts).put(&line.done);
    let mut input = file.take(u64::MAX);
    let journal = JournalFile::scan(path, &mut input, false, &plan, put)?;
    let has_begun = journal.is_some();
    let read = u64::MAX - input.limit();
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let record = Record::new(counts, path, vec![Ok(journal)])?;
    let is_unread =
        |error: &&Error| matches!(error, Error::Journal { error: JournalError::Io { .. }, .. });
    if let Some(error) = record.left_out.iter().find(is_unread) {
        return Err(error.clone());
    }
    let length = file.metadata().map_err(cannot_read)?.len();
    if read == length {
        return Ok((has_begun.then_some(record), read));
    }
    // If the read ended early, the rest must not be cut off.
    Err(cannot_read(io::Error::other(format!("{read} of {length} bytes could be read"))))
}

#[cfg(test)]
mod tests {
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
        let new = Lock::open(&path, &Cancel::new()).expect("no file yet").0;
        assert!(!path.exists(), "it is made when the count begins");
        drop(Journal::begin(new, &plan, Sum::default(), &run).expect("a journal"));
        let begun = fs::read_to_string(&path).expect("text");
        for read in ["", &begun[..50], &begun[..begun.len() - 3], &begun] {
            fs::write(&path, read).expect("room");
            let (lock, _) = Lock::open(&path, &Cancel::new()).expect("nobody writes");
            let longer = read.to_owned() + &begun;
            fs::write(&path, &longer).expect("room");
            let refused = Journal::begin(lock, &plan, Sum::default(), &run).map(drop);
            assert_eq!(refused, Err(JournalError::InUse.at(&path)));
            assert_eq!(fs::read_to_string(&path).expect("text"), longer);
        }
    }
}
