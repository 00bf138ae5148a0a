//! From the times of single runs to the rows of the table.

use std::fmt;

use crate::{BoardSize, Engine, Kernel};

use crate::cli::output::format::{figures, many, rounded, rounded_to_figures, time};
use crate::cli::output::report::Report;

/// An engine with a kernel on a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Configuration {
    pub(super) engine: Engine,
    /// Portable for engines without kernels.
    pub(super) kernel: Kernel,
    pub(super) threads: usize,
}

impl Configuration {
    /// Returns the name of the engine, and of its kernel if it has several.
    pub(super) fn name(&self) -> String {
        let Self { engine, kernel, .. } = self;
        if engine.has_kernels() { format!("{engine} {kernel}") } else { engine.to_string() }
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.name(), many(self.threads, "thread"))
    }
}

/// The timed runs of a configuration on a board.
#[derive(Clone, Debug)]
pub(super) struct Timings {
    pub(super) size: BoardSize,
    pub(super) configuration: Configuration,
    /// The total of the run to warm up.
    pub(super) total: u128,
    /// The time of each run.
    pub(super) seconds: Vec<f64>,
}

/// The titles of the columns.
pub(super) const TITLES: &str = " n engine             thr  median   least ratio";

/// The titles of the columns with a speed-up, below a line that explains it.
pub(super) const SPEED_UP_TITLES: &str = "\
speed-up: over the fewest threads; efficiency: share of perfect scaling
 n engine             thr  median speed-up     efficiency    ratio";

impl Timings {
    /// Returns the least time, the one in the middle (or the mean of the two in the middle), and the greatest.
    ///
    /// # Panics
    ///
    /// If there is no timed run.
    pub(super) fn times(&self) -> [f64; 3] {
        let mut sorted = self.seconds.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = sorted.len() - 1;
        let middle = sorted.len() / 2;
        let median = f64::midpoint(sorted[last / 2], sorted[middle]);
        [sorted[0], median, sorted[last]]
    }

    /// Returns the time in the middle.
    pub(super) fn median(&self) -> f64 {
        let [_, median, _] = self.times();
        median
    }

    /// Returns the row of the table, with the ratio to the reference of this name, and with the speed-up over the
    /// fewest of several numbers of threads on the same board. The names of the fields are promised, because scripts
    /// read them.
    pub(super) fn row(
        &self,
        ratio: Option<Ratio>,
        reference: &str,
        fewest: Option<usize>,
        board: &[Self],
        cpu: Option<&str>,
    ) -> Report {
        let Configuration { engine, kernel, threads } = self.configuration;
        let [least, median, greatest] = self.times();
        let n = self.size.get();
        let name = self.configuration.name();
        let least_text = time(least);
        let median_text = time(median);
        let speed_up = fewest.and_then(|fewest| self.speed_up(fewest, board));

        let mut text = format!("{n:>2} {name:<17} {threads:>4} {median_text:>7} ");
        if fewest.is_some() {
            text += &match &speed_up {
                Some(speed_up) => speed_up.text(),
                None => format!("{:<12} {:<13} ", "-", "-"),
            };
        } else {
            text += &format!("{least_text:>7} ");
        }
        match &ratio {
            Some(ratio) => text += &ratio.to_string(),
            None => text += "-",
        }

        let seconds: Vec<f64> = self.seconds.iter().map(|seconds| rounded(*seconds, 9)).collect();
        let efficiency = speed_up.as_ref().map(|speed_up| speed_up.efficiency);
        let speed_up = speed_up.map(|speed_up| speed_up.ratio);
        let mut row = Report::default();
        row.row("", text)
            .field("n", n)
            .field("engine", engine.name())
            .field("kernel", kernel.name())
            .field("threads", threads)
            .field("repeats", seconds.len())
            .field("median_seconds", rounded(median, 9))
            .field("min_seconds", rounded(least, 9))
            .field("max_seconds", rounded(greatest, 9))
            .field("ratio", ratio.as_ref().map(Ratio::json_value))
            .field("total", self.total.to_string())
            .field("cpu", cpu)
            .field("ratio_error", ratio.as_ref().and_then(Ratio::json_error))
            .field("reference", reference)
            .field("run_seconds", seconds)
            .field("speed_up", speed_up.as_ref().map(Ratio::json_value))
            .field("speed_up_error", speed_up.as_ref().and_then(Ratio::json_error))
            .field("efficiency", efficiency.map(|part| rounded_to_figures(part, 4)));
        row
    }

