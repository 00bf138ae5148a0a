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
//! process has ended, and is as long as this process left it. If the path leads elsewhere, the open file has no name any
//! more, and would be gone with this process. So all that it holds is copied to a new file at once, and the count goes on
//! there. If another process has changed its length, the next line is written behind the lines that begin a journal. So
//! the file stays a journal if it was emptied, and if a journal of another count was copied over it, the lines can be told
//! apart.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::mem;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::disk::{drop_cache, folder_of, path_leads_to, sync_folder};
use super::lock::{create_again, create_in};
use crate::error::{Error, IoError, JournalError};
use crate::plan::Plan;
use crate::plan::shard::Shard;

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
    /// The plan and the shard whose units are written, for the name of another file.
    plan: Arc<Plan>,
    shard: Shard,
    /// Line 1 and the line of this run. They are written again if another process has changed the file.
    first_lines: String,
    state: Mutex<State>,
    /// Says that the thread is asked to end, or has ended.
    changed: Condvar,
}

/// How far the writing is, and what went wrong.
struct State {
    path: PathBuf,
    file: Arc<File>,
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

    fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Cuts off what a failed write has left of its text. Cutting a file needs no room. What another process wrote is not
    /// cut off.
    fn take_back(&self, text: &str) {
        let begin = self.bytes;
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

    /// Cuts the file back to its length at the last good sync, so that nothing is left that only the cache has.
    fn cut_back(&mut self, error: io::Error) {
        // If another process wrote to the file too, nothing is cut off.
        let is_ours = self.length().is_ok_and(|length| length == self.bytes);
        let is_cut_back = is_ours && self.file.set_len(self.synced).is_ok();
        // Who reads it now should see what the disk has.
        let _ = self.file.sync_data();
        drop_cache(&self.file);
        self.bytes = self.synced;
        self.failure = Some(JournalError::NotSynced { reason: error.into(), is_cut_back });
    }
}

impl SharedFile {
    /// Makes the file of a journal that holds this number of bytes, all of which are on disk.
    pub(super) fn new(
        (path, file): (PathBuf, File),
        bytes: u64,
        first_lines: String,
        plan: &Arc<Plan>,
        shard: Shard,
    ) -> Self {
        let state = State {
            path,
            file: Arc::new(file),
            bytes,
            synced: bytes,
            was_changed: false,
            news: None,
            failure: None,
            is_ending: false,
            has_ended: false,
        };
        Self {
            plan: Arc::clone(plan),
            shard,
            first_lines,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> PathBuf {
        self.state().path.clone()
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
        match (&*state.file).write_all(text.as_bytes()) {
            Ok(()) => state.bytes += text.len() as u64,
            Err(error) => {
                state.take_back(&text);
                state.failure = Some(JournalError::cannot("write", error));
            }
        }
    }

    /// Returns the text that has to come before the next line, because another process has changed the length of the
    /// file. It is empty if none has.
    fn beginning_after_change(&self, state: &mut State) -> String {
        let Ok(length) = state.length() else { return String::new() };
        if length == state.bytes {
            return String::new();
        }
        state.was_changed = true;
        state.bytes = length;
        state.synced = state.synced.min(length);
        let mut last = *b"\n";
        if length > 0 {
            // If it cannot be read, nothing is known of the line before.
            let _ = state.file.read_exact_at(&mut last, length - 1);
        }
        let line_feed = if last == *b"\n" { "" } else { "\n" };
        format!("{line_feed}{}", self.first_lines)
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
        let (path, file, before) = self.path_and_file();
        let length = file.metadata().ok().map(|metadata| metadata.len());
        if length.is_some_and(|length| length < before) {
            return Some(JournalError::WrittenByOthers);
        }
        match path_leads_to(&path, &file, before) {
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

    /// Returns the path, the file, and the bytes of all lines in it at this moment.
    fn path_and_file(&self) -> (PathBuf, Arc<File>, u64) {
        let state = self.state();
        (state.path.clone(), Arc::clone(&state.file), state.bytes)
    }

    /// Copies all that the open file holds to a new file, and goes on there, because the path no longer leads to the open
    /// file. If that fails, no more lines can be written. Returns what has happened.
    pub(super) fn go_on_in_new_file(&self) -> JournalError {
        // Meanwhile the counting threads wait with their lines. Otherwise these would be written to the old file.
        let mut state = self.state();
        match self.copy_to_new_file(&state) {
            Ok((path, file)) => {
                state.bytes = file.metadata().map_or(state.bytes, |metadata| metadata.len());
                state.synced = state.bytes;
                state.path.clone_from(&path);
                state.file = Arc::new(file);
                JournalError::GoneAndSaved { path }
            }
            Err(reason) => {
                let failure = JournalError::GoneForGood { reason };
                state.failure = Some(failure.clone());
                failure
            }
        }
    }

    /// Makes a new file with all that the open file holds: at its path if that is free, else beside it, else in the folder
    /// above or in the current one, because the folder may be a file now.
    fn copy_to_new_file(&self, state: &State) -> Result<(PathBuf, File), IoError> {
        let folder = folder_of(&state.path);
        let in_folder = |folder: &Path| match create_in(folder, &self.plan, self.shard) {
            Ok(new) => Ok((new.path, new.file)),
            Err(Error::Journal { error: JournalError::Io { reason, .. }, .. }) => Err(reason),
            Err(error) => Err(io::Error::other(error).into()),
        };
        let again = create_again(&state.path).map_err(IoError::from);
        let (path, file) = again.or_else(|first_error| {
            let beside = in_folder(folder).or_else(|_| in_folder(folder_of(folder)));
            beside.or_else(|_| in_folder(Path::new("."))).map_err(|_| first_error)
        })?;
        let copied = copy(&state.file, &file).and_then(|()| sync_folder(&path));
        if let Err(error) = copied {
            let _ = fs::remove_file(&path);
            return Err(error.into());
        }
        Ok((path, file))
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
            let mut harm_before = mem::replace(&mut harm, self.find_harm());
            if harm == Some(JournalError::Gone) {
                // Each time is news.
                harm_before = None;
                harm = Some(self.go_on_in_new_file());
            }
            if self.has_failed() {
                break;
            }
            if harm != harm_before {
                self.state().news.clone_from(&harm);
            }
            let (_, file, bytes) = self.path_and_file();
            let is_idle = self.state().synced == bytes;
            if is_ending && is_idle {
                break;
            }
            let sync_result = if is_idle { Ok(()) } else { file.sync_data() };
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
            match sync_result {
                Ok(()) => state.was_synced(bytes),
                Err(error) => {
                    state.cut_back(error);
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
        let path = self.path();
        sync_folder(&path)?;
        if folders == UnsyncedFolders::OfFileAndAbove {
            sync_folder(folder_of(&path))?;
        }
        Ok(())
    }
}

/// Writes all that a file holds to another one, and forces that to disk.
fn copy(mut file: &File, mut other: &File) -> io::Result<()> {
    file.rewind()?;
    io::copy(&mut file, &mut other)?;
    other.sync_all()
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
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    /// Opens a journal of one line, and returns its folder, too.
    fn with_a_line() -> (TempDir, SharedFile) {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        fs::write(&path, "one\n").expect("the folder can be written");
        let file = OpenOptions::new().read(true).append(true).open(&path).expect("it is there");
        let size = BoardSize::new(8).expect("in range");
        let plan = Arc::new(Plan::new(size, Engine::Bitmask, None).expect("a plan"));
        let shared = SharedFile::new((path, file), 4, "first\n".to_owned(), &plan, Shard::WHOLE);
        (folder, shared)
    }

    fn text_of(shared: &SharedFile) -> String {
        fs::read_to_string(shared.path()).expect("it is there")
    }

    fn write_as_another(shared: &SharedFile, text: &str) {
        fs::write(shared.path(), text).expect("it can be written");
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
        fs::remove_file(shared.path()).expect("it is there");
        write_as_another(&shared, "two\n");
        assert_eq!(shared.find_harm(), Some(JournalError::WrittenByOthers));
        let (_folder, shared) = with_a_line();
        fs::remove_file(shared.path()).expect("it is there");
        assert_eq!(shared.find_harm(), Some(JournalError::Gone));
        write_as_another(&shared, "two\n");
        assert_eq!(shared.find_harm(), Some(JournalError::Gone));
        fs::remove_file(shared.path()).expect("it is there");
        symlink(shared.path(), shared.path()).expect("a loop");
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
            shared.state().take_back("two\n");
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
        shared.state().cut_back(io::ErrorKind::Other.into());
        assert_eq!(text_of(&shared), "one\n");
        assert!(shared.has_failed());
        let failure = shared.take_failure();
        assert!(matches!(failure, Some(JournalError::NotSynced { is_cut_back: true, .. })));
        let (_folder, shared) = with_a_line();
        write_as_another(&shared, "one\nother\n");
        shared.state().cut_back(io::ErrorKind::Other.into());
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
