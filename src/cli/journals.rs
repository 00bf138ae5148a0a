//! The journals that a command reads, and what all such commands report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::known::known;
use crate::record::{BothCounts, JournalError, Record, journals_in, split_by_plan};
use crate::{Error, Plan, Published, Shard, Sum};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::bad_lines::{
    damaged_lines, is_of_other_count, print_commands, print_commands_that_take_apart,
};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{json_seconds, many, sum};
use crate::cli::published::print_differs;
use crate::cli::quote::quoted;
use crate::cli::report::{Format, Report};
use crate::cli::stderr::{message, print_first};
use crate::cli::values::number;

/// Which journals, and how the report on them is printed.
#[derive(Debug, Args)]
pub(crate) struct JournalsArgs {
    #[command(flatten)]
    pub(crate) format: Format,

    /// Journals of a board, or folders of them; the count may still be running. Journals of the first and of the second
    /// count are compared
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub(crate) paths: Vec<PathBuf>,

    /// Number of shards, to name the missing ones [default: as in the journals]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = number_of_shards)]
    pub(crate) shards: Option<usize>,
}

/// Reads a number of shards.
fn number_of_shards(text: &str) -> Result<usize, String> {
    number(text, 1, Shard::MAX_SHARDS)
}

/// What the journals of a plan hold: its first count, its second one, or both, in this order.
#[derive(Debug)]
pub(crate) struct Counts(Vec<Record>);

/// What all journals hold that were named.
pub(crate) struct Journals {
    /// The counts of each plan.
    pub(crate) plans: Vec<Counts>,
    /// Why other counts cannot be read.
    pub(crate) failures: Vec<Failure>,
}

impl Counts {
    /// Returns the records of the counts, of which there is at least one.
    pub(crate) fn records(&self) -> Vec<&Record> {
        self.0.iter().collect()
    }

    /// Returns the plan.
    pub(crate) fn plan(&self) -> &Plan {
        self.0[0].plan()
    }

    /// Compares the first and the second count, if both are there.
    pub(crate) fn compare(&self) -> Result<Option<BothCounts>, Error> {
        match &self.0[..] {
            [first, second] => BothCounts::compare(first, second).map(Some),
            _ => Ok(None),
        }
    }

    /// Warns of what is left out, without commands that take lines out.
    pub(crate) fn warn(&self) {
        for record in &self.0 {
            warn_of_left_out(&record.left_out);
            warn_of_cut_off(record);
        }
    }

    /// Warns of what is left out, and prints the commands that take it out.
    pub(crate) fn warn_with_commands(&self) {
        self.warn();
        for record in &self.0 {
            // `verify` prints one command for all bad lines of a journal.
            if record.disputed().is_empty() {
                print_commands(damaged_lines(&record.left_out));
            }
            print_commands_that_take_apart(&record.left_out);
        }
    }
}

impl JournalsArgs {
    /// Reads all journals. Prints nothing, and takes no locks.
    pub(crate) fn read(&self) -> Result<Journals, Failure> {
        let mut journals = Journals { plans: Vec::new(), failures: Vec::new() };
        for files in split_by_plan(journals_in(&self.paths)?) {
            let mut records = Vec::new();
            for files_of_count in files {
                if files_of_count.is_empty() {
                    continue;
                }
                match Record::read(&files_of_count) {
                    Ok(Some(mut record)) => {
                        if self.shards.is_some() {
                            record.shards = self.shards;
                        }
                        records.push(record);
                    }
                    Ok(None) => {}
                    Err(error) => journals.failures.push(Failure::from(error)),
                }
            }
            if !records.is_empty() {
                journals.plans.push(Counts(records));
            }
        }
        Ok(journals)
    }

    /// Reads the journals of one plan. Prints nothing. Returns `None` if none has begun.
    pub(crate) fn read_one_plan(&self) -> Result<Option<Counts>, Failure> {
        let Journals { mut plans, mut failures } = self.read()?;
        if let Some(failure) = failures.pop() {
            return Err(failure);
        }
        if let [one, other, ..] = &plans[..] {
            let file = |counts: &Counts| counts.0[0].files()[0].path.clone();
            let files = [file(one), file(other)];
            let plans = [one, other].map(|counts| counts.plan().to_string());
            return Err(Error::PlansDiffer { files, plans }.into());
        }
        Ok(plans.pop())
    }

    /// Ends a command that found no finished unit of a count. Nothing is complete, which scripts read from the exit code
    /// and from the JSON object.
    pub(crate) fn no_finished_unit(&self) -> Failure {
        let mut indices = Value::Null;
        if let Some(shards) = self.shards {
            let all: Vec<usize> = (0..shards).collect();
            indices = ranges(&all).into();
        }
        let mut report = Report::default();
        report
            .field("n", Value::Null)
            .field("plan", Value::Null)
            .field("total", Value::Null)
            .field("finished", 0)
            .field("missing", json!({ "units": null, "shards": self.shards, "indices": indices }));
        let text = format!("no journal in {} holds a finished unit yet", self.paths_text());
        Exit::Stopped.answer(self.format, report).because(text)
    }

