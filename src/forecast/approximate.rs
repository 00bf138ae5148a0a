//! Estimated numbers with their errors.

use std::fmt;

/// An estimated number with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approximate {
    /// The expected value.
    pub value: f64,
    /// The standard error: the true value lies within twice this distance in 19 of 20 cases. It is infinite if the
    /// sample is too small to estimate it.
    pub standard_error: f64,
}

/// Writes the value and twice its standard error: `45.0 ± 5.5`, or `roughly 45.0` if the error is not known. The
/// precision is one decimal, or that of the format: `{:.0}`.
///
/// ```
/// use nqueens::Approximate;
///
/// let seconds = Approximate { value: 45.0, standard_error: 2.75 };
/// assert_eq!(seconds.to_string(), "45.0 ± 5.5");
/// assert_eq!(format!("{seconds:.0}"), "45 ± 6");
/// ```
impl fmt::Display for Approximate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, standard_error } = self;
        let decimals = f.precision().unwrap_or(1);
        if standard_error.is_finite() {
            write!(f, "{value:.decimals$} ± {:.decimals$}", 2.0 * standard_error)
        } else {
            write!(f, "roughly {value:.decimals$}")
        }
    }
}

/// The part of a time that is added to its standard error. Runs of one count differ by some percent, which no sample
/// shows.
const TIMES_DIFFER: f64 = 0.03;

impl Approximate {
    /// Makes a number whose error is unknown.
    pub(crate) fn roughly(value: f64) -> Self {
        Self { value, standard_error: f64::INFINITY }
    }

    /// Adds the difference between runs, which no sample shows, to the standard error of a time.
    pub(crate) fn with_run_variation(self) -> Self {
        Self { standard_error: self.standard_error.hypot(TIMES_DIFFER * self.value), ..self }
    }

    /// Divides the number and its error.
    pub(crate) fn divided_by(self, parts: f64) -> Self {
        Self { value: self.value / parts, standard_error: self.standard_error / parts }
    }

    /// Returns whether the error of this number is smaller than that of another, each in relation to its value.
    pub(super) fn is_closer_than(self, other: Self) -> bool {
        self.standard_error * other.value < other.standard_error * self.value
    }
}
