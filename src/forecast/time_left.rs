//! The time that a running count still takes.
//!
//! [`Blocks`] tell the CPU time of the rest. The threads work on it at the speed that they had of late: CPU
//! time for each second, which is less than one where other programs run, or with more threads than cores.
//! What they have spent on units that are not reported yet is subtracted: a thread is, on average, as far
//! from its last report as a random moment is from the begin of an interval between two,
//! sum b² / (2 sum b) for intervals b.
//!
//! At the end the threads do not finish at once: they wait for the last range, on average for half of it.

use std::time::Duration;

use super::blocks::{Blocks, Rest};
use super::ratio::{Approximate, RatioEstimator};
use crate::plan::UnitsDone;

/// Without a journal, nothing is promised before.
const EARLIEST: Duration = Duration::from_secs(1);

/// The speed of a thread is that of its last one to two minutes.
const LATE: f64 = 60.0;

/// The remaining time of a count, estimated from what its [`Observer`](crate::Observer) is told.
///
/// ```
/// use std::sync::Mutex;
/// use std::time::Instant;
///
/// use nqueens::forecast::TimeLeft;
/// use nqueens::{BoardSize, Count, Observer, Start, UnitsDone};
///
/// struct Watch(Instant, Mutex<TimeLeft>);
///
/// impl Observer for Watch {
///     fn started(&self, start: &Start<'_>) {
///         *self.1.lock().expect("no panic") = start.time_left();
///     }
///
///     fn units_done(&self, done: &UnitsDone) {
///         let mut left = self.1.lock().expect("no panic");
///         left.record(done);
///         if let Some(seconds) = left.estimate(self.0.elapsed()) {
///             println!("{:.0} s, ± {:.0}", seconds.value, 2.0 * seconds.standard_error);
///         }
///     }
/// }
///
/// let watch = Watch(Instant::now(), Mutex::default());
/// let outcome = Count::new(BoardSize::new(12)?).observer(&watch).run()?;
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TimeLeft {
    blocks: Blocks,
    rest: Rest,
    /// The CPU seconds of all reports.
    spent: f64,
    earliest: Duration,
    threads: f64,
    /// Units of the last ranges.
    range: f64,
    /// The wall time of reports, those of late above all, against their CPU time.
    reports: RatioEstimator,
}

impl TimeLeft {
    /// Of a count that begins, with what is finished before. Its threads take ranges of so many units.
    pub(crate) fn new(blocks: Blocks, rest: Rest, threads: usize, range: usize) -> Self {
        let earliest = if blocks.is_empty() { EARLIEST } else { Duration::ZERO };
        let (threads, range) = (threads as f64, range as f64);
        let reports = RatioEstimator::of_repeated_draws();
        Self { blocks, rest, earliest, threads, range, reports, ..Self::default() }
    }

    /// Nothing is too early to say.
    pub(crate) fn at_once(self) -> Self {
        Self { earliest: Duration::ZERO, ..self }
    }

    /// Learns of finished units.
    pub fn record(&mut self, done: &UnitsDone) {
        let UnitsDone { units, solutions, busy, cpu_time, .. } = done;
        self.blocks.add(units.start, units.len(), *solutions, *cpu_time);
        self.rest.units = self.rest.units.saturating_sub(units.len());
        self.rest.solutions = self.rest.solutions.map(|left| left - *solutions as f64);
        if self.reports.values()[0] > 2.0 * LATE * self.threads {
            self.reports = self.reports.faded();
        }
        self.reports.record(cpu_time.as_secs_f64(), busy.as_secs_f64());
        self.spent += cpu_time.as_secs_f64();
    }

    /// The CPU seconds of the whole, by the finished units.
    pub(crate) fn all_cpu_seconds(&self) -> Option<Approximate> {
        let left = self.blocks.cpu_seconds(self.rest)?;
        Some(Approximate { value: left.value + self.spent, ..left })
    }

    /// The solutions of the whole, by those of the finished units.
    pub(crate) fn total(&self) -> Approximate {
        self.blocks.total(self.rest)
    }

    /// Seconds to the end, after so much time. `None` while nothing is known: in the first second, or until
    /// a unit is finished. While too little is known to say how exact it is, the standard error is infinite.
    pub fn estimate(&self, elapsed: Duration) -> Option<Approximate> {
        let work = self.blocks.cpu_seconds(self.rest)?;
        if elapsed < self.earliest {
            return None;
        }
        if self.rest.units == 0 {
            return Some(Approximate { value: 0.0, standard_error: 0.0 });
        }
        // Of each thread, for a second of its CPU time.
        let wall = self.reports.sum_over(1.0);
        let (wall, unreported) = match self.reports.values() {
            [busy, squares] if wall.value > 0.0 => (wall, squares / (2.0 * busy)),
            _ => (Approximate { value: 1.0, standard_error: 0.0 }, elapsed.as_secs_f64()),
        };
        let speed_error = if wall.standard_error.is_finite() { wall.standard_error } else { 0.0 };
        let of_unit = work.value / self.rest.units as f64;
        let last_wait = 0.5 * self.range * of_unit * (1.0 - 1.0 / self.threads);
        let on_each = (work.value + last_wait) / self.threads;
        let value = (on_each * wall.value - unreported).max(0.0);
        let of_work = work.standard_error.hypot(0.5 * last_wait) / self.threads * wall.value;
        let standard_error = of_work.hypot(speed_error * on_each);
        Some(Approximate { value, standard_error }.on_any_run())
    }
}

#[cfg(test)]
mod tests;
