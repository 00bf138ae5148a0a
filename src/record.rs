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
//! once. A unit with different counts is missing until enough lines [settle](Dispute) it.
//!
//! **Memory:** eight bytes for each unit of the plan, 80 MB at n = 28. A page of memory in which no unit is finished
//! takes none. Beside this, 500 to 600 bytes for each journal, measured with paths of 20 to 70 characters: its path and
//! its run are kept, and lists of all journals are made. A further run in a journal takes up to 250 bytes. Texts that
//! are equal in many runs are kept once, and so are the times of units, for all runs with the same kernel, machine and
//! number of threads.
//!
//! ```
//! use nqueens::record::Records;
//! use nqueens::{BoardSize, Count, Shard};
//!
//! let folder = tempfile::tempdir()?;
//! let count = Count::new(BoardSize::new(10)?).journal(folder.path());
//! count.clone().shard(Shard::new(0, 2)?).run()?;
//!
//! let record = Records::read(&[folder.path()])?.first.expect("a shard is finished");
//! assert_eq!(record.total(), None);
//! assert_eq!(record.shards(2)?.missing, [1]);
//!
//! count.shard(Shard::new(1, 2)?).run()?;
//! let record = Records::read(&[folder.path()])?.first.expect("both shards are finished");
//! assert_eq!(record.total(), Some(724));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod both;
mod counts;
mod folder;
mod running;
mod samples;
mod settle;
mod shards;

use std::mem::take;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::board::known::Published;
use crate::cancel::Cancel;
use crate::error::Error;
pub use crate::error::{IoError, JournalError};
use crate::journal::{DoneLine, FileRead, Reading, read_journal};
pub use crate::journal::{JournalFile, Run, journals_in};
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};
pub use both::{BothCounts, Disagreement, Records};
use counts::Counts;
pub(crate) use folder::{FolderRecord, path_of_writer, read_folder};
pub use running::Running;
pub(crate) use samples::RunKind;
use samples::Samples;
pub use settle::{Dispute, Votes};
#[cfg(feature = "cli")]
pub(crate) use shards::ShardUnits;
pub use shards::Shards;

/// The number of lines that a thread reads before it puts their counts into the record.
const LINES_AT_ONCE: usize = 256;

/// The finished units of one count of a plan that journals hold together.
///
/// ```
/// use nqueens::record::Records;
/// use nqueens::{BoardSize, Count};
///
/// let folder = tempfile::tempdir()?;
/// Count::new(BoardSize::new(8)?).journal(folder.path()).run()?;
///
/// let record = Records::read(&[folder.path()])?.first.expect("all units are finished");
/// assert_eq!(record.total(), Some(92));
/// assert_eq!(record.finished().count(), record.plan().units());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Record {
    counts: Counts,
    samples: Samples,
    files: Vec<JournalFile>,
    left_out: Vec<Error>,
    disputes: Vec<Dispute>,
}

impl Record {
    /// Reads the lines of a plan and count in these journals, in parallel.
    ///
    /// Damaged lines and unreadable journals are [left out](Self::left_out): their units count as missing.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if the counts of all units do not fit into memory.
    ///
    /// # Panics
    ///
    /// Outside of a pool, if rayon cannot start its global pool.
    pub fn read(plan: &Arc<Plan>, paths: &[impl AsRef<Path> + Sync]) -> Result<Self, Error> {
        let PlansRead { mut records, left_out, .. } =
            read_plans(&[Arc::clone(plan)], paths, &Cancel::new())?;
        let mut record = records.pop().expect("a record for each plan");
        record.left_out = left_out;
        Ok(record)
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.counts.plan
    }

    /// Returns the count of a unit, not yet multiplied by its weight, or `None` if the unit is not finished.
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

    /// Returns the units with different counts, settled or not, in increasing order.
    pub fn disputes(&self) -> &[Dispute] {
        &self.disputes
    }

    /// Returns the units with different counts that are not settled, in increasing order. They are missing.
    pub(crate) fn open_disputes(&self) -> impl Iterator<Item = usize> {
        self.disputes.iter().filter(|dispute| dispute.settled.is_none()).map(|dispute| dispute.unit)
    }

