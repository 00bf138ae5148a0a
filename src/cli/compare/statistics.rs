//! From the times of single runs to the rows of the table.

use std::fmt;

use nqueens::known::known;
use nqueens::{BoardSize, Engine, Kernel, Outcome};
use serde::Serialize;

use crate::cli::format::{as_string, figures, many, rounded, rounded_to_figures, time};

/// An engine with a kernel on a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contestant {
    pub(super) engine: Engine,
    /// Portable for engines without kernels.
    pub(super) kernel: Kernel,
    pub(super) threads: usize,
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", name(self.engine, self.kernel), many(self.threads, "thread"))
    }
}

/// The engine, and its kernel if it has several.
pub(super) fn name(engine: Engine, kernel: Kernel) -> String {
    if engine.has_kernels() { format!("{engine} {kernel}") } else { engine.to_string() }
}

/// The timed runs of a contestant on a board.
pub(super) struct Runs {
    pub(super) contestant: Contestant,
    /// The totals that it counted, each once: one of them, if all is well.
    pub(super) totals: Vec<u128>,
    /// The time of each run.
    pub(super) seconds: Vec<f64>,
}

impl Runs {
    /// After the run to warm up.
    pub(super) fn new(contestant: Contestant, warm_up: &Outcome) -> Self {
        Self { contestant, totals: vec![warm_up.total], seconds: Vec::new() }
    }

    pub(super) fn record(&mut self, outcome: &Outcome) {
        // No time is 0: its logarithm is drawn, and others are divided by it.
        self.seconds.push(outcome.elapsed.as_secs_f64().max(1e-9));
        if !self.totals.contains(&outcome.total) {
            self.totals.push(outcome.total);
        }
    }

    /// The middle time, or the mean of the two in the middle; `None` without a timed run.
    pub(super) fn median(&self) -> Option<f64> {
        let mut sorted = self.seconds.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
        Some(f64::midpoint(sorted[low], sorted[high]))
    }
}

/// What an engine with a kernel on a number of threads took for a board. The names are promised:
/// scripts read them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Timing {
    pub(super) n: u32,
    #[serde(serialize_with = "as_string")]
    pub(super) engine: Engine,
    #[serde(serialize_with = "as_string")]
    pub(super) kernel: Kernel,
    pub(super) threads: usize,
    pub(super) repeats: usize,
    pub(super) median_seconds: f64,
    pub(super) min_seconds: f64,
    pub(super) max_seconds: f64,
    /// How many times as fast as the reference on the same board, if that was measured there.
    pub(super) ratio: Option<f64>,
    #[serde(serialize_with = "as_string")]
    pub(super) total: u128,
    pub(super) cpu: String,
    /// Two standard errors of the ratio, from the ratios of the rounds.
    pub(super) ratio_error: Option<f64>,
    /// By whom the others are measured, the same on all boards.
    pub(super) reference: String,
    /// The time of each run, in their order; only in JSON.
    pub(super) run_seconds: Vec<f64>,
}

/// The titles of the columns.
pub(super) const TITLES: &str = " n engine             thr  median   least ratio";

/// A line of the table.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, threads, .. } = self;
        let [median, least] = [self.median_seconds, self.min_seconds].map(time);
        let error = |ratio| self.ratio_error.map(|error| error / ratio);
        let ratio = match self.ratio {
            None => "-".to_owned(),
            Some(1.0) => "1".to_owned(),
            Some(ratio @ 1.0..) => with_spread(ratio, " x faster", error(ratio)),
            Some(ratio) => with_spread(1.0 / ratio, " x slower", error(ratio)),
        };
        write!(f, "{n:>2} {:<17} {threads:>4} {median:>7} ", name(self.engine, self.kernel))?;
        write!(f, "{least:>7} {ratio}")
    }
}

/// A ratio, and between what two standard errors, as a part of it, put it: `16 x slower (6.0 to 40)`. A third
/// figure is told only if it means something.
fn with_spread(ratio: f64, unit: &str, error: Option<f64>) -> String {
    let places = if error.is_some_and(|error| error < 0.1) { 3 } else { 2 };
    let error = error.unwrap_or_default().exp();
    let ratios = [ratio / error, ratio, ratio * error];
    let [least, ratio, most] = ratios.map(|ratio| figures(ratio, places));
    if least == most { ratio + unit } else { format!("{ratio}{unit} ({least} to {most})") }
}

