//! Journals: files on disk that hold the finished units of a count.
//!
//! A *journal* is a text file to which processes only append. Each line ends with a space and a CRC-32 in eight
//! hexadecimal digits:
//!
//! ```text
//! nqueens-journal 2 version=1.0.0+7e6a26d n=8 count=first engine=bitmask split-rows=none plan=0a84c9f3 units=8 1836640b
//! run version=1.0.0+7e6a26d date=2026-11-28 kernel=portable threads=1 shard=0/1 machine=Intel(R) Xeon(R) Processor 854714ea
//! done units=4..5 solutions=18 elapsed-ms=0 busy-us=10 counts=18 dc12f073
//! done units=0..3 solutions=28 elapsed-ms=0 busy-us=21 counts=4,8,16 4f430d3f
//! ```
//!
//! * The first line names the format, the version of the program, and the plan: board, first or second count, engine,
//!   split rows, [hash](crate::Plan::hash) and number of units. Its CRC is the CRC of its text.
//! * A `run` line starts the work of one process. It names the build of the program, and the day in UTC. Older
//!   journals have neither commit nor date.
//! * A `done` line holds the counts of consecutive units, with the end of the range excluded. The counts are not yet
//!   multiplied by the weights of the units. `solutions` is the weighted sum. `elapsed-ms` is the wall time since the
//!   run began, and `busy-us` the CPU time of the thread that counted the units.
//! * The CRC of every line after the first starts from the CRC of the plan's text (from `n=` on). So a line of
//!   another plan or count never has the right CRC, and a line of this plan is valid in any file, at any place.
//!
//! docs/FORMAT.md in the repository describes the format for other programs, and docs/JOURNAL.md what it guarantees.
//!
//! A line that is not as it was written is left out, and its units count as missing. All other lines are used.
//!
//! A [`Record`] is what several journals hold together: the count of each finished unit, the processes that counted
//! them, and what was left out. Each file is read once, all files in parallel. No scheduler promises that a task runs
//! exactly once, so two processes may have counted one unit. Its count depends only on the plan, so equal counts count
//! once. A unit with two different counts is left out, with an error that names its lines.
//!
//! **Memory:** eight bytes for each unit of the plan, 80 MB at n = 28. A page of memory in which no unit is finished
//! takes none. Beside this, 500 to 600 bytes for each journal, measured with paths of 20 to 70 characters: its path and
//! its run are kept, and lists of all journals are made. A further run in a journal takes up to 250 bytes. Texts that
//! are equal in many runs are kept once, and so are the times of units, for all runs with the same kernel, machine and
//! number of threads.
//!
//! ```
//! use nqueens::record::{Record, journals_in};
//! use nqueens::{BoardSize, Count, Shard};
//!
//! let folder = tempfile::tempdir()?;
//! let count = Count::new(BoardSize::new(10)?).journal(folder.path());
//! count.clone().shard(Shard::new(0, 2)?).run()?;
//!
//! let journals = journals_in(&[folder.path()])?;
//! let record = Record::read(&journals)?.expect("a shard is finished");
//! assert_eq!(record.total(), None);
//! assert_eq!(record.missing_shards(2)?, [1]);
//!
//! count.shard(Shard::new(1, 2)?).run()?;
//! let journals = journals_in(&[folder.path()])?;
//! let record = Record::read(&journals)?.expect("both shards are finished");
//! assert_eq!(record.total(), Some(724));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "cli")]
mod by_plan;
mod counts;
mod folder;
mod from_disk;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod place;
mod progress;
mod running;
mod samples;
mod twice;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::board::known::Published;
use crate::cancel::Cancel;
use crate::error::{DisputedUnit, Error};
pub use crate::error::{IoError, JournalError, RecordedCount};
use crate::journal::{DoneLine, FirstLine, Found, Reading};
pub use crate::journal::{JournalFile, Run, journals_in};
use crate::machine::memory::StatedMemory;
use crate::plan::Plan;
use crate::plan::done::Sum;
#[cfg(feature = "cli")]
pub(crate) use by_plan::split_by_plan;
use counts::Counts;
pub(crate) use from_disk::Closed;
pub(crate) use place::Place;
pub use progress::ShardUnits;
pub use running::Running;
pub(crate) use samples::RunKind;
use samples::Samples;
pub use twice::BothCounts;

