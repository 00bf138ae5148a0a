//! How many times as fast one configuration is as another, with the error.
//!
//! Times scatter by factors, so their logarithms are taken for normally distributed. The interval of 95% is that of
//! Student's t, because few runs say little of their own scatter.

use std::fmt;

use crate::cli::print::format::{figures, rounded_to_figures};

/// Returns the least of some times, the median, and the greatest.
pub(super) fn times(seconds: &[f64]) -> [f64; 3] {
    let mut sorted = seconds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let middle = sorted.len() / 2;
    let median = f64::midpoint(sorted[last / 2], sorted[middle]);
    [sorted[0], median, sorted[last]]
}

/// Returns the time in the middle.
pub(super) fn median(seconds: &[f64]) -> f64 {
    let [_, median, _] = times(seconds);
    median
}

/// How many times as fast one is as the other, by medians.
#[derive(Debug)]
pub(super) struct Ratio {
    pub(super) value: f64,
    /// Half of the 95% interval. `None` if one of the two has a single run.
    pub(super) error: Option<f64>,
}

impl Ratio {
    /// Compares runs that took turns, from the ratio in each round, because whatever slows a round down falls on both.
    pub(super) fn of_rounds(slow: &[f64], fast: &[f64]) -> Self {
        let mut logarithms = Vec::new();
        for (slow, fast) in slow.iter().zip(fast) {
            logarithms.push((slow / fast).ln());
        }
        Self::new(slow, fast, Mean::of(&logarithms))
    }

    /// Compares runs that did not take turns, by Welch's test: the two may scatter differently, and may be of different
    /// number.
    pub(super) fn of_separate_runs(slow: &[f64], fast: &[f64]) -> Self {
        let logarithms = |seconds: &[f64]| seconds.iter().map(|run| run.ln()).collect::<Vec<f64>>();
        let means = Mean::of(&logarithms(slow)).zip(Mean::of(&logarithms(fast)));
        let difference = means.map(|(slow, fast)| slow.minus(&fast));
        Self::new(slow, fast, difference)
    }

    /// Divides the medians. `logarithm` is the mean of the logarithm of the ratio.
    ///
    /// Student's interval lies around the mean. The ratio of the medians may be further from the truth, so its interval
    /// is longer by its distance from the mean. A ratio has more room upwards than downwards, and its error is the one
    /// upwards.
    fn new(slow: &[f64], fast: &[f64], logarithm: Option<Mean>) -> Self {
        let value = median(slow) / median(fast);
        let mut error = None;
        if let Some(mean) = logarithm {
            let distance = (value.ln() - mean.value).abs();
            error = Some(value * (mean.half_width() + distance).exp_m1());
        }
        Self { value, error }
    }

    pub(super) fn json_value(&self) -> f64 {
        rounded_to_figures(self.value, 4)
    }

    pub(super) fn json_error(&self) -> Option<f64> {
        self.error.map(|error| rounded_to_figures(error, 4))
    }
}

/// The mean of normally distributed numbers.
struct Mean {
    value: f64,
    /// The variance of the mean.
    variance: f64,
    degrees_of_freedom: f64,
}

impl Mean {
    /// Returns the mean of some numbers, with its variance by their scatter. A single number has none.
    fn of(numbers: &[f64]) -> Option<Self> {
        if numbers.len() < 2 {
            return None;
        }
        let len = numbers.len() as f64;
        let value = numbers.iter().sum::<f64>() / len;
        let squares: f64 = numbers.iter().map(|number| (number - value).powi(2)).sum();
        Some(Self { value, variance: squares / (len - 1.0) / len, degrees_of_freedom: len - 1.0 })
    }

    /// Returns the difference of two independent means, with the degrees of freedom by Welch and Satterthwaite.
    fn minus(&self, other: &Self) -> Self {
        let variance = self.variance + other.variance;
        let of_one = self.variance.powi(2) / self.degrees_of_freedom;
        let of_other = other.variance.powi(2) / other.degrees_of_freedom;
        let degrees_of_freedom = variance.powi(2) / (of_one + of_other);
        // Without any scatter they are not defined. The interval has no width then.
        let degrees_of_freedom = degrees_of_freedom.max(1.0);
        Self { value: self.value - other.value, variance, degrees_of_freedom }
    }

    /// Returns half of the 95% interval.
    fn half_width(&self) -> f64 {
        student(self.degrees_of_freedom) * self.variance.sqrt()
    }
}

/// Returns the number below which Student's t lies with a probability of 97.5%. Degrees of freedom are rounded down, as
/// for a table.
fn student(degrees_of_freedom: f64) -> f64 {
    const OF_FEW: [f64; 9] =
        [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622];
    let whole = degrees_of_freedom.floor();
    for (few, quantile) in (1_u32..).zip(OF_FEW) {
        if whole == f64::from(few) {
            return quantile;
        }
    }
    // The expansion of Cornish and Fisher (M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.5).
    1.959_964 + 2.372_271 / whole + 2.822_500 / whole.powi(2) + 2.555_850 / whole.powi(3)
}

