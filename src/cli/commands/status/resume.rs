//! The command that counts what no process is counting.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::record::{Record, Shards};

use super::state::CountState;
use crate::cli::output::command::count_command;
use crate::cli::output::format::ranges;
use crate::cli::output::quote::quoted;

/// Linux starts no program with an argument that is longer than this, in bytes.
const MAX_COMMAND: usize = 128 << 10;

/// What to do about the units that are missing.
pub(super) enum Resume {
    /// Nothing, because no unit is missing.
    Finished,
    /// Nothing, because processes are counting all of them.
    Running,
    /// This command counts those that no process is counting.
    Command(String),
    /// No command does it, for this reason, which also says what to do.
    Obstacle(String),
}

impl Resume {
    /// Returns what to do about the units of a count that are missing. The command names the whole plan, because there may
    /// be journals of another one.
    pub(super) fn of(count: &CountState<'_>) -> Self {
        let record = count.record;
        let Shards { number, missing, .. } = &count.shards;
        if record.total().is_some() {
            return Self::Finished;
        }
        if missing.is_empty() {
            return Self::Running;
        }
        let folder = match folder_of(record) {
            Ok(folder) => quoted(&folder),
            Err(reason) => return Self::Obstacle(reason),
        };
        let command = count_command(record.plan(), true);
        let command = match number {
            1 => format!("{command} --journal {folder}"),
            _ => command_for_shards(missing, *number, &command, &folder),
        };
        if command.len() > MAX_COMMAND {
            let reason = "none for so many shards: 'nqueens merge --missing' lists them";
            return Self::Obstacle(reason.to_owned());
        }
        Self::Command(command)
    }
}

/// Returns the folder of all journals of a record, or the reason why there is none.
fn folder_of(record: &Record) -> Result<PathBuf, String> {
    let mut folders = BTreeSet::new();
    for file in record.files() {
        check_name(&file.path)?;
        let folder = Path::new(".").join(file.path.parent().unwrap_or(Path::new("")));
        folders.insert(folder.canonicalize().unwrap_or(folder));
    }
    match folders.len() {
        1 => Ok(folders.pop_first().expect("one folder")),
        _ => Err("none while the journals are in several folders: pack them into one".to_owned()),
    }
}

/// Checks that a count would take a journal by its name.
fn check_name(path: &Path) -> Result<(), String> {
    if path.extension().is_some_and(|ending| ending == "journal") {
        return Ok(());
    }
    Err(format!("none while the name of {} does not end in .journal: rename it", path.display()))
}

/// Returns the command that counts these shards, with journals in a folder, for sh, bash, fish and tcsh. It ends with the
/// first shard that fails or is stopped.
fn command_for_shards(indices: &[usize], shards: usize, command: &str, folder: &str) -> String {
    if let [index] = indices {
        return format!("{command} --shard {index}/{shards} --journal {folder}");
    }
    let mut words = Vec::new();
    for range in ranges(indices).split(',') {
        words.push(match range.split_once('-') {
            Some((first, last)) => format!("$(seq {first} {last})"),
            None => range.to_owned(),
        });
    }
    let words = words.join(" ");
    // The folder is an argument of sh, because its name may need quotes of its own.
    format!(
        "sh -c 'for i in {words}; do {command} --shard $i/{shards} --journal \"$0\" || exit; done' {folder}"
    )
}
