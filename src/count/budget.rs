//! The memory that a count needs besides its engine's lists, and whether all of it fits the budget.

use super::Count;
use super::records::Records;
use crate::engine::{Resources, subtrees};
use crate::error::{Error, Shortage};
use crate::memory::fitting_threads;
use crate::plan::Cut;
use crate::shard::Shard;

impl Count<'_> {
    /// The part of the budget that is left for the engine's lists. It is worked out before anything
    /// is built: nobody should wait for a plan only to learn that the rest does not fit.
    ///
    /// # Errors
    ///
    /// [`Error::MemoryBudget`] if the budget is too small.
    pub(super) fn within_budget(
        &self,
        cut: &Cut<'_>,
        machine: Resources,
        records: &Records,
        shard: Shard,
    ) -> Result<Resources, Error> {
        let Resources { threads, memory: budget, .. } = machine;
        let forecast = cut.forecast();
        let fixed = records.bytes(forecast, shard);
        let per_thread = cut.engine.worker_bytes(cut.size);
        let needed = fixed.saturating_add(per_thread.saturating_mul(threads as u64));
        match budget.checked_sub(fixed) {
            Some(memory) if needed <= budget => Ok(Resources { memory, ..machine }),
            rest => Err(Error::MemoryBudget(Shortage {
                engine: cut.engine.name(),
                n: cut.size.get(),
                needed,
                threads,
                least: fixed.saturating_add(per_thread),
                fitting: rest.map_or(0, |rest| fitting_threads(rest, per_thread)),
                budget,
                given: self.memory.is_some(),
                subtrees_time: subtrees::expected_time(cut.size.get()),
            })),
        }
    }
}
