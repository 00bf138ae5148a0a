//! The file of a journal that is being written, and the thread that forces it to disk.
//!
//! The thread forces the file to disk once a second if there is something new. On a file server that may take seconds,
//! and counting does not wait for it.
//!
//! **A failed write** leaves nothing of its line, because the file is cut back to its last whole line. Half a line would
//! stay in a folder for ever.
//!
//! **A failed sync.** After a failed sync, Linux treats the lost pages as written: everybody who reads the file sees
//! them, until the machine restarts. So the length of the file at the last good sync is remembered. After a failed sync
//! the file is cut back to that length, and the count ends. For the same reason the cache is dropped before a journal is
//! read, both when it is resumed and at the end: only what the disk has counts.
//!
//! **Changes by others.** The thread checks each second whether the file is still at its path, goes on there where this
//! process has ended, and is as long as this process left it. If another process has changed its length, the next line is
//! written behind the lines that begin a journal. So the file stays a journal if it was emptied, and if a journal of
//! another count was copied over it, the lines can be told apart.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::mem;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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
    file: Arc<SharedFile>,
}

/// The folders that have to be synced once, so that a new file keeps its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnsyncedFolders {
    /// None, because the file is not new.
    None,
    /// The folder of the file.
    OfFile,
    /// The folder of the file, and the folder above it, because the folder of the file is new, too.
    OfFileAndAbove,
}

impl Syncer {
    /// Starts the thread.
    pub(super) fn start(file: &Arc<SharedFile>, folders: UnsyncedFolders) -> Result<Self, Error> {
        let shared = Arc::clone(file);
        let sync = move || shared.sync_until_end(folders);
        let builder = Builder::new().name("nqueens-journal".to_owned());
        let thread = builder.spawn(sync).map_err(Error::thread_not_started)?;
        Ok(Self { thread, file: Arc::clone(file) })
    }

    /// Asks the thread to end, and waits until it has ended, or the wait is over: then the disk does not have all lines
    /// yet. Calls `waits` once if the disk takes its time.
    pub(super) fn end(
        self,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), JournalError> {
        self.file.ask_to_end();
        if !self.has_ended_within(PATIENCE) {
            waits();
            while !self.has_ended_within(LOOK_EVERY) {
                if is_over() {
                    return Err(JournalError::NotYetSynced);
                }
            }
        }
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(())
    }

    /// Waits until the thread has ended, but not longer than this. Returns whether it has ended.
    fn has_ended_within(&self, time: Duration) -> bool {
        // A thread that has panicked does not say that it ends.
        self.file.has_ended_within(time) || self.thread.is_finished()
    }
}

/// The file of a journal, which the counting threads share with the thread that syncs.
pub(super) struct SharedFile {
    pub(super) path: PathBuf,
    file: File,
    /// Line 1 and the line of this run. They are written again if another process has changed the file.
    first_lines: String,
    state: Mutex<State>,
    /// Says that the thread is asked to end, or has ended.
    changed: Condvar,
}

/// How far the writing is, and what went wrong.
struct State {
    /// The bytes of all lines in the file.
    bytes: u64,
    /// The number of these bytes that are on disk.
    synced: u64,
    /// Whether another process has changed the length of the file.
    was_changed: bool,
    /// What happened to the file, if it is not reported yet.
    news: Option<JournalError>,
    /// The reason why no more lines can be written.
    failure: Option<JournalError>,
    /// Whether the thread that syncs is asked to end.
    is_ending: bool,
    /// Whether that thread has ended.
    has_ended: bool,
}

impl State {
    /// Notes that a sync has ended, when the file had this number of bytes as it began.
    fn was_synced(&mut self, bytes: u64) {
        // If the file has become shorter meanwhile, what is new in it may not be on disk yet.
        if self.bytes >= bytes {
            self.synced = bytes;
        }
    }
}

