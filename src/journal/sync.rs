//! Forces a journal to the disk, on a thread of its own: it may take seconds, and nobody waits.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::JournalError;

/// What is to be forced to the disk.
struct Request {
    file: Arc<File>,
    /// Where the file is, if its name is new as well.
    new_at: Option<PathBuf>,
}

/// The thread, and what it was asked last.
pub(super) struct Syncer {
    requests: Sender<Request>,
    /// `None` once it was heard why it ended.
    thread: Option<JoinHandle<io::Result<()>>>,
    asked: Instant,
    /// Whether all that was asked is done.
    is_idle: Arc<AtomicBool>,
}

impl Syncer {
    /// Starts with a file that has just been made, or may have been.
    pub(super) fn start(path: &Path, file: Arc<File>) -> io::Result<Self> {
        let (requests, received) = channel();
        let _ = requests.send(Request { file, new_at: Some(path.to_owned()) });
        let is_idle = Arc::new(AtomicBool::new(false));
        let idle = Arc::clone(&is_idle);
        let name = "nqueens-sync".to_owned();
        let thread = Builder::new().name(name).spawn(move || sync_all(&received, &idle))?;
        Ok(Self { requests, thread: Some(thread), asked: Instant::now(), is_idle })
    }

    /// Whether nothing is under way, and was asked for so long.
    pub(super) fn is_due(&self, after: Duration) -> bool {
        let has_ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        (has_ended || self.is_idle.load(Ordering::Acquire)) && self.asked.elapsed() >= after
    }

    /// Asks for a file whose name is known.
    pub(super) fn request(&mut self, file: &Arc<File>) -> Result<(), JournalError> {
        self.send(Request { file: Arc::clone(file), new_at: None })
    }

    /// Asks for a new file.
    pub(super) fn request_all(
        &mut self,
        path: &Path,
        file: &Arc<File>,
    ) -> Result<(), JournalError> {
        self.send(Request { file: Arc::clone(file), new_at: Some(path.to_owned()) })
    }

    /// The error is that of an earlier request.
    fn send(&mut self, request: Request) -> Result<(), JournalError> {
        self.asked = Instant::now();
        self.is_idle.store(false, Ordering::Release);
        match self.requests.send(request) {
            Ok(()) => Ok(()),
            Err(_) => result_of(self.thread.take()), // it has ended, and says why
        }
    }

    /// Waits for all that was asked.
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

/// Makes the file's name survive a power cut, where a folder can be synced; elsewhere there is
/// nothing to be done.
pub(super) fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
}