/// The rows of a board, in the order of the contestants; none for those without a timed run. The
/// reference is the same on every board.
pub(super) fn timings(
    size: BoardSize,
    contestants: &[Runs],
    reference: Contestant,
    cpu: &str,
) -> Vec<Timing> {
    let measured_by = contestants.iter().find(|runs| runs.contestant == reference);
    let timing = |runs: &Runs| {
        let median = runs.median()?;
        let Contestant { engine, kernel, threads } = runs.contestant;
        let total = runs.totals.first().copied().unwrap_or_default();
        let ratio = measured_by.and_then(Runs::median).map(|reference| reference / median);
        let ratio_error =
            ratio.zip(measured_by.and_then(|by| relative_error(&by.seconds, &runs.seconds)));
        Some(Timing {
            n: size.get(),
            engine,
            kernel,
            threads,
            repeats: runs.seconds.len(),
            median_seconds: rounded(median, 9),
            min_seconds: rounded(runs.seconds.iter().copied().fold(median, f64::min), 9),
            max_seconds: rounded(runs.seconds.iter().copied().fold(median, f64::max), 9),
            ratio: ratio.map(|ratio| rounded_to_figures(ratio, 4)),
            total,
            cpu: cpu.to_owned(),
            ratio_error: ratio_error.map(|(ratio, error)| rounded_to_figures(ratio * error, 4)),
            reference: reference.to_string(),
            run_seconds: runs.seconds.iter().copied().map(|seconds| rounded(seconds, 9)).collect(),
        })
    };
    contestants.iter().filter_map(timing).collect()
}

/// Two standard errors of the ratio of two contestants, as a part of it: from the ratio in each
/// round, since whatever slows a round down falls on both. `None` from a single round.
fn relative_error(reference: &[f64], runs: &[f64]) -> Option<f64> {
    let rounds = reference.iter().zip(runs);
    let logarithms: Vec<f64> = rounds.map(|(reference, runs)| (reference / runs).ln()).collect();
    let rounds = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / rounds;
    let squares = logarithms.iter().map(|logarithm| (logarithm - mean).powi(2)).sum::<f64>();
    (rounds > 1.0).then(|| 2.0 * (squares / (rounds - 1.0) / rounds).sqrt())
}

/// The fastest against the slowest, on the largest board that two of them counted on so many threads.
pub(super) fn conclusion(rows: &[Timing], threads: usize) -> Option<String> {
    let rows: Vec<&Timing> = rows.iter().filter(|row| row.threads == threads).collect();
    let board = rows.chunk_by(|one, next| one.n == next.n).rev().find(|board| board.len() > 1)?;
    let by_time =
        |one: &&&Timing, other: &&&Timing| one.median_seconds.total_cmp(&other.median_seconds);
    let (fast, slow) = (board.iter().min_by(by_time)?, board.iter().max_by(by_time)?);
    let error = relative_error(&slow.run_seconds, &fast.run_seconds);
    let times = with_spread(slow.median_seconds / fast.median_seconds, " times", error);
    let [faster, slower] = [fast, slow].map(|row| name(row.engine, row.kernel));
    let (n, threads) = (fast.n, many(threads, "thread"));
    Some(format!("at n = {n} on {threads}:\n{faster} is {times} as fast as {slower}"))
}

