//! `nqueens merge FILE|FOLDER...`.

use clap::Args;
use serde_json::Value;

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::{
    JournalsArgs, MergedReport, MissingShards, missing_json, number_of_shards,
};
use crate::cli::output::stderr::message;
use crate::cli::output::text::many;

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
        Ok(exit.answer(Format::new(self.json, self.quiet), &MergeReport { merged, missing }))
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

struct MergeReport {
    merged: MergedReport,
    missing: Option<MissingShards>,
}

impl Report for MergeReport {
    /// Without a total there is no answer.
    fn rows(&self) -> Vec<Line> {
        let MergedReport { merged, cpu_time, total, .. } = &self.merged;
        if total.is_none() {
            return Vec::new();
        }
        let (files, twice) = (merged.files.len(), many(merged.twice, "unit"));
        let mut rows = self.merged.plan_rows();
        rows.splice(1..1, self.merged.total_rows());
        rows.extend([
            ("journals", format!("{files}, {twice} in more than one, all with equal counts")),
            ("CPU time", format!("{:.3} s", cpu_time.as_secs_f64())),
        ]);
        rows
    }

    fn json(&self) -> Value {
        let mut json = self.merged.json();
        json["missing"] = missing_json(&self.merged.merged, self.missing.as_ref());
        json
    }

    fn numbers(&self) -> Vec<u128> {
        self.merged.total.into_iter().collect()
    }
}
