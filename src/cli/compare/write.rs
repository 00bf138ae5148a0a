//! The rows as text, CSV and JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::statistics::Row;
use crate::cli::output::json::{as_string, microseconds};
use crate::cli::output::rows::RowFormat;

/// Writes rows as they come.
pub(super) enum RowWriter<W: Write> {
    Text(W),
    Csv(Box<csv::Writer<W>>),
    Json(W),
}

/// A row for serde. The names are promised: scripts read them.
#[derive(Serialize)]
struct FlatRow {
    n: u32,
    engine: &'static str,
    kernel: &'static str,
    threads: usize,
    repeats: usize,
    median_seconds: f64,
    min_seconds: f64,
    max_seconds: f64,
    solutions_per_second: f64,
    ratio: f64,
    efficiency: f64,
    #[serde(serialize_with = "as_string")]
    total: u128,
}

impl From<&Row> for FlatRow {
    fn from(row: &Row) -> Self {
        Self {
            n: row.n,
            engine: row.engine.name(),
            kernel: row.kernel,
            threads: row.threads,
            repeats: row.repeats,
            median_seconds: microseconds(row.seconds.median),
            min_seconds: microseconds(row.seconds.min),
            max_seconds: microseconds(row.seconds.max),
            solutions_per_second: row.solutions_per_second.round(),
            ratio: thousandths(row.ratio),
            efficiency: thousandths(row.efficiency),
            total: row.total,
        }
    }
}

/// Ratios to the thousandth: more digits are noise.
fn thousandths(ratio: f64) -> f64 {
    (ratio * 1e3).round() / 1e3
}

impl<W: Write> RowWriter<W> {
    pub(super) fn new(format: RowFormat, out: W) -> Self {
        match format {
            RowFormat::Text => Self::Text(out),
            RowFormat::Csv => Self::Csv(Box::new(csv::Writer::from_writer(out))),
            RowFormat::Json => Self::Json(out),
        }
    }

    /// CSV brings its own, with the first row.
    pub(super) fn write_header(&mut self) -> io::Result<()> {
        let Self::Text(out) = self else { return Ok(()) };
        writeln!(
            out,
            "{:>2}  {:<12} {:>7} {:>14} {:>23} {:>12} {:>9} {:>10}",
            "n",
            "engine",
            "threads",
            "median seconds",
            "min..max",
            "solutions/s",
            "ratio",
            "efficiency"
        )?;
        out.flush()
    }

    pub(super) fn write_row(&mut self, row: &Row) -> io::Result<()> {
        match self {
            Self::Text(out) => {
                let Row { n, engine, threads, seconds, ratio, efficiency, .. } = row;
                let spread = format!("{:.6}..{:.6}", seconds.min, seconds.max);
                writeln!(
                    out,
                    "{n:>2}  {engine:<12} {threads:>7} {:>14.6} {spread:>23} {:>12.2e} \
                     {ratio:>9.3} {efficiency:>10.2}",
                    seconds.median, row.solutions_per_second
                )?;
                out.flush()
            }
            Self::Csv(out) => {
                out.serialize(FlatRow::from(row))?;
                out.flush()
            }
            Self::Json(out) => {
                serde_json::to_writer(&mut *out, &FlatRow::from(row))?;
                writeln!(out)?;
                out.flush()
            }
        }
    }
}
