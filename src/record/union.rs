//! Reads journals of one plan into one [`Record`].
//!
//! No scheduler promises that a task runs exactly once, so two processes may have counted the same
//! unit. Its count depends only on the plan, so this does no harm: equal counts count once, and
//! different ones are an error that names both files.
//!
//! Thousands of journals may hold a hundred million units. So each is read once, in parallel, without
//! its counts. Only units that are held more than once are read again, to compare their counts. A
//! process may write meanwhile, so the second reading ends where the first one ended.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rayon::prelude::*;

use super::disk::open;
use super::line::DoneLine;
use super::reader::{JournalFile, Named};
use super::units::{Counts, Units, len, units_of};
use crate::board::known::known;
use crate::error::{Error, JournalError};
use crate::forecast::{Approximate, Blocks, Rest, seconds_of};
use crate::plan::Plan;

/// What journals of one plan hold together.
#[derive(Clone, Debug)]
pub struct Record {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The units that are finished in any of the journals.
    pub finished: Units,
    /// The solutions in them, with their weights.
    pub solutions: u128,
    /// The journals, in the order in which they were named.
    pub files: Vec<JournalFile>,
    /// Journals that hold nothing: they are empty, or end within their first line.
    pub unbegun: Vec<PathBuf>,
    /// How many times a unit is held once more, with the same count.
    pub repeated: usize,
    /// Why lines, journals and units with two counts were left out, if that is allowed.
    pub left_out: Vec<Error>,
    /// The units that are held more than once.
    pub(super) shared: Units,
    /// What units took in the last run of each journal, and in those before it that were like it.
    pub(crate) blocks: Blocks,
}

/// A count of a unit, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The unit's number in the plan.
    pub unit: usize,
    /// The count, before its weight.
    pub count: u64,
    /// The journal.
    pub path: PathBuf,
    /// The machine that counted it.
    pub machine: String,
}

impl Record {
    /// Reads journals of one plan. `None` if none of them holds anything. What is damaged, and units with
    /// different counts, are [left out](Self::left_out) and count as not finished.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if they belong to different plans or counts, [`Error::Journal`] if none of them
    /// names a plan.
    pub fn read(paths: &[PathBuf]) -> Result<Option<Self>, Error> {
        // A journal that cannot be read is reported below, in the order of the files.
        let Some(named) = paths.iter().find_map(|path| Named::at(path).ok().flatten()) else {
            return paths.iter().try_for_each(|path| Named::at(path).map(|_| ())).map(|()| None);
        };
        Self::read_named(paths, &named).map(Some)
    }

    /// The record, if nothing is left out.
    ///
    /// # Errors
    ///
    /// The first reason why something is.
    pub fn undamaged(self) -> Result<Self, Error> {
        self.left_out.first().cloned().map_or(Ok(self), Err)
    }

