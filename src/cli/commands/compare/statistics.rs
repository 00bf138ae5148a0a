//! The rows of the table: what was timed, and how it is printed.

use std::fmt;

use crate::{BoardSize, Engine, Kernel};
use serde_json::Value;

use super::ratio::{Ratio, median, times};
use crate::cli::print::format::{many, rounded, rounded_to_figures, time};
use crate::cli::print::report::Report;

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

/// The least share of a CPU that a thread has on a quiet machine, which has programs of its own, too.
pub(super) const QUIET_SHARE: f64 = 0.9;

/// The shortest run by which a machine is judged. In a shorter one, the time in which threads wake up matters.
const MIN_JUDGED_SECONDS: f64 = 0.1;

/// The fewest units of each thread by which a machine is judged. With fewer, some threads have nothing left to do long
/// before the end.
const MIN_JUDGED_UNITS: usize = 16;

/// The timed runs of a configuration on a board.
#[derive(Clone, Debug)]
pub(super) struct Timings {
    pub(super) size: BoardSize,
    pub(super) configuration: Configuration,
    /// The total of the run to warm up.
    pub(super) total: u128,
    /// The number of units of the board.
    pub(super) units: usize,
    /// The time of each run.
    pub(super) seconds: Vec<f64>,
    /// The CPU time of the process in all these runs together.
    pub(super) cpu_seconds: f64,
}

/// What a row is compared with.
pub(super) struct Compared<'a> {
    /// The name of the configuration or of the file.
    pub(super) reference: &'a str,
    /// The kernel of the reference, which may be another one in a file.
    pub(super) kernel: Option<&'a str>,
    pub(super) ratio: Option<Ratio>,
}

/// The titles of the columns.
pub(super) const TITLES: &str = " n engine             thr  CPU  median   least ratio";

/// The titles of the columns with a speed-up, below a line that explains it.
pub(super) const SPEED_UP_TITLES: &str = "\
speed-up: over the fewest threads; efficiency: share of perfect scaling
 n engine             thr  CPU  median speed-up     efficiency   ratio";

impl Timings {
    /// Returns the least time, the one in the middle (or the mean of the two in the middle), and the greatest.
    ///
    /// # Panics
    ///
    /// If there is no timed run.
    pub(super) fn times(&self) -> [f64; 3] {
        times(&self.seconds)
    }

    /// Returns the time in the middle.
    pub(super) fn median(&self) -> f64 {
        median(&self.seconds)
    }

    /// Returns the CPU time of the runs as a share of their wall time on all threads. Threads that have nothing to do
    /// lower it as well as other programs.
    fn cpu_share(&self) -> f64 {
        let wall_seconds: f64 = self.seconds.iter().sum();
        let share = self.cpu_seconds / wall_seconds / self.configuration.threads as f64;
        // The process has threads that do not count, too.
        share.min(1.0)
    }

    /// Returns the share of CPU time if the runs were long enough, and had enough units, to keep all threads at work on
    /// a quiet machine. A single thread always has something to do.
    fn judged_cpu_share(&self) -> Option<f64> {
        let threads = self.configuration.threads;
        let is_long = self.median() >= MIN_JUDGED_SECONDS;
        let are_at_work = threads == 1 || self.units >= MIN_JUDGED_UNITS * threads;
        if is_long && are_at_work { Some(self.cpu_share()) } else { None }
    }

