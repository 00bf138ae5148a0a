//! How far a record and its shards have come, and how long the rest takes.

use std::time::Duration;

use super::line::Run;
use super::reader::JournalFile;
use super::union::Record;
use crate::board::known::{Published, known};
use crate::error::Error;
use crate::forecast::{Approximate, Clusters, Rest, seconds_of};
use crate::shard::Shard;

/// The progress of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardUnits {
    /// The number of units in the shard.
    pub units: usize,
    /// The number of its units that are finished.
    pub finished: usize,
}

/// The time that the rest of a count takes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkLeft {
    /// The CPU time of the rest in seconds. `None` while nothing is finished. The standard error is infinite while
    /// too little is finished.
    pub cpu_seconds: Option<Approximate>,
    /// The wall time of the rest in seconds, for the processes that are counting at this moment. `None` if no process
    /// is counting, or while too little is known.
    pub seconds: Option<Approximate>,
}

impl Record {
    /// Returns the number of solutions of the board if all units are finished.
    pub fn total(&self) -> Option<u128> {
        let done = self.tally();
        (done.units == self.plan().units()).then_some(done.solutions)
    }

    /// Compares the total with the published one: [`Published::Unknown`] while units are missing.
    pub fn published(&self) -> Published {
        let published = known(self.plan().size()).total;
        self.total().map_or(Published::Unknown, |total| Published::compare(total, published))
    }

    /// Returns the processes that wrote the journals.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.files.iter().flat_map(|file| &file.runs)
    }

    /// Returns the indices of the shards that are not complete, if the plan is cut into this number of shards.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless `shards` is 1 to [`Shard::MAX_SHARDS`].
    pub fn missing_shards(&self, shards: usize) -> Result<Vec<usize>, Error> {
        let each = self.shard_units(shards)?;
        Ok((0..shards).filter(|index| each[*index].finished < each[*index].units).collect())
    }

    /// Returns the CPU time of all units that were counted. A unit that was counted twice adds both times.
    pub fn cpu_time(&self) -> Duration {
        self.runs().fold(Duration::ZERO, |sum, run| sum.saturating_add(run.cpu_time))
    }

    /// Returns the journals that processes are writing.
    pub fn running(&self) -> impl Iterator<Item = &JournalFile> {
        self.files.iter().filter(|file| file.is_written && !file.runs.is_empty())
    }

    /// Estimates how long the missing units take.
    ///
    /// The sample is the work of runs with the kernel, CPU and number of threads of the runs that are counting. If no
    /// process is counting, the sample is all runs. The standard error is infinite if these runs are not like each
    /// other. It is also infinite if no run like the ones that are counting has finished a unit: then the sample is
    /// all runs.
    pub fn work_left(&self) -> WorkLeft {
        let done = self.tally();
        let total = known(self.plan().size()).total;
        let solutions = total.map(|total| total as f64 - done.solutions as f64);
        let rest = Rest { units: self.plan().units() - done.units, solutions };
        let mut now: Vec<&Run> = self.running().filter_map(|file| file.runs.last()).collect();
        if now.is_empty() {
            now = self.runs().collect();
        }
        let are_alike = now.iter().all(|run| run.is_like(now[0]));
        let like = self.clusters(|run| now.iter().any(|now| now.is_like(run)));
        let work = like.cpu_seconds(rest).filter(|_| are_alike).or_else(|| {
            let any = if like.is_empty() { self.clusters(|_| true) } else { like };
            Some(Approximate::roughly(any.cpu_seconds(rest)?.value))
        });
        let processes: Vec<_> = self
            .running()
            .map(|file| (&file.cores, file.runs.last().map_or(0, |run| run.threads)))
            .collect();
        WorkLeft {
            cpu_seconds: work.map(Approximate::with_run_variation),
            seconds: work.and_then(|work| seconds_of(work, &processes)),
        }
    }

    /// Returns the finished units of some runs, in clusters.
    pub(crate) fn clusters(&self, is_wanted: impl Fn(&Run) -> bool) -> Clusters {
        let new = Clusters::new(self.plan().units());
        self.runs().filter(|run| is_wanted(run)).fold(new, |sum, run| sum.merged(&run.clusters))
    }

    /// Returns the number of units and of finished units of each shard, if the plan is cut into this number of
    /// shards.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless `shards` is 1 to [`Shard::MAX_SHARDS`].
    pub fn shard_units(&self, shards: usize) -> Result<Vec<ShardUnits>, Error> {
        Shard::new(0, shards)?;
        let all = self.plan().units();
        let mut each = vec![ShardUnits { units: 0, finished: 0 }; shards];
        for (index, units) in Shard::deal(0..all, shards, all) {
            each[index].units += units.len();
        }
        let finished = self.finished().ranges().flat_map(|range| Shard::deal(range, shards, all));
        for (index, units) in finished {
            each[index].finished += units.len();
        }
        Ok(each)
    }
}
