//! The commands that count what is missing and is not being counted.

use std::path::Path;

use nqueens::WhichCount;
use nqueens::record::Record;

use crate::cli::format::grouped;
use crate::cli::journals::ranges;
use crate::cli::stderr::quoted;

/// Longer lists of shards are cut.
const MOST_RANGES: usize = 200;

/// The longest command in text.
const LONGEST_LINE: usize = 400;

/// How to go on with a count.
pub(super) struct Resume {
    /// On one machine.
    pub(super) command: String,
    /// On a Slurm cluster, if there are shards.
    pub(super) slurm: Option<String>,
    /// What is missing.
    pub(super) what: String,
}

impl Resume {
    /// The command, unless it names too many shards for a line of text.
    pub(super) fn in_a_line(&self) -> &str {
        if self.command.len() <= LONGEST_LINE { &self.command } else { "as --json and --html say" }
    }

    /// For these shards of so many. `None` if there is nothing to do.
    pub(super) fn of(record: &Record, idle: &[usize], shards: usize) -> Option<Self> {
        let (plan, files) = (record.plan(), record.files());
        let n = plan.size();
        let second = if plan.which_count() == WhichCount::Second { " --second" } else { "" };
        if idle.is_empty() {
            return None;
        }
        if let (1, [file]) = (shards, files) {
            let command = format!("nqueens count {n}{second} --journal {}", quoted(&file.path));
            return Some(Self { command, slurm: None, what: "Units are missing".to_owned() });
        }
        let (indices, is_cut) = ranges(idle, ",", MOST_RANGES);
        let sequence = |range: &str| match range.split_once('-') {
            Some((first, last)) => format!("$(seq {first} {last})"),
            None => range.to_owned(),
        };
        let sequences = indices.split(',').map(sequence).collect::<Vec<_>>().join(" ");
        let folder = files.first().and_then(|file| file.path.parent());
        let folder = Path::new(".").join(folder.unwrap_or(Path::new("")));
        let folder = folder.canonicalize().unwrap_or(folder);
        let options = format!("--shards {shards}{second} --out {}", quoted(&folder));
        let cut = if is_cut { "; the first are listed" } else { "" };
        let (idle, all) = (grouped(idle.len()), grouped(shards));
        Some(Self {
            command: format!(
                "for i in {sequences}; do nqueens shard {n} --index $i {options} || break; done"
            ),
            slurm: Some(format!("scripts/slurm/submit.sh {n} --indices {indices} {options}")),
            what: format!("{idle} of {all} shards have missing units and no process{cut}"),
        })
    }
}