/// Prints a ratio such as `0.0625 ± 0.0012`. If the interval would begin below zero, prints only its upper end.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = figures(self.value, 3);
        match self.error {
            Some(error) if error >= self.value => {
                write!(f, "at most {}", figures(self.value + error, 2))
            }
            Some(error) if error > 0.0 => write!(f, "{value} ± {}", figures(error, 2)),
            _ => f.write_str(&value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_runs_in_turn_comes_from_the_rounds() {
        let error = |one: &[f64], other: &[f64]| Ratio::of_rounds(one, other).error;
        assert_eq!(error(&[1.0], &[2.0]), None);
        // A machine that gets slower slows both down.
        assert_eq!(error(&[1.0, 2.0], &[2.0, 4.0]), Some(0.0));
        // Logarithms of 1 and e: their standard deviation is 1/sqrt(2), that of the mean is 1/2. The ratio of the
        // medians is further up than the mean of the logarithms, which is 1/2.
        let error = error(&[1.0, std::f64::consts::E], &[1.0, 1.0]).expect("two rounds");
        let value = f64::midpoint(1.0, std::f64::consts::E);
        let expected = value * (student(1.0) / 2.0 + value.ln() - 0.5).exp_m1();
        assert!((error / expected - 1.0).abs() < 1e-12, "{error}");
    }

    #[test]
    fn the_error_of_separate_runs_comes_from_both() {
        let ratio = Ratio::of_separate_runs;
        assert_eq!(ratio(&[1.0], &[2.0, 3.0]).error, None);
        // Equal runs have no scatter.
        let Ratio { value, error } = ratio(&[3.0, 3.0], &[2.0, 2.0]);
        assert!(value == 1.5 && error.expect("both") < 1e-12);
        // Two runs that happen to have the same order are no rounds: each has a mean with the standard error 1/2, and
        // both together have two degrees of freedom.
        let e = std::f64::consts::E;
        let Ratio { value, error } = ratio(&[1.0, e], &[1.0, e]);
        let expected = (student(2.0) * 0.5f64.sqrt()).exp_m1();
        assert!((value - 1.0).abs() < 1e-12 && (error.expect("both") - expected).abs() < 1e-12);
        // Nine equal runs add nothing to the error of the two.
        let Ratio { value, error } = ratio(&[1.0, e], &[1.0; 9]);
        let expected = value * (student(1.0) / 2.0 + value.ln() - 0.5).exp_m1();
        assert!((error.expect("both") / expected - 1.0).abs() < 1e-12);
    }

    /// Against the table of many textbooks.
    #[test]
    fn quantiles_of_student_are_those_of_the_table() {
        for (degrees, quantile) in [
            (1.0, 12.706),
            (1.99, 12.706),
            (2.0, 4.303),
            (4.0, 2.776),
            (8.0, 2.306),
            (9.0, 2.262),
            (10.0, 2.228),
            (11.0, 2.201),
            (15.0, 2.131),
            (30.0, 2.042),
            (120.0, 1.980),
            (1e5, 1.960),
        ] {
            assert!((student(degrees) - quantile).abs() < 6e-4, "{degrees}: {}", student(degrees));
        }
    }

    /// Two programs of equal speed, measured many times. Whole rounds are slow, which both feel, and each run scatters
    /// by itself. The interval of 95% holds the true ratio about as often as it says.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = fastrand::Rng::with_seed(5);
        // Of normally distributed numbers, by Box and Muller.
        let mut normal = || {
            let angle = std::f64::consts::TAU * random.f64();
            (-2.0 * (1.0 - random.f64()).ln()).sqrt() * angle.cos()
        };
        const TRIALS: usize = 4000;
        for of_rounds in [0.0, 0.2] {
            for runs in [2, 3, 5, 9, 20] {
                let mut held = [0; 2];
                for _ in 0..TRIALS {
                    let mut one = Vec::new();
                    let mut other = Vec::new();
                    for _ in 0..runs {
                        let round = of_rounds * normal();
                        one.push((round + 0.03 * normal()).exp());
                        other.push((round + 0.03 * normal()).exp());
                    }
                    let apart: Vec<f64> = (0..5).map(|_| (0.1 * normal()).exp()).collect();
                    let ratios =
                        [Ratio::of_rounds(&one, &other), Ratio::of_separate_runs(&apart, &one)];
                    for (held, Ratio { value, error }) in held.iter_mut().zip(ratios) {
                        *held += usize::from((value - 1.0).abs() <= error.expect("several runs"));
                    }
                }
                for held in held {
                    let share = held as f64 / TRIALS as f64;
                    assert!((0.93..0.999).contains(&share), "{runs} runs, {of_rounds}: {held}");
                }
            }
        }
    }
}
