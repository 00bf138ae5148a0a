//! What a finished journal tells the record book.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use nqueens::Outcome;
use serde::Serialize;

use super::fields::microseconds;
use super::talk::plain;
use super::version;

/// All runs of one journal together.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    file: String,
    runs: usize,
    units_before: usize,
    /// Wall time, without the pauses between runs.
    seconds: f64,
    /// CPU time that all threads spent on units.
    cpu_seconds: f64,
    #[serde(skip)]
    row: String,
}

impl Record {
    /// The journal of a count, as it was read back from the disk.
    pub(super) fn new(path: &Path, outcome: &Outcome) -> Self {
        let Outcome { size, total, runs, .. } = outcome;
        let wall: Duration = runs.iter().map(|run| run.elapsed).sum();
        let core: Duration = runs.iter().map(|run| run.busy).sum();
        let machines: BTreeSet<String> = runs
            .iter()
            .filter(|run| run.units > 0)
            .map(|run| {
                let plural = if run.threads == 1 { "" } else { "s" };
                format!("{}, {} thread{plural}, {}", run.machine, run.threads, run.kernel)
            })
            .collect();
        let machines: Vec<String> = machines.into_iter().collect();
        let row = format!(
            "| {size} | {total} | {} | {} | {} | {} | {} | {} |",
            outcome.engine,
            machines.join("; "),
            in_words(wall),
            in_words(core),
            version::SHORT,
            version::COMMIT
        );
        Self {
            file: plain(path.display()),
            runs: runs.len(),
            units_before: outcome.units_before,
            seconds: microseconds(wall.as_secs_f64()),
            cpu_seconds: microseconds(core.as_secs_f64()),
            row,
        }
    }

    pub(super) fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, runs, units_before, seconds, cpu_seconds, row } = self;
        writeln!(out, "journal      {file}: {units_before} units done before")?;
        writeln!(out, "runs         {runs}, {seconds:.3} s in all, {cpu_seconds:.3} s CPU time")?;
        writeln!(out, "record       {row}")
    }
}

/// A duration with about three digits.
fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        ..600.0 => format!("{seconds:.1} s"),
        ..86_400.0 => format!("{:.2} h", seconds / 3600.0),
        _ => format!("{:.2} d", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_suits_them() {
        let words = [0.04, 599.9, 3600.0, 86_400.0 * 12.5]
            .map(|seconds| in_words(Duration::from_secs_f64(seconds)));
        assert_eq!(words, ["0.0 s", "599.9 s", "1.00 h", "12.50 d"]);
    }
}
