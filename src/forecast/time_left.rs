//! The time that a running count still takes.
//!
//! The threads take ranges of units in a scattered order that is fixed beforehand, but they finish
//! them in another: at any moment the cheap ones are finished and the dear ones are under way. A
//! sample of whatever is finished therefore promises too little, and its spread knows nothing of the
//! dear ones. So the sample is the longest *beginning* of the order of which every range is
//! finished, whatever it cost:
//!
//! ```text
//! turn       0  1  2  3  4  5  6  7  8
//! finished   x  x  x  x  -  x  -  -  x     sample: turns 0 to 3
//!            ~~~~~~~~~~  ~~~~~~~~~~~~~     time already spent on the rest: turns 4 to 8
//! ```
//!
//! With the time of a unit m and its standard error from the sample (see [`estimate`](super)), all
//! units after the beginning take m times their number. What the threads have spent on them is
//! subtracted: the time of the units that were reported, and of those that were not. A thread is, on
//! average, as far from its last report as a random moment is from the begin of an interval between
//! two, sum b² / (2 sum b) for intervals b.
//!
//! At the end the threads do not finish at once: they wait for the last range, on average half as long
//! as the longest range takes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::ratio::{Approximate, RatioEstimator};
use crate::observe::UnitsDone;

/// With fewer ranges, or after less time, there is no estimate.
const FEWEST_RANGES: usize = 20;
const EARLIEST: Duration = Duration::from_secs(2);

/// So few ranges say little about their spread: with k of them, the standard error is larger by this
/// part of 1/k, beyond what the estimator adds for small samples.
const SMALL_SAMPLE: f64 = 6.0;

/// What a standard error is at least, as a part of the time left: the sample says how units differ, but
/// not that a machine changes its speed.
const LEAST_ERROR: f64 = 0.01;

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
///         let left = TimeLeft::new(start.units - start.units_done, start.threads);
///         *self.1.lock().expect("no panic") = left;
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
    /// Units to count.
    units: usize,
    threads: usize,
    /// The beginning: how many ranges, and what they took.
    ranges: usize,
    sample: RatioEstimator,
    /// The longest of them, in seconds.
    longest: f64,
    /// The ranges that are not of the beginning.
    later: BTreeMap<usize, Part>,
    /// Sums over the reports.
    busy: f64,
    busy_squared: f64,
}

/// What is finished of a range.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    units: usize,
    busy: f64,
    is_whole: bool,
}

impl TimeLeft {
    /// For so many units that are not finished, counted on so many threads.
    #[must_use]
    pub fn new(units: usize, threads: usize) -> Self {
        Self { units, threads, ..Self::default() }
    }

    /// Learns of finished units.
    pub fn record(&mut self, done: &UnitsDone) {
        let busy = done.busy.as_secs_f64();
        self.busy += busy;
        self.busy_squared += busy * busy;
        let part = self.later.entry(done.turn).or_default();
        part.units += done.units.len();
        part.busy += busy;
        part.is_whole |= done.ends_turn;
        while let Some(next) = self.later.first_entry() {
            let part = *next.get();
            if *next.key() != self.ranges || !part.is_whole {
                break;
            }
            next.remove();
            self.ranges += 1;
            self.longest = self.longest.max(part.busy);
            self.sample.record(part.units as f64, part.busy);
        }
    }

    /// Seconds to the end, after so much time. `None` while too little is known: in the first two
    /// seconds, and until the first twenty ranges are finished.
    #[must_use]
    pub fn estimate(&self, elapsed: Duration) -> Option<Approximate> {
        if self.ranges < FEWEST_RANGES || elapsed < EARLIEST {
            return None;
        }
        let threads = self.threads.max(1) as f64;
        let all = self.sample.sum_over(self.units as f64)?;
        let reported: f64 = self.later.values().map(|part| part.busy).sum();
        let unreported = threads * self.busy_squared / (2.0 * self.busy.max(f64::MIN_POSITIVE));
        let rest = (all.value - self.sample.values() - reported - unreported).max(0.0);
        let last_wait = 0.5 * self.longest * (1.0 - 1.0 / threads);
        let value = rest / threads + last_wait;
        let of_sample = all.standard_error / threads * (1.0 + SMALL_SAMPLE / self.ranges as f64);
        let standard_error = of_sample.hypot(0.5 * last_wait).hypot(LEAST_ERROR * value);
        Some(Approximate { value, standard_error })
    }
}

#[cfg(test)]
mod tests;
