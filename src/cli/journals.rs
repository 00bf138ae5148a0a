//! The journals that a command reads, and what all such commands report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::record::{JournalError, Record, Run, journals_in, split_by_plan};
use crate::{Error, Published, Shard};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::bad_lines::{
    BadLines, damaged_lines, is_of_other_count, print_commands, print_commands_that_take_apart,
};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{json_seconds, many};
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

    /// Journals of one count, or folders of them; the count may still be running
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read the journals of the second count, if those of both counts are there
    #[arg(long)]
    second: bool,

    /// Number of shards, to name the missing ones [default: as in the journals]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = number_of_shards)]
    pub(crate) shards: Option<usize>,
}

/// Reads a number of shards.
fn number_of_shards(text: &str) -> Result<usize, String> {
    number(text, 1, Shard::MAX_SHARDS)
}

/// The journals of one plan.
struct FilesOfPlan {
    first: Vec<PathBuf>,
    second: Vec<PathBuf>,
}

impl JournalsArgs {
    /// Reads the journals of one count together: of the first, unless only the second is there or asked for.
    pub(crate) fn read(&self) -> Result<Record, Failure> {
        let files = self.files_of_one_count()?;
        self.read_and_warn(&files)?.ok_or_else(|| self.no_finished_unit(self.second))
    }

    /// Reads the journals as [`read`](Self::read) does, and warns of what is left out, but prints no commands, because the
    /// caller finds more bad lines.
    pub(crate) fn read_to_verify(&self) -> Result<Record, Failure> {
        let files = self.files_of_one_count()?;
        let Some(mut record) = Record::read(&files)? else {
            return Err(self.no_finished_unit(self.second));
        };
        self.set_shards(&mut record);
        warn_of_left_out(&record.left_out);
        warn_of_cut_off(&record);
        Ok(record)
    }

    /// Reads the journals of the first count together, or of the second one if it is asked for. Returns `None` if none
    /// has begun.
    pub(crate) fn read_if_begun(&self) -> Result<Option<Record>, Failure> {
        let FilesOfPlan { first, second } = self.files()?;
        self.read_and_warn(if self.second { &second } else { &first })
    }

    /// Reads the journals of the first count, and of the second one.
    pub(crate) fn read_both(&self) -> Result<[Record; 2], Failure> {
        let FilesOfPlan { first, second } = self.files()?;
        if first.is_empty() {
            return Err(self.no_finished_unit(false));
        }
        if second.is_empty() {
            return Err(self.no_finished_unit(true));
        }
        let Some(first) = self.read_and_warn(&first)? else {
            return Err(self.no_finished_unit(self.second));
        };
        let Some(second) = self.read_and_warn(&second)? else {
            return Err(self.no_finished_unit(self.second));
        };
        Ok([first, second])
    }

    /// Reads the journals of each count of each plan, and looks which of them are being written. Warns of counts that
    /// cannot be read if there are others.
    pub(crate) fn read_plans(&self) -> Result<(Vec<Record>, Exit), Failure> {
        let mut records = Vec::new();
        let mut failures = Vec::new();
        for [first, second] in split_by_plan(journals_in(&self.paths)?) {
            let counts = if self.second { vec![second] } else { vec![first, second] };
            for files in counts {
                if files.is_empty() {
                    continue;
                }
                match Record::watch(&files) {
                    Ok(Some(record)) => records.push(self.warn(record)),
                    Ok(None) => {}
                    Err(error) => failures.push(Failure::from(error)),
                }
            }
        }
        if records.is_empty() {
            return Err(failures.pop().unwrap_or_else(|| self.no_finished_unit(self.second)));
        }
        let mut exit = Exit::Done;
        for failure in &failures {
            message!("warning: left out: {failure}");
            let is_temporary = failure.exit == Exit::Temporary;
            exit = exit.and(if is_temporary { Exit::Temporary } else { Exit::Failed });
        }
        Ok((records, exit))
    }

    /// Returns the files of the first count and of the second. Files of several plans are put together, and reading
    /// them is an error.
    fn files(&self) -> Result<FilesOfPlan, Failure> {
        let mut files = FilesOfPlan { first: Vec::new(), second: Vec::new() };
        for [first, second] in split_by_plan(journals_in(&self.paths)?) {
            files.first.extend(first);
            files.second.extend(second);
        }
        Ok(files)
    }

    /// Returns the files of the first count, unless only the second is there or asked for.
    fn files_of_one_count(&self) -> Result<Vec<PathBuf>, Failure> {
        let FilesOfPlan { first, second } = self.files()?;
        if self.second || first.is_empty() {
            return Ok(second);
        }
        if !second.is_empty() {
            let journals = many(second.len(), "journal");
            message!("left out {journals} of the second count: --second reads them instead");
        }
        Ok(first)
    }

