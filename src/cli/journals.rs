//! The journals that a command reads, and what all such commands report.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nqueens::known::known;
use nqueens::record::{Mode, Record, Run, Units, half_open, journals_in, split_by_pass};
use nqueens::{Published, Shard};
use serde_json::json;

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{json_seconds, many};
use crate::cli::report::Report;
use crate::cli::stderr::{alarm, message};

/// Of the missing units, at most this many ranges are in JSON.
const MOST_RANGES: usize = 1000;

/// Of the missing shards, at most this many ranges are printed.
const PRINTED: usize = 12;

/// Which journals.
#[derive(Debug, Args)]
pub(crate) struct JournalsArgs {
    /// Journals of one plan, or folders of them, finished or not, also while they are written
    #[arg(required = true, value_name = "FILE|FOLDER")]
    paths: Vec<PathBuf>,

    /// Read the journals of the second count, if there are those of both
    #[arg(long)]
    second: bool,
}

impl JournalsArgs {
    /// Reads those of one count together: of the first, unless only the second is there or asked for.
    pub(crate) fn read(&self) -> Result<Journals, Failure> {
        let [first, second] = split_by_pass(journals_in(&self.paths)?);
        if self.second || first.is_empty() {
            return self.read_files(&second);
        }
        if !second.is_empty() {
            let journals = many(second.len(), "journal");
            message!("{journals} of the second count left out: --second reads those instead");
        }
        self.read_files(&first)
    }

    /// Reads those of the first count, and those of the second one, as far as there are any.
    pub(crate) fn read_both(&self) -> Result<[Option<Journals>; 2], Failure> {
        let [first, second] = split_by_pass(journals_in(&self.paths)?);
        let first = if self.second { Vec::new() } else { first };
        if first.is_empty() && second.is_empty() {
            return Err(self.nothing());
        }
        let read =
            |files: Vec<PathBuf>| (!files.is_empty()).then(|| self.read_files(&files)).transpose();
        Ok([read(first)?, read(second)?])
    }

    /// The files and folders as they were named.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    fn nothing(&self) -> Failure {
        let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let of_second = if self.second { " of a second count" } else { "" };
        Failure::Usage(format!(
            "{}: there are no journals{of_second} (files *.journal) in it, or nothing is recorded yet",
            paths.join(", ")
        ))
    }

    /// Reads journals of one count.
    fn read_files(&self, files: &[PathBuf]) -> Result<Journals, Failure> {
        let record = Record::read(files, Mode::Strict)?.ok_or_else(|| self.nothing())?;
        for path in &record.unbegun {
            message!("warning: nothing is recorded in {}; it is left out", path.display());
        }
        for file in record.files.iter().filter(|file| file.cut_off > 0) {
            let path = file.path.display();
            message!("warning: the last line of {path} was cut off and is left out");
        }
        Ok(Journals::new(record))
    }
}

/// What journals of one plan hold together.
pub(crate) struct Journals {
    pub(crate) record: Record,
    pub(crate) units_done: usize,
    pub(crate) units_missing: usize,
    /// The solutions, if all units are finished.
    pub(crate) total: Option<u128>,
    pub(crate) published: Published,
    /// On finished units, of all threads.
    pub(crate) cpu_time: Duration,
}

impl Journals {
    fn new(record: Record) -> Self {
        let (plan, units_done) = (&record.plan, record.units_done());
        let total = record.is_complete().then_some(record.solutions);
        let compare = |total| Published::compare(total, known(plan.size()).total);
        Self {
            units_done,
            units_missing: plan.units() - units_done,
            total,
            published: total.map_or(Published::Unknown, compare),
            cpu_time: record.cpu_time(),
            record,
        }
    }

    /// Prints it if the total is not the published one.
    pub(crate) fn check_published(&self) -> Exit {
        let Published::Differs { expected } = self.published else { return Exit::Done };
        let (n, total) = (self.record.plan.size(), self.record.solutions);
        alarm!("Q({n}) = {total} differs from the published {expected}");
        Exit::Failed
    }

    /// The plan's lines, and the fields that all reports on journals have.
    pub(crate) fn report(&self) -> Report {
        let Record { plan, solutions, files, repeated, .. } = &self.record;
        let mut report = Report::default();
        report
            .plan(plan)
            .field("finished", self.units_done)
            .field("solutions", solutions.to_string())
            .field("files", files.len())
            .field("twice", *repeated)
            .field("cpu_seconds", json_seconds(self.cpu_time));
        report
    }

    /// The total, if there is one, and how it compares.
    pub(crate) fn report_total(&self, report: &mut Report) {
        report.number("total", self.total);
        self.report_published(report, self.total);
    }

