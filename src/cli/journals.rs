//! The journals that a command reads, and what all such commands report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use nqueens::record::{JournalError as J, Record, journals_in, split_by_plan};
use nqueens::{Error, Published, Shard};
use serde_json::{Value, json};

use crate::cli::bad_lines::{damaged_lines, disputed_lines, print_commands};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{json_seconds, many};
use crate::cli::published::print_differs;
use crate::cli::quote::quoted;
use crate::cli::report::{Format, Report};
use crate::cli::stderr::{message, print_first};
use crate::cli::values::up_to;

/// Which journals.
#[derive(Debug, Args)]
pub(crate) struct JournalsArgs {
    /// Journals of one count, or folders of them; the count may still be running
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read the journals of the second count, if both are there
    #[arg(long)]
    second: bool,

    /// Number of shards, to name the missing ones [default: as in the journals]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = up_to(Shard::MAX_SHARDS))]
    pub(crate) shards: Option<usize>,
}

impl JournalsArgs {
    /// Reads the journals of one count together: of the first, unless only the second is there or asked for.
    pub(crate) fn read(&self, format: Format) -> Result<Record, Failure> {
        self.read_and_warn(format, warn_of_damage)
    }

    /// Reads the journals as [`read`](Self::read) does, and warns of what is left out, but prints no commands: the
    /// caller finds more bad lines.
    pub(crate) fn read_to_verify(&self, format: Format) -> Result<Record, Failure> {
        self.read_and_warn(format, warn_of_left_out)
    }

    fn read_and_warn(&self, format: Format, warn: fn(&[Error])) -> Result<Record, Failure> {
        let [first, second] = self.files()?;
        if self.second || first.is_empty() {
            return self.read_files(&second, format, warn);
        }
        if !second.is_empty() {
            let journals = many(second.len(), "journal");
            message!("left out {journals} of the second count: --second reads them instead");
        }
        self.read_files(&first, format, warn)
    }

    /// Reads the journals of the first count, and of the second one.
    pub(crate) fn read_both(&self, format: Format) -> Result<[Record; 2], Failure> {
        let files = self.files()?;
        if let Some(missing) = files.iter().position(Vec::is_empty) {
            return Err(self.no_unit(missing == 1, format));
        }
        let [first, second] = files.map(|files| self.read_files(&files, format, warn_of_damage));
        Ok([first?, second?])
    }

    /// Reads the journals of each count of each plan, and looks which of them are being written. Warns of counts that
    /// cannot be read if there are others.
    pub(crate) fn read_plans(&self, format: Format) -> Result<(Vec<Record>, Exit), Failure> {
        let (mut records, mut failures) = (Vec::new(), Vec::new());
        let plans = split_by_plan(journals_in(&self.paths)?);
        let counts = plans.into_iter().flat_map(|plan| plan.into_iter().skip(self.second.into()));
        for files in counts.filter(|files| !files.is_empty()) {
            match self.prepare(Record::watch(&files), warn_of_damage) {
                Ok(Some(record)) => records.push(record),
                Ok(None) => {}
                Err(failure) => failures.push(failure),
            }
        }
        if records.is_empty() {
            return Err(failures.pop().unwrap_or_else(|| self.no_unit(self.second, format)));
        }
        let mut exit = Exit::Done;
        for failure in &failures {
            message!("warning: left out: {failure}");
            exit = exit.and(if failure.exit == Exit::Temporary {
                Exit::Temporary
            } else {
                Exit::Failed
            });
        }
        Ok((records, exit))
    }

    /// Returns the files of the first count, and of the second. Several plans are an error of the reading.
    fn files(&self) -> Result<[Vec<PathBuf>; 2], Failure> {
        let plans = split_by_plan(journals_in(&self.paths)?);
        Ok([0, 1].map(|count| plans.iter().flat_map(|files| files[count].clone()).collect()))
    }

    /// Ends a command that found no finished unit. Nothing is complete, which scripts read from the code and from the
    /// JSON object.
    pub(crate) fn no_unit(&self, second: bool, format: Format) -> Failure {
        let missing = self.shards.map(|shards| (0..shards).collect::<Vec<_>>());
        let missing = json!({
            "units": null,
            "shards": self.shards,
            "indices": missing.map(|missing| ranges(&missing)),
        });
        let mut report = Report::default();
        report.field("n", Value::Null).field("plan", Value::Null).field("total", Value::Null);
        report.field("finished", 0).field("missing", missing);
        let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let paths = paths.join(", ");
        let of_which = if second { " of the second count" } else { "" };
        let text = format!("no journal in {paths} holds a finished unit{of_which} yet");
        Exit::Stopped.answer(format, report).because(text)
    }

    /// Returns how much is not finished, and what to do about it.
    pub(crate) fn describe_missing(&self, record: &Record) -> String {
        let units = record.plan().units() - record.sum().units;
        let all = many(record.plan().units(), "unit");
        let lacks = format!("the journals lack {units} of {all}");
        if record.left_out.iter().any(is_unread) {
            return format!("{lacks}, unless the journals that could not be read hold them");
        }
        if record.left_out.iter().any(|error| matches!(error, Error::CountsDiffer { .. })) {
            return format!("{lacks}, and no count goes on while units have two counts");
        }
        let shards = match missing_shards(record) {
            Some((shards @ 2.., missing)) => format!(", all in {}", shards_text(&missing, shards)),
            _ => String::new(),
        };
        let paths: Vec<_> = self.paths.iter().map(|path| quoted(path)).collect();
        format!("{lacks}{shards}; 'nqueens status {}' prints the command", paths.join(" "))
    }

