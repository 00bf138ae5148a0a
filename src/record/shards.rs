//! How far a record has come, and its shards, and how long the rest takes.

use std::time::Duration;

use rayon::prelude::*;

use super::line::Run;
use super::reader::JournalFile;
use super::union::Record;
use crate::board::known::known;
use crate::error::Error;
use crate::forecast::{Approximate, Cores, Rest, seconds_of};
use crate::shard::Shard;

/// How far a shard has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardUnits {
    /// The number of its units.
    pub units: usize,
    /// How many of them are finished.
    pub finished: usize,
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

    /// The CPU seconds that the missing units take, as far as the finished ones tell. `None`
    /// while nothing is finished; the standard error is infinite while too little is.
    pub fn cpu_seconds_left(&self) -> Option<Approximate> {
        self.work_left().map(Approximate::on_any_run)
    }

    /// What this sample alone tells, without the error that no sample shows.
    fn work_left(&self) -> Option<Approximate> {
        let done = self.tally();
        let total = known(self.plan().size()).total;
        let solutions = total.map(|total| total as f64 - done.solutions as f64);
        self.clusters.cpu_seconds(Rest { units: self.plan().units() - done.units, solutions })
    }

    /// The wall time in seconds until processes that write these journals now have counted the missing units.
    /// `None` while too little is known. Reads these journals again: nobody else asks for cores.
    pub fn seconds_left(&self, written: &[JournalFile]) -> Option<Approximate> {
        let all: Vec<_> = written.par_iter().map(|file| self.cores(file)).collect();
        let threads = written.iter().filter_map(|file| Some(file.runs.last()?.threads));
        seconds_of(self.work_left()?, &all.iter().zip(threads).collect::<Vec<_>>())
    }

    /// The cores that the last process got that wrote a journal.
    fn cores(&self, file: &JournalFile) -> Cores {
        let mut cores = Cores::default();
        // A journal that cannot be read again tells less.
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
        let finished = self.finished.ranges().flat_map(|range| Shard::cut(range, shards, all));
        for (index, units) in finished {
            each[index].finished += units.len();
        }
        Ok(each)
    }
}