    /// How a total compares.
    pub(crate) fn report_published(&self, report: &mut Report, total: Option<u128>) {
        match total {
            Some(_) => report.published(self.published),
            None => report.field("published", self.published.to_string()),
        };
    }

    /// The field on what is not finished.
    pub(crate) fn report_missing(&self, report: &mut Report, missing: Option<&MissingShards>) {
        let missing_units = self.record.missing();
        let mut ranges = half_open(&missing_units).map(|range| [range.start, range.end]);
        let json = json!({
            "units": self.units_missing,
            "ranges": ranges.by_ref().take(MOST_RANGES).collect::<Vec<_>>(),
            "more_ranges": ranges.count(),
            "shards": missing.map(|missing| missing.shards),
            "indices": missing.map(|missing| missing.indices(usize::MAX)),
        });
        report.field("missing", json);
    }
}

/// Which shards have units that are not finished.
pub(crate) struct MissingShards {
    /// How many shards there are.
    pub(crate) shards: usize,
    missing: Units,
}

impl MissingShards {
    /// `None` if the number of shards is not given and the journals do not agree on it.
    pub(crate) fn new(record: &Record, shards: Option<usize>) -> Option<Self> {
        let shards = shards.or_else(|| record.shards())?;
        let missing = record.missing_shards(shards).ok()?;
        Some(Self { shards, missing: missing.into_iter().map(Shard::index).collect() })
    }

    /// Without some of them.
    pub(crate) fn except(&self, others: &Units) -> Self {
        Self { shards: self.shards, missing: &self.missing - others }
    }

    pub(crate) fn number(&self) -> usize {
        number(&self.missing)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.missing.is_empty()
    }

    /// How many ranges they are.
    pub(crate) fn ranges(&self) -> usize {
        self.missing.ranges_len()
    }

    /// The first ranges, as a job array is written: `3,7-9`.
    pub(crate) fn indices(&self, most: usize) -> String {
        joined(&self.missing, ",", most)
    }
}

/// As `shards 3, 7-9 (of 0..=9)`. If there are many, as `600 of 1000 shards, the first 3, 7-9, ...`.
impl fmt::Display for MissingShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shards, missing) = (self.shards, self.number());
        let first = joined(&self.missing, ", ", PRINTED);
        if self.missing.ranges_len() > PRINTED {
            return write!(f, "{missing} of {shards} shards, the first {first}, ...");
        }
        let shard = if missing == 1 { "shard" } else { "shards" };
        write!(f, "{shard} {first} (of 0..={})", shards - 1)
    }
}

/// The first ranges of some numbers, with a separator: `3,7-9`.
fn joined(numbers: &Units, separator: &str, most: usize) -> String {
    let ranges = numbers.ranges().take(most).map(|range| match range.into_inner() {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    });
    ranges.collect::<Vec<_>>().join(separator)
}

/// How many numbers there are.
pub(crate) fn number(numbers: &Units) -> usize {
    half_open(numbers).map(|range| range.len()).sum()
}

/// Processors and kernels that have counted, each with its number of runs.
pub(crate) fn machines<'a>(runs: impl Iterator<Item = &'a Run>) -> BTreeMap<String, usize> {
    let mut machines = BTreeMap::new();
    for run in runs.filter(|run| run.units > 0) {
        let machine = format!("{}, {}, {}", run.machine, many(run.threads, "thread"), run.kernel);
        *machines.entry(machine).or_default() += 1;
    }
    machines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_are_written_as_text_and_as_job_arrays() {
        let missing =
            |indices: &[usize]| MissingShards { shards: 100, missing: indices.iter().collect() };
        let array = |indices: &[usize]| missing(indices).indices(usize::MAX);
        assert_eq!(array(&[]), "");
        assert_eq!(array(&[3]), "3");
        assert_eq!(array(&[0, 1]), "0-1");
        assert_eq!(array(&[3, 7, 8, 9, 99]), "3,7-9,99");
        let some = missing(&[3, 7, 8, 9, 99]);
        assert_eq!(some.to_string(), "shards 3, 7-9, 99 (of 0..=99)");
        assert_eq!(
            some.except(&Units::from_iter([3, 8])).to_string(),
            "shards 7, 9, 99 (of 0..=99)"
        );
        assert_eq!(missing(&[3]).to_string(), "shard 3 (of 0..=99)");
        let odd: Vec<usize> = (0..50).map(|index| 2 * index + 1).collect();
        let text = "50 of 100 shards, the first 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, ...";
        assert_eq!(missing(&odd).to_string(), text);
    }
}
