//! From the times of single runs to the rows of the table.

use nqueens::{BoardSize, Engine};

use super::rounds::Timing;

/// A contestant on a board.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) n: u32,
    pub(super) engine: Engine,
    /// Its name: rows that are read may come from another CPU.
    pub(super) kernel: &'static str,
    pub(super) threads: usize,
    pub(super) repeats: usize,
    pub(super) seconds: Spread,
    pub(super) solutions_per_second: f64,
    /// How many times as fast as the first row of the same board.
    pub(super) ratio: f64,
    /// What one thread does, as a share of what it does on the fewest threads.
    pub(super) efficiency: f64,
    pub(super) total: u128,
}

/// The middle and the ends of some times, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Spread {
    /// `None` of nothing.
    fn of(values: &[f64]) -> Option<Self> {
        let median = median(values)?;
        let min = values.iter().copied().fold(median, f64::min);
        let max = values.iter().copied().fold(median, f64::max);
        Some(Self { median, min, max })
    }
}

/// The middle value, or the mean of the two in the middle; `None` of nothing.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some(f64::midpoint(sorted[low], sorted[high]))
}

/// The rows of a board, in the order of the contestants; none for those without a timed run.
pub(super) fn rows(size: BoardSize, timings: &[Timing]) -> Vec<Row> {
    let timed = timings.iter().filter_map(|timing| Some((timing, Spread::of(&timing.seconds)?)));
    let timed: Vec<(&Timing, Spread)> = timed.collect();
    let Some((_, first)) = timed.first() else { return Vec::new() };
    let row = |(timing, seconds): &(&Timing, Spread)| {
        let total = timing.totals.first().copied().unwrap_or_default();
        let same_engine = timed.iter().filter(|(other, _)| other.engine == timing.engine);
        let fewest = same_engine.min_by_key(|(other, _)| other.threads);
        let thread_seconds = thread_seconds(timing, seconds);
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown with a few digits")]
        let solutions_per_second = total as f64 / seconds.median;
        Row {
            n: size.get(),
            engine: timing.engine,
            kernel: timing.kernel.name(),
            threads: timing.threads,
            repeats: timing.seconds.len(),
            seconds: *seconds,
            solutions_per_second,
            ratio: first.median / seconds.median,
            efficiency: fewest.map_or(1.0, |(other, of_other)| {
                self::thread_seconds(other, of_other) / thread_seconds
            }),
            total,
        }
    };
    timed.iter().map(row).collect()
}

#[expect(clippy::cast_precision_loss, reason = "at most 4096 threads")]
fn thread_seconds(timing: &Timing, seconds: &Spread) -> f64 {
    timing.threads as f64 * seconds.median
}

/// A line for each total that is not the published one or, where none is published, not the first
/// contestant's.
pub(super) fn differences(
    size: BoardSize,
    published: Option<u128>,
    timings: &[Timing],
) -> Vec<String> {
    let first = timings.first().and_then(|timing| timing.totals.first().copied());
    let expected = match (published, first) {
        (Some(published), _) => (published, "the published"),
        (None, Some(first)) => (first, "the first engine's"),
        (None, None) => return Vec::new(),
    };
    let wrong = timings.iter().flat_map(|timing| {
        let wrong = timing.totals.iter().filter(|total| **total != expected.0);
        wrong.map(move |total| {
            let Timing { engine, kernel, threads, .. } = timing;
            let (expected, whose) = expected;
            format!(
                "Q({size}) = {total} by engine {engine}, kernel {kernel}, threads {threads}, \
                 differs from {whose} {expected}: one of them is wrong"
            )
        })
    });
    wrong.collect()
}

#[cfg(test)]
mod tests {
    use nqueens::Kernel;

    use super::*;

    fn timing(engine: Engine, threads: usize, totals: &[u128], seconds: &[f64]) -> Timing {
        let (totals, seconds) = (totals.to_vec(), seconds.to_vec());
        Timing { engine, kernel: Kernel::Portable, threads, totals, seconds }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[1.0, 9.0, 2.0, 4.0]), Some(3.0));
        let spread = Spread { median: 2.0, min: 1.0, max: 9.0 };
        assert_eq!(Spread::of(&[9.0, 1.0, 2.0]), Some(spread));
    }

    #[test]
    fn ratios_are_to_the_first_row_and_efficiency_to_the_fewest_threads() {
        let size = BoardSize::new(8).expect("in range");
        let timings = [
            timing(Engine::Subtrees, 4, &[92], &[2.0]),
            timing(Engine::Subtrees, 1, &[92], &[4.0]),
            timing(Engine::Bitmask, 1, &[92], &[]),
            timing(Engine::Halves, 2, &[92], &[1.0, 0.5, 0.3]),
        ];
        let rows = rows(size, &timings);
        let columns = |column: fn(&Row) -> f64| rows.iter().map(column).collect::<Vec<_>>();
        assert_eq!(columns(|row| row.ratio), [1.0, 0.5, 4.0]);
        assert_eq!(columns(|row| row.efficiency), [0.5, 1.0, 1.0]);
        assert_eq!(columns(|row| row.solutions_per_second), [46.0, 23.0, 184.0]);
        assert_eq!(rows[2].repeats, 3);
    }

    #[test]
    fn every_wrong_total_is_a_line() {
        let size = BoardSize::new(8).expect("in range");
        let timings = [
            timing(Engine::Subtrees, 1, &[92], &[1.0]),
            timing(Engine::Halves, 2, &[92, 91], &[1.0]),
        ];
        let lines = differences(size, Some(92), &timings);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("Q(8) = 91 by engine halves"), "{}", lines[0]);
        assert!(lines[0].contains("the published 92"), "{}", lines[0]);
        assert!(differences(size, None, &timings)[0].contains("the first engine's 92"));
        assert_eq!(differences(size, Some(90), &timings).len(), 3);
        assert!(differences(size, None, &timings[..1]).is_empty());
    }
}
