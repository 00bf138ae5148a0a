//! The time that a running count still takes: the CPU time of the rest, over the cores that the count gets.
//!
//! The time that threads have already spent on unreported units is ignored. It is about as long as the threads wait at
//! the end for the last of them.

use std::time::{Duration, Instant};

use super::cores::Cores;
use super::sample::{Rest, Sample};
use super::{Approximate, Forecast};
use crate::machine::process_time;
use crate::plan::done::UnitsDone;

/// The longest time from one reading of the CPU clock to the next. A reading takes longer the more threads there are.
const READ_EVERY: Duration = Duration::from_secs(1);

/// The number of reports of each thread from which the error of a forecast is known. The units that end first are the
/// short ones. With two reports, intervals from the first of them covered the truth in 20 of 24 simulated counts, with
/// three in at least 22.
const FAIR_REPORTS: usize = 3;

/// What is known of a running count: its finished units, its rest, and the cores that it got.
#[derive(Clone, Debug)]
pub(crate) struct TimeLeft {
    sample: Sample,
    rest: Rest,
    /// The number of reports until the error is known.
    missing_reports: usize,
    begun: Instant,
    /// The CPU time of the process when the count began.
    cpu_time_before: Duration,
    cores: Cores,
}

impl TimeLeft {
    /// Makes the forecast of a count that begins now on this number of threads. `sample` holds the units that similar
    /// runs have finished.
    pub(crate) fn new(sample: Sample, rest: Rest, threads: usize) -> Self {
        let mut cores = Cores::by_clock(threads);
        cores.add(Duration::ZERO, Duration::ZERO);
        // What earlier runs have finished are not the first units of this one.
        let missing_reports = if sample.is_empty() { FAIR_REPORTS * threads } else { 0 };
        Self {
            sample,
            rest,
            missing_reports,
            begun: Instant::now(),
            cpu_time_before: process_time(),
            cores,
        }
    }

    /// Adds finished units to the sample.
    pub(crate) fn record(&mut self, done: &UnitsDone) {
        self.sample.add(done);
        self.missing_reports = self.missing_reports.saturating_sub(1);
        self.rest.units = self.rest.units.saturating_sub(done.units.len());
        self.rest.solutions = self.rest.solutions.map(|left| left - done.solutions as f64);
    }

    /// Looks how much CPU time the process has used, unless it is known from a moment ago.
    pub(crate) fn read_clock(&mut self) {
        let elapsed = self.begun.elapsed();
        // Short counts are read more often.
        if elapsed - self.cores.elapsed() >= READ_EVERY.min(elapsed / 10) {
            let cpu_time = process_time().saturating_sub(self.cpu_time_before);
            self.cores.add(elapsed, cpu_time);
        }
    }

    /// Estimates the time of the units that are missing. Returns `None` until units are finished. While too little is
    /// known to estimate the error, the standard error is infinite.
    pub(crate) fn estimate(&self) -> Option<Forecast> {
        let left = Forecast::of_rest(&self.sample, self.rest, self.cores.mean())?;
        Some(if self.missing_reports == 0 { left } else { left.roughly() })
    }

    /// Estimates the time of the whole count, if all that is finished is in the sample.
    pub(crate) fn estimate_whole(&self) -> Option<Forecast> {
        Forecast::of_whole(&self.sample, self.rest, self.cores.mean())
    }

    /// Estimates the number of solutions of the whole from the finished units.
    pub(crate) fn estimate_total(&self) -> Approximate {
        self.sample.estimate_total(self.rest)
    }
}

#[cfg(test)]
mod tests;
