//! What journals hold together: the count of each finished unit, the processes that counted them, and what was left
//! out.
//!
//! Each file is read once, all files in parallel. No scheduler promises that a task runs exactly once, so two processes
//! may have counted one unit. Its count depends only on the plan, so equal counts are one. A unit with different counts
//! is missing until enough lines settle it (`settle.rs`).
//!
//! **Memory:** eight bytes for each unit of the plan, 77 MiB at n = 28. A page of memory in which no unit is finished
//! takes none. Beside this, 500 to 600 bytes for each journal, measured with paths of 20 to 70 characters: its path and
//! its run are kept, and lists of all journals are made. A further run in a journal takes up to 250 bytes. Texts that
//! are equal in many runs are kept once, and so are the times of units, for all runs with the same kernel, machine and
//! number of threads.

mod both;
mod counts;
mod folder;
mod running;
mod samples;
mod settle;
mod shards;

use std::mem::take;
use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::board::published::Agreement;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::forecast::Forecast;
use crate::journal_file::{DoneLine, FileRead, JournalFile, Reading, Run, read_journal};
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};
pub(crate) use both::Disagreement;
pub use both::{BothPasses, Records};
use counts::Counts;
pub(crate) use folder::{FolderRecord, path_of_writer, read_folder};
pub(crate) use running::Running;
pub(crate) use samples::RunKind;
use samples::Samples;
pub use settle::Difference;
pub(crate) use settle::Votes;
pub(crate) use shards::ShardUnits;
pub(crate) use shards::Shards;

/// The number of lines that a thread reads before it puts their counts into the record.
const LINES_AT_ONCE: usize = 256;

/// The finished units of one pass over a plan that journals hold together.
///
/// ```
/// use nqueens::journal::Records;
/// use nqueens::{BoardSize, Count};
///
/// let folder = tempfile::tempdir()?;
/// Count::new(BoardSize::new(8)?).journal(folder.path()).run()?;
///
/// let records = Records::read(&[folder.path()])?;
/// let record = records.first().expect("all units are finished");
/// assert_eq!(record.total(), Some(92));
/// assert_eq!(record.units_done(), record.plan().units());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Record {
    counts: Counts,
    samples: Samples,
    files: Vec<JournalFile>,
    left_out: Vec<Error>,
    differences: Vec<Difference>,
}

impl Record {
    /// Reads the lines of a plan and count in these journals, in parallel.
    ///
    /// Damaged lines and unreadable journals are [left out](Self::left_out): their units count as missing.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if the counts of all units do not fit into memory.
    #[cfg(test)]
    pub(crate) fn read(plan: &Arc<Plan>, paths: &[impl AsRef<Path> + Sync]) -> Result<Self, Error> {
        let PlansRead { mut records, left_out, .. } =
            read_plans(&[Arc::clone(plan)], paths, &Cancel::new())?;
        let mut record = records.pop().expect("a record for each plan");
        record.left_out = left_out;
        Ok(record)
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.counts.plan
    }

    /// Returns the plan, to be shared.
    pub(crate) fn shared_plan(&self) -> Arc<Plan> {
        Arc::clone(&self.counts.plan)
    }

    /// Returns the count of a unit, not yet multiplied by its weight, or `None` if the unit is not finished.
    pub fn count(&self, unit: usize) -> Option<u64> {
        self.counts.get(unit)
    }

    /// Returns the number of finished units.
    pub fn units_done(&self) -> usize {
        self.counts.sum.units
    }

    /// Returns the number of solutions in the finished units: each count times the weight of its unit.
    pub fn solutions(&self) -> u128 {
        self.counts.sum.solutions
    }

    /// Returns the number of finished units and of the solutions in them.
    pub(crate) fn sum(&self) -> Sum {
        self.counts.sum
    }

    /// Returns the units for which the lines of this pass hold different counts, in increasing order.
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// Returns the units with different counts of which none is used, in increasing order. They are missing.
    pub(crate) fn open_disputes(&self) -> impl Iterator<Item = usize> {
        let open = self.differences.iter().filter(|difference| difference.used.is_none());
        open.map(|difference| difference.unit)
    }

    /// Returns the reasons why lines and journals were left out.
    pub(crate) fn left_out(&self) -> &[Error] {
        &self.left_out
    }

    /// Returns the number of counts beyond the first one of each unit.
    pub(crate) fn repeated(&self) -> usize {
        self.counts.repeated
    }

    /// Returns the number of solutions of the board if all units are finished.
    pub fn total(&self) -> Option<u128> {
        let done = self.sum();
        let is_complete = done.units == self.plan().units();
        is_complete.then_some(done.solutions)
    }

    /// Compares the total with the published one: [`Agreement::Unknown`] while units are missing.
    pub fn agreement(&self) -> Agreement {
        match self.total() {
            Some(total) => Agreement::compare(total, self.plan().size().published().total),
            None => Agreement::Unknown,
        }
    }

    /// Returns the processes that wrote the journals.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.files().iter().flat_map(|file| &file.runs)
    }

    /// Forecasts the missing units. Returns `None` while nothing is finished.
    ///
    /// The CPU time covers all missing units. The wall time covers only the processes that are counting at this moment,
    /// until the last of them has completed its shard, and the cores are theirs. Both are `None` if no process is
    /// counting, or while too little is known.
    pub fn time_left(&self) -> Option<Forecast> {
        self.running().time_left()
    }

    /// Returns the journals that hold lines of this count, in the order in which they were named.
    pub(crate) fn files(&self) -> &[JournalFile] {
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

/// A record does not change after it was read.
impl UnwindSafe for Record {}
impl RefUnwindSafe for Record {}

/// What journals hold of some plans.
struct PlansRead {
    /// A record of each plan. What was left out stands beside them.
    records: Vec<Record>,
    left_out: Vec<Error>,
    /// The plans of other counts, each with a file that names it.
    others: Vec<(PathBuf, String)>,
}

/// Reads the lines of some plans in these journals, in parallel, each file once. Units with different counts are
/// settled as far as possible, for which their files are read again.
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
        records.push(Record {
            counts,
            samples,
            files,
            left_out: Vec::new(),
            differences: Vec::new(),
        });
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
        let plan = [record.shared_plan()];
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
