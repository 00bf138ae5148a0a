//! Writes journals: one thread that owns the file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::line::{DoneLine, Header, Line, RunLine, seal};
use super::{Finished, Problem, read};
use crate::engine::Kernel;
use crate::error::Error;
use crate::observe::UnitsDone;
use crate::plan::Plan;
use crate::shard::Shard;

/// How long finished units may stay in the memory of this process, for a kill to lose.
const WRITE_EVERY: Duration = Duration::from_millis(50);
/// How long they may stay in the memory of the machine, for a power cut to lose.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// A journal that this process may write, not begun yet.
#[derive(Debug)]
pub(crate) struct Locked {
    path: PathBuf,
    file: File,
    /// Bytes to keep.
    whole: u64,
    /// Bytes behind them, of a line that was cut off.
    pub(crate) torn: u64,
}

/// A journal that is being written.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    begun: Instant,
    sender: Sender<Line>,
    writer: JoinHandle<Result<(), Problem>>,
}

impl Locked {
    /// Opens the journal of a plan, or makes one, and keeps others off it. Returns what is
    /// finished, if anything was recorded.
    pub(crate) fn open(path: &Path, plan: &Plan) -> Result<(Self, Option<Finished>), Error> {
        let problem = |problem| Error::Journal { path: path.to_owned(), problem };
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path);
        let file =
            file.map_err(|error| problem(Problem::CannotOpen { reason: error.to_string() }))?;
        match file.try_lock() {
            // A file system without locks is no reason not to count.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Err(problem(Problem::InUse)),
        }
        let path = path.to_owned();
        let Some(contents) = read(&path)? else {
            return Ok((Self { path, file, whole: 0, torn: 0 }, None));
        };
        contents.check_plan(plan, &path)?;
        let (whole, torn) = (contents.whole, contents.torn);
        Ok((Self { path, file, whole, torn }, Some(contents.finished)))
    }

    /// Writes who counts from now on.
    pub(crate) fn begin(
        mut self,
        plan: &Plan,
        kernel: Kernel,
        threads: usize,
        shard: Shard,
        machine: &str,
    ) -> Result<Journal, Error> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let mut text = String::new();
        if self.whole == 0 {
            text += &seal(&Header {
                version: version.clone(),
                n: plan.size().get(),
                engine: plan.engine(),
                split_rows: plan.split_rows(),
                plan: plan.hash(),
                units: plan.units(),
            });
        }
        let (kernel, machine) = (kernel.name().to_owned(), machine.replace(char::is_control, " "));
        text += &seal(&Line::Run(RunLine { version, kernel, threads, shard, machine }));
        let begun =
            self.file.set_len(self.whole).map_err(cannot_write).and_then(|()| self.append(&text));
        begun.map_err(|problem| Error::Journal { path: self.path.clone(), problem })?;
        let path = self.path.clone();
        let (sender, receiver) = channel();
        let writer = std::thread::spawn(move || self.write_all(&receiver));
        Ok(Journal { path, begun: Instant::now(), sender, writer })
    }

    /// Writes lines as they come, until no more can come. Looking for them now and then, instead of
    /// waiting for each, spares the counting threads a system call for every line.
    fn write_all(mut self, lines: &Receiver<Line>) -> Result<(), Problem> {
        sync_folder(&self.path);
        self.file.sync_all().map_err(cannot_write)?;
        let mut unsynced_since: Option<Instant> = None;
        loop {
            let (text, ended) = take_waiting(lines);
            if !text.is_empty() {
                self.append(&text)?;
                unsynced_since.get_or_insert_with(Instant::now);
            }
            if unsynced_since.is_some_and(|since| ended || since.elapsed() >= SYNC_EVERY) {
                self.file.sync_data().map_err(cannot_write)?;
                unsynced_since = None;
            }
            if ended {
                return Ok(());
            }
            std::thread::park_timeout(WRITE_EVERY);
        }
    }

    /// Appends whole lines. If that fails, those that found room are kept, and the beginning of the
    /// next is taken back.
    fn append(&mut self, text: &str) -> Result<(), Problem> {
        let mut written = 0;
        while written < text.len() {
            match self.file.write(&text.as_bytes()[written..]) {
                Ok(bytes) if bytes > 0 => written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                failed => {
                    let lines = text.as_bytes()[..written].iter().rposition(|byte| *byte == b'\n');
                    self.whole += lines.map_or(0, |end| end as u64 + 1);
                    // If this fails too, the reader drops the line that was cut off.
                    let _ = self.file.set_len(self.whole);
                    let no_room = || io::Error::from(io::ErrorKind::WriteZero);
                    return Err(cannot_write(failed.err().unwrap_or_else(no_room)));
                }
            }
        }
        self.whole += text.len() as u64;
        Ok(())
    }
}

impl Journal {
    /// Hands finished units to the writer. If it has ended, they are lost.
    pub(crate) fn record(&self, done: UnitsDone) {
        let UnitsDone { units, counts, solutions, busy } = done;
        let elapsed = self.begun.elapsed();
        let line = Line::Done(DoneLine { units, solutions, elapsed, busy, counts });
        let _ = self.sender.send(line);
    }

    /// Whether the writer has ended before its time, because of an error.
    pub(crate) fn has_ended(&self) -> bool {
        self.writer.is_finished()
    }

    /// Writes what is left and forces it to the disk.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let Self { path, sender, writer, .. } = self;
        drop(sender);
        writer.thread().unpark();
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.map_err(|problem| Error::Journal { path, problem })
    }
}

/// The text of the lines that wait, and whether no more can come.
fn take_waiting(lines: &Receiver<Line>) -> (String, bool) {
    let mut text = String::new();
    loop {
        match lines.try_recv() {
            Ok(line) => text += &seal(&line),
            Err(error) => return (text, error == TryRecvError::Disconnected),
        }
    }
}

fn cannot_write(error: io::Error) -> Problem {
    Problem::CannotWrite { reason: error.to_string() }
}

/// Makes the file's name survive a power cut, where a folder can be synced; elsewhere there is
/// nothing to be done.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
}