    /// Returns the row of the table, with the speed-up over the fewest of several numbers of threads on the same board.
    /// The names of the fields are promised, because scripts read them.
    pub(super) fn row(
        &self,
        compared: Compared<'_>,
        fewest: Option<usize>,
        board: &[Self],
    ) -> Report {
        let Configuration { engine, kernel, threads } = self.configuration;
        let [least, median, greatest] = self.times();
        let n = self.size.get();
        let name = self.configuration.name();
        let cpu_share = self.cpu_share();
        let percent = format!("{:.0}%", 100.0 * cpu_share);
        let least_text = time(least);
        let median_text = time(median);
        let ratio = compared.ratio;
        let speed_up = fewest.and_then(|fewest| self.speed_up(fewest, board));

        let mut text = format!("{n:>2} {name:<17} {threads:>4} {percent:>4} {median_text:>7} ");
        if fewest.is_some() {
            text += &match &speed_up {
                Some(speed_up) => speed_up.text(),
                None => format!("{:<12} {:<12} ", "-", "-"),
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
            // Its place among the columns, where the fields of the origin leave it.
            .field("cpu", Value::Null)
            .field("ratio_error", ratio.as_ref().and_then(Ratio::json_error))
            .field("reference", compared.reference)
            .field("run_seconds", seconds)
            .field("speed_up", speed_up.as_ref().map(Ratio::json_value))
            .field("speed_up_error", speed_up.as_ref().and_then(Ratio::json_error))
            .field("efficiency", efficiency.map(|part| rounded_to_figures(part, 4)))
            .field("cpu_share", rounded(cpu_share, 4))
            .field("reference_kernel", compared.kernel)
            .origin();
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
        Some(Ratio::of_rounds(&other.seconds, &self.seconds))
    }

    /// Returns the ratio to the runs of an earlier comparison, which took these seconds.
    pub(super) fn ratio_to_earlier(&self, earlier: &[f64]) -> Ratio {
        Ratio::of_separate_runs(earlier, &self.seconds)
    }
}

/// Returns the timings whose threads had the smallest share of a CPU, and this share, among those by which a machine is
/// judged.
pub(super) fn least_cpu_share(all: &[Timings]) -> Option<(f64, &Timings)> {
    let mut least: Option<(f64, &Timings)> = None;
    for timings in all {
        if let Some(share) = timings.judged_cpu_share()
            && least.is_none_or(|(least, _)| share < least)
        {
            least = Some((share, timings));
        }
    }
    least
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
                format!("at most {}%", whole(percent + percent_of_one * error))
            }
            Some(error) if error > 0.0 => {
                format!("{} ± {}%", whole(percent), whole(percent_of_one * error))
            }
            _ => format!("{}%", whole(percent)),
        };
        format!("{:<12} {efficiency:<12} ", self.ratio.to_string())
    }
}

/// Returns a number without decimals, or a large one with an exponent.
fn whole(number: f64) -> String {
    if number < 9999.5 { format!("{number:.0}") } else { format!("{number:.0e}") }
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
            units: 32,
            seconds: seconds.to_vec(),
            cpu_seconds: 0.0,
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
        let compared = Compared {
            reference: &reference.to_string(),
            kernel: Some("portable"),
            ratio: timings.ratio_to(reference, board),
        };
        let row = timings.row(compared, fewest, board);
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
    fn only_long_runs_with_many_units_say_how_busy_the_machine_was() {
        let judged = |seconds, threads, units, cpu_seconds| {
            let timings = Timings {
                units,
                cpu_seconds,
                ..timings(14, Engine::Colours, threads, &[seconds; 2])
            };
            least_cpu_share(&[timings]).map(|(share, _)| share)
        };
        assert_eq!(judged(0.25, 2, 32, 0.75), Some(0.75));
        assert_eq!(judged(0.1, 2, 32, 0.5), Some(1.0), "another thread of the process");
        assert_eq!(judged(0.099, 2, 32, 0.3), None, "threads wake up");
        assert_eq!(judged(0.1, 2, 31, 0.3), None, "threads have nothing left to do");
        assert_eq!(judged(0.5, 1, 12, 0.5), Some(0.5), "textbook engines have few units");
        let mut all =
            [timings(14, Engine::Colours, 1, &[1.0]), timings(15, Engine::Colours, 2, &[1.0])];
        all[0].cpu_seconds = 0.9;
        all[1].cpu_seconds = 1.7;
        let (share, least) = least_cpu_share(&all).expect("both are long");
        assert_eq!((share, least.size.get()), (0.85, 15));
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
        assert!(rows[0].1.ends_with("s 3.00         75%          1.00"), "{}", rows[0].1);
        assert!(rows[2].1.ends_with("s -            -            1.00"), "{}", rows[2].1);
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
        assert_eq!(speed_up(1.8, Some(0.1)), "1.80 ± 0.10  90 ± 5%      ");
        assert_eq!(speed_up(5.46, Some(9.0)), "at most 14   at most 723% ");
        assert_eq!(speed_up(1.8, None), "1.80         90%          ");
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
