//! The time that a running count still takes.
//!
//! [`Clusters`] estimates the CPU time of the rest, and [`Cores`] how many cores work on it. The time that threads
//! have already spent on unreported units is ignored. It is about as long as the threads wait at the end for the last
//! of them.

use super::clusters::{Clusters, Rest};
use super::cores::Cores;
use super::ratio::Approximate;
use crate::done::UnitsDone;

/// The remaining time of a count, estimated from the reports to its [`Observer`](crate::Observer).
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
///         if let Some(seconds) = left.estimate() {
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
    clusters: Clusters,
    rest: Rest,
    /// The CPU seconds of all reports.
    spent: f64,
    threads: usize,
    cores: Cores,
}

impl TimeLeft {
    /// Makes the forecast of a count that begins on this many threads, each with a core of its own. `clusters` are
    /// units that similar runs have finished.
    pub(crate) fn new(clusters: Clusters, rest: Rest, threads: usize) -> Self {
        Self { clusters, rest, threads, ..Self::default() }
    }

    /// Adds finished units to the sample.
    pub fn record(&mut self, done: &UnitsDone) {
        self.clusters.add(done);
        self.rest.units = self.rest.units.saturating_sub(done.units.len());
        self.rest.solutions = self.rest.solutions.map(|left| left - done.solutions as f64);
        self.cores.record(done);
        self.spent += done.cpu_time.as_secs_f64();
    }

    /// Estimates the CPU seconds of the whole count from the finished units.
    pub(crate) fn all_cpu_seconds(&self) -> Option<Approximate> {
        let left = self.clusters.cpu_seconds(self.rest)?;
        Some(Approximate { value: left.value + self.spent, ..left })
    }

    /// Estimates the number of solutions of the whole from the finished units.
    pub(crate) fn total(&self) -> Approximate {
        self.clusters.total(self.rest)
    }

    /// Estimates the remaining wall time in seconds. Returns `None` while nothing is known: in the first seconds, or
    /// until units are finished. While too little is known to estimate the error, the standard error is infinite.
    pub fn estimate(&self) -> Option<Approximate> {
        let work = self.clusters.cpu_seconds(self.rest)?;
        seconds_of(work, &[(&self.cores, self.threads)])
    }
}

/// Estimates the wall time in seconds that processes, each with its number of threads, take for work in CPU seconds.
/// A process of which too little is known is assumed to get as many cores for each thread as the others. Returns
/// `None` if too little is known of all processes.
pub(crate) fn seconds_of(work: Approximate, processes: &[(&Cores, usize)]) -> Option<Approximate> {
    let all: usize = processes.iter().map(|(_, threads)| threads).sum();
    let cores_of = |seconds: f64| {
        let of_next = |(cores, threads): &(&Cores, usize)| {
            Some((cores.forecast(seconds, *threads as f64)?, *threads))
        };
        let known = processes.iter().filter_map(of_next);
        let (cores, threads) =
            known.reduce(|(one, threads), (other, more)| (one.plus(other), threads + more))?;
        Some(cores.scaled(all as f64 / threads as f64))
    };
    let cores = cores_of(work.value / cores_of(0.0)?.value)?;
    let time = work.scaled(1.0 / cores.value);
    let of_cores = time.value * cores.standard_error / cores.value;
    Some(
        Approximate { standard_error: time.standard_error.hypot(of_cores), ..time }
            .with_run_variation(),
    )
}

#[cfg(test)]
mod tests;
