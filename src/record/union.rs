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
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::disk::open;
use super::reader::{Contents, JournalFile, Named};
use super::units::{Counts, UnitSet};
use crate::done::{Tally, UnitsDone};
use crate::error::{Error, JournalError};
use crate::plan::Plan;

/// What journals of one plan hold together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    finished: UnitSet,
    pub(super) files: Vec<JournalFile>,
    /// How many times a unit is held once more, with an equal count.
    pub repeated: usize,
    /// Why lines, journals and units with two counts were left out.
    pub left_out: Vec<Error>,
    pub(super) named: Named,
    /// The solutions in the finished units.
    solutions: u128,
    /// The units that are held more than once.
    pub(super) shared: UnitSet,
}

/// A count of a unit, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
        match paths.iter().find_map(|path| Named::at(path).ok().flatten()) {
            Some(named) => Self::read_named(paths, &named).map(Some),
            // The first error tells why none of them names a plan.
            None => paths.iter().try_for_each(|path| Named::at(path).map(drop)).map(|()| None),
        }
    }

    /// Reads journals of a plan that is known.
    pub(super) fn read_named(paths: &[PathBuf], named: &Named) -> Result<Self, Error> {
        let read = |path: &PathBuf| Named::scan(Some(named), path, open(path)?, |_, _| ());
        let all: Vec<_> = paths.par_iter().map(read).collect();
        let (mut journals, mut left_out) = (Vec::new(), Vec::new());
        for journal in all {
            match journal {
                // Without contents it is empty, or ends within its first line.
                Ok(contents) => journals.extend(contents),
                Err(error @ Error::Journal { .. }) => left_out.push(error),
                Err(error) => return Err(error),
            }
        }
        Self::of(named.clone(), journals, left_out)
    }

    /// Unites what journals hold.
    pub(super) fn of(
        named: Named,
        journals: Vec<Contents>,
        mut left_out: Vec<Error>,
    ) -> Result<Self, Error> {
        let (mut files, mut ranges) = (Vec::new(), Vec::new());
        let mut solutions = 0_u128;
        for journal in journals {
            solutions = solutions.saturating_add(journal.file.solutions);
            files.push(journal.file);
            ranges.extend(journal.ranges);
            left_out.extend(journal.left_out);
        }
        let lines: usize = ranges.iter().map(Range::len).sum();
        let (finished, shared) = unite(ranges);
        let repeated = lines - finished.len();
        let mut record = Self { named, finished, solutions, files, repeated, left_out, shared };
        record.settle()?;
        Ok(record)
    }

    /// Takes units that are held more than once for what they are: one unit, or none if the counts differ.
    fn settle(&mut self) -> Result<(), Error> {
        let shared = self.gather(&self.shared)?;
        let disputed: UnitSet = shared.disputed.iter().copied().collect();
        let kept = shared.iter().filter(|(unit, _)| disputed.contains(*unit));
        self.solutions -= shared.repeated + self.weighted(kept);
        for witnesses in self.witnesses(&disputed)?.chunk_by(|one, next| one.unit == next.unit) {
            let first = &witnesses[0];
            let second = witnesses.iter().find(|witness| witness.count != first.count);
            let both = [first, second.unwrap_or(first)];
            self.left_out.push(Error::CountsDiffer {
                unit: first.unit,
                counts: both.map(|witness| witness.count),
                files: both.map(|witness| witness.path.clone()),
            });
        }
        self.finished = self.finished.difference(&disputed);
        Ok(())
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.named.plan
    }

    /// The units that are finished in any of the journals.
    pub fn finished(&self) -> &UnitSet {
        &self.finished
    }

    /// The journals, in the order in which they were named.
    pub fn files(&self) -> &[JournalFile] {
        &self.files
    }

    /// How many units are finished, and their solutions, with weights.
    pub fn tally(&self) -> Tally {
        Tally { units: self.finished.len(), solutions: self.solutions }
    }

    /// The record, if nothing is left out.
    ///
    /// # Errors
    ///
    /// The first reason why something is.
    pub fn undamaged(self) -> Result<Self, Error> {
        self.left_out.first().cloned().map_or(Ok(self), Err)
    }

    /// The record without some units: they count as not finished.
    ///
    /// # Errors
    ///
    /// As [`Record::counts`].
    pub fn without(mut self, units: &UnitSet) -> Result<Self, Error> {
        self.solutions -= self.tally_in(units)?.solutions;
        self.finished = self.finished.difference(units);
        Ok(self)
    }

    /// Those of these units that are finished, and their solutions.
    pub(crate) fn tally_in(&self, units: &UnitSet) -> Result<Tally, Error> {
        if self.finished.difference(units).is_empty() {
            return Ok(self.tally());
        }
        let solutions = self.weighted(self.counts(units)?.into_iter());
        Ok(Tally { units: units.intersection(&self.finished).len(), solutions })
    }

    fn weighted(&self, counts: impl Iterator<Item = (usize, u64)>) -> u128 {
        counts.map(|(unit, count)| self.plan().solutions(unit, &[count])).sum()
    }

    /// Reads the counts of some units, each before its weight, in increasing order of the units. Units that are
    /// not finished have none.
    ///
    /// # Errors
    ///
    /// As [`Record::read`], and [`JournalError::Changed`] if a file does not hold the units and solutions that it
    /// held before, or is gone.
    pub fn counts(&self, units: &UnitSet) -> Result<Vec<(usize, u64)>, Error> {
        let units = units.intersection(&self.finished);
        let counts: Vec<_> = self.gather(&units)?.iter().collect();
        assert_eq!(counts.len(), units.len(), "every finished unit has a count");
        Ok(counts)
    }

    /// Reads the counts of some units.
    fn gather(&self, units: &UnitSet) -> Result<Counts, Error> {
        let counts = Mutex::new(Counts::of(units));
        let holders: Vec<_> =
            self.files.iter().filter(|file| !file.units.is_disjoint(units)).collect();
        holders.par_iter().try_for_each(|file| {
            self.rescan(file, |_, done| {
                let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                counts.add(self.plan(), &done);
            })
        })?;
        Ok(counts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads one of the files again, as far as it was read before, and makes sure that it holds what it held.
    pub(super) fn rescan(
        &self,
        file: &JournalFile,
        take: impl FnMut(&JournalFile, UnitsDone),
    ) -> Result<(), Error> {
        let path = &file.path;
        let scan =
            |input| Named::scan(Some(&self.named), path, Read::take(input, file.bytes), take);
        match open(path).and_then(scan) {
            Ok(Some(held)) if held.file.holds_same_as(file) => Ok(()),
            Err(error) if !matches!(path.try_exists(), Ok(false)) => Err(error),
            _ => Err(JournalError::Changed.at(path)),
        }
    }

    /// Who counted some units, in increasing order of the units: one witness for each time that a line holds one
    /// of them.
    pub(super) fn witnesses(&self, wanted: &UnitSet) -> Result<Vec<Witness>, Error> {
        let mut witnesses = Vec::new();
        for file in self.files.iter().filter(|file| !file.units.is_disjoint(wanted)) {
            self.rescan(file, |read, UnitsDone { units, counts, .. }| {
                for (unit, count) in units.zip(counts).filter(|(unit, _)| wanted.contains(*unit)) {
                    let machine = read.runs.last().map_or(String::new(), |run| run.machine.clone());
                    let path = file.path.clone();
                    witnesses.push(Witness { unit, count, path, machine });
                }
            })?;
        }
        witnesses.sort_by_key(|witness: &Witness| witness.unit);
        Ok(witnesses)
    }
}

/// The units in any of these ranges, and those in several of them.
fn unite(mut ranges: Vec<Range<usize>>) -> (UnitSet, UnitSet) {
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut shared, mut end) = (Vec::new(), 0);
    for range in &ranges {
        if range.start < end {
            shared.push(range.start..range.end.min(end));
        }
        end = end.max(range.end);
    }
    (ranges.into_iter().collect(), shared.into_iter().collect())
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
            let at_least = |times| UnitSet::from_iter((0..30).filter(|unit| held(*unit) >= times));
            assert_eq!(unite(ranges.clone()), (at_least(1), at_least(2)), "{ranges:?}");
        }
    }
}
