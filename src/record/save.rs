//! Writes what a record holds to one new journal: many journals packed into one, or what is good of a
//! damaged one.
//!
//! The new journal has the lines of one that a single process could have written: a `run` line for
//! every process, and behind it the units that this process was the first to record, in increasing
//! order, up to [`UNITS_A_LINE`] a line. The CPU time of a process is in its first line; that of a
//! process whose units are all left out is lost.
//!
//! One journal after the other is read, and of a long one so many units at once that memory holds a few
//! dozen megabytes.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::line::{DoneLine, Line};
use super::reader::{Mode, Named};
use super::union::{JournalFile, Record};
use super::units::{Units, weighted_sum};
use crate::error::{Error, JournalError};

/// Units whose counts are in memory at once.
const AT_ONCE: usize = 1 << 20;
/// Units of a line, at most: damage to a line costs all of them.
const UNITS_A_LINE: usize = 1024;

/// A new journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Saved {
    /// The units that it holds.
    pub finished: Units,
    /// Its length in bytes.
    pub bytes: u64,
    /// The length of the journals that it was made of.
    pub bytes_before: u64,
}

impl Record {
    /// Writes all finished units except `without` to a new journal, and reads it back. What processes
    /// have recorded since the journals were read is not in it. Until it is whole, it has a temporary
    /// name, so that nobody takes a part of it for the whole.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if a file cannot be read or written, or if the new one exists.
    pub fn save(&self, into: &Path, without: &Units) -> Result<Saved, Error> {
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
        #[cfg(unix)]
        new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let new = new.tempfile_in(folder).map_err(refused)?;
        let finished = &self.finished - without;
        let solutions = self.write(BufWriter::new(new.as_file()), into, &finished)?;
        new.as_file().sync_all().map_err(cannot_write)?;
        let held = Self::read(&[new.path().to_owned()], Mode::Strict)?;
        if held.is_none_or(|held| held.finished != finished || held.solutions != solutions) {
            let what = "it differs from the journals that it was made of".to_owned();
            return Err(JournalError::NotAsWritten { what }.at(into));
        }
        // The page of `status` draws progress by the times of files. That is not worth an error.
        let newest = self.files.iter().filter_map(|file| file.modified).max();
        let _ = newest.map(|time| new.as_file().set_modified(time));
        let bytes = new.as_file().metadata().map_or(0, |metadata| metadata.len());
        let bytes_before = self.files.iter().map(|file| file.bytes).sum();
        new.persist_noclobber(into).map_err(|error| refused(error.error))?;
        sync_folder(into).map_err(cannot_write)?;
        Ok(Saved { finished, bytes, bytes_before })
    }

    /// Writes the lines. Returns the solutions in them.
    fn write(&self, out: impl Write, into: &Path, finished: &Units) -> Result<u128, Error> {
        let named = Named::of(Arc::clone(&self.plan), into);
        let (bytes, next_run, solutions, result) = (0, 0, 0, Ok(()));
        let mut writer = LineWriter { out, named, bytes, next_run, solutions, result };
        writer.put(writer.named.first_line());
        let is_all = *finished == self.finished && self.shared.is_empty();
        let mut written = HashSet::new();
        for file in &self.files {
            let mut held = Vec::new();
            writer.next_run = 0;
            self.rescan(file, |run, DoneLine { units, counts, .. }| {
                let mut is_wanted = |unit| {
                    let is_new = !self.shared.contains(unit) || written.insert(unit);
                    is_new && finished.contains(unit)
                };
                let all = units.zip(counts).map(|(unit, count)| (run, unit, count));
                match is_all {
                    true => held.extend(all),
                    false => held.extend(all.filter(|(_, unit, _)| is_wanted(*unit))),
                }
                if held.len() >= AT_ONCE {
                    writer.put_units(file, &mut held);
                }
            })?;
            writer.put_units(file, &mut held);
        }
        let written = writer.result.and_then(|()| writer.out.flush());
        written.map_err(|error| JournalError::cannot_write(error).at(into))?;
        Ok(writer.solutions)
    }

    /// The CPU time of all units that were counted, also of those that were counted again.
    #[must_use]
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
    /// The first run of the present file that has no line yet.
    next_run: usize,
    solutions: u128,
    /// The first error ends the writing.
    result: io::Result<()>,
}

impl<W: Write> LineWriter<W> {
    /// Writes units with the numbers of their runs, and takes them away.
    fn put_units(&mut self, file: &JournalFile, held: &mut Vec<(usize, usize, u64)>) {
        held.sort_unstable();
        let follows = |one: &(usize, usize, u64), next: &(usize, usize, u64)| {
            (one.0, one.1 + 1) == (next.0, next.1)
        };
        for line in held.chunk_by(follows).flat_map(|units| units.chunks(UNITS_A_LINE)) {
            let (number, first, _) = line[0];
            // Somebody may have changed the file since it was read; the end will tell.
            let Some(run) = file.runs.get(number) else { continue };
            let mut cpu_time = Duration::ZERO;
            if number >= self.next_run {
                self.put(self.named.seal().close(&Line::Run(run.clone())));
                (self.next_run, cpu_time) = (number + 1, run.cpu_time);
            }
            let counts: Vec<u64> = line.iter().map(|(.., count)| *count).collect();
            let solutions = weighted_sum(&self.named.plan, first, &counts);
            self.solutions += solutions;
            let (units, elapsed) = (first..first + counts.len(), run.elapsed);
            let done = DoneLine { units, solutions, elapsed, cpu_time, counts };
            self.put(self.named.seal().close(&Line::Done(done)));
        }
        held.clear();
    }

    fn put(&mut self, line: String) {
        let text = self.named.with_copy(line, self.bytes);
        self.bytes += text.len() as u64;
        if self.result.is_ok() {
            self.result = self.out.write_all(text.as_bytes());
        }
    }
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a file's name survive a power cut, where folders can be synced.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    use io::ErrorKind as Kind;
    let synced = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    match synced {
        Err(error)
            if matches!(
                error.kind(),
                Kind::InvalidInput | Kind::PermissionDenied | Kind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}
