//! `nqueens merge FILE|FOLDER...`.

use std::collections::BTreeSet;
use std::io::Write;

use clap::Args;
use nqueens::record::{Record, RecordedCount, compare_counts};
use nqueens::{Error, Published};
use serde_json::{Value, json};

use crate::cli::bad_lines::{BadLines, lines_of, print_commands};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, many};
use crate::cli::journals::{self, JournalsArgs, check, is_unread, missing_shards, ranges};
use crate::cli::report::{Format, Report};
use crate::cli::stderr::{message, print_first};

/// Add up the journals of a count, and print the total if no unit is missing
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare total")))]
#[command(after_help = "\
Examples:
  nqueens merge q24                        the total of the shards in folder q24
  nqueens merge q24 --missing              the shards to run again: 3,7-9
  nqueens merge --twice q24                compares the two counts in the folder")]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    format: Format,

    #[command(flatten)]
    journals: JournalsArgs,

    /// Print only the shards that are not complete, as job arrays take them: 3,7-9
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    missing: bool,

    /// Compare the first and the second count unit by unit, and print the total if all units agree
    #[arg(long, conflicts_with_all = ["second", "missing"])]
    twice: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if self.twice {
            return self.compare_counts();
        }
        if self.missing {
            return self.print_missing();
        }
        let record = self.journals.read(self.format)?;
        let exit = check(&record);
        let mut report = report_journals(&record);
        let Some(total) = record.total() else {
            message!("{}", self.journals.describe_missing(&record));
            report.without_text();
            return Ok(exit.and(Exit::Stopped).answer(self.format, report));
        };
        report.bare(total);
        Ok(exit.answer(self.format, report))
    }

    /// Prints the shards that are not complete. Damage is no failure here, because its units are missing, and running
    /// their shards counts them again.
    fn print_missing(&self) -> Result<Exit, Failure> {
        let Some(record) = self.journals.read_if_begun()? else {
            let Some(shards) = self.journals.shards else {
                return Err(self.journals.no_unit(false, self.format));
            };
            let all: Vec<usize> = (0..shards).collect();
            return Ok(Exit::Stopped.print(|out| writeln!(out, "{}", ranges(&all))));
        };
        let missing = match record.total() {
            Some(_) => Some(Vec::new()),
            None => missing_shards(&record).map(|(_, missing)| missing),
        };
        let Some(missing) = missing else {
            let text = "--missing: the journals do not agree on the number of shards: name it with --shards K";
            return Err(Exit::Usage.because(text));
        };
        let is_fault = |error: &Error| !matches!(error, Error::Journal { .. }) || is_unread(error);
        let exit = match check(&record) {
            Exit::Failed if record.total().is_none() && !record.left_out.iter().any(is_fault) => {
                Exit::Done
            }
            exit => exit,
        };
        if missing.is_empty() {
            return Ok(exit);
        }
        Ok(exit.and(Exit::Stopped).print(|out| writeln!(out, "{}", ranges(&missing))))
    }

    /// Compares both counts. There is a total only if they agree on every unit.
    fn compare_counts(&self) -> Result<Exit, Failure> {
        let [first, second] = &self.journals.read_both(self.format)?;
        let twice = compare_counts(first, second)?;
        let plan = first.plan();
        let is_proof = twice.units == plan.units() && twice.differing == 0;
        let counted = format!("{} of {} counted twice", twice.units, many(plan.units(), "unit"));
        let counts = [("first", first), ("second", second)];

        let exit = if twice.differing > 0 { Exit::Failed } else { check(first).and(check(second)) };
        print_first(twice.disagreements.iter().map(|[first, second]| {
            format!("unit {} differs: first count {first}, second count {second}", first.unit)
        }));
        if twice.differing > 0 {
            message!(
                "the counts differ in {}: at least one machine made errors; take the lines out of both counts, and \
                 count their units again",
                many(twice.differing, "unit")
            );
            let lines = lines_of(&twice.lines);
            print_commands(lines, BadLines::new());
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
            .field("counted_twice", twice.units)
            .field("differing", twice.differing)
            .field("differences", twice.disagreements.iter().map(difference).collect::<Vec<_>>());
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
    let repeated = match record.repeated() {
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
fn difference([first, second]: &[RecordedCount; 2]) -> Value {
    let [one, other] = [first, second].map(|recorded| {
        json!({
            "count": recorded.count.to_string(),
            "machine": recorded.machine,
            "file": recorded.path.display().to_string(),
            "line": recorded.line,
        })
    });
    json!({ "unit": first.unit, "first": one, "second": other })
}