/// The number of lines that a thread reads before it puts their counts into the record.
const LINES_AT_ONCE: usize = 256;

/// The largest number of units whose lines are looked up at once, which limits memory if a whole count is wrong.
const MAX_FOUND: usize = 10_000;

/// The finished units of one plan that journals hold together.
///
/// ```
/// use nqueens::record::Record;
/// use nqueens::{BoardSize, Count};
///
/// let folder = tempfile::tempdir()?;
/// let journal = folder.path().join("q8.journal");
/// Count::new(BoardSize::new(8)?).journal(&journal).run()?;
///
/// let record = Record::read(&[journal])?.expect("the journal has begun");
/// assert_eq!(record.total(), Some(92));
/// assert_eq!(record.finished().count(), record.plan().units());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Record {
    counts: Counts,
    samples: Samples,
    files: Vec<JournalFile>,
    pub(crate) left_out: Vec<Error>,
    /// The units with two different counts, in increasing order.
    disputed: Vec<usize>,
    pub(crate) shards: Option<usize>,
}

impl Record {
    /// Reads journals of one plan, in parallel. Returns `None` if none of them has begun.
    ///
    /// Damaged lines, unreadable journals, and units with two different counts are [left out](Self::left_out): their
    /// units count as missing.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if the journals belong to different plans, or to different counts of one plan.
    /// [`Error::Journal`] if no journal names a plan that this build can make, and one of them cannot be read, is no
    /// journal, or names a plan of another build. [`Error::LacksMemory`] if the list of units or their counts do not fit
    /// into memory.
    ///
    /// # Panics
    ///
    /// Outside of a pool, if rayon cannot start its global pool.
    pub fn read(paths: &[impl AsRef<Path> + Sync]) -> Result<Option<Self>, Error> {
        Self::read_with_memory(paths, None)
    }

    /// Reads journals as [`Record::read`] does, where the user may have stated how much memory there is.
    pub(crate) fn read_with_memory(
        paths: &[impl AsRef<Path> + Sync],
        stated_memory: Option<StatedMemory>,
    ) -> Result<Option<Self>, Error> {
        let cancel = Cancel::new();
        let found = find_plan(paths, stated_memory, &cancel)?;
        let Some((named_by, plan)) = found else { return Ok(None) };
        let plan = Arc::new(plan);
        Self::read_of_plan(&plan, named_by, paths, &Reading::new(&plan, &cancel)).map(Some)
    }

    /// Reads journals of this plan, which one of them names, in parallel.
    fn read_of_plan(
        plan: &Arc<Plan>,
        named_by: &Path,
        paths: &[impl AsRef<Path> + Sync],
        reading: &Reading<'_>,
    ) -> Result<Self, Error> {
        let gathered = Mutex::new(Gathered::new(Arc::clone(plan))?);
        let journals: Vec<_> = paths
            .par_iter()
            .map(|path| read_counts(path.as_ref(), plan, reading, &gathered))
            .collect();
        let gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        Self::from_journals(gathered, named_by, journals, reading)
    }

    /// Makes the record of journals that were read into `gathered`. If units are disputed, the journals are read again,
    /// to find their lines. `named_by` is the path of the journal that names the plan.
    fn from_journals(
        gathered: Gathered,
        named_by: &Path,
        journals: Vec<Result<Found, Error>>,
        reading: &Reading<'_>,
    ) -> Result<Self, Error> {
        let mut files = Vec::with_capacity(journals.len());
        let mut left_out = Vec::new();
        for journal in journals {
            match journal {
                Ok(Found::NotBegun) => {}
                Ok(Found::Journal(mut file)) => {
                    left_out.append(&mut file.left_out);
                    files.push(file);
                }
                Ok(Found::OfOtherPlan { path, plan }) => {
                    return Err(Error::PlansDiffer {
                        files: [named_by.to_owned(), path],
                        plans: [gathered.counts.plan.to_string(), plan],
                    });
                }
                Err(error @ Error::Journal { .. }) => left_out.push(error),
                Err(error) => return Err(error),
            }
        }
        let shards = progress::agreed_shards(&files);
        let Gathered { counts, samples } = gathered;
        let mut record = Self { counts, samples, files, left_out, disputed: Vec::new(), shards };
        record.leave_out_disputed(reading);
        reading.check()?;
        Ok(record)
    }

