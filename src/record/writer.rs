//! Writes a journal while its units are being counted.
//!
//! Each counting thread appends its own lines to the file. A line that is written survives if the process is killed.
//! A separate thread forces the file to disk once a second if there is something new. On a file server that may take
//! seconds, and counting does not wait for it.
//!
//! **A failed sync.** After a failed sync, Linux treats the lost pages as written: everybody who reads the file sees
//! them, until the machine restarts. So the writer remembers the length of the file at the last good sync. After a
//! failed sync it cuts the file back to that length, and the count ends. For the same reason the cache is dropped
//! before a journal is read, both when it is resumed and at the end: only what the disk has counts.
//!
//! **Changes by others.** The thread that syncs checks each second whether the file is still at its path, goes on there
//! where this process has ended, and is as long as this process left it.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::Record;
use super::disk::{drop_cache, folder_of, goes_on_at, open, sync_folder};
use super::first_line::FirstLine;
use super::line::{LineCrc, format_done};
use super::place::{Lock, open_locked, read_from_disk};
use super::runs::Run;
use crate::done::{Sum, UnitsDone};
use crate::error::{Error, JournalError};
use crate::plan::Plan;

/// The interval at which the file is forced to disk, if that takes less.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// The time after which, at the end of a count, the observer hears that the disk has not answered yet.
const PATIENCE: Duration = Duration::from_secs(1);
/// The interval at which that wait looks for a cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A journal that is being written.
pub(crate) struct Journal {
    plan: Arc<Plan>,
    line_crc: LineCrc,
    /// What the journal held before.
    held: Sum,
    shared: Arc<Shared>,
    /// Asks the thread that syncs to end, by sending it a channel. That channel closes when the thread has ended.
    ends: Sender<Sender<()>>,
    /// The thread that syncs. `None` once it was asked to end.
    syncer: Option<JoinHandle<()>>,
}

/// The part of a journal that the counting threads share with the thread that syncs.
struct Shared {
    path: PathBuf,
    file: File,
    written: Mutex<Written>,
}

/// The progress of writing: how much was written, how much is on disk, and what went wrong.
#[derive(Default)]
struct Written {
    /// The bytes of all lines in the file.
    bytes: u64,
    /// The number of these bytes that are on disk.
    synced: u64,
    /// What happened to the file, if it is not reported yet.
    news: Option<JournalError>,
    /// The reason why no more lines can be written.
    failure: Option<JournalError>,
}

impl Journal {
    /// Begins to write after the lines that the journal holds. The first lines written say who counts.
    pub(super) fn begin(lock: Lock, plan: &Arc<Plan>, held: Sum, run: &Run) -> Result<Self, Error> {
        let Lock { path, file, length, kept, lacks_line_feed, is_in_new_folder } = lock;
        let of_file = |error: JournalError| error.at(&path);
        let file = match file {
            Some(file) => file,
            None => open_locked(&path, File::options().read(true).append(true).create(true))?,
        };
        let found = file.metadata().map_err(JournalError::cannot("open")).map_err(of_file)?.len();
        if found != length {
            // Where locks do nothing, another process may have written meanwhile.
            return Err(of_file(JournalError::InUse));
        }
        if kept < length {
            file.set_len(kept).map_err(JournalError::cannot("write")).map_err(of_file)?;
        }
        let written = Written { bytes: kept, synced: kept, ..Written::default() };
        let shared = Arc::new(Shared { path: path.clone(), file, written: Mutex::new(written) });
        let line_crc = LineCrc::of(plan);
        let mut first_lines = String::new();
        if kept == 0 {
            first_lines += &FirstLine::write(plan);
        } else if lacks_line_feed {
            // The next line must not become a part of the damaged one.
            first_lines.push('\n');
        }
        first_lines += &line_crc.add_to(&run.to_string());
        shared.append(&first_lines);
        if let Some(failure) = shared.written().failure.take() {
            return Err(of_file(failure));
        }
        let (ends, told) = channel();
        let syncer = Builder::new().name("nqueens-journal".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.sync_until_end(&told, kept == 0, is_in_new_folder)
        });
        let syncer = Some(syncer.map_err(Error::no_thread)?);
        Ok(Self { plan: Arc::clone(plan), line_crc, held, shared, ends, syncer })
    }

    /// Returns the path of the journal.
    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Appends finished units. If that fails, [`Journal::has_failed`] returns true.
    pub(crate) fn append(&self, done: &UnitsDone) {
        self.shared.append(&self.line_crc.add_to(&format_done(done)));
    }

    /// Returns whether no more lines can be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.shared.written().failure.is_some()
    }

    /// Returns what has happened to the file, unless it was returned before.
    pub(crate) fn take_news(&self) -> Option<Error> {
        self.shared.written().news.take().map(|harm| harm.at(self.path()))
    }

    /// Waits until the disk has the whole journal, reads it back from there, and checks that it holds what was held
    /// before and what was counted since. Calls `waits` once if the disk takes its time. From then on, the wait ends
    /// if `is_over` returns true. Returns what the journal holds, and what has happened to it and was not returned yet.
    pub(crate) fn close(
        mut self,
        counted: Sum,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<(Record, Option<Error>), Error> {
        use JournalError::{Gone, NotAsWritten, NotYetSynced, WrittenByOthers};
        let ended = self.end(waits, is_over);
        if ended == Err(NotYetSynced) {
            // Whatever asks the file system now might have to wait as well.
            return Err(NotYetSynced.at(self.path()));
        }
        let (path, harm) = (self.path(), self.shared.find_harm());
        let file = ended.map_err(|error| error.at(path)).and_then(|()| open(path));
        let read = file.and_then(|file| read_from_disk(path, &file, Some(&self.plan)));
        match read {
            Ok((Some(record), _)) if record.sum() == self.held + counted => {
                Ok((record, self.take_news()))
            }
            // The first line names another plan now, so another process wrote the file.
            Err(Error::PlansDiffer { .. }) => Err(harm.unwrap_or(WrittenByOthers).at(path)),
            // The error of a file that names no plan says so. If the file is gone, that is the reason why the disk did
            // not take its lines.
            Err(error) if harm != Some(Gone) => Err(error),
            _ => Err(harm.unwrap_or(NotAsWritten).at(path)),
        }
    }

    /// Asks the thread that syncs to end, and waits until it has ended, or the wait is over.
    fn end(&mut self, waits: &dyn Fn(), is_over: &dyn Fn() -> bool) -> Result<(), JournalError> {
        let Some(syncer) = self.syncer.take() else { return Ok(()) };
        let (ended, end) = channel();
        // If the thread has already ended, sending fails, and that closes the channel as well.
        let _ = self.ends.send(ended);
        if end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            waits();
            while end.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if is_over() {
                    return Err(JournalError::NotYetSynced);
                }
            }
        }
        syncer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.shared.written().failure.take().map_or(Ok(()), Err)
    }
}

