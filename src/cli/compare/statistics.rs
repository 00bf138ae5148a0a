//! From the times of single runs to the rows of the table.

use nqueens::{BoardSize, Engine, Kernel, Outcome};

use crate::cli::format::{rounded, rounded_to_figures};
use crate::cli::timings::Timing;

/// The timed runs of a contestant on a board.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) engine: Engine,
    pub(super) kernel: Kernel,
    pub(super) threads: usize,
    /// The totals that it counted, each once: one of them, if all is well.
    pub(super) totals: Vec<u128>,
    /// The time of each run.
    pub(super) seconds: Vec<f64>,
}

impl Runs {
    /// Of a contestant that has warmed up.
    pub(super) fn new(outcome: &Outcome) -> Self {
        let Outcome { engine, kernel, threads, total, .. } = *outcome;
        Self { engine, kernel, threads, totals: vec![total], seconds: Vec::new() }
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

    /// The time of all threads together.
    fn thread_seconds(&self) -> Option<f64> {
        Some(self.threads as f64 * self.median()?)
    }
}

/// Which contestant the others are measured by, on every board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) engine: Engine,
    pub(super) threads: usize,
}

/// The rows of a board, in the order of the contestants; none for those without a timed run.
pub(super) fn timings(
    size: BoardSize,
    contestants: &[Runs],
    reference: Reference,
    cpu: &str,
) -> Vec<Timing> {
    let is_reference =
        |runs: &&Runs| Reference { engine: runs.engine, threads: runs.threads } == reference;
    let measured_by = contestants.iter().find(is_reference).filter(|runs| !runs.seconds.is_empty());
    let timing = |runs: &Runs| {
        let median = runs.median()?;
        let same_engine = contestants.iter().filter(|other| other.engine == runs.engine);
        let timed = same_engine.filter(|other| !other.seconds.is_empty());
        let fewest = timed.min_by_key(|other| other.threads)?;
        let total = runs.totals.first().copied().unwrap_or_default();
        let solutions_per_second = total as f64 / median;
        let ratio = measured_by.and_then(Runs::median).map(|reference| reference / median);
        let ratio_error =
            ratio.zip(measured_by.and_then(|reference| relative_error(reference, runs)));
        Some(Timing {
            n: size.get(),
            engine: runs.engine,
            kernel: runs.kernel.name().to_owned(),
            threads: runs.threads,
            repeats: runs.seconds.len(),
            median_seconds: rounded(median, 9),
            min_seconds: rounded(runs.seconds.iter().copied().fold(median, f64::min), 9),
            max_seconds: rounded(runs.seconds.iter().copied().fold(median, f64::max), 9),
            solutions_per_second: solutions_per_second.round(),
            ratio: ratio.map(|ratio| rounded_to_figures(ratio, 4)),
            efficiency: rounded(fewest.thread_seconds()? / runs.thread_seconds()?, 3),
            total,
            cpu: cpu.to_owned(),
            ratio_error: ratio_error.map(|(ratio, error)| rounded_to_figures(ratio * error, 4)),
            reference_engine: reference.engine.name().to_owned(),
            reference_threads: Some(reference.threads),
            run_seconds: runs.seconds.iter().copied().map(|seconds| rounded(seconds, 9)).collect(),
        })
    };
    contestants.iter().filter_map(timing).collect()
}

/// Two standard errors of the ratio of two contestants, as a part of it: from the ratio in each
/// round, since whatever slows a round down falls on both. `None` from a single round.
fn relative_error(reference: &Runs, runs: &Runs) -> Option<f64> {
    let rounds = reference.seconds.iter().zip(&runs.seconds);
    let logarithms: Vec<f64> = rounds.map(|(reference, runs)| (reference / runs).ln()).collect();
    let rounds = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / rounds;
    let squares = logarithms.iter().map(|logarithm| (logarithm - mean).powi(2)).sum::<f64>();
    (rounds > 1.0).then(|| 2.0 * (squares / (rounds - 1.0) / rounds).sqrt())
}

