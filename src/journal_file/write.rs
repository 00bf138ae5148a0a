//! Writes the journal of a process while its units are being counted.
//!
//! A process makes a file of its own in the folder of its count, and appends lines to it. It changes no other file, and
//! never takes back what it wrote. Each counting thread appends its own lines, which survive if the process is killed.
//! A thread of its own forces the file to disk each second, because that may take seconds on a file server, and
//! counting does not wait for it. If a write or a sync fails, no more lines are written, and the count ends: a line
//! that is not whole has a wrong CRC, and whoever goes on counts its units again.
//!
//! **A file that others move, remove or cut.** The same thread looks each second whether the path still leads to the
//! last bytes that were written. If it does not, all that the open file still holds is copied to a new file in the
//! folder at once, and the process goes on there. Nothing waits for the end, because a process may be killed at any
//! moment. Numbers of inodes are not asked, because some file systems give one file a new number at each look.
//!
//! **The lock** of the file only shows others that the process is alive. Nothing relies on it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::first_line::{FirstLine, open};
use super::line::{LineCrc, format_done};
use super::names::file_name;
use super::run::Run;
use crate::error::{Action, Error, Problem};
use crate::plan::Plan;
use crate::plan::done::UnitsDone;
use crate::plan::shard::Shard;

/// The interval at which the file is forced to disk, if that takes less.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The journal that this process writes.
pub(crate) struct Journal {
    line_crc: LineCrc,
    writer: Arc<Writer>,
    /// The thread that syncs. `None` once it has ended.
    thread: Option<JoinHandle<()>>,
}

impl Journal {
    /// Makes the journal of this process in a folder. A missing folder is made, but not its parents: they might belong
    /// to a file system that is not mounted. The first lines say what is counted, and who counts.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if the file cannot be made or written, and [`Error::ThreadsNotStarted`] if the thread that
    /// syncs cannot be started.
    pub(crate) fn create(folder: &Path, plan: &Arc<Plan>, run: &Run) -> Result<Self, Error> {
        let line_crc = LineCrc::of(plan);
        let first_lines = FirstLine::format(plan) + &line_crc.add_to(&run.line());
        let (path, file) = create_in(folder, plan, run.shard)?;
        let state = State {
            first_path: path.clone(),
            path,
            file: Arc::new(file),
            run: run.clone(),
            len: 0,
            end: 0,
            synced: 0,
            news: None,
            cut: None,
            failure: None,
            is_ending: false,
        };
        let writer = Arc::new(Writer {
            folder: folder.to_owned(),
            plan: Arc::clone(plan),
            shard: run.shard,
            first_lines,
            state: Mutex::new(state),
            ends: Condvar::new(),
        });
        writer.append(&writer.first_lines);
        let begun = writer.state();
        if let Some(failure) = &begun.failure {
            // It holds no unit, and each try on a full disk would leave another one.
            let _ = fs::remove_file(&begun.path);
            return Err(failure.clone());
        }
        drop(begun);
        let syncer = Arc::clone(&writer);
        let builder = Builder::new().name("nqueens-journal".to_owned());
        let thread = builder.spawn(move || syncer.sync_until_end());
        let thread = Some(thread.map_err(Error::thread_not_started)?);
        Ok(Self { line_crc, writer, thread })
    }

    /// Appends finished units. If that fails, [`Journal::has_failed`] returns true.
    pub(crate) fn append(&self, done: &UnitsDone) {
        self.writer.append(&self.line_crc.add_to(&format_done(done)));
        self.writer.state().run.add(done);
    }

    /// Returns whether no more lines can be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.writer.state().failure.is_some()
    }

    /// Returns that others have cut off lines that this process wrote.
    pub(crate) fn lines_cut_off(&self) -> Option<Error> {
        self.writer.state().cut.clone()
    }

    /// Returns that the journal was lost and where it goes on, unless that was returned before.
    pub(crate) fn take_news(&self) -> Option<Error> {
        self.writer.state().news.take()
    }

    /// Waits until the disk has all lines. Returns the path of the journal, and what its process did.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if a write or a sync has failed. What was written before stays in the folder.
    pub(crate) fn finish(&mut self) -> Result<(PathBuf, Run), Error> {
        self.end_thread();
        let state = self.writer.state();
        match &state.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok((state.path.clone(), state.run.clone())),
        }
    }

    fn end_thread(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.writer.state().is_ending = true;
        self.writer.ends.notify_all();
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // A process that another thread has just forked may hold the file open for a moment, and with it the lock.
        let _ = self.writer.state().file.unlock();
    }
}

