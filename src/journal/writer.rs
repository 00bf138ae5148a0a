//! Writes journals: one thread appends lines, another forces them to disk.
//!
//! There are two threads because a file server may take seconds to force a file to its disks, and
//! finished units must not wait in this process's memory meanwhile. Once a second the writer checks
//! that the file is still the one it writes; [`change`](super::change) describes what it does if
//! not.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time::{Duration, Instant};

use super::change::{begin_beside, change_of};
use super::header::begins_header_of;
use super::line::{DoneLine, Header, Line, RunLine, seal};
use super::sync::Syncer;
use super::writing::{BEAT_EVERY, beat, lock};
use super::{JournalError, Recorded, read};
use crate::engine::Kernel;
use crate::error::Error;
use crate::observe::UnitsDone;
use crate::plan::Plan;
use crate::shard::Shard;

/// How long finished units may wait in memory, where a kill loses them.
const WRITE_EVERY: Duration = Duration::from_millis(50);
/// How often the file is checked, and forced to disk if that takes no longer than this.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// A file system that takes longer than this to answer is reported as hanging, and again every ten
/// times as long.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether other processes may open the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The user named it, so a lock keeps other processes away.
    Named,
    /// This process has just created it, with a name that no other process uses.
    Own,
}

/// A journal that this process may write, but has not begun.
#[derive(Debug)]
pub(crate) struct Locked {
    path: PathBuf,
    file: File,
    /// Bytes to keep.
    whole: u64,
    /// Bytes after them, of a line that was cut off.
    pub(crate) torn: u64,
    /// The number of units that the journal withdrew.
    pub(crate) withdrawn: usize,
}

/// A journal that is being written.
#[derive(Debug)]
pub(crate) struct Journal {
    begun: Instant,
    /// `None` once the writer was told to end, like the next field.
    lines: Option<Sender<Line>>,
    writer: Option<JoinHandle<Result<(), JournalError>>>,
    /// Is closed when the writer ends; nothing is ever sent.
    ended: Mutex<Receiver<()>>,
    state: Arc<Mutex<State>>,
}

/// What the writer reports.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The file that it is writing.
    pub(crate) path: PathBuf,
    /// What happened to an earlier file, if anything did.
    pub(crate) fault: Option<Error>,
}

impl Locked {
    /// Opens or creates the journal of a plan, and keeps other processes away from it. `held` is
    /// what the file held a moment ago. It is read again only if its length has changed since.
    pub(crate) fn open(
        path: &Path,
        plan: &Plan,
        access: Access,
        held: &mut Recorded,
    ) -> Result<Self, Error> {
        let cannot_open = |error| JournalError::cannot_open(error).at(path);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let file = options.open(path).map_err(cannot_open)?;
        match (lock(&file), access) {
            (Ok(()), _) | (Err(TryLockError::Error(_)), Access::Own) => {}
            (Err(TryLockError::WouldBlock), _) => return Err(JournalError::InUse.at(path)),
            (Err(TryLockError::Error(error)), Access::Named) => {
                return Err(JournalError::NoLocks { source: error.into() }.at(path));
            }
        }
        let length = file.metadata().map_err(cannot_open)?.len();
        if held.whole + held.torn != length {
            *held = Recorded::default(); // frees memory: there may not be enough for both
            *held = Self::read(path, plan)?;
        }
        let Recorded { whole, torn, withdrawn, .. } = *held;
        Ok(Self { path: path.to_owned(), file, whole, torn, withdrawn })
    }