impl SharedFile {
    /// Makes the file of a journal that holds this number of bytes, all of which are on disk.
    pub(super) fn new(path: PathBuf, file: File, bytes: u64, first_lines: String) -> Self {
        let state = State {
            bytes,
            synced: bytes,
            was_changed: false,
            news: None,
            failure: None,
            is_ending: false,
            has_ended: false,
        };
        Self { path, file, first_lines, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends whole lines. If another process has changed the length of the file, what begins a journal comes first.
    pub(super) fn append(&self, lines: &str) {
        let mut state = self.state();
        if state.failure.is_some() {
            return;
        }
        let mut text = self.beginning_after_change(&mut state);
        text += lines;
        match (&self.file).write_all(text.as_bytes()) {
            Ok(()) => state.bytes += text.len() as u64,
            Err(error) => {
                self.take_back(&text, state.bytes);
                state.failure = Some(JournalError::cannot("write", error));
            }
        }
    }

    /// Returns the text that has to come before the next line, because another process has changed the length of the
    /// file. It is empty if none has.
    fn beginning_after_change(&self, state: &mut State) -> String {
        let Ok(length) = self.length() else { return String::new() };
        if length == state.bytes {
            return String::new();
        }
        state.was_changed = true;
        state.bytes = length;
        state.synced = state.synced.min(length);
        let mut last = *b"\n";
        if length > 0 {
            // If it cannot be read, nothing is known of the line before.
            let _ = self.file.read_exact_at(&mut last, length - 1);
        }
        let line_feed = if last == *b"\n" { "" } else { "\n" };
        format!("{line_feed}{}", self.first_lines)
    }

    /// Cuts off what a failed write has left of its text, which began at this length of the file. Cutting a file needs
    /// no room. What another process wrote is not cut off.
    fn take_back(&self, text: &str, begin: u64) {
        let Ok(length) = self.length() else { return };
        let Ok(left_len) = usize::try_from(length.saturating_sub(begin)) else { return };
        if left_len > text.len() {
            return;
        }
        let mut left = vec![0; left_len];
        let is_read = self.file.read_exact_at(&mut left, begin).is_ok();
        if is_read && text.as_bytes().starts_with(&left) {
            let _ = self.file.set_len(begin);
        }
    }

    /// Returns whether no more lines can be written.
    pub(super) fn has_failed(&self) -> bool {
        self.state().failure.is_some()
    }

    /// Returns the reason why no more lines can be written, unless it was returned before.
    pub(super) fn take_failure(&self) -> Option<JournalError> {
        self.state().failure.take()
    }

    /// Returns what has happened to the file, unless it was returned before.
    pub(super) fn take_news(&self) -> Option<JournalError> {
        self.state().news.take()
    }

    /// Returns what has happened to the file if it is not as this process left it. Returns `None` also if the system
    /// does not answer.
    pub(super) fn find_harm(&self) -> Option<JournalError> {
        let before = self.state().bytes;
        let length = self.length().ok();
        if length.is_some_and(|length| length < before) {
            return Some(JournalError::WrittenByOthers);
        }
        match path_leads_to(&self.path, &self.file, before) {
            Ok(false) => return Some(JournalError::Gone),
            Err(error) if leads_nowhere(&error) => return Some(JournalError::Gone),
            Ok(true) | Err(_) => {}
        }
        // A write that was under way has ended by this time.
        let state = self.state();
        let is_longer = length.is_some_and(|length| length > state.bytes);
        if state.was_changed || (is_longer && state.failure.is_none()) {
            return Some(JournalError::WrittenByOthers);
        }
        None
    }

    fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Writes all that the open file holds to another file, and forces that to disk.
    pub(super) fn copy_to(&self, mut other: &File) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        io::copy(&mut file, &mut other)?;
        other.sync_all()
    }

    fn ask_to_end(&self) {
        self.state().is_ending = true;
        self.changed.notify_all();
    }

    /// Waits until the thread that syncs has ended, but not longer than this. Returns whether it has ended.
    fn has_ended_within(&self, time: Duration) -> bool {
        let goes_on = |state: &mut State| !state.has_ended;
        let waited = self.changed.wait_timeout_while(self.state(), time, goes_on);
        waited.unwrap_or_else(PoisonError::into_inner).0.has_ended
    }

    /// Waits until it is time for the next sync. Returns whether it is the last one.
    fn wait_for_next_sync(&self) -> bool {
        let goes_on = |state: &mut State| !state.is_ending;
        let waited = self.changed.wait_timeout_while(self.state(), SYNC_EVERY, goes_on);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_ending
    }

    /// Checks the file again and again, and forces it to disk if something is new, until the thread is asked to end and
    /// everything is on disk, or a sync fails.
    fn sync_until_end(&self, mut folders: UnsyncedFolders) {
        let mut harm = None;
        loop {
            let is_ending = self.wait_for_next_sync();
            let bytes = self.state().bytes;
            let is_idle = self.state().synced == bytes;
            if is_ending && is_idle {
                break;
            }
            let harm_before = mem::replace(&mut harm, self.find_harm());
            let sync_result = if is_idle { Ok(()) } else { self.file.sync_data() };
            let mut folder_result = Ok(());
            if sync_result.is_ok() {
                folder_result = self.sync_folders(folders);
                folders = UnsyncedFolders::None;
            }
            let mut state = self.state();
            if let Err(error) = folder_result {
                // That is only news: the file is on disk, and nearly every file system then keeps its name, too.
                state.news = Some(JournalError::FolderNotSynced { reason: error.into() });
            }
            if harm != harm_before {
                state.news.clone_from(&harm);
            }
            match sync_result {
                Ok(()) => state.was_synced(bytes),
                Err(error) => {
                    self.cut_back(&mut state, error);
                    break;
                }
            }
        }
        self.state().has_ended = true;
        self.changed.notify_all();
    }

    /// Forces folders to disk.
    fn sync_folders(&self, folders: UnsyncedFolders) -> io::Result<()> {
        if folders == UnsyncedFolders::None {
            return Ok(());
        }
        sync_folder(&self.path)?;
        if folders == UnsyncedFolders::OfFileAndAbove {
            sync_folder(folder_of(&self.path))?;
        }
        Ok(())
    }

    /// Cuts the file back to its length at the last good sync, so that nothing is left that only the cache has.
    fn cut_back(&self, state: &mut State, error: io::Error) {
        // If another process wrote to the file too, nothing is cut off.
        let is_ours = self.length().is_ok_and(|length| length == state.bytes);
        let is_cut_back = is_ours && self.file.set_len(state.synced).is_ok();
        // Who reads it now should see what the disk has.
        let _ = self.file.sync_data();
        drop_cache(&self.file);
        state.bytes = state.synced;
        state.failure = Some(JournalError::NotSynced { reason: error.into(), is_cut_back });
    }
}

/// Returns whether a path leads nowhere, perhaps because one of its folders is a file now.
fn leads_nowhere(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::symlink;
    use std::sync::mpsc::channel;

    use tempfile::TempDir;

    use super::*;

    /// Opens a journal of one line, and returns its folder, too.
    fn with_a_line() -> (TempDir, SharedFile) {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        fs::write(&path, "one\n").expect("the folder can be written");
        let file = OpenOptions::new().read(true).append(true).open(&path).expect("it is there");
        let shared = SharedFile::new(path, file, 4, "first\n".to_owned());
        (folder, shared)
    }

    fn text_of(shared: &SharedFile) -> String {
        fs::read_to_string(&shared.path).expect("it is there")
    }

    fn write_as_another(shared: &SharedFile, text: &str) {
        fs::write(&shared.path, text).expect("it can be written");
    }

    #[test]
    fn lines_behind_those_of_another_process_begin_a_journal() {
        let (_folder, shared) = with_a_line();
        shared.append("two\n");
        assert_eq!((text_of(&shared).as_str(), shared.find_harm()), ("one\ntwo\n", None));
        write_as_another(&shared, "one\ntwo\nother");
        assert_eq!(shared.find_harm(), Some(JournalError::WrittenByOthers));
        shared.append("three\n");
        shared.append("four\n");
        assert_eq!(text_of(&shared), "one\ntwo\nother\nfirst\nthree\nfour\n");
        assert_eq!(shared.find_harm(), Some(JournalError::WrittenByOthers));
        write_as_another(&shared, "");
        shared.append("five\n");
        assert_eq!(text_of(&shared), "first\nfive\n");
    }

    #[test]
    fn a_file_that_is_gone_or_shorter_is_noticed() {
        let (_folder, shared) = with_a_line();
        write_as_another(&shared, "one");
        assert_eq!(shared.find_harm(), Some(JournalError::WrittenByOthers));
        fs::remove_file(&shared.path).expect("it is there");
        write_as_another(&shared, "two\n");
        assert_eq!(shared.find_harm(), Some(JournalError::WrittenByOthers));
        let (_folder, shared) = with_a_line();
        fs::remove_file(&shared.path).expect("it is there");
        assert_eq!(shared.find_harm(), Some(JournalError::Gone));
        write_as_another(&shared, "two\n");
        assert_eq!(shared.find_harm(), Some(JournalError::Gone));
        fs::remove_file(&shared.path).expect("it is there");
        symlink(&shared.path, &shared.path).expect("a loop");
        assert_eq!(shared.find_harm(), None, "what cannot be seen may still be there");
    }

    #[test]
    fn the_last_sync_has_all_lines() {
        let (_folder, shared) = with_a_line();
        shared.append("two\n");
        shared.ask_to_end();
        shared.sync_until_end(UnsyncedFolders::OfFile);
        assert_eq!(shared.state().synced, 8);
        assert_eq!(shared.take_news(), None);
        write_as_another(&shared, "one\ntwo\nother\n");
        shared.append("three\n");
        shared.sync_until_end(UnsyncedFolders::None);
        let length = text_of(&shared).len() as u64;
        assert_eq!(shared.state().synced, length);
        assert_eq!(shared.take_news(), Some(JournalError::WrittenByOthers));
    }

    #[test]
    fn of_a_failed_write_only_its_own_bytes_are_cut_off() {
        for (written, left) in [
            ("one\ntw", "one\n"),
            ("one\ntwo\n", "one\n"),
            ("one\nxy", "one\nxy"),
            ("one\ntwo\nother\n", "one\ntwo\nother\n"),
        ] {
            let (_folder, shared) = with_a_line();
            write_as_another(&shared, written);
            shared.take_back("two\n", 4);
            assert_eq!(text_of(&shared), left, "{written:?}");
        }
    }

    #[test]
    fn a_sync_of_a_file_that_was_emptied_meanwhile_says_nothing() {
        let (_folder, shared) = with_a_line();
        shared.append("two\n");
        let synced = |bytes| {
            let mut state = shared.state();
            state.was_synced(bytes);
            state.synced
        };
        assert_eq!(synced(8), 8);
        write_as_another(&shared, "");
        shared.append("3\n");
        assert_eq!(text_of(&shared), "first\n3\n");
        assert_eq!(synced(9), 0);
        assert_eq!(synced(8), 8);
    }

    #[test]
    fn after_a_failed_sync_nothing_is_left_that_is_not_on_disk() {
        let (_folder, shared) = with_a_line();
        shared.append("two\n");
        assert!(!shared.has_failed());
        shared.cut_back(&mut shared.state(), io::ErrorKind::Other.into());
        assert_eq!(text_of(&shared), "one\n");
        assert!(shared.has_failed());
        let failure = shared.take_failure();
        assert!(matches!(failure, Some(JournalError::NotSynced { is_cut_back: true, .. })));
        let (_folder, shared) = with_a_line();
        write_as_another(&shared, "one\nother\n");
        shared.cut_back(&mut shared.state(), io::ErrorKind::Other.into());
        assert_eq!(text_of(&shared), "one\nother\n");
        let failure = shared.take_failure();
        assert!(matches!(failure, Some(JournalError::NotSynced { is_cut_back: false, .. })));
    }

    #[test]
    fn a_cancellation_ends_the_wait_for_a_slow_disk() {
        let (_folder, shared) = with_a_line();
        let (disk, answer) = channel::<()>();
        let slow = move || _ = answer.recv();
        let syncer = Syncer { thread: std::thread::spawn(slow), file: Arc::new(shared) };
        let told = Cell::new(0);
        let ended = syncer.end(&|| told.set(told.get() + 1), &|| told.get() == 1);
        assert_eq!((ended, told.get()), (Err(JournalError::NotYetSynced), 1));
        drop(disk);
    }

    #[test]
    fn a_path_that_may_not_be_seen_may_lead_somewhere() {
        let kinds = [
            io::ErrorKind::NotFound,
            io::ErrorKind::NotADirectory,
            io::ErrorKind::PermissionDenied,
        ];
        assert_eq!(kinds.map(|kind| leads_nowhere(&kind.into())), [true, true, false]);
    }
}