    /// Leaves out the units with two different counts, and looks up their lines for the reasons.
    fn leave_out_disputed(&mut self, reading: &Reading<'_>) {
        let disputed = self.counts.leave_out_disputed();
        let mut found = self.find_in_all(&disputed, reading).into_iter().peekable();
        for &unit in disputed.iter().take(MAX_FOUND) {
            // A journal that cannot be read a second time has no lines here. That settles nothing.
            let mut lines = Vec::new();
            while let Some(line) = found.next_if(|line| line.unit == unit) {
                lines.push(line);
            }
            self.left_out.push(Error::CountsDiffer(DisputedUnit { unit, lines }));
        }
        self.disputed = disputed;
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.counts.plan
    }

    /// Returns the count of a unit, not yet multiplied by its weight, or `None` if the unit is not finished.
    ///
    /// # Panics
    ///
    /// If the plan has no unit with this number.
    pub fn count(&self, unit: usize) -> Option<u64> {
        self.counts.get(unit)
    }

    /// Returns the finished units in increasing order.
    pub fn finished(&self) -> impl Iterator<Item = usize> {
        (0..self.plan().units()).filter(|unit| self.count(*unit).is_some())
    }

    /// Returns the number of finished units and of the solutions in them.
    pub fn sum(&self) -> Sum {
        self.counts.sum
    }

    /// Returns the units with two different counts, which are left out, in increasing order.
    pub fn disputed(&self) -> &[usize] {
        &self.disputed
    }

    /// Returns the reasons why lines, journals, and units with two different counts were left out. Of more than 10 000
    /// such units, these are the reasons of the first 10 000.
    pub fn left_out(&self) -> &[Error] {
        &self.left_out
    }

    /// Returns the number of shards, if it is equal for all processes that wrote the journals. It is 1 for whole counts.
    pub fn shards(&self) -> Option<usize> {
        self.shards
    }

    /// Returns the number of counts beyond the first one of each unit.
    pub fn repeated(&self) -> usize {
        self.counts.repeated
    }

    /// Returns the number of solutions of the board if all units are finished.
    pub fn total(&self) -> Option<u128> {
        let done = self.sum();
        let is_complete = done.units == self.plan().units();
        is_complete.then_some(done.solutions)
    }

    /// Compares the total with the published one: [`Published::Unknown`] while units are missing.
    pub fn published(&self) -> Published {
        match self.total() {
            Some(total) => Published::compare(total, self.plan().size().published().total),
            None => Published::Unknown,
        }
    }

    /// Returns the journals, in the order in which they were named.
    pub fn files(&self) -> &[JournalFile] {
        &self.files
    }

    /// Returns the record if nothing is left out.
    ///
    /// # Errors
    ///
    /// The first of the reasons in [`Record::left_out`].
    pub fn undamaged(self) -> Result<Self, Error> {
        match self.left_out.first() {
            Some(error) => Err(error.clone()),
            None => Ok(self),
        }
    }

    /// Makes the error of two records that should be of one plan. A path is empty if no journal of its record could be
    /// read.
    pub(crate) fn differs_in_plan(&self, other: &Self) -> Error {
        let path_of = |record: &Self| record.files.first().map(|file| file.path.clone());
        Error::PlansDiffer {
            files: [self, other].map(|record| path_of(record).unwrap_or_default()),
            plans: [self, other].map(|record| record.plan().to_string()),
        }
    }

    /// Returns the number of finished units in these ranges, and of the solutions in them.
    pub(crate) fn sum_in(&self, ranges: &[Range<usize>]) -> Sum {
        let mut sum = Sum::default();
        for unit in ranges.iter().cloned().flatten() {
            if let Some(count) = self.count(unit) {
                sum.units += 1;
                sum.solutions += self.plan().solutions(unit, &[count]);
            }
        }
        sum
    }

    /// Returns the units in these ranges that are not finished, as ranges in increasing order. The given ranges are in
    /// increasing order, too.
    pub(crate) fn missing_in(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut missing: Vec<Range<usize>> = Vec::new();
        for unit in ranges.iter().cloned().flatten() {
            if self.count(unit).is_some() {
                continue;
            }
            match missing.last_mut() {
                Some(last) if last.end == unit => last.end = unit + 1,
                _ => missing.push(unit..unit + 1),
            }
        }
        missing
    }

