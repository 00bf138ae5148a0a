//! Writes what a record holds to one new journal: many journals packed into one, or what is good of a
//! damaged one.
//!
//! The lines are copied in their order, behind a `run` line for every process that finished any of
//! their units first. Neighbouring lines of one process are joined, up to [`UNITS_A_LINE`] units. The
//! CPU time of units that are left out or repeated was spent all the same: the next line has it.
//!
//! One line after the other is read and written, so memory holds no counts.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::line::{DoneLine, Line, Seal};
use super::reader::Named;
use super::{Mode, Record, Run, Units, weighted_sum};
use crate::error::{Error, JournalError};

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
        let solutions = self.write(BufWriter::new(new.as_file()), &finished, cannot_write)?;
        new.as_file().sync_all().map_err(cannot_write)?;
        self.check(new.path(), &finished, solutions)?;
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
    fn write(
        &self,
        out: impl Write,
        finished: &Units,
        cannot_write: impl Fn(io::Error) -> Error,
    ) -> Result<u128, Error> {
        let named = Named::of(Arc::clone(&self.plan), Path::new(""));
        let mut writer = LineWriter { out, seal: named.seal(), last: None, result: Ok(()) };
        writer.put(&named.first_line());
        let is_all = *finished == self.finished && self.shared.is_empty();
        let mut written = HashSet::new();
        let (mut carried, mut solutions) = (Duration::ZERO, 0);
        for file in &self.files {
            // The run whose lines are being written.
            let mut current = None;
            self.rescan(file, |run, mut done| {
                carried += std::mem::take(&mut done.cpu_time);
                let mut is_wanted = |unit: usize| {
                    is_all
                        || finished.contains(unit)
                            && !(self.shared.contains(unit) && !written.insert(unit))
                };
                for mut part in parts(done, &mut is_wanted) {
                    part.cpu_time = std::mem::take(&mut carried);
                    part.solutions = weighted_sum(&self.plan, part.units.start, &part.counts);
                    solutions += part.solutions;
                    if current.replace(run) != Some(run) {
                        writer.begin(&file.runs[run]);
                    }
                    writer.add(part);
                }
            })?;
        }
        if let Some(last) = &mut writer.last {
            last.cpu_time += carried;
        }
        writer.end().map_err(cannot_write)?;
        Ok(solutions)
    }

    /// Makes sure that a new journal holds what it should.
    fn check(&self, path: &Path, finished: &Units, solutions: u128) -> Result<(), Error> {
        let held = Self::read(&[path.to_owned()], Mode::Strict)?;
        let is_same = match held {
            // Without units, no line can hold the time.
            Some(held) if held.finished.is_empty() => finished.is_empty(),
            Some(held) => {
                held.finished == *finished
                    && held.solutions == solutions
                    && held.cpu_time() == self.cpu_time()
            }
            None => false,
        };
        let what = "it differs from the journals that it was made of".to_owned();
        if is_same { Ok(()) } else { Err(JournalError::NotAsWritten { what }.at(path)) }
    }

    /// The CPU time of all units that were counted, also of those that were counted again.
    #[must_use]
    pub fn cpu_time(&self) -> Duration {
        let runs = self.files.iter().flat_map(|file| &file.runs);
        runs.fold(Duration::ZERO, |sum, run| sum.saturating_add(run.cpu_time))
    }
}

/// The parts of a line whose units are wanted.
fn parts(done: DoneLine, is_wanted: &mut impl FnMut(usize) -> bool) -> Vec<DoneLine> {
    let DoneLine { units, counts, elapsed, .. } = done;
    let mut parts = Vec::<DoneLine>::new();
    for (unit, count) in units.zip(counts).filter(|(unit, _)| is_wanted(*unit)) {
        match parts.last_mut().filter(|last| last.units.end == unit) {
            Some(last) => {
                last.units.end += 1;
                last.counts.push(count);
            }
            None => parts.push(DoneLine {
                units: unit..unit + 1,
                solutions: 0,
                elapsed,
                cpu_time: Duration::ZERO,
                counts: vec![count],
            }),
        }
    }
    parts
}

/// Writes lines, and joins neighbouring ones.
struct LineWriter<W> {
    out: W,
    seal: Seal,
    last: Option<DoneLine>,
    /// The first error ends the writing.
    result: io::Result<()>,
}

impl<W: Write> LineWriter<W> {
    fn begin(&mut self, run: &Run) {
        self.write_last();
        self.put(&self.seal.close(&run.line()));
    }

    fn add(&mut self, mut next: DoneLine) {
        match &mut self.last {
            Some(last)
                if last.units.end == next.units.start
                    && last.units.len() + next.units.len() <= UNITS_A_LINE =>
            {
                last.units.end = next.units.end;
                last.solutions += next.solutions;
                last.elapsed = last.elapsed.max(next.elapsed);
                last.cpu_time += next.cpu_time;
                last.counts.append(&mut next.counts);
            }
            _ => {
                self.write_last();
                self.last = Some(next);
            }
        }
    }

    fn write_last(&mut self) {
        if let Some(line) = self.last.take() {
            self.put(&self.seal.close(&Line::Done(line)));
        }
    }

    fn put(&mut self, text: &str) {
        if self.result.is_ok() {
            self.result = self.out.write_all(text.as_bytes());
        }
    }

    fn end(mut self) -> io::Result<()> {
        self.write_last();
        self.result?;
        self.out.flush()
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