/// A line for each total that is not the published one or, where none is published, not the first
/// contestant's.
pub(super) fn differences(
    size: BoardSize,
    published: Option<u128>,
    contestants: &[Runs],
) -> Vec<String> {
    let first = || contestants.first()?.totals.first().copied();
    let (whose, expected) = match published {
        Some(published) => ("the published", Some(published)),
        None => ("the first engine's", first()),
    };
    let of = |Runs { engine, kernel, threads, totals, .. }: &Runs| {
        let wrong = totals.iter().filter(|total| Some(**total) != expected);
        let line = |total| {
            format!(
                "Q({size}) = {total} by engine {engine}, kernel {kernel}, threads {threads}, differs \
                 from {whose} {}: one of them is wrong",
                expected.unwrap_or_default()
            )
        };
        wrong.map(line).collect::<Vec<_>>()
    };
    contestants.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(engine: Engine, threads: usize, totals: &[u128], seconds: &[f64]) -> Runs {
        let (totals, seconds) = (totals.to_vec(), seconds.to_vec());
        Runs { engine, kernel: Kernel::Portable, threads, totals, seconds }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let median = |seconds: &[f64]| runs(Engine::Halves, 1, &[92], seconds).median();
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[1.0, 9.0, 2.0, 4.0]), Some(3.0));
    }

    #[test]
    fn ratios_are_to_the_reference_and_efficiency_to_the_fewest_threads() {
        let size = BoardSize::new(8).expect("in range");
        let contestants = [
            runs(Engine::Subtrees, 4, &[92], &[2.0]),
            runs(Engine::Subtrees, 1, &[92], &[4.0]),
            runs(Engine::Bitmask, 1, &[92], &[]),
            runs(Engine::Halves, 2, &[92], &[1.0, 0.5, 0.3]),
        ];
        let reference = Reference { engine: Engine::Subtrees, threads: 4 };
        let rows = timings(size, &contestants, reference, "a CPU");
        let ratios: Vec<_> = rows.iter().map(|row| row.ratio).collect();
        assert_eq!(ratios, [1.0, 0.5, 4.0].map(Some));
        let columns = |column: fn(&Timing) -> f64| rows.iter().map(column).collect::<Vec<_>>();
        assert_eq!(columns(|row| row.efficiency), [0.5, 1.0, 1.0]);
        assert_eq!(columns(|row| row.solutions_per_second), [46.0, 23.0, 184.0]);
        let Timing { repeats, min_seconds, max_seconds, .. } = rows[2];
        assert_eq!((repeats, min_seconds, max_seconds), (3, 0.3, 1.0));
    }

    #[test]
    fn a_reference_that_was_left_out_gives_no_ratio() {
        let size = BoardSize::new(8).expect("in range");
        let reference = Reference { engine: Engine::Permutation, threads: 1 };
        let contestants = [runs(Engine::Halves, 1, &[92], &[1.0, 2.0])];
        let [row] = &timings(size, &contestants, reference, "")[..] else { panic!("a row") };
        assert_eq!((row.ratio, row.ratio_error), (None, None));
        assert_eq!(row.reference_engine, "permutation");
    }

    #[test]
    fn the_error_of_a_ratio_comes_from_the_rounds() {
        let error = |reference: &[f64], seconds: &[f64]| {
            let [reference, other] =
                [reference, seconds].map(|seconds| runs(Engine::Halves, 1, &[92], seconds));
            relative_error(&reference, &other)
        };
        assert_eq!(error(&[1.0], &[2.0]), None);
        // A machine that gets slower slows both down.
        assert_eq!(error(&[1.0, 2.0], &[2.0, 4.0]), Some(0.0));
        // Logarithms of 1 and e: their standard deviation is 1/sqrt(2), that of the mean is 1/2.
        let error = error(&[1.0, std::f64::consts::E], &[1.0, 1.0]).expect("two rounds");
        assert!((error - 1.0).abs() < 1e-12, "{error}");
    }

    #[test]
    fn every_wrong_total_is_a_line() {
        let size = BoardSize::new(8).expect("in range");
        let contestants =
            [runs(Engine::Subtrees, 1, &[92], &[1.0]), runs(Engine::Halves, 2, &[92, 91], &[1.0])];
        let lines = differences(size, Some(92), &contestants);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("Q(8) = 91 by engine halves"), "{}", lines[0]);
        assert!(lines[0].contains("the published 92"), "{}", lines[0]);
        assert!(differences(size, None, &contestants)[0].contains("the first engine's 92"));
        assert_eq!(differences(size, Some(90), &contestants).len(), 3);
        assert!(differences(size, None, &contestants[..1]).is_empty());
    }
}
