//! The rows of `compare`: written as text, CSV or JSON, and read again from CSV.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use nqueens::Engine;
use serde::{Deserialize, Deserializer, Serialize};

use super::json::as_string;
use super::rows::Row;
use crate::cli::exit::Failure;

/// What an engine on a number of threads took for a board. The names are promised: scripts read
/// them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timing {
    pub(crate) n: u32,
    #[serde(serialize_with = "as_string", deserialize_with = "from_string")]
    pub(crate) engine: Engine,
    /// Its name: rows that are read may come from another CPU.
    pub(crate) kernel: String,
    pub(crate) threads: usize,
    pub(crate) repeats: usize,
    pub(crate) median_seconds: f64,
    pub(crate) min_seconds: f64,
    pub(crate) max_seconds: f64,
    pub(crate) solutions_per_second: f64,
    /// How many times as fast as the first row of the same board.
    pub(crate) ratio: f64,
    /// What one thread does, as a share of what it does on the fewest threads.
    pub(crate) efficiency: f64,
    #[serde(serialize_with = "as_string", deserialize_with = "from_string")]
    pub(crate) total: u128,
    /// The CPU's name; empty if the rows were written without it.
    #[serde(default)]
    pub(crate) cpu: String,
}

fn from_string<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

impl Row for Timing {
    fn header() -> String {
        format!(
            "{:>2}  {:<12} {:>7} {:>14} {:>23} {:>12} {:>9} {:>10}",
            "n",
            "engine",
            "threads",
            "median seconds",
            "min..max",
            "solutions/s",
            "ratio",
            "efficiency"
        )
    }

    fn line(&self) -> String {
        let Self { n, engine, threads, median_seconds, ratio, efficiency, .. } = self;
        let spread = format!("{:.6}..{:.6}", self.min_seconds, self.max_seconds);
        format!(
            "{n:>2}  {engine:<12} {threads:>7} {median_seconds:>14.6} {spread:>23} {:>12.2e} \
             {ratio:>9.3} {efficiency:>10.2}",
            self.solutions_per_second
        )
    }
}

/// Reads what `compare --csv` wrote, one row at least.
pub(crate) fn read(path: &Path) -> Result<Vec<Timing>, Failure> {
    let wrong = |reason: &dyn Display| {
        let path = path.display();
        Failure::Usage(format!("--draw: {path} is no output of 'nqueens compare --csv': {reason}"))
    };
    let mut reader = csv::Reader::from_path(path).map_err(|error| wrong(&error))?;
    let rows: Result<Vec<Timing>, _> = reader.deserialize().collect();
    let rows = rows.map_err(|error| wrong(&error))?;
    for Timing { n, threads, median_seconds, min_seconds, max_seconds, .. } in &rows {
        let in_order = min_seconds <= median_seconds && median_seconds <= max_seconds;
        if !(*min_seconds > 0.0 && in_order && max_seconds.is_finite()) {
            return Err(wrong(&format!("n = {n}: times must be positive and in order")));
        }
        if *threads == 0 {
            return Err(wrong(&format!("n = {n}: threads must be 1 or more")));
        }
    }
    if rows.is_empty() { Err(wrong(&"it has no rows")) } else { Ok(rows) }
}
