//! `nqueens merge FILE|FOLDER...`.

use std::collections::BTreeSet;
use std::io::Write;

use crate::Error;
use crate::record::{BothCounts, Record, RecordedCount};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::bad_lines::{lines_of, print_commands};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, many};
use crate::cli::journals::{
    Counts, JournalsArgs, add_facts, add_facts_of_all, check, is_unread, missing_shards, ranges,
    shards_text,
};
use crate::cli::report::Report;
use crate::cli::stderr::{message, print_first};

/// Add up the journals of a count, and print the total if no unit is missing
///
/// If there are journals of the first and of the second count, both are used. Then there is a total only if no unit
/// differs between them.
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the total")))]
#[command(after_help = "\
Examples:
  nqueens merge q24                        the total of the shards in folder q24
  nqueens merge q24 --missing              the shards to run again: 3,7-9
  nqueens merge q24 q24-second             compares the two counts of a board")]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    journals: JournalsArgs,

    /// Print only the numbers of the missing shards that no process is counting, for a job array, such as 3,7-9
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    missing: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let counts = self.journals.read_one_plan()?;
        if let Some(counts) = &counts {
            counts.warn_with_commands();
        }
        match counts {
            Some(counts) if self.missing => self.print_missing_shards(&counts),
            Some(counts) => self.print_total(&counts),
            None if self.missing => self.print_all_shards(),
            None => Err(self.journals.no_finished_unit()),
        }
    }

    fn print_total(&self, counts: &Counts) -> Result<Exit, Failure> {
        let merged = Merged::new(counts)?;
        let exit = merged.judge();
        let mut report = merged.report();
        if let Some(total) = merged.total() {
            report.bare(total);
            return Ok(exit.answer(self.journals.format, report));
        }
        merged.print_what_is_missing(&self.journals);
        report.without_text();
        Ok(exit.and(Exit::Stopped).answer(self.journals.format, report))
    }

    /// Prints the shards that are neither complete nor running. Damage is no failure here, because its units are missing,
    /// and running their shards counts them again.
    fn print_missing_shards(&self, counts: &Counts) -> Result<Exit, Failure> {
        let [record] = counts.records()[..] else {
            let text = "--missing: these are journals of both counts: name the journals of one of them, or keep each count \
                        in a folder of its own";
            return Err(Exit::Usage.because(text));
        };
        let mut exit = check(&[record], record.total());
        if record.total().is_some() {
            return Ok(exit);
        }
        if exit == Exit::Failed && is_only_damaged(&record.left_out) {
            exit = Exit::Done;
        }
        exit = exit.and(Exit::Stopped);
        let Some((shards, missing)) = missing_shards(record) else {
            let text = "--missing: the journals do not agree on the number of shards: name it with --shards K";
            return Err(Exit::Usage.because(text));
        };
        let all_running = record.running().shards(shards);
        let mut running = Vec::new();
        let mut idle = Vec::new();
        for index in missing {
            if all_running.contains(&index) {
                running.push(index);
            } else {
                idle.push(index);
            }
        }
        if !running.is_empty() {
            let running = shards_text(&running, shards);
            message!("left out, because processes are counting them: {running}");
        }
        if idle.is_empty() {
            return Ok(exit);
        }
        Ok(exit.print(|out| writeln!(out, "{}", ranges(&idle))))
    }

    /// Prints the numbers of all shards, because no journal has begun.
    fn print_all_shards(&self) -> Result<Exit, Failure> {
        let Some(shards) = self.journals.shards else {
            return Err(self.journals.no_finished_unit());
        };
        let all: Vec<usize> = (0..shards).collect();
        Ok(Exit::Stopped.print(|out| writeln!(out, "{}", ranges(&all))))
    }
}

/// What the journals of a plan hold together.
pub(crate) struct Merged<'a> {
    records: Vec<&'a Record>,
    /// How the first and the second count compare, if both are there.
    both: Option<BothCounts>,
}

impl<'a> Merged<'a> {
    pub(crate) fn new(counts: &'a Counts) -> Result<Self, Failure> {
        Ok(Self { records: counts.records(), both: counts.compare()? })
    }

    /// Returns the total, if no unit is missing, and none differs between the two counts.
    pub(crate) fn total(&self) -> Option<u128> {
        let Some(both) = &self.both else { return self.records[0].total() };
        let is_complete = both.done.units == self.records[0].plan().units();
        is_complete.then_some(both.done.solutions)
    }