/// Forces finished units to disk even if the count panics.
impl Drop for Journal {
    fn drop(&mut self) {
        self.end_thread();
    }
}

/// What the counting threads share with the thread that syncs.
struct Writer {
    folder: PathBuf,
    plan: Arc<Plan>,
    shard: Shard,
    /// Line 1, and the line of this run.
    first_lines: String,
    state: Mutex<State>,
    /// Says that the thread that syncs is asked to end.
    ends: Condvar,
}

struct State {
    /// The path at which the journal was made, for messages.
    first_path: PathBuf,
    path: PathBuf,
    file: Arc<File>,
    run: Run,
    /// The bytes that were written.
    len: u64,
    /// The length of the file after the last write. If others have cut the file, it is shorter than what was written.
    end: u64,
    /// How many bytes of the file are on disk.
    synced: u64,
    /// That the journal was lost, unless it was reported.
    news: Option<Error>,
    /// That others have cut off lines, which are in no file.
    cut: Option<Error>,
    /// The reason why no more lines can be written.
    failure: Option<Error>,
    is_ending: bool,
}

impl Writer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends whole lines.
    fn append(&self, lines: &str) {
        let mut state = self.state();
        if state.failure.is_some() {
            return;
        }
        // If others have cut the file in a line, the next one must not become a part of it.
        let end = state.file.metadata().map_or(state.end, |metadata| metadata.len());
        let line_feed = if end == state.end || end == 0 { "" } else { "\n" };
        let text = format!("{line_feed}{lines}");
        match (&*state.file).write_all(text.as_bytes()) {
            Ok(()) => {
                state.len += text.len() as u64;
                state.end = end + text.len() as u64;
            }
            Err(error) => state.fail(Action::Write, error),
        }
    }

    /// Looks after the file each second, until the thread is asked to end or something fails.
    fn sync_until_end(&self) {
        let mut is_named_on_disk = false;
        loop {
            let goes_on = |state: &mut State| !state.is_ending;
            let waited = self.ends.wait_timeout_while(self.state(), SYNC_EVERY, goes_on);
            let is_ending = waited.unwrap_or_else(PoisonError::into_inner).0.is_ending;
            if self.is_lost() {
                self.go_on_in_new_file();
            }
            self.sync();
            if !is_named_on_disk {
                self.sync_folders();
                is_named_on_disk = true;
            }
            if is_ending || self.state().failure.is_some() {
                return;
            }
        }
    }

    /// Forces all lines to disk.
    fn sync(&self) {
        let (file, len, synced) = {
            let state = self.state();
            (Arc::clone(&state.file), state.len, state.synced)
        };
        if synced == len {
            return;
        }
        let result = file.sync_data();
        let mut state = self.state();
        match result {
            Ok(()) => state.synced = len,
            Err(error) => state.fail(Action::Sync, error),
        }
    }

    /// Forces the folder of the file to disk, and the one above, so that the file keeps its name after a power cut.
    /// Many file systems cannot sync folders, and nearly all keep the name all the same.
    fn sync_folders(&self) {
        for folder in [&*self.folder, parent_of(&self.folder)] {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
    }

    /// Returns whether the path no longer leads to what was written. What cannot be seen at this moment may still be
    /// there.
    fn is_lost(&self) -> bool {
        let (path, file, len) = {
            let state = self.state();
            (state.path.clone(), Arc::clone(&state.file), state.len)
        };
        // Whoever opens a pipe waits for its writer.
        if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return true;
        }
        let ends = File::open(path)
            .and_then(|named| Ok((read_before(&named, len)?, read_before(&file, len)?)));
        match ends {
            Ok((named, own)) => named != own,
            Err(error) => says_that_it_is_gone(&error),
        }
    }

    /// Copies all that the open file still holds to a new file in the folder, and goes on there. If that fails, no more
    /// lines can be written.
    fn go_on_in_new_file(&self) {
        // Meanwhile the counting threads wait with their lines, which would go to the old file.
        let mut state = self.state();
        let made = create_in(&self.folder, &self.plan, self.shard);
        let made = made.and_then(|(path, file)| {
            let copied = copy_journal(&state.file, &file, &self.first_lines);
            let len = copied.map_err(|error| Problem::cannot(Action::Write, error).at(&path))?;
            Ok((path, file, len))
        });
        match made {
            Ok((path, file, len)) => {
                let is_cut = len < state.len;
                let lost = Problem::Lost { saved_in: path.clone(), is_cut };
                let lost = lost.at(&state.first_path);
                if is_cut {
                    state.cut = Some(lost.clone());
                }
                state.news = Some(lost);
                state.path = path;
                state.file = Arc::new(file);
                state.len = len;
                state.end = len;
                state.synced = len;
            }
            Err(error) => state.failure = Some(error),
        }
    }
}

