//! The journals in the folder of a count.
//!
//! A folder may hold the journals of a million shards, and each shard must start at once. So a shard that starts
//! reads only the journals that may hold its own units. The name of a journal says which shard its process counted:
//! `n28-0007-of-1000000.HOST.PID.journal`. A process records only units of its own shard. So a journal is passed over
//! if its name has another board size, the other count, or another index of the same number of shards. All other files
//! are read, whatever they are called.
//!
//! **What if a name is wrong?** Users may rename files, and join many into one. If a journal is passed over although it
//! holds units of this shard, these units are counted again. That costs time, and whoever reads all journals compares
//! both passes. If a journal is read although it holds no unit of this shard, nothing changes. So no name can make a
//! number wrong.
//!
//! **What is not noticed.** A shard that starts does not notice damage in the journals of other shards. Commands that
//! read all journals do.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::{PlansRead, Record, read_plans};
use crate::cancel::Cancel;
use crate::error::{Error, JournalErrorKind, Problem};
use crate::journal_file::{
    FirstLine, JournalFile, Wanted, is_being_written, journal_names, parse_file_name, this_host,
};
use crate::plan::Plan;
use crate::plan::shard::Shard;

/// What the journals in a folder hold of a shard.
pub(crate) struct FolderRecord {
    pub(crate) record: Record,
    /// Whether a journal names the plan. Otherwise other commands could not read the folder.
    pub(crate) is_plan_named: bool,
}

/// Reads the journals in a folder that may hold units of a shard of this count. The plan is that of the journals. If
/// none of them names one, `new_plan` makes it.
///
/// # Errors
///
/// [`Error::Journal`] if the folder cannot be listed, if journals have different plans and the settings do not say
/// which of them is wanted, or if this build cannot make the plan of the journals. [`Error::Cancelled`] after a
/// cancellation.
pub(crate) fn read_folder(
    folder: &Path,
    wanted: &Wanted,
    shard: Shard,
    new_plan: impl FnOnce() -> Result<Plan, Error>,
    cancel: &Cancel,
) -> Result<FolderRecord, Error> {
    let mut to_be_read = Vec::new();
    let mut passed_over = Vec::new();
    for name in journal_names(folder)? {
        let path = folder.join(&name);
        match relevance(&name, wanted, shard) {
            Relevance::OtherCount => {}
            Relevance::OtherShard => passed_over.push(path),
            Relevance::ToBeRead => to_be_read.push(path),
        }
    }
    to_be_read.sort_unstable();
    passed_over.sort_unstable();
    // A file server takes its time for each file, and serves many at once.
    let first_lines: Vec<Result<Option<FirstLine>, Error>> =
        to_be_read.par_iter().map(|path| first_line(path, wanted, cancel)).collect();
    let mut named: Option<(&Path, FirstLine)> = None;
    for (path, line) in to_be_read.iter().zip(first_lines) {
        match line {
            // Lines go by their CRC, and a first line of this count may be damaged.
            Ok(Some(line)) if !line.is_of(wanted) => {}
            Ok(Some(line)) => match &named {
                None => named = Some((path, line)),
                Some((first_path, first)) if first.plan != line.plan => {
                    let problem = Problem::OtherPlan {
                        plan: line.plan,
                        other: first_path.to_path_buf(),
                        other_plan: first.plan.clone(),
                    };
                    return Err(problem.at(path));
                }
                Some(_) => {}
            },
            // Its lines may be of this count all the same. If it cannot be read, reading it says why.
            Err(Error::Journal(error)) if error.kind() != JournalErrorKind::UnknownFormat => {}
            Ok(None) => {}
            Err(error) => return Err(error),
        }
    }
    if named.is_none() {
        named = line_of_other_shard(&passed_over, wanted, cancel)?;
    }
    let is_plan_named = named.is_some();
    let plan = match named {
        Some((path, line)) => line.make_plan(path, wanted.stated_memory)?,
        None => new_plan()?,
    };
    let PlansRead { mut records, left_out, .. } =
        read_plans(&[Arc::new(plan)], &to_be_read, cancel)?;
    let mut record = records.pop().expect("a record for each plan");
    record.left_out = left_out;
    Ok(FolderRecord { record, is_plan_named })
}

fn first_line(path: &Path, wanted: &Wanted, cancel: &Cancel) -> Result<Option<FirstLine>, Error> {
    FirstLine::find_wanted(path, wanted, cancel)
}

/// Returns the first line of the first readable one of these journals that is of the wanted count. They are of other
/// shards, but all shards have one plan. If a user has mixed plans, all shards take the same.
fn line_of_other_shard<'a>(
    journals: &'a [PathBuf],
    wanted: &Wanted,
    cancel: &Cancel,
) -> Result<Option<(&'a Path, FirstLine)>, Error> {
    for path in journals {
        match first_line(path, wanted, cancel) {
            Ok(Some(line)) if line.is_of(wanted) => return Ok(Some((path, line))),
            Err(error) if error.is_cancelled() => return Err(error),
            _ => {}
        }
    }
    Ok(None)
}

/// Returns the journal of another process of this host that counts this shard at this moment, as far as names and locks
/// show it.
pub(crate) fn path_of_writer(record: &Record, shard: Shard) -> Option<&Path> {
    let this_host = this_host();
    let counts_shard = |file: &&JournalFile| {
        let is_of_shard = file.runs.last().is_some_and(|run| run.shard == shard);
        is_of_shard && file.host() == Some(&*this_host) && is_being_written(&file.path)
    };
    record.files().iter().find(counts_shard).map(|file| &*file.path)
}

/// The use of a journal for a shard that starts, as far as the name of the file says it.
#[derive(Debug, PartialEq, Eq)]
enum Relevance {
    /// It belongs to another board size, or to the other count.
    OtherCount,
    /// It belongs to another one of equally many shards.
    OtherShard,
    /// It may hold units of this shard.
    ToBeRead,
}

/// Returns what use a journal with this name is for a shard of this count.
fn relevance(name: &OsStr, wanted: &Wanted, shard: Shard) -> Relevance {
    let Some((n, pass, named_shard)) = name.to_str().and_then(parse_file_name) else {
        return Relevance::ToBeRead;
    };
    if n != wanted.size.get() || pass != wanted.pass {
        Relevance::OtherCount
    } else if named_shard.count() == shard.count() && named_shard != shard {
        Relevance::OtherShard
    } else {
        Relevance::ToBeRead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Pass;

    #[test]
    fn a_shard_reads_only_what_may_hold_its_units() {
        let mut wanted = Wanted {
            size: BoardSize::new(12).expect("in range"),
            pass: Pass::First,
            engine: None,
            split_rows: None,
            stated_memory: None,
        };
        let shard = Shard::new(1, 3).expect("in range");
        let second = "n12-second-0001-of-0003.a.1.journal";
        for (name, expected) in [
            ("n12-0001-of-0003.a.1.journal", Relevance::ToBeRead),
            ("n12-0001-of-0004.a.1.journal", Relevance::ToBeRead),
            ("n12-0000-of-0001.a.1.journal", Relevance::ToBeRead),
            ("joined.journal", Relevance::ToBeRead),
            ("n12-0002-of-0003.a.1.journal", Relevance::OtherShard),
            ("n13-0001-of-0003.a.1.journal", Relevance::OtherCount),
            (second, Relevance::OtherCount),
        ] {
            assert_eq!(relevance(OsStr::new(name), &wanted, shard), expected, "{name}");
        }
        wanted.pass = Pass::Second;
        assert_eq!(relevance(OsStr::new(second), &wanted, shard), Relevance::ToBeRead);
    }
}
