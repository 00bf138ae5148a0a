//! Reads journals of one plan into one [`Record`].
//!
//! No scheduler promises that a task runs exactly once, so two processes may have counted one unit. Its count depends
//! only on the plan, so this does no harm: equal counts count once. Different counts are an error that names both
//! files.
//!
//! Thousands of journals may hold a hundred million units. So each journal is read once, in parallel, and its counts
//! are not kept. Only units that are held more than once are read again, to compare their counts. A process may be
//! writing meanwhile, so the second reading ends where the first one ended.

use std::fmt;
use std::io::Read;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use super::disk::open;
use super::line::Run;
use super::reader::JournalFile;
use super::units::UnitSet;
use crate::done::{Tally, UnitsDone};
use crate::error::{Error, JournalError};
use crate::plan::Plan;

/// The finished units that journals of one plan hold together.
///
/// ```
/// use nqueens::record::Record;
/// use nqueens::{BoardSize, Cancel, Count};
///
/// let folder = tempfile::tempdir()?;
/// let journal = folder.path().join("q8.journal");
/// Count::new(BoardSize::new(8)?).journal(&journal).run()?;
///
/// let record = Record::read(&[journal])?.expect("the journal has begun");
/// assert_eq!(record.total(), Some(92));
/// assert_eq!(record.finished().len(), record.plan().units());
///
/// let copy = record.save(&folder.path().join("copy.journal"), &Cancel::new())?;
/// assert_eq!(copy.total(), Some(92));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    plan: Arc<Plan>,
    pub(super) files: Vec<JournalFile>,
    finished: UnitSet,
    /// The number of solutions in the finished units, each count times the weight of its unit.
    solutions: u128,
    /// The units that journals hold more than once.
    pub(super) shared: UnitSet,
    /// The number of counts beyond the first one of each unit. Units that are left out because their counts differ
    /// are included.
    pub repeated: usize,
    /// The reasons why lines, journals, and units with different counts were left out.
    pub left_out: Vec<Error>,
    /// The number of shards, if it is equal for all processes. It is 1 for whole counts.
    pub shards: Option<usize>,
}

/// A count of a unit, with the journal and the machine from which it comes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Witness {
    /// The number of the unit in its plan.
    pub unit: usize,
    /// The count, not yet multiplied by the weight of the unit.
    pub count: u64,
    /// The journal that holds the count.
    pub path: PathBuf,
    /// The brand of the CPU that counted the unit.
    pub machine: String,
}

impl Record {
    /// Reads journals of one plan. Returns `None` if none of them has begun.
    ///
    /// Damaged lines, unreadable journals, and units with different counts are [left out](Self::left_out): they count
    /// as not finished.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if the journals belong to different plans, or to different counts of one plan.
    /// [`Error::Journal`] if no journal names a plan and one of them cannot be read, or if a journal changes while it
    /// is read.
    pub fn read(paths: &[PathBuf]) -> Result<Option<Self>, Error> {
        let first = read_first(paths)?;
        first.map(|first| Self::unite(&first.plan, read_like(&first, paths))).transpose()
    }

    /// Unites journals of a plan.
    pub(super) fn unite(
        plan: &Arc<Plan>,
        journals: Vec<Result<Option<JournalFile>, Error>>,
    ) -> Result<Self, Error> {
        let (mut files, mut left_out) = (Vec::new(), Vec::new());
        for journal in journals {
            match journal {
                Ok(file) => files.extend(file),
                Err(error @ Error::Journal { .. }) => left_out.push(error),
                Err(error) => return Err(error),
            }
        }
        left_out.extend(files.iter_mut().flat_map(|file| mem::take(&mut file.left_out)));
        let ranges = files.iter().flat_map(|file| file.units.ranges()).collect();
        let (finished, of_several) = UnitSet::unite(ranges);
        let of_one = files.iter().flat_map(|file| file.repeated.ranges());
        let shared = of_one.chain(of_several.ranges()).collect();
        let lines = files.iter().fold(Tally::default(), |sum, file| sum + file.lines);
        let mut record = Self {
            plan: Arc::clone(plan),
            solutions: lines.solutions,
            repeated: lines.units - finished.len(),
            shards: agreed_shards(&files),
            files,
            finished,
            shared,
            left_out,
        };
        record.settle()?;
        Ok(record)
    }