impl State {
    fn fail(&mut self, action: Action, error: io::Error) {
        self.failure = Some(Problem::cannot(action, error).at(&self.path));
    }
}

/// Creates a journal in a folder, with a name that no other process uses. Containers may share a host name and a
/// process number, so a number is added if the name is taken.
fn create_in(folder: &Path, plan: &Plan, shard: Shard) -> Result<(PathBuf, File), Error> {
    match fs::create_dir(folder) {
        // Something has the name. If it is no folder, the file cannot be made in it.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !folder.is_dir() => {
            return Err(Problem::cannot(Action::Create, error).at(folder));
        }
        _ => {}
    }
    for number in 1.. {
        let path = folder.join(file_name(plan, shard, number));
        let mut options = OpenOptions::new();
        match options.read(true).append(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Problem::cannot(Action::Create, error).at(&path)),
            Ok(file) => {
                // If the file system has no locks, nobody sees that this journal is being written.
                let _ = file.try_lock();
                return Ok((path, file));
            }
        }
    }
    unreachable!("there are more numbers than files")
}

/// Writes all that a journal holds to a new file, and forces that to disk. If the journal does not begin with its first
/// lines any more, they come in front. Returns the length of the new file.
fn copy_journal(mut old: &File, mut new: &File, first_lines: &str) -> io::Result<u64> {
    let mut bytes = Vec::new();
    old.rewind()?;
    io::Read::read_to_end(&mut old, &mut bytes)?;
    let first_lines = first_lines.as_bytes();
    if first_lines.starts_with(&bytes) {
        bytes = first_lines.to_vec();
    } else if !bytes.starts_with(first_lines) {
        // It was emptied, and lines were appended before that was noticed.
        bytes.splice(..0, first_lines.iter().copied());
    }
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    new.write_all(&bytes)?;
    new.sync_all()?;
    Ok(bytes.len() as u64)
}

/// The number of bytes that are compared to tell whether a path leads to an open file.
const COMPARED: u64 = 4096;

/// Reads the last bytes of a file before this length.
fn read_before(file: &File, len: u64) -> io::Result<Vec<u8>> {
    let begin = len.saturating_sub(COMPARED);
    let mut bytes = vec![0; usize::try_from(len - begin).unwrap_or(0)];
    file.read_exact_at(&mut bytes, begin)?;
    Ok(bytes)
}

/// Returns whether a file could not be read because it is not there, or is shorter than it was, or because one of its
/// folders is a file now.
fn says_that_it_is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, UnexpectedEof};
    matches!(error.kind(), NotFound | NotADirectory | UnexpectedEof)
}

