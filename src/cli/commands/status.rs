//! `nqueens status FILE|FOLDER...`: how far a count has come, as text, JSON or a page.

mod grid;
mod page;
mod resume;
mod state;

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;

use crate::cli::commands::facts::damaged_files;
use crate::cli::commands::merged::{Merged, twice_text};
use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::input::drawing::{drawing, write_drawing};
use crate::cli::input::journals::JournalsArgs;
use crate::cli::output::report::Report;
use crate::cli::output::stderr::message;
use resume::Resume;
use state::CountState;

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
        if records.all().is_empty() {
            return Err(self.journals.nothing_recorded());
        }
        // Taken after reading, so that no journal seems to be written in the future.
        let now = SystemTime::now();
        let merged = Merged::new(&records, self.journals.shards)?;
        let mut counts = Vec::new();
        for record in &merged.records {
            let total = merged.total_of(record);
            counts.push(CountState::new(record, total, self.journals.shards, now)?);
        }
        let mut exit = merged.judge();
        if let Some(path) = &self.html {
            let page = page::page(&counts, &self.journals.paths);
            write_drawing("--html", path, &page)?;
        }
        if merged.records.iter().all(|record| record.sum().units == 0) {
            message!("no unit is recorded yet");
            exit = exit.and(Exit::Stopped);
        }
        let damaged = damaged_files(records.left_out());
        Ok(exit.answer(self.journals.format, report(&merged, &counts, &damaged)))
    }
}

/// Returns the report on the first count and, below it, on the second one. Their objects are one.
fn report(merged: &Merged<'_>, counts: &[CountState<'_>], damaged: &[String]) -> Report {
    let mut reports = counts.iter().map(|count| report_on(count, damaged.to_vec()));
    let mut report = reports.next().unwrap_or_default();
    let second = reports.next().map(|second| report.put_below(second));
    let mut counted_twice = 0;
    let mut differing = 0;
    if let Some(both) = &merged.both {
        counted_twice = both.counted_twice;
        differing = both.differing.len();
        let units = merged.records[0].plan().units();
        report.row("", "").row("twice", twice_text(both, units));
    }
    report
        .field("counted_twice", counted_twice)
        .field("differing", differing)
        .field("second", second);
    report
}

/// Returns the report on a count, with the command that resumes it.
fn report_on(count: &CountState<'_>, damaged: Vec<String>) -> Report {
    let mut report = Report::default();
    report.plan(count.record.plan()).bare(count.percent());
    count.add_facts(&mut report, damaged);
    let mut command = None;
    match Resume::of(count) {
        Resume::Finished | Resume::Running => {}
        Resume::Command(text) => {
            report.row("resume", &text);
            command = Some(text);
        }
        Resume::Obstacle(reason) => {
            report.row("resume", reason);
        }
    }
    report.field("resume", command);
    report
}