    /// The same, given the plan.
    pub(super) fn read_named(paths: &[PathBuf], named: &Named) -> Result<Self, Error> {
        let blocks = Mutex::new(Blocks::new(named.plan.units()));
        let read = |path: &PathBuf| {
            let file = open(path)?;
            let modified = modified(&file);
            let held = Named::scan(Some(named), path, file, |_, _| ())?;
            Ok(held.map(|held| {
                let mut all = blocks.lock().unwrap_or_else(PoisonError::into_inner);
                all.merge(&held.blocks);
                JournalFile { modified, blocks: Blocks::default(), ..held }
            }))
        };
        let files: Vec<_> = paths.par_iter().map(read).collect();
        let (mut held, mut unbegun, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (path, file) in paths.iter().zip(files) {
            match file {
                Ok(Some(file)) => held.push(file),
                Ok(None) => unbegun.push(path.clone()),
                Err(error @ Error::Journal { .. }) => left_out.push(error),
                Err(error) => return Err(error),
            }
        }
        let blocks = blocks.into_inner().unwrap_or_else(PoisonError::into_inner);
        let record = Self::of(Arc::clone(&named.plan), held, blocks)?;
        Ok(Self { unbegun, left_out: [left_out, record.left_out].concat(), ..record })
    }

    /// Reads the journal at a path through an open file; all of it is read from `input`. `None` if it
    /// has not begun. Unless its plan is given, it is made. Damage is an error.
    pub(super) fn read_open(
        path: &Path,
        file: &File,
        input: impl Read,
        known: Option<&Named>,
    ) -> Result<Option<Self>, Error> {
        let modified = modified(file);
        let of_file = |held: JournalFile| {
            let (plan, blocks) = (Arc::clone(&held.named.plan), held.blocks.clone());
            Self::of(plan, vec![JournalFile { modified, ..held }], blocks)?.undamaged()
        };
        Named::scan(known, path, input, |_, _| ())?.map(of_file).transpose()
    }

    fn of(plan: Arc<Plan>, mut files: Vec<JournalFile>, blocks: Blocks) -> Result<Self, Error> {
        let ranges = files.iter_mut().flat_map(|file| mem::take(&mut file.ranges));
        let ranges: Vec<Range<usize>> = ranges.collect();
        let lines: usize = ranges.iter().map(Range::len).sum();
        let (finished, shared) = unite(ranges);
        let repeated = lines - len(&finished);
        let solutions = files.iter().fold(0, |sum: u128, file| sum.saturating_add(file.solutions));
        let left_out = files.iter_mut().flat_map(|file| mem::take(&mut file.left_out)).collect();
        let unbegun = Vec::new();
        let mut record =
            Self { plan, finished, solutions, files, unbegun, repeated, left_out, shared, blocks };
        let shared = record.gather(&record.shared)?;
        record.solutions -= shared.repeated;
        record.leave_out(&shared)?;
        Ok(record)
    }

    /// Leaves out units with different counts.
    fn leave_out(&mut self, shared: &Counts) -> Result<(), Error> {
        if shared.conflicts.is_empty() {
            return Ok(());
        }
        let mut witnesses = self.witnesses(&shared.conflicts)?;
        witnesses.sort_by_key(|witness| witness.unit);
        for witnesses in witnesses.chunk_by(|one, next| one.unit == next.unit) {
            self.left_out.push(conflict(witnesses));
        }
        let kept = shared.iter().filter(|(unit, _)| shared.conflicts.contains(*unit));
        self.solutions -= self.weighted(kept);
        self.finished = &self.finished - &shared.conflicts;
        Ok(())
    }

    fn weighted(&self, counts: impl Iterator<Item = (usize, u64)>) -> u128 {
        counts.map(|(unit, count)| u128::from(count) * u128::from(self.plan.weight(unit))).sum()
    }

    /// The CPU seconds that the missing units take. `None` while nothing is finished; the standard error is
    /// infinite while too little is.
    pub fn cpu_seconds_left(&self) -> Option<Approximate> {
        self.work_left().map(Approximate::on_any_run)
    }

    /// The same, as this sample alone tells it.
    fn work_left(&self) -> Option<Approximate> {
        let solutions =
            known(self.plan.size()).total.map(|total| total as f64 - self.solutions as f64);
        let rest = Rest { units: self.plan.units() - self.units_done(), solutions };
        self.blocks.cpu_seconds(rest)
    }

    /// The wall time in seconds until processes that write these journals now have counted the missing units.
    /// `None` while too little is known.
    pub fn seconds_left(&self, written: &[JournalFile]) -> Option<Approximate> {
        let processes: Vec<_> = written
            .iter()
            .filter_map(|file| Some((&file.cores, file.runs.last()?.threads)))
            .collect();
        seconds_of(self.work_left()?, &processes)
    }

    /// Reads the counts of some units. Units that are not finished have none.
    ///
    /// # Errors
    ///
    /// As [`Record::read`], and [`JournalError::NotAsWritten`] if a file is shorter than before.
    pub fn counts(&self, units: &Units) -> Result<Counts, Error> {
        self.gather(&(units & &self.finished))
    }

    /// The solutions in some of the finished units, with their weights.
    pub(crate) fn solutions_in(&self, units: &Units) -> Result<u128, Error> {
        if self.finished.is_subset(units) {
            return Ok(self.solutions);
        }
        Ok(self.weighted(self.counts(units)?.iter()))
    }

    fn gather(&self, units: &Units) -> Result<Counts, Error> {
        let counts = Mutex::new(Counts::of(units));
        let holds = |file: &&JournalFile| !file.units.is_disjoint(units);
        let holders: Vec<_> = self.files.iter().filter(holds).collect();
        holders.par_iter().try_for_each(|file| {
            self.rescan(file, |_, done| {
                let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                counts.add(&self.plan, done.units.start, &done.counts);
            })
        })?;
        Ok(counts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads one of the files again, as far as it was read before.
    pub(super) fn rescan(
        &self,
        file: &JournalFile,
        take: impl FnMut(usize, DoneLine),
    ) -> Result<(), Error> {
        let input = open(&file.path)?.take(file.bytes);
        match Named::scan(Some(&file.named), &file.path, input, take)? {
            Some(held) if held.bytes == file.bytes => Ok(()),
            _ => {
                let what = "it was changed while it was read".to_owned();
                Err(JournalError::NotAsWritten { what }.at(&file.path))
            }
        }
    }

    /// Who counted some units: one witness for each time that a line holds one of them.
    pub(super) fn witnesses(&self, wanted: &Units) -> Result<Vec<Witness>, Error> {
        let mut witnesses = Vec::new();
        for file in self.files.iter().filter(|file| !file.units.is_disjoint(wanted)) {
            self.rescan(file, |run, DoneLine { units, counts, .. }| {
                for (unit, count) in units.zip(counts).filter(|(unit, _)| wanted.contains(*unit)) {
                    // Somebody may have changed the file since it was read.
                    let machine = file.runs.get(run).map(|run| run.machine.clone());
                    let (path, machine) = (file.path.clone(), machine.unwrap_or_default());
                    witnesses.push(Witness { unit, count, path, machine });
                }
            })?;
        }
        Ok(witnesses)
    }
}

/// The error that some witnesses of a unit differ: the first of them, and the first that says something
/// else.
fn conflict(witnesses: &[Witness]) -> Error {
    let first = witnesses.first().cloned().unwrap_or_default();
    let other = witnesses.iter().find(|witness| witness.count != first.count);
    let second = other.cloned().unwrap_or_default();
    Error::CountsDiffer {
        unit: first.unit,
        counts: [first.count, second.count],
        files: [first.path, second.path],
    }
}

/// When a file was last written. To be asked before it is read: what is written later is read as well,
/// or is not old.
fn modified(file: &File) -> Option<SystemTime> {
    file.metadata().and_then(|metadata| metadata.modified()).ok()
}

/// The units in any of these ranges, and those in several of them.
fn unite(mut ranges: Vec<Range<usize>>) -> (Units, Units) {
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut shared, mut end) = (Vec::new(), 0);
    for range in &ranges {
        if range.start < end {
            shared.push(range.start..range.end.min(end));
        }
        end = end.max(range.end);
    }
    (units_of(ranges), units_of(shared))
}

/// As `5 (some CPU, q20.journal)`.
impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.count, self.machine, self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn united_ranges_and_shared_units_are_those_of_a_count_by_unit() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1000 {
            let range = |random: &mut fastrand::Rng| {
                let start = random.usize(0..20);
                start..start + random.usize(1..6)
            };
            let ranges: Vec<_> = (0..random.usize(0..8)).map(|_| range(&mut random)).collect();
            let held = |unit| ranges.iter().filter(|range| range.contains(&unit)).count();
            let at_least = |times| Units::from_iter((0..30).filter(|unit| held(*unit) >= times));
            assert_eq!(unite(ranges.clone()), (at_least(1), at_least(2)), "{ranges:?}");
        }
    }
}
