//! What the journals of a plan hold together, of its first count, its second one, or both.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::record::{BothCounts, Record, RecordedCount};
use serde_json::{Value, json};

use crate::cli::commands::facts::{add_facts, add_facts_of_all, check, describe_missing};
use crate::cli::exit::Exit;
use crate::cli::failure::bad_lines::{lines_of, print_commands};
use crate::cli::failure::failure::Failure;
use crate::cli::input::journals::Counts;
use crate::cli::output::format::{duration, many};
use crate::cli::output::report::Report;
use crate::cli::output::stderr::{message, print_first};

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

    /// Returns the total, if every unit is settled: no unit is missing, none has two different counts, and none differs
    /// between the first and the second count.
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

    /// Returns whether nothing is left to count: there is a total, and if there are two counts, every unit was counted
    /// twice.
    pub(crate) fn is_complete(&self) -> bool {
        match &self.both {
            Some(both) => both.is_complete(self.records[0].plan()),
            None => self.total().is_some(),
        }
    }

    /// Prints what is missing in each count.
    pub(crate) fn print_what_is_missing(&self, paths: &[PathBuf]) {
        let [first, second] = self.records[..] else {
            message!("{}", describe_missing("the journals lack", self.records[0], paths));
            return;
        };
        for (who, record) in [("the first count lacks", first), ("the second count lacks", second)]
        {
            if record.total().is_none() {
                message!("{}", describe_missing(who, record, paths));
            }
        }
    }

    /// Returns the report on all journals.
    pub(crate) fn report(&self) -> Report {
        let mut report = Report::default();
        let Some(both) = &self.both else {
            let record = self.records[0];
            add_facts(report.plan(record.plan()), record, record.total());
            add_costs(&mut report, record);
            report
                .field("counted_once", 0)
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
            .field("counted_once", both.done.units + both.differing.len() - both.counted_twice)
            .field("counted_twice", both.counted_twice)
            .field("differing", both.differing.len())
            .field("differences", both.disagreements.iter().map(difference).collect::<Vec<_>>());
        for (name, record) in ["first", "second"].into_iter().zip(&self.records) {
            let mut part = Report::default();
            let total = record.total().filter(|_| !both.has_dispute());
            add_facts(part.plan(record.plan()), record, total);
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
    let disputed = match both.disputed.len() {
        0 => String::new(),
        disputed => format!(", {disputed} with two counts in one of the two"),
    };
    match both.differing.len() {
        0 => format!("{twice} of {units} counted twice, all with equal counts{disputed}"),
        differing => format!("{twice} of {units} counted twice, {differing} DIFFER{disputed}"),
    }
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
        0 => "no unit recorded again".to_owned(),
        repeated => format!("units recorded again {}", many(repeated, "time")),
    };
    report
        .row("journals", format_args!("{files}, {repeated}"))
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
