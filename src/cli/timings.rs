//! The rows of `compare`: written as text, CSV or JSON, and read again from CSV.

use std::fmt::{self, Display};
use std::path::Path;
use std::str::FromStr;

use nqueens::Engine;
use serde::{Deserialize, Deserializer, Serialize};

use super::format::{as_string, eight_places, figures, grouped};
use crate::cli::exit::{Exit, Failure};

/// What an engine with a kernel on a number of threads took for a board. The names are promised:
/// scripts read them.
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
    /// How many times as fast as the reference on the same board, if that was measured there.
    pub(crate) ratio: Option<f64>,
    /// What one thread does, as a share of what it does on the fewest threads.
    pub(crate) efficiency: f64,
    #[serde(serialize_with = "as_string", deserialize_with = "from_string")]
    pub(crate) total: u128,
    /// The CPU's name; empty if the rows were written without it.
    #[serde(default)]
    pub(crate) cpu: String,
    /// Two standard errors of the ratio, from the ratios of the rounds.
    #[serde(default)]
    pub(crate) ratio_error: Option<f64>,
    /// Which engine the others are measured by, on how many threads, with which kernel; older rows do
    /// not tell.
    #[serde(default)]
    pub(crate) reference_engine: String,
    #[serde(default)]
    pub(crate) reference_threads: Option<usize>,
    #[serde(default)]
    pub(crate) reference_kernel: String,
    /// The time of each run, in their order; only in JSON.
    #[serde(skip_deserializing)]
    pub(crate) run_seconds: Vec<f64>,
}

fn from_string<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

/// The engine, and its kernel if it has several.
pub(crate) fn name(engine: Engine, kernel: &str) -> String {
    if engine.has_kernels() { format!("{engine} {kernel}") } else { engine.name().to_owned() }
}

/// A factor to so many figures: `2.71`, `1 910`.
pub(crate) fn factor(factor: f64, figures_of_it: usize) -> String {
    let text = figures(factor, figures_of_it);
    if text.contains(['.', 'e']) { text } else { grouped(text) }
}

/// The titles of the columns.
pub(crate) const TITLES: &str =
    " n engine             thr  seconds         min..max                   ratio eff.";

/// A line of the table, 80 characters wide.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, threads, efficiency, .. } = self;
        let median = eight_places(self.median_seconds);
        let [least, most] = [self.min_seconds, self.max_seconds].map(|time| figures(time, 3));
        let range = format!("{least}..{most}");
        let mut ratio = match self.ratio {
            None => "-".to_owned(),
            Some(ratio) if figures(ratio, 3) == "1.00" => "1.00".to_owned(),
            Some(ratio @ 1.0..) => factor(ratio, 3) + " x faster",
            Some(ratio) => factor(1.0 / ratio, 3) + " x slower",
        };
        if let (Some(value), Some(error @ f64::MIN_POSITIVE..)) = (self.ratio, self.ratio_error) {
            ratio += &format!(" ± {} %", (100.0 * error / value).ceil().min(999.0));
        }
        write!(f, "{n:>2} {:<17} {threads:>4} {median:>8} ", name(self.engine, &self.kernel))?;
        write!(f, "{range:>16} {ratio:>23} {efficiency:>4.2}")
    }
}

/// Reads what `compare --csv` wrote, one row at least. Files may stand one after another in it, each with
/// its header.
pub(crate) fn read(path: &Path) -> Result<Vec<Timing>, Failure> {
    let wrong = |reason: &dyn Display| {
        let path = path.display();
        Exit::Usage
            .because(format!("--draw: {path} is no output of 'nqueens compare --csv': {reason}"))
    };
    if std::fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        return Err(wrong(&"it is not a plain file"));
    }
    let rows = csv::Reader::from_path(path)
        .and_then(|mut reader| {
            let header = reader.headers()?.clone();
            let lines = reader.into_records().filter(|line| line.as_ref().ok() != Some(&header));
            lines.map(|line| line?.deserialize(Some(&header))).collect::<Result<Vec<Timing>, _>>()
        })
        .map_err(|error| wrong(&error))?;
    for Timing { n, threads, median_seconds, min_seconds, max_seconds, .. } in &rows {
        let in_order = min_seconds <= median_seconds && median_seconds <= max_seconds;
        if !(*min_seconds > 0.0 && in_order && max_seconds.is_finite() && *threads > 0) {
            return Err(wrong(&format!("n = {n}: times must be positive and in order")));
        }
    }
    if rows.is_empty() { Err(wrong(&"it has no rows")) } else { Ok(rows) }
}