    /// Looks up which lines of the journals hold some units. Returns the lines of each unit in the order of their
    /// counts, the units in increasing order. Of more than 10 000 units, the first 10 000 are looked up.
    ///
    /// The journals are read again for this. A journal that was changed or removed meanwhile may lack lines, or may
    /// have lines with other counts.
    pub fn find(&self, units: &[usize]) -> Vec<RecordedCount> {
        self.find_in_all(units, &Reading::new(self.plan(), &Cancel::new()))
    }

    /// Looks up the lines of some units as [`Record::find`] does.
    fn find_in_all(&self, units: &[usize], reading: &Reading<'_>) -> Vec<RecordedCount> {
        let units: BTreeSet<usize> = units.iter().copied().take(MAX_FOUND).collect();
        if units.is_empty() {
            return Vec::new();
        }
        let files = self.files.par_iter();
        let found = files.flat_map_iter(|file| find_in(file, &units, reading));
        let mut found: Vec<RecordedCount> = found.collect();
        found.sort_unstable();
        found
    }
}

/// Reads a journal again, and returns its lines that hold some units.
fn find_in(
    file: &JournalFile,
    units: &BTreeSet<usize>,
    reading: &Reading<'_>,
) -> Vec<RecordedCount> {
    let mut found = Vec::new();
    let take = |line: DoneLine<'_>| {
        let done = line.done;
        for &unit in units.range(done.units.clone()) {
            found.push(RecordedCount {
                unit,
                count: done.counts[unit - done.units.start],
                path: file.path.clone(),
                line: line.number,
                machine: line.run.machine.to_string(),
            });
        }
    };
    // A journal that can no longer be read has no lines.
    let _ = JournalFile::read_at(&file.path, reading, take);
    found
}

/// What the lines of journals hold together, while the journals are read.
struct Gathered {
    counts: Counts,
    samples: Samples,
}

impl Gathered {
    /// Begins to read journals of this plan.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if the counts of all units do not fit into memory.
    fn new(plan: Arc<Plan>) -> Result<Self, Error> {
        let samples = Samples::new(plan.units());
        Ok(Self { counts: Counts::new(plan)?, samples })
    }

    /// Adds a line with finished units.
    fn put(&mut self, line: &DoneLine<'_>) {
        self.counts.put(&line.done);
        self.samples.add(line.run, &line.done);
    }
}

/// Reads a journal of this plan, and adds its lines to those of all journals.
fn read_counts(
    path: &Path,
    plan: &Plan,
    reading: &Reading<'_>,
    gathered: &Mutex<Gathered>,
) -> Result<Found, Error> {
    let mut samples = Samples::new(plan.units());
    let mut lines = Vec::new();
    let found = JournalFile::read_at(path, reading, |line| {
        samples.add(line.run, &line.done);
        lines.push(line.done);
        // A lock for each line would make the threads wait for each other.
        if lines.len() == LINES_AT_ONCE {
            lock(gathered).counts.put_all(&mut lines);
        }
    });
    let mut gathered = lock(gathered);
    gathered.counts.put_all(&mut lines);
    gathered.samples.add_all(samples);
    found
}

fn lock(gathered: &Mutex<Gathered>) -> MutexGuard<'_, Gathered> {
    gathered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Finds the first of these journals whose first line names a plan. Returns `None` if none of the journals has begun.
///
/// # Errors
///
/// If no journal names a plan, the first error of the reading. A lack of memory is returned at once, because other
/// journals of the plan would meet it, too.
fn find_plan<'a>(
    paths: &'a [impl AsRef<Path>],
    stated_memory: Option<StatedMemory>,
    cancel: &Cancel,
) -> Result<Option<(&'a Path, Plan)>, Error> {
    let mut first_error = None;
    for path in paths.iter().map(AsRef::as_ref) {
        cancel.check("the journals were read")?;
        match FirstLine::read_plan_at(path, stated_memory) {
            Ok(Some(plan)) => return Ok(Some((path, plan))),
            Ok(None) => {}
            Err(error @ Error::LacksMemory(_)) => return Err(error),
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) => Err(error),
        None => Ok(None),
    }
}
