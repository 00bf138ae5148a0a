//! What a record says of the progress of a count: what it has cost, and what each shard has finished.

use std::time::Duration;

use super::Record;
use crate::error::Error;
use crate::journal::{JournalFile, Run};
use crate::plan::shard::Shard;

/// The progress of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardUnits {
    /// The number of units in the shard.
    pub units: usize,
    /// The number of its units that are finished.
    pub finished: usize,
    /// The number of its units with two different counts. While there are any, no count of the shard begins.
    pub disputed: usize,
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

    /// Returns how far each shard is, if the plan is cut into this number of shards.
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
}

/// Returns the number of shards, if all processes that wrote these journals agree on it. It is 1 if none of them
/// counted a shard. A whole count among shards has no say, and neither has a run whose line is lost.
pub(super) fn agreed_shards(files: &[JournalFile]) -> Option<usize> {
    let mut agreed = 1;
    for run in files.iter().flat_map(|file| &file.runs) {
        match run.shard.of() {
            1 => {}
            shards if agreed == 1 || shards == agreed => agreed = shards,
            _ => return None,
        }
    }
    Some(agreed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::count::Count;
    use crate::engine::Engine;

    #[test]
    fn each_unit_with_two_counts_is_in_one_shard_and_each_run_takes_its_time() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let size = BoardSize::new(8).expect("in range");
        let count = Count::new(size).engine(Engine::Bitmask).threads(1).journal(&path);
        for index in 0..2 {
            let shard = Shard::new(index, 2).expect("in range");
            count.clone().shard(shard).run().expect("a count");
        }
        let mut record = Record::read(&[&path]).expect("good lines").expect("finished units");
        record.disputed = vec![2, 3, 7];
        // Of eight units in four shards each block is one unit, and the second round begins with shard 2.
        let disputed: Vec<_> =
            record.shard_units(4).expect("in range").iter().map(|shard| shard.disputed).collect();
        assert_eq!(disputed, [0, 1, 1, 1]);
        let runs = record.files.iter_mut().flat_map(|file| &mut file.runs);
        for (run, seconds) in runs.zip([2, 3]) {
            run.cpu_time = Duration::from_secs(seconds);
        }
        assert_eq!(record.cpu_time(), Duration::from_secs(5));
    }
}
