//! `nqueens status FILE|FOLDER...`.

mod grid;
mod history;
mod page;

use std::cmp::Reverse;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use nqueens::Shard;
use nqueens::record::{JournalFile, Record, Run, Units};

use crate::cli::exit::{Exit, Failure};
use crate::cli::file::OwnFile;
use crate::cli::format::{self, duration, figures, json_seconds, many, rounded, seconds};
use crate::cli::journals::{Journals, JournalsArgs, MissingShards};
use crate::cli::report::{Format, Report};
use crate::cli::values::number_of_shards;

/// The least error of a forecast, as a part of it, that is told.
const WORTH_TELLING: f64 = 0.05;

/// Show how far the shards have come
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare percentage of finished units")))]
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

    /// Write a page to look at in a browser, in place of an earlier one; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    format: Format,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let to_stdout = self.html.as_deref().is_some_and(|path| path.as_os_str() == "-");
        if to_stdout && (self.format.json || self.format.quiet) {
            return Err(Failure::Usage(
                "--html -: the page would go where --json and --quiet go, to standard output; name \
                 a file"
                    .to_owned(),
            ));
        }
        // Before any reading: a folder of many journals takes a while.
        let file = self.html.filter(|_| !to_stdout).map(page_file).transpose()?;
        let status = |journals: Journals| {
            let missing = MissingShards::new(&journals.record, self.shards);
            let running = Running::new(&journals.record);
            Status { journals, missing, running }
        };
        let both = self.journals.read_both()?.map(|journals| journals.map(status));
        let page = || {
            let counts: Vec<&Status> = both.iter().flatten().collect();
            page::page(&counts, self.journals.paths(), SystemTime::now())
        };
        if let Some(file) = file {
            let cannot_write =
                |error| Failure::Failed(format!("--html {}: {error}", file.path().display()));
            file.write(&page()).map_err(cannot_write)?;
        }
        if to_stdout {
            return Ok(Exit::Done.print(|out| out.write_all(page().as_bytes())));
        }
        let [first, second] = both.map(|status| status.map(|status| status.report()));
        let report = match (first, second) {
            (Some(mut first), second) => {
                first.section("second", second);
                first
            }
            (None, second) => second.unwrap_or_default(),
        };
        Ok(Exit::Done.answer(self.format, report))
    }
}

fn page_file(path: PathBuf) -> Result<OwnFile, Failure> {
    let name = path.display().to_string();
    let refused = |reason| Failure::Usage(format!("--html {name}: {reason}"));
    OwnFile::new(path, page::BEGINNING).map_err(refused)
}

/// The journals that processes write now.
struct Running(Vec<JournalFile>);

impl Running {
    fn new(record: &Record) -> Self {
        let written = record.being_written().into_iter();
        Self(written.filter(|file| !file.runs.is_empty()).cloned().collect())
    }

