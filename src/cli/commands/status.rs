//! `nqueens status FILE|FOLDER...`.

use std::time::{Duration, SystemTime};

use clap::Args;
use nqueens::journal::ProcessRun;
use nqueens::merge::{Member, Merged};

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::{Journals, JournalsArgs, MissingShards, number_of_shards};
use crate::cli::output::json::{self, microseconds};
use crate::cli::output::report::{Format, Report};
use crate::cli::output::text::{duration, figures, many, seconds};

/// A journal is being written if it was written so recently and its shard is not complete. Units
/// take seconds, the clocks of file servers differ a little.
const RECENTLY: Duration = Duration::from_secs(60);

/// The least error of a forecast, as a part of it, that is told.
const WORTH_TELLING: f64 = 0.05;

/// Show how far the shards have come
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens status q24                       the shards in folder q24
  nqueens status q22.journal --json        one count, for a script")]
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
        let [first, second] = self.journals.read_both()?;
        let status = |journals: Journals| {
            let missing = MissingShards::new(&journals.merged, self.shards);
            let running = Running::new(&journals.merged);
            Status { journals, missing, running }.report()
        };
        let report = match (first, second) {
            (Some(first), second) => {
                let mut report = status(first);
                report.section("second", second.map(status));
                report
            }
            (None, second) => second.map_or_else(Report::default, status),
        };
        Ok(Exit::Done.answer(Format::new(self.json, false), report))
    }
}

/// The processes that write now.
struct Running {
    processes: usize,
    threads: usize,
    /// What they finish together.
    units_per_second: f64,
}

impl Running {
    #[expect(clippy::cast_precision_loss, reason = "rates")]
    fn new(merged: &Merged) -> Self {
        let now = SystemTime::now();
        let runs = merged.files.iter().filter(|file| is_written(file, now));
        let runs: Vec<&ProcessRun> = runs
            .filter_map(|file| file.runs.last())
            .filter(|run| !merged.is_complete(run.shard))
            .collect();
        let rates = runs.iter().map(|run| run.units as f64 / run.elapsed.as_secs_f64().max(1e-3));
        Self {
            processes: runs.len(),
            threads: runs.iter().map(|run| run.threads).sum(),
            // The sum of no numbers is -0.0.
            units_per_second: rates.sum::<f64>() + 0.0,
        }
    }
}

struct Status {
    journals: Journals,
    missing: Option<MissingShards>,
    running: Running,
}

impl Status {
    /// The expected wall time to the end at the present rate.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn time_left(&self) -> Option<Duration> {
        let rate = self.running.units_per_second;
        (rate > 0.0).then(|| seconds(self.journals.units_missing as f64 / rate))
    }

    /// The expected CPU time of the missing units.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn cpu_time_left(&self) -> Option<Duration> {
        // Units that were counted twice took time twice.
        let counted = self.journals.units_done + self.journals.merged.twice;
        let left = self.journals.units_missing as f64 / counted as f64;
        (counted > 0).then(|| seconds(self.journals.cpu_time.as_secs_f64() * left))
    }

    /// What the forecast of the CPU time may be wrong by, as a part of it, if this is worth telling:
    /// two standard errors. The costs of units scatter by about their mean on large boards, so the
    /// standard error of a mean of k of them is about 1/sqrt(k).
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn forecast_error(&self) -> Option<f64> {
        let is_known = self.journals.units_done == 0 || self.journals.units_missing == 0;
        let error = 2.0 / (self.journals.units_done as f64).sqrt();
        (!is_known && error > WORTH_TELLING).then_some(error)
    }

    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    fn report(&self) -> Report {
        let Merged { plan, finished, files, .. } = &self.journals.merged;
        let percent = figures(100.0 * self.journals.units_done as f64 / plan.units() as f64);
        let (done, solutions) = (many(self.journals.units_done, "unit"), finished.solutions());
        let shards = match &self.missing {
            Some(missing) if missing.is_empty() => {
                format!("{0} of {0} complete", missing.shards)
            }
            Some(missing) => format!("missing {missing}"),
            None => "unknown: the journals do not agree on how many there are".to_owned(),
        };
        let Running { processes, threads, units_per_second } = self.running;
        let rate = figures(units_per_second);
        let (journals, busy) = (many(files.len(), "journal"), many(threads, "thread"));
        let (time_left, cpu_left) = (self.time_left(), self.cpu_time_left());
        let end = match time_left {
            _ if finished.is_complete() => "reached".to_owned(),
            Some(time) => format!("in about {} at this rate", duration(time)),
            None => "not in sight: no process is writing".to_owned(),
        };
        let cpu_time = duration(self.journals.cpu_time);
        let mut to_go = cpu_left.map_or("unknown".to_owned(), duration);
        let error = self.forecast_error();
        if let Some(error) = error {
            to_go += &format!(" (by {done} only: within {:.0} %)", 100.0 * error);
        }
        let mut report = self.journals.report();
        report
            .row("done", format_args!("{done}, {percent} %, {solutions} solutions"))
            .row("shards", shards)
            .row("running", format_args!("{processes} of {journals}, {busy}, {rate} units/s"))
            .field("running", processes)
            .field("threads", threads)
            .field("units_per_second", microseconds(units_per_second))
            .row("CPU time", format_args!("{cpu_time} so far, about {to_go} to go"))
            .field("cpu_seconds_left", cpu_left.map(json::seconds))
            .field("forecast_error", error.map(|error| (1e3 * error).round() / 1e3))
            .row("end", end)
            .field("seconds_left", time_left.map(json::seconds));
        self.journals.report_missing(&mut report, self.missing.as_ref());
        report
    }
}

fn is_written(file: &Member, now: SystemTime) -> bool {
    // A time in the future, from a clock that is ahead, is recent as well.
    file.modified
        .is_some_and(|at| now.duration_since(at).is_ok_and(|ago| ago < RECENTLY) || at > now)
}
