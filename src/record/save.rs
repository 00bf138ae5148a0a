//! Writes what a record holds to one new journal: many journals packed into one, or what is good of a
//! damaged one.
//!
//! The new journal has the lines of one that a single process could have written: those of the old ones,
//! in their order, without the units that a line before has recorded. The CPU time of a line stays with
//! the first units that are left of it; a `run` line without units is left out.
//!
//! One journal after the other is read, so the memory holds no more than a line.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::disk::{create, folder_of, sync_folder};
use super::line::Line;
use super::reader::Named;
use super::union::Record;
use super::units::{Units, weighted_sum};
use crate::error::{Error, JournalError};

impl Record {
    /// Writes all finished units except `without` to a new journal, and reads it back. What processes
    /// have recorded since the journals were read is not in it. Until it is whole, it has a temporary
    /// name, so that nobody takes a part of it for the whole.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if a file cannot be read or written, or if the new one exists.
    pub fn save(&self, into: &Path, without: &Units) -> Result<Self, Error> {
        let cannot_write = |error| JournalError::cannot_write(error).at(into);
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists.at(into),
            _ => JournalError::cannot_open(error).at(into),
        };
        if into.symlink_metadata().is_ok() {
            return Err(JournalError::Exists.at(into));
        }
        let folder = folder_of(into);
        let mut new = tempfile::Builder::new();
        new.prefix(".nqueens-").suffix(".tmp");
        // Errors of `tempfile_in` end with the temporary name, which says nothing to users.
        let new = new.make_in(folder, create).map_err(refused)?;
        let finished = &self.finished - without;
        let solutions = self.write(BufWriter::new(new.as_file()), into, &finished)?;
        new.as_file().sync_all().map_err(cannot_write)?;
        let held = Self::read(&[new.path().to_owned()])?.map(Self::undamaged).transpose()?;
        let is_right = |held: &Self| held.finished == finished && held.solutions == solutions;
        let mut held = held.filter(is_right).ok_or_else(|| {
            let what = "it differs from the journals that it was made of".to_owned();
            JournalError::NotAsWritten { what }.at(into)
        })?;
        held.files[0].path = into.to_owned();
        // The page of `status` draws progress by the times of files. That is not worth an error.
        let newest = self.files.iter().filter_map(|file| file.modified).max();
        let _ = newest.map(|time| new.as_file().set_modified(time));
        new.persist_noclobber(into).map_err(|error| refused(error.error))?;
        sync_folder(into).map_err(cannot_write)?;
        Ok(held)
    }

    /// Writes the lines. Returns the solutions in them.
    fn write(&self, out: impl Write, into: &Path, finished: &Units) -> Result<u128, Error> {
        let named = Named::of(Arc::clone(&self.plan), into);
        let (bytes, solutions, result) = (0, 0, Ok(()));
        let mut writer = LineWriter { out, named, bytes, solutions, result };
        writer.put(writer.named.first_line());
        let mut written = HashSet::new();
        for file in &self.files {
            let mut next_run = 0;
            self.rescan(file, |number, mut line| {
                let units = line.units.clone().zip(line.counts.drain(..));
                let wanted = units.filter(|(unit, _)| {
                    let is_new = !self.shared.contains(*unit) || written.insert(*unit);
                    is_new && finished.contains(*unit)
                });
                let wanted: Vec<(usize, u64)> = wanted.collect();
                // Somebody may have changed the file since it was read; the end will tell.
                let Some(run) = file.runs.get(number).filter(|_| !wanted.is_empty()) else {
                    return;
                };
                if number >= next_run {
                    writer.put_line(&Line::Run(run.clone()));
                    next_run = number + 1;
                }
                for units in wanted.chunk_by(|(unit, _), (next, _)| unit + 1 == *next) {
                    line.units = units[0].0..units[0].0 + units.len();
                    line.counts = units.iter().map(|(_, count)| *count).collect();
                    line.solutions = weighted_sum(&self.plan, line.units.start, &line.counts);
                    writer.solutions += line.solutions;
                    writer.put_line(&Line::Done(line.clone()));
                    line.cpu_time = Duration::ZERO;
                }
            })?;
        }
        let written = writer.result.and_then(|()| writer.out.flush());
        written.map_err(|error| JournalError::cannot_write(error).at(into))?;
        Ok(writer.solutions)
    }

    /// The CPU time of all units that were counted, also of those that were counted again.
    pub fn cpu_time(&self) -> Duration {
        let runs = self.files.iter().flat_map(|file| &file.runs);
        runs.fold(Duration::ZERO, |sum, run| sum.saturating_add(run.cpu_time))
    }
}

/// Writes the lines of a new journal.
struct LineWriter<W> {
    out: W,
    named: Named,
    bytes: u64,
    solutions: u128,
    /// The first error ends the writing.
    result: io::Result<()>,
}

impl<W: Write> LineWriter<W> {
    fn put_line(&mut self, line: &Line) {
        self.put(self.named.seal().close(line));
    }

    fn put(&mut self, line: String) {
        let text = self.named.with_copy(line, self.bytes);
        self.bytes += text.len() as u64;
        if self.result.is_ok() {
            self.result = self.out.write_all(text.as_bytes());
        }
    }
}
