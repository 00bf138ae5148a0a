//! The rows of `compare`: written as text, CSV or JSON, and read again from CSV.

use std::fmt::{self, Display};
use std::path::Path;
use std::str::FromStr;

use nqueens::Engine;
use serde::{Deserialize, Deserializer, Serialize};

use super::format::{as_string, eight_places, figures};
use crate::cli::exit::{Exit, Failure};

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
    /// Which engine the others are measured by, on how many threads; older rows do not tell.
    #[serde(default)]
    pub(crate) reference_engine: String,
    #[serde(default)]
    pub(crate) reference_threads: Option<usize>,
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

/// The titles of the columns.
pub(crate) const TITLES: &str =
    " n  engine       threads  seconds           min..max   sol/s          ratio eff.";

/// A line of the table, 80 characters wide.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, threads, solutions_per_second, efficiency, .. } = self;
        let [median, least, most] =
            [self.median_seconds, self.min_seconds, self.max_seconds].map(eight_places);
        let range = format!("{least}..{most}");
        let ratio = match (self.ratio, self.ratio_error) {
            (None, _) => "-".to_owned(),
            (Some(ratio), Some(error)) if error > 0.0 => {
                let percent = (100.0 * error / ratio).ceil().min(999.0);
                format!("{} ± {percent} %", figures(ratio, 3))
            }
            (Some(ratio), _) => figures(ratio, 3),
        };
        write!(f, "{n:>2}  {:<12} {threads:>7} {median:>8} {range:>18} ", self.engine.name())?;
        write!(f, "{solutions_per_second:>7.2e} {ratio:>14} {efficiency:>4.2}")
    }
}

/// Reads what `compare --csv` wrote, one row at least.
pub(crate) fn read(path: &Path) -> Result<Vec<Timing>, Failure> {
    let wrong = |reason: &dyn Display| {
        let path = path.display();
        Exit::Usage
            .because(format!("--draw: {path} is no output of 'nqueens compare --csv': {reason}"))
    };
    let rows = csv::Reader::from_path(path)
        .and_then(|mut reader| reader.deserialize().collect::<Result<Vec<Timing>, _>>())
        .map_err(|error| wrong(&error))?;
    for Timing { n, threads, median_seconds, min_seconds, max_seconds, .. } in &rows {
        let in_order = min_seconds <= median_seconds && median_seconds <= max_seconds;
        if !(*min_seconds > 0.0 && in_order && max_seconds.is_finite() && *threads > 0) {
            return Err(wrong(&format!("n = {n}: times must be positive and in order")));
        }
    }
    if rows.is_empty() { Err(wrong(&"it has no rows")) } else { Ok(rows) }
}
