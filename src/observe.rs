//! What a running count tells whoever watches it.

use std::ops::Range;
use std::time::Duration;

use crate::error::Error;
use crate::plan::Plan;
use crate::shard::Shard;

/// Watches a count. All methods do nothing by default, and are called from the counting threads:
/// they should return at once.
pub trait Observer: Sync {
    /// The count begins, or resumes.
    fn started(&self, start: &Start<'_>) {
        let _ = start;
    }

    /// Some units are done.
    fn units_done(&self, done: &UnitsDone) {
        let _ = done;
    }

    /// Something happened to the journal that is being written; the count continues.
    fn journal_changed(&self, change: &Error) {
        let _ = change;
    }

    /// The last records have been waiting for the file system for this long.
    fn file_system_hangs(&self, waited: Duration) {
        let _ = waited;
    }
}

/// Nobody watches.
impl Observer for () {}

/// Only finished units are of interest.
impl<F: Fn(&UnitsDone) + Sync> Observer for F {
    fn units_done(&self, done: &UnitsDone) {
        self(done);
    }
}

/// What a count begins with.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Start<'a> {
    /// Its units.
    pub plan: &'a Plan,
    /// The shard of them that is counted.
    pub shard: Shard,
    /// How many threads count.
    pub threads: usize,
    /// Units in that shard.
    pub units: usize,
    /// Units of it that journals hold already.
    pub units_done: usize,
    /// Their solutions, with weights.
    pub solutions: u128,
    /// Bytes of a journal's last line that was cut off while it was written, and is dropped.
    pub torn: u64,
    /// Units that a journal holds, but withdrew after a recount.
    pub withdrawn: usize,
}

/// A report of finished units.
#[derive(Clone, Debug)]
pub struct UnitsDone {
    /// Their numbers in the plan.
    pub units: Range<usize>,
    /// The count of each, before its weight.
    pub counts: Vec<u64>,
    /// Their solutions, with weights.
    pub solutions: u128,
    /// Wall time that one thread spent on them.
    pub busy: Duration,
    /// CPU time of that thread.
    pub cpu_time: Duration,
}
