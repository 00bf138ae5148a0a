//! What a running count reports to its observer.

use std::sync::{Mutex, PoisonError};

use crate::engine::Kernel;
use crate::error::Error;
use crate::forecast::{Forecast, TimeLeft};
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};
use crate::plan::shard::Shard;
use crate::record::Dispute;

/// A receiver of reports about a running count. By default every method does nothing.
///
/// Counting threads call [`Observer::units_done`] and [`Observer::journal_lost`], so these should return at once:
/// a thread that waits for a terminal does not count.
#[expect(unused_variables, reason = "names of the interface")]
pub trait Observer: Sync {
    /// Called once, before any unit is counted. [`Count::estimate`](crate::Count::estimate) does not call it.
    fn started(&self, start: &Start<'_>) {}

    /// Called when some units are finished: by each thread about every tenth of a second, or after a unit that takes
    /// longer.
    fn units_done(&self, so_far: &SoFar<'_>) {}

    /// Called when the journal of this process was moved, removed or cut by others: [`JournalError::Lost`]. All that it
    /// still held is in another file, where the count goes on.
    ///
    /// [`JournalError::Lost`]: crate::record::JournalError::Lost
    fn journal_lost(&self, lost: &Error) {}
}

impl std::fmt::Debug for dyn Observer + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// Ignores all reports.
impl Observer for () {}

/// An observer that receives only the reports of finished units.
///
/// ```
/// use nqueens::{BoardSize, Count, OnProgress, SoFar};
///
/// let watch = OnProgress(|so_far: &SoFar<'_>| {
///     eprintln!("{} of {} units", so_far.done.units, so_far.units);
/// });
/// Count::new(BoardSize::new(12)?).observer(&watch).run()?;
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OnProgress<F>(pub F);

impl<F: Fn(&SoFar<'_>) + Sync> Observer for OnProgress<F> {
    fn units_done(&self, so_far: &SoFar<'_>) {
        (self.0)(so_far);
    }
}

/// How far a count has come.
///
/// Several threads report at the same time, so a report may come after one that knows of more.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SoFar<'a> {
    /// The units that were just finished, with their counts.
    pub newest: &'a UnitsDone,
    /// All finished units of the board or shard, including units from earlier runs, and the solutions in them.
    pub done: Sum,
    /// The number of units in the board or shard.
    pub units: usize,
    pub(super) time_left: &'a Mutex<TimeLeft>,
}

impl SoFar<'_> {
    /// Estimates how long the missing units take. What the journals hold is part of the sample, if it comes from runs
    /// like this one. Returns `None` if the CPU clock stands still.
    ///
    /// ```
    /// use nqueens::{BoardSize, Count, OnProgress, SoFar};
    ///
    /// let watch = OnProgress(|so_far: &SoFar<'_>| {
    ///     if let Some(seconds) = so_far.time_left().and_then(|left| left.wall_seconds) {
    ///         eprintln!("{:.0} s ± {:.0} s", seconds.value, 2.0 * seconds.standard_error);
    ///     }
    /// });
    /// Count::new(BoardSize::new(12)?).observer(&watch).run()?;
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn time_left(&self) -> Option<Forecast> {
        self.time_left.lock().unwrap_or_else(PoisonError::into_inner).estimate()
    }
}

/// The state of a count when it starts.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Start<'a> {
    /// The plan of the whole count.
    pub plan: &'a Plan,
    /// The shard to be counted: [`Shard::WHOLE`] for a whole count.
    pub shard: Shard,
    /// The kernel: [`Kernel::PORTABLE`] for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// The number of units in the shard.
    pub units: usize,
    /// The units of the shard that journals already hold, and their solutions.
    pub done: Sum,
    /// The reasons why lines and journals were left out. Their units count as not finished.
    pub left_out: &'a [Error],
    /// The units for which journals hold different numbers. Those that are not settled count as not finished.
    pub disputes: &'a [Dispute],
}