    /// Returns the paths for a message.
    fn paths_text(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        paths.join(", ")
    }

    /// Returns how much is not finished, and what to do about it.
    pub(crate) fn describe_missing(&self, record: &Record) -> String {
        let units = record.plan().units() - record.sum().units;
        let all = many(record.plan().units(), "unit");
        let lack = format!("the journals lack {units} of {all}");
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
        let paths: Vec<String> = self.paths.iter().map(|path| quoted(path)).collect();
        let paths = paths.join(" ");
        format!("{lack}{where_missing}; how to count them: nqueens status {paths}")
    }
}

/// Warns of what is left out because it is damaged or cannot be read. Prints no commands that take lines out, because
/// a count needs none, and because it may be writing these journals.
pub(crate) fn warn_of_left_out(left_out: &[Error]) {
    let mut warnings = Vec::new();
    for error in left_out {
        warnings.push(match error {
            Error::CountsDiffer { .. } => format!("warning: left out: {error}"),
            _ => format!("warning: left out: {}", Failure::from(error.clone())),
        });
    }
    print_first(warnings.into_iter());
    let mut disputed = BTreeSet::new();
    for error in left_out {
        if let Error::CountsDiffer { lines } = error {
            disputed.extend(lines.iter().map(|line| quoted(&line.path)));
        }
    }
    if !disputed.is_empty() {
        let files: Vec<String> = disputed.into_iter().collect();
        let files = files.join(" ");
        message!(
            "a machine made an error; find out which counts are wrong, and how to take them out: nqueens verify {files}"
        );
    }
}

/// Warns of last lines that a killed process did not finish.
fn warn_of_cut_off(record: &Record) {
    for file in record.files() {
        if file.cut_off > 0 {
            let path = file.path.display();
            message!("warning: the last line of {path} was cut off and is left out");
        }
    }
}

/// Returns the journal of an error.
fn file_of(error: &Error) -> Option<&Path> {
    match error {
        Error::Journal { path, .. } => Some(path),
        _ => None,
    }
}

/// Returns whether a journal was not read for a reason that says nothing of its lines. For example, it belongs to
/// another user, or there are too few file handles.
pub(crate) fn is_unread(error: &Error) -> bool {
    let Error::Journal { error, .. } = error else { return false };
    match error {
        JournalError::Io { action, source } => *action == "open" || source.lack.is_some(),
        JournalError::NotAFile => true,
        _ => false,
    }
}

/// Prints a total that differs from the published one. Returns the exit code of what was read. `total` is there if no unit
/// is missing in all records together.
///
/// A unit with two counts is a failure, and so are lines of another count, because nobody knows whether they were to be
/// read, too. What else was left out is a failure only while units are missing, because else other lines hold the same
/// units. If all of it may be read later, the same command may find more then.
pub(crate) fn check(records: &[&Record], total: Option<u128>) -> Exit {
    let size = records[0].plan().size();
    if let Some(total) = total
        && let Published::Differs { expected } = Published::compare(total, known(size).total)
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

/// Returns whether what an error left out may be read later.
fn is_temporary(error: &Error) -> bool {
    Failure::from(error.clone()).exit == Exit::Temporary
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

/// Adds what all reports on the journals of one count have beside the plan.
pub(crate) fn add_facts(report: &mut Report, record: &Record) {
    let missing = json!({
        "units": record.plan().units() - record.sum().units,
        "shards": record.shards,
        "indices": missing_shards(record).map(|(_, missing)| ranges(&missing)),
    });
    add_facts_of_all(report, &[record], record.sum(), record.total(), &missing);
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
        Some(total) => Published::compare(total, known(records[0].plan().size()).total),
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

/// Returns shards as `shards 3,7-9 of 0-9`.
pub(crate) fn shards_text(indices: &[usize], shards: usize) -> String {
    let shard = if indices.len() == 1 { "shard" } else { "shards" };
    format!("{shard} {} of 0-{}", ranges(indices), shards - 1)
}

/// Returns numbers in increasing order as a job array is written: `3,7-9`.
pub(crate) fn ranges(numbers: &[usize]) -> String {
    let mut ranges = Vec::new();
    for range in numbers.chunk_by(|one, next| one + 1 == *next) {
        ranges.push(match range {
            [first, .., last] => format!("{first}-{last}"),
            _ => range[0].to_string(),
        });
    }
    ranges.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_are_written_as_text_and_as_job_arrays() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[0, 1]), "0-1");
        assert_eq!(ranges(&[3, 7, 8, 9, 99]), "3,7-9,99");
        assert_eq!(shards_text(&[3, 7, 8, 9, 99], 100), "shards 3,7-9,99 of 0-99");
        assert_eq!(shards_text(&[3], 100), "shard 3 of 0-99");
    }
}
