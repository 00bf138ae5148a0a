//! `nqueens merge --twice`: a total that was counted twice.

use std::collections::BTreeSet;

use nqueens::Published;
use nqueens::record::{Comparison, Witness, compare};
use serde_json::json;

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, json_seconds, many};
use crate::cli::journals::{Journals, machines, ranges};
use crate::cli::report::Report;
use crate::cli::stderr::{message, print_first};

/// Compares both counts. There is a total only if they agree on every unit.
pub(super) fn run(counts: [Option<Journals>; 2]) -> Result<(Exit, Report), Failure> {
    let [Some(first), Some(second)] = counts else {
        let missing = if counts[0].is_none() { "first" } else { "second" };
        return Err(Exit::Usage.because(format!(
            "--twice: there are no journals of a {missing} count; name the files or folders of both \
             counts (nqueens shard --second makes those of the second)"
        )));
    };
    let comparison = compare(&first.record, &second.record)?;
    let twice = Twice { is_proof: comparison.is_proof(&first.record), first, second, comparison };
    Ok((twice.judge(), twice.report()))
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
    fn judge(&self) -> Exit {
        let Comparison { differing, disagreements, .. } = &self.comparison;
        print_first(disagreements.iter().map(|[first, second]| {
            format!("unit {} differs: first count {first}, second {second}", first.unit)
        }));
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
        message!("{}, all with equal counts", self.counted_twice());
        for (count, journals) in [("first", &self.first), ("second", &self.second)] {
            if journals.total.is_none() {
                message!("{count} count: {}", journals.lacks());
            }
        }
        Exit::Stopped
    }

    fn report(&self) -> Report {
        let Self { first, second, comparison, is_proof } = self;
        let agree = match comparison.differing {
            0 => "all with equal counts".to_owned(),
            differing => format!("{differing} DIFFER"),
        };
        let (total, published) = match is_proof {
            true => (first.total, first.published),
            false => (None, Published::Unknown),
        };
        let mut report = Report::default();
        report
            .plan(&first.record.plan)
            .number("total", total)
            .published(published)
            .row("twice", format_args!("{}, {agree}", self.counted_twice()))
            .field("counted_twice", comparison.units)
            .field("differing", comparison.differing)
            .field("differences", self.differences());
        for (label, journals, once) in
            [("first", first, &comparison.only_first), ("second", second, &comparison.only_second)]
        {
            let machines = machines(journals.record.runs());
            let (finished, cpu) = (journals.units_done, duration(journals.cpu_time));
            let units = many(finished, "unit");
            let json = json!({
                "finished": finished,
                "files": journals.record.files.len(),
                "machines": machines,
                "cpu_seconds": json_seconds(journals.cpu_time),
                "once": ranges(once),
            });
            report.row(label, format_args!("{units}, {cpu} CPU time on {machines}"));
            report.field(label, json);
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

    fn counted_twice(&self) -> String {
        let all = many(self.first.record.plan.units(), "unit");
        format!("{} of {all} counted twice", self.comparison.units)
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
        machines(journals.record.runs()),
        duration(journals.cpu_time),
        versions.into_iter().collect::<Vec<_>>().join(", ")
    )
}
