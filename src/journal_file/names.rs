//! The names of journals: what a process calls its file, and which files of a folder are journals.
//!
//! In a folder the journal of a shard is called `n28-0007-of-1000000.HOST.PID.journal`. The name says which shard a
//! process counts, and on which host. It only saves reading, and nothing relies on it: users may rename files, and join
//! many into one.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::engine::Pass;
use crate::error::{Action, Error, Problem};
use crate::machine::host_name;
use crate::plan::Plan;
use crate::plan::shard::Shard;

/// The text in front of the shard in the name of a journal of a second pass.
const SECOND: &str = "second-";

/// Returns the name of a journal of this process. If the number is above 1, the name contains it.
pub(super) fn file_name(plan: &Plan, shard: Shard, number: u32) -> String {
    let n = plan.size();
    let count = match plan.pass() {
        Pass::First => "",
        Pass::Second => SECOND,
    };
    let index = shard.index();
    let shards = shard.count();
    let host = this_host();
    let process = std::process::id();
    let number = if number > 1 { format!(".{number}") } else { String::new() };
    format!("n{n}-{count}{index:04}-of-{shards:04}.{host}.{process}{number}.journal")
}

/// Returns the board size, the count and the shard that the name of a journal contains.
pub(crate) fn parse_file_name(name: &str) -> Option<(u32, Pass, Shard)> {
    let (what, _host) = name.strip_prefix('n')?.split_once('.')?;
    let (n, part) = what.split_once('-')?;
    let (pass, numbers) = match part.strip_prefix(SECOND) {
        Some(numbers) => (Pass::Second, numbers),
        None => (Pass::First, part),
    };
    let (index, shards) = numbers.split_once("-of-")?;
    let shard = Shard::new(index.parse().ok()?, shards.parse().ok()?).ok()?;
    Some((n.parse().ok()?, pass, shard))
}

/// Returns the host that the name of a journal contains, if a process created it in a folder.
pub(super) fn host_in(name: &str) -> Option<&str> {
    parse_file_name(name)?;
    let mut fields = name.split('.').skip(1);
    let host = fields.next()?;
    let process = fields.next()?;
    process.parse::<u32>().is_ok().then_some(host)
}

/// Returns the name of this host, as names of journals contain it.
pub(crate) fn this_host() -> String {
    host_name().replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-")
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
pub(crate) fn journals_in(paths: &[impl AsRef<Path>]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let metadata =
            fs::metadata(path).map_err(|error| Problem::cannot(Action::Open, error).at(path))?;
        if metadata.is_dir() {
            let mut names = journal_names(path)?;
            names.sort_unstable();
            files.extend(names.into_iter().map(|name| path.join(name)));
        } else {
            files.push(path.to_owned());
        }
    }
    Ok(without_repetitions(files))
}

/// Returns these files without those that stand further in front, too.
fn without_repetitions(files: Vec<PathBuf>) -> Vec<PathBuf> {
    // A file that has disappeared meanwhile is reported when it is read.
    let real_paths: Vec<Option<PathBuf>> =
        files.par_iter().map(|path| fs::canonicalize(path).ok()).collect();
    let mut listed = HashSet::new();
    let mut kept = Vec::new();
    for (file, real_path) in files.into_iter().zip(real_paths) {
        let is_new = match real_path {
            Some(real_path) => listed.insert(real_path),
            None => true,
        };
        if is_new {
            kept.push(file);
        }
    }
    kept
}

/// Lists the names in a folder that end in `.journal`, without names that begin with a dot: some systems put a file
/// of their own beside each file, such as `._q.journal`.
pub(crate) fn journal_names(folder: &Path) -> Result<Vec<OsString>, Error> {
    let mut names =
        all_names(folder).map_err(|error| Problem::cannot(Action::Open, error).at(folder))?;
    names.retain(|name| {
        let name = name.as_encoded_bytes();
        name.ends_with(b".journal") && !name.starts_with(b".")
    });
    Ok(names)
}

/// Lists all names in a folder.
fn all_names(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    #[test]
    fn names_are_understood() {
        let size = BoardSize::new(12).expect("in range");
        for (index, shards) in [(0, 1), (7, 12), (123_456, 1_000_000)] {
            let shard = Shard::new(index, shards).expect("in range");
            for pass in [Pass::First, Pass::Second] {
                let plan = Plan::new(size, Engine::Colours, None).expect("a plan").for_pass(pass);
                for number in 1..4 {
                    let name = file_name(&plan, shard, number);
                    assert_eq!(parse_file_name(&name), Some((12, pass, shard)), "{name}");
                    let host = host_name().replace(['.', '_'], "-");
                    assert_eq!(host_in(&name), Some(&*host), "{name}");
                }
            }
        }
        for other in ["packed.journal", "n28.journal", "n28-7.a.journal", "n28-7-of-7.a.journal"] {
            assert_eq!(parse_file_name(other), None, "{other}");
            assert_eq!(host_in(other), None, "{other}");
        }
        assert_eq!(host_in("n28-6-of-7.packed.journal"), None);
        let elsewhere = host_in("n28-0006-of-0007.node-3-cluster.12.journal");
        assert_eq!(elsewhere, Some("node-3-cluster"));
    }
}
