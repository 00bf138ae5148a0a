//! From the times of single runs to the rows of the table.

use std::fmt;

use nqueens::known::known;
use nqueens::{BoardSize, Engine, Kernel, Outcome};

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
    /// The totals that it counted, each once: one of them, if all is well.
    pub(super) totals: Vec<u128>,
    /// The time of each run.
    pub(super) seconds: Vec<f64>,
}

/// The titles of the columns.
pub(super) const TITLES: &str = " n engine             thr  median   least ratio";

impl Runs {
    /// After the run to warm up.
    pub(super) fn new(contestant: Contestant, warm_up: &Outcome) -> Self {
        Self { size: warm_up.size, contestant, totals: vec![warm_up.total], seconds: Vec::new() }
    }

    pub(super) fn record(&mut self, outcome: &Outcome) {
        // No time is 0: its logarithm is drawn, and others are divided by it.
        self.seconds.push(outcome.elapsed.as_secs_f64().max(1e-9));
        if !self.totals.contains(&outcome.total) {
            self.totals.push(outcome.total);
        }
    }

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
        let text = match &ratio {
            None => "-".to_owned(),
            Some(Ratio { value: 1.0, .. }) => "1".to_owned(),
            Some(ratio @ Ratio { value: 1.0.., .. }) => ratio.with_spread(" x faster"),
            Some(Ratio { value, error }) => {
                Ratio { value: 1.0 / value, error: *error }.with_spread(" x slower")
            }
        };
        let (name, n) = (self.contestant.name(), self.size.get());
        let [least_text, median_text] = [least, median].map(time);
        let error = ratio.as_ref().and_then(|ratio| Some(ratio.value * ratio.error?));
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
        .field("ratio", ratio.map(|ratio| rounded_to_figures(ratio.value, 4)))
        .field("total", self.totals[0].to_string())
        .field("cpu", cpu)
        .field("ratio_error", error.map(|error| rounded_to_figures(error, 4)))
        .field("reference", reference.to_string())
        .field("run_seconds", seconds);
        row
    }

    /// The totals that are not the published one, and that one.
    pub(super) fn differing(&self) -> impl Iterator<Item = (u128, u128)> {
        let published = known(self.size).total;
        let totals = self.totals.iter().map(move |total| Some((*total, published?)));
        totals.flatten().filter(|(total, published)| total != published)
    }
}

/// How many times as fast one is as the other.
struct Ratio {
    value: f64,
    /// Two standard errors, as a part of it: from the ratio in each round, since whatever slows a round
    /// down falls on both. `None` from a single round.
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
        let error = (rounds > 1.0).then(|| 2.0 * (squares / (rounds - 1.0) / rounds).sqrt());
        Self { value, error }
    }

    /// The ratio, and between what the error puts it: `16 x slower (6.0 to 40)`. A third figure is told
    /// only if it means something.
    fn with_spread(&self, unit: &str) -> String {
        let places = if self.error.is_some_and(|error| error < 0.1) { 3 } else { 2 };
        let error = self.error.unwrap_or_default().exp();
        let ratios = [self.value / error, self.value, self.value * error];
        let [least, ratio, most] = ratios.map(|ratio| figures(ratio, places));
        if least == most { ratio + unit } else { format!("{ratio}{unit} ({least} to {most})") }
    }
}

