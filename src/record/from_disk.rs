//! One journal, read from the disk and not from the cache: when it is resumed, and at the end of a count, when it is
//! compared with what was counted.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Gathered, Record};
use crate::cancel::Cancel;
use crate::error::{Error, JournalError};
use crate::journal::{
    DoneLine, FirstLine, Journal, JournalFile, LockedJournal, Reading, Run, drop_cache, open,
};
use crate::machine::memory::StatedMemory;
use crate::plan::Plan;
use crate::plan::done::Sum;

/// Locks the journal at a path and reads it. Returns no record if the journal has not begun.
pub(super) fn lock_and_read(
    path: &Path,
    stated_memory: Option<StatedMemory>,
    cancel: &Cancel,
) -> Result<(LockedJournal, Option<Record>), Error> {
    let mut journal = LockedJournal::lock(path, cancel)?;
    let (record, length) = read_whole(path, &journal.file, cancel, |first| {
        first.make_plan(path, stated_memory).map(Arc::new)
    })?;
    journal.was_read(length, record.as_ref().map(|record| &record.files()[0]));
    Ok((journal, record))
}

/// A journal that was read back at the end of a count.
pub(crate) struct Closed {
    /// The path of the journal, which is another one if the file was moved or removed.
    pub(crate) path: PathBuf,
    /// The processes that wrote what was read back.
    pub(crate) runs: Vec<Run>,
    /// Whether only the lines of this process were read back.
    pub(crate) is_end: bool,
    /// The reasons why lines were left out.
    pub(crate) left_out: Vec<Error>,
    /// What has happened to the journal, unless it was returned before.
    pub(crate) news: Option<Error>,
}

impl Closed {
    /// Ends the writing of a journal, reads it back, and checks that it holds what was counted. `waits` and `is_over` are
    /// those of [`Journal::end`].
    ///
    /// If the count is complete, all of the journal is read back, else only what this process has written. A count that
    /// was stopped has to end soon, and whoever resumes it reads the whole journal.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if the journal does not hold what was counted.
    pub(crate) fn close(
        mut journal: Journal,
        counted: Sum,
        is_complete: bool,
        waits: &dyn Fn(),
        is_over: &dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        let harm = journal.end(waits, is_over)?;
        let path = journal.path();
        let is_end_enough = !is_complete && journal.held_bytes() > 0;
        let read_back = if is_end_enough {
            read_end_back(&journal, counted)
        } else {
            read_back(&journal, journal.held() + counted)
        };
        let reason = match read_back {
            Ok(Some(closed)) => return Ok(Self { news: journal.take_news(), ..closed }),
            Ok(None) => JournalError::NotAsWritten,
            // The first line names another plan than it did.
            Err(Error::PlansDiffer { plans: [_, plan], .. }) => {
                return Err(JournalError::Overwritten { plan }.at(&path));
            }
            Err(Error::Journal { error: JournalError::NotAJournal, .. }) => {
                let what = "it was overwritten during the count";
                return Err(JournalError::NoPlan { what }.at(&path));
            }
            Err(error) => return Err(error),
        };
        Err(harm.unwrap_or(reason).at(&path))
    }
}

/// Reads a journal back. Returns `None` if it does not hold this sum.
fn read_back(journal: &Journal, sum: Sum) -> Result<Option<Closed>, Error> {
    let path = journal.path();
    let file = open(&path)?;
    let plan = |_: &FirstLine| Ok(Arc::clone(journal.plan()));
    let (record, _) = read_whole(&path, &file, &Cancel::new(), plan)?;
    let Some(record) = record.filter(|record| record.sum() == sum) else { return Ok(None) };
    let runs = record.runs().cloned().collect();
    // A new file has only the lines of this process.
    let is_end = journal.held_bytes() == 0;
    Ok(Some(Closed { path, runs, is_end, left_out: record.left_out, news: None }))
}

/// Reads the first line of a journal back, and what this process has written. Returns `None` if that does not hold this
/// sum.
fn read_end_back(journal: &Journal, sum: Sum) -> Result<Option<Closed>, Error> {
    let path = journal.path();
    let cannot_read = |error| JournalError::cannot("read", error).at(&path);
    let mut file = open(&path)?;
    drop_cache(&file);
    FirstLine::read(&mut BufReader::new(&file)).map_err(|error| error.at(&path))?;
    file.seek(SeekFrom::Start(journal.held_bytes())).map_err(cannot_read)?;
    let cancel = Cancel::new();
    let reading = Reading::new(journal.plan(), &cancel);
    let (runs, read) = JournalFile::read_end(&path, &file, &reading).map_err(cannot_read)?;
    let is_as_written = read == sum;
    let closed = Closed { path, runs, is_end: true, left_out: Vec::new(), news: None };
    Ok(is_as_written.then_some(closed))
}

