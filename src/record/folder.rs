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

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::{Record, find_plan};
use crate::cancel::Cancel;
use crate::error::{Error, JournalError};
use crate::journal::{FirstLine, Reading, Wanted, journal_names, parse_file_name};
use crate::plan::Plan;
use crate::plan::shard::Shard;

/// Reads the journals in a folder that may hold units of a shard of this count.
///
/// The plan is that of the journals. If none of them names one, `new_plan` makes it.
///
/// # Errors
///
/// [`Error::PlansDiffer`] if journals have different plans and the settings do not say which of them is wanted.
/// [`Error::Journal`] if the folder cannot be listed, or if this build cannot make the plan of the journals.
/// [`Error::StoppedBefore`] after a cancellation.
pub(super) fn read_folder(
    folder: &Path,
    wanted: &Wanted,
    shard: Shard,
    new_plan: impl FnOnce() -> Result<Plan, Error>,
    cancel: &Cancel,
) -> Result<Record, Error> {
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
    // A file server takes its time for each file, and serves many at once.
    let to_be_read = to_be_read.into_par_iter();
    let mut files: Vec<PathBuf> =
        to_be_read.filter(|path| !cancel.is_cancelled() && may_be_of_count(path, wanted)).collect();
    cancel.check("the journals were read")?;
    files.sort_unstable();
    passed_over.sort_unstable();
    let (named_by, plan) = match find_plan(&files, wanted.stated_memory, cancel) {
        Ok(Some(named)) => named,
        Err(error) if says_that_plan_cannot_be_made(&error) => return Err(error),
        // Reading the files leaves them out, and says why.
        Ok(None) | Err(_) => match plan_of_other_shard(&passed_over, wanted, cancel)? {
            Some(named) => named,
            None => (folder, new_plan()?),
        },
    };
    let plan = Arc::new(plan);
    Record::read_of_plan(&plan, named_by, &files, &Reading::new(&plan, cancel))
}

/// Makes the plan that the first readable one of these journals names. They are of other shards, but all shards have one
/// plan. If a user has mixed plans, all shards take the same.
fn plan_of_other_shard<'a>(
    journals: &'a [PathBuf],
    wanted: &Wanted,
    cancel: &Cancel,
) -> Result<Option<(&'a Path, Plan)>, Error> {
    for path in journals {
        cancel.check("the journals were read")?;
        let Ok(Some(first)) = FirstLine::read_at(path) else { continue };
        if first.is_of(wanted) {
            return Ok(Some((path, first.make_plan(path, wanted.stated_memory)?)));
        }
    }
    Ok(None)
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
    let Some((n, which, named_shard)) = name.to_str().and_then(parse_file_name) else {
        return Relevance::ToBeRead;
    };
    if n != wanted.size.get() || which != wanted.which {
        Relevance::OtherCount
    } else if named_shard.of() == shard.of() && named_shard != shard {
        Relevance::OtherShard
    } else {
        Relevance::ToBeRead
    }
}

/// Returns whether a journal may belong to this count. A file whose first line cannot be read may hold units of it, and
/// no unit of another count would be taken.
fn may_be_of_count(path: &Path, wanted: &Wanted) -> bool {
    match FirstLine::read_at(path) {
        Ok(Some(first)) => first.is_of(wanted),
        Ok(None) | Err(_) => true,
    }
}

/// Returns whether a journal was read, but this build cannot make its plan.
fn says_that_plan_cannot_be_made(error: &Error) -> bool {
    let Error::Journal { error, .. } = error else { return false };
    matches!(error, JournalError::OtherPlan { .. } | JournalError::UnknownFormat { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::WhichCount;

    #[test]
    fn a_shard_reads_only_what_may_hold_its_units() {
        let mut wanted = Wanted {
            size: BoardSize::new(12).expect("in range"),
            which: WhichCount::First,
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
        wanted.which = WhichCount::Second;
        assert_eq!(relevance(OsStr::new(second), &wanted, shard), Relevance::ToBeRead);
    }
}
