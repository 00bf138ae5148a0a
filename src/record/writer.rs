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
//! shards need none: each process creates its own. While a process writes, it holds the lock. Where
//! locks do nothing, two processes may write one file. So nothing is cut off that was not read, and the thread
//! that syncs looks each second whether the file is where it was and as long as this process left it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::disk::{create, drop_cache, file_name, leads_to, lock, open, open_with, sync_folder};
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
    /// A journal. `None` if it is to be created.
    File(PathBuf, Option<Locked>),
    /// A folder, in which each process creates a journal of its own.
    Folder(PathBuf),
}

/// A journal that is locked, so that no other process writes it, and how many bytes were read of it.
type Locked = (File, u64);

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
    path: PathBuf,
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
    /// What happened to the file, when somebody last looked; and whether that was told.
    harm: Option<JournalError>,
    is_told: bool,
    /// Why no more lines can be written.
    failure: Option<JournalError>,
}

impl Output {
    /// Locks the journal at a path and reads it. If there is none, it is created when the count begins.
    pub(crate) fn lock(path: &Path) -> Result<(Self, Option<Record>), Error> {
        if fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok((Self::File(path.to_owned(), None), None));
        }
        // Linux may refuse to open a file of another user in order to create it (`fs.protected_regular`).
        let file = open_locked(path, OpenOptions::new().read(true).append(true))?;
        let (mut record, mut read) = (None, 0);
        if file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            // What waits in the cache would stay there.
            let synced = file.sync_data().map_err(JournalError::cannot("write"));
            synced.map_err(|error| error.at(path))?;
            (record, read) = read_from_disk(path, &file, None)?;
        }
        Ok((Self::File(path.to_owned(), Some((file, read))), record))
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
        let (path, (file, read), held) = match self {
            Self::File(path, Some(locked)) => (path, locked, record),
            Self::File(path, None) => {
                let file =
                    open_locked(&path, File::options().read(true).append(true).create(true))?;
                (path, (file, 0), None)
            }
            Self::Folder(folder) => {
                let (path, file) = create_in(&folder, plan, run.shard)?;
                (path, (file, 0), None)
            }
        };
        let bytes = held.map_or(0, |record| record.files[0].bytes);
        let named = Named::of(Arc::clone(plan), path);
        let of_file = |error: JournalError| error.at(&named.path);
        let length = file.metadata().map_err(JournalError::cannot("open")).map_err(of_file)?.len();
        if length != read {
            // Where locks do nothing, another process has written to it since.
            return Err(of_file(JournalError::InUse));
        }
        if bytes < length {
            file.set_len(bytes).map_err(JournalError::cannot("write")).map_err(of_file)?;
        }
        let state = Mutex::new(State { bytes, synced: bytes, is_told: true, ..State::default() });
        let path = named.path.clone();
        let shared = Arc::new(Shared { path, file, state, changed: Condvar::new() });
        let first = if bytes == 0 { first_line(&named.text) } else { String::new() };
        shared.append(&(first + &named.seal().close(&run.to_string())));
        if let Some(failure) = shared.state().failure.take() {
            return Err(of_file(failure));
        }
        let syncer = Builder::new().name("nqueens-journal".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.sync_until_end(bytes == 0);
                shared.state().has_ended = true;
                shared.changed.notify_all();
            }
        });
        let syncer = syncer.map_err(Error::no_thread)?;
        let held = held.map_or(Tally::default(), Record::tally);
        Ok(Journal { named, held, shared, syncer: Some(syncer) })
    }
}

/// Opens a journal and locks it.
fn open_locked(path: &Path, options: &OpenOptions) -> Result<File, Error> {
    let file = open_with(path, options)?;
    lock(&file).map_err(|error| error.at(path))?;
    // Another file may have taken its name before it was locked.
    let is_it = leads_to(path, &file).unwrap_or(false);
    if is_it { Ok(file) } else { Err(JournalError::Changed.at(path)) }
}

