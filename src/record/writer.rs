//! Writes a journal while its units are being counted.
//!
//! Each counting thread appends its own lines to the file. A line that is written survives if the process is killed.
//! The thread of [`sync`](super::sync) forces the lines to disk.

use std::fs;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{drop_cache, folder_of, open, sync_folder};
use super::first_line::FirstLine;
use super::line::{LineCrc, format_done};
use super::lock::{LockedJournal, read_whole_from_disk};
use super::reader::{JournalFile, Reading};
use super::runs::Run;
use super::sync::{SharedFile, Syncer, UnsyncedFolders};
use crate::cancel::Cancel;
use crate::error::{Error, IoError, JournalError};
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};
use crate::plan::shard::Shard;

/// A journal that is being written.
pub(crate) struct Journal {
    plan: Arc<Plan>,
    shard: Shard,
    line_crc: LineCrc,
    /// The sum of all that the journal held when it was opened.
    held: Sum,
    /// The bytes that it held then.
    held_bytes: u64,
    file: Arc<SharedFile>,
    /// The thread that syncs. `None` once it was asked to end.
    syncer: Option<Syncer>,
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
        let line_1 = FirstLine::format(plan);
        let line_of_run = line_crc.add_to(&run.to_string());
        let mut first_lines = String::new();
        let mut folders = UnsyncedFolders::None;
        if locked.kept == 0 {
            first_lines += &line_1;
            folders = UnsyncedFolders::OfFile;
            if locked.is_in_new_folder {
                folders = UnsyncedFolders::OfFileAndAbove;
            }
        } else if locked.lacks_line_feed {
            // The next line must not become a part of the damaged one.
            first_lines.push('\n');
        }
        first_lines += &line_of_run;
        let LockedJournal { path, file, kept: held_bytes, .. } = locked;
        let file = Arc::new(SharedFile::new(path, file, held_bytes, line_1 + &line_of_run));
        file.append(&first_lines);
        if let Some(failure) = file.take_failure() {
            return Err(failure.at(&file.path));
        }
        let syncer = Some(Syncer::start(&file, folders)?);
        let plan = Arc::clone(plan);
        Ok(Self { plan, shard: run.shard, line_crc, held, held_bytes, file, syncer })
    }

    /// Returns the path of the journal.
    pub(crate) fn path(&self) -> &Path {
        &self.file.path
    }

    /// Appends finished units. If that fails, [`Journal::has_failed`] returns true.
    pub(crate) fn append(&self, done: &UnitsDone) {
        self.file.append(&self.line_crc.add_to(&format_done(done)));
    }

    /// Returns whether no more lines can be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.file.has_failed()
    }

    /// Returns what has happened to the file, unless it was returned before.
    pub(crate) fn take_news(&self) -> Option<Error> {
        self.file.take_news().map(|news| news.at(self.path()))
    }

    /// Waits until the disk has the whole journal, reads it back from there, and checks that it holds what was counted.
    /// Calls `waits` once if the disk takes its time. From then on, the wait ends if `is_over` returns true.
    ///
    /// If the count is complete, all of the journal is read back, else only what this process has written. A count that
    /// was stopped has to end soon, and whoever resumes it reads the whole journal.
    pub(crate) fn close_and_check(
        mut self,
        counted: Sum,
        is_complete: bool,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<Closed, Error> {
        let synced = self.wait_for_disk(waits, is_over);
        if synced == Err(JournalError::NotYetSynced) {
            // Whatever asks the file system at this moment might have to wait as well.
            return Err(JournalError::NotYetSynced.at(self.path()));
        }
        let harm = self.file.find_harm();
        if harm == Some(JournalError::Gone) {
            // That is also the reason if the disk did not take its lines.
            return Err(self.save_beside().at(self.path()));
        }
        if let Err(error) = synced {
            return Err(error.at(self.path()));
        }
        let is_end_enough = !is_complete && self.held_bytes > 0;
        let read_back = if is_end_enough {
            self.read_end_back(counted)
        } else {
            self.read_back(self.held + counted)
        };
        let reason = match read_back {
            Ok(Some(closed)) => return Ok(Closed { news: self.take_news(), ..closed }),
            Ok(None) => JournalError::NotAsWritten,
            // The first line names another plan than it did.
            Err(Error::PlansDiffer { plans: [_, plan], .. }) => {
                return Err(JournalError::Overwritten { plan }.at(self.path()));
            }
            Err(Error::Journal { error: JournalError::NotAJournal, .. }) => {
                let what = "it was overwritten during the count";
                return Err(JournalError::NoPlan { what }.at(self.path()));
            }
            Err(error) => return Err(error),
        };
        Err(harm.unwrap_or(reason).at(self.path()))
    }

    /// Saves what the journal held in a new journal beside it, because its path leads to another file or nowhere, while
    /// this process still has it open. Returns what has become of the journal.
    fn save_beside(&self) -> JournalError {
        let folder = folder_of(self.path());
        // If the folder cannot take it, for example because it is a file now, another one may.
        let folders = [folder, folder_of(folder), Path::new(".")];
        let mut first_error = None;
        for folder in folders {
            match self.save_in(folder) {
                Ok(path) => return JournalError::GoneAndSaved { path },
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        match first_error {
            Some(reason) => JournalError::GoneForGood { reason },
            None => JournalError::Gone,
        }
    }

    /// Saves what the journal held in a new journal in a folder, and returns its path.
    fn save_in(&self, folder: &Path) -> Result<PathBuf, IoError> {
        let saved = match LockedJournal::create_in(folder, &self.plan, self.shard) {
            Ok(saved) => saved,
            Err(Error::Journal { error: JournalError::Io { reason, .. }, .. }) => {
                return Err(reason);
            }
            Err(error) => return Err(io::Error::other(error).into()),
        };
        let copied = self.file.copy_to(&saved.file).and_then(|()| sync_folder(&saved.path));
        if let Err(error) = copied {
            let _ = fs::remove_file(&saved.path);
            return Err(error.into());
        }
        Ok(saved.path)
    }

    /// Reads the journal back from the disk. Returns `None` if it does not hold this sum.
    fn read_back(&self, sum: Sum) -> Result<Option<Closed>, Error> {
        let file = open(self.path())?;
        let plan = Some(&self.plan);
        let (record, _) = read_whole_from_disk(self.path(), &file, plan, &Cancel::new())?;
        let Some(record) = record.filter(|record| record.sum() == sum) else { return Ok(None) };
        let runs = record.runs().cloned().collect();
        Ok(Some(Closed { runs, is_end: false, left_out: record.left_out, news: None }))
    }

    /// Reads the first line of the journal back from the disk, and what this process has written. Returns `None` if that
    /// does not hold this sum.
    fn read_end_back(&self, sum: Sum) -> Result<Option<Closed>, Error> {
        let cannot_read = |error| JournalError::cannot("read", error).at(self.path());
        let mut file = open(self.path())?;
        drop_cache(&file);
        FirstLine::read(&mut BufReader::new(&file)).map_err(|error| error.at(self.path()))?;
        file.seek(SeekFrom::Start(self.held_bytes)).map_err(cannot_read)?;
        let cancel = Cancel::new();
        let reading = Reading::new(&self.plan, &cancel);
        let (runs, read) =
            JournalFile::read_end(self.path(), &file, &reading).map_err(cannot_read)?;
        let is_as_written = read == sum;
        let closed = Closed { runs, is_end: true, left_out: Vec::new(), news: None };
        Ok(is_as_written.then_some(closed))
    }

    /// Asks the thread that syncs to end, and waits until the disk has all lines, or the wait is over.
    fn wait_for_disk(
        &mut self,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), JournalError> {
        let Some(syncer) = self.syncer.take() else { return Ok(()) };
        syncer.end(waits, is_over)?;
        match self.file.take_failure() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

/// A journal that was read back at the end of a count.
pub(crate) struct Closed {
    /// The processes that wrote what was read back.
    pub(crate) runs: Vec<Run>,
    /// Whether only the lines of this process were read back.
    pub(crate) is_end: bool,
    /// The reasons why lines were left out.
    pub(crate) left_out: Vec<Error>,
    /// What has happened to the journal, unless it was returned before.
    pub(crate) news: Option<Error>,
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
