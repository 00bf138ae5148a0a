//! Journals in folders.
//!
//! A folder may hold the journals of a million shards, and each shard must start at once. So a shard that starts
//! reads only the journals that may hold its own units. The name of a journal says which shard its process counted:
//! `n28-0007-of-1000000.HOST.PID.journal`. A process records only units of its own shard. So a journal is passed over
//! if its name has another board size, the other count, or another index of the same number of shards. All other files
//! are read, whatever they are called, unless their first line names another count.
//!
//! **What if a name is wrong?** Users may rename files, and join many into one. If a journal is passed over although
//! it holds units of this shard, these units are counted again. That costs time, and [`Record::read`], which reads
//! all journals, compares both counts. If a journal is read although it holds no unit of this shard, nothing changes.
//! So no name can make a number wrong.
//!
//! **What is not noticed.** A shard that starts does not notice damage in the journals of other shards. Commands that
//! read all journals do.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::disk::parse_file_name;
use super::first_line::{FirstLine, Wanted};
use super::{Record, first_plan};
use crate::engine::WhichCount;
use crate::error::{Error, JournalError};
use crate::plan::Plan;
use crate::shard::Shard;

/// Reads the journals in a folder that may hold units of a shard of this count.
///
/// The plan is that of the journals. If none of them names one, `new_plan` makes it.
///
/// # Errors
///
/// [`Error::PlansDiffer`] if journals have different plans and the settings do not say which of them is wanted.
/// [`Error::Journal`] if the folder cannot be listed, or if this build cannot make the plan of the journals.
pub(super) fn read_folder(
    folder: &Path,
    wanted: &Wanted,
    shard: Shard,
    new_plan: impl FnOnce() -> Result<Plan, Error>,
) -> Result<Record, Error> {
    let (mut files, mut passed_over) = (Vec::new(), Vec::new());
    for name in journal_names(folder)? {
        let path = folder.join(&name);
        match name.to_str().and_then(parse_file_name) {
            Some((n, which, _)) if n != wanted.size.get() || which != wanted.which => {}
            Some((.., other)) if other.shards() == shard.shards() && other != shard => {
                passed_over.push(path);
            }
            _ => files.push(path),
        }
    }
    // A file whose first line cannot be read may hold units of this count, and none of another one would be taken.
    let may_be_of_count = |path: &PathBuf| match FirstLine::read_at(path) {
        Ok(Some(first)) => first.is_of(wanted),
        Ok(None) | Err(_) => true,
    };
    files.retain(may_be_of_count);
    files.sort_unstable();
    match first_plan(&files) {
        Ok(Some((named_by, plan))) => return Record::read_of_plan(plan, named_by, &files, false),
        Err(
            error @ Error::Journal {
                error: JournalError::OtherPlan { .. } | JournalError::UnknownFormat { .. },
                ..
            },
        ) => return Err(error),
        // Reading the files leaves them out, and says why.
        Ok(None) | Err(_) => {}
    }
    // All shards have one plan, so any journal of the count will do. If a user has mixed plans, all shards take the same.
    passed_over.sort_unstable();
    for path in &passed_over {
        let Ok(Some(first)) = FirstLine::read_at(path) else { continue };
        if first.is_of(wanted) {
            return Record::read_of_plan(first.make_plan(path)?, path, &files, false);
        }
    }
    Record::read_of_plan(new_plan()?, folder, &files, false)
}

/// Lists the journals that these paths stand for.
///
/// A file stands for itself. A folder stands for all files in it whose names end in `.journal` and do not begin with
/// a dot, in the order of their names. A file that is named twice, also through symbolic links, is listed once. Hard
/// links are not recognised, because some file systems give all files the same inode number. Reading a file twice does
/// no harm.
///
/// # Errors
///
/// [`Error::Journal`] if a path leads nowhere, or if a folder cannot be read.
pub fn journals_in(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let cannot_open = |error| JournalError::cannot("open")(error).at(path);
        if fs::metadata(path).map_err(cannot_open)?.is_dir() {
            let mut names = journal_names(path)?;
            names.sort_unstable();
            files.extend(names.into_iter().map(|name| path.join(name)));
        } else {
            files.push(path.clone());
        }
    }
    // A file that has disappeared meanwhile is reported when it is read.
    let whole: Vec<_> = files.par_iter().map(|path| fs::canonicalize(path).ok()).collect();
    let mut known = HashSet::new();
    let mut is_new = whole.iter().map(|path| path.is_none() || known.insert(path));
    files.retain(|_| is_new.next().unwrap_or(true));
    Ok(files)
}

/// Returns the names in a folder that end in `.journal`, without names that begin with a dot: some systems put a file
/// of their own beside each file, such as `._q.journal`.
fn journal_names(folder: &Path) -> Result<Vec<OsString>, Error> {
    let names = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<Result<_, _>>());
    let mut names: Vec<OsString> =
        names.map_err(|error| JournalError::cannot("open")(error).at(folder))?;
    names.retain(|name| {
        let name = name.as_encoded_bytes();
        name.ends_with(b".journal") && !name.starts_with(b".")
    });
    Ok(names)
}

/// Groups journals by their plans, in the order in which the plans first appear.
///
/// Each group has the journals of the first count and the journals of the second count. Files without a readable
/// first line go to the first plan.
pub fn split_by_plan(files: Vec<PathBuf>) -> Vec<[Vec<PathBuf>; 2]> {
    let read = |path: &PathBuf| FirstLine::read_at(path).ok().flatten();
    let lines: Vec<_> = files.par_iter().map(read).collect();
    let first = lines.iter().flatten().next();
    let (mut names, mut plans) = (Vec::new(), Vec::<[Vec<_>; 2]>::new());
    for (path, line) in files.into_iter().zip(&lines) {
        let line = line.as_ref().or(first);
        // The hash and the number of units, which do not depend on the count.
        let name = line.and_then(|line| Some(line.plan.split_once(" plan=")?.1));
        let is_second = line.is_some_and(|line| line.which_count() == WhichCount::Second);
        let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            plans.push([Vec::new(), Vec::new()]);
            plans.len() - 1
        });
        plans[place][usize::from(is_second)].push(path);
    }
    plans
}