    /// Reads the journals of the first count together, or of the second one if it is asked for. Returns `None` if none
    /// has begun.
    pub(crate) fn read_if_begun(&self) -> Result<Option<Record>, Failure> {
        let [first, second] = self.files()?;
        let files = if self.second { second } else { first };
        self.read_record(&files, warn_of_damage)
    }

    fn read_files(
        &self,
        files: &[PathBuf],
        format: Format,
        warn: fn(&[Error]),
    ) -> Result<Record, Failure> {
        let record = self.read_record(files, warn)?;
        record.ok_or_else(|| self.no_unit(self.second, format))
    }

    /// Reads journals of one count. Returns `None` if no journal has begun.
    fn read_record(
        &self,
        files: &[PathBuf],
        warn: fn(&[Error]),
    ) -> Result<Option<Record>, Failure> {
        self.prepare(Record::read(files), warn)
    }

    /// Sets the number of shards that the user named, and warns of what is left out.
    fn prepare(
        &self,
        read: Result<Option<Record>, Error>,
        warn: fn(&[Error]),
    ) -> Result<Option<Record>, Failure> {
        let Some(mut record) = read? else { return Ok(None) };
        record.shards = self.shards.or(record.shards);
        warn(&record.left_out);
        for file in record.files().iter().filter(|file| file.cut_off > 0) {
            let path = file.path.display();
            message!("warning: the last line of {path} was cut off and is left out");
        }
        Ok(Some(record))
    }
}

/// Warns of what is left out because it is damaged or cannot be read, and prints the commands that take bad lines out.
pub(crate) fn warn_of_damage(left_out: &[Error]) {
    warn_of_left_out(left_out);
    let (damaged, disputed) = (damaged_lines(left_out), disputed_lines(left_out));
    if !disputed.is_empty() {
        let files: Vec<String> = disputed.keys().map(|path| quoted(path)).collect();
        let files = files.join(" ");
        message!("a machine made an error; 'nqueens verify {files}' shows which counts are wrong");
    }
    print_commands(damaged, disputed);
}

/// Warns of what is left out, without commands.
fn warn_of_left_out(left_out: &[Error]) {
    let mut warnings = Vec::new();
    for error in left_out {
        warnings.push(match error {
            Error::Journal { error: J::Damaged { .. }, .. } | Error::CountsDiffer { .. } => {
                format!("warning: left out: {error}")
            }
            _ => format!("warning: left out: {}", Failure::from(error.clone())),
        });
    }
    print_first(warnings.into_iter());
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
        J::Io { action, source } => *action == "open" || source.lack.is_some(),
        error => *error == J::NotAFile,
    }
}

/// Prints a total that differs from the published one. Returns the exit code of what was read: a unit with two counts is
/// a failure. So is what was left out, but only while units are missing: if none is, other lines hold what it held.
/// If all of it may be read later, the same command may find more then.
pub(crate) fn check(record: &Record) -> Exit {
    if let Published::Differs { expected } = record.published() {
        let (n, total) = (record.plan().size(), record.sum().solutions);
        print_differs(format_args!("Q({n}) = {total}"), expected);
        return Exit::Failed;
    }
    let passes = |error: &Error| Failure::from(error.clone()).exit == Exit::Temporary;
    if record.left_out.is_empty() || record.total().is_some() {
        Exit::Done
    } else if record.left_out.iter().all(passes) {
        Exit::Temporary
    } else {
        Exit::Failed
    }
}

/// Returns the journals of which something is damaged and left out.
fn damaged_files(record: &Record) -> Vec<String> {
    let damage = record.left_out.iter().filter(|error| !is_unread(error));
    let mut files: Vec<_> = damage.filter_map(file_of).collect();
    files.dedup();
    files.iter().map(|path| path.display().to_string()).collect()
}

/// Returns the number of shards, if it is known, and the indices of the shards that are not complete.
pub(crate) fn missing_shards(record: &Record) -> Option<(usize, Vec<usize>)> {
    let shards = record.shards?;
    if record.total().is_some() {
        return Some((shards, Vec::new()));
    }
    Some((shards, record.missing_shards(shards).ok()?))
}

/// Returns what all reports on journals have.
pub(crate) fn report(record: &Record) -> Report {
    let mut report = Report::default();
    add_facts(report.plan(record.plan()), record);
    report
}

/// Adds what all reports on journals have beside the plan.
pub(crate) fn add_facts(report: &mut Report, record: &Record) {
    let (plan, done, damaged) = (record.plan(), record.sum(), damaged_files(record));
    let missing = json!({
        "units": plan.units() - done.units,
        "shards": record.shards,
        "indices": missing_shards(record).map(|(_, missing)| ranges(&missing)),
    });
    let builds: BTreeSet<_> = record.runs().map(|run| run.version.as_str()).collect();
    if let Some(total) = record.total() {
        report.row("total", total).row("published", record.published());
    }
    if let Some(first) = damaged.first() {
        let files = many(damaged.len(), "journal");
        report.row("damaged", format_args!("{files}, the first is {first}"));
    }
    report
        .field("total", record.total().map(|total| total.to_string()))
        .field("published", record.published().to_string())
        .field("finished", done.units)
        .field("solutions", done.solutions.to_string())
        .field("files", record.files().len())
        .field("damaged", damaged)
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
    let ranges = numbers.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range[0].to_string(),
    });
    ranges.collect::<Vec<_>>().join(",")
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
