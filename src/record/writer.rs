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
//! **Changes by others.** The thread that syncs looks each second whether the file is where it was and as long as
//! this process left it.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::disk::{drop_cache, leads_to, open, sync_folder};
use super::first_line::FirstLine;
use super::line::{Run, Seal, format_done};
use super::lock::{Lock, open_locked, read_from_disk};
use super::union::Record;
use crate::done::{Tally, UnitsDone};
use crate::error::{Error, JournalError};
use crate::plan::Plan;

/// How often the file is forced to disk, if that takes no longer than this.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Whoever waits longer than this for the disk at the end should know why.
const PATIENCE: Duration = Duration::from_secs(1);

/// A journal that is being written.
pub(crate) struct Journal {
    plan: Arc<Plan>,
    /// What it held before.
    held: Tally,
    shared: Arc<Shared>,
    /// Asks the thread that syncs to end. Once it has ended, the channel closes that it was sent.
    ends: Sender<Sender<()>>,
    /// The thread that syncs. `None` once it was asked to end.
    syncer: Option<JoinHandle<()>>,
}

/// What the counting threads share with the one that syncs.
struct Shared {
    path: PathBuf,
    file: File,
    written: Mutex<Written>,
}

/// What was written, and how that went.
#[derive(Default)]
struct Written {
    /// Bytes of the lines in the file.
    bytes: u64,
    /// How many of them the disk has.
    synced: u64,
    /// What happened to the file, if that is not reported yet.
    news: Option<JournalError>,
    /// Why no more lines can be written.
    failure: Option<JournalError>,
}

impl Journal {
    /// Begins to write, behind what the journal holds, with the lines that say who counts.
    pub(crate) fn begin(
        lock: Lock,
        plan: &Arc<Plan>,
        record: Option<&Record>,
        run: &Run,
    ) -> Result<Self, Error> {
        let Lock { path, file, length } = lock;
        let of_file = |error: JournalError| error.at(&path);
        let file = match file {
            Some(file) => file,
            None => open_locked(&path, File::options().read(true).append(true).create(true))?,
        };
        let found = file.metadata().map_err(JournalError::cannot("open")).map_err(of_file)?.len();
        if found != length {
            // Where locks do nothing, another process has written to it since.
            return Err(of_file(JournalError::InUse));
        }
        // A new file holds nothing, whatever its folder does.
        let record = record.filter(|_| length > 0);
        let bytes = record.map_or(0, |record| record.files[0].bytes);
        if bytes < length {
            file.set_len(bytes).map_err(JournalError::cannot("write")).map_err(of_file)?;
        }
        let written = Written { bytes, synced: bytes, ..Written::default() };
        let shared = Arc::new(Shared { path: path.clone(), file, written: Mutex::new(written) });
        let first = if bytes == 0 { FirstLine::write(plan) } else { String::new() };
        shared.append(&(first + &Seal::of(plan).close(&run.to_string())));
        if let Some(failure) = shared.written().failure.take() {
            return Err(of_file(failure));
        }
        let (ends, told) = channel();
        let syncer = Builder::new().name("nqueens-journal".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.sync_until_end(&told, bytes == 0)
        });
        let syncer = Some(syncer.map_err(Error::no_thread)?);
        let held = record.map_or(Tally::default(), Record::tally);
        Ok(Self { plan: Arc::clone(plan), held, shared, ends, syncer })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Appends finished units. If that fails, [`Journal::has_failed`].
    pub(crate) fn append(&self, done: &UnitsDone) {
        self.shared.append(&Seal::of(&self.plan).close(&format_done(done)));
    }

    /// Whether no more lines can be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.shared.written().failure.is_some()
    }

    /// Takes what has happened to the file, if that is not reported yet.
    pub(crate) fn take_news(&self) -> Option<Error> {
        self.shared.written().news.take().map(|harm| harm.at(self.path()))
    }

    /// Waits until the disk has everything, reads it back from there, and makes sure that it is what was held
    /// before and what was counted since. Calls `waits` once if the disk takes its time.
    pub(crate) fn close(mut self, counted: Tally, waits: &dyn Fn()) -> Result<Record, Error> {
        use JournalError::{Gone, NotAsWritten, WrittenByOthers};
        let ended = self.end(waits);
        let (path, harm) = (self.path(), self.shared.find_harm());
        let file = ended.map_err(|error| error.at(path)).and_then(|()| open(path));
        let read = file.and_then(|file| read_from_disk(path, &file, Some(&self.plan)));
        match read {
            Ok((Some(record), _)) if record.tally() == self.held + counted => Ok(record),
            // Its first line names another plan now.
            Err(Error::PlansDiffer { .. }) => Err(harm.unwrap_or(WrittenByOthers).at(path)),
            // Of a file with damage the error says what is left. If the file is gone, that is why the disk did not
            // take its lines.
            Err(error) if harm != Some(Gone) => Err(error),
            _ => Err(harm.unwrap_or(NotAsWritten).at(path)),
        }
    }

    /// Waits until the thread that syncs has ended.
    fn end(&mut self, waits: &dyn Fn()) -> Result<(), JournalError> {
        let Some(syncer) = self.syncer.take() else { return Ok(()) };
        let (ended, end) = channel();
        // If the thread has ended, that closes the channel as well.
        let _ = self.ends.send(ended);
        if end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            waits();
        }
        syncer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.shared.written().failure.take().map_or(Ok(()), Err)
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
    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends text. If this fails in the middle of it, the reader leaves that piece out: to cut it off could cut off
    /// what another process wrote.
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

    /// What has happened to the file, if it is not as this process left it. `None` also if the system does not say.
    fn find_harm(&self) -> Option<JournalError> {
        let before = self.written().bytes;
        let is_here = leads_to(&self.path, &self.file);
        let length = self.length();
        // A write that was under way meanwhile has ended now.
        let written = self.written();
        match (is_here, length) {
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Some(JournalError::Gone),
            (Ok(false), _) => Some(JournalError::Gone),
            (_, Ok(length))
                if length < before || (length > written.bytes && written.failure.is_none()) =>
            {
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
    fn sync_until_end(&self, told: &Receiver<Sender<()>>, mut is_new: bool) {
        let (mut ends, mut harm) = (None, None);
        loop {
            ends = ends.or_else(|| told.recv_timeout(SYNC_EVERY).ok());
            let Written { bytes, synced, .. } = *self.written();
            let is_idle = synced == bytes;
            if is_idle && ends.is_some() {
                return;
            }
            let before = std::mem::replace(&mut harm, self.find_harm());
            let synced = match std::mem::take(&mut is_new) {
                true => sync_folder(&self.path),
                false => Ok(()),
            };
            let synced = synced.and_then(|()| if is_idle { Ok(()) } else { self.file.sync_data() });
            let mut written = self.written();
            if before != harm {
                written.news.clone_from(&harm);
            }
            match synced {
                Ok(()) => written.synced = bytes,
                Err(error) => return self.cut_back(&mut written, error),
            }
        }
    }

    /// Cuts the file back to where it was last good: nothing is left that only the cache has.
    fn cut_back(&self, written: &mut Written, error: io::Error) {
        // If somebody else wrote as well, that stays.
        let is_ours = self.length().is_ok_and(|length| length == written.bytes);
        let is_cut_back = is_ours && self.file.set_len(written.synced).is_ok();
        // Who reads it now should see what the disk has.
        let _ = self.file.sync_data();
        drop_cache(&self.file);
        written.bytes = written.synced;
        written.failure = Some(JournalError::NotSynced { source: error.into(), is_cut_back });
    }
}
