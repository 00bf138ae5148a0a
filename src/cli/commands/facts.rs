//! What the reports on journals have in common.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::record::Record;
use crate::{Error, Published, Sum};
use serde_json::{Value, json};

use crate::cli::exit::Exit;
use crate::cli::failure::bad_lines::is_of_other_count;
use crate::cli::failure::warnings::{file_of, is_temporary, is_unread};
use crate::cli::output::format::{json_seconds, many, ranges, shards_text, sum};
use crate::cli::output::published::print_differs;
use crate::cli::output::quote::quoted;
use crate::cli::output::report::Report;

/// Prints a total that differs from the published one. Returns the exit code of what was read. `total` is there if no unit
/// is missing in all records together.
///
/// A unit with two counts is a failure, and so are lines of another count, because nobody knows whether they were to be
/// read, too. What else was left out is a failure only while units are missing, because else other lines hold the same
/// units. If all of it may be read later, the same command may find more then.
pub(crate) fn check(records: &[&Record], total: Option<u128>) -> Exit {
    let size = records[0].plan().size();
    if let Some(total) = total
        && let Published::Differs { expected } = Published::compare(total, size.published().total)
    {
        print_differs(format_args!("Q({size}) = {total}"), expected);
        return Exit::Failed;
    }
    let left_out: Vec<&Error> = records.iter().flat_map(|record| &record.left_out).collect();
    if left_out.iter().any(|error| is_of_other_count(error)) {
        return Exit::Failed;
    }
    if left_out.is_empty() || total.is_some() {
        Exit::Done
    } else if left_out.iter().all(|error| is_temporary(error)) {
        Exit::Temporary
    } else {
        Exit::Failed
    }
}

/// Returns the journals of which something is damaged and left out.
fn damaged_files(record: &Record) -> Vec<String> {
    let mut files = Vec::new();
    for error in &record.left_out {
        if let Some(path) = file_of(error)
            && !is_unread(error)
        {
            files.push(path.display().to_string());
        }
    }
    files.dedup();
    files
}

/// Returns the number of shards, if it is known, and the indices of the shards that are not complete.
pub(crate) fn missing_shards(record: &Record) -> Option<(usize, Vec<usize>)> {
    let shards = record.shards?;
    if record.total().is_some() {
        return Some((shards, Vec::new()));
    }
    Some((shards, record.missing_shards(shards).ok()?))
}

/// Adds what all reports on the journals of one count have beside the plan. `total` is there if all its units are settled.
pub(crate) fn add_facts(report: &mut Report, record: &Record, total: Option<u128>) {
    let missing = json!({
        "units": record.plan().units() - record.sum().units,
        "shards": record.shards,
        "indices": missing_shards(record).map(|(_, missing)| ranges(&missing)),
    });
    add_facts_of_all(report, &[record], record.sum(), total, &missing);
}

/// Adds what these records of one plan hold together.
pub(crate) fn add_facts_of_all(
    report: &mut Report,
    records: &[&Record],
    done: Sum,
    total: Option<u128>,
    missing: &Value,
) {
    let mut files = 0;
    let mut damaged = Vec::new();
    let mut disputed = 0;
    let mut repeated = 0;
    let mut builds = BTreeSet::new();
    for record in records {
        files += record.files().len();
        damaged.extend(damaged_files(record));
        disputed += record.disputed().len();
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
        report.row("disputed", format_args!("{units} with two counts: see 'nqueens verify'"));
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
        .field("twice", repeated)
        .field("builds", builds.into_iter().collect::<Vec<_>>())
        .field("cpu_seconds", json_seconds(cpu_time))
        .field("missing", missing.clone());
}

/// Returns how much is not finished, and what to do about it. `who` is the beginning of the sentence, with its verb.
pub(crate) fn describe_missing(who: &str, record: &Record, paths: &[PathBuf]) -> String {
    let units = record.plan().units() - record.sum().units;
    let all = many(record.plan().units(), "unit");
    let lack = format!("{who} {units} of {all}");
    if record.left_out.iter().any(is_unread) {
        return format!("{lack}, unless the journals that could not be read hold them");
    }
    if !record.disputed().is_empty() {
        return format!("{lack}, and no count goes on while units have two counts");
    }
    let where_missing = match missing_shards(record) {
        Some((shards @ 2.., missing)) => format!(", all in {}", shards_text(&missing, shards)),
        _ => String::new(),
    };
    let paths: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    let paths = paths.join(" ");
    format!("{lack}{where_missing}; how to count them: nqueens status {paths}")
}
