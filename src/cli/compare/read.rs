//! Rows that an earlier run wrote with `--csv`.

use std::path::Path;

use nqueens::{Engine, Kernel};
use serde::Deserialize;

use super::statistics::{Row, Spread};
use crate::cli::exit::Failure;

/// The columns that a picture needs; others are left aside.
#[derive(Deserialize)]
struct ReadRow {
    n: u32,
    engine: String,
    kernel: String,
    threads: usize,
    repeats: usize,
    median_seconds: f64,
    min_seconds: f64,
    max_seconds: f64,
    solutions_per_second: f64,
    ratio: f64,
    efficiency: f64,
    total: u128,
}

pub(super) fn rows(path: &Path) -> Result<Vec<Row>, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| {
        let path = path.display();
        Failure::Usage(format!("--draw: {path} is no output of 'nqueens compare --csv': {reason}"))
    };
    let mut reader = csv::Reader::from_path(path).map_err(|error| wrong(&error))?;
    let mut rows = Vec::new();
    for row in reader.deserialize() {
        let row: ReadRow = row.map_err(|error| wrong(&error))?;
        let engine: Engine = row.engine.parse().map_err(|error| wrong(&error))?;
        let kernel = Kernel::NAMES.into_iter().find(|name| *name == row.kernel);
        let seconds =
            Spread { median: row.median_seconds, min: row.min_seconds, max: row.max_seconds };
        if !(seconds.min > 0.0 && seconds.min <= seconds.median && seconds.median <= seconds.max) {
            return Err(wrong(&format!("n = {}: times must be positive and in order", row.n)));
        }
        rows.push(Row {
            n: row.n,
            engine,
            kernel: kernel.unwrap_or("unknown"),
            threads: row.threads,
            repeats: row.repeats,
            seconds,
            solutions_per_second: row.solutions_per_second,
            ratio: row.ratio,
            efficiency: row.efficiency,
            total: row.total,
        });
    }
    if rows.is_empty() { Err(wrong(&"it has no rows")) } else { Ok(rows) }
}
