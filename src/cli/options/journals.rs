//! The journals that a command reads, and what all such commands report.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nqueens::known::known;
use nqueens::merge::{Merged, journals_in, merge};
use nqueens::{Published, Shard};
use serde_json::json;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::json::seconds;
use crate::cli::output::report::Report;
use crate::cli::output::stderr::message;
use crate::cli::output::text::many;

/// Which journals.
#[derive(Debug, Args)]
pub(crate) struct JournalsArgs {
    /// Journals of one plan, or folders of them, finished or not, also while they are written
    #[arg(required = true, value_name = "FILE|FOLDER")]
    paths: Vec<PathBuf>,
}

impl JournalsArgs {
    /// Reads them together.
    pub(crate) fn read(&self) -> Result<Journals, Failure> {
        let files = journals_in(&self.paths)?;
        let Some(merged) = merge(&files)? else {
            let paths = self.paths.iter().map(|path| path.display().to_string());
            let paths = paths.collect::<Vec<_>>().join(", ");
            return Err(Failure::Usage(match files.is_empty() {
                true => format!("{paths}: there are no journals (files *.journal) in it"),
                false => format!("{paths}: nothing is recorded yet"),
            }));
        };
        for path in &merged.unbegun {
            message!("warning: nothing is recorded in {}; it is left out", path.display());
        }
        for file in &merged.files {
            let path = file.path.display();
            if file.torn {
                message!("warning: the last line of {path} was cut off and is left out");
            }
            if file.withdrawn > 0 {
                let units = many(file.withdrawn, "unit");
                message!(
                    "warning: {path} withdrew {units} after a recount differed; do not trust the \
                     machine that counted them"
                );
            }
        }
        Ok(Journals::new(merged))
    }
}

/// What journals of one plan hold together.
pub(crate) struct Journals {
    pub(crate) merged: Merged,
    pub(crate) units_done: usize,
    pub(crate) units_missing: usize,
    /// The solutions, if all units are finished.
    pub(crate) total: Option<u128>,
    published: Published,
    /// On finished units, of all threads.
    pub(crate) cpu_time: Duration,
}

impl Journals {
    fn new(merged: Merged) -> Self {
        let Merged { plan, finished, files, .. } = &merged;
        let total = finished.is_complete().then(|| finished.solutions());
        let compare = |total| Published::compare(total, known(plan.size()).total);
        Self {
            units_done: finished.units_done(),
            units_missing: plan.units() - finished.units_done(),
            total,
            published: total.map_or(Published::Unknown, compare),
            cpu_time: files.iter().flat_map(|file| &file.runs).map(|run| run.cpu_time).sum(),
            merged,
        }
    }

    /// Prints it if the total is not the published one.
    pub(crate) fn check_published(&self) -> Exit {
        let Published::Differs { expected } = self.published else { return Exit::Done };
        let (n, total) = (self.merged.plan.size(), self.merged.finished.solutions());
        message!("Q({n}) = {total} differs from the published {expected}");
        Exit::Failed
    }

    /// The plan's lines, and the fields that all reports on journals have.
    pub(crate) fn report(&self) -> Report {
        let Merged { plan, finished, files, twice, .. } = &self.merged;
        let mut report = Report::default();
        report
            .plan(plan)
            .field("finished", self.units_done)
            .field("solutions", finished.solutions().to_string())
            .field("files", files.len())
            .field("twice", *twice)
            .field("cpu_seconds", seconds(self.cpu_time));
        report
    }

    /// The total, if there is one, and how it compares.
    pub(crate) fn report_total(&self, report: &mut Report) {
        report.number("total", self.total).field("published", self.published.to_string());
        if self.total.is_some() {
            report.row("published", self.published);
        }
    }

    /// The field on what is not finished.
    pub(crate) fn report_missing(&self, report: &mut Report, missing: Option<&MissingShards>) {
        let ranges = self.merged.missing_units().into_iter();
        let json = json!({
            "units": self.units_missing,
            "ranges": ranges.map(|range| [range.start, range.end]).collect::<Vec<_>>(),
            "shards": missing.map(|missing| missing.shards),
            "indices": missing.map(|missing| &missing.indices),
        });
        report.field("missing", json);
    }
}

/// Which shards have units that are not finished. As text: `3,7-9 (of 0..=9)`.
pub(crate) struct MissingShards {
    /// How many shards there are.
    pub(crate) shards: usize,
    /// Those with missing units, as a job array is written: `3,7-9`.
    pub(crate) indices: String,
}

impl MissingShards {
    /// `None` if the number of shards is not given and the journals do not agree on it.
    pub(crate) fn new(merged: &Merged, shards: Option<usize>) -> Option<Self> {
        let shards = shards.or_else(|| merged.shards())?;
        let missing = merged.missing_shards(shards).ok()?;
        Some(Self { shards, indices: as_array(&missing) })
    }
}

impl fmt::Display for MissingShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (of 0..={})", self.indices, self.shards - 1)
    }
}

/// Numbers in the form of job arrays: `3,7-9`.
fn as_array(shards: &[Shard]) -> String {
    let runs = shards.chunk_by(|shard, next| next.index() == shard.index() + 1);
    let ranges = runs.map(|run| match run {
        [first, .., last] => format!("{}-{}", first.index(), last.index()),
        _ => run.iter().map(|shard| shard.index().to_string()).collect(),
    });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_as_job_arrays() {
        let array = |indices: &[usize]| {
            let shards: Vec<Shard> =
                indices.iter().map(|index| Shard::new(*index, 100).expect("in range")).collect();
            as_array(&shards)
        };
        assert_eq!(array(&[]), "");
        assert_eq!(array(&[3]), "3");
        assert_eq!(array(&[0, 1]), "0-1");
        assert_eq!(array(&[3, 7, 8, 9, 99]), "3,7-9,99");
    }
}
