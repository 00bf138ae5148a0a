//! Writes what a record holds to one new journal. This packs many journals into one, or saves the good lines of a
//! damaged journal.
//!
//! The new journal looks as if a single process had written it. It has the lines of the old journals, in their order,
//! without units that an earlier line has recorded. If only parts of a line are left, the first part has the CPU
//! time. A `run` line without units is left out.
//!
//! The journals are read one after the other, so no more than a line is in memory.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use tempfile::{NamedTempFile, TempPath};

use super::disk::{create, folder_of, open, sync_folder};
use super::first_line::FirstLine;
use super::line::{Seal, format_done};
use super::lock::read_from_disk;
use super::union::Record;
use crate::cancel::Cancel;
use crate::error::{Error, JournalError};

/// A cancellation before the new journal is whole leaves nothing of it.
const WHOLE: &str = "the new journal was whole";

/// Gives a file its final name, without replacing another file.
fn give_name(new: NamedTempFile, into: &Path) -> io::Result<()> {
    let Err(refused) = new.persist_noclobber(into) else { return Ok(()) };
    // Some file systems can only rename, which would replace a file. There an empty file takes the name first. It is
    // a journal that has not begun, so nobody takes it for more. It is removed if renaming fails.
    create(into)?;
    let empty = TempPath::try_from_path(into)?;
    refused.file.persist(into)?;
    Ok(empty.keep().map(drop)?)
}

impl Record {
    /// Writes all finished units to a new journal, reads it back and returns its record.
    ///
    /// Units that processes have recorded since the journals were read are not in it. The new journal has a temporary
    /// name until it is whole, so that nobody takes a part of it for the whole.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if a file cannot be read or written, or if the new one already exists, and
    /// [`Error::StoppedBefore`] after a cancellation. Nothing is left of the new journal then.
    pub fn save(&self, into: &Path, cancel: &Cancel) -> Result<Self, Error> {
        let cannot_write = |error| JournalError::cannot("write")(error).at(into);
        let cannot_open = |error| JournalError::cannot("open")(error).at(into);
        if into.symlink_metadata().is_ok() {
            return Err(JournalError::Exists.at(into));
        }
        let folder = folder_of(into);
        let mut new = tempfile::Builder::new();
        new.prefix(".nqueens-").suffix(".tmp");
        // Errors of `tempfile_in` would name the temporary file, which users do not know.
        let new = new.make_in(folder, create).map_err(cannot_open)?;
        self.write(BufWriter::new(new.as_file()), into, cancel)?;
        new.as_file().sync_all().map_err(cannot_write)?;
        // Users may remove the old journals when this one is there, so it is read from the disk and not from the
        // cache.
        let (held, _) = read_from_disk(new.path(), &open(new.path())?, Some(self.plan()))?;
        let is_right =
            |held: &Self| held.finished() == self.finished() && held.tally() == self.tally();
        let mut held = held.filter(is_right).ok_or_else(|| JournalError::NotAsWritten.at(into))?;
        held.files[0].path = into.to_owned();
        cancel.check(WHOLE)?;
        give_name(new, into).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists.at(into),
            _ => cannot_write(error),
        })?;
        sync_folder(into).map_err(cannot_write)?;
        Ok(held)
    }

    /// Writes the lines of the new journal.
    fn write(&self, mut out: impl Write, into: &Path, cancel: &Cancel) -> Result<(), Error> {
        let seal = Seal::of(self.plan());
        // The first error ends the writing.
        let mut result = out.write_all(FirstLine::write(self.plan()).as_bytes());
        let mut put = |text: &str| {
            if result.is_ok() && !cancel.is_cancelled() {
                result = out.write_all(seal.close(text).as_bytes());
            }
        };
        let mut written = HashSet::new();
        for file in &self.files {
            cancel.check(WHOLE)?;
            // The number of runs of this file whose lines are written.
            let mut begun = 0;
            self.rescan(file, |runs, mut line| {
                let units = line.units.clone().zip(line.counts.drain(..));
                let wanted = units.filter(|(unit, _)| {
                    let is_new = !self.shared.contains(*unit) || written.insert(*unit);
                    is_new && self.finished().contains(*unit)
                });
                let wanted: Vec<(usize, u64)> = wanted.collect();
                if let Some(run) = runs.last().filter(|_| !wanted.is_empty())
                    && runs.len() > begun
                {
                    put(&run.to_string());
                    begun = runs.len();
                }
                for units in wanted.chunk_by(|(unit, _), (next, _)| unit + 1 == *next) {
                    line.units = units[0].0..units[0].0 + units.len();
                    line.counts = units.iter().map(|(_, count)| *count).collect();
                    line.solutions = self.plan().solutions(line.units.start, &line.counts);
                    put(&format_done(&line));
                    line.cpu_time = Duration::ZERO;
                }
            })?;
        }
        cancel.check(WHOLE)?;
        result
            .and_then(|()| out.flush())
            .map_err(|error| JournalError::cannot("write")(error).at(into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file is not replaced even if another process created it after `save` looked for it.
    #[test]
    fn no_file_is_replaced() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let into = folder.path().join("new.journal");
        std::fs::write(&into, "of another process").expect("room");
        let new = NamedTempFile::new_in(folder.path()).expect("room");
        let refused = give_name(new, &into).map_err(|error| error.kind());
        assert_eq!(refused, Err(io::ErrorKind::AlreadyExists));
        assert_eq!(std::fs::read_to_string(&into).expect("there"), "of another process");
        assert_eq!(folder.path().read_dir().expect("there").count(), 1);
    }
}
