//! The time that a running count still takes: the CPU time of the rest, over the cores that the count gets.
//!
//! The time that threads have already spent on unreported units is ignored. It is about as long as the threads wait at
//! the end for the last of them.

use std::sync::OnceLock;

use super::cores::Cores;
use super::sample::{Rest, Sample};
use super::{Approximate, Forecast};
use crate::machine::cores;
use crate::plan::done::UnitsDone;

/// The remaining time of a count, estimated from the reports to its [`Observer`](crate::Observer). The default knows of no
/// count: [`Observer::started`](crate::Observer::started) has the one to begin with.
///
/// ```
/// use std::sync::Mutex;
///
/// use nqueens::forecast::TimeLeft;
/// use nqueens::{BoardSize, Count, Observer, SoFar, Start};
///
/// struct Watch(Mutex<TimeLeft>);
///
/// impl Observer for Watch {
///     fn started(&self, start: &Start<'_>) {
///         *self.0.lock().expect("no panic") = start.time_left.clone();
///     }
///
///     fn units_done(&self, so_far: &SoFar<'_>) {
///         let mut left = self.0.lock().expect("no panic");
///         left.record(so_far.newest);
///         if let Some(seconds) = left.estimate().and_then(|left| left.wall_seconds) {
///             println!("{:.0} s, ± {:.0}", seconds.value, 2.0 * seconds.standard_error);
///         }
///     }
/// }
///
/// let watch = Watch(Mutex::default());
/// let outcome = Count::new(BoardSize::new(12)?).observer(&watch).run()?;
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TimeLeft {
    sample: Sample,
    rest: Rest,
    /// The CPU seconds of all reports.
    spent: f64,
    /// The number of threads that count.
    threads: usize,
    /// The largest number of cores that the threads can use. The operating system is asked for it at the first forecast,
    /// because the question takes longer than a small count.
    most_cores: OnceLock<usize>,
    cores: Cores,
}

impl TimeLeft {
    /// Makes the forecast of a count that begins on this number of threads. `sample` holds the units that similar runs
    /// have finished.
    pub(crate) fn new(sample: Sample, rest: Rest, threads: usize) -> Self {
        Self { sample, rest, threads, ..Self::default() }
    }

    /// Adds finished units to the sample.
    pub fn record(&mut self, done: &UnitsDone) {
        self.sample.add(done);
        self.rest.units = self.rest.units.saturating_sub(done.units.len());
        self.rest.solutions = self.rest.solutions.map(|left| left - done.solutions as f64);
        self.cores.record(done);
        self.spent += done.cpu_time.as_secs_f64();
    }

    /// Estimates the CPU seconds of the whole count from the finished units.
    pub(crate) fn estimate_all_cpu_seconds(&self) -> Option<Approximate> {
        let left = self.sample.estimate_cpu_seconds(self.rest)?;
        Some(Approximate { value: left.value + self.spent, ..left })
    }

    /// Estimates the number of solutions of the whole from the finished units.
    pub(crate) fn estimate_total(&self) -> Approximate {
        self.sample.estimate_total(self.rest)
    }

    /// Estimates the time of the units that are missing. Returns `None` until units are finished. While too little is known
    /// to estimate the error, the standard error is infinite.
    pub fn estimate(&self) -> Option<Forecast> {
        let work = self.sample.estimate_cpu_seconds(self.rest)?;
        let most_cores = *self.most_cores.get_or_init(|| self.threads.min(cores()));
        let cores = self.cores.mean().map(|mean| mean.min(most_cores as f64));
        Some(Forecast::of(work, cores))
    }
}

#[cfg(test)]
mod tests;
