//! Writes a journal while its units are being counted.
//!
//! Each counting thread appends its own lines to the file. A line that is written survives if the process is killed.
//! The thread of [`sync`](super::sync) forces the lines to disk.

use std::path::Path;
use std::sync::Arc;

use super::Record;
use super::disk::{folder_of, open, sync_folder};
use super::first_line::FirstLine;
use super::line::{LineCrc, format_done};
use super::lock::{LockedJournal, read_whole_from_disk};
use super::runs::Run;
use super::sync::{SharedFile, Syncer, UnsyncedFolders};
use crate::done::{Sum, UnitsDone};
use crate::error::{Error, JournalError};
use crate::plan::Plan;
use crate::shard::Shard;

/// A journal that is being written.
pub(crate) struct Journal {
    plan: Arc<Plan>,
    shard: Shard,
    line_crc: LineCrc,
    /// The sum of all that the journal held when it was opened.
    held: Sum,
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
        let LockedJournal { path, file, kept, .. } = locked;
        let file = Arc::new(SharedFile::new(path, file, kept, [line_1, line_of_run]));
        file.append(&first_lines);
        if let Some(failure) = file.take_failure() {
            return Err(failure.at(&file.path));
        }
        let syncer = Some(Syncer::start(&file, folders)?);
        Ok(Self { plan: Arc::clone(plan), shard: run.shard, line_crc, held, file, syncer })
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

    /// Waits until the disk has the whole journal, reads it back from there, and checks that it holds what was held
    /// when it was opened and what was counted since. Calls `waits` once if the disk takes its time. From then on, the
    /// wait ends if `is_over` returns true. Returns what the journal holds, and what has happened to it and was not
    /// returned yet.
    pub(crate) fn close_and_check(
        mut self,
        counted: Sum,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<(Record, Option<Error>), Error> {
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
        let reason = match self.read_back() {
            Ok(Some(record)) if record.sum() == self.held + counted => {
                return Ok((record, self.take_news()));
            }
            Ok(_) => JournalError::NotAsWritten,
            // The first line names another plan than it did, so another process wrote the file.
            Err(Error::PlansDiffer { .. }) => JournalError::WrittenByOthers,
            // The error of a file that names no plan says so.
            Err(error) => return Err(error),
        };
        Err(harm.unwrap_or(reason).at(self.path()))
    }

    /// Saves what the journal held in a new journal beside it, because its path leads to another file or nowhere, while
    /// this process still has it open. Returns what has become of the journal.
    fn save_beside(&self) -> JournalError {
        let saved = LockedJournal::create_in(folder_of(self.path()), &self.plan, self.shard);
        let saved = match saved {
            Ok(saved) => saved,
            Err(Error::Journal { error: JournalError::Io { source, .. }, .. }) => {
                return JournalError::GoneForGood { source };
            }
            Err(_) => return JournalError::Gone,
        };
        let copied = self.file.copy_to(&saved.file).and_then(|()| sync_folder(&saved.path));
        match copied {
            Ok(()) => JournalError::GoneAndSaved { path: saved.path },
            Err(error) => JournalError::GoneForGood { source: error.into() },
        }
    }

    /// Reads the journal back from the disk. Returns `None` if it does not even have its first line.
    fn read_back(&self) -> Result<Option<Record>, Error> {
        let file = open(self.path())?;
        let (record, _) = read_whole_from_disk(self.path(), &file, Some(&self.plan))?;
        Ok(record)
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
