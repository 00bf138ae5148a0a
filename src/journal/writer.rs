//! Writes a journal while its units are being counted.
//!
//! Each counting thread appends its own lines to the file. A line that is written survives if the process is killed.
//! The thread of [`sync`](super::sync) forces the lines to disk.

use std::path::PathBuf;
use std::sync::Arc;

use super::first_line::FirstLine;
use super::line::{LineCrc, format_done};
use super::lock::LockedJournal;
use super::run::Run;
use super::sync::{SharedFile, Syncer, UnsyncedFolders};
use crate::error::{Error, JournalError};
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};

/// A journal that is being written.
pub(crate) struct Journal {
    plan: Arc<Plan>,
    line_crc: LineCrc,
    /// The path at which the journal was made or opened.
    first_path: PathBuf,
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
    pub(crate) fn begin(
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
        let first_path = path.clone();
        let beginning = line_1 + &line_of_run;
        let file = SharedFile::new((path, file), held_bytes, beginning, plan, run.shard);
        let file = Arc::new(file);
        file.append(&first_lines);
        if let Some(failure) = file.take_failure() {
            return Err(failure.at(&first_path));
        }
        let syncer = Some(Syncer::start(&file, folders)?);
        let plan = Arc::clone(plan);
        Ok(Self { plan, line_crc, first_path, held, held_bytes, file, syncer })
    }

    /// Returns the plan.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns the path of the journal at this moment. If others move or remove the file, it gets another path.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
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
        self.file.take_news().map(|news| news.at(&self.first_path))
    }

    /// Returns the sum of all that the journal held when it was opened.
    pub(crate) fn held(&self) -> Sum {
        self.held
    }

    /// Returns the number of bytes that the journal held when it was opened.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Waits until the disk has the whole journal, and looks whether the file is still as this process left it. Returns
    /// what has harmed it, if it has to be read to know what that means.
    ///
    /// Calls `waits` once if the disk takes its time. From then on, the wait ends if `is_over` returns true.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if the disk has not taken the journal, or if its path leads elsewhere and no new file can be made.
    pub(crate) fn end(
        &mut self,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<JournalError>, Error> {
        let synced = self.wait_for_disk(waits, is_over);
        synced.map_err(|error| error.at(&self.first_path))?;
        let mut harm = self.file.find_harm();
        if harm == Some(JournalError::Gone) {
            harm = Some(self.file.go_on_in_new_file());
        }
        match harm {
            Some(failure @ JournalError::GoneForGood { .. }) => Err(failure.at(&self.first_path)),
            harm => Ok(harm),
        }
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
