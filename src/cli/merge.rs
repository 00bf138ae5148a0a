//! `nqueens merge FILE|FOLDER...`.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use indicatif::BinaryBytes;
use nqueens::Published;
use nqueens::record::{Record, Witness, compare};
use serde_json::{Value, json};

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, grouped, many};
use crate::cli::journals::{self, JournalsArgs, check};
use crate::cli::report::{Format, Report};
use crate::cli::signals::cancel_on_signals;
use crate::cli::stderr::{escaped, message, print_first};
use crate::cli::values::{path_in_folder, range};

/// Parses units as they are written on the command line: `17`, `40-43` or `40..=43`.
fn parse_units(text: &str) -> Result<Range<usize>, String> {
    let units = range(text, |number| number.parse::<usize>().map_err(|error| error.to_string()))?;
    Ok(*units.start()..units.end().saturating_add(1))
}

/// Add up the journals of a count, and print the total if no unit is missing
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare total")))]
#[command(after_help = "\
Examples:
  nqueens merge q24                        the total of the shards in folder q24
  nqueens merge q24 --into q24.journal     also packs them into one journal
  nqueens merge old.journal --into new.journal    the good lines of old.journal")]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    format: Format,

    #[command(flatten)]
    journals: JournalsArgs,

    /// Pack all finished units into a new journal, also for unfinished counts; journals that are not in
    /// use can then be deleted
    #[arg(long, value_name = "NEW", value_parser = path_in_folder())]
    into: Option<PathBuf>,

    /// Leave these units out of NEW: numbers and ranges, for example 17,40-43
    #[arg(long, value_name = "UNITS", value_delimiter = ',', value_parser = parse_units, requires = "into")]
    without: Vec<Range<usize>>,

    /// Compare the first and the second count unit by unit, and print the total if all units agree
    #[arg(long, conflicts_with_all = ["second", "into"])]
    twice: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if self.twice {
            return self.compare_counts();
        }
        let mut record = self.journals.read(self.format)?;
        // What is left out on purpose is no damage.
        let mut exit = check(&record);
        if let Some(end) = self.without.iter().map(|units| units.end).max() {
            let (units, last) = (record.plan().units(), end - 1);
            if last >= units {
                let text = format!("--without: there is no unit {last}: choose 0 to {}", units - 1);
                return Err(Exit::Usage.because(text));
            }
            record = record.without(&self.without.into_iter().collect())?;
        }
        let mut report = report_journals(&record);
        if let Some(into) = &self.into {
            let packed = record.save(into, &cancel_on_signals()?)?;
            let (file, bytes) = (escaped(into.display()), packed.files()[0].bytes);
            // The text of an unfinished count goes to stderr.
            message!("packed into {file} ({})", BinaryBytes(bytes));
            report.field("packed", json!({ "file": file, "bytes": bytes }));
        }
        if let Some(total) = record.total() {
            report.bare(total);
        } else {
            message!("{}", self.journals.describe_missing(&record));
            report.without_text();
            exit = exit.and(Exit::Stopped);
        }
        Ok(exit.answer(self.format, report))
    }

    /// Compares both counts. There is a total only if they agree on every unit.
    fn compare_counts(&self) -> Result<Exit, Failure> {
        let [first, second] = &self.journals.read_both(self.format)?;
        let comparison = compare(first, second)?;
        let plan = first.plan();
        let is_proof = comparison.units == plan.units() && comparison.differing == 0;
        let counted = format!(
            "{} of {} counted twice",
            grouped(comparison.units),
            many(plan.units(), "unit")
        );
        let counts = [("first", first), ("second", second)];

        let exit =
            if comparison.differing > 0 { Exit::Failed } else { check(first).and(check(second)) };
        print_first(comparison.disagreements.iter().map(|[first, second]| {
            format!("unit {} differs: first count {first}, second {second}", first.unit)
        }));
        if comparison.differing > 0 {
            message!(
                "the counts differ in {}: at least one machine made errors; 'nqueens verify' shows which \
                 count is wrong, merge --without leaves its units out",
                many(comparison.differing, "unit")
            );
        } else if !is_proof {
            message!("{counted}, all with equal counts");
            for (name, record) in counts.iter().filter(|(_, record)| record.total().is_none()) {
                message!("{name} count: {}", self.journals.describe_missing(record));
            }
        }

        let mut report = Report::default();
        report.plan(plan).number("total", first.total().filter(|_| is_proof));
        let published = if is_proof { first.published() } else { Published::Unknown };
        report.entry("published", published.to_string());
        report
            .row("twice", format_args!("{counted}, all with equal counts"))
            .field("counted_twice", comparison.units)
            .field("differing", comparison.differing)
            .field(
                "differences",
                comparison.disagreements.iter().map(difference).collect::<Vec<_>>(),
            );
        for (name, record) in counts {
            let mut part = report_journals(record);
            let machines: BTreeSet<_> = record.runs().map(|run| run.machine.as_str()).collect();
            part.entry("machines", machines.into_iter().collect::<Vec<_>>().join("; "));
            let object = report.put_below(part);
            report.field(name, object);
        }
        if !is_proof {
            report.without_text();
        }
        let exit = if is_proof { exit } else { exit.and(Exit::Stopped) };
        Ok(exit.answer(self.format, report))
    }
}

/// Returns the report on the journals of one count.
fn report_journals(record: &Record) -> Report {
    let files = record.files().len();
    let repeated = match record.repeated {
        0 => "no unit".to_owned(),
        repeated => many(repeated, "unit"),
    };
    let mut report = journals::report(record);
    report
        .row("journals", format_args!("{files}, {repeated} in two"))
        .row("CPU time", duration(record.cpu_time()));
    report
}

/// Returns what the first and the second count recorded for a unit.
fn difference([first, second]: &[Witness; 2]) -> Value {
    let [one, other] = [first, second].map(|Witness { count, path, machine, .. }| {
        json!({ "count": count.to_string(), "machine": machine, "file": path.display().to_string() })
    });
    json!({ "unit": first.unit, "first": one, "second": other })
}
