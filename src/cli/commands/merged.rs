//! What the journals of a plan hold together, of its first count, its second one, or both.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::record::{BothCounts, Disagreement, Record, Records, Shards, Votes};
use crate::{Error, Published};
use serde_json::{Value, json};

use crate::cli::commands::facts::{add_facts, add_facts_of_all, damaged_files, describe_missing};
use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::output::format::{duration, many};
use crate::cli::output::published::print_differs;
use crate::cli::output::report::Report;
use crate::cli::output::stderr::{message, print_first};

/// What the journals of a plan hold together.
pub(crate) struct Merged<'a> {
    pub(crate) records: Vec<&'a Record>,
    left_out: &'a [Error],
    /// The shards of each record.
    pub(crate) shards: Vec<Shards>,
    /// How the first and the second count compare, if both are there.
    pub(crate) both: Option<BothCounts>,
}

impl<'a> Merged<'a> {
    /// Puts the records together, of which there is at least one. The user may have named the number of shards.
    pub(crate) fn new(records: &'a Records, shards: Option<usize>) -> Result<Self, Failure> {
        let all = records.all();
        let mut shards_of_all = Vec::new();
        for record in &all {
            shards_of_all.push(record.shards(shards)?);
        }
        Ok(Self {
            records: all,
            left_out: records.left_out(),
            shards: shards_of_all,
            both: records.compare(),
        })
    }

    /// Returns the total, if every unit is settled: no unit is missing, none has different numbers that are not settled,
    /// and none differs between the first and the second count.
    pub(crate) fn total(&self) -> Option<u128> {
        match &self.both {
            Some(both) => both.total(),
            None => self.records[0].total(),
        }
    }

    /// Returns the total of one of the counts alone. There is none as long as a unit of either count is not settled.
    pub(crate) fn total_of(&self, record: &Record) -> Option<u128> {
        let has_dispute = self.both.as_ref().is_some_and(BothCounts::has_dispute);
        record.total().filter(|_| !has_dispute)
    }

    /// Prints units that differ, and a total that differs from the published one. Returns the exit code of what was read,
    /// whether it is complete or not.
    pub(crate) fn judge(&self) -> Exit {
        if let Some(both) = &self.both
            && !both.differing.is_empty()
        {
            print_differences(both);
            return Exit::Failed;
        }
        let size = self.records[0].plan().size();
        let Some(total) = self.total() else {
            // What could not be read may hold the missing units.
            let is_any_unread = self.left_out.iter().any(Error::is_of_file_system);
            return if is_any_unread { Exit::Failed } else { Exit::Done };
        };
        match Published::compare(total, size.published().total) {
            Published::Differs { expected } => {
                print_differs(format_args!("Q({size}) = {total}"), expected);
                Exit::Failed
            }
            _ => Exit::Done,
        }
    }

    /// Returns whether nothing is left to count: there is a total, and if there are two counts, every unit was counted
    /// twice.
    pub(crate) fn is_complete(&self) -> bool {
        match &self.both {
            Some(both) => both.is_complete(),
            None => self.total().is_some(),
        }
    }

    /// Prints what is missing in each count.
    pub(crate) fn print_what_is_missing(&self, paths: &[PathBuf]) {
        let names = match self.records.len() {
            1 => &["the journals lack"][..],
            _ => &["the first count lacks", "the second count lacks"],
        };
        for ((who, record), shards) in names.iter().zip(&self.records).zip(&self.shards) {
            if record.total().is_none() {
                message!("{}", describe_missing(who, record, shards, paths));
            }
        }
    }

    /// Returns the report on all journals.
    pub(crate) fn report(&self) -> Report {
        let mut report = Report::default();
        let damaged = damaged_files(self.left_out);
        let Some(both) = &self.both else {
            let record = self.records[0];
            let total = record.total();
            add_facts(report.plan(record.plan()), record, total, &self.shards[0], damaged);
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
        add_facts_of_all(&mut report, &self.records, both.done, self.total(), &missing, damaged);
        report
            .row("twice", twice_text(both, plan.units()))
            .field("counted_once", both.done.units + both.differing.len() - both.counted_twice)
            .field("counted_twice", both.counted_twice)
            .field("differing", both.differing.len())
            .field("differences", both.disagreements.iter().map(difference).collect::<Vec<_>>());
        for (name, (record, shards)) in
            ["first", "second"].into_iter().zip(self.records.iter().zip(&self.shards))
        {
            let mut part = Report::default();
            let total = self.total_of(record);
            add_facts(part.plan(record.plan()), record, total, shards, Vec::new());
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
        disputed => format!(", {disputed} with different numbers in one of the counts"),
    };
    match both.differing.len() {
        0 => format!("{twice} of {units} counted twice, all with equal counts{disputed}"),
        differing => format!("{twice} of {units} counted twice, {differing} DIFFER{disputed}"),
    }
}

/// Prints the units whose two counts differ, and what to do.
fn print_differences(both: &BothCounts) {
    let mut differences = Vec::new();
    for Disagreement { unit, first, second, .. } in &both.disagreements {
        let [first, second] = [first, second].map(|votes| votes_text(votes));
        differences
            .push(format!("unit {unit} differs: first count {first}, second count {second}"));
    }
    print_first(differences.into_iter());
    let units = many(both.differing.len(), "unit");
    message!(
        "the counts differ in {units}: at least one machine made errors; 'nqueens verify' finds out which count is wrong; \
         move the journals of that host to another folder, and count again"
    );
}

/// Returns the numbers that lines hold for a unit, each with its hosts.
pub(crate) fn votes_text(votes: &[Votes]) -> String {
    let texts: Vec<String> = votes.iter().map(ToString::to_string).collect();
    texts.join(" and ")
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
fn difference(Disagreement { unit, first, second, .. }: &Disagreement) -> Value {
    json!({ "unit": unit, "first": votes(first), "second": votes(second) })
}

/// Returns the numbers that lines hold for a unit, each with its hosts, for JSON.
pub(crate) fn votes(votes: &[Votes]) -> Value {
    let mut list = Vec::new();
    for Votes { count, lines, hosts, .. } in votes {
        list.push(json!({ "count": count.to_string(), "lines": lines, "hosts": hosts }));
    }
    list.into()
}
