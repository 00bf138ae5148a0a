//! How far a record has come, and its shards, and how long the rest takes.

use std::time::Duration;

use rayon::prelude::*;

use super::line::Run;
use super::reader::JournalFile;
use super::union::Record;
use super::units::UnitSet;
use crate::board::known::known;
use crate::error::Error;
use crate::forecast::{Approximate, Rest, seconds_of};
use crate::shard::Shard;

/// How far a shard has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

    /// The units that are not finished.
    pub fn missing(&self) -> UnitSet {
        &UnitSet::from_iter(Some(0..self.plan().units())) - self.finished()
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

    /// The shards that are not complete, with the plan cut into this many.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] unless there are 1 to [`Shard::MOST`] shards.
    pub fn missing_shards(&self, shards: usize) -> Result<Vec<Shard>, Error> {
        let each = self.shard_units(shards)?;
        let missing = (0..shards).filter(|index| each[*index].finished < each[*index].units);
        missing.map(|index| Shard::new(index, shards)).collect()
    }

    /// The CPU time of all units that were counted, also of those that were counted again.
    pub fn cpu_time(&self) -> Duration {
        self.runs().fold(Duration::ZERO, |sum, run| sum.saturating_add(run.cpu_time))
    }

    /// The journals that processes [write now](JournalFile::is_being_written).
    pub fn being_written(&self) -> Vec<&JournalFile> {
        self.files.par_iter().filter(|file| file.is_being_written()).collect()
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
    /// `None` while too little is known.
    pub fn seconds_left(&self, written: &[JournalFile]) -> Option<Approximate> {
        let processes: Vec<_> = written
            .iter()
            .filter_map(|file| Some((&file.cores, file.runs.last()?.threads)))
            .collect();
        seconds_of(self.work_left()?, &processes)
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
        for range in self.finished().ranges() {
            for (index, units) in Shard::cut(range, shards, all) {
                each[index].finished += units.len();
            }
        }
        Ok(each)
    }
}