    /// Returns the speed-up over the same engine and kernel on the fewest threads, if they were timed on this board.
    fn speed_up(&self, fewest: usize, board: &[Self]) -> Option<SpeedUp> {
        let on_fewest = Configuration { threads: fewest, ..self.configuration };
        let ratio = self.ratio_to(on_fewest, board)?;
        let efficiency = ratio.value * fewest as f64 / self.configuration.threads as f64;
        Some(SpeedUp { ratio, efficiency })
    }

    /// Returns the ratio to a configuration that counted in turn with this one, if it did on this board.
    pub(super) fn ratio_to(&self, other: Configuration, board: &[Self]) -> Option<Ratio> {
        let other = board.iter().find(|timings| timings.configuration == other)?;
        // From the ratio in each round, because whatever slows a round down falls on both.
        let rounds = other.seconds.iter().zip(&self.seconds);
        let logarithms: Vec<f64> = rounds.map(|(other, own)| (other / own).ln()).collect();
        Some(Ratio::new(other, self, variance_of_mean(&logarithms)))
    }

    /// Returns the ratio to runs elsewhere or at another time.
    pub(super) fn ratio_to_earlier(&self, earlier: &Self) -> Ratio {
        let variance =
            match (variance_of_mean(&earlier.logarithms()), variance_of_mean(&self.logarithms())) {
                (Some(earlier), Some(own)) => Some(earlier + own),
                _ => None,
            };
        Ratio::new(earlier, self, variance)
    }

    /// Returns the logarithm of the time of each run.
    fn logarithms(&self) -> Vec<f64> {
        self.seconds.iter().map(|seconds| seconds.ln()).collect()
    }
}

/// Returns the variance of the mean of numbers, from their scatter. A single number has none.
fn variance_of_mean(numbers: &[f64]) -> Option<f64> {
    if numbers.len() < 2 {
        return None;
    }
    let len = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / len;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    Some(squares / (len - 1.0) / len)
}

/// How many times as fast a configuration is on more threads.
struct SpeedUp {
    ratio: Ratio,
    /// The share of perfect scaling.
    efficiency: f64,
}

impl SpeedUp {
    /// Returns the two columns of the table. The efficiency has the relative error of the speed-up.
    fn text(&self) -> String {
        let Ratio { value, error } = self.ratio;
        let percent_of_one = 100.0 * self.efficiency / value;
        let percent = percent_of_one * value;
        let efficiency = match error {
            Some(error) if error >= value => {
                format!("at most {} %", whole(percent + percent_of_one * error))
            }
            Some(error) if error > 0.0 => {
                format!("{} ± {} %", whole(percent), whole(percent_of_one * error))
            }
            _ => format!("{} %", whole(percent)),
        };
        format!("{:<12} {efficiency:<13} ", self.ratio.to_string())
    }
}

/// Returns a number without decimals, or a large one with an exponent.
fn whole(number: f64) -> String {
    if number < 9999.5 { format!("{number:.0}") } else { format!("{number:.0e}") }
}

/// How many times as fast one is as the other, by medians.
#[derive(Debug)]
pub(super) struct Ratio {
    value: f64,
    /// Two standard errors. `None` if one of the two has a single run.
    error: Option<f64>,
}

impl Ratio {
    /// Divides the medians. `variance` is that of the logarithm of the ratio.
    fn new(slow: &Timings, fast: &Timings, variance: Option<f64>) -> Self {
        let value = slow.median() / fast.median();
        let error = variance.map(|variance| value * 2.0 * variance.sqrt());
        Self { value, error }
    }

    fn json_value(&self) -> f64 {
        rounded_to_figures(self.value, 4)
    }

    fn json_error(&self) -> Option<f64> {
        self.error.map(|error| rounded_to_figures(error, 4))
    }
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

