//! `nqueens merge FILE|FOLDER...`.

mod twice;

use std::path::PathBuf;

use clap::Args;
use nqueens::memory::readable;
use nqueens::record::{Record, Units};
use serde_json::json;

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{many, measured};
use crate::cli::journals::{Journals, JournalsArgs};
use crate::cli::report::{Format, Report};
use crate::cli::stderr::{escaped, message};
use crate::cli::values::file;

/// Add up the shards: the total, if no unit is missing
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare total")))]
#[command(after_help = "\
Examples:
  nqueens merge q24                        the total of the shards in folder q24
  nqueens merge q24 --into q24.journal     and one journal in place of many")]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    format: Format,

    #[command(flatten)]
    journals: JournalsArgs,

    /// Pack everything that is finished into one new journal, also before the end. Journals that no
    /// process writes any more can then be removed
    #[arg(long, value_name = "NEW", value_parser = file())]
    into: Option<PathBuf>,

    /// Compare the first count with the second one, unit by unit: the total, if every unit was counted
    /// twice with equal counts
    #[arg(long, conflicts_with_all = ["second", "into"])]
    twice: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if self.twice {
            let (exit, report) = twice::run(self.journals.read_both()?)?;
            return Ok(exit.answer(self.format, report));
        }
        let journals = self.journals.read()?;
        let mut report = report(&journals);
        if let Some(into) = &self.into {
            let packed = journals.record.save(into, &Units::new())?;
            let bytes = |record: &Record| record.files.iter().map(|file| file.bytes).sum::<u64>();
            let (bytes_before, bytes) = (bytes(&journals.record), bytes(&packed));
            let file = escaped(into.display());
            // The text of an unfinished count goes to stderr.
            message!("packed {} into {} of {file}", readable(bytes_before), readable(bytes));
            let packed = json!({ "file": file, "bytes": bytes, "bytes_before": bytes_before });
            report.field("packed", packed);
        }
        let mut exit = journals.check_published();
        if journals.total.is_none() {
            message!("{}", journals.lacks());
            report.without_text();
            exit = Exit::Stopped;
        }
        Ok(exit.answer(self.format, report))
    }
}

fn report(journals: &Journals) -> Report {
    let (files, twice) = (journals.record.files.len(), many(journals.record.repeated, "unit"));
    let mut report = journals.report();
    report
        .number("total", journals.total)
        .published(journals.published)
        .row("journals", format_args!("{files}, {twice} in more than one, all with equal counts"))
        .row("CPU time", measured(journals.cpu_time));
    report
}
