//! The rows of `compare`, written as text, CSV or JSON.

use std::fmt;

use nqueens::{Engine, Kernel};
use serde::Serialize;

use super::format::{as_string, eight_places, figures, grouped};

/// What an engine with a kernel on a number of threads took for a board. The names are promised:
/// scripts read them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Timing {
    pub(crate) n: u32,
    #[serde(serialize_with = "as_string")]
    pub(crate) engine: Engine,
    #[serde(serialize_with = "as_string")]
    pub(crate) kernel: Kernel,
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
    #[serde(serialize_with = "as_string")]
    pub(crate) total: u128,
    /// The CPU's name.
    pub(crate) cpu: String,
    /// Two standard errors of the ratio, from the ratios of the rounds.
    pub(crate) ratio_error: Option<f64>,
    /// By whom the others are measured, the same on all boards.
    pub(crate) reference: String,
    /// The time of each run, in their order; only in JSON.
    pub(crate) run_seconds: Vec<f64>,
}

/// The engine, and its kernel if it has several.
pub(crate) fn name(engine: Engine, kernel: Kernel) -> String {
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
        write!(f, "{n:>2} {:<17} {threads:>4} {median:>8} ", name(self.engine, self.kernel))?;
        write!(f, "{range:>16} {ratio:>23} {efficiency:>4.2}")
    }
}