    /// Reads journals of one count, and warns of what is left out. Returns `None` if no journal has begun.
    fn read_and_warn(&self, files: &[PathBuf]) -> Result<Option<Record>, Failure> {
        let record = Record::read(files)?;
        Ok(record.map(|record| self.warn(record)))
    }

    /// Returns a record with the number of shards that the user named, and warns of what it left out.
    fn warn(&self, mut record: Record) -> Record {
        self.set_shards(&mut record);
        warn_of_left_out(&record.left_out);
        // `verify` prints one command for all bad lines of a journal.
        if record.disputed().is_empty() {
            print_commands(damaged_lines(&record.left_out), BadLines::new());
        }
        print_commands_that_take_apart(&record.left_out);
        warn_of_cut_off(&record);
        record
    }

    fn set_shards(&self, record: &mut Record) {
        if self.shards.is_some() {
            record.shards = self.shards;
        }
    }

    /// Ends a command that found no finished unit of a count. Nothing is complete, which scripts read from the exit code
    /// and from the JSON object.
    pub(crate) fn no_finished_unit(&self, second: bool) -> Failure {
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
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let paths = paths.join(", ");
        let of_which = if second { " of the second count" } else { "" };
        let text = format!("no journal in {paths} holds a finished unit{of_which} yet");
        Exit::Stopped.answer(self.format, report).because(text)
    }

    /// Returns how much is not finished, and what to do about it.
    pub(crate) fn describe_missing(&self, record: &Record) -> String {
        let units = record.plan().units() - record.sum().units;
        let all = many(record.plan().units(), "unit");
        let lack = format!("the journals lack {units} of {all}");
        if record.left_out.iter().any(is_unread) {
            return format!("{lack}, unless the journals that could not be read hold them");
        }
        if record.left_out.iter().any(|error| matches!(error, Error::CountsDiffer { .. })) {
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

/// Prints a total that differs from the published one. Returns the exit code of what was read.
///
/// A unit with two counts is a failure, and so are lines of another count, because nobody knows whether they were to be
/// read, too. What else was left out is a failure only while units are missing, because else other lines hold the same
/// units. If all of it may be read later, the same command may find more then.
pub(crate) fn check(record: &Record) -> Exit {
    if let Published::Differs { expected } = record.published() {
        let n = record.plan().size();
        let total = record.sum().solutions;
        print_differs(format_args!("Q({n}) = {total}"), expected);
        return Exit::Failed;
    }
    if record.left_out.iter().any(is_of_other_count) {
        return Exit::Failed;
    }
    if record.left_out.is_empty() || record.total().is_some() {
        Exit::Done
    } else if record.left_out.iter().all(is_temporary) {
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

/// Returns the processes that count now, with what they have done so far.
pub(crate) fn running_runs(record: &Record) -> impl Iterator<Item = &Run> {
    record.running().filter_map(|file| file.runs.last())
}

/// Returns the indices of the shards that processes count now, with the plan cut into this many. Of a process that
/// counts the whole board, these are all.
pub(crate) fn running_indices(record: &Record, shards: usize) -> Vec<usize> {
    let mut indices = Vec::new();
    for run in running_runs(record) {
        if run.shard == Shard::WHOLE {
            return (0..shards).collect();
        }
        if run.shard.shards() == shards {
            indices.push(run.shard.index());
        }
    }
    indices
}

/// Returns what all reports on journals have.
pub(crate) fn report(record: &Record) -> Report {
    let mut report = Report::default();
    add_facts(report.plan(record.plan()), record);
    report
}

/// Adds what all reports on journals have beside the plan.
pub(crate) fn add_facts(report: &mut Report, record: &Record) {
    let done = record.sum();
    let missing = json!({
        "units": record.plan().units() - done.units,
        "shards": record.shards,
        "indices": missing_shards(record).map(|(_, missing)| ranges(&missing)),
    });
    let builds: BTreeSet<&str> = record.runs().map(|run| &*run.version).collect();
    let damaged = damaged_files(record);
    let disputed = record.disputed().len();
    if let Some(total) = record.total() {
        report.row("total", total).row("published", record.published());
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
        .field("total", record.total().map(|total| total.to_string()))
        .field("published", record.published().to_string())
        .field("finished", done.units)
        .field("solutions", done.solutions.to_string())
        .field("files", record.files().len())
        .field("damaged", damaged)
        .field("disputed", disputed)
        .field("twice", record.repeated())
        .field("builds", builds.into_iter().collect::<Vec<_>>())
        .field("cpu_seconds", json_seconds(record.cpu_time()))
        .field("missing", missing);
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
