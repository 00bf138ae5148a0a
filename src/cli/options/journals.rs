//! The journals that a command reads, and what all such commands report.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nqueens::known::known;
use nqueens::merge::{Merged, journals_in, merge};
use nqueens::{Published, Shard};
use serde::Serialize;

use crate::cli::exit::{Exit, Failure, Line};
use crate::cli::output::json::{as_seconds, as_string, as_string_or_null};
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
    pub(crate) fn read(&self) -> Result<Merged, Failure> {
        let files = journals_in(&self.paths)?;
        let merged = merge(&files)?;
        for path in merged.iter().flat_map(|merged| &merged.unbegun) {
            message!("warning: nothing is recorded in {}; it is left out", path.display());
        }
        for file in merged.iter().flat_map(|merged| &merged.files) {
            let path = file.path.display();
            if file.torn {
                message!("warning: the last line of {path} was cut off and is left out");
            }
            if file.withdrawn > 0 {
                message!(
                    "warning: {path} withdrew {} after a recount differed; do not trust the \
                     machine that counted them",
                    many(file.withdrawn, "unit")
                );
            }
        }
        merged.ok_or_else(|| {
            let paths = self.paths.iter().map(|path| path.display().to_string());
            let paths = paths.collect::<Vec<_>>().join(", ");
            Failure::Usage(match files.is_empty() {
                true => format!("{paths}: there are no journals (files *.journal) in it"),
                false => format!("{paths}: nothing is recorded yet"),
            })
        })
    }
}

/// What journals of one plan hold together.
#[derive(Debug, Serialize)]
pub(crate) struct MergedReport {
    pub(crate) n: u32,
    engine: &'static str,
    plan: String,
    pub(crate) units: usize,
    pub(crate) finished: usize,
    /// In the finished units, with their weights.
    #[serde(serialize_with = "as_string")]
    pub(crate) solutions: u128,
    /// The solutions, if all units are finished.
    #[serde(serialize_with = "as_string_or_null")]
    pub(crate) total: Option<u128>,
    #[serde(serialize_with = "as_string")]
    pub(crate) published: Published,
    pub(crate) files: usize,
    /// Units that more than one file holds.
    pub(crate) twice: usize,
    #[serde(serialize_with = "as_seconds")]
    pub(crate) cpu_seconds: Duration,
}

impl MergedReport {
    pub(crate) fn new(merged: &Merged) -> Self {
        let Merged { plan, finished, files, twice, .. } = merged;
        let total = finished.is_complete().then(|| finished.solutions());
        Self {
            n: plan.size().get(),
            engine: plan.engine().name(),
            plan: format!("{:08x}", plan.hash()),
            units: plan.units(),
            finished: finished.units_done(),
            solutions: finished.solutions(),
            total,
            published: total.map_or(Published::Unknown, |total| {
                Published::compare(total, known(plan.size()).total)
            }),
            files: files.len(),
            twice: *twice,
            cpu_seconds: files.iter().flat_map(|file| &file.runs).map(|run| run.busy).sum(),
        }
    }

    /// Prints it if the total is not the published one.
    pub(crate) fn check_published(&self) -> Exit {
        let Published::Differs { expected } = self.published else { return Exit::Done };
        message!("Q({}) = {} differs from the published {expected}", self.n, self.solutions);
        Exit::Failed
    }

    pub(crate) fn missing_units(&self) -> usize {
        self.units - self.finished
    }

    pub(crate) fn plan_rows(&self) -> [Line; 2] {
        let Self { n, engine, plan, units, .. } = self;
        let units = many(*units, "unit");
        [("n", n.to_string()), ("plan", format!("engine {engine}, hash {plan}, {units}"))]
    }

    pub(crate) fn total_rows(&self) -> Vec<Line> {
        let rows =
            |total| [("total", format!("{total}")), ("published", self.published.to_string())];
        self.total.into_iter().flat_map(rows).collect()
    }
}

/// What is not finished.
#[derive(Debug, Serialize)]
pub(crate) struct MissingReport {
    pub(crate) units: usize,
    /// First unit and the one behind the last.
    ranges: Vec<(usize, usize)>,
    /// How many shards there are, if the journals agree on it or the command line tells.
    pub(crate) shards: Option<usize>,
    /// The shards with missing units, as a job array is written: `3,7-9`.
    pub(crate) indices: Option<String>,
}

impl MissingReport {
    pub(crate) fn new(merged: &Merged, shards: Option<usize>) -> Self {
        let ranges: Vec<(usize, usize)> =
            merged.missing_units().into_iter().map(|range| (range.start, range.end)).collect();
        let shards = shards.or_else(|| merged.shards());
        Self {
            units: merged.plan.units() - merged.finished.units_done(),
            ranges,
            shards,
            indices: shards.map(|shards| as_array(&merged.missing_shards(shards))),
        }
    }

    /// The first missing unit.
    pub(crate) fn first_unit(&self) -> usize {
        self.ranges.first().map_or(0, |range| range.0)
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