/// Reads a whole journal from the disk, as far as the system allows that. The file was just opened. Returns what the
/// journal holds, `None` if it has not begun, and the number of bytes that were read.
///
/// # Errors
///
/// [`Error::Journal`] if the file cannot be read to its end, or if its first line names no plan, whether the plan is
/// known or not: nobody could read the file again. [`Error::StoppedBefore`] after a cancellation.
fn read_whole(
    path: &Path,
    mut file: &File,
    cancel: &Cancel,
    plan_of: impl FnOnce(&FirstLine) -> Result<Arc<Plan>, Error>,
) -> Result<(Option<Record>, u64), Error> {
    let cannot_read = |error| JournalError::cannot("read", error).at(path);
    drop_cache(file);
    let first = FirstLine::read(&mut BufReader::new(file)).map_err(|error| error.at(path))?;
    let Some(first) = first else {
        // Such a file was read to its end.
        return Ok((None, file.stream_position().map_err(cannot_read)?));
    };
    let plan = plan_of(&first)?;
    file.rewind().map_err(cannot_read)?;
    let mut gathered = Gathered::new(Arc::clone(&plan))?;
    let put = |line: DoneLine<'_>| gathered.put(&line);
    let reading = Reading::new(&plan, cancel);
    let found = JournalFile::read(path, file, &reading, put)?;
    let record = Record::from_journals(gathered, path, vec![Ok(found)], &reading)?;
    check_is_whole(&record)?;
    // If the reading ended early, the rest must not be cut off.
    let read = file.stream_position().map_err(cannot_read)?;
    let length = file.metadata().map_err(cannot_read)?.len();
    if read != length {
        return Err(cannot_read(io::Error::other(format!(
            "{read} of {length} bytes could be read"
        ))));
    }
    let has_begun = !record.files().is_empty();
    Ok((has_begun.then_some(record), length))
}

/// Checks that the system did not refuse to read a part of the journal.
fn check_is_whole(record: &Record) -> Result<(), Error> {
    for error in &record.left_out {
        if let Error::Journal { error: JournalError::Io { .. }, .. } = error {
            return Err(error.clone());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::{Engine, Kernel};
    use crate::plan::done::UnitsDone;
    use crate::plan::shard::Shard;

    /// Resumes a journal of a unit, counts another one, overwrites a byte of the line before these, and closes the
    /// journal.
    fn close_after_damage(is_damaged: bool, is_complete: bool) -> Result<Closed, Error> {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let size = BoardSize::new(8).expect("in range");
        let plan = Arc::new(Plan::new(size, Engine::Bitmask, None).expect("a plan"));
        let run = Run::of_this_process(Kernel::PORTABLE, 1, Shard::WHOLE);
        let done = |unit, count| UnitsDone {
            units: unit..unit + 1,
            solutions: u128::from(count),
            counts: vec![count],
            ..UnitsDone::default()
        };
        let locked = LockedJournal::create(&path)?;
        let journal = Journal::begin(locked, &plan, Sum::default(), &run)?;
        journal.append(&done(0, 4));
        drop(journal);
        let (locked, record) = lock_and_read(&path, None, &Cancel::new())?;
        let held = record.expect("a unit").sum();
        let journal = Journal::begin(locked, &plan, held, &run)?;
        journal.append(&done(1, 8));
        if is_damaged {
            let text = fs::read_to_string(&path).expect("text");
            fs::write(&path, text.replace("counts=4 ", "counts=5 ")).expect("room");
        }
        Closed::close(journal, done(1, 8).sum(), is_complete, &|| (), &|| false)
    }

    #[test]
    fn a_complete_journal_is_read_back_in_full_and_a_stopped_one_from_where_it_was_resumed() {
        for (is_complete, runs) in [(true, 2), (false, 1)] {
            let closed = close_after_damage(false, is_complete).expect("a good journal");
            assert_eq!((closed.runs.len(), closed.is_end), (runs, !is_complete));
        }
        assert!(close_after_damage(true, false).is_ok());
        let refused = close_after_damage(true, true).err().expect("a unit is lost");
        assert!(refused.to_string().contains("q.journal"), "{refused}");
    }
}
