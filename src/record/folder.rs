//! Journals in folders.
//!
//! A folder may hold the journals of a million shards, and each shard must start at once. So it reads
//! only journals that may hold its own units. The name of a journal says which shard its process
//! counted, as `n28-0007-of-1000000.HOST.PID.journal`. A process records no other units than those of
//! its shard, so a journal is passed over if its name belongs to the same board and to another one of as
//! many shards, or to the other count. All others are read, whatever they are called, unless their first
//! line belongs to the other count.
//!
//! **What if a name is wrong?** Users may rename files, and pack many into one. A journal that is
//! passed over although it holds units of this shard costs time: they are counted again, and
//! [`Record::read`], which reads everything, compares both counts. A journal that is read although it
//! holds none changes nothing. So no name can make a number wrong.
//!
//! **What is not noticed.** Damage in the journals of other shards is found by those who read all, not
//! by a shard that starts. The plan is taken from the first journal that can be read, also of those that are
//! passed over.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::disk::parse_file_name;
use super::first_line::FirstLine;
use super::reader::JournalFile;
use super::union::{Record, read_first, read_like};
use crate::board::size::BoardSize;
use crate::engine::WhichCount;
use crate::error::{Error, JournalError};
use crate::shard::Shard;

/// What the journals in a folder hold that may be of a shard, and what was left out. `None` if no journal
/// names a plan. A unit with two counts is an error.
pub(crate) fn read_shard(
    folder: &Path,
    size: BoardSize,
    which: WhichCount,
    shard: Shard,
) -> Result<(Option<Record>, Vec<Error>), Error> {
    let (mut files, mut passed_over) = (Vec::new(), Vec::new());
    for name in journal_names(folder)? {
        let named = name.to_str().and_then(parse_file_name).filter(|(n, ..)| *n == size.get());
        match named {
            Some((_, count, _)) if count != which => {}
            Some((.., other)) if other.shards() == shard.shards() && other != shard => {
                passed_over.push(folder.join(name));
            }
            _ => files.push(folder.join(name)),
        }
    }
    // Whatever its name says, a journal of the other count is of no use.
    files.retain(|path| FirstLine::read_at(path).is_none_or(|line| line.which_count() == which));
    files.sort_unstable();
    let of_all = files.iter().chain(&passed_over);
    let (record, left_out) = if let Ok(Some(first)) = read_first(of_all) {
        let mut record = Record::unite(&first.plan, read_like(&first, &files))?;
        let left_out = mem::take(&mut record.left_out);
        (Some(record), left_out)
    } else {
        (None, files.iter().filter_map(|path| JournalFile::read(path, None).err()).collect())
    };
    // A machine made errors. Whatever another one counts, it would not be settled.
    // Nor are units counted again that may be in a journal which this machine cannot read now.
    let ends = |error: &&Error| match error {
        Error::Journal { error: JournalError::Io { source, .. }, .. } => source.is_of_machine,
        error => matches!(error, Error::CountsDiffer { .. }),
    };
    match left_out.iter().find(ends) {
        Some(error) => Err(error.clone()),
        None => Ok((record, left_out)),
    }
}

/// The journals that these paths stand for. A file stands for itself, a folder for all files in it
/// whose names end in `.journal` and do not begin with a dot, in the order of their names. A file that is
/// named twice, also by symbolic links, comes once. Numbers of inodes decide nothing: some file systems have the
/// same one for all files, and reading a file twice does no harm.
///
/// # Errors
///
/// [`Error::Journal`] if a path names nothing, or a folder cannot be read.
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
    // A file that a folder no longer has is reported when it is read.
    let whole: Vec<_> = files.par_iter().map(|path| fs::canonicalize(path).ok()).collect();
    let mut known = HashSet::new();
    let mut is_new = whole.iter().map(|path| path.is_none() || known.insert(path));
    files.retain(|_| is_new.next().unwrap_or(true));
    Ok(files)
}

/// The names in a folder that end in `.journal`, without those that begin with a dot: some systems put a file of
/// their own beside each one, as `._q.journal`.
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

/// Groups journals by their plans, in the order in which the plans first appear. Each plan has the journals of its
/// first count, and of its second count. Files without a readable first line go to the first plan.
pub fn split_by_plan(files: Vec<PathBuf>) -> Vec<[Vec<PathBuf>; 2]> {
    let lines: Vec<_> = files.par_iter().map(|path| FirstLine::read_at(path)).collect();
    let first = lines.iter().flatten().next();
    let (mut names, mut plans) = (Vec::new(), Vec::<[Vec<_>; 2]>::new());
    for (path, line) in files.into_iter().zip(&lines) {
        let line = line.as_ref().or(first);
        // Its hash and its number of units, which are those of both counts.
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