    /// Prints units that differ, and a total that differs from the published one. Returns the exit code.
    pub(crate) fn judge(&self) -> Exit {
        if let Some(both) = &self.both
            && !both.differing.is_empty()
        {
            print_differences(both);
            return Exit::Failed;
        }
        check(&self.records, self.total())
    }

    /// Prints what is missing.
    fn print_what_is_missing(&self, journals: &JournalsArgs) {
        let [first, second] = self.records[..] else {
            message!("{}", journals.describe_missing(self.records[0]));
            return;
        };
        for (name, record) in [("first", first), ("second", second)] {
            if record.total().is_none() {
                message!("{name} count: {}", journals.describe_missing(record));
            }
        }
    }

    /// Returns the report on all journals.
    pub(crate) fn report(&self) -> Report {
        let mut report = Report::default();
        let Some(both) = &self.both else {
            let record = self.records[0];
            add_facts(report.plan(record.plan()), record);
            add_costs(&mut report, record);
            report
                .field("counted_twice", 0)
                .field("differing", 0)
                .field("differences", Value::Array(Vec::new()))
                .field("first", Value::Null)
                .field("second", Value::Null);
            return report;
        };
        let plan = self.records[0].plan();
        let missing = json!({
            "units": plan.units() - both.done.units,
            "shards": null,
            "indices": null,
        });
        report.plan(plan).field("count", "both");
        add_facts_of_all(&mut report, &self.records, both.done, self.total(), &missing);
        report
            .row("twice", twice_text(both, plan.units()))
            .field("counted_twice", both.counted_twice)
            .field("differing", both.differing.len())
            .field("differences", both.disagreements.iter().map(difference).collect::<Vec<_>>());
        for (name, record) in ["first", "second"].into_iter().zip(&self.records) {
            let mut part = Report::default();
            add_facts(part.plan(record.plan()), record);
            add_costs(&mut part, record);
            part.entry("machines", machines(record));
            let object = report.put_below(part);
            report.field(name, object);
        }
        report
    }
}

/// Returns how many units were counted twice, as text.
pub(crate) fn twice_text(both: &BothCounts, units: usize) -> String {
    let twice = both.counted_twice;
    let units = many(units, "unit");
    match both.differing.len() {
        0 => format!("{twice} of {units} counted twice, all with equal counts"),
        differing => format!("{twice} of {units} counted twice, {differing} DIFFER"),
    }
}

/// Returns whether nothing is left out but damaged lines.
fn is_only_damaged(left_out: &[Error]) -> bool {
    left_out.iter().all(|error| matches!(error, Error::Journal { .. }) && !is_unread(error))
}

/// Prints the units whose two counts differ, and the commands that take their lines out.
fn print_differences(both: &BothCounts) {
    let mut differences = Vec::new();
    for [first, second] in &both.disagreements {
        let unit = first.unit;
        differences
            .push(format!("unit {unit} differs: first count {first}, second count {second}"));
    }
    print_first(differences.into_iter());
    let units = many(both.differing.len(), "unit");
    message!(
        "the counts differ in {units}: at least one machine made errors; take the lines out of both counts, and count \
         their units again"
    );
    print_commands(lines_of(&both.lines));
}

/// Returns the machines that counted, each once.
fn machines(record: &Record) -> String {
    let machines: BTreeSet<&str> = record.runs().map(|run| &*run.machine).collect();
    machines.into_iter().collect::<Vec<_>>().join("; ")
}

/// Adds how many journals there are, and what their units cost.
fn add_costs(report: &mut Report, record: &Record) {
    let files = record.files().len();
    let repeated = match record.repeated() {
        0 => "no unit".to_owned(),
        repeated => many(repeated, "unit"),
    };
    report
        .row("journals", format_args!("{files}, {repeated} in two"))
        .row("CPU time", duration(record.cpu_time()));
}

/// Returns what the first and the second count recorded for a unit.
fn difference([first, second]: &[RecordedCount; 2]) -> Value {
    json!({ "unit": first.unit, "first": recorded(first), "second": recorded(second) })
}

/// Returns a count as a journal holds it, with its place.
fn recorded(count: &RecordedCount) -> Value {
    json!({
        "count": count.count.to_string(),
        "machine": count.machine,
        "file": count.path.display().to_string(),
        "line": count.line,
    })
}
