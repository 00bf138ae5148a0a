//! How far a count has come, and what is left of it.

use std::cmp::Reverse;
use std::time::{Duration, SystemTime};

use nqueens::Shard;
use nqueens::record::{JournalFile, Run, Units};

use crate::cli::format::{self, duration, figures, json_seconds, many, rounded, seconds};
use crate::cli::journals::Journals;
use crate::cli::report::Report;

pub(super) struct Status {
    pub(super) journals: Journals,
    /// The journals that processes write now.
    pub(super) running: Vec<JournalFile>,
    pub(super) now: SystemTime,
}

/// What a process finishes.
pub(super) fn units_per_second(run: &Run) -> f64 {
    run.units as f64 / run.elapsed.as_secs_f64().max(1e-3)
}

impl Status {
    pub(super) fn new(journals: Journals, now: SystemTime) -> Self {
        let written = journals.record.being_written().into_iter();
        let running = written.filter(|file| !file.runs.is_empty()).cloned().collect();
        Self { journals, running, now }
    }

    /// What the processes that write now have done so far.
    fn running_runs(&self) -> impl Iterator<Item = &Run> {
        self.running.iter().filter_map(|file| file.runs.last())
    }

    /// The indices of the shards that processes count now, with the plan cut into this many.
    pub(super) fn running_indices(&self, shards: usize) -> Units {
        let counted = self.running_runs().map(|run| run.shard);
        counted.filter(|shard| shard.shards() == shards).map(Shard::index).collect()
    }

    /// What is finished of the plan, in percent.
    pub(super) fn percent(&self) -> String {
        let (done, all) = (self.journals.units_done, self.journals.record.plan.units());
        // What is missing must not be rounded away.
        let percent = 100.0 * done as f64 / all as f64;
        figures(if done < all { percent.min(99.9) } else { percent }, 3)
    }

    /// The time since a process last wrote, by the clock of the file system: journals have no dates.
    fn since_last_record(&self) -> Option<Duration> {
        let last = self.journals.record.files.iter().filter_map(|file| file.modified).max()?;
        // Clocks differ a little.
        Some(self.now.duration_since(last).unwrap_or_default())
    }

    /// The shard on which processes spent most wall time, and that time.
    fn longest(&self) -> Option<(Shard, Duration)> {
        let times = self.journals.record.wall_times().into_iter();
        times.max_by_key(|(shard, time)| (*time, Reverse((shard.index(), shard.shards()))))
    }

    /// The expected CPU time of the missing units.
    fn cpu_time_left(&self) -> Option<Duration> {
        // Units that were counted twice took time twice.
        let counted = self.journals.units_done + self.journals.record.repeated;
        let left = self.journals.units_missing as f64 / counted as f64;
        (counted > 0).then(|| seconds(self.journals.cpu_time.as_secs_f64() * left))
    }

    pub(super) fn report(&self) -> Report {
        let Journals { record, units_done, units_missing, missing, .. } = &self.journals;
        let (percent, done) = (self.percent(), many(*units_done, "unit"));
        let shards = match missing {
            Some(missing) if missing.indices.is_empty() => {
                format!("{0} of {0} complete", missing.shards)
            }
            Some(missing) => format!("missing: {missing}"),
            None => "unknown: the journals do not agree on how many there are".to_owned(),
        };
        let processes = self.running.len();
        let threads = self.running_runs().map(|run| run.threads).sum::<usize>();
        // The sum of no numbers is -0.0.
        let rate = self.running_runs().map(units_per_second).sum::<f64>() + 0.0;
        let (journals, busy) = (many(record.files.len(), "journal"), many(threads, "thread"));
        let cpu_left = self.cpu_time_left();
        let to_go = cpu_left.map_or("unknown".to_owned(), duration);
        let time_left = (rate > 0.0).then(|| seconds(*units_missing as f64 / rate));
        let end = match time_left {
            _ if record.is_complete() => "reached".to_owned(),
            Some(time) => format!("in about {} at this rate", duration(time)),
            None if processes == 0 => "not in sight: no process is writing".to_owned(),
            None => "not in sight: no unit is finished by those that write".to_owned(),
        };
        let (since, longest) = (self.since_last_record(), self.longest());
        let mut report = self.journals.report();
        report
            .bare(&percent)
            .row("done", format_args!("{done}, {percent} %, {} solutions", record.solutions))
            .row("shards", shards)
            .row(
                "running",
                format_args!("{processes} of {journals}, {busy}, {} units/s", figures(rate, 3)),
            )
            .field("running", processes)
            .field("threads", threads)
            .field("units_per_second", rounded(rate, 6));
        if let Some(since) = since {
            report.row("last record", format_args!("{} ago", duration(since)));
        }
        let cpu_time = duration(self.journals.cpu_time);
        report
            .field("seconds_since_record", since.map(json_seconds))
            .row("CPU time", format_args!("{cpu_time} measured, about {to_go} to go"))
            .field("cpu_seconds_left", cpu_left.map(json_seconds));
        if self.journals.total.is_some() {
            report.row("published", self.journals.published);
        }
        if let Some((shard, time)) = longest {
            let whose = match shard {
                Shard::WHOLE => format!("in {}", many(record.runs().count(), "run")),
                _ => format!("on {}, the longest", format::shard(shard)),
            };
            report.row("wall time", format_args!("{} {whose}, without pauses", duration(time)));
        }
        report
            .field("wall_seconds", longest.map(|(_, time)| json_seconds(time)))
            .row("end", end)
            .field("seconds_left", time_left.map(json_seconds));
        report
    }
}
