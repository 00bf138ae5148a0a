//! What a finished journal tells the record book.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use nqueens::Outcome;
use serde_json::json;

use crate::cli::format::{duration, json_seconds, many, sum};
use crate::cli::report::Report;
use crate::cli::stderr::escaped;
use crate::cli::version;

/// All runs of one journal together.
pub(crate) struct Record {
    file: String,
    runs: usize,
    units_before: usize,
    /// Wall time, without the pauses between runs.
    wall: Duration,
    /// CPU time that all threads spent on units.
    cpu: Duration,
    /// The row of the record book.
    row: String,
}

impl Record {
    /// The journal of a count, as it was read back from the disk.
    pub(crate) fn new(path: &Path, outcome: &Outcome) -> Self {
        let Outcome { size, total, engine, runs, units_before, .. } = outcome;
        let wall = sum(runs.iter().map(|run| run.elapsed));
        let cpu = sum(runs.iter().map(|run| run.cpu_time));
        let machines = runs
            .iter()
            .filter(|run| run.units > 0)
            .map(|run| format!("{}, {}, {}", run.machine, many(run.threads, "thread"), run.kernel));
        let machines: BTreeSet<String> = machines.collect();
        let machines = machines.into_iter().collect::<Vec<_>>().join("; ");
        let row = format!(
            "| {size} | {total} | {engine} | {machines} | {} | {} | {} | {} |",
            duration(wall),
            duration(cpu),
            version::SHORT,
            version::COMMIT
        );
        let (file, runs) = (escaped(path.display()), runs.len());
        Self { file, runs, units_before: *units_before, wall, cpu, row }
    }

    pub(crate) fn report(self, report: &mut Report) {
        let Self { file, runs, units_before, .. } = self;
        let (units, [wall, cpu]) =
            (many(units_before, "unit"), [self.wall, self.cpu].map(|time| time.as_secs_f64()));
        report
            .row("journal", format_args!("{file}: {units} done before"))
            .row("runs", format_args!("{runs}, {wall:.3} s wall time, {cpu:.3} s CPU time"))
            .row("record", self.row);
        let json = json!({
            "file": file,
            "runs": runs,
            "units_before": units_before,
            "seconds": json_seconds(self.wall),
            "cpu_seconds": json_seconds(self.cpu),
        });
        report.field("journal", json);
    }
}
