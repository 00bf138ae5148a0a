//! What a count needs beside the lists of its engine, and whether all of it fits the budget.

use super::Count;
use crate::engine::{Resources, subtrees};
use crate::error::{Error, Shortage};
use crate::memory::fitting_threads;
use crate::plan::{Cut, Forecast};

/// What of journals is in memory at the same time, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Journals {
    /// There are none.
    None,
    /// The journal that is read: a plan and a record of its own.
    One,
    /// What was merged so far, and the journal that is read.
    Merged,
}

impl Journals {
    /// Bytes of plans and records. Between two looks at a journal another process may have written
    /// it, so it is read again, with a plan of its own, while there is one already.
    fn bytes(self, Forecast { list, .. }: Forecast, record: u64) -> u64 {
        let (plans, records) = match self {
            Self::None => (1, 0),
            Self::One => (2, 1),
            Self::Merged => (2, 2),
        };
        plans * list + records * record
    }
}

impl Count<'_> {
    /// What is left of the budget for the lists of the engine. All is worked out before anything is
    /// made: nobody should wait for a plan to learn that the rest does not fit.
    ///
    /// # Errors
    ///
    /// [`Error::MemoryBudget`] if the budget is too small.
    pub(super) fn within_budget(
        &self,
        cut: &Cut<'_>,
        machine: Resources,
        journals: Journals,
    ) -> Result<Resources, Error> {
        let Resources { threads, memory: budget, .. } = machine;
        let forecast = cut.forecast();
        let fixed = journals.bytes(forecast, forecast.record());
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
