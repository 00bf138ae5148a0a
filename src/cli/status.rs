//! `nqueens status FILE|FOLDER...`: how far counts have come, as text, JSON or a page.

mod grid;
mod page;
mod state;

use std::path::PathBuf;
use std::time::SystemTime;

use crate::record::Record;
use clap::Args;

use crate::cli::exit::{Exit, Failure};
use crate::cli::file::{drawing, write_drawing};
use crate::cli::journals::{JournalsArgs, check};
use crate::cli::report::Report;
use crate::cli::stderr::message;

/// Show what is finished, what is left, and the command that resumes a count
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the percentage of finished units")))]
#[command(after_help = "\
Examples:
  nqueens status .                         every count in this folder
  nqueens status q24                       the shards in folder q24
  nqueens status q22.journal --json        one count, for a script")]
pub(crate) struct StatusArgs {
    /// Write a page for a browser, and replace FILE if there is one
    #[arg(long, value_name = "FILE", value_parser = drawing("html"))]
    html: Option<PathBuf>,

    #[command(flatten)]
    journals: JournalsArgs,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (counts, mut exit) = self.journals.read_plans()?;
        // Taken after reading, so that no journal seems to be written in the future.
        let now = SystemTime::now();
        if let Some(path) = &self.html {
            let page = page::page(&counts, &self.journals.paths, now);
            write_drawing("--html", path, &page)?;
        }
        for count in &counts {
            exit = exit.and(check(count));
        }
        if counts.iter().all(|count| count.sum().units == 0) {
            message!("no unit is recorded yet");
            exit = exit.and(Exit::Stopped);
        }
        Ok(exit.answer(self.journals.format, report(&counts, now)))
    }
}

/// Returns a report on counts, one below the other. A first count and its second one, which have one plan, are one
/// object. Counts of several plans are a list.
fn report(counts: &[Record], now: SystemTime) -> Report {
    let mut reports = counts.iter().map(|count| state::report(count, counts, now));
    let is_one_plan = counts.iter().all(|count| count.plan().hash() == counts[0].plan().hash());
    if is_one_plan {
        let mut report = reports.next().unwrap_or_default();
        let second = reports.next().map(|second| report.put_below(second));
        report.field("second", second);
        return report;
    }
    let mut report = Report::default();
    let mut objects = Vec::new();
    for count in reports {
        objects.push(report.put_below(count));
    }
    report.field("counts", objects);
    report
}