    /// Returns the reasons why lines and journals were left out.
    pub fn left_out(&self) -> &[Error] {
        &self.left_out
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

    /// Returns the journals that hold lines of this count, in the order in which they were named.
    pub fn files(&self) -> &[JournalFile] {
        &self.files
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
}

/// What journals hold of some plans.
struct PlansRead {
    /// A record of each plan. What was left out stands beside them.
    records: Vec<Record>,
    left_out: Vec<Error>,
    /// The plans of other counts, each with a file that names it.
    others: Vec<(PathBuf, String)>,
}

/// Reads the lines of some plans in these journals, in parallel, each file once. Units with different counts are settled
/// as far as possible, for which their files are read again.
fn read_plans(
    plans: &[Arc<Plan>],
    paths: &[impl AsRef<Path> + Sync],
    cancel: &Cancel,
) -> Result<PlansRead, Error> {
    let reading = Reading::new(plans, cancel);
    let mut gathered = Vec::new();
    for plan in plans {
        gathered.push(Mutex::new(Gathered::new(plan)));
    }
    let rests: Vec<FileRead> = paths
        .par_iter()
        .enumerate()
        .map(|(index, path)| gather(index, path.as_ref(), &reading, &gathered))
        .collect::<Result<_, _>>()?;
    let mut records = Vec::new();
    for gathered in gathered {
        let Gathered { counts, samples, mut files } = into_inner(gathered);
        files.sort_unstable_by_key(|(index, _)| *index);
        let files = files.into_iter().map(|(_, file)| file).collect();
        records.push(Record { counts, samples, files, left_out: Vec::new(), disputes: Vec::new() });
    }
    let mut left_out = Vec::new();
    let mut others = Vec::new();
    for (path, rest) in paths.iter().zip(rests) {
        left_out.extend(rest.left_out);
        others.extend(rest.others.into_iter().map(|plan| (path.as_ref().to_owned(), plan)));
    }
    // Who knows what the journals hold that could not be read?
    let are_all_read = !left_out.iter().any(Error::is_of_file_system);
    for record in &mut records {
        let plan = [Arc::clone(record.plan())];
        record.settle(&Reading::new(&plan, cancel), are_all_read);
    }
    reading.check()?;
    Ok(PlansRead { records, left_out, others })
}

/// What the lines of journals hold together of a plan, while the journals are read.
struct Gathered {
    counts: Counts,
    samples: Samples,
    /// The journals that hold lines of the plan, each with its place among all journals.
    files: Vec<(usize, JournalFile)>,
}

impl Gathered {
    fn new(plan: &Arc<Plan>) -> Self {
        let samples = Samples::new(plan.units());
        Self { counts: Counts::new(Arc::clone(plan)), samples, files: Vec::new() }
    }

    /// Puts the counts of some lines in their places, and leaves no line.
    fn put_all(&mut self, lines: &mut Vec<UnitsDone>) -> Result<(), Error> {
        for done in lines.drain(..) {
            self.counts.put(&done)?;
        }
        Ok(())
    }
}

/// Reads a journal, and adds it and its lines to what was gathered. Returns what else was found.
fn gather(
    index: usize,
    path: &Path,
    reading: &Reading<'_>,
    gathered: &[Mutex<Gathered>],
) -> Result<FileRead, Error> {
    let mut lines = Vec::new();
    let mut samples = Vec::new();
    for gathered in gathered {
        lines.push(Vec::new());
        samples.push(Samples::new(lock(gathered).counts.plan.units()));
    }
    let mut read = read_journal(path, reading, |DoneLine { plan, run, done, .. }| {
        samples[plan].add(run, &done);
        lines[plan].push(done);
        // A lock for each line would make the threads wait for each other.
        if lines[plan].len() == LINES_AT_ONCE {
            lock(&gathered[plan]).put_all(&mut lines[plan])?;
        }
        Ok(())
    })?;
    let files = take(&mut read.of_plans);
    for (((gathered, mut lines), samples), file) in
        gathered.iter().zip(lines).zip(samples).zip(files)
    {
        let Some(file) = file else { continue };
        let mut gathered = lock(gathered);
        gathered.put_all(&mut lines)?;
        gathered.samples.add_all(samples);
        gathered.files.push((index, file));
    }
    Ok(read)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(shared: Mutex<T>) -> T {
    shared.into_inner().unwrap_or_else(PoisonError::into_inner)
}
