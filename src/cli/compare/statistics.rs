//! From the times of single runs to the rows of the table.

use std::fmt;

use nqueens::{BoardSize, Engine, Kernel};

use crate::cli::format::{figures, many, rounded, rounded_to_figures, time};
use crate::cli::report::Report;

/// An engine with a kernel on a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contestant {
    pub(super) engine: Engine,
    /// Portable for engines without kernels.
    pub(super) kernel: Kernel,
    pub(super) threads: usize,
}

impl Contestant {
    /// The engine, and its kernel if it has several.
    pub(super) fn name(&self) -> String {
        let Self { engine, kernel, .. } = self;
        if engine.has_kernels() { format!("{engine} {kernel}") } else { engine.to_string() }
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.name(), many(self.threads, "thread"))
    }
}

/// The timed runs of a contestant on a board.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    pub(super) size: BoardSize,
    pub(super) contestant: Contestant,
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
 n engine             thr  median   least speed-up efficiency ratio";

impl Runs {
    /// The least time, the one in the middle (or the mean of two), and the greatest. There must be a
    /// timed run.
    pub(super) fn times(&self) -> [f64; 3] {
        let mut sorted = self.seconds.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let (last, middle) = (sorted.len() - 1, sorted.len() / 2);
        [sorted[0], f64::midpoint(sorted[last / 2], sorted[middle]), sorted[last]]
    }

    /// The row of the table, with the ratio to the reference of this name, and with the speed-up to the fewest
    /// of several numbers of threads on the same board. The names of the fields are promised: scripts read them.
    pub(super) fn row(
        &self,
        ratio: Option<Ratio>,
        reference: &str,
        fewest: Option<usize>,
        board: &[Self],
        cpu: &str,
    ) -> Report {
        let Contestant { engine, kernel, threads } = self.contestant;
        let [least, median, greatest] = self.times();
        let text = ratio.as_ref().map_or("-".to_owned(), Ratio::to_string);
        let speed_up = fewest.and_then(|fewest| {
            let ratio = self.ratio_to(Contestant { threads: fewest, ..self.contestant }, board)?;
            Some((ratio.value * fewest as f64 / threads as f64, ratio))
        });
        let text = match &speed_up {
            _ if fewest.is_none() => text,
            None => format!("{:>8} {:>10} {text}", "-", "-"),
            Some((efficiency, ratio)) => {
                format!("{:>8} {:>8.0} % {text}", figures(ratio.value, 3), 100.0 * efficiency)
            }
        };
        let (efficiency, speed_up) = speed_up.unzip();
        let (name, n) = (self.contestant.name(), self.size.get());
        let [least_text, median_text] = [least, median].map(time);
        let seconds: Vec<f64> = self.seconds.iter().map(|seconds| rounded(*seconds, 9)).collect();
        let value = |ratio: &Option<Ratio>| Some(rounded_to_figures(ratio.as_ref()?.value, 4));
        let error = |ratio: Option<Ratio>| Some(rounded_to_figures(ratio?.error?, 4));
        let mut row = Report::default();
        row.row(
            "",
            format_args!("{n:>2} {name:<17} {threads:>4} {median_text:>7} {least_text:>7} {text}"),
        )
        .field("n", n)
        .field("engine", engine.name())
        .field("kernel", kernel.name())
        .field("threads", threads)
        .field("repeats", seconds.len())
        .field("median_seconds", rounded(median, 9))
        .field("min_seconds", rounded(least, 9))
        .field("max_seconds", rounded(greatest, 9))
        .field("ratio", value(&ratio))
        .field("total", self.total.to_string())
        .field("cpu", cpu)
        .field("ratio_error", error(ratio))
        .field("reference", reference)
        .field("run_seconds", seconds)
        .field("speed_up", value(&speed_up))
        .field("speed_up_error", error(speed_up))
        .field("efficiency", efficiency.map(|part| rounded_to_figures(part, 4)));
        row
    }

    /// The ratio to a contestant that counted in turn with this one, if it did on this board.
    pub(super) fn ratio_to(&self, other: Contestant, board: &[Self]) -> Option<Ratio> {
        let other = board.iter().find(|runs| runs.contestant == other)?;
        // From the ratio in each round: whatever slows a round down falls on both.
        let rounds = other.seconds.iter().zip(&self.seconds);
        let variance = variance_of_mean(rounds.map(|(other, own)| (other / own).ln()));
        Some(Ratio::new(other, self, variance))
    }

    /// The ratio to runs elsewhere or at another time.
    pub(super) fn ratio_to_earlier(&self, earlier: &Self) -> Ratio {
        let variance = |runs: &Self| variance_of_mean(runs.seconds.iter().map(|time| time.ln()));
        let variances = variance(earlier).zip(variance(self));
        Ratio::new(earlier, self, variances.map(|(earlier, own)| earlier + own))
    }
}

/// Returns the variance of the mean of numbers, from their scatter; `None` for a single one.
fn variance_of_mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let numbers: Vec<f64> = numbers.collect();
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
    (count > 1.0).then(|| squares / (count - 1.0) / count)
}

/// How many times as fast one is as the other, by medians.
#[derive(Debug)]
pub(super) struct Ratio {
    value: f64,
    /// Two standard errors; `None` from a single run.
    error: Option<f64>,
}

impl Ratio {
    /// The variance is that of the logarithm of the ratio.
    fn new(slow: &Runs, fast: &Runs, variance: Option<f64>) -> Self {
        let value = slow.times()[1] / fast.times()[1];
        Self { value, error: variance.map(|variance| value * 2.0 * variance.sqrt()) }
    }
}

