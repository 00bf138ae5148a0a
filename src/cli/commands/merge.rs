//! `nqueens merge FILE|FOLDER...`.

use clap::Args;
use serde::Serialize;

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::{JournalsArgs, MergedReport, MissingReport, number_of_shards};
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
        let merged = self.journals.read()?;
        let missing = MissingReport::new(&merged, self.shards);
        let report = MergeReport { merged: MergedReport::new(&merged), missing };
        let mut exit = report.merged.check_published();
        if report.missing.units > 0 {
            report.tell_missing();
            exit = Exit::Stopped;
        }
        Ok(exit.answer(Format::new(self.json, self.quiet), &report))
    }
}

#[derive(Debug, Serialize)]
struct MergeReport {
    #[serde(flatten)]
    merged: MergedReport,
    missing: MissingReport,
}

impl MergeReport {
    fn tell_missing(&self) {
        let MissingReport { units, shards, indices, .. } = &self.missing;
        let are = if *units == 1 { "is" } else { "are" };
        let all = many(self.merged.units, "unit");
        match (shards, indices) {
            (Some(shards), Some(indices)) => message!(
                "{units} of {all} {are} missing, in shards {indices} (of 0..={}): run these again",
                shards - 1
            ),
            _ => message!(
                "{units} of {all} {are} missing, the first is {}: run their shards again (the \
                 journals do not agree on how many there are; --shards names those that are missing)",
                self.missing.first_unit()
            ),
        }
    }
}

impl Report for MergeReport {
    /// Without a total there is no answer.
    fn rows(&self) -> Vec<Line> {
        let MergedReport { total: Some(total), published, files, twice, cpu_seconds, .. } =
            &self.merged
        else {
            return Vec::new();
        };
        let [n, plan] = self.merged.plan_rows();
        let twice = many(*twice, "unit");
        vec![
            n,
            ("total", total.to_string()),
            ("published", published.to_string()),
            plan,
            ("journals", format!("{files}, {twice} in more than one, all with equal counts")),
            ("CPU time", format!("{:.3} s", cpu_seconds.as_secs_f64())),
        ]
    }

    fn numbers(&self) -> Vec<u128> {
        self.merged.total.into_iter().collect()
    }
}
