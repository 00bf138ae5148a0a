//! `nqueens status FILE|FOLDER...`.

mod grid;
mod page;
mod resume;
mod state;

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;

use crate::cli::exit::{Exit, Failure};
use crate::cli::file::{check_drawing, drawing, write_drawing};
use crate::cli::journals::JournalsArgs;
use crate::cli::report::{Format, Report};
use crate::cli::stderr::message;
use state::Status;

/// Show how far counts have come, what is left, and how to resume them
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare percentage of finished units")))]
#[command(after_help = "\
Examples:
  nqueens status .                         every count here and one level below
  nqueens status q24                       the shards in folder q24
  nqueens status q22.journal --json        one count, for a script")]
pub(crate) struct StatusArgs {
    /// Write a page to look at in a browser, in place of an earlier one
    #[arg(long, value_name = "FILE", value_parser = drawing("html"))]
    html: Option<PathBuf>,

    #[command(flatten)]
    format: Format,

    #[command(flatten)]
    journals: JournalsArgs,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        // Before any reading: a folder of many journals takes a while.
        if let Some(path) = &self.html {
            check_drawing("--html", path)?;
        }
        let now = SystemTime::now();
        let status = |journals| Status::new(journals, now);
        let mut plans = self.journals.read_plans()?;
        if plans.len() > 1 {
            if self.html.is_some() {
                return Err(Exit::Usage.because(
                    "--html: the journals are of several boards or engines; name those of one of them",
                ));
            }
            let plans =
                plans.into_iter().map(|plan| plan.map(|both| both.map(|one| one.map(status))));
            return list(plans.collect(), self.format);
        }
        let counts = plans.remove(0)?.map(|journals| journals.map(status));
        if let Some(path) = &self.html {
            let page = page::page(&counts, &self.journals.paths);
            write_drawing("--html", path, &page)?;
        }
        let exit = check(&counts);
        let mut reports = counts.iter().flatten().map(Status::report);
        let mut report = reports.next().unwrap_or_default();
        report.section("second", reports.next());
        Ok(exit.answer(self.format, report))
    }
}

/// Prints it if a total is not the published one.
fn check(counts: &[Option<Status>; 2]) -> Exit {
    counts.iter().flatten().fold(Exit::Done, |exit, count| exit.or(count.journals.check()))
}

/// Lists the counts of several plans. Those that cannot be read are told of.
fn list(plans: Vec<Result<[Option<Status>; 2], Failure>>, format: Format) -> Result<Exit, Failure> {
    let (mut report, mut objects, mut exit) = (Report::default(), Vec::new(), Exit::Done);
    for plan in plans {
        let counts = plan.unwrap_or_else(|failure| {
            message!("warning: left out: {failure}");
            exit = Exit::Failed;
            [None, None]
        });
        exit = exit.or(check(&counts));
        for count in counts.iter().flatten() {
            let [summary, command] = count.summary();
            report.row("count", summary).bare(count.percent());
            if !command.is_empty() {
                report.row("", command);
            }
            objects.push(count.report().into_value());
        }
    }
    report.field("counts", objects);
    Ok(exit.answer(format, report))
}
