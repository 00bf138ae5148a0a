//! `nqueens status FILE|FOLDER...`: how far a count has come, as text, JSON or a page.

mod page;
mod resume;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::record::Shards;
use clap::Args;

use crate::cli::commands::journals::{CountState, Journals, JournalsArgs, twice_text};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::files::{drawing, write_drawing};
use crate::cli::print::format::{
    duration, expected, json_seconds, many, percent, rounded, shards_text, wall_time,
};
use crate::cli::print::report::Report;
use crate::cli::stderr::message;
use resume::Resume;

/// Clocks of machines differ by less. A file that is dated later was not written then.
const SKEW: Duration = Duration::from_secs(60);

/// Show what is finished, what is left, and the command that resumes a count
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the percentage of finished units")))]
#[command(after_help = "\
Examples:
  nqueens status q24                       the shards in folder q24
  nqueens status q22 --json                one count, for a script")]
pub(crate) struct StatusArgs {
    /// Write a page for a browser, and replace FILE if there is one
    #[arg(long, value_name = "FILE", value_parser = drawing("html"))]
    html: Option<PathBuf>,

    #[command(flatten)]
    journals: JournalsArgs,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let records = self.journals.read()?;
        let journals = Journals::new(&records, &self.journals)?;
        // Taken after reading, so that no journal seems to be written in the future.
        let now = SystemTime::now();
        let mut exit = journals.judge();
        let report = report(&journals, now);
        if let Some(path) = &self.html {
            let page = page::page(&report, &journals.counts, &self.journals.paths, now);
            write_drawing("--html", path, &page)?;
        }
        if journals.counts.iter().all(|count| count.record.sum().units == 0) {
            message!("no unit is recorded yet");
            exit = exit.and(Exit::Stopped);
        }
        Ok(exit.answer(self.journals.format, report))
    }
}

/// Returns the report on the first pass and, below it, on the second one. Their objects are one.
fn report(journals: &Journals<'_>, now: SystemTime) -> Report {
    let mut reports = journals.counts.iter().map(|count| {
        let mut report = Report::default();
        report.plan(count.record.plan()).bare(percent_done(count));
        count.add_facts(&mut report, journals.damaged_files());
        count.add_state(&mut report, now);
        report
    });
    let mut report = reports.next().unwrap_or_default();
    let second = reports.next().map(|second| report.put_below(second));
    let mut counted_twice = 0;
    let mut differing = 0;
    if let Some(both) = &journals.both {
        counted_twice = both.counted_twice;
        differing = both.differing.len();
        let units = journals.counts[0].record.plan().units();
        report.row("", "").row("twice", twice_text(both, units));
    }
    report
        .field("counted_twice", counted_twice)
        .field("differing", differing)
        .field("second", second);
    report
}

/// Returns how much of a count is finished, in percent.
fn percent_done(count: &CountState<'_>) -> String {
    percent(count.record.sum().units as u128, count.record.plan().units() as u128)
}

impl CountState<'_> {
    /// Adds how far the count is, and the command that resumes it.
    fn add_state(&self, report: &mut Report, now: SystemTime) {
        let done = self.record.sum();
        let units = many(done.units, "unit");
        let percent = percent_done(self);
        report.row("done", format_args!("{units}, {percent} %, {} solutions", done.solutions));
        self.add_shards(report);
        let silence = self.running.silence(now);
        self.add_processes(report, silence);
        self.add_last_record(report, now);
        self.add_times(report, silence);
        let command = match Resume::of(self) {
            Resume::Nothing => None,
            Resume::Command(command) => {
                report.row("resume", &command);
                Some(command)
            }
            Resume::NotInOneFolder => {
                let advice =
                    "first move all journals into one folder, with names that end in .journal";
                report.row("resume", advice);
                None
            }
        };
        report.field("resume", command);
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

    /// Adds how many processes count now, and on how many threads. `silence` is the longest time for which a process
    /// has recorded nothing, if that is unusual.
    fn add_processes(&self, report: &mut Report, silence: Option<Duration>) {
        let processes = self.running.files().count();
        let threads = self.running.threads();
        if processes == 0 {
            report.row("running", "no");
        } else {
            let journals = many(self.record.files().len(), "journal");
            let threads = many(threads, "thread");
            let mut text = format!("{processes} of {journals}, {threads}");
            if let Some(silence) = silence {
                text += &format!(", nothing recorded for {}", duration(silence));
            }
            report.row("running", text);
        }
        report.field("running", processes).field("threads", threads);
    }

    /// Adds how long ago something was recorded.
    fn add_last_record(&self, report: &mut Report, now: SystemTime) {
        let ago = self.time_since_record(now);
        if let Some(ago) = ago {
            report.row("last record", format_args!("{} ago", duration(ago)));
        }
        report.field("seconds_since_record", ago.map(json_seconds));
    }

    /// Returns the time since the last record, from the times of the files, because a journal records only the day on
    /// which a run began. Returns `None` if a file has a time in the future.
    fn time_since_record(&self, now: SystemTime) -> Option<Duration> {
        let last = self.record.files().iter().filter_map(|file| file.modified).max()?;
        let ago_and_skew = (now + SKEW).duration_since(last).ok()?;
        Some(ago_and_skew.saturating_sub(SKEW))
    }

    /// Adds the CPU time so far, and what the rest will take. After a silence of a process, nobody knows when it ends.
    fn add_times(&self, report: &mut Report, silence: Option<Duration>) {
        let left = self.running.time_left();
        let ends = left.filter(|_| silence.is_none());
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
                let time = wall_time(seconds, self.running.threads(), cores);
                match self.shards.missing.len() {
                    0 => time,
                    missing => {
                        let shards = many(missing, "shard");
                        format!("{time} for the running shards, then {shards} to go")
                    }
                }
            }
            None if silence.is_some() => "not known, because a process records nothing".to_owned(),
            None => "too early to say".to_owned(),
        };
        report.row("time left", text);
    }
}
