//! The file of a journal that is being written, and the thread that forces it to disk.
//!
//! The thread forces the file to disk once a second if there is something new. On a file server that may take seconds,
//! and counting does not wait for it.
//!
//! **A failed sync.** After a failed sync, Linux treats the lost pages as written: everybody who reads the file sees
//! them, until the machine restarts. So the length of the file at the last good sync is remembered. After a failed sync
//! the file is cut back to that length, and the count ends. For the same reason the cache is dropped before a journal is
//! read, both when it is resumed and at the end: only what the disk has counts.
//!
//! **Changes by others.** The thread checks each second whether the file is still at its path, goes on there where this
//! process has ended, and is as long as this process left it.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::disk::{drop_cache, folder_of, path_leads_to, sync_folder};
use crate::error::{Error, JournalError};

/// The interval at which the file is forced to disk, if that takes less.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// The time after which, at the end of a count, the observer hears that the disk has not answered yet.
const PATIENCE: Duration = Duration::from_secs(1);
/// The interval at which that wait looks for a cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The thread that syncs a journal.
pub(super) struct Syncer {
    thread: JoinHandle<()>,
    /// Asks the thread to end, by sending it a channel. That channel closes when the thread has ended.
    ends: Sender<Sender<()>>,
}

impl Syncer {
    /// Starts the thread. If the file is new, the thread also syncs its folder, and if this is new, the folder above.
    pub(super) fn start(
        file: &Arc<SharedFile>,
        is_new: bool,
        is_in_new_folder: bool,
    ) -> Result<Self, Error> {
        let (ends, told) = channel();
        let file = Arc::clone(file);
        let sync = move || file.sync_until_end(&told, is_new, is_in_new_folder);
        let builder = Builder::new().name("nqueens-journal".to_owned());
        let thread = builder.spawn(sync).map_err(Error::thread_not_started)?;
        Ok(Self { thread, ends })
    }

    /// Asks the thread to end, and waits until it has ended, or the wait is over: then the disk does not have all lines
    /// yet. Calls `waits` once if the disk takes its time.
    pub(super) fn end(
        self,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), JournalError> {
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

/// The file of a journal, which the counting threads share with the thread that syncs.
pub(super) struct SharedFile {
    pub(super) path: PathBuf,
    file: File,
    written: Mutex<Written>,
}

/// The progress of writing: how much was written, how much is on disk, and what went wrong.
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

impl SharedFile {
    /// Makes the file of a journal that holds this number of bytes, all of which are on disk.
    pub(super) fn new(path: PathBuf, file: File, bytes: u64) -> Self {
        let written = Written { bytes, synced: bytes, news: None, failure: None };
        Self { path, file, written: Mutex::new(written) }
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends text. If writing fails halfway, the incomplete line stays, and readers leave it out. Cutting it off
    /// could cut off what another process wrote.
    pub(super) fn append(&self, text: &str) {
        let mut written = self.written();
        if written.failure.is_some() {
            return;
        }
        match (&self.file).write_all(text.as_bytes()) {
            Ok(()) => written.bytes += text.len() as u64,
            Err(error) => written.failure = Some(JournalError::cannot("write", error)),
        }
    }

    /// Returns whether no more lines can be written.
    pub(super) fn has_failed(&self) -> bool {
        self.written().failure.is_some()
    }

    /// Returns the reason why no more lines can be written, unless it was returned before.
    pub(super) fn take_failure(&self) -> Option<JournalError> {
        self.written().failure.take()
    }

    /// Returns what has happened to the file, unless it was returned before.
    pub(super) fn take_news(&self) -> Option<JournalError> {
        self.written().news.take()
    }

    /// Returns what has happened to the file if it is not as this process left it. Returns `None` also if the system
    /// does not answer.
    pub(super) fn find_harm(&self) -> Option<JournalError> {
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
        if is_longer && written.failure.is_none() {
            return Some(JournalError::WrittenByOthers);
        }
        None
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