    fn configuration(engine: Engine, threads: usize) -> Configuration {
        Configuration { engine, kernel: Kernel::PORTABLE, threads }
    }

    fn timings(n: u32, engine: Engine, threads: usize, seconds: &[f64]) -> Timings {
        Timings {
            size: BoardSize::new(n).expect("in range"),
            configuration: configuration(engine, threads),
            total: 92,
            seconds: seconds.to_vec(),
        }
    }

    /// A row as JSON and as text, with a speed-up if the board has several numbers of threads.
    fn row(
        timings: &Timings,
        reference: Configuration,
        board: &[Timings],
    ) -> (serde_json::Value, String) {
        let threads = || board.iter().map(|timings| timings.configuration.threads);
        let fewest = threads().min().filter(|fewest| Some(*fewest) != threads().max());
        let ratio = timings.ratio_to(reference, board);
        let row = timings.row(ratio, &reference.to_string(), fewest, board, Some("a CPU"));
        let text = row.rows().map(|(_, text)| text.as_str()).collect();
        (Report::default().put_below(row), text)
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let times = |seconds: &[f64]| timings(8, Engine::Colours, 1, seconds).times();
        assert_eq!(times(&[3.0]), [3.0; 3]);
        assert_eq!(times(&[4.0, 1.0]), [1.0, 2.5, 4.0]);
        assert_eq!(times(&[9.0, 1.0, 2.0]), [1.0, 2.0, 9.0]);
        assert_eq!(times(&[1.0, 9.0, 2.0, 4.0]), [1.0, 3.0, 9.0]);
    }

    #[test]
    fn ratios_are_to_the_reference() {
        let board = [
            timings(8, Engine::Subtrees, 4, &[2.0]),
            timings(8, Engine::Subtrees, 1, &[4.0]),
            timings(8, Engine::Colours, 2, &[1.0, 0.5, 0.3]),
        ];
        let reference = board[0].configuration;
        let rows = board.each_ref().map(|timings| row(timings, reference, &board).0);
        assert_eq!(rows.each_ref().map(|row| row["ratio"].as_f64()), [1.0, 0.5, 4.0].map(Some));
        let last = ["repeats", "min_seconds", "max_seconds"].map(|name| rows[2][name].as_f64());
        assert_eq!(last, [3.0, 0.3, 1.0].map(Some));
    }

    #[test]
    fn a_reference_that_was_left_out_gives_no_ratio() {
        let reference = configuration(Engine::Permutation, 1);
        let board = [timings(8, Engine::Colours, 1, &[1.0, 2.0])];
        let (row, text) = row(&board[0], reference, &board);
        assert!(row["ratio"].is_null() && row["ratio_error"].is_null(), "{row}");
        assert_eq!(row["reference"], reference.to_string());
        assert!(text.ends_with(" -"), "{text}");
    }

    #[test]
    fn the_error_of_a_ratio_comes_from_the_rounds() {
        let error = |one: &[f64], other: &[f64]| {
            let board =
                [timings(8, Engine::Subtrees, 1, one), timings(8, Engine::Colours, 1, other)];
            board[1].ratio_to(board[0].configuration, &board).expect("it is there").error
        };
        assert_eq!(error(&[1.0], &[2.0]), None);
        // A machine that gets slower slows both down.
        assert_eq!(error(&[1.0, 2.0], &[2.0, 4.0]), Some(0.0));
        // Logarithms of 1 and e: their standard deviation is 1/sqrt(2), that of the mean is 1/2. The ratio of
        // the medians is their mean.
        let error = error(&[1.0, std::f64::consts::E], &[1.0, 1.0]).expect("two rounds");
        assert!((error - f64::midpoint(1.0, std::f64::consts::E)).abs() < 1e-12, "{error}");
    }