/// Creates the journal of a process in a folder, with a name that no other process uses. Containers may share
/// a host name and a process number, so a number is added if the name is taken. The folder is made if it is missing,
/// but not its parents: they might be a file system that is not mounted.
fn create_in(folder: &Path, plan: &Plan, shard: Shard) -> Result<(PathBuf, File), Error> {
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

    /// What has happened to the file, if that is not told yet: `Some(None)` if it is again as this process left it.
    pub(crate) fn news(&self) -> Option<Option<Error>> {
        let mut state = self.shared.state();
        let is_told = std::mem::replace(&mut state.is_told, true);
        (!is_told).then(|| state.harm.clone().map(|harm| harm.at(self.path())))
    }

    /// Waits until the disk has everything, reads it back from there, and makes sure that it is what was held
    /// before and what was counted since. Calls `waits` once if the disk takes its time.
    pub(crate) fn close(mut self, counted: Tally, waits: &dyn Fn()) -> Result<Record, Error> {
        use JournalError::{Gone, NotAsWritten, Replaced};
        let ended = self.end(waits);
        let (path, harm) = (self.path(), self.shared.look());
        // If it is gone, that is why the disk did not take its lines.
        if harm == Some(Gone) {
            return Err(Gone.at(path));
        }
        ended.map_err(|error| error.at(path))?;
        let read = open(path).and_then(|file| read_from_disk(path, &file, Some(&self.named)));
        match read {
            Ok((Some(record), _)) if record.tally() == self.held + counted => Ok(record),
            // Of a file with damage the error says what is left, unless it is another file.
            Err(error) if harm != Some(Replaced) => Err(error),
            _ => Err(harm.unwrap_or(NotAsWritten).at(path)),
        }
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

    /// Appends text. If this fails in the middle of it, the reader leaves that piece out: to cut it off could cut off
    /// what another process wrote.
    fn append(&self, text: &str) {
        let mut state = self.state();
        if state.failure.is_some() {
            return;
        }
        match (&self.file).write_all(text.as_bytes()) {
            Ok(()) => state.bytes += text.len() as u64,
            Err(error) => state.failure = Some(JournalError::cannot("write")(error)),
        }
    }

    /// What has happened to the file, if it is not as this process left it. `None` also if the system does not say.
    fn look(&self) -> Option<JournalError> {
        let before = self.state().bytes;
        let is_here = leads_to(&self.path, &self.file);
        let length = self.length();
        // A write that was under way meanwhile has ended now.
        let state = self.state();
        match (is_here, length) {
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Some(JournalError::Gone),
            (Ok(false), _) => Some(JournalError::Replaced),
            (_, Ok(length)) if length < before => Some(JournalError::Cut),
            (_, Ok(length)) if length > state.bytes && state.failure.is_none() => {
                Some(JournalError::WrittenByOthers)
            }
            _ => None,
        }
    }

    fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Looks at the file again and again, and forces it to disk if something is new; its folder as well if the file
    /// is new.
    fn sync_until_end(&self, mut is_new: bool) {
        loop {
            let state = self.state();
            let paused =
                self.changed.wait_timeout_while(state, SYNC_EVERY, |state| !state.is_ending);
            let state = paused.unwrap_or_else(PoisonError::into_inner).0;
            let (bytes, is_idle, is_ending) =
                (state.bytes, state.synced == state.bytes, state.is_ending);
            drop(state);
            if is_idle && is_ending {
                return;
            }
            let harm = self.look();
            let synced = match std::mem::take(&mut is_new) {
                true => sync_folder(&self.path),
                false => Ok(()),
            };
            let synced = synced.and_then(|()| if is_idle { Ok(()) } else { self.file.sync_data() });
            let mut state = self.state();
            if state.harm != harm {
                (state.harm, state.is_told) = (harm, false);
            }
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

/// Reads a journal not from the cache, as far as the system allows that, through a file that was just opened. Returns
/// what it holds, `None` if it has not begun, and how many bytes it has. Damage is an error.
fn read_from_disk(
    path: &Path,
    file: &File,
    known: Option<&Named>,
) -> Result<(Option<Record>, u64), Error> {
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
        return Ok((record, read));
    }
    // A read that ended early must not make anybody cut off the rest.
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
        let new = Output::lock(&path).expect("no file yet").0;
        assert!(!path.exists(), "it is made when the count begins");
        drop(new.begin(&plan, None, &run).expect("a journal"));
        let begun = fs::read_to_string(&path).expect("text");
        for read in ["", &begun[..50], &begun[..begun.len() - 3], &begun] {
            fs::write(&path, read).expect("room");
            let (output, record) = Output::lock(&path).expect("nobody writes");
            let longer = read.to_owned() + &begun;
            fs::write(&path, &longer).expect("room");
            let refused = output.begin(&plan, record.as_ref(), &run).map(drop);
            assert_eq!(refused, Err(JournalError::InUse.at(&path)));
            assert_eq!(fs::read_to_string(&path).expect("text"), longer);
        }
    }
}