    /// Corrects the sums for units that are held more than once. Such a unit counts once, or not at all if its counts
    /// differ.
    fn settle(&mut self) -> Result<(), Error> {
        let mut disputed = Vec::new();
        for part in self.shared.clone().parts() {
            let counts = self.gather(&part, |_, _, unit, count| (unit, count))?;
            for counts in counts.chunk_by(|(one, _), (next, _)| one == next) {
                let is_disputed = counts.first() != counts.last();
                disputed.extend(is_disputed.then_some(counts[0].0));
                let kept = usize::from(!is_disputed);
                self.solutions -= self.weighted(&counts[kept..]);
            }
        }
        let disputed = disputed.into_iter().collect();
        for witnesses in self.witnesses(&disputed)?.chunk_by(|one, next| one.unit == next.unit) {
            // The smallest and the largest count of the unit.
            let both = [&witnesses[0], &witnesses[witnesses.len() - 1]];
            self.left_out.push(Error::CountsDiffer {
                unit: both[0].unit,
                counts: both.map(|witness| witness.count),
                files: both.map(|witness| witness.path.clone()),
            });
        }
        self.finished = self.finished.difference(&disputed);
        Ok(())
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns the units that are finished in any of the journals.
    pub fn finished(&self) -> &UnitSet {
        &self.finished
    }

    /// Returns the journals, in the order in which they were named.
    pub fn files(&self) -> &[JournalFile] {
        &self.files
    }

    /// Returns the number of finished units and of the solutions in them.
    pub fn tally(&self) -> Tally {
        Tally { units: self.finished.len(), solutions: self.solutions }
    }

    /// Returns the record if nothing is left out.
    ///
    /// # Errors
    ///
    /// The first of the reasons in [`Record::left_out`].
    pub fn undamaged(self) -> Result<Self, Error> {
        self.left_out.first().cloned().map_or(Ok(self), Err)
    }

    /// Returns the record without some units: they count as not finished.
    ///
    /// # Errors
    ///
    /// The errors of [`Record::counts`].
    pub fn without(mut self, units: &UnitSet) -> Result<Self, Error> {
        self.solutions -= self.tally_in(units)?.solutions;
        self.finished = self.finished.difference(units);
        Ok(self)
    }

    /// Returns the number of finished units among these, and of the solutions in them.
    pub(crate) fn tally_in(&self, units: &UnitSet) -> Result<Tally, Error> {
        if self.finished.difference(units).is_empty() {
            return Ok(self.tally());
        }
        let solutions = self.weighted(&self.counts(units)?);
        Ok(Tally { units: units.intersection(&self.finished).len(), solutions })
    }

    /// Returns the sum of counts, each times the weight of its unit.
    fn weighted(&self, counts: &[(usize, u64)]) -> u128 {
        counts.iter().map(|(unit, count)| self.plan().solutions(*unit, &[*count])).sum()
    }

    /// Reads the counts of the finished units among these, in increasing order of the units. The counts are not yet
    /// multiplied by the weights of the units.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if a file cannot be read. The error is [`JournalError::Changed`] if a file no longer holds
    /// the units and solutions that it held before, or is gone.
    pub fn counts(&self, units: &UnitSet) -> Result<Vec<(usize, u64)>, Error> {
        let units = units.intersection(&self.finished);
        let mut counts = self.gather(&units, |_, _, unit, count| (unit, count))?;
        // A unit that is held more than once has equal counts, or it is left out.
        counts.dedup();
        assert_eq!(counts.len(), units.len(), "every finished unit has a count");
        Ok(counts)
    }

    /// Reads some units in increasing order, each as often as lines hold it. `make` is given the file, the runs up to
    /// the one that finished the unit, the unit and its count.
    fn gather<T: Clone + Ord + Send>(
        &self,
        units: &UnitSet,
        make: impl Fn(&JournalFile, &[Run], usize, u64) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let of_file = |file: &JournalFile| {
            let mut found = Vec::new();
            self.rescan(file, |runs, done| {
                let of_line = done.units.zip(done.counts).filter(|(unit, _)| units.contains(*unit));
                found.extend(of_line.map(|(unit, count)| make(file, runs, unit, count)));
            })?;
            Ok(found)
        };
        let holders =
            self.files.par_iter().filter(|file| !file.units.intersection(units).is_empty());
        let mut found =
            holders.map(of_file).try_reduce(Vec::new, |one, other| Ok([one, other].concat()))?;
        found.par_sort_unstable();
        Ok(found)
    }

    /// Reads one of the files again, up to where its first reading ended, and checks that it still holds what it
    /// held.
    pub(super) fn rescan(
        &self,
        file: &JournalFile,
        take: impl FnMut(&[Run], UnitsDone),
    ) -> Result<(), Error> {
        let path = &file.path;
        let read = open(path).and_then(|input| {
            JournalFile::scan(path, input.take(file.bytes), false, Some(&self.plan), take)
        });
        match read {
            Ok(Some(read)) if (read.lines, &read.units) == (file.lines, &file.units) => Ok(()),
            Err(error @ Error::Journal { .. }) if !matches!(path.try_exists(), Ok(false)) => {
                Err(error)
            }
            _ => Err(JournalError::Changed.at(path)),
        }
    }

    /// Returns the witnesses of some units, in increasing order of the units: one for each time that a line holds a
    /// unit.
    pub(super) fn witnesses(&self, units: &UnitSet) -> Result<Vec<Witness>, Error> {
        self.gather(units, |file, runs, unit, count| {
            let machine = runs.last().map_or(String::new(), |run| run.machine.clone());
            Witness { unit, count, path: file.path.clone(), machine }
        })
    }
}

/// Reads one journal after the other, up to the first one that names a plan. Returns `None` if there is none.
///
/// # Errors
///
/// If no journal names a plan, the first error of the reading.
pub(super) fn read_first<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<Option<JournalFile>, Error> {
    let mut failure = Ok(None);
    for path in paths {
        match JournalFile::read(path, None) {
            Ok(Some(file)) => return Ok(Some(file)),
            Err(error) if failure.is_ok() => failure = Err(error),
            _ => {}
        }
    }
    failure
}

/// Reads journals in parallel, except for the first one that names their plan, which was read before.
pub(super) fn read_like(
    first: &JournalFile,
    paths: &[PathBuf],
) -> Vec<Result<Option<JournalFile>, Error>> {
    let read = |path: &PathBuf| {
        if *path == first.path {
            return Ok(Some(first.clone()));
        }
        JournalFile::read(path, Some(&first.plan)).map_err(|error| match error {
            Error::PlansDiffer { files: [_, other], plans } => {
                Error::PlansDiffer { files: [first.path.clone(), other], plans }
            }
            error => error,
        })
    };
    paths.par_iter().map(read).collect()
}

/// Returns the number of shards, if all processes agree on it.
fn agreed_shards(files: &[JournalFile]) -> Option<usize> {
    let runs = || files.iter().flat_map(|file| &file.runs);
    // A run whose line is lost counts only if there is no other.
    let known = || runs().filter(|run| run.kernel != "unknown");
    let shards = known().next().or(runs().next())?.shard.shards();
    known().all(|run| run.shard.shards() == shards).then_some(shards)
}

/// Writes the count, the machine and the journal: `5 (some CPU, q20.journal)`.
impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.count, self.machine, self.path.display())
    }
}