/// Forces finished units to disk even if the count panics.
impl Drop for Journal {
    fn drop(&mut self) {
        // The panic is the error to report.
        let _ = self.end(&|| (), &|| false);
    }
}

impl Shared {
    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends text. If writing fails halfway, the incomplete line stays, and readers leave it out. Cutting it off
    /// could cut off what another process wrote.
    fn append(&self, text: &str) {
        let mut written = self.written();
        if written.failure.is_some() {
            return;
        }
        match (&self.file).write_all(text.as_bytes()) {
            Ok(()) => written.bytes += text.len() as u64,
            Err(error) => written.failure = Some(JournalError::cannot("write")(error)),
        }
    }

    /// Returns what has happened to the file if it is not as this process left it. Returns `None` also if the system
    /// does not answer.
    fn find_harm(&self) -> Option<JournalError> {
        let before = self.written().bytes;
        let length = self.length();
        if length.as_ref().is_ok_and(|length| *length < before) {
            return Some(JournalError::WrittenByOthers);
        }
        match goes_on_at(&self.path, &self.file, before) {
            Ok(false) => return Some(JournalError::Gone),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(JournalError::Gone);
            }
            Ok(true) | Err(_) => {}
        }
        // A write that was under way has ended by this time.
        let written = self.written();
        let is_longer = length.is_ok_and(|length| length > written.bytes);
        (is_longer && written.failure.is_none()).then_some(JournalError::WrittenByOthers)
    }

    fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Checks the file again and again, and forces it to disk if something is new. If the file itself is new, forces
    /// its folder to disk as well. If the folder cannot be synced, that is only news: the file is on disk, and nearly
    /// every file system then keeps its name, too.
    fn sync_until_end(
        &self,
        told: &Receiver<Sender<()>>,
        mut is_new: bool,
        is_in_new_folder: bool,
    ) {
        let (mut ends, mut harm) = (None, None);
        loop {
            ends = ends.or_else(|| told.recv_timeout(SYNC_EVERY).ok());
            let Written { bytes, synced, .. } = *self.written();
            let is_idle = synced == bytes;
            if is_idle && ends.is_some() {
                return;
            }
            let before = std::mem::replace(&mut harm, self.find_harm());
            let synced = if is_idle { Ok(()) } else { self.file.sync_data() };
            let mut folder = Ok(());
            if synced.is_ok() && std::mem::take(&mut is_new) {
                folder = sync_folder(&self.path);
                if is_in_new_folder && folder.is_ok() {
                    folder = sync_folder(folder_of(&self.path));
                }
            }
            let mut written = self.written();
            if let Err(error) = folder {
                written.news = Some(JournalError::FolderNotSynced { source: error.into() });
            }
            if before != harm {
                written.news.clone_from(&harm);
            }
            match synced {
                Ok(()) => written.synced = bytes,
                Err(error) => return self.cut_back(&mut written, error),
            }
        }
    }

    /// Cuts the file back to its length at the last good sync, so that nothing is left that only the cache has.
    fn cut_back(&self, written: &mut Written, error: io::Error) {
        // If another process wrote to the file too, nothing is cut off.
        let is_ours = self.length().is_ok_and(|length| length == written.bytes);
        let is_cut_back = is_ours && self.file.set_len(written.synced).is_ok();
        // Who reads it now should see what the disk has.
        let _ = self.file.sync_data();
        drop_cache(&self.file);
        written.bytes = written.synced;
        written.failure = Some(JournalError::NotSynced { source: error.into(), is_cut_back });
    }
}