/// The fastest against the slowest, on the largest board that two of them counted on so many threads.
pub(super) fn conclusion(all: &[Runs], threads: usize) -> Option<String> {
    let all: Vec<&Runs> = all.iter().filter(|runs| runs.contestant.threads == threads).collect();
    let board = all.chunk_by(|one, next| one.size == next.size).rev().find(|all| all.len() > 1)?;
    let by_time = |one: &&&Runs, other: &&&Runs| one.times()[1].total_cmp(&other.times()[1]);
    let (fast, slow) = (board.iter().min_by(by_time)?, board.iter().max_by(by_time)?);
    let times = Ratio::new(slow, fast).with_spread(" times");
    let [faster, slower] = [fast, slow].map(|runs| runs.contestant.name());
    let (n, threads) = (fast.size, many(threads, "thread"));
    Some(format!("at n = {n} on {threads}:\n{faster} is {times} as fast as {slower}"))
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
            totals: vec![92],
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
        // Logarithms of 1 and e: their standard deviation is 1/sqrt(2), that of the mean is 1/2.
        let error = error(&[1.0, std::f64::consts::E], &[1.0, 1.0]).expect("two rounds");
        assert!((error - 1.0).abs() < 1e-12, "{error}");
    }

    #[test]
    fn the_conclusion_has_two_figures_and_the_spread() {
        let board = |n, [colours, subtrees, bitmask]: [&[f64]; 3]| {
            let all = [
                runs(n, Engine::Bitmask, 1, bitmask),
                runs(n, Engine::Colours, 1, colours),
                runs(n, Engine::Subtrees, 1, subtrees),
                runs(n, Engine::Bitmask, 2, &[9e9, 9e9]),
            ];
            all.into_iter().filter(|runs| !runs.seconds.is_empty()).collect::<Vec<_>>()
        };
        let small = board(8, [&[1.0, 1.1], &[2.0, 2.2], &[1926.0, 2118.6]]);
        let alone = board(9, [&[1.0, 1.1], &[], &[]]);
        let alike = board(9, [&[1.0, 2.0], &[2.0, 1.0], &[1.4, 1.5]]);
        let text = "at n = 8 on 1 thread:\ncolours portable is 1930 times as fast as bitmask";
        let text = Some(text.to_owned());
        assert_eq!(conclusion(&small, 1), text);
        assert_eq!(conclusion(&[&small[..], &alone].concat(), 1), text, "nobody else counted 9");
        assert_eq!(conclusion(&small, 2), None);
        let text = conclusion(&alike, 1).expect("three engines");
        assert!(text.contains("\nbitmask is 1.0 times (0.48 to 2.2) as fast as "), "{text}");
        let once = board(9, [&[1.0], &[2.714], &[2.0]]);
        let text = conclusion(&once, 1).expect("three engines");
        assert_eq!(
            text,
            "at n = 9 on 1 thread:\ncolours portable is 2.7 times as fast as subtrees portable"
        );
    }

    #[test]
    fn every_line_fits_80_columns() {
        for slow in [[1.1e-4, 1.2e-4], [0.0999, 0.0998], [3.1e3, 3.2e3], [8e4, 9e5], [1.0, 1e-9]] {
            let board = [
                runs(32, Engine::Subtrees, 4096, &[0.0995, 0.0991]),
                runs(32, Engine::Subtrees, 4096, &slow),
            ];
            for reference in [board[0].contestant, contestant(Engine::Colours, 1)] {
                let rows = board.iter().map(|runs| written(&runs.row(reference, &board, "")).1);
                let texts = rows.chain(conclusion(&board, 4096)).chain([TITLES.to_owned()]);
                for line in texts.collect::<Vec<_>>().join("\n").lines() {
                    assert!(line.chars().count() <= 80, "{line}");
                }
            }
        }
        let text = |value, unit, error| Ratio { value, error }.with_spread(unit);
        assert_eq!(text(15.6, " x slower", Some(0.95)), "16 x slower (6.0 to 40)");
        assert_eq!(text(1.053, " x slower", Some(0.03)), "1.05 x slower (1.02 to 1.09)");
        assert_eq!(text(1926.0, " x slower", None), "1900 x slower");
        assert_eq!(text(54_321.0, " x slower", Some(0.2)), "5.4e4 x slower (4.4e4 to 6.6e4)");
    }

    #[test]
    fn every_wrong_total_is_found() {
        let with = |n, totals: &[u128]| Runs {
            totals: totals.to_vec(),
            ..runs(n, Engine::Colours, 2, &[1.0])
        };
        assert_eq!(with(8, &[92]).differing().count(), 0);
        assert_eq!(with(8, &[92, 91]).differing().collect::<Vec<_>>(), [(91, 92)]);
        assert_eq!(with(28, &[92]).differing().count(), 0, "nothing is published");
    }
}
