//! How far a record has come, and its shards, and how long the rest takes.

use std::time::Duration;

use rayon::prelude::*;

use super::line::Run;
use super::reader::JournalFile;
use super::union::Record;
use crate::board::known::known;
use crate::error::Error;
use crate::forecast::{Approximate, Clusters, Cores, Rest, seconds_of};
use crate::shard::Shard;

/// How far a shard has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardUnits {
    /// The number of its units.
    pub units: usize,
    /// How many of them are finished.
    pub finished: usize,
}

/// How long the rest of a count takes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Left {
    /// CPU seconds. `None` while nothing is finished; the standard error is infinite while too little is.
    pub cpu_seconds: Option<Approximate>,
    /// Seconds of wall time for the processes that count now. `None` without any, or while too little is known.
    pub seconds: Option<Approximate>,
}

impl Record {
    /// Whether all units are finished.
    pub fn is_complete(&self) -> bool {
        self.tally().units == self.plan().units()
    }

    /// The number of shards, if all processes agree on it.
    pub fn shards(&self) -> Option<usize> {
        // A run whose line is lost says nothing, unless there is no other.
        let known = || self.runs().filter(|run| run.kernel != "unknown");
        let shards = known().next().or(self.runs().next())?.shard.shards();
        known().all(|run| run.shard.shards() == shards).then_some(shards)
    }

    /// The processes that wrote the journals.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.files.iter().flat_map(|file| &file.runs)
    }

    /// The indices of the shards that are not complete, with the plan cut into this many.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] unless there are 1 to [`Shard::MOST`] shards.
    pub fn missing_shards(&self, shards: usize) -> Result<Vec<usize>, Error> {
        let each = self.shard_units(shards)?;
        Ok((0..shards).filter(|index| each[*index].finished < each[*index].units).collect())
    }

    /// The CPU time of all units that were counted, also of those that were counted again.
    pub fn cpu_time(&self) -> Duration {
        self.runs().fold(Duration::ZERO, |sum, run| sum.saturating_add(run.cpu_time))
    }

    /// How long the missing units take, by those that are finished. `written` are the journals that processes
    /// write now. All journals are read again: few readers ask for times.
    pub fn left(&self, written: &[JournalFile]) -> Left {
        let done = self.tally();
        let total = known(self.plan().size()).total;
        let solutions = total.map(|total| total as f64 - done.solutions as f64);
        let rest = Rest { units: self.plan().units() - done.units, solutions };
        let work = self.clusters(None).cpu_seconds(rest);
        let cores: Vec<_> = written.par_iter().map(|file| self.cores(file)).collect();
        let threads = written.iter().filter_map(|file| Some(file.runs.last()?.threads));
        let processes: Vec<_> = cores.iter().zip(threads).collect();
        Left {
            cpu_seconds: work.map(Approximate::on_any_run),
            seconds: work.and_then(|work| seconds_of(work, &processes)),
        }
    }

    /// What the finished units would take in a run that begins, or in the last run of their journal. A journal that
    /// cannot be read again tells less.
    pub(crate) fn clusters(&self, begins: Option<&Run>) -> Clusters {
        let new = || Clusters::new(self.plan().units());
        let of_file = |file: &JournalFile| {
            let mut clusters = new();
            let _ = self.rescan(file, |read, done| {
                if let (Some(by), Some(now)) = (read.runs.last(), begins.or(file.runs.last())) {
                    let times = now.times_as_long_as(by, self.plan().engine());
                    let seconds = times.scaled(done.cpu_time.as_secs_f64());
                    clusters.add(done.units.start, done.tally(), seconds);
                }
            });
            clusters
        };
        self.files.par_iter().map(of_file).reduce(new, Clusters::merged)
    }

    /// The cores that the last process got that wrote a journal.
    fn cores(&self, file: &JournalFile) -> Cores {
        let mut cores = Cores::default();
        let _ = self.rescan(file, |read, done| {
            if read.runs.len() == file.runs.len() {
                cores.record(done.elapsed.as_secs_f64(), done.cpu_time.as_secs_f64());
            }
        });
        cores
    }

    /// How many units each shard has and how many of them are finished, with the plan cut into this
    /// many shards.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] unless there are 1 to [`Shard::MOST`] shards.
    pub fn shard_units(&self, shards: usize) -> Result<Vec<ShardUnits>, Error> {
        Shard::new(0, shards)?;
        let all = self.plan().units();
        let mut each = vec![ShardUnits { units: 0, finished: 0 }; shards];
        for (index, units) in Shard::cut(0..all, shards, all) {
            each[index].units += units.len();
        }
        let finished = self.finished().ranges().flat_map(|range| Shard::cut(range, shards, all));
        for (index, units) in finished {
            each[index].finished += units.len();
        }
        Ok(each)
    }
}
