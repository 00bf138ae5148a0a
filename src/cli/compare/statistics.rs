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

impl Runs {
    /// The least time, the one in the middle (or the mean of two), and the greatest. There must be a
    /// timed run.
    pub(super) fn times(&self) -> [f64; 3] {
        let mut sorted = self.seconds.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let (last, middle) = (sorted.len() - 1, sorted.len() / 2);
        [sorted[0], f64::midpoint(sorted[last / 2], sorted[middle]), sorted[last]]
    }

    /// The row of the table. The reference, by which the others are measured, is the same on all boards,
    /// but may not be among the runs on this one. The names of the fields are promised: scripts read them.
    pub(super) fn row(&self, reference: Contestant, board: &[Self], cpu: &str) -> Report {
        let Contestant { engine, kernel, threads } = self.contestant;
        let [least, median, greatest] = self.times();
        let reference_runs = board.iter().find(|runs| runs.contestant == reference);
        let ratio = reference_runs.map(|runs| Ratio::new(runs, self));
        let text = ratio.as_ref().map_or("-".to_owned(), Ratio::to_string);
        let (name, n) = (self.contestant.name(), self.size.get());
        let [least_text, median_text] = [least, median].map(time);
        let seconds: Vec<f64> = self.seconds.iter().map(|seconds| rounded(*seconds, 9)).collect();
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
        .field("ratio", ratio.as_ref().map(|ratio| rounded_to_figures(ratio.value, 4)))
        .field("total", self.total.to_string())
        .field("cpu", cpu)
        .field("ratio_error", ratio.and_then(|ratio| Some(rounded_to_figures(ratio.error?, 4))))
        .field("reference", reference.to_string())
        .field("run_seconds", seconds);
        row
    }
}

/// How many times as fast one is as the other.
struct Ratio {
    value: f64,
    /// Two standard errors, from the ratio in each round, since whatever slows a round down falls on both.
    /// `None` from a single round.
    error: Option<f64>,
}

impl Ratio {
    fn new(slow: &Runs, fast: &Runs) -> Self {
        let value = slow.times()[1] / fast.times()[1];
        let rounds = slow.seconds.iter().zip(&fast.seconds);
        let logarithms: Vec<f64> = rounds.map(|(slow, fast)| (slow / fast).ln()).collect();
        let rounds = logarithms.len() as f64;
        let mean = logarithms.iter().sum::<f64>() / rounds;
        let squares = logarithms.iter().map(|logarithm| (logarithm - mean).powi(2)).sum::<f64>();
        let error =
            (rounds > 1.0).then(|| value * 2.0 * (squares / (rounds - 1.0) / rounds).sqrt());
        Self { value, error }
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

    /// A row as JSON and as text.
    fn written(row: &Report) -> (serde_json::Value, String) {
        let text = row.rows().map(|(_, text)| text.as_str()).collect();
        (row.clone().into_value(), text)
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
        let rows = board.each_ref().map(|runs| runs.row(board[0].contestant, &board, "a CPU"));
        let rows = rows.map(|row| written(&row).0);
        assert_eq!(rows.each_ref().map(|row| row["ratio"].as_f64()), [1.0, 0.5, 4.0].map(Some));
        let last = ["repeats", "min_seconds", "max_seconds"].map(|name| rows[2][name].as_f64());
        assert_eq!(last, [3.0, 0.3, 1.0].map(Some));
    }

    #[test]
    fn a_reference_that_was_left_out_gives_no_ratio() {
        let reference = contestant(Engine::Permutation, 1);
        let board = [runs(8, Engine::Colours, 1, &[1.0, 2.0])];
        let (row, text) = written(&board[0].row(reference, &board, ""));
        assert!(row["ratio"].is_null() && row["ratio_error"].is_null(), "{row}");
        assert_eq!(row["reference"], reference.to_string());
        assert!(text.ends_with(" -"), "{text}");
    }

    #[test]
    fn the_error_of_a_ratio_comes_from_the_rounds() {
        let error = |one: &[f64], other: &[f64]| {
            let [one, other] = [one, other].map(|seconds| runs(8, Engine::Colours, 1, seconds));
            Ratio::new(&one, &other).error
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
    fn every_row_fits_80_columns() {
        for slow in [[1.1e-4, 1.2e-4], [0.0999, 0.0998], [3.1e3, 3.2e3], [8e4, 9e5], [1.0, 1e-9]] {
            let board = [
                runs(32, Engine::Subtrees, 4096, &[0.0995, 0.0991]),
                runs(32, Engine::Subtrees, 4096, &slow),
            ];
            for reference in [board[0].contestant, contestant(Engine::Colours, 1)] {
                let rows = board.iter().map(|runs| written(&runs.row(reference, &board, "")).1);
                for line in rows.chain([TITLES.to_owned()]) {
                    assert!(line.chars().count() <= 80, "{line}");
                }
            }
        }
        let text = |value, error| Ratio { value, error }.to_string();
        assert_eq!(text(15.6, Some(0.95)), "15.6 ± 0.95");
        assert_eq!(text(1.0, Some(0.0)), "1.00");
        assert_eq!(text(5.2e-4, None), "5.2e-4");
    }
}
