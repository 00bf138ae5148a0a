//! The command that counts what no process is counting.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::record::Record;

use super::state::CountState;
use crate::cli::output::command::count_command;
use crate::cli::output::format::ranges;
use crate::cli::output::quote::quoted;

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
    /// Returns what to do about the units of a count that are missing. If there are journals of another plan of this
    /// board, the command names the plan.
    ///
    /// If the journals do not agree on the number of shards, the command counts all that is missing.
    pub(super) fn of(count: &CountState<'_>) -> Self {
        let record = count.record;
        if record.total().is_some() {
            return Self::Finished;
        }
        let plan = record.plan();
        let is_other_plan = |other: &&Record| {
            other.plan().size() == plan.size() && other.plan().hash() != plan.hash()
        };
        let command = count_command(plan, count.all.iter().any(is_other_plan));
        match record.shards {
            Some(shards) if shards > 1 => Self::of_shards(count, shards, &command),
            _ => Self::of_whole(count, &command),
        }
    }

    /// Returns what to do if no process counts shards of this number.
    fn of_whole(count: &CountState<'_>, command: &str) -> Self {
        let record = count.record;
        if !count.running.is_empty() {
            return Self::Running;
        }
        if !record.disputed().is_empty() {
            return Self::disputed();
        }
        match place_of(record) {
            Ok(place) => Self::Command(format!("{command} --journal {}", quoted(&place))),
            Err(reason) => Self::Obstacle(reason),
        }
    }

    /// Returns what to do about the shards that are missing.
    fn of_shards(count: &CountState<'_>, shards: usize, command: &str) -> Self {
        let record = count.record;
        let Ok(each) = record.shard_units(shards) else { return Self::Running };
        let running = count.running.shards(shards);
        let mut is_any_disputed = false;
        let mut idle = Vec::new();
        for (index, shard) in each.iter().enumerate() {
            if shard.finished == shard.units || running.contains(&index) {
                continue;
            }
            // A count of this shard would not begin.
            if shard.disputed > 0 {
                is_any_disputed = true;
            } else {
                idle.push(index);
            }
        }
        if idle.is_empty() {
            return if is_any_disputed { Self::disputed() } else { Self::Running };
        }
        match folder_of(record) {
            Ok(folder) => {
                let folder = quoted(&folder);
                Self::Command(command_for_shards(&idle, shards, command, &folder))
            }
            Err(reason) => Self::Obstacle(reason),
        }
    }

    /// Returns that units with two counts have to be settled first.
    fn disputed() -> Self {
        let reason = "none while units have two counts: see 'nqueens verify'";
        Self::Obstacle(reason.to_owned())
    }
}

/// Returns the file or the folder that a count has to name in order to use all journals of a record, or the reason why
/// there is none. The path holds in every folder, because the command may be read elsewhere, for example on a page.
fn place_of(record: &Record) -> Result<PathBuf, String> {
    let folder = folder_of(record)?;
    match record.files() {
        [file] => Ok(folder.join(file.path.file_name().unwrap_or_default())),
        _ => Ok(folder),
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
        _ => Err("none while the journals are in several folders: copy them into one".to_owned()),
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
