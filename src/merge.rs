//! Merges the journals of one plan: the shards of a cluster, and repeated attempts at them.
//!
//! No scheduler promises that a task runs exactly once, so two processes may have counted the same
//! unit. Its count depends only on the plan, so this does no harm: equal counts count once, and
//! different ones are an error that names both files.

use std::fs::{self, DirEntry};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::Error;
use crate::journal::{Contents, Finished, JournalError, ProcessRun, begins_header_of, read};
use crate::plan::Plan;
use crate::shard::Shard;

/// The contents of several journals of one plan.
#[derive(Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The plan.
    pub plan: Plan,
    /// The units that are finished in any of the files.
    pub finished: Finished,
    /// The files, in the order in which they were read.
    pub files: Vec<Member>,
    /// How many times a file repeats a unit of an earlier file, with the same count.
    pub twice: usize,
    /// Files without records: they are empty, or end within the first line.
    pub unbegun: Vec<PathBuf>,
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
    /// When it was last written, by the clock of the file system.
    pub modified: Option<SystemTime>,
}

/// The journals that these paths stand for. A file stands for itself, a folder for all files in it
/// whose names end in `.journal`, in the order of their names.
///
/// # Errors
///
/// [`Error::Journal`] if a folder cannot be read.
pub fn journals_in(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(|error| JournalError::cannot_open(error).at(path))?;
        let mut inside: Vec<PathBuf> = entries.iter().map(DirEntry::path).collect();
        inside.retain(|path| path.extension().is_some_and(|extension| extension == "journal"));
        inside.sort_unstable();
        files.append(&mut inside);
    }
    Ok(files)
}

/// Reads and merges journals. `None` if none of them records anything.
///
/// # Errors
///
/// [`Error::Journal`] if one is missing or damaged, [`Error::PlansDiffer`] if they belong to
/// different plans, [`Error::CountsDiffer`] if two files hold different counts for one unit.
pub fn merge(files: &[PathBuf]) -> Result<Option<Merged>, Error> {
    let (merged, mut unreadable) = merge_readable(files)?;
    match unreadable.is_empty() {
        true => Ok(merged),
        false => Err(unreadable.swap_remove(0)),
    }
}

/// Reads and merges journals, except those that cannot be read or are damaged; these are the errors
/// in the list.
pub(crate) fn merge_readable(files: &[PathBuf]) -> Result<(Option<Merged>, Vec<Error>), Error> {
    let (mut merged, mut left_out): (Option<Merged>, _) = (None, Vec::new());
    let mut unbegun = Vec::new();
    let mut cut_off = Vec::new();
    for path in files {
        match (read(path), &mut merged) {
            (Ok(Some(contents)), None) => merged = Some(Merged::of(path, contents)),
            (Ok(Some(contents)), Some(merged)) => merged.add(path, contents)?,
            (Ok(None), _) if path.exists() => unbegun.push(path.clone()),
            (Ok(None), _) => left_out.push(JournalError::missing().at(path)),
            (Err(Error::Journal { path, error: JournalError::HeaderCutOff { text } }), _) => {
                cut_off.push((path, text));
            }
            (Err(error), _) => left_out.push(error),
        }
    }
    // Only now is the plan known, and with it the first line that was cut off.
    for (path, text) in cut_off {
        match &merged {
            Some(merged) if begins_header_of(&text, &merged.plan) => unbegun.push(path),
            _ => left_out.push(JournalError::HeaderCutOff { text }.at(&path)),
        }
    }
    if let Some(merged) = &mut merged {
        merged.unbegun = unbegun;
    }
    Ok((merged, left_out))
}

impl Merged {
    fn of(path: &Path, contents: Contents) -> Self {
        let member = Member::of(path, &contents);
        let Contents { plan, finished, .. } = contents;
        Self { plan, finished, files: vec![member], twice: 0, unbegun: Vec::new() }
    }

    fn add(&mut self, path: &Path, contents: Contents) -> Result<(), Error> {
        if contents.plan.hash() != self.plan.hash() {
            return Err(Error::PlansDiffer {
                first: self.files[0].path.clone(),
                first_plan: self.plan.to_string(),
                second: path.to_owned(),
                second_plan: contents.plan.to_string(),
            });
        }
        match self.finished.merge(&contents.finished, &self.plan) {
            Ok(twice) => self.twice += twice,
            Err(unit) => return Err(self.conflict(unit, path, &contents)),
        }
        self.files.push(Member::of(path, &contents));
        Ok(())
    }

    /// The error that names the file which already holds the unit.
    fn conflict(&self, unit: usize, path: &Path, contents: &Contents) -> Error {
        let holds = |path: &Path| {
            read(path).ok().flatten().is_some_and(|held| held.finished.count(unit).is_some())
        };
        let first = self.files.iter().map(|member| &member.path).find(|path| holds(path));
        Error::CountsDiffer {
            unit,
            first: first.cloned().unwrap_or_default(),
            first_count: self.finished.count(unit).unwrap_or_default(),
            second: path.to_owned(),
            second_count: contents.finished.count(unit).unwrap_or_default(),
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
        let all = (0..shards).map(|index| Shard::new(index, shards));
        all.filter(|shard| !shard.as_ref().is_ok_and(|shard| self.is_complete(*shard))).collect()
    }

    /// Whether all units of a shard are finished.
    #[must_use]
    pub fn is_complete(&self, shard: Shard) -> bool {
        let mut ranges = shard.ranges(self.plan.units());
        ranges.all(|range| self.finished.unfinished(range).next().is_none())
    }

    /// The units that are not finished.
    #[must_use]
    pub fn missing_units(&self) -> Vec<Range<usize>> {
        self.finished.unfinished(0..self.plan.units()).collect()
    }
}

impl Member {
    fn of(path: &Path, contents: &Contents) -> Self {
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let (runs, torn) = (contents.runs.clone(), contents.torn > 0);
        Self { path: path.to_owned(), runs, torn, withdrawn: contents.withdrawn, modified }
    }
}
