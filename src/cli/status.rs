//! `nqueens status FILE|FOLDER...`.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use nqueens::journal::Run;
use nqueens::merge::{Member, Merged};
use serde::Serialize;

use super::answer::print;
use super::exit::{Exit, Failure};
use super::fields::{as_string, microseconds, write_json};
use super::merge::{Missing, read};
use super::options::StatusOptions;
use super::progress::short;

/// A journal is being written if it was written so recently and its shard is not complete. Units
/// take seconds, the clocks of file servers differ a little.
const RECENTLY: Duration = Duration::from_secs(60);

pub(super) fn run(options: &StatusOptions) -> Result<Exit, Failure> {
    let merged = read(&options.journals.paths)?;
    let report = StatusReport::new(&merged, Missing::of(&merged, &options.journals));
    Ok(print(Exit::Done, |out| match options.json {
        true => write_json(out, &report),
        false => report.write_text(out),
    }))
}

#[derive(Debug, Serialize)]
struct StatusReport {
    n: u32,
    engine: &'static str,
    plan: String,
    units: usize,
    finished: usize,
    #[serde(serialize_with = "as_string")]
    solutions: u128,
    files: usize,
    /// Processes that write now.
    running: usize,
    /// Their threads.
    threads: usize,
    /// What they finish together.
    units_per_second: f64,
    /// Expected time to the end at that rate.
    seconds_left: Option<f64>,
    cpu_seconds: f64,
    /// Expected core time of the missing units.
    core_seconds_left: Option<f64>,
    missing: Missing,
}

impl StatusReport {
    #[expect(clippy::cast_precision_loss, reason = "rates")]
    fn new(merged: &Merged, missing: Missing) -> Self {
        let Merged { plan, finished, files, .. } = merged;
        let now = SystemTime::now();
        let running: Vec<&Run> = files
            .iter()
            .filter(|file| is_written(file, now))
            .filter_map(|file| file.runs.last())
            .filter(|run| !merged.is_complete(run.shard))
            .collect();
        let rates =
            running.iter().map(|run| run.units as f64 / run.elapsed.as_secs_f64().max(1e-3));
        // The sum of no numbers is -0.0.
        let units_per_second = rates.sum::<f64>() + 0.0;
        let busy: Duration = files.iter().flat_map(|file| &file.runs).map(|run| run.busy).sum();
        // Units that were counted twice took time twice.
        let counted = finished.units_done() + merged.twice;
        let per_unit = busy.as_secs_f64() / counted.max(1) as f64;
        let left = missing.units as f64;
        Self {
            n: plan.size().get(),
            engine: plan.engine().name(),
            plan: format!("{:08x}", plan.hash()),
            units: plan.units(),
            finished: finished.units_done(),
            solutions: finished.solutions(),
            files: files.len(),
            running: running.len(),
            threads: running.iter().map(|run| run.threads).sum(),
            units_per_second: microseconds(units_per_second),
            seconds_left: (units_per_second > 0.0).then(|| microseconds(left / units_per_second)),
            cpu_seconds: microseconds(busy.as_secs_f64()),
            core_seconds_left: (finished.units_done() > 0).then(|| microseconds(left * per_unit)),
            missing,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { n, engine, plan, units, finished, solutions, files, .. } = self;
        let percent = 100.0 * *finished as f64 / *units as f64;
        writeln!(out, "n            {n}")?;
        writeln!(out, "plan         engine {engine}, hash {plan}, {units} units")?;
        writeln!(out, "done         {finished} units, {percent:.1} %, {solutions} solutions")?;
        let shards = match (&self.missing.of, self.missing.shards.as_deref()) {
            (Some(of), Some("")) => format!("all {of} complete"),
            (Some(of), Some(missing)) => format!("missing {missing} of {of}"),
            _ => "unknown: the journals do not agree on how many there are".to_owned(),
        };
        writeln!(out, "shards       {shards}")?;
        let Self { running, threads, units_per_second, .. } = self;
        writeln!(
            out,
            "running      {running} of {files} journals, {threads} threads, \
             {units_per_second:.1} units/s"
        )?;
        let core = duration(self.cpu_seconds);
        let left = self.core_seconds_left.map_or("unknown".to_owned(), duration);
        writeln!(out, "core time    {core} so far, about {left} to go")?;
        let end = match self.seconds_left {
            _ if finished == units => "reached".to_owned(),
            Some(seconds) => format!("in about {} at this rate", duration(seconds)),
            None => "not in sight: no process is writing".to_owned(),
        };
        writeln!(out, "end          {end}")
    }
}

fn is_written(file: &Member, now: SystemTime) -> bool {
    // A time in the future, from a clock that is ahead, is recent as well.
    file.modified
        .is_some_and(|at| now.duration_since(at).is_ok_and(|ago| ago < RECENTLY) || at > now)
}

fn duration(seconds: f64) -> String {
    short(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}
