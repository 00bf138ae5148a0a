//! Merges the journals of one plan: the shards of a cluster, and repeated attempts at them.
//!
//! No scheduler promises that a task runs exactly once, so two processes may have counted the same
//! unit. Its count depends only on the plan, so this does no harm: equal counts count once, and
//! different ones are an error that names both files.
//!
//! Thousands of journals may hold a hundred million units. So each is read once, in parallel, without
//! keeping its counts: what is finished is a list of ranges and a sum. Only journals that share units
//! are read a second time, to compare the counts of these units and to subtract the repeated ones.
//! A process may write meanwhile, so the second reading ends where the first one ended.

mod gather;
mod pack;
mod twice;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rayon::prelude::*;

use crate::error::Error;
use crate::journal::{
    Counts, Finished, JournalError, NamedPlan, Overview, ProcessRun, begins_header_of,
    is_being_written, named_host, read_overview, read_plan, unite,
};
use crate::plan::Plan;
use crate::shard::Shard;
pub(crate) use gather::{Source, gather};
pub use pack::Packed;
pub use twice::{Comparison, Disagreement, Witness, compare, split_by_pass};

/// The contents of several journals of one plan.
#[derive(Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The units that are finished in any of the files.
    pub finished: Finished,
    /// The files, in the order in which they were read.
    pub files: Vec<Member>,
    /// How many times a file repeats a unit of an earlier file, with the same count.
    pub twice: usize,
    /// Files without records: they are empty, or end within the first line.
    pub unbegun: Vec<PathBuf>,
    named: NamedPlan,
    /// The units that several files hold.
    shared: Vec<Range<usize>>,
}

/// One of the journals.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Member {
    /// The file.
    pub path: PathBuf,
    /// The processes that wrote it.
    pub runs: Vec<ProcessRun>,
    /// Whether its last line was cut off.
    pub torn: bool,
    /// The number of units that it recorded and then withdrew.
    pub withdrawn: usize,
    /// When a process last wrote it or gave a heartbeat, by the clock of the file system.
    pub modified: Option<SystemTime>,
    /// The units that it holds.
    pub finished: Finished,
    /// The bytes that were read, without a line that was cut off.
    length: u64,
}

/// How far a shard has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardUnits {
    /// The number of its units.
    pub units: usize,
    /// How many of them are finished.
    pub finished: usize,
}

/// The journals that these paths stand for. A file stands for itself, a folder for all files in it
/// whose names end in `.journal`, in the order of their names. A file that is named twice, also by
/// different paths, comes once.
///
/// # Errors
///
/// [`Error::Journal`] if a folder cannot be read.
pub fn journals_in(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let (mut files, mut known) = (Vec::new(), HashSet::new());
    // A path without a file is reported when it is read.
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    for path in paths {
        if !path.is_dir() {
            if known.insert(real(path)) {
                files.push(path.clone());
            }
            continue;
        }
        let cannot_open = |error| JournalError::cannot_open(error).at(path);
        let (folder, mut inside) = (real(path), Vec::new());
        for entry in fs::read_dir(path).map_err(cannot_open)? {
            let entry = entry.map_err(cannot_open)?;
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "journal") {
                continue;
            }
            // Only links need a look: there may be a million journals.
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let file = if is_link { real(&path) } else { folder.join(entry.file_name()) };
            inside.push((path, file));
        }
        inside.sort_unstable();
        let new = inside.into_iter().filter_map(|(path, file)| known.insert(file).then_some(path));
        files.extend(new);
    }
    Ok(files)
}

