//! Estimates of the time and the result of a count, from a sample of its units.
//!
//! **The CPU time of the rest.** A missing unit is assumed to take as much CPU time as a finished one of the same CPU,
//! kernel and number of threads. If the total is published, the CPU time is in proportion to solutions instead of
//! units. The finished units are a fair sample, because a count begins with units from all parts of the board
//! (`count/ranges.rs`). Units differ in size, but neighbouring units are alike. So the error comes from blocks of
//! consecutive units. From k blocks with sizes x_i (units or solutions) and values y_i (CPU seconds), the sum Y of the
//! values of the rest is estimated from the sum X of its sizes:
//!
//! ```text
//! Y = X m, m = sum y_i / sum x_i       s² = sum (y_i - m x_i)² / (k - 1)
//! standard error of Y: (1 + 3 / k) s sqrt((K - k) K / k), with K = k + k X / sum x_i blocks in all
//! ```
//!
//! The true value lies within twice the standard error in 95 % of all cases. That needs at least twenty blocks. From
//! fewer of them the standard error is infinite. This is the ratio estimator of survey sampling, with its correction
//! for finite populations (W. G. Cochran, *Sampling Techniques*, chapter 6). The number of solutions is estimated in
//! the same way, from the solutions of the finished units.
//!
//! **The wall time of the rest** is its CPU time over the cores that the process got in the last minute, which are its
//! CPU time in that minute over the wall time (`cores.rs`). So the wall time holds if the machine stays as it was in
//! that minute. The forecast of a running count ([`Progress::time_left`](crate::Progress::time_left)), of a count that
//! is stopped after a while ([`Count::estimate`](crate::Count::estimate)) and of the journals that processes write
//! ([`Record::time_left`](crate::record::Record::time_left)) are made in this one way.

mod approximate;
mod cores;
mod sample;
mod time_left;

pub use approximate::Approximate;
pub(crate) use cores::Cores;
pub(crate) use sample::{Rest, Sample};
pub(crate) use time_left::TimeLeft;

use crate::board::size::BoardSize;
use crate::engine::{Engine, Kernel};
use crate::machine::cores;

/// The expected time of the units that are missing, or of a whole count, made from a sample of its units.
///
/// A missing unit is assumed to take as much CPU time as a finished one of the same CPU, kernel and number of threads.
/// The wall time is the CPU time over the CPUs that the process got in the last minute, so it holds if the machine
/// stays as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forecast {
    /// The CPU time in seconds. The standard error is infinite while too little is known.
    pub cpu_seconds: Approximate,
    /// The wall time in seconds. `None` if it is not known which CPUs will count.
    pub wall_seconds: Option<Approximate>,
    /// The number of CPUs that the threads got in the last minute: the CPU time of their process over the wall time.
    /// `None` if that is not known.
    pub cores: Option<f64>,
    /// The number of solutions of the board, which is an estimate and not a count. Only [`Count::estimate`] makes it,
    /// if the sample is large enough.
    ///
    /// [`Count::estimate`]: crate::Count::estimate
    pub total: Option<Approximate>,
}

impl Forecast {
    /// Returns the wall time in seconds on this many CPUs, at least one. They are like the ones that took the sample,
    /// and nothing else runs on them.
    pub fn on_cores(&self, cores: usize) -> Approximate {
        self.cpu_seconds.divided_by(cores.max(1) as f64)
    }

    /// Forecasts the time of the units that are missing, on a number of cores, if that is known. Returns `None` while
    /// nothing is finished, or if the CPU clock stands still.
    pub(crate) fn of_rest(sample: &Sample, rest: Rest, cores: Option<f64>) -> Option<Self> {
        Some(Self::of(sample.estimate_cpu_seconds(rest)?, cores))
    }

    /// Forecasts the time of all units, of which those in the sample are finished.
    pub(crate) fn of_whole(sample: &Sample, rest: Rest, cores: Option<f64>) -> Option<Self> {
        let left = sample.estimate_cpu_seconds(rest)?;
        Some(Self::of(Approximate { value: sample.cpu_seconds() + left.value, ..left }, cores))
    }

