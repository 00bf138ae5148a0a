//! `nqueens merge FILE|FOLDER...`.

mod twice;

use std::path::{Path, PathBuf};

use clap::Args;
use nqueens::memory::readable;
use nqueens::record::{Saved, Units, half_open};
use serde_json::json;

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::many;
use crate::cli::journals::{Journals, JournalsArgs, MissingShards};
use crate::cli::report::{Format, Report};
use crate::cli::stderr::{escaped, message};
use crate::cli::values::{file, number_of_shards};

/// Add up the shards: the total, if no unit is missing
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare total")))]
#[command(after_help = "\
Examples:
  nqueens merge q24                        the total of the shards in folder q24
  nqueens merge q24 --into q24.journal     and one journal in place of many")]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    journals: JournalsArgs,

    /// How many shards there are, to name those that are missing [default: as in the journals]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = number_of_shards)]
    shards: Option<usize>,

    /// Pack everything that is finished into one new journal, also before the end. Journals that no
    /// process writes any more can then be removed
    #[arg(long, value_name = "NEW", value_parser = file())]
    into: Option<PathBuf>,

    /// Compare the first count with the second one, unit by unit: the total, if every unit was counted
    /// twice with equal counts
    #[arg(long, conflicts_with_all = ["second", "into"])]
    twice: bool,

    #[command(flatten)]
    format: Format,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let format = self.format;
        if self.twice {
            let (exit, report) = twice::run(self.journals.read_both()?, self.shards)?;
            return Ok(exit.answer(format, report));
        }
        let journals = self.journals.read()?;
        let pack = |into| Ok::<_, Failure>((into, journals.record.save(into, &Units::new())?));
        let packed = self.into.as_deref().map(pack).transpose()?;
        let missing = MissingShards::new(&journals.record, self.shards);
        let mut exit = journals.check_published();
        if journals.total.is_none() {
            tell_missing(&journals, missing.as_ref());
            exit = Exit::Stopped;
        }
        let mut report = report(&journals, missing.as_ref());
        if let Some((into, packed)) = packed {
            tell_packed(&mut report, into, packed);
        }
        Ok(exit.answer(format, report))
    }
}

fn tell_missing(journals: &Journals, missing: Option<&MissingShards>) {
    let units = journals.units_missing;
    let are = if units == 1 { "is" } else { "are" };
    let all = many(journals.record.plan.units(), "unit");
    match missing {
        Some(missing) if missing.shards == 1 => {
            message!("{units} of {all} {are} missing: run the same count again to resume it");
        }
        Some(missing) => {
            message!("{units} of {all} {are} missing, in {missing}: run these again");
        }
        None => message!(
            "{units} of {all} {are} missing, the first is {}: run their shards again (the journals \
             do not agree on how many there are; --shards names those that are missing)",
            half_open(&journals.record.missing()).next().map_or(0, |range| range.start)
        ),
    }
}

fn tell_packed(report: &mut Report, into: &Path, packed: Saved) {
    let Saved { bytes, bytes_before, .. } = packed;
    let path = escaped(into.display());
    // The text of an unfinished count goes to stderr.
    message!("packed {} into {} of {path}", readable(bytes_before), readable(bytes));
    report.field("packed", json!({ "file": path, "bytes": bytes, "bytes_before": bytes_before }));
}

fn report(journals: &Journals, missing: Option<&MissingShards>) -> Report {
    let (files, twice) = (journals.record.files.len(), many(journals.record.repeated, "unit"));
    let mut report = journals.report();
    journals.report_total(&mut report);
    journals.report_missing(&mut report, missing);
    report
        .row("journals", format_args!("{files}, {twice} in more than one, all with equal counts"))
        .row("CPU time", format_args!("{:.3} s", journals.cpu_time.as_secs_f64()));
    if journals.total.is_none() {
        report.without_text();
    }
    report
}
