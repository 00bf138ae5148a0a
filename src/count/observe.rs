//! What a running count reports to its observer.

use std::time::Duration;

use crate::engine::Kernel;
use crate::forecast::{Blocks, Rest, TimeLeft};
use crate::plan::{Plan, UnitsDone};
use crate::shard::Shard;

/// Watches a count. By default every method does nothing. The counting threads call them, so they
/// should return at once.
#[expect(unused_variables, reason = "names of the interface")]
pub trait Observer: Sync {
    /// The count begins, or resumes.
    fn started(&self, start: &Start<'_>) {}

    /// Some units are finished.
    fn units_done(&self, done: &UnitsDone) {}

    /// The last lines of the journal have been waiting for the disk for this long. The count continues;
    /// if all units are counted, their solutions are given.
    fn disk_hangs(&self, waited: Duration, total: Option<u128>) {}
}

impl std::fmt::Debug for dyn Observer + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// Ignores all reports.
impl Observer for () {}

/// Receives only the reports of finished units.
impl<F: Fn(&UnitsDone) + Sync> Observer for F {
    fn units_done(&self, done: &UnitsDone) {
        self(done);
    }
}

/// The state of a count as it starts.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The plan of the whole count.
    pub plan: &'a Plan,
    /// The shard that is counted.
    pub shard: Shard,
    /// The kernel that counts; portable for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// Units in the shard.
    pub units: usize,
    /// Units of the shard that journals already hold.
    pub units_done: usize,
    /// Their solutions, with weights.
    pub solutions: u128,
    /// Bytes of a last line that was cut off in the middle of a write; they are dropped.
    pub cut_off: u64,
    /// What is finished, as far as it tells how long the rest takes here, and the rest.
    pub(crate) blocks: &'a Blocks,
    pub(crate) rest: Rest,
}

impl Start<'_> {
    /// The forecast of the time that is left. What the journal holds is part of its sample.
    pub fn time_left(&self) -> TimeLeft {
        TimeLeft::new(self.blocks.clone(), self.rest, self.threads)
    }
}