    /// Forecasts the time of some work.
    fn of(work: Approximate, cores: Option<f64>) -> Self {
        let cpu_seconds = work.with_run_variation();
        let wall_seconds = cores.map(|cores| cpu_seconds.divided_by(cores));
        Self { cpu_seconds, wall_seconds, cores, total: None }
    }

    /// Returns this forecast with unknown errors.
    pub(crate) fn roughly(self) -> Self {
        let roughly = |time: Approximate| Approximate::roughly(time.value);
        Self {
            cpu_seconds: roughly(self.cpu_seconds),
            wall_seconds: self.wall_seconds.map(roughly),
            cores: self.cores,
            total: self.total,
        }
    }
}

/// The factor by which boards take longer with each of [`Kernel::NAMES`] than with AVX-512.
///
/// Engine `colours` took 7.7 times as long with the portable kernel for n = 20 on Xeon-16A
/// (benches/record/2026-11-26-xeon-16-cores-threads.csv), and 1.1 to 1.6 times with AVX2 on Zen4-2
/// (docs/PERFORMANCE.md). NEON was never timed. Under an emulator it executes about half of the portable kernel's
/// instructions (src/engine/NOTES.md).
const SLOWER: [f64; Kernel::NAMES.len()] = [7.5, 3.5, 1.6, 1.0];

/// Returns roughly how many seconds of CPU time a whole count takes, to decide whether to start it.
///
/// The number comes from boards that were counted on other machines, so it is right to a factor of about three.
/// [`Count::estimate`](crate::Count::estimate) measures on this machine.
pub(crate) fn rough_cpu_seconds(size: BoardSize, engine: Engine, kernel: Kernel) -> f64 {
    let MeasuredBoard { n, hours, growth } = if let Some(n) = engine.largest_sensible() {
        // The largest sensible board takes some seconds.
        MeasuredBoard { n, hours: 10.0 / 3600.0, growth: 7.0 }
    } else if engine == Engine::Subtrees {
        // Measured up to n = 19: 8 ns for each solution. The numbers of solutions are published up to n = 27.
        MeasuredBoard { n: 24, hours: 550.0, growth: 10.0 }
    } else {
        // Measured up to n = 24, and estimated from samples up to n = 30. Two more columns take 25 to 50 times as
        // long.
        MeasuredBoard { n: 24, hours: 1.5, growth: 6.4 }
    };
    let rows_more = size.get() as i32 - n as i32;
    let slower = if engine.has_kernels() { slower_with(kernel) } else { 1.0 };
    3600.0 * slower * hours * growth.powi(rows_more)
}

/// Returns roughly how many seconds a whole count takes, if each thread gets a core of its own as long as there are
/// some.
pub(crate) fn rough_seconds(
    size: BoardSize,
    engine: Engine,
    kernel: Kernel,
    threads: usize,
) -> f64 {
    rough_cpu_seconds(size, engine, kernel) / threads.min(cores()) as f64
}

/// A board from whose time the times of other boards are estimated.
struct MeasuredBoard {
    n: u32,
    /// The hours of CPU time that it takes with AVX-512.
    hours: f64,
    /// The factor from one board to the next.
    growth: f64,
}