    /// Reads the file now that it is locked.
    fn read(path: &Path, plan: &Plan) -> Result<Recorded, Error> {
        match read(path) {
            Ok(None) => Ok(Recorded::default()),
            Ok(Some(contents)) => {
                plan.cut().check(&contents.plan, path)?;
                Ok(contents.into_parts().1)
            }
            Err(Error::Journal { error: JournalError::HeaderCutOff { text }, .. })
                if begins_header_of(&text, plan) =>
            {
                Ok(Recorded { torn: text.len() as u64, ..Recorded::default() })
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the first lines, and starts the threads.
    pub(crate) fn begin(
        self,
        plan: &Plan,
        kernel: Kernel,
        threads: usize,
        shard: Shard,
        machine: &str,
    ) -> Result<Journal, Error> {
        let Self { path, file, whole, torn, .. } = self;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let (kernel, machine) = (kernel.name().to_owned(), machine.replace(char::is_control, " "));
        let header = seal(&Header::of(plan));
        let run = seal(&Line::Run(RunLine { version, kernel, threads, shard, machine }));
        if torn > 0 {
            file.set_len(whole).map_err(|error| JournalError::cannot_write(error).at(&path))?;
        }
        let mut appender = Appender { file: Arc::new(file), whole };
        let first = if whole == 0 { header.clone() + &run } else { run.clone() };
        appender.append(&first).map_err(|error| error.at(&path))?;

        let no_thread =
            |error: io::Error| Error::ThreadsNotStarted { threads: 2, reason: error.to_string() };
        let syncer = Syncer::start(&path, Arc::clone(&appender.file)).map_err(no_thread)?;
        let state = Arc::new(Mutex::new(State { path: path.clone(), fault: None }));
        let (lines, received) = channel();
        let (end, ended) = channel::<()>();
        let writer = Writer {
            path,
            appender,
            syncer,
            beginning: header + &run,
            state: Arc::clone(&state),
            checked: Instant::now(),
            alive: Instant::now(),
        };
        let name = "nqueens-journal".to_owned();
        let writer = Builder::new().name(name).spawn(move || {
            let written = writer.write_all(&received);
            drop(end);
            written
        });
        let writer = Some(writer.map_err(no_thread)?);
        Ok(Journal {
            begun: Instant::now(),
            lines: Some(lines),
            writer,
            ended: Mutex::new(ended),
            state,
        })
    }
}

impl Journal {
    /// Passes finished units to the writer. If it has ended, they are lost.
    pub(crate) fn record(&self, done: &UnitsDone) {
        let UnitsDone { units, counts, solutions, cpu_time, .. } = done.clone();
        let elapsed = self.begun.elapsed();
        self.send(Line::Done(DoneLine { units, solutions, elapsed, cpu_time, counts }));
    }

    /// Takes back the records of some units.
    pub(crate) fn withdraw(&self, units: Range<usize>) {
        self.send(Line::Withdrawn(units));
    }

    fn send(&self, line: Line) {
        if let Some(lines) = &self.lines {
            let _ = lines.send(line);
        }
    }

    /// Whether the writer has ended early, because of an error.
    pub(crate) fn has_ended(&self) -> bool {
        self.writer.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The file being written, and what happened to the one before.
    pub(crate) fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes what is left, and forces it to disk. If this takes long, `hangs` is called with the
    /// time so far.
    pub(crate) fn finish(mut self, hangs: &dyn Fn(Duration)) -> (State, Result<(), JournalError>) {
        let written = self.end(hangs);
        (self.state(), written)
    }

    fn end(&mut self, hangs: &dyn Fn(Duration)) -> Result<(), JournalError> {
        self.lines = None;
        let Some(writer) = self.writer.take() else { return Ok(()) };
        writer.thread().unpark();
        let (asked, mut patience) = (Instant::now(), PATIENCE);
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        while ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            hangs(asked.elapsed());
            patience = PATIENCE * 10;
        }
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Even if the count panics, what it has finished is written to disk.
impl Drop for Journal {
    fn drop(&mut self) {
        // The panic is the error to report.
        let _ = self.end(&|_| ());
    }
}

/// The writer's thread.
struct Writer {
    path: PathBuf,
    appender: Appender,
    syncer: Syncer,
    /// The first lines of a new file.
    beginning: String,
    state: Arc<Mutex<State>>,
    checked: Instant,
    /// When the file last showed that this process lives: its latest line or heartbeat.
    alive: Instant,
}

impl Writer {
    /// Writes lines until the channel is closed. Checking for lines now and then, instead of
    /// waiting for each one, saves the counting threads a system call per line.
    fn write_all(mut self, lines: &Receiver<Line>) -> Result<(), JournalError> {
        let mut unsynced = false;
        loop {
            let (text, ended) = take_waiting(lines);
            if ended || self.checked.elapsed() >= SYNC_EVERY {
                self.check_file()?;
            }
            if !text.is_empty() {
                self.appender.append(&text)?;
                (unsynced, self.alive) = (true, Instant::now());
            } else if self.alive.elapsed() >= BEAT_EVERY {
                beat(&self.appender.file);
                self.alive = Instant::now();
            }
            if ended {
                self.syncer.request(&self.appender.file, None)?;
                return self.syncer.finish();
            }
            if unsynced && self.syncer.is_due(SYNC_EVERY) {
                self.syncer.request(&self.appender.file, None)?;
                unsynced = false;
            }
            park_timeout(WRITE_EVERY);
        }
    }

    /// Makes sure that the file is still there, with what was written to it. Otherwise continues in
    /// a new file beside it.
    fn check_file(&mut self) -> Result<(), JournalError> {
        self.checked = Instant::now();
        let Some(what) = change_of(&self.path, &self.appender.file, self.appender.whole) else {
            return Ok(());
        };
        let old = &self.appender;
        let (path, file, kept) =
            begin_beside(&self.path, &old.file, old.whole).map_err(JournalError::cannot_write)?;
        self.appender = Appender { file: Arc::new(file), whole: kept };
        if kept == 0 {
            self.appender.append(&self.beginning)?;
        }
        self.syncer.request(&self.appender.file, Some(&path))?;
        let error =
            JournalError::ChangedWhileWritten { what, beside: path.clone(), whole: kept > 0 };
        let fault = error.at(&std::mem::replace(&mut self.path, path.clone()));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State { path, fault: Some(fault) };
        Ok(())
    }
}

/// A file, and how much of it is good.
struct Appender {
    file: Arc<File>,
    whole: u64,
}

impl Appender {
    /// Appends whole lines. If this fails, the lines that were written completely are kept, and the
    /// beginning of the next is removed.
    fn append(&mut self, text: &str) -> Result<(), JournalError> {
        let mut written = 0;
        while written < text.len() {
            match (&*self.file).write(&text.as_bytes()[written..]) {
                Ok(bytes) if bytes > 0 => written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                failed => {
                    let lines = text.as_bytes()[..written].iter().rposition(|byte| *byte == b'\n');
                    self.whole += lines.map_or(0, |end| end as u64 + 1);
                    // If this fails too, the reader drops the line that was cut off.
                    let _ = self.file.set_len(self.whole);
                    let no_room = || io::Error::from(io::ErrorKind::WriteZero);
                    return Err(JournalError::cannot_write(failed.err().unwrap_or_else(no_room)));
                }
            }
        }
        self.whole += text.len() as u64;
        Ok(())
    }
}

/// The text of the waiting lines, and whether the channel is closed.
fn take_waiting(lines: &Receiver<Line>) -> (String, bool) {
    let mut text = String::new();
    loop {
        match lines.try_recv() {
            Ok(line) => text += &seal(&line),
            Err(error) => return (text, error == TryRecvError::Disconnected),
        }
    }
}
