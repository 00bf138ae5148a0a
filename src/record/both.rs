//! The first and the second pass over a plan, read together and compared unit by unit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::{PlansRead, Record, Votes, read_plans};
use crate::board::published::Agreement;
use crate::cancel::Cancel;
use crate::engine::Pass;
use crate::error::{Error, Problem};
use crate::journal_file::{FirstLine, journals_in};
use crate::machine::memory::StatedMemory;
use crate::machine::{cores, on_new_threads};
use crate::plan::Plan;
use crate::plan::done::Sum;
use crate::plan::shard::Shard;

/// The largest number of differing units whose hosts are looked up.
const MAX_NAMED: usize = 100;

/// What journals hold of the first and of the second pass over one plan.
#[derive(Debug)]
pub struct Records {
    pub(super) first: Option<Record>,
    pub(super) second: Option<Record>,
    left_out: Vec<Error>,
}

impl Records {
    /// Reads the journals of one plan: files, and the files in folders whose names end in `.journal` and do not begin
    /// with a dot. Both passes are `None` if no journal has begun.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if the journals belong to several plans, if the first one that names a plan names that of
    /// another build, or if none names a plan, and one of them cannot be read or is no journal. [`Error::LacksMemory`]
    /// if the list of units or their counts do not fit into memory, and [`Error::ThreadsNotStarted`] if the threads that
    /// read cannot be started.
    pub fn read(paths: &[impl AsRef<Path>]) -> Result<Self, Error> {
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        on_new_threads(cores(), || Self::read_here(&paths, None))?
    }

    /// Reads journals on the current rayon pool. The user may have stated how much memory there is.
    pub(crate) fn read_here(
        paths: &[impl AsRef<Path>],
        stated_memory: Option<StatedMemory>,
    ) -> Result<Self, Error> {
        let files = journals_in(paths)?;
        let Some((named_by, plan)) = find_plan(&files, stated_memory)? else {
            return Ok(Self { first: None, second: None, left_out: Vec::new() });
        };
        let plans = [Pass::First, Pass::Second].map(|pass| Arc::new(plan.for_pass(pass)));
        let PlansRead { records, left_out, others } = read_plans(&plans, &files, &Cancel::new())?;
        if let Some((path, other)) = others.into_iter().next() {
            let other_plan = plan.to_string();
            let problem = Problem::OtherPlan { plan: other, other: named_by, other_plan };
            return Err(problem.at(&path));
        }
        let mut found = records.into_iter().map(|record| Some(record).filter(has_lines));
        let [first, second] = [found.next().flatten(), found.next().flatten()];
        Ok(Self { first, second, left_out })
    }

    /// Returns what journals hold of the first pass. `None` if they hold no line of it.
    pub fn first(&self) -> Option<&Record> {
        self.first.as_ref()
    }

    /// Returns what journals hold of the second pass. `None` if they hold no line of it.
    pub fn second(&self) -> Option<&Record> {
        self.second.as_ref()
    }

    /// Returns the number of solutions of the board if every unit is settled: one of the passes has finished the unit,
    /// neither holds different counts for it of which none is used, and they agree if both have finished it.
    #[must_use]
    pub fn total(&self) -> Option<u128> {
        match self.compare() {
            Some(both) => both.total(),
            None => self.all().first()?.total(),
        }
    }

    /// Compares the total with the published one: [`Agreement::Unknown`] if there is no total, or none is published.
    pub fn agreement(&self) -> Agreement {
        let Some(total) = self.total() else { return Agreement::Unknown };
        let plan = self.all()[0].plan();
        Agreement::compare(total, plan.size().published().total)
    }

    /// Returns the shards that have to be run for a pass, if the plan is cut into this number of shards. Such a shard
    /// has missing units that no process is counting. If no journal holds a line of the pass, these are all shards.
    ///
    /// Processes are noticed by the locks of their journals. Some file systems do not show locks of other hosts.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless the number is 1 to 1 000 000.
    pub fn missing_shards(&self, pass: Pass, shards: usize) -> Result<Vec<Shard>, Error> {
        Shard::new(0, shards)?;
        let record = match pass {
            Pass::First => self.first(),
            Pass::Second => self.second(),
        };
        let missing = match record {
            Some(record) => record.shards(shards)?.missing,
            None => (0..shards).collect(),
        };
        missing.into_iter().map(|index| Shard::new(index, shards)).collect()
    }

    /// Returns the passes that are there, the first one first.
    pub(crate) fn all(&self) -> Vec<&Record> {
        self.first.iter().chain(&self.second).collect()
    }

    /// Returns the reasons why lines and journals were left out.
    pub fn left_out(&self) -> &[Error] {
        &self.left_out
    }

    /// Looks up who counted the first of the differing units, at most [`MAX_NAMED`], on the current rayon pool.
    pub(crate) fn disagreements(&self, both: &BothPasses) -> Vec<Disagreement> {
        let (Some(first), Some(second)) = (&self.first, &self.second) else { return Vec::new() };
        let named: BTreeSet<usize> = both.differing.iter().copied().take(MAX_NAMED).collect();
        let mut of_first = first.votes_of(&named);
        let mut of_second = second.votes_of(&named);
        let mut disagreements = Vec::new();
        for unit in named {
            let [first, second] = [&mut of_first, &mut of_second]
                .map(|votes| votes.remove(&unit).unwrap_or_default());
            disagreements.push(Disagreement { unit, first, second });
        }
        disagreements
    }

