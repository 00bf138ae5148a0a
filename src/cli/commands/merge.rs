//! `nqueens merge FILE|FOLDER...`.

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::{
    JournalsArgs, MergedReport, MissingShards, missing_json, number_of_shards,
};
use crate::cli::output::report::{Format, Report};
use crate::cli::output::stderr::message;
use crate::cli::output::text::many;
use clap::Args;

/// Add up the shards: the total, if no unit is missing
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    journals: JournalsArgs,

    /// How many shards there are, to name those that are missing [default: as in the journals]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = number_of_shards)]
    shards: Option<usize>,

    /// Print one JSON object
    #[arg(long, conflicts_with = "quiet")]
    json: bool,

    /// Print the bare total
    #[arg(long, short)]
    quiet: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let merged = MergedReport::new(self.journals.read()?);
        let missing = MissingShards::new(&merged.merged, self.shards);
        let mut exit = merged.check_published();
        if merged.total.is_none() {
            tell_missing(&merged, missing.as_ref());
            exit = Exit::Stopped;
        }
        let report = report(&merged, missing.as_ref());
        Ok(exit.answer(Format::new(self.json, self.quiet), report))
    }
}

fn tell_missing(report: &MergedReport, missing: Option<&MissingShards>) {
    let units = report.missing_units();
    let are = if units == 1 { "is" } else { "are" };
    let all = many(report.merged.plan.units(), "unit");
    match missing {
        Some(MissingShards { shards, indices }) => message!(
            "{units} of {all} {are} missing, in shards {indices} (of 0..={}): run these again",
            shards - 1
        ),
        None => message!(
            "{units} of {all} {are} missing, the first is {}: run their shards again (the journals \
             do not agree on how many there are; --shards names those that are missing)",
            report.merged.missing_units().first().map_or(0, |range| range.start)
        ),
    }
}

fn report(merged: &MergedReport, missing: Option<&MissingShards>) -> Report {
    let (files, twice) = (merged.merged.files.len(), many(merged.merged.twice, "unit"));
    let mut report = merged.report();
    merged.report_total(&mut report);
    report
        .row("journals", format_args!("{files}, {twice} in more than one, all with equal counts"))
        .row("CPU time", format_args!("{:.3} s", merged.cpu_time.as_secs_f64()))
        .field("missing", missing_json(&merged.merged, missing));
    if merged.total.is_none() {
        report.without_text();
    }
    report
}