/// A line for each total that is not the published one.
pub(super) fn differences(size: BoardSize, contestants: &[Runs]) -> Vec<String> {
    // Nobody waits for larger boards here.
    let Some(published) = known(size).total else { return Vec::new() };
    let of = |Runs { contestant, totals, .. }: &Runs| {
        let wrong = totals.iter().filter(|total| **total != published);
        let line = |total| {
            format!(
                "Q({size}) = {total} by {contestant} differs from the published {published}: one of them \
                 is wrong"
            )
        };
        wrong.map(line).collect::<Vec<_>>()
    };
    contestants.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contestant(engine: Engine, threads: usize) -> Contestant {
        Contestant { engine, kernel: Kernel::Portable, threads }
    }

    fn runs(engine: Engine, threads: usize, totals: &[u128], seconds: &[f64]) -> Runs {
        let (totals, seconds) = (totals.to_vec(), seconds.to_vec());
        Runs { contestant: contestant(engine, threads), totals, seconds }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let median = |seconds: &[f64]| runs(Engine::Colours, 1, &[92], seconds).median();
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[1.0, 9.0, 2.0, 4.0]), Some(3.0));
    }

    #[test]
    fn ratios_are_to_the_reference() {
        let size = BoardSize::new(8).expect("in range");
        let contestants = [
            runs(Engine::Subtrees, 4, &[92], &[2.0]),
            runs(Engine::Subtrees, 1, &[92], &[4.0]),
            runs(Engine::Bitmask, 1, &[92], &[]),
            runs(Engine::Colours, 2, &[92], &[1.0, 0.5, 0.3]),
        ];
        let reference = contestant(Engine::Subtrees, 4);
        let rows = timings(size, &contestants, reference, "a CPU");
        let ratios: Vec<_> = rows.iter().map(|row| row.ratio).collect();
        assert_eq!(ratios, [1.0, 0.5, 4.0].map(Some));
        let Timing { repeats, min_seconds, max_seconds, .. } = rows[2];
        assert_eq!((repeats, min_seconds, max_seconds), (3, 0.3, 1.0));
    }

    #[test]
    fn a_reference_that_was_left_out_gives_no_ratio() {
        let size = BoardSize::new(8).expect("in range");
        let reference = contestant(Engine::Permutation, 1);
        let contestants = [runs(Engine::Colours, 1, &[92], &[1.0, 2.0])];
        let [row] = &timings(size, &contestants, reference, "")[..] else { panic!("a row") };
        assert_eq!((row.ratio, row.ratio_error), (None, None));
        assert_eq!(row.reference, reference.to_string());
    }

    #[test]
    fn the_error_of_a_ratio_comes_from_the_rounds() {
        let error = relative_error;
        assert_eq!(error(&[1.0], &[2.0]), None);
        // A machine that gets slower slows both down.
        assert_eq!(error(&[1.0, 2.0], &[2.0, 4.0]), Some(0.0));
        // Logarithms of 1 and e: their standard deviation is 1/sqrt(2), that of the mean is 1/2.
        let error = error(&[1.0, std::f64::consts::E], &[1.0, 1.0]).expect("two rounds");
        assert!((error - 1.0).abs() < 1e-12, "{error}");
    }

    #[test]
    fn the_conclusion_has_two_figures_and_the_spread() {
        let concluded = |boards: &[(u32, &[Runs])], threads| {
            let reference = contestant(Engine::Colours, 1);
            let row = |(n, board): &(u32, &[Runs])| {
                timings(BoardSize::new(*n).expect("in range"), board, reference, "")
            };
            conclusion(&boards.iter().flat_map(row).collect::<Vec<_>>(), threads)
        };
        let board = |seconds: [&[f64]; 3]| {
            let [colours, subtrees, bitmask] = seconds;
            [
                runs(Engine::Bitmask, 1, &[92], bitmask),
                runs(Engine::Colours, 1, &[92], colours),
                runs(Engine::Subtrees, 1, &[92], subtrees),
                runs(Engine::Bitmask, 2, &[92], &[9e9, 9e9]),
            ]
        };
        let small = board([&[1.0, 1.1], &[2.0, 2.2], &[1926.0, 2118.6]]);
        let alone = board([&[1.0, 1.1], &[], &[]]);
        let alike = board([&[1.0, 2.0], &[2.0, 1.0], &[1.4, 1.5]]);
        let text = "at n = 8 on 1 thread:\ncolours portable is 1930 times as fast as bitmask";
        let text = Some(text.to_owned());
        assert_eq!(concluded(&[(8, &small)], 1), text);
        assert_eq!(concluded(&[(8, &small), (9, &alone)], 1), text, "nobody else counted 9");
        assert_eq!(concluded(&[(8, &small)], 2), None);
        let text = concluded(&[(9, &alike)], 1).expect("three engines");
        assert!(text.contains("\nbitmask is 1.0 times (0.48 to 2.2) as fast as "), "{text}");
        let once = board([&[1.0], &[2.714], &[2.0]]);
        let text = concluded(&[(9, &once)], 1).expect("three engines");
        assert_eq!(
            text,
            "at n = 9 on 1 thread:\ncolours portable is 2.7 times as fast as subtrees portable"
        );
    }

    #[test]
    fn every_line_fits_80_columns() {
        let size = BoardSize::new(32).expect("in range");
        for slow in [[1.1e-4, 1.2e-4], [0.0999, 0.0998], [3.1e3, 3.2e3], [8e4, 9e5], [1.0, 1e-9]] {
            let contestants = [
                runs(Engine::Subtrees, 4096, &[92], &[0.0995, 0.0991]),
                runs(Engine::Subtrees, 4096, &[92], &slow),
            ];
            let reference = contestants[0].contestant;
            for fast in [reference, contestant(Engine::Colours, 1)] {
                let rows = timings(size, &contestants, fast, "a CPU");
                let lines = rows.iter().map(ToString::to_string);
                let lines = lines.chain(conclusion(&rows, 4096)).chain([TITLES.to_owned()]);
                for line in
                    lines.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
                {
                    assert!(line.chars().count() <= 80, "{line}");
                }
            }
        }
        let text = |ratio, error| with_spread(ratio, " x slower", error);
        assert_eq!(text(15.6, Some(0.95)), "16 x slower (6.0 to 40)");
        assert_eq!(text(1.053, Some(0.03)), "1.05 x slower (1.02 to 1.09)");
        assert_eq!(text(1926.0, None), "1900 x slower");
        assert_eq!(text(54_321.0, Some(0.2)), "5.4e4 x slower (4.4e4 to 6.6e4)");
    }

    #[test]
    fn every_wrong_total_is_a_line() {
        let size = BoardSize::new(8).expect("in range");
        let contestants =
            [runs(Engine::Subtrees, 1, &[92], &[1.0]), runs(Engine::Colours, 2, &[92, 91], &[1.0])];
        let lines = differences(size, &contestants);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("Q(8) = 91 by colours portable on 2 threads"), "{}", lines[0]);
        assert!(lines[0].contains("the published 92"), "{}", lines[0]);
        let unpublished = BoardSize::new(28).expect("in range");
        assert!(differences(unpublished, &contestants).is_empty());
    }
}
