//! How long the rest of a count takes, as the lines of its journals say.

use std::collections::BTreeMap;

use super::Record;
use super::progress::ShardUnits;
use super::reader::JournalFile;
use super::runs::{Run, RunKind};
use crate::board::known::known;
use crate::forecast::{Approximate, Rest, Sample, WallTime};
use crate::shard::Shard;

/// The time that the rest of a count takes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkLeft {
    /// The CPU time of all missing units in seconds. `None` while nothing is finished. The standard error is infinite
    /// while too little is finished.
    pub cpu_seconds: Option<Approximate>,
    /// The wall time until the last of the processes that are counting at this moment ends, because its shard is
    /// complete. `None` if no process is counting, or while too little is known.
    pub wall_time: Option<WallTime>,
}

impl Record {
    /// Estimates how long the missing units take.
    ///
    /// The sample is the work of runs with the kernel, CPU and number of threads of the runs that are counting. If no
    /// process is counting, the sample is all runs. The standard error is infinite if these runs are not like each
    /// other. It is also infinite if no run like the ones that are counting has finished a unit: then the sample is
    /// all runs.
    pub fn work_left(&self) -> WorkLeft {
        let mut current = kinds_of(self.running().filter_map(|file| file.runs.last()));
        if current.is_empty() {
            current = kinds_of(self.runs());
        }
        let mut sample = self.samples.of(|kind| current.contains(kind));
        let is_like_current = !sample.is_empty();
        if !is_like_current {
            sample = self.samples.of(|_| true);
        }
        let is_error_known = is_like_current && current.len() == 1;
        let estimate = |rest| {
            let seconds = sample.estimate_cpu_seconds(rest)?;
            Some(if is_error_known { seconds } else { Approximate::roughly(seconds.value) })
        };
        WorkLeft {
            cpu_seconds: estimate(self.rest()).map(Approximate::with_run_variation),
            wall_time: self.wall_time_of_running(estimate),
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

    /// Returns the wall time until the last of the processes that are counting ends. `estimate` returns the CPU seconds
    /// of a rest.
    fn wall_time_of_running(
        &self,
        estimate: impl Fn(Rest) -> Option<Approximate>,
    ) -> Option<WallTime> {
        let cores_of_thread = self.cores_of_thread()?;
        let mut shards_by_number = BTreeMap::new();
        let mut latest: Option<WallTime> = None;
        let mut all_cores = 0.0;
        for file in self.running() {
            let Some(run) = file.runs.last() else { continue };
            let cores = cores_of(file).unwrap_or(cores_of_thread * run.threads as f64);
            let work = estimate(self.rest_of(run.shard, &mut shards_by_number))?;
            let time = WallTime::of(work, cores);
            all_cores += cores;
            if latest.is_none_or(|latest| latest.seconds.value < time.seconds.value) {
                latest = Some(time);
            }
        }
        latest.map(|latest| WallTime { cores: all_cores, ..latest })
    }

    /// Returns the part of a shard that is not finished. `shards_by_number` keeps the shards of each number of shards.
    fn rest_of(
        &self,
        shard: Shard,
        shards_by_number: &mut BTreeMap<usize, Vec<ShardUnits>>,
    ) -> Rest {
        if shard == Shard::WHOLE {
            return self.rest();
        }
        let number = shard.shards();
        let shards = shards_by_number
            .entry(number)
            .or_insert_with(|| self.shard_units(number).unwrap_or_default());
        let units = shards.get(shard.index()).map_or(0, |shard| shard.units - shard.finished);
        Rest { units, solutions: None }
    }

    /// Returns how many cores a thread got lately, on average over the processes that are counting and of which that is
    /// known.
    fn cores_of_thread(&self) -> Option<f64> {
        let mut threads = 0;
        let mut cores = 0.0;
        for file in self.running() {
            if let Some(run) = file.runs.last()
                && let Some(cores_of_run) = cores_of(file)
            {
                threads += run.threads;
                cores += cores_of_run;
            }
        }
        if threads == 0 { None } else { Some(cores / threads as f64) }
    }

    /// Returns the finished units of the runs of a kind.
    pub(crate) fn sample_of(&self, wanted: &RunKind) -> Sample {
        self.samples.of(|kind| kind == wanted)
    }
}

/// Returns how many cores the process got lately that writes a journal.
fn cores_of(file: &JournalFile) -> Option<f64> {
    let run = file.runs.last()?;
    let mean = file.cores.as_ref()?.mean()?;
    Some(mean.min(run.threads as f64))
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
