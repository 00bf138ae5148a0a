//! What a record says of the progress of a count: what each shard has finished, and how long the rest takes.

use std::time::Duration;

use super::Record;
use super::reader::JournalFile;
use super::runs::{Run, RunKind};
use crate::board::known::known;
use crate::error::Error;
use crate::forecast::{Approximate, Rest, Sample, WallTime};
use crate::shard::Shard;

/// The progress of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardUnits {
    /// The number of units in the shard.
    pub units: usize,
    /// The number of its units that are finished.
    pub finished: usize,
    /// The number of its units with two different counts. While there are any, no count of the shard begins.
    pub disputed: usize,
}

/// The time that the rest of a count takes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkLeft {
    /// The CPU time of the rest in seconds. `None` while nothing is finished. The standard error is infinite while
    /// too little is finished.
    pub cpu_seconds: Option<Approximate>,
    /// The wall time of the rest, if the processes that are counting at this moment count all of it. `None` if no
    /// process is counting, or while too little is known.
    pub wall_time: Option<WallTime>,
}

impl Record {
    /// Returns the processes that wrote the journals.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.files().iter().flat_map(|file| &file.runs)
    }

    /// Returns the CPU time of all units that were counted. A unit that was counted twice adds both times.
    pub fn cpu_time(&self) -> Duration {
        let mut sum = Duration::ZERO;
        for run in self.runs() {
            sum = sum.saturating_add(run.cpu_time);
        }
        sum
    }

    /// Returns the journals that processes are writing.
    pub fn running(&self) -> impl Iterator<Item = &JournalFile> {
        self.files().iter().filter(|file| file.is_written && !file.runs.is_empty())
    }

    /// Returns how far each shard is, if the plan is cut into this number of
    /// shards.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless `shards` is 1 to [`Shard::MAX_SHARDS`].
    pub fn shard_units(&self, shards: usize) -> Result<Vec<ShardUnits>, Error> {
        Shard::new(0, shards)?;
        let mut each = vec![ShardUnits::default(); shards];
        let disputed = self.disputed();
        for (index, units) in Shard::blocks(self.plan().units(), shards) {
            let shard = &mut each[index];
            shard.units += units.len();
            let before_begin = disputed.partition_point(|unit| *unit < units.start);
            let before_end = disputed.partition_point(|unit| *unit < units.end);
            shard.disputed += before_end - before_begin;
            shard.finished += units.filter(|unit| self.count(*unit).is_some()).count();
        }
        Ok(each)
    }

    /// Returns the indices of the shards that are not complete, if the plan is cut into this number of shards.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless `shards` is 1 to [`Shard::MAX_SHARDS`].
    pub fn missing_shards(&self, shards: usize) -> Result<Vec<usize>, Error> {
        let mut missing = Vec::new();
        for (index, shard) in self.shard_units(shards)?.iter().enumerate() {
            if shard.finished < shard.units {
                missing.push(index);
            }
        }
        Ok(missing)
    }

    /// Estimates how long the missing units take.
    ///
    /// The sample is the work of runs with the kernel, CPU and number of threads of the runs that are counting. If no
    /// process is counting, the sample is all runs. The standard error is infinite if these runs are not like each
    /// other. It is also infinite if no run like the ones that are counting has finished a unit: then the sample is
    /// all runs.
    pub fn work_left(&self) -> WorkLeft {
        let rest = self.rest();
        let mut current = kinds_of(self.running().filter_map(|file| file.runs.last()));
        if current.is_empty() {
            current = kinds_of(self.runs());
        }
        let sample = self.samples.of(|kind| current.contains(kind));
        let work = if sample.is_empty() {
            self.samples.of(|_| true).estimate_cpu_seconds(rest).map(with_unknown_error)
        } else if current.len() == 1 {
            sample.estimate_cpu_seconds(rest)
        } else {
            sample.estimate_cpu_seconds(rest).map(with_unknown_error)
        };
        let cores = self.cores();
        WorkLeft {
            cpu_seconds: work.map(Approximate::with_run_variation),
            wall_time: work.zip(cores).map(|(work, cores)| WallTime::of(work, cores)),
        }
    }

    /// Returns the part of the plan that is not finished.
    fn rest(&self) -> Rest {
        let done = self.sum();
        let total = known(self.plan().size()).total;
        Rest {
            units: self.plan().units() - done.units,
            solutions: total.map(|total| total as f64 - done.solutions as f64),
        }
    }

    /// Returns how many cores the processes that are counting got lately. A process of which too little is known is
    /// assumed to get as many for each thread as the others.
    fn cores(&self) -> Option<f64> {
        let mut threads = 0;
        let mut known_threads = 0;
        let mut cores = 0.0;
        for file in self.running() {
            let threads_of_file = file.runs.last().map_or(0, |run| run.threads);
            threads += threads_of_file;
            if let Some(mean) = file.cores.as_ref().and_then(|cores| cores.mean()) {
                known_threads += threads_of_file;
                cores += mean.min(threads_of_file as f64);
            }
        }
        if known_threads == 0 {
            return None;
        }
        Some(cores * threads as f64 / known_threads as f64)
    }

    /// Returns the finished units of the runs of a kind.
    pub(crate) fn sample_of(&self, wanted: &RunKind) -> Sample {
        self.samples.of(|kind| kind == wanted)
    }
}

/// Returns the kinds of some runs, each once.
fn kinds_of<'a>(runs: impl Iterator<Item = &'a Run>) -> Vec<RunKind> {
    let mut kinds: Vec<RunKind> = Vec::new();
    for run in runs {
        if !kinds.iter().any(|kind| run.is_of(kind)) {
            kinds.push(run.kind());
        }
    }
    kinds
}

/// Returns an estimate with its value, and without its error.
fn with_unknown_error(estimate: Approximate) -> Approximate {
    Approximate::roughly(estimate.value)
}