    /// What the processes have done so far.
    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.0.iter().filter_map(|file| file.runs.last())
    }

    fn threads(&self) -> usize {
        self.runs().map(|run| run.threads).sum()
    }

    /// What they finish together.
    fn units_per_second(&self) -> f64 {
        // The sum of no numbers is -0.0.
        self.runs().map(units_per_second).sum::<f64>() + 0.0
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates")]
fn units_per_second(run: &Run) -> f64 {
    run.units as f64 / run.elapsed.as_secs_f64().max(1e-3)
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
        let rate = self.running.units_per_second();
        (rate > 0.0).then(|| seconds(self.journals.units_missing as f64 / rate))
    }

    /// The expected CPU time of the missing units.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn cpu_time_left(&self) -> Option<Duration> {
        // Units that were counted twice took time twice.
        let counted = self.journals.units_done + self.journals.record.repeated;
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

    /// What is finished of the plan, in percent.
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    fn percent(&self) -> String {
        let (done, all) = (self.journals.units_done, self.journals.record.plan.units());
        // What is missing must not be rounded away.
        let percent = 100.0 * done as f64 / all as f64;
        figures(if done < all { percent.min(99.9) } else { percent }, 3)
    }

    /// The shard on which processes spent most wall time, and that time.
    fn longest(&self) -> Option<(Shard, Duration)> {
        let times = self.journals.record.wall_times().into_iter();
        times.max_by_key(|(shard, time)| (*time, Reverse((shard.index(), shard.shards()))))
    }

    /// The wall time in words.
    fn wall_time(&self) -> Option<String> {
        let (shard, time) = self.longest()?;
        let time = duration(time);
        if shard == Shard::WHOLE {
            let runs = many(self.journals.record.runs().count(), "run");
            return Some(format!("{time} in {runs}, without pauses"));
        }
        let shard = format::shard(shard);
        Some(format!("{time} on {shard}, the longest, without pauses"))
    }

    /// The indices of the shards that processes count now, with the plan cut into this many.
    fn running_indices(&self, shards: usize) -> Units {
        let counted = self.running.runs().map(|run| run.shard);
        counted.filter(|shard| shard.shards() == shards).map(Shard::index).collect()
    }

    /// When all will be counted, in words.
    fn end(&self) -> String {
        match self.time_left() {
            _ if self.journals.record.is_complete() => "reached".to_owned(),
            Some(time) => format!("in about {} at this rate", duration(time)),
            None if self.running.0.is_empty() => "not in sight: no process is writing".to_owned(),
            None => "not in sight: no unit is finished by those that write".to_owned(),
        }
    }

    /// The forecast of the CPU time that is left, in words.
    fn to_go(&self) -> String {
        let mut to_go = self.cpu_time_left().map_or("unknown".to_owned(), duration);
        if let Some(error) = self.forecast_error() {
            let done = many(self.journals.units_done, "unit");
            to_go += &format!(" (by {done} only: within {:.0} %)", 100.0 * error);
        }
        to_go
    }

    fn report(&self) -> Report {
        let Record { solutions, files, .. } = &self.journals.record;
        let percent = self.percent();
        let done = many(self.journals.units_done, "unit");
        let shards = match &self.missing {
            Some(missing) if missing.is_empty() => {
                format!("{0} of {0} complete", missing.shards)
            }
            Some(missing) => format!("missing: {missing}"),
            None => "unknown: the journals do not agree on how many there are".to_owned(),
        };
        let (processes, threads) = (self.running.0.len(), self.running.threads());
        let units_per_second = self.running.units_per_second();
        let rate = figures(units_per_second, 3);
        let (journals, busy) = (many(files.len(), "journal"), many(threads, "thread"));
        let (time_left, cpu_left) = (self.time_left(), self.cpu_time_left());
        let (cpu_time, to_go) = (duration(self.journals.cpu_time), self.to_go());
        let error = self.forecast_error();
        let mut report = self.journals.report();
        report
            .bare(&percent)
            .row("done", format_args!("{done}, {percent} %, {solutions} solutions"))
            .row("shards", shards)
            .row("running", format_args!("{processes} of {journals}, {busy}, {rate} units/s"))
            .field("running", processes)
            .field("threads", threads)
            .field("units_per_second", rounded(units_per_second, 6))
            .row("CPU time", format_args!("{cpu_time} measured, about {to_go} to go"))
            .field("cpu_seconds_left", cpu_left.map(json_seconds))
            .field("forecast_error", error.map(|error| rounded(error, 3)));
        if self.journals.total.is_some() {
            report.row("published", self.journals.published);
        }
        if let Some(wall_time) = self.wall_time() {
            report.row("wall time", wall_time);
        }
        report
            .field("wall_seconds", self.longest().map(|(_, time)| json_seconds(time)))
            .row("end", self.end())
            .field("seconds_left", time_left.map(json_seconds));
        self.journals.report_missing(&mut report, self.missing.as_ref());
        report
    }
}
