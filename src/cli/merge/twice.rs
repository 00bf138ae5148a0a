//! `nqueens merge --twice`: a total that was counted twice.

use std::collections::BTreeSet;

use nqueens::record::{Comparison, Units, Witness, compare, half_open};
use serde_json::json;

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, json_seconds, many};
use crate::cli::journals::{self, Journals, MissingShards, number};
use crate::cli::report::Report;
use crate::cli::stderr::message;

/// Only the first differences are printed one by one.
const PRINTED: usize = 5;

/// Of the units that were counted once, at most this many ranges are printed, and this many in JSON.
const PRINTED_RANGES: usize = 6;
const MOST_RANGES: usize = 1000;

/// Compares both counts. There is a total only if they agree on every unit.
pub(super) fn run(
    counts: [Option<Journals>; 2],
    shards: Option<usize>,
) -> Result<(Exit, Report), Failure> {
    let [Some(first), Some(second)] = counts else {
        let missing = if counts[0].is_none() { "first" } else { "second" };
        return Err(Failure::Usage(format!(
            "--twice: there are no journals of a {missing} count; name the files or folders of both \
             counts (nqueens shard --second makes those of the second)"
        )));
    };
    let comparison = compare(&first.record, &second.record)?;
    let twice = Twice { is_proof: comparison.is_proof(&first.record), first, second, comparison };
    Ok((twice.judge(shards), twice.report()))
}

struct Twice {
    first: Journals,
    second: Journals,
    comparison: Comparison,
    /// Whether every unit was counted twice, with equal counts.
    is_proof: bool,
}

impl Twice {
    /// Prints what is wrong or missing.
    fn judge(&self, shards: Option<usize>) -> Exit {
        let Comparison { differing, disagreements, .. } = &self.comparison;
        for [first, second] in disagreements.iter().take(PRINTED) {
            message!("unit {} differs: first count {first}, second {second}", first.unit);
        }
        if *differing > 0 {
            let units = many(*differing, "unit");
            message!(
                "the counts differ in {units}: one machine at least made errors; nqueens verify tells \
                 which count is wrong, nqueens salvage --without leaves its units out"
            );
            return Exit::Failed;
        }
        if self.first.check_published() == Exit::Failed {
            return Exit::Failed;
        }
        if self.is_proof {
            return Exit::Done;
        }
        for (count, other, journals, once) in [
            ("first", "second", &self.first, &self.comparison.only_first),
            ("second", "first", &self.second, &self.comparison.only_second),
        ] {
            if let Some(missing) = MissingShards::new(&journals.record, shards)
                && !missing.is_empty()
            {
                let units = many(journals.units_missing, "unit");
                message!("the {count} count lacks {units}, in {missing}: run these again");
            }
            if !once.is_empty() {
                let (units, ranges) = (many(number(once), "unit"), shortened(once));
                message!(
                    "counted once, in the {count} count but not in the {other}: {units}, {ranges}"
                );
            }
        }
        Exit::Stopped
    }

    fn report(&self) -> Report {
        let Self { first, second, comparison, is_proof } = self;
        let total = is_proof.then_some(first.total).flatten();
        let (units, all) = (comparison.units, first.record.plan.units());
        let agree = match comparison.differing {
            0 => "all with equal counts".to_owned(),
            differing => format!("{differing} DIFFER"),
        };
        let mut report = Report::default();
        report.plan(&first.record.plan).number("total", total);
        first.report_published(&mut report, total);
        report
            .row("twice", format_args!("{units} of {} counted twice, {agree}", many(all, "unit")))
            .field("counted_twice", units)
            .field("differing", comparison.differing)
            .field("differences", self.differences());
        for (label, journals, once) in
            [("first", first, &comparison.only_first), ("second", second, &comparison.only_second)]
        {
            let (machines, cpu) = (machines(journals), duration(journals.cpu_time));
            let finished = many(journals.units_done, "unit");
            report.row(label, format_args!("{finished}, {cpu} CPU time on {machines}"));
            let ranges = half_open(once).take(MOST_RANGES).map(|range| [range.start, range.end]);
            report.field(
                label,
                json!({
                    "finished": journals.units_done,
                    "files": journals.record.files.len(),
                    "machines": machines,
                    "cpu_seconds": json_seconds(journals.cpu_time),
                    "once": { "units": number(once),
                        "ranges": ranges.collect::<Vec<_>>() },
                }),
            );
        }
        match total {
            Some(total) => {
                for (label, journals) in [("record", first), ("", second)] {
                    report.row(label, record(total, journals));
                }
            }
            None => report.without_text(),
        }
        report
    }

    fn differences(&self) -> Vec<serde_json::Value> {
        let witness = |Witness { count, path, machine, .. }: &Witness| {
            let (count, file) = (count.to_string(), path.display().to_string());
            json!({ "count": count, "machine": machine, "file": file })
        };
        let disagreements = self.comparison.disagreements.iter();
        let differences = disagreements.map(|[first, second]| {
            json!({ "unit": first.unit, "first": witness(first), "second": witness(second) })
        });
        differences.collect()
    }
}

/// Who counted, and how many processes of each kind.
fn machines(journals: &Journals) -> String {
    let kinds = journals::machines(journals.record.runs()).into_iter();
    let kinds = kinds.map(|(kind, processes)| match processes {
        1 => kind,
        _ => format!("{processes} x {kind}"),
    });
    kinds.collect::<Vec<_>>().join("; ")
}

/// The row of the record book. Journals do not know the wall time of all processes together, nor the
/// commit, nor what else was checked.
fn record(total: u128, journals: &Journals) -> String {
    let plan = &journals.record.plan;
    let versions: BTreeSet<&str> = journals.record.runs().map(|run| run.version.as_str()).collect();
    format!(
        "| {} | {total} | {}, {} count | {} | | {} | {} | | |",
        plan.size(),
        plan.engine(),
        plan.pass(),
        machines(journals),
        duration(journals.cpu_time),
        versions.into_iter().collect::<Vec<_>>().join(", ")
    )
}

/// The first of some units, as ranges.
fn shortened(units: &Units) -> String {
    let named = half_open(units).take(PRINTED_RANGES);
    let named = named.map(|range| format!("{}..{}", range.start, range.end));
    let more = if units.ranges_len() > PRINTED_RANGES { ", ..." } else { "" };
    named.collect::<Vec<_>>().join(", ") + more
}