/// Returns the folder that holds a path.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns whether another process is writing a journal at this moment, as far as its lock shows it.
///
/// Some file systems do not show locks of other hosts. Then the processes of other hosts are not noticed.
pub(crate) fn is_being_written(path: &Path) -> bool {
    open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::{Engine, Kernel};

    /// Makes a journal in a new folder.
    fn journal() -> (TempDir, Journal) {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let journal = journal_in(folder.path());
        (folder, journal)
    }

    fn journal_in(folder: &Path) -> Journal {
        let size = BoardSize::new(8).expect("in range");
        let plan = Arc::new(Plan::new(size, Engine::Bitmask, None).expect("a plan"));
        let run = Run::of_this_process(Kernel::PORTABLE, 1, Shard::WHOLE);
        Journal::create(folder, &plan, &run).expect("the folder can be written")
    }

    fn unit(unit: usize) -> UnitsDone {
        UnitsDone { units: unit..unit + 1, counts: vec![0], ..UnitsDone::default() }
    }

    fn path_of(journal: &Journal) -> PathBuf {
        journal.writer.state().path.clone()
    }

    fn text_of(journal: &Journal) -> String {
        fs::read_to_string(path_of(journal)).expect("text")
    }

    #[test]
    fn a_journal_is_being_written_until_its_process_has_ended() {
        let (_folder, journal) = journal();
        let path = path_of(&journal);
        // As a process has it that was forked meanwhile.
        let _inherited = journal.writer.state().file.try_clone().expect("a file");
        assert!(is_being_written(&path));
        drop(journal);
        assert!(!is_being_written(&path));
    }

    #[test]
    fn each_journal_in_a_folder_has_its_own_name() {
        let (folder, one) = journal();
        let other = journal_in(folder.path());
        assert_ne!(path_of(&one), path_of(&other));
        assert!(path_of(&other).ends_with(file_name(&one.writer.plan, Shard::WHOLE, 2)));
    }

    #[test]
    fn a_folder_is_made_and_its_parents_are_not() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let new = folder.path().join("q8");
        let journal = journal_in(&new);
        let plan = Arc::clone(&journal.writer.plan);
        let run = Run::of_this_process(Kernel::PORTABLE, 1, Shard::WHOLE);
        let missing = folder.path().join("missing");
        let refused = Journal::create(&missing.join("q8"), &plan, &run).err();
        assert!(matches!(refused, Some(Error::Journal { .. })), "{refused:?}");
        assert!(!missing.exists());
    }

    /// The journal goes on, with all that the open file still held.
    #[test]
    fn a_journal_that_is_lost_goes_on_in_a_new_file() {
        type Harm = fn(&Path);
        let harms: [(Harm, bool); 6] = [
            // The old file keeps a name, and a longer one takes its place.
            (
                |path| {
                    fs::hard_link(path, path.with_extension("kept")).expect("room");
                    let other = path.with_extension("other");
                    fs::write(&other, [b'x'; 5000]).expect("room");
                    fs::rename(other, path).expect("it is there");
                },
                true,
            ),
            (|path| fs::remove_file(path).expect("it is there"), true),
            (|path| fs::rename(path, path.with_extension("away")).expect("it is there"), true),
            // A longer file takes its place.
            (
                |path| {
                    let other = path.with_extension("other");
                    fs::write(&other, [b'x'; 5000]).expect("room");
                    fs::rename(other, path).expect("it is there");
                },
                true,
            ),
            (|path| fs::write(path, "").expect("it can be written"), false),
            (|path| fs::remove_dir_all(path.parent().expect("a folder")).expect("there"), true),
        ];
        for (harm, has_all) in harms {
            let (_folder, mut journal) = journal();
            journal.append(&unit(0));
            let before = text_of(&journal);
            assert!(!journal.writer.is_lost());
            harm(&path_of(&journal));
            assert!(journal.writer.is_lost());
            journal.writer.go_on_in_new_file();
            journal.append(&unit(1));
            let after = text_of(&journal);
            let begins = if has_all { &before } else { &journal.writer.first_lines };
            assert!(after.starts_with(begins) && after.len() > begins.len(), "{after}");
            assert!(!journal.writer.is_lost());
            let path = path_of(&journal);
            assert!(matches!(journal.take_news(), Some(Error::Journal { .. })));
            let (ended_at, run) = journal.finish().expect("room");
            assert_eq!((ended_at, run.units), (path, 2));
        }
    }

    #[test]
    fn a_journal_that_was_cut_in_a_line_keeps_its_other_lines() {
        let (_folder, journal) = journal();
        journal.append(&unit(0));
        let file = File::options().write(true).open(path_of(&journal)).expect("it is there");
        let cut = file.metadata().expect("a length").len() - 3;
        let kept = text_of(&journal)[..usize::try_from(cut).expect("short")].to_owned();
        file.set_len(cut).expect("it can be cut");
        journal.writer.go_on_in_new_file();
        assert_eq!(text_of(&journal), kept + "\n");
    }

    /// The counting threads may append lines before anyone sees that the file was emptied.
    #[test]
    fn a_journal_that_was_emptied_begins_with_its_first_lines_again() {
        let (_folder, journal) = journal();
        File::create(path_of(&journal)).expect("it can be emptied");
        for number in 0..9 {
            journal.append(&unit(number));
        }
        let lines = text_of(&journal);
        assert!(lines.len() > journal.writer.first_lines.len(), "{lines}");
        journal.writer.go_on_in_new_file();
        assert_eq!(text_of(&journal), journal.writer.first_lines.clone() + &lines);
    }

    #[test]
    fn a_path_that_may_not_be_seen_may_lead_somewhere() {
        let kinds = [
            io::ErrorKind::NotFound,
            io::ErrorKind::NotADirectory,
            io::ErrorKind::PermissionDenied,
        ];
        assert_eq!(kinds.map(|kind| says_that_it_is_gone(&kind.into())), [true, true, false]);
    }

    #[test]
    fn after_a_failure_no_line_is_written() {
        let (_folder, mut journal) = journal();
        let before = text_of(&journal);
        journal.writer.state().fail(Action::Write, io::ErrorKind::StorageFull.into());
        assert!(journal.has_failed());
        journal.append(&unit(0));
        assert_eq!(text_of(&journal), before);
        assert!(matches!(journal.finish(), Err(Error::Journal { .. })));
    }
}
