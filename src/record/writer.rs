//! Writes a journal while its units are being counted.
//!
//! A counting thread appends its own lines, so what it has handed over is safe from a kill. A thread of
//! its own forces the file to disk, once a second if there is something new: a file server may take
//! seconds for that, and nobody should wait.
//!
//! **A failed sync.** After it, Linux takes the lost pages for written: everybody who reads the file
//! sees them, until the machine starts again. So the length of the last good sync is kept. After a failed
//! sync the file is cut back to that length, and the count ends. For the same reason the cache is dropped
//! before a journal is read, as it is resumed and at the end: what counts is what the disk has.
//!
//! **One writer.** A lock keeps other processes away from a file that the user named. The journals of
//! shards need none: each process creates its own. A lock that is held tells that a process is writing.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::disk::{create, drop_cache, file_name, lock, open, open_with, sync_folder};
use super::header::first_line;
use super::line::{Run, done_text};
use super::reader::Named;
use super::union::Record;
use crate::done::{Tally, UnitsDone};
use crate::error::{Error, JournalError};
use crate::plan::Plan;
use crate::shard::Shard;

/// How often the file is forced to disk, if that takes no longer than this.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Whoever waits longer than this for the disk at the end should know why.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where a process will record its units.
pub(crate) enum Output {
    /// A journal that is locked: no other process writes it.
    File(PathBuf, File),
    /// A folder, in which each process creates a journal of its own.
    Folder(PathBuf),
}

/// A journal that is being written.
pub(crate) struct Journal {
    named: Named,
    /// What it held before.
    held: Tally,
    shared: Arc<Shared>,
    /// The thread that syncs. `None` once it was told to end.
    syncer: Option<JoinHandle<()>>,
}

/// What the counting threads share with the one that syncs.
struct Shared {
    file: File,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Bytes of the lines in the file.
    bytes: u64,
    /// How many of them the disk has.
    synced: u64,
    /// Whether no more lines will come.
    is_ending: bool,
    /// Whether the thread that syncs has ended.
    has_ended: bool,
    /// Why no more lines can be written.
    failure: Option<JournalError>,
}

impl Output {
    /// Locks the journal at a path and reads it. If there is none, it is created, empty.
    pub(crate) fn lock(path: &Path) -> Result<(Self, Option<Record>), Error> {
        let of_file = |error: JournalError| error.at(path);
        let file = open_with(path, OpenOptions::new().read(true).append(true).create(true))?;
        lock(&file).map_err(of_file)?;
        let mut record = None;
        if file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            // What waits in the cache would stay there.
            file.sync_data().map_err(JournalError::cannot("write")).map_err(of_file)?;
            record = read_from_disk(path, &file, None)?;
        }
        Ok((Self::File(path.to_owned(), file), record))
    }

    /// Bytes of a last line that was cut off in the middle of a write. They are dropped when it begins.
    pub(crate) fn cut_off(&self, record: Option<&Record>) -> u64 {
        match self {
            Self::File(..) => record.map_or(0, |record| record.files[0].cut_off),
            Self::Folder(_) => 0,
        }
    }

    /// Begins to write, with the lines that tell who counts: in a folder a new journal, else behind what the
    /// locked one holds.
    pub(crate) fn begin(
        self,
        plan: &Arc<Plan>,
        record: Option<&Record>,
        run: &Run,
    ) -> Result<Journal, Error> {
        let (path, file, held) = match self {
            Self::File(path, file) => (path, file, record),
            Self::Folder(folder) => {
                let (path, file) = create_in(&folder, plan, run.shard)?;
                (path, file, None)
            }
        };
        let bytes = held.map_or(0, |record| record.files[0].bytes);
        let named = Named::of(Arc::clone(plan), path);
        let of_file = |error: JournalError| error.at(&named.path);
        let length = file.metadata().map_err(JournalError::cannot("open")).map_err(of_file)?.len();
        if bytes < length {
            file.set_len(bytes).map_err(JournalError::cannot("write")).map_err(of_file)?;
        }
        let state = Mutex::new(State { bytes, synced: bytes, ..State::default() });
        let shared = Arc::new(Shared { file, state, changed: Condvar::new() });
        let first = if bytes == 0 { first_line(&named.text) } else { String::new() };
        shared.append(&(first + &named.seal().close(&run.to_string())));
        if let Some(failure) = shared.state().failure.take() {
            return Err(of_file(failure));
        }
        let syncer = Builder::new().name("nqueens-journal".to_owned()).spawn({
            let (shared, new) = (Arc::clone(&shared), (bytes == 0).then(|| named.path.clone()));
            move || {
                shared.sync_until_end(new);
                shared.state().has_ended = true;
                shared.changed.notify_all();
            }
        });
        let syncer = syncer
            .map_err(|error| Error::ThreadsNotStarted { threads: 1, reason: error.to_string() })?;
        let held = held.map_or(Tally::default(), Record::tally);
        Ok(Journal { named, held, shared, syncer: Some(syncer) })
    }
}

/// Creates the journal of a process in a folder, with a name that no other process uses. Containers may share
/// a host name and a process number, so a number is added if the name is taken.
fn create_in(folder: &Path, plan: &Plan, shard: Shard) -> Result<(PathBuf, File), Error> {
    let mut number = 1;
    loop {
        let path = folder.join(file_name(plan, shard, number));
        match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            // It was there when the count began.
            Err(_) if !folder.exists() => return Err(JournalError::Gone.at(folder)),
            Err(error) => return Err(JournalError::cannot("open")(error).at(&path)),
            Ok(file) => {
                // Without locks, nobody sees that it is being written.
                let _ = lock(&file);
                return Ok((path, file));
            }
        }
    }
}