    #[test]
    fn the_error_of_a_ratio_to_an_earlier_file_comes_from_both() {
        let ratio = |earlier: &[f64], now: &[f64]| {
            let earlier = timings(8, Engine::Colours, 1, earlier);
            let now = timings(8, Engine::Colours, 1, now);
            now.ratio_to_earlier(&earlier)
        };
        assert_eq!(ratio(&[1.0], &[2.0, 3.0]).error, None);
        assert_eq!(ratio(&[3.0, 3.0], &[2.0, 2.0]).to_string(), "1.50");
        // Two runs that happen to have the same order are no rounds: each has a mean with the standard
        // error 1/2, and the numbers of runs may differ.
        let e = std::f64::consts::E;
        let Ratio { value, error } = ratio(&[1.0, e], &[1.0, e]);
        assert!((value - 1.0).abs() < 1e-12 && (error.expect("both") - 2f64.sqrt()).abs() < 1e-12);
        let Ratio { value, error } = ratio(&[1.0, e], &[1.0; 9]);
        assert!((error.expect("both") - value).abs() < 1e-12);
    }

    #[test]
    fn a_speed_up_is_to_the_fewest_threads() {
        let board = [
            timings(8, Engine::Colours, 8, &[1.0, 1.0]),
            timings(8, Engine::Colours, 2, &[3.0, 3.0]),
            timings(8, Engine::Subtrees, 8, &[1.0, 1.0]),
        ];
        let rows = board.each_ref().map(|timings| row(timings, board[0].configuration, &board));
        let names = ["speed_up", "speed_up_error", "efficiency"];
        let fields = rows.each_ref().map(|(row, _)| names.map(|name| row[name].as_f64()));
        // Engine subtrees was left out on two threads.
        let wanted =
            [[Some(3.0), Some(0.0), Some(0.75)], [Some(1.0), Some(0.0), Some(1.0)], [None; 3]];
        assert_eq!(fields, wanted);
        assert!(rows[0].1.ends_with("s 3.00         75 %          1.00"), "{}", rows[0].1);
        assert!(rows[2].1.ends_with("s -            -             1.00"), "{}", rows[2].1);
        assert_eq!(
            SPEED_UP_TITLES.lines().last().and_then(|titles| titles.find("ratio")),
            rows[0].1.find("1.00")
        );
        let alone = row(&board[0], board[0].configuration, &board[..1]);
        assert!(names.iter().all(|name| alone.0[*name].is_null()), "{alone:?}");
        assert_eq!(TITLES.find("ratio"), alone.1.find("1.00"));
    }

    /// The efficiency has the relative error of the speed-up.
    #[test]
    fn a_speed_up_and_its_efficiency_have_errors_and_neither_reaches_below_zero() {
        let speed_up = |value, error| {
            SpeedUp { ratio: Ratio { value, error }, efficiency: value / 2.0 }.text()
        };
        assert_eq!(speed_up(1.8, Some(0.1)), "1.80 ± 0.10  90 ± 5 %      ");
        assert_eq!(speed_up(5.46, Some(9.0)), "at most 14   at most 723 % ");
        assert_eq!(speed_up(1.8, None), "1.80         90 %          ");
        let text = |value, error| Ratio { value, error }.to_string();
        assert_eq!(text(34.0, Some(120.0)), "at most 150");
    }

    #[test]
    fn every_row_fits_80_columns() {
        for slow in [[1.1e-4, 1.2e-4], [0.0999, 0.0998], [3.1e3, 3.2e3], [8e4, 9e5], [1.0, 1e-9]] {
            let board = [
                timings(32, Engine::Subtrees, 4096, &[0.0995, 0.0991]),
                timings(32, Engine::Subtrees, 2048, &slow),
            ];
            for reference in [board[0].configuration, configuration(Engine::Colours, 1)] {
                let rows = board.iter().map(|timings| row(timings, reference, &board).1);
                for line in rows.chain([TITLES, SPEED_UP_TITLES].map(str::to_owned)) {
                    for line in line.lines() {
                        assert!(line.chars().count() <= 80, "{line}");
                    }
                }
            }
        }
        let text = |value, error| Ratio { value, error }.to_string();
        assert_eq!(text(15.6, Some(0.95)), "15.6 ± 0.95");
        assert_eq!(text(1.0, Some(0.0)), "1.00");
        assert_eq!(text(5.2e-4, None), "5.2e-4");
    }
}
