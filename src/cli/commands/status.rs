//! `nqueens status FILE|FOLDER...`.

use std::time::{Duration, SystemTime};

use clap::Args;
use nqueens::journal::Run;
use nqueens::merge::{Member, Merged};
use serde::Serialize;

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::{JournalsArgs, MergedReport, MissingReport, number_of_shards};
use crate::cli::output::json::{as_seconds_or_null, microseconds};
use crate::cli::output::text::{duration, many, seconds};

/// A journal is being written if it was written so recently and its shard is not complete. Units
/// take seconds, the clocks of file servers differ a little.
const RECENTLY: Duration = Duration::from_secs(60);

/// Show how far the shards have come
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    journals: JournalsArgs,

    /// How many shards there are, to name those that are missing [default: as in the journals]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = number_of_shards)]
    shards: Option<usize>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let merged = self.journals.read()?;
        let report = StatusReport::new(&merged, MissingReport::new(&merged, self.shards));
        Ok(Exit::Done.answer(Format::new(self.json, false), &report))
    }
}

#[derive(Debug, Serialize)]
struct StatusReport {
    #[serde(flatten)]
    merged: MergedReport,
    /// Processes that write now.
    running: usize,
    /// Their threads.
    threads: usize,
    /// What they finish together.
    units_per_second: f64,
    /// Expected wall time to the end at that rate.
    #[serde(serialize_with = "as_seconds_or_null")]
    seconds_left: Option<Duration>,
    /// Expected CPU time of the missing units.
    #[serde(serialize_with = "as_seconds_or_null")]
    cpu_seconds_left: Option<Duration>,
    missing: MissingReport,
}

impl StatusReport {
    #[expect(clippy::cast_precision_loss, reason = "rates")]
    fn new(merged: &Merged, missing: MissingReport) -> Self {
        let now = SystemTime::now();
        let running: Vec<&Run> = merged
            .files
            .iter()
            .filter(|file| is_written(file, now))
            .filter_map(|file| file.runs.last())
            .filter(|run| !merged.is_complete(run.shard))
            .collect();
        let rates =
            running.iter().map(|run| run.units as f64 / run.elapsed.as_secs_f64().max(1e-3));
        // The sum of no numbers is -0.0.
        let units_per_second = rates.sum::<f64>() + 0.0;
        let threads = running.iter().map(|run| run.threads).sum();
        let running = running.len();
        let merged = MergedReport::new(merged);
        // Units that were counted twice took time twice.
        let counted = merged.finished + merged.twice;
        let cpu_per_unit = merged.cpu_seconds.as_secs_f64() / counted.max(1) as f64;
        let left = missing.units as f64;
        Self {
            running,
            threads,
            units_per_second: microseconds(units_per_second),
            seconds_left: (units_per_second > 0.0).then(|| seconds(left / units_per_second)),
            cpu_seconds_left: (counted > 0).then(|| seconds(left * cpu_per_unit)),
            merged,
            missing,
        }
    }
}

impl Report for StatusReport {
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    fn rows(&self) -> Vec<Line> {
        let MergedReport { units, finished, solutions, files, cpu_seconds, .. } = self.merged;
        let Self { running, threads, units_per_second, .. } = self;
        let percent = 100.0 * finished as f64 / units as f64;
        let done = many(finished, "unit");
        let shards = match (&self.missing.shards, self.missing.indices.as_deref()) {
            (Some(shards), Some("")) => format!("all {shards} complete"),
            (Some(shards), Some(missing)) => format!("missing {missing} (of 0..={})", shards - 1),
            _ => "unknown: the journals do not agree on how many there are".to_owned(),
        };
        let (processes, threads) = (many(files, "journal"), many(*threads, "thread"));
        let cpu_left = self.cpu_seconds_left.map_or("unknown".to_owned(), duration);
        let end = match self.seconds_left {
            _ if finished == units => "reached".to_owned(),
            Some(time) => format!("in about {} at this rate", duration(time)),
            None => "not in sight: no process is writing".to_owned(),
        };
        let mut rows = self.merged.plan_rows().to_vec();
        rows.extend([
            ("done", format!("{done}, {percent:.1} %, {solutions} solutions")),
            ("shards", shards),
            (
                "running",
                format!("{running} of {processes}, {threads}, {units_per_second:.1} units/s"),
            ),
            ("CPU time", format!("{} so far, about {cpu_left} to go", duration(cpu_seconds))),
            ("end", end),
        ]);
        rows
    }
}

fn is_written(file: &Member, now: SystemTime) -> bool {
    // A time in the future, from a clock that is ahead, is recent as well.
    file.modified
        .is_some_and(|at| now.duration_since(at).is_ok_and(|ago| ago < RECENTLY) || at > now)
}
