//! How far a count has come, and what is left of it.

use std::time::{Duration, SystemTime};

use crate::Error;
use crate::record::{Record, Running, Shards};

use crate::cli::commands::facts;
use crate::cli::output::format::shards_text;
use crate::cli::output::format::{
    duration, expected, json_seconds, many, rounded, wall_time as wall_time_text,
};
use crate::cli::output::report::Report;

/// Clocks of machines differ by less. A file that is dated later was not written then.
const SKEW: Duration = Duration::from_secs(60);

/// A count at one moment.
pub(super) struct CountState<'a> {
    pub(super) record: &'a Record,
    /// The total, if all units are settled.
    total: Option<u128>,
    /// The processes that count now.
    pub(super) running: Running<'a>,
    pub(super) now: SystemTime,
    pub(super) shards: Shards,
    /// The longest time for which a process has recorded nothing, if that is unusual.
    silence: Option<Duration>,
}

impl<'a> CountState<'a> {
    /// Looks which processes count now.
    pub(super) fn new(
        record: &'a Record,
        total: Option<u128>,
        shards: Option<usize>,
        now: SystemTime,
    ) -> Result<Self, Error> {
        let running = record.running();
        let shards = record.shards_beside(&running, shards)?;
        let silence = running.silence(now);
        Ok(Self { record, total, running, now, shards, silence })
    }

    /// Returns how much of the plan is finished, in percent.
    pub(super) fn percent(&self) -> String {
        let done = self.record.sum().units as u128;
        let all = self.record.plan().units() as u128;
        if done == all {
            return "100".to_owned();
        }
        // Rounded down, because what is missing must not be rounded away.
        let hundredths = 10_000 * done / all;
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    }

    /// Adds what is known of the count beside its plan and the command that resumes it.
    pub(super) fn add_facts(&self, report: &mut Report, damaged: Vec<String>) {
        facts::add_facts(report, self.record, self.total, &self.shards, damaged);
        let done = self.record.sum();
        let units = many(done.units, "unit");
        let percent = self.percent();
        report.row("done", format_args!("{units}, {percent} %, {} solutions", done.solutions));
        self.add_shards(report);
        self.add_processes(report);
        self.add_last_record(report);
        self.add_times(report);
    }

    /// Adds which shards are complete, running or missing. A count in one piece has no shards.
    fn add_shards(&self, report: &mut Report) {
        let Shards { number, complete, running, missing, .. } = &self.shards;
        if *number == 1 {
            return;
        }
        let mut parts = Vec::new();
        if complete.len() == *number {
            parts.push(format!("{number} of {number} complete"));
        }
        if !running.is_empty() {
            parts.push(format!("running: {}", shards_text(running, *number)));
        }
        if !missing.is_empty() {
            parts.push(format!("missing: {}", shards_text(missing, *number)));
        }
        report.row("shards", parts.join("; "));
    }

    /// Adds how many processes count now, and on how many threads.
    fn add_processes(&self, report: &mut Report) {
        let processes = self.running.files().count();
        let threads = self.running.threads();
        if processes == 0 {
            report.row("running", "no");
        } else {
            let journals = many(self.record.files().len(), "journal");
            let threads = many(threads, "thread");
            let mut text = format!("{processes} of {journals}, {threads}");
            if let Some(silence) = self.silence {
                text += &format!(", nothing recorded for {}", duration(silence));
            }
            report.row("running", text);
        }
        report.field("running", processes).field("threads", threads);
    }

    /// Adds how long ago something was recorded.
    fn add_last_record(&self, report: &mut Report) {
        let ago = self.time_since_record();
        if let Some(ago) = ago {
            report.row("last record", format_args!("{} ago", duration(ago)));
        }
        report.field("seconds_since_record", ago.map(json_seconds));
    }

    /// Returns the time since the last record, from the times of the files, because a journal records only the day on
    /// which a run began. Returns `None` if a file has a time in the future.
    fn time_since_record(&self) -> Option<Duration> {
        let last = self.record.files().iter().filter_map(|file| file.modified).max()?;
        let ago_and_skew = (self.now + SKEW).duration_since(last).ok()?;
        Some(ago_and_skew.saturating_sub(SKEW))
    }

    /// Adds the CPU time so far, and what the rest will take. After a silence of a process, nobody knows when it ends.
    fn add_times(&self, report: &mut Report) {
        let left = self.running.time_left();
        let ends = left.filter(|_| self.silence.is_none());
        let seconds = ends.and_then(|ends| ends.wall_seconds);
        let cores = ends.and_then(|ends| ends.cores);
        let mut cpu_time = format!("{} measured", duration(self.record.cpu_time()));
        if self.record.total().is_none()
            && let Some(left) = left
        {
            cpu_time += &format!(", {} to go", expected(left.cpu_seconds));
        }
        report
            .row("CPU time", cpu_time)
            .approximate("cpu_seconds_left", left.map(|left| left.cpu_seconds))
            .approximate("seconds_left", seconds)
            .field("cores", cores.map(|cores| rounded(cores, 2)));
        if self.running.is_empty() {
            return;
        }
        let text = match seconds {
            Some(seconds) => {
                let time = wall_time_text(seconds, self.running.threads(), cores);
                match self.shards.missing.len() {
                    0 => time,
                    missing => {
                        let shards = many(missing, "shard");
                        format!("{time} for the running shards, then {shards} to go")
                    }
                }
            }
            None if self.silence.is_some() => {
                "not known, because a process records nothing".to_owned()
            }
            None => "too early to say".to_owned(),
        };
        report.row("time left", text);
    }
}
