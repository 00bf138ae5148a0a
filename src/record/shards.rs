//! Which shards of a count are complete, running and missing, and what a record says of its progress.

use std::time::Duration;

use super::{Record, Running};
use crate::error::Error;
use crate::plan::shard::Shard;

/// The shards of a count at one moment. Each shard is in one of the lists, which are in increasing order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shards {
    /// The number of shards. A whole count is one shard.
    pub(crate) number: usize,
    /// The shards of which all units are finished.
    pub(crate) complete: Vec<usize>,
    /// The shards of which all missing units are being counted.
    pub(crate) running: Vec<usize>,
    /// All other shards. Whoever runs them counts all that is missing.
    pub(crate) missing: Vec<usize>,
}

/// The progress of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardUnits {
    /// The number of units in the shard.
    pub(crate) units: usize,
    /// The number of its units that are finished.
    pub(crate) finished: usize,
}

impl Record {
    /// Returns the CPU time of all units that were counted. A unit that was counted twice adds both times.
    pub(crate) fn cpu_time(&self) -> Duration {
        let mut sum = Duration::ZERO;
        for run in self.runs() {
            sum = sum.saturating_add(run.cpu_time);
        }
        sum
    }

    /// Returns which shards are complete, running and missing. Without a number of shards, it is the number that all
    /// processes worked with, or 1 if they do not agree: then one process counts all that is missing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless the number is 1 to [`Shard::MAX_SHARDS`].
    pub(crate) fn shards(&self, number: impl Into<Option<usize>>) -> Result<Shards, Error> {
        self.shards_beside(&self.running(), number)
    }

    /// Returns which shards are complete, running and missing, beside these processes.
    pub(crate) fn shards_beside(
        &self,
        running: &Running<'_>,
        number: impl Into<Option<usize>>,
    ) -> Result<Shards, Error> {
        let number = number.into().or(self.agreed_shards()).unwrap_or(1);
        Shard::new(0, number)?;
        let is_being_counted = running.units(self.plan().units());
        let mut has_missing = vec![false; number];
        let mut has_idle = vec![false; number];
        for (index, units) in Shard::blocks(self.plan().units(), number) {
            for unit in units {
                if self.count(unit).is_none() {
                    has_missing[index] = true;
                    has_idle[index] |= !is_being_counted[unit];
                }
            }
        }
        let mut shards = Shards { number, ..Shards::default() };
        for index in 0..number {
            let list = match (has_missing[index], has_idle[index]) {
                (false, _) => &mut shards.complete,
                (true, false) => &mut shards.running,
                (true, true) => &mut shards.missing,
            };
            list.push(index);
        }
        Ok(shards)
    }

    /// Returns the number of shards that all processes worked with, or `None` if they do not agree. A whole count among
    /// shards has no say.
    pub(crate) fn agreed_shards(&self) -> Option<usize> {
        let mut agreed = 1;
        for run in self.runs() {
            match run.shard.count() {
                1 => {}
                shards if agreed == 1 || shards == agreed => agreed = shards,
                _ => return None,
            }
        }
        Some(agreed)
    }

    /// Returns how far each shard is, if the plan is cut into this number of shards.
    pub(crate) fn shard_units(&self, number: usize) -> Vec<ShardUnits> {
        let mut each = vec![ShardUnits::default(); number];
        for (index, units) in Shard::blocks(self.plan().units(), number) {
            let shard = &mut each[index];
            shard.units += units.len();
            shard.finished += units.filter(|unit| self.count(*unit).is_some()).count();
        }
        each
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::count::Count;
    use crate::engine::Engine;
    use crate::journal_file::journals_in;

    #[test]
    fn each_shard_is_in_one_list() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let size = BoardSize::new(8).expect("in range");
        let count = Count::new(size).engine(Engine::Bitmask).threads(1).journal(folder.path());
        let plan = std::sync::Arc::new(count.plan().expect("a plan"));
        let shards = |number: Option<usize>| {
            let journals = journals_in(&[folder.path()]).expect("a folder");
            let record = Record::read(&plan, &journals).expect("good journals");
            let Shards { number, complete, running, missing } =
                record.shards(number).expect("in range");
            (number, complete, running, missing)
        };
        assert_eq!(shards(None), (1, vec![], vec![], vec![0]));
        count.clone().shard(Shard::new(1, 3).expect("in range")).run().expect("a shard");
        assert_eq!(shards(None), (3, vec![1], vec![], vec![0, 2]));
        assert_eq!(shards(Some(1)), (1, vec![], vec![], vec![0]));
        count.clone().shard(Shard::new(0, 2).expect("in range")).run().expect("a shard");
        assert_eq!(shards(None).0, 1, "they do not agree");
        count.run().expect("a count");
        assert_eq!(shards(Some(4)), (4, vec![0, 1, 2, 3], vec![], vec![]));
    }
}
