//! How far the shards of a record have come.

use rayon::prelude::*;

use super::disk::is_locked;
use super::line::Run;
use super::reader::JournalFile;
use super::union::Record;
use super::units::{Units, half_open, len, units_of};
use crate::error::Error;
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
    /// The number of finished units.
    pub fn units_done(&self) -> usize {
        len(&self.finished)
    }

    /// Whether all units are finished.
    pub fn is_complete(&self) -> bool {
        self.units_done() == self.plan.units()
    }

    /// The units that are not finished.
    pub fn missing(&self) -> Units {
        units_of(Some(0..self.plan.units())) - &self.finished
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

    /// The journals that processes of this host are writing now: those that are locked. Where a file system
    /// shows the locks of other hosts, theirs are among them.
    pub fn being_written(&self) -> Vec<&JournalFile> {
        self.files.par_iter().filter(|file| is_locked(&file.path)).collect()
    }

    /// How many units each shard has and how many of them are finished, with the plan cut into this
    /// many shards.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] unless there are 1 to [`Shard::MOST`] shards.
    pub fn shard_units(&self, shards: usize) -> Result<Vec<ShardUnits>, Error> {
        Shard::new(0, shards)?;
        let all = self.plan.units();
        let mut each = vec![ShardUnits { units: 0, finished: 0 }; shards];
        for (index, units) in Shard::parts_of(0..all, shards, all) {
            each[index].units += units.len();
        }
        for range in half_open(&self.finished) {
            for (index, units) in Shard::parts_of(range, shards, all) {
                each[index].finished += units.len();
            }
        }
        Ok(each)
    }
}