    /// Compares the two passes unit by unit, if both are there.
    pub fn compare(&self) -> Option<BothPasses> {
        let (first, second) = (self.first.as_ref()?, self.second.as_ref()?);
        Some(BothPasses::new(first, second))
    }
}

fn has_lines(record: &Record) -> bool {
    !record.files().is_empty()
}

/// Finds the first journal that names a plan. Returns it and the plan, or `None` if no journal has begun.
///
/// # Errors
///
/// [`Error::Journal`] if this build cannot make the plan, and [`Error::LacksMemory`]. If no journal names a plan, the
/// errors of [`no_plan_in`].
fn find_plan(
    files: &[PathBuf],
    stated_memory: Option<StatedMemory>,
) -> Result<Option<(PathBuf, Plan)>, Error> {
    let named =
        files.par_iter().find_map_first(|path| Some((path, FirstLine::find_in(path).ok()??)));
    match named {
        Some((path, line)) => Ok(Some((path.clone(), line.make_plan(path, stated_memory)?))),
        None => no_plan_in(files),
    }
}

/// Returns `None` if all of these files are empty, because their processes have just begun.
///
/// # Errors
///
/// That of the first file that cannot be read, or [`Problem::NotAJournal`] of the first one that holds anything, because
/// nothing names its plan.
fn no_plan_in(files: &[PathBuf]) -> Result<Option<(PathBuf, Plan)>, Error> {
    if let Some(error) = files.par_iter().find_map_first(|path| FirstLine::find_in(path).err()) {
        return Err(error);
    }
    for path in files {
        if path.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            return Err(Problem::NotAJournal.at(path));
        }
    }
    Ok(None)
}

/// How the first and the second pass over a plan compare.
///
/// ```
/// use nqueens::journal::Records;
/// use nqueens::plan::Pass;
/// use nqueens::{BoardSize, Count};
///
/// let folder = tempfile::tempdir()?;
/// let count = Count::new(BoardSize::new(10)?).journal(folder.path());
/// for pass in [Pass::First, Pass::Second] {
///     count.clone().pass(pass).run()?;
/// }
/// let both = Records::read(&[folder.path()])?.compare().expect("two passes");
/// assert!(both.is_complete());
/// assert!(both.differing.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it says whether the passes differ"]
#[non_exhaustive]
pub struct BothPasses {
    /// The settled units: at least one of the passes has finished the unit, neither holds different counts for it of
    /// which none is used, and they agree if both have finished it.
    pub(crate) done: Sum,
    /// The number of units that both passes have finished.
    pub counted_twice: usize,
    /// The units whose counts differ between the passes, in increasing order.
    pub differing: Vec<usize>,
    /// The units for which one of the passes holds different counts of which none is used, in increasing order. What
    /// the other pass holds does not settle them.
    pub disputed: Vec<usize>,
    /// The number of units of the plan.
    units: usize,
}

/// A unit whose counts in the two passes differ, although each pass has settled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disagreement {
    /// The number of the unit in its plan.
    pub(crate) unit: usize,
    /// The lines of the first pass.
    pub(crate) first: Vec<Votes>,
    /// The lines of the second pass.
    pub(crate) second: Vec<Votes>,
}

impl BothPasses {
    /// Compares the first pass over a plan with the second one.
    fn new(first: &Record, second: &Record) -> Self {
        let plan = first.plan();
        let disputed: BTreeSet<usize> =
            first.open_disputes().chain(second.open_disputes()).collect();
        let mut done = Sum::default();
        let mut counted_twice = 0;
        let mut differing = Vec::new();
        for unit in 0..plan.units() {
            if disputed.contains(&unit) {
                continue;
            }
            let one = first.count(unit);
            let other = second.count(unit);
            if one.is_some() && other.is_some() {
                counted_twice += 1;
                if one != other {
                    differing.push(unit);
                    continue;
                }
            }
            if let Some(count) = one.or(other) {
                done.units += 1;
                done.solutions += plan.solutions(unit, &[count]);
            }
        }
        let disputed = disputed.into_iter().collect();
        Self { done, counted_twice, differing, disputed, units: plan.units() }
    }

    /// Returns whether both passes have finished every unit, and agree in all of them.
    pub fn is_complete(&self) -> bool {
        self.counted_twice == self.units && self.differing.is_empty()
    }

    /// Returns the number of solutions of the board if every unit is settled.
    pub(crate) fn total(&self) -> Option<u128> {
        (self.done.units == self.units).then_some(self.done.solutions)
    }

    /// Returns whether a unit has different counts that are not settled, in one of the two passes or between them.
    pub(crate) fn has_dispute(&self) -> bool {
        !self.differing.is_empty() || !self.disputed.is_empty()
    }
}
