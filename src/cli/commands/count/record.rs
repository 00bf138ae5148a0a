//! What a finished journal tells the record book.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use nqueens::Outcome;
use serde_json::{Value, json};

use crate::cli::exit::Line;
use crate::cli::output::json::seconds;
use crate::cli::output::stderr::escaped;
use crate::cli::output::text::{duration, many};
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
        let wall: Duration = runs.iter().map(|run| run.elapsed).sum();
        let cpu: Duration = runs.iter().map(|run| run.cpu_time).sum();
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

    pub(crate) fn rows(&self) -> [Line; 3] {
        let units = many(self.units_before, "unit");
        let (wall, cpu) = (self.wall.as_secs_f64(), self.cpu.as_secs_f64());
        [
            ("journal", format!("{}: {units} done before", self.file)),
            ("runs", format!("{}, {wall:.3} s wall time, {cpu:.3} s CPU time", self.runs)),
            ("record", self.row.clone()),
        ]
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "file": self.file,
            "runs": self.runs,
            "units_before": self.units_before,
            "seconds": seconds(self.wall),
            "cpu_seconds": seconds(self.cpu),
        })
    }
}