/// Returns the factor by which boards take longer with a kernel than with AVX-512.
fn slower_with(kernel: Kernel) -> f64 {
    match Kernel::NAMES.iter().position(|name| *name == kernel.name()) {
        Some(place) => SLOWER[place],
        None => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::done::UnitsDone;

    fn hours(n: u32, engine: Engine, kernel: Kernel) -> f64 {
        rough_cpu_seconds(BoardSize::new(n).expect("in range"), engine, kernel) / 3600.0
    }

    #[test]
    fn the_cost_rises_with_the_board_and_falls_with_the_vectors() {
        for &engine in Engine::ALL {
            for n in 1..=BoardSize::MAX {
                let smaller = hours(n - 1, engine, Kernel::PORTABLE);
                let larger = hours(n, engine, Kernel::PORTABLE);
                assert!(larger > 3.0 * smaller, "{engine}, n = {n}: {smaller} and {larger} hours");
            }
        }
        for kernel in Kernel::available() {
            let vectors = hours(25, Engine::Colours, kernel);
            let portable = hours(25, Engine::Colours, Kernel::PORTABLE);
            assert!(vectors <= portable, "{kernel}");
        }
        let years = hours(28, Engine::Subtrees, Kernel::PORTABLE) / 8766.0;
        assert!((1000.0..10_000.0).contains(&years), "{years}");
    }

    #[test]
    fn the_cost_is_what_was_measured() {
        let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
        for kernel in Kernel::available() {
            let slower = match kernel.name() {
                "portable" => 7.5,
                "neon" => 3.5,
                "avx2" => 1.6,
                _ => 1.0,
            };
            assert!(close(hours(24, Engine::Subtrees, kernel), 550.0 * slower), "{kernel}");
            assert!(close(hours(23, Engine::Subtrees, kernel), 55.0 * slower), "{kernel}");
            assert!(close(hours(25, Engine::Colours, kernel), 1.5 * 6.4 * slower), "{kernel}");
        }
        let sensible = Engine::Bitmask.largest_sensible().expect("a textbook engine");
        let seconds = 3600.0 * hours(sensible + 1, Engine::Bitmask, Kernel::PORTABLE);
        assert!(close(seconds, 70.0), "{seconds}");
    }

    #[test]
    fn a_rough_time_is_the_cpu_time_over_the_cores_that_the_threads_can_use() {
        let size = BoardSize::new(20).expect("in range");
        let seconds = |threads| rough_seconds(size, Engine::Colours, Kernel::PORTABLE, threads);
        let cpu_seconds = rough_cpu_seconds(size, Engine::Colours, Kernel::PORTABLE);
        assert_eq!(seconds(1), cpu_seconds);
        assert_eq!(seconds(1_000_000), cpu_seconds / cores() as f64);
    }

    /// Thirty of a hundred blocks, each with a unit of one or three seconds.
    #[test]
    fn the_wall_time_is_the_cpu_time_over_the_cores() {
        let mut sample = Sample::new(64);
        for unit in 0..30 {
            let cpu_time = Duration::from_secs(1 + 2 * (unit as u64 % 2));
            sample.add(&UnitsDone { units: unit..unit + 1, cpu_time, ..UnitsDone::default() });
        }
        let rest = Rest { units: 34, solutions: None };
        let work = sample.estimate_cpu_seconds(rest).expect("thirty units");
        let left = Forecast::of_rest(&sample, rest, Some(0.5)).expect("thirty units");
        assert_eq!((left.cpu_seconds.value, left.cores), (68.0, Some(0.5)));
        // Runs differ by three percent.
        let error = left.cpu_seconds.standard_error;
        assert_eq!(error, work.standard_error.hypot(0.03 * 68.0));
        let wall_seconds = Approximate { value: 136.0, standard_error: 2.0 * error };
        assert_eq!(left.wall_seconds, Some(wall_seconds));
        let whole = Forecast::of_whole(&sample, rest, Some(0.5)).expect("thirty units");
        assert_eq!(whole.cpu_seconds.value, 128.0);
        assert_eq!(whole.wall_seconds.map(|seconds| seconds.value), Some(256.0));
        let unknown = Forecast::of_rest(&sample, rest, None).expect("thirty units");
        assert_eq!((unknown.cpu_seconds, unknown.wall_seconds), (left.cpu_seconds, None));
        let roughly = left.roughly();
        assert_eq!(roughly.cpu_seconds, Approximate::roughly(68.0));
        assert_eq!(roughly.wall_seconds, Some(Approximate::roughly(136.0)));
    }

    #[test]
    fn the_time_on_other_cores_is_the_cpu_time_over_their_number() {
        let cpu_seconds = Approximate { value: 1000.0, standard_error: 50.0 };
        let forecast = Forecast::of(cpu_seconds, None);
        let expected = forecast.cpu_seconds.divided_by(10.0);
        assert_eq!((expected.value, forecast.on_cores(10)), (100.0, expected));
    }

    #[test]
    fn an_error_is_small_in_relation_to_its_value() {
        let work = Approximate { value: 100.0, standard_error: 4.0 };
        let other = Approximate { value: 50.0, standard_error: 2.5 };
        assert!(!work.is_closer_than(work));
        assert!(other.is_closer_than(Approximate::roughly(50.0)));
        assert!(work.is_closer_than(other), "4 % and 5 %");
    }
}
