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
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::Record;
use super::disk::{drop_cache, folder_of, open, path_leads_to, sync_folder};
use super::first_line::FirstLine;
use super::line::{LineCrc, format_done};
use super::lock::{LockedJournal, read_from_disk};
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
    /// The sum of all that the journal held when it was opened.
    held: Sum,
    shared: Arc<Shared>,
    /// The thread that syncs. `None` once it was asked to end.
    syncer: Option<Syncer>,
}

/// The thread that syncs a journal.
struct Syncer {
    thread: JoinHandle<()>,
    /// Asks the thread to end, by sending it a channel. That channel closes when the thread has ended.
    ends: Sender<Sender<()>>,
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
    pub(super) fn begin(
        locked: LockedJournal,
        plan: &Arc<Plan>,
        held: Sum,
        run: &Run,
    ) -> Result<Self, Error> {
        prepare_file(&locked).map_err(|error| error.at(&locked.path))?;
        let line_crc = LineCrc::of(plan);
        let first_lines = first_lines(&locked, plan, line_crc, run);
        let is_new = locked.kept == 0;
        let is_in_new_folder = locked.is_in_new_folder;
        let written = Written { bytes: locked.kept, synced: locked.kept, ..Written::default() };
        let shared =
            Arc::new(Shared { path: locked.path, file: locked.file, written: Mutex::new(written) });
        shared.append(&first_lines);
        if let Some(failure) = shared.written().failure.take() {
            return Err(failure.at(&shared.path));
        }
        let syncer = Some(Syncer::start(&shared, is_new, is_in_new_folder)?);
        Ok(Self { plan: Arc::clone(plan), line_crc, held, shared, syncer })
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
    /// when it was opened and what was counted since. Calls `waits` once if the disk takes its time. From then on, the
    /// wait ends if `is_over` returns true. Returns what the journal holds, and what has happened to it and was not
    /// returned yet.
    pub(crate) fn close(
        mut self,
        counted: Sum,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<(Record, Option<Error>), Error> {
        let synced = self.wait_for_disk(waits, is_over);
        if synced == Err(JournalError::NotYetSynced) {
            // Whatever asks the file system at this moment might have to wait as well.
            return Err(JournalError::NotYetSynced.at(self.path()));
        }
        let harm = self.shared.find_harm();
        let read_back = match synced {
            Ok(()) => self.read_back(),
            Err(error) => Err(error.at(self.path())),
        };
        let reason = match read_back {
            Ok(Some(record)) if record.sum() == self.held + counted => {
                return Ok((record, self.take_news()));
            }
            Ok(_) => JournalError::NotAsWritten,
            // The first line names another plan than it did, so another process wrote the file.
            Err(Error::PlansDiffer { .. }) => JournalError::WrittenByOthers,
            // If the file is gone, that is the reason why it cannot be read, or why the disk did not take its lines.
            Err(_) if harm == Some(JournalError::Gone) => JournalError::Gone,
            // The error of a file that names no plan says so.
            Err(error) => return Err(error),
        };
        Err(harm.unwrap_or(reason).at(self.path()))
    }

    /// Reads the journal back from the disk. Returns `None` if it does not even have its first line.
    fn read_back(&self) -> Result<Option<Record>, Error> {
        let file = open(self.path())?;
        let (record, _) = read_from_disk(self.path(), &file, Some(&self.plan))?;
        Ok(record)
    }

    /// Asks the thread that syncs to end, and waits until the disk has all lines, or the wait is over.
    fn wait_for_disk(
        &mut self,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), JournalError> {
        let Some(syncer) = self.syncer.take() else { return Ok(()) };
        syncer.end(waits, is_over)?;
        match self.shared.written().failure.take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

/// Forces finished units to disk even if the count panics.
impl Drop for Journal {
    fn drop(&mut self) {
        // The panic is the error to report.
        let _ = self.wait_for_disk(&|| (), &|| false);
    }
}

/// Checks that a journal is as long as it was when it was read, and cuts off its incomplete last line.
fn prepare_file(locked: &LockedJournal) -> Result<(), JournalError> {
    let metadata = locked.file.metadata().map_err(|error| JournalError::cannot("open", error))?;
    if metadata.len() != locked.length {
        // Where locks do nothing, another process may have written meanwhile.
        return Err(JournalError::InUse);
    }
    if locked.kept < locked.length {
        let cut = locked.file.set_len(locked.kept);
        cut.map_err(|error| JournalError::cannot("write", error))?;
    }
    Ok(())
}

/// Returns the first lines that a run writes into a journal.
fn first_lines(locked: &LockedJournal, plan: &Plan, line_crc: LineCrc, run: &Run) -> String {
    let mut lines = String::new();
    if locked.kept == 0 {
        lines += &FirstLine::format(plan);
    } else if locked.lacks_line_feed {
        // The next line must not become a part of the damaged one.
        lines.push('\n');
    }
    lines += &line_crc.add_to(&run.to_string());
    lines
}

impl Syncer {
    /// Starts the thread. If the file is new, the thread also syncs its folder, and if this is new, the folder above.
    fn start(shared: &Arc<Shared>, is_new: bool, is_in_new_folder: bool) -> Result<Self, Error> {
        let (ends, told) = channel();
        let shared = Arc::clone(shared);
        let sync = move || shared.sync_until_end(&told, is_new, is_in_new_folder);
        let thread = Builder::new().name("nqueens-journal".to_owned());
        let thread = thread.spawn(sync).map_err(Error::no_thread)?;
        Ok(Self { thread, ends })
    }

    /// Asks the thread to end, and waits until it has ended, or the wait is over: then the disk does not have all lines
    /// yet. Calls `waits` once if the disk takes its time.
    fn end(self, waits: &dyn Fn(), is_over: &dyn Fn() -> bool) -> Result<(), JournalError> {
        let (sender, receiver) = channel();
        // If the thread has already ended, sending fails, and that closes the channel as well.
        let _ = self.ends.send(sender);
        if receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            waits();
            while receiver.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if is_over() {
                    return Err(JournalError::NotYetSynced);
                }
            }
        }
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(())
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
            Err(error) => written.failure = Some(JournalError::cannot("write", error)),
        }
    }

    /// Returns what has happened to the file if it is not as this process left it. Returns `None` also if the system
    /// does not answer.
    fn find_harm(&self) -> Option<JournalError> {
        let before = self.written().bytes;
        let length = self.length().ok();
        if length.is_some_and(|length| length < before) {
            return Some(JournalError::WrittenByOthers);
        }
        match path_leads_to(&self.path, &self.file, before) {
            Ok(false) => return Some(JournalError::Gone),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(JournalError::Gone);
            }
            Ok(true) | Err(_) => {}
        }
        // A write that was under way has ended by this time.
        let written = self.written();
        let is_longer = length.is_some_and(|length| length > written.bytes);
        (is_longer && written.failure.is_none()).then_some(JournalError::WrittenByOthers)
    }

    fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Checks the file again and again, and forces it to disk if something is new, until `told` brings the request to
    /// end. If the file itself is new, forces its folder to disk as well.
    fn sync_until_end(&self, told: &Receiver<Sender<()>>, is_new: bool, is_in_new_folder: bool) {
        // The sender is dropped at the return, which closes its channel.
        let mut request = None;
        let mut harm = None;
        let mut must_sync_folder = is_new;
        loop {
            if request.is_none() {
                request = told.recv_timeout(SYNC_EVERY).ok();
            }
            let Written { bytes, synced, .. } = *self.written();
            let is_idle = synced == bytes;
            if is_idle && request.is_some() {
                return;
            }
            let harm_before = mem::replace(&mut harm, self.find_harm());
            let sync_result = if is_idle { Ok(()) } else { self.file.sync_data() };
            let mut folder_result = Ok(());
            if must_sync_folder && sync_result.is_ok() {
                must_sync_folder = false;
                folder_result = self.sync_folders(is_in_new_folder);
            }
            let mut written = self.written();
            if let Err(error) = folder_result {
                // That is only news: the file is on disk, and nearly every file system then keeps its name, too.
                written.news = Some(JournalError::FolderNotSynced { source: error.into() });
            }
            if harm != harm_before {
                written.news.clone_from(&harm);
            }
            match sync_result {
                Ok(()) => written.synced = bytes,
                Err(error) => return self.cut_back(&mut written, error),
            }
        }
    }

    /// Forces the folder of the file to disk, and if the folder is new, the folder above it, too.
    fn sync_folders(&self, is_in_new_folder: bool) -> io::Result<()> {
        sync_folder(&self.path)?;
        if is_in_new_folder {
            sync_folder(folder_of(&self.path))?;
        }
        Ok(())
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
