//! What a running count reports to its observer.

use crate::done::{Tally, UnitsDone};
use crate::engine::Kernel;
use crate::error::Error;
use crate::forecast::TimeLeft;
use crate::plan::Plan;
use crate::shard::Shard;

/// Watches a count. By default every method does nothing. The counting threads call them, so they
/// should return at once.
#[expect(unused_variables, reason = "names of the interface")]
pub trait Observer: Sync {
    /// The count begins, or resumes.
    fn started(&self, start: &Start<'_>) {}

    /// Some units are finished.
    fn units_done(&self, done: &UnitsDone) {}

    /// The journal is no longer as this process left it: it was removed, replaced, cut, or written by another process.
    /// The count goes on.
    fn journal_harmed(&self, harm: &Error) {}

    /// The count has ended, and for a second the disk has not taken the last lines of the journal. If all
    /// units are counted, this is the total: it may be printed before the disk answers.
    fn waits_for_disk(&self, total: Option<u128>) {}
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
#[non_exhaustive]
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
    /// The units of the shard that journals already hold, and their solutions.
    pub done: Tally,
    /// Bytes of a last line that was cut off in the middle of a write; they are dropped.
    pub cut_off: u64,
    /// Why lines and journals of a folder were left out. Their units count as not finished.
    pub left_out: &'a [Error],
    /// How long the rest takes, as far as it is known. What the journal holds is part of the sample.
    pub time_left: &'a TimeLeft,
}
