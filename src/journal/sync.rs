//! Forces a journal to disk, on its own thread: this may take seconds, and nobody should wait.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::JournalError;
use crate::error::Error;

/// A file to be forced to disk.
struct Request {
    file: Arc<File>,
    /// The file's path, if the file is new.
    new_at: Option<PathBuf>,
}

/// The thread, and the state of its requests.
pub(super) struct Syncer {
    requests: Sender<Request>,
    /// `None` once its result was taken.
    thread: Option<JoinHandle<io::Result<()>>>,
    asked: Instant,
    /// Whether all requests are done.
    is_idle: Arc<AtomicBool>,
}

impl Syncer {
    /// Starts the thread, with the request for a file that may be new.
    pub(super) fn start(path: &Path, file: Arc<File>) -> io::Result<Self> {
        let (requests, received) = channel();
        let _ = requests.send(Request { file, new_at: Some(path.to_owned()) });
        let is_idle = Arc::new(AtomicBool::new(false));
        let idle = Arc::clone(&is_idle);
        let name = "nqueens-sync".to_owned();
        let thread = Builder::new().name(name).spawn(move || sync_all(&received, &idle))?;
        Ok(Self { requests, thread: Some(thread), asked: Instant::now(), is_idle })
    }

    /// Whether the thread is idle and the last request was this long ago.
    pub(super) fn is_due(&self, after: Duration) -> bool {
        let has_ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        (has_ended || self.is_idle.load(Ordering::Acquire)) && self.asked.elapsed() >= after
    }

    /// Requests a file to be forced to disk; `new_at` is its path if the file is new. The error is
    /// that of an earlier request.
    pub(super) fn request(
        &mut self,
        file: &Arc<File>,
        new_at: Option<&Path>,
    ) -> Result<(), JournalError> {
        self.asked = Instant::now();
        self.is_idle.store(false, Ordering::Release);
        let request = Request { file: Arc::clone(file), new_at: new_at.map(Path::to_owned) };
        match self.requests.send(request) {
            Ok(()) => Ok(()),
            Err(_) => result_of(self.thread.take()), // the thread has ended, with an error
        }
    }

    /// Waits for all requests.
    pub(super) fn finish(self) -> Result<(), JournalError> {
        drop(self.requests);
        result_of(self.thread)
    }
}

fn result_of(thread: Option<JoinHandle<io::Result<()>>>) -> Result<(), JournalError> {
    let Some(thread) = thread else { return Ok(()) };
    let synced = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    synced.map_err(JournalError::cannot_write)
}

fn sync_all(requests: &Receiver<Request>, is_idle: &AtomicBool) -> io::Result<()> {
    for Request { file, new_at } in requests {
        match new_at {
            None => file.sync_data()?,
            Some(path) => {
                sync_folder(&path);
                file.sync_all()?;
            }
        }
        is_idle.store(true, Ordering::Release);
    }
    Ok(())
}

/// Writes a new journal, never over another one. Until it is whole and `check` has passed, it has a
/// temporary name, so that nobody takes a part of it for the whole.
pub(crate) fn write_new(
    into: &Path,
    write: impl FnOnce(&mut BufWriter<&File>, &Path) -> Result<(), Error>,
    check: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    let cannot_write = |error| JournalError::cannot_write(error).at(into);
    let in_use = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => JournalError::Exists.at(into),
        _ => JournalError::cannot_open(error).at(into),
    };
    if into.symlink_metadata().is_ok() {
        return Err(JournalError::Exists.at(into));
    }
    let mut name = into.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let part = into.with_file_name(name);
    let file = File::create_new(&part).map_err(in_use)?;
    let mut out = BufWriter::new(&file);
    let written = write(&mut out, into)
        .and_then(|()| out.flush().and_then(|()| file.sync_all()).map_err(cannot_write))
        .and_then(|()| check(&part))
        .and_then(|()| rename_new(&part, into).map_err(in_use));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written?;
    sync_folder(into);
    Ok(())
}

/// Renames a file, but not over another one.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links.
        Err(_) if to.symlink_metadata().is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Makes a file's name survive a power cut. Has no effect where folders cannot be synced.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
}