/// As `0.0625 ± 0.0012`.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&figures(self.value, 3))?;
        match self.error {
            Some(error) if error > 0.0 => write!(f, " ± {}", figures(error, 2)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contestant(engine: Engine, threads: usize) -> Contestant {
        Contestant { engine, kernel: Kernel::Portable, threads }
    }

    fn runs(n: u32, engine: Engine, threads: usize, seconds: &[f64]) -> Runs {
        Runs {
            size: BoardSize::new(n).expect("in range"),
            contestant: contestant(engine, threads),
            total: 92,
            seconds: seconds.to_vec(),
        }
    }

    /// A row as JSON and as text, with a speed-up if the board has several numbers of threads.
    fn row(runs: &Runs, reference: Contestant, board: &[Runs]) -> (serde_json::Value, String) {
        let threads = || board.iter().map(|runs| runs.contestant.threads);
        let fewest = threads().min().filter(|fewest| Some(*fewest) != threads().max());
        let ratio = runs.ratio_to(reference, board);
        let row = runs.row(ratio, &reference.to_string(), fewest, board, "a CPU");
        let text = row.rows().map(|(_, text)| text.as_str()).collect();
        (Report::default().put_below(row), text)
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let times = |seconds: &[f64]| runs(8, Engine::Colours, 1, seconds).times();
        assert_eq!(times(&[3.0]), [3.0; 3]);
        assert_eq!(times(&[4.0, 1.0]), [1.0, 2.5, 4.0]);
        assert_eq!(times(&[9.0, 1.0, 2.0]), [1.0, 2.0, 9.0]);
        assert_eq!(times(&[1.0, 9.0, 2.0, 4.0]), [1.0, 3.0, 9.0]);
    }

    #[test]
    fn ratios_are_to_the_reference() {
        let board = [
            runs(8, Engine::Subtrees, 4, &[2.0]),
            runs(8, Engine::Subtrees, 1, &[4.0]),
            runs(8, Engine::Colours, 2, &[1.0, 0.5, 0.3]),
        ];
        let reference = board[0].contestant;
        let rows = board.each_ref().map(|runs| row(runs, reference, &board).0);
        assert_eq!(rows.each_ref().map(|row| row["ratio"].as_f64()), [1.0, 0.5, 4.0].map(Some));
        let last = ["repeats", "min_seconds", "max_seconds"].map(|name| rows[2][name].as_f64());
        assert_eq!(last, [3.0, 0.3, 1.0].map(Some));
    }

    #[test]
    fn a_reference_that_was_left_out_gives_no_ratio() {
        let reference = contestant(Engine::Permutation, 1);
        let board = [runs(8, Engine::Colours, 1, &[1.0, 2.0])];
        let (row, text) = row(&board[0], reference, &board);
        assert!(row["ratio"].is_null() && row["ratio_error"].is_null(), "{row}");
        assert_eq!(row["reference"], reference.to_string());
        assert!(text.ends_with(" -"), "{text}");
    }

    #[test]
    fn the_error_of_a_ratio_comes_from_the_rounds() {
        let error = |one: &[f64], other: &[f64]| {
            let board = [runs(8, Engine::Subtrees, 1, one), runs(8, Engine::Colours, 1, other)];
            board[1].ratio_to(board[0].contestant, &board).expect("it is there").error
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
            let [earlier, now] = [earlier, now].map(|time| runs(8, Engine::Colours, 1, time));
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
            runs(8, Engine::Colours, 8, &[1.0, 1.0]),
            runs(8, Engine::Colours, 2, &[3.0, 3.0]),
            runs(8, Engine::Subtrees, 8, &[1.0, 1.0]),
        ];
        let rows = board.each_ref().map(|runs| row(runs, board[0].contestant, &board));
        let names = ["speed_up", "speed_up_error", "efficiency"];
        let fields = rows.each_ref().map(|(row, _)| names.map(|name| row[name].as_f64()));
        // Engine subtrees was left out on two threads.
        let wanted =
            [[Some(3.0), Some(0.0), Some(0.75)], [Some(1.0), Some(0.0), Some(1.0)], [None; 3]];
        assert_eq!(fields, wanted);
        assert!(rows[0].1.ends_with("s     3.00       75 % 1.00"), "{}", rows[0].1);
        assert!(rows[2].1.ends_with("s        -          - 1.00"), "{}", rows[2].1);
        assert_eq!(
            SPEED_UP_TITLES.lines().last().and_then(|titles| titles.find("ratio")),
            rows[0].1.find("1.00")
        );
        let alone = row(&board[0], board[0].contestant, &board[..1]);
        assert!(names.iter().all(|name| alone.0[*name].is_null()), "{alone:?}");
        assert_eq!(TITLES.find("ratio"), alone.1.find("1.00"));
    }

    #[test]
    fn every_row_fits_80_columns() {
        for slow in [[1.1e-4, 1.2e-4], [0.0999, 0.0998], [3.1e3, 3.2e3], [8e4, 9e5], [1.0, 1e-9]] {
            let board = [
                runs(32, Engine::Subtrees, 4096, &[0.0995, 0.0991]),
                runs(32, Engine::Subtrees, 2048, &slow),
            ];
            for reference in [board[0].contestant, contestant(Engine::Colours, 1)] {
                let rows = board.iter().map(|runs| row(runs, reference, &board).1);
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
