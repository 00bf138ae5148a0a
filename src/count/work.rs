//! What a whole count and a shard have in common: prepare, count what is left, record it.

use std::ops::Range;

use super::Count;
use crate::cpu::Cpu;
use crate::engine::{Engine, Kernel, MemoryUse, Resources};
use crate::error::Error;
use crate::journal::{Finished, Journal, Locked};
use crate::observe::Start;
use crate::plan::Plan;
use crate::run::{Job, Tally};
use crate::self_check::SelfCheck;
use crate::shard::Shard;

/// The units of a shard, to be counted with some resources.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) plan: &'a Plan,
    pub(super) shard: Shard,
    pub(super) resources: Resources,
}

/// All units of the shard.
pub(super) struct Done {
    /// Those that were finished before.
    pub(super) before: Tally,
    /// Those that were counted now.
    pub(super) now: Tally,
    pub(super) units_recounted: usize,
    pub(super) memory: Option<MemoryUse>,
}

impl Done {
    pub(super) fn sum(&self) -> Tally {
        self.before.plus(self.now)
    }
}

impl Resources {
    /// The kernel that an engine uses.
    pub(super) fn kernel_of(&self, engine: Engine) -> Kernel {
        if engine.has_kernels() { self.kernel } else { Kernel::Portable }
    }
}

impl Work<'_> {
    /// The shard's units that are not finished.
    pub(super) fn todo(&self, finished: Option<&Finished>) -> Vec<Range<usize>> {
        let ranges = self.shard.ranges(self.plan.units());
        match finished {
            None => ranges.collect(),
            Some(finished) => ranges.flat_map(|range| finished.unfinished(range)).collect(),
        }
    }

    /// The shard's units that are finished.
    fn tally(&self, finished: Option<&Finished>) -> Tally {
        let Some(finished) = finished else { return Tally::default() };
        let ranges = self.shard.ranges(self.plan.units());
        ranges.fold(Tally::default(), |sum, range| {
            let (units, solutions) = finished.tally(range, self.plan);
            sum.plus(Tally { units, solutions })
        })
    }

    /// The outcome if all units are finished.
    pub(super) fn nothing_to_do(&self, finished: Option<&Finished>) -> Done {
        let before = self.tally(finished);
        Done { before, now: Tally::default(), units_recounted: 0, memory: None }
    }

    /// Counts what is not finished, and records it.
    pub(super) fn count(
        &self,
        settings: &Count<'_>,
        finished: Option<Finished>,
        journal: Option<Locked>,
    ) -> Result<Done, Error> {
        let Self { plan, shard, resources } = *self;
        let before = self.tally(finished.as_ref());
        let todo = self.todo(finished.as_ref());
        drop(finished); // eight bytes a unit, which the lists of the engine may need
        let prepared = plan.prepare(&resources, &settings.cancel)?;
        let units = before.units + todo.iter().map(Range::len).sum::<usize>();
        settings.observer.started(&Start {
            plan,
            shard,
            threads: resources.threads,
            units,
            units_done: before.units,
            solutions: before.solutions,
            torn: journal.as_ref().map_or(0, |journal| journal.torn),
        });
        let kernel = resources.kernel_of(plan.engine());
        let begin = |journal: Locked| {
            journal.begin(plan, kernel, resources.threads, shard, &Cpu::look().brand)
        };
        let journal = journal.map(begin).transpose()?;
        let self_check = settings.self_check.then(|| SelfCheck::new(plan, kernel));
        let job = Job {
            plan,
            prepared: &prepared,
            todo,
            journal: journal.as_ref(),
            self_check: self_check.as_ref(),
            observer: settings.observer,
            cancel: &settings.cancel,
        };
        let now = job.run();
        // A journal that failed is the reason why the count stopped.
        journal.map_or(Ok(()), Journal::finish)?;
        let units_recounted = self_check.as_ref().map_or(0, SelfCheck::recounted);
        let done = Done { before, now: now?, units_recounted, memory: prepared.memory() };
        let sum = done.sum();
        if sum.units < units {
            return Err(Error::Stopped { done: sum.units, units, solutions: sum.solutions });
        }
        Ok(done)
    }
}