/// Reads and merges journals. `None` if none of them records anything.
///
/// # Errors
///
/// [`Error::Journal`] if one is missing or damaged, [`Error::PlansDiffer`] if they belong to
/// different plans, [`Error::PassesDiffer`] if they hold the first and the second count of one,
/// [`Error::CountsDiffer`] if two files hold different counts for one unit.
pub fn merge(files: &[PathBuf]) -> Result<Option<Merged>, Error> {
    // A journal that cannot be read is reported below, in the order of the files.
    let Some(named) = files.iter().find_map(|path| read_plan(path).ok().flatten()) else {
        for path in files {
            if read_plan(path)?.is_none() && !path.exists() {
                return Err(JournalError::missing().at(path));
            }
        }
        return Ok(None);
    };
    // The time is taken first: what is written later is read as well, or is not old.
    let read = |path: &PathBuf| (modified(path), read_overview(path, &named));
    let overviews: Vec<_> = files.par_iter().map(read).collect();
    let (mut members, mut unbegun) = (Vec::new(), Vec::new());
    for (path, (modified, overview)) in files.iter().zip(overviews) {
        match overview {
            Ok(Some(overview)) => members.push(Member::new(path, modified, overview)),
            Ok(None) if path.exists() => unbegun.push(path.clone()),
            Ok(None) => return Err(JournalError::missing().at(path)),
            Err(Error::Journal { error: JournalError::HeaderCutOff { text }, .. })
                if begins_header_of(&text, &named.plan) =>
            {
                unbegun.push(path.clone());
            }
            Err(error) => return Err(error),
        }
    }
    Merged::of(named, members, unbegun).map(Some)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

impl Merged {
    fn of(named: NamedPlan, files: Vec<Member>, unbegun: Vec<PathBuf>) -> Result<Self, Error> {
        let ranges = files.iter().flat_map(|member| member.finished.ranges()).cloned();
        let (united, shared) = unite(ranges.collect());
        let (plan, units) = (Arc::clone(&named.plan), named.plan.units());
        let mut merged = Self {
            plan,
            finished: Finished::new(united, units, 0),
            files,
            twice: 0,
            unbegun,
            named,
            shared,
        };
        let members = || merged.files.iter().map(|member| &member.finished);
        let held: usize = members().map(Finished::units_done).sum();
        let solutions: u128 = members().map(Finished::solutions).sum();
        let repeated = merged.gather(&merged.shared)?.repeated;
        merged.twice = held - merged.finished.units_done();
        let ranges = merged.finished.ranges().to_vec();
        merged.finished = Finished::new(ranges, units, solutions - repeated);
        Ok(merged)
    }

    /// Reads the counts of some units again, which are given in increasing order. Units that are not
    /// finished have none.
    ///
    /// # Errors
    ///
    /// As [`merge`], and [`JournalError::NotAsWritten`] if a file is shorter than before.
    pub fn counts(&self, units: &[Range<usize>]) -> Result<Counts, Error> {
        self.gather(units).map(|gathered| gathered.counts)
    }

    fn gather(&self, units: &[Range<usize>]) -> Result<gather::Gathered, Error> {
        let holders = self.files.iter().filter(|member| member.finished.holds_any_of(units));
        let sources = holders.map(|member| Source::beginning(&member.path, member.length));
        let mut gathered = gather(&sources.collect::<Vec<_>>(), &self.named, units)?;
        match gathered.left_out.is_empty() {
            true => Ok(gathered),
            false => Err(gathered.left_out.swap_remove(0)),
        }
    }

    /// The number of shards, if all processes agree on it.
    #[must_use]
    pub fn shards(&self) -> Option<usize> {
        let mut runs = self.files.iter().flat_map(|member| &member.runs);
        let shards = runs.next()?.shard.shards();
        runs.all(|run| run.shard.shards() == shards).then_some(shards)
    }

    /// The shards that are not complete, with the plan cut into this many.
    ///
    /// # Errors
    ///
    /// [`Error::ShardOutOfRange`] unless there are 1 to [`Shard::MOST`] shards.
    pub fn missing_shards(&self, shards: usize) -> Result<Vec<Shard>, Error> {
        Shard::new(0, shards)?;
        let mut is_missing = vec![false; shards];
        for units in self.missing_units() {
            for index in Shard::indices_holding(units, shards, self.plan.units()) {
                is_missing[index] = true;
            }
        }
        let missing = (0..shards).filter(|index| is_missing[*index]);
        missing.map(|index| Shard::new(index, shards)).collect()
    }

    /// The journals that processes are writing now, to complete their shards, as far as this host can
    /// tell: by locks and, where those do not reach, by the times of the files. docs/JOURNAL.md has the
    /// limits.
    #[must_use]
    pub fn being_written(&self) -> Vec<&Member> {
        let is_incomplete = |run: &ProcessRun| !self.is_complete(run.shard);
        let members = self.files.par_iter();
        let candidates = members.filter(|member| member.runs.last().is_some_and(is_incomplete));
        candidates.filter(|member| is_being_written(&member.path)).collect()
    }

    /// The wall time that processes spent on each shard, from the start of each to its last record and
    /// without the pauses between them. Attempts at a shard that ran side by side are added as well.
    #[must_use]
    pub fn wall_times(&self) -> HashMap<Shard, Duration> {
        let mut times: HashMap<Shard, Duration> = HashMap::new();
        for run in self.files.iter().flat_map(|member| &member.runs) {
            let time = times.entry(run.shard).or_default();
            *time = time.saturating_add(run.elapsed);
        }
        times
    }

    /// How many units each shard has and how many of them are finished, with the plan cut into this
    /// many shards.
    ///
    /// # Errors
    ///
    /// [`Error::ShardOutOfRange`] unless there are 1 to [`Shard::MOST`] shards.
    pub fn shard_units(&self, shards: usize) -> Result<Vec<ShardUnits>, Error> {
        Shard::new(0, shards)?;
        let all = self.plan.units();
        let count = |index| {
            let shard = Shard::new(index, shards)?;
            let units = shard.ranges(all).map(|range| range.len()).sum();
            let missing = shard.ranges(all).flat_map(|range| self.finished.unfinished(range));
            Ok(ShardUnits {
                units,
                finished: units - missing.map(|range| range.len()).sum::<usize>(),
            })
        };
        (0..shards).into_par_iter().map(count).collect()
    }

    /// Whether all units of a shard are finished.
    #[must_use]
    pub fn is_complete(&self, shard: Shard) -> bool {
        let mut ranges = shard.ranges(self.plan.units());
        ranges.all(|range| self.finished.unfinished(range).next().is_none())
    }

    /// The units that are not finished.
    pub fn missing_units(&self) -> impl Iterator<Item = Range<usize>> {
        self.finished.unfinished(0..self.plan.units())
    }
}

impl Member {
    fn new(path: &Path, modified: Option<SystemTime>, overview: Overview) -> Self {
        let Overview { finished, runs, withdrawn, torn, whole } = overview;
        let (path, torn) = (path.to_owned(), torn > 0);
        Self { path, runs, torn, withdrawn, modified, finished, length: whole }
    }

    /// The host in the name of the file, if the process of a shard made it.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        named_host(&self.path)
    }
}
