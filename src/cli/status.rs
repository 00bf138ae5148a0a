//! `nqueens status FILE|FOLDER...`.

mod grid;
mod page;
mod state;

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use nqueens::record::Record;

use crate::cli::exit::{Exit, Failure};
use crate::cli::file::{drawing, write_drawing};
use crate::cli::journals::{JournalsArgs, check};
use crate::cli::report::{Format, Report};

/// Show how far counts have come, what is left, and how to resume them
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare percentage of finished units")))]
#[command(after_help = "\
Examples:
  nqueens status .                         every count here and one folder below
  nqueens status q24                       the shards in folder q24
  nqueens status q22.journal --json        one count, for a script")]
pub(crate) struct StatusArgs {
    /// Write a page for a browser; FILE is replaced if it is such a page
    #[arg(long, value_name = "FILE", value_parser = drawing("html"))]
    html: Option<PathBuf>,

    #[command(flatten)]
    format: Format,

    #[command(flatten)]
    journals: JournalsArgs,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (counts, exit) = self.journals.read_plans(self.format)?;
        // What was written while they were read is not to come.
        let now = SystemTime::now();
        if let Some(path) = &self.html {
            if are_several(&counts) {
                let several =
                    "--html: the journals are of several boards or engines: name those of one";
                return Err(Exit::Usage.because(several));
            }
            write_drawing("--html", path, &page::page(&counts, &self.journals.paths, now))?;
        }
        let exit = counts.iter().fold(exit, |exit, count| exit.and(check(count)));
        Ok(exit.answer(self.format, report(&counts, now)))
    }
}

/// Whether these are counts of several plans, and not just the first and the second one of a plan.
fn are_several(counts: &[Record]) -> bool {
    counts.iter().any(|count| count.plan().hash() != counts[0].plan().hash())
}

/// One count, with the second one below it, or several one below the other.
fn report(counts: &[Record], now: SystemTime) -> Report {
    let mut reports = counts.iter().map(|count| state::report(count, now));
    if !are_several(counts) {
        let mut report = reports.next().unwrap_or_default();
        report.section("second", reports.next());
        return report;
    }
    let mut list = Report::default();
    let counts = reports.map(|report| list.put_below(report)).collect::<Vec<_>>();
    list.field("counts", counts);
    list
}