impl Journal {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.named.path
    }

    /// Appends finished units. If that fails, [`Journal::has_failed`].
    pub(crate) fn append(&self, done: &UnitsDone) {
        self.shared.append(&self.named.seal().close(&done_text(done)));
    }

    /// Whether no more lines can be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.shared.state().failure.is_some()
    }

    /// Waits until the disk has everything, reads it back from there, and makes sure that it is what was held
    /// before and what was counted since. Calls `waits` once if the disk takes its time.
    pub(crate) fn close(mut self, counted: Tally, waits: &dyn Fn()) -> Result<Record, Error> {
        let ended = self.end(waits);
        let path = self.path();
        // If it is gone, that is why the disk did not take its lines.
        if matches!(path.try_exists(), Ok(false)) {
            return Err(JournalError::Gone.at(path));
        }
        ended.map_err(|error| error.at(path))?;
        let record = read_from_disk(path, &open(path)?, Some(&self.named))?;
        record
            .filter(|record| record.tally() == self.held + counted)
            .ok_or_else(|| JournalError::NotAsWritten.at(path))
    }

    /// Waits until the thread that syncs has ended.
    fn end(&mut self, waits: &dyn Fn()) -> Result<(), JournalError> {
        let Some(syncer) = self.syncer.take() else { return Ok(()) };
        let mut state = self.shared.state();
        state.is_ending = true;
        self.shared.changed.notify_all();
        let is_at_work = |state: &mut State| !state.has_ended;
        let waited = self.shared.changed.wait_timeout_while(state, PATIENCE, is_at_work);
        let is_late = waited.unwrap_or_else(PoisonError::into_inner).1.timed_out();
        if is_late {
            waits();
        }
        syncer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.shared.state().failure.take().map_or(Ok(()), Err)
    }
}

/// Even if the count panics, what it has finished is forced to disk.
impl Drop for Journal {
    fn drop(&mut self) {
        // The panic is the error to report.
        let _ = self.end(&|| ());
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends text. If this fails, what was written of it is cut off again.
    fn append(&self, text: &str) {
        let mut state = self.state();
        if state.failure.is_some() {
            return;
        }
        if let Err(error) = (&self.file).write_all(text.as_bytes()) {
            let written = state.bytes..state.bytes + text.len() as u64;
            if self.length().is_ok_and(|length| written.contains(&length)) {
                // If this fails too, the reader leaves the rest out.
                let _ = self.file.set_len(state.bytes);
            }
            state.failure = Some(JournalError::cannot("write")(error));
        } else {
            state.bytes += text.len() as u64;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Forces the file to disk again and again. If it is new, its folder comes first.
    fn sync_until_end(&self, mut new: Option<PathBuf>) {
        let mut state = self.state();
        loop {
            let is_idle = |state: &mut State| !state.is_ending && state.synced == state.bytes;
            state = self.changed.wait_while(state, is_idle).unwrap_or_else(PoisonError::into_inner);
            if state.synced == state.bytes {
                break;
            }
            let paused =
                self.changed.wait_timeout_while(state, SYNC_EVERY, |state| !state.is_ending);
            state = paused.unwrap_or_else(PoisonError::into_inner).0;
            let bytes = state.bytes;
            drop(state);
            let synced = new.take().map_or(Ok(()), |path| sync_folder(&path));
            let synced = synced.and_then(|()| self.file.sync_data());
            state = self.state();
            match synced {
                Ok(()) => state.synced = bytes,
                Err(error) => return self.cut_back(&mut state, error),
            }
        }
    }

    /// Cuts the file back to where it was last good: nothing is left that only the cache has.
    fn cut_back(&self, state: &mut State, error: io::Error) {
        // If somebody else wrote as well, that stays.
        let is_ours = self.length().is_ok_and(|length| length == state.bytes);
        let is_cut_back = is_ours && self.file.set_len(state.synced).is_ok();
        // Who reads it now should see what the disk has.
        let _ = self.file.sync_data();
        drop_cache(&self.file);
        state.bytes = state.synced;
        state.failure = Some(JournalError::NotSynced { source: error.into(), is_cut_back });
    }
}

/// Reads a journal not from the cache, as far as the system allows that, through a file that was just opened.
/// `None` if it has not begun. Damage is an error.
fn read_from_disk(
    path: &Path,
    file: &File,
    known: Option<&Named>,
) -> Result<Option<Record>, Error> {
    let cannot_read = |error| JournalError::cannot("read")(error).at(path);
    drop_cache(file);
    let mut input = file.take(u64::MAX);
    let contents = Named::scan(known, path, &mut input, |_, _| ())?;
    let record = contents.map(|contents| {
        Record::of(contents.named.clone(), vec![contents], Vec::new())?.undamaged()
    });
    let record = record.transpose()?;
    let (read, length) = (u64::MAX - input.limit(), file.metadata().map_err(cannot_read)?.len());
    if read == length {
        return Ok(record);
    }
    // A read that ended early must not make anybody cut off the rest.
    Err(cannot_read(io::Error::other(format!("{read} of {length} bytes could be read"))))
}
