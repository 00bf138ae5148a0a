//! The command that counts what no process is counting.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::record::{Record, Shards};

use crate::cli::commands::journals::CountState;
use crate::cli::print::command::count_command;
use crate::cli::print::format::ranges_of;
use crate::cli::quote::quoted;

/// What to do about the units that are missing.
pub(super) enum Resume {
    /// Nothing, because no unit is missing, or processes are counting all that are missing.
    Nothing,
    /// This command counts those that no process is counting.
    Command(String),
    /// A count reads the journals of one folder, and these are not the journals of one folder.
    NotInOneFolder,
}

impl Resume {
    /// Returns what to do about the units of a count that are missing. The command names the whole plan, because there
    /// may be journals of another one.
    pub(super) fn of(count: &CountState<'_>) -> Self {
        let record = count.record;
        let Shards { number, missing, .. } = &count.shards;
        if record.total().is_some() || missing.is_empty() {
            return Self::Nothing;
        }
        let Some(folder) = folder_of(record) else { return Self::NotInOneFolder };
        let folder = quoted(&folder);
        let command = count_command(record.plan(), true);
        Self::Command(match number {
            1 => format!("{command} --journal {folder}"),
            _ => command_for_shards(missing, *number, &command, &folder),
        })
    }
}

/// Returns the folder from which a count would read all journals of a record, if there is one.
fn folder_of(record: &Record) -> Option<PathBuf> {
    let mut folders = BTreeSet::new();
    for file in record.files() {
        if file.path.extension().is_none_or(|ending| ending != "journal") {
            return None;
        }
        let folder = Path::new(".").join(file.path.parent().unwrap_or(Path::new("")));
        folders.insert(folder.canonicalize().unwrap_or(folder));
    }
    let folder = folders.pop_first();
    folder.filter(|_| folders.is_empty())
}

/// Returns the command that counts these shards, with journals in a folder, for sh, bash, fish and tcsh. It ends with
/// the first shard that fails or is stopped.
fn command_for_shards(indices: &[usize], shards: usize, command: &str, folder: &str) -> String {
    if let [index] = indices {
        return format!("{command} --shard {index}/{shards} --journal {folder}");
    }
    let mut words = Vec::new();
    for range in ranges_of(indices) {
        let (first, last) = range.into_inner();
        words.push(match last - first {
            0 => first.to_string(),
            _ => format!("$(seq {first} {last})"),
        });
    }
    let words = words.join(" ");
    // The folder is an argument of sh, because its name may need quotes of its own.
    format!(
        "sh -c 'for i in {words}; do {command} --shard $i/{shards} --journal \"$0\" || exit; done' {folder}"
    )
}
