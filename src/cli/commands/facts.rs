//! What the reports on the journals of one count have in common.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::record::{JournalError, Record, Shards};
use crate::{Error, Published, Sum};
use serde_json::{Value, json};

use crate::cli::output::format::{json_seconds, many, ranges, shards_text, sum};
use crate::cli::output::quote::quoted;
use crate::cli::output::report::Report;

/// Returns the journals of which lines are damaged and left out.
pub(crate) fn damaged_files(left_out: &[Error]) -> Vec<String> {
    let mut files = Vec::new();
    for error in left_out {
        if let Error::Journal { path, error: JournalError::Damaged { .. } } = error {
            files.push(path.display().to_string());
        }
    }
    files.dedup();
    files
}

/// Adds what all reports on the journals of one count have beside the plan. `total` is there if all its units are settled.
pub(crate) fn add_facts(
    report: &mut Report,
    record: &Record,
    total: Option<u128>,
    shards: &Shards,
    damaged: Vec<String>,
) {
    let mut unfinished = [&shards.running[..], &shards.missing].concat();
    unfinished.sort_unstable();
    // A script would misread the only shard of a count whose journals do not agree on the number of shards.
    let is_known = shards.number > 1 || record.agreed_shards().is_some();
    let missing = json!({
        "units": record.plan().units() - record.sum().units,
        "shards": is_known.then_some(shards.number),
        "indices": is_known.then(|| ranges(&unfinished)),
    });
    add_facts_of_all(report, &[record], record.sum(), total, &missing, damaged);
}

/// Adds what these records of one plan hold together.
pub(crate) fn add_facts_of_all(
    report: &mut Report,
    records: &[&Record],
    done: Sum,
    total: Option<u128>,
    missing: &Value,
    damaged: Vec<String>,
) {
    let mut files = 0;
    let mut disputed = 0;
    let mut settled = 0;
    let mut repeated = 0;
    let mut builds = BTreeSet::new();
    for record in records {
        files += record.files().len();
        let open = record.open_disputes().count();
        disputed += open;
        settled += record.disputes().len() - open;
        repeated += record.repeated();
        builds.extend(record.runs().map(|run| &*run.version));
    }
    let cpu_time = sum(records.iter().map(|record| record.cpu_time()));
    let published = match total {
        Some(total) => Published::compare(total, records[0].plan().size().published().total),
        None => Published::Unknown,
    };
    if let Some(total) = total {
        report.row("total", total).row("published", published);
    }
    if let Some(first) = damaged.first() {
        let files = many(damaged.len(), "journal");
        report.row("damaged", format_args!("{files}, the first is {first}"));
    }
    if disputed > 0 {
        let units = many(disputed, "unit");
        report.row("disputed", format_args!("{units} with different numbers, to be counted again"));
    }
    if settled > 0 {
        let units = many(settled, "unit");
        report.row("settled", format_args!("{units} with different numbers"));
    }
    if builds.len() > 1 {
        let names: Vec<&str> = builds.iter().copied().collect();
        report.row("builds", format_args!("{}: {}", builds.len(), names.join(", ")));
    }
    report
        .field("total", total.map(|total| total.to_string()))
        .field("published", published.to_string())
        .field("finished", done.units)
        .field("solutions", done.solutions.to_string())
        .field("files", files)
        .field("damaged", damaged)
        .field("disputed", disputed)
        .field("settled", settled)
        .field("twice", repeated)
        .field("builds", builds.into_iter().collect::<Vec<_>>())
        .field("cpu_seconds", json_seconds(cpu_time))
        .field("missing", missing.clone());
}

/// Returns how much is not finished, and what to do about it. `who` is the beginning of the sentence, with its verb.
pub(crate) fn describe_missing(
    who: &str,
    record: &Record,
    shards: &Shards,
    paths: &[PathBuf],
) -> String {
    let units = record.plan().units() - record.sum().units;
    let all = many(record.plan().units(), "unit");
    let where_missing = if shards.number == 1 {
        String::new()
    } else {
        let mut unfinished = [&shards.running[..], &shards.missing].concat();
        unfinished.sort_unstable();
        format!(", all in {}", shards_text(&unfinished, shards.number))
    };
    let paths: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    let paths = paths.join(" ");
    format!("{who} {units} of {all}{where_missing}; how to count them: nqueens status {paths}")
}
