//! What a whole count and a shard have in common: prepare, count what is left, record it, and read
//! back what was recorded.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Count;
use super::records::Records;
use crate::cpu::Cpu;
use crate::engine::{Engine, Kernel, MemoryUse, Resources};
use crate::error::Error;
use crate::journal::{self, Counts, JournalError, Locked, ProcessRun, Recorded};
use crate::observe::Start;
use crate::plan::Plan;
use crate::run::{Driver, Reporter, Tally};
use crate::self_check::SelfCheck;
use crate::shard::Shard;

/// The units of a shard, to be counted with some resources.
#[derive(Clone, Copy)]
pub(super) struct Assignment<'a> {
    pub(super) plan: &'a Plan,
    pub(super) shard: Shard,
    pub(super) resources: Resources,
}

/// The units of a shard, counted.
pub(super) struct Counted {
    /// The units that were finished before.
    pub(super) before: Tally,
    /// All units.
    pub(super) sum: Tally,
    pub(super) units_recounted: usize,
    pub(super) memory: Option<MemoryUse>,
    pub(super) written: Option<Written>,
}

/// A journal after the last unit.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    pub(super) runs: Vec<ProcessRun>,
    /// Why it cannot be relied on, although the units were counted.
    pub(super) fault: Option<Error>,
}

impl Resources {
    /// The kernel that an engine uses.
    pub(super) fn kernel_of(&self, engine: Engine) -> Kernel {
        if engine.has_kernels() { self.kernel } else { Kernel::Portable }
    }
}

impl Assignment<'_> {
    /// The shard's units that are not finished.
    pub(super) fn todo(&self, finished: Option<&Counts>) -> Vec<Range<usize>> {
        let ranges = self.shard.ranges(self.plan.units());
        match finished {
            None => ranges.collect(),
            Some(finished) => ranges.flat_map(|range| finished.unfinished(range)).collect(),
        }
    }

    /// The outcome if all units are finished already. Some of them are still recounted.
    pub(super) fn nothing_to_do(
        &self,
        settings: &Count<'_>,
        finished: Option<&Counts>,
        records: &Records,
    ) -> Result<Counted, Error> {
        let self_check = self.self_check(settings, finished, records)?;
        let before = self.tally_of(finished, self.shard.ranges(self.plan.units()));
        let units_recounted = self_check.as_ref().map_or(0, SelfCheck::recounted);
        Ok(Counted { before, sum: before, units_recounted, memory: None, written: None })
    }

    /// The finished units of these ranges.
    fn tally_of(
        &self,
        finished: Option<&Counts>,
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> Tally {
        let Some(finished) = finished else { return Tally::default() };
        ranges.into_iter().fold(Tally::default(), |sum, range| {
            let (units, solutions) = finished.tally(range, self.plan);
            sum.plus(Tally { units, solutions })
        })
    }

    /// The self-check, which has recounted some of what is finished.
    fn self_check(
        &self,
        settings: &Count<'_>,
        finished: Option<&Counts>,
        records: &Records,
    ) -> Result<Option<SelfCheck<'_>>, Error> {
        if !settings.self_check {
            return Ok(None);
        }
        let mut check = SelfCheck::new(self.plan, self.resources.kernel);
        if let Some(finished) = finished {
            check.resume(records.path().to_owned(), finished, self.shard, &settings.cancel)?;
        }
        Ok(Some(check))
    }

    /// Counts what is not finished, and records it.
    pub(super) fn count(
        &self,
        settings: &Count<'_>,
        mut recorded: Recorded,
        records: &Records,
    ) -> Result<Counted, Error> {
        let Self { plan, shard, resources } = *self;
        let journal = records.open(plan, shard, &mut recorded)?;
        let finished = recorded.counts;
        let self_check = self.self_check(settings, finished.as_ref(), records)?;
        let before = self.tally_of(finished.as_ref(), shard.ranges(plan.units()));
        let todo = self.todo(finished.as_ref());
        drop(finished); // frees nine bytes a unit, which the engine's lists may need
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
            withdrawn: journal.as_ref().map_or(0, |journal| journal.withdrawn),
        });
        let kernel = resources.kernel_of(plan.engine());
        let begin = |journal: Locked| {
            journal.begin(plan, kernel, resources.threads, shard, &Cpu::detect().brand)
        };
        let journal = journal.map(begin).transpose()?;
        let reporter = Reporter::new(settings.observer, journal, self_check.as_ref());
        let driver =
            Driver { plan, prepared: &prepared, reporter: &reporter, cancel: &settings.cancel };
        let counted = driver.run(&todo);
        let ended = reporter.finish();
        let now = counted?;
        let sum = before.plus(now);
        if sum.units < units {
            // A journal that failed is the reason why the count stopped.
            if let Some((state, Err(error))) = ended {
                return Err(error.at(&state.path));
            }
            let journal_fault = ended.and_then(|(state, _)| state.fault).map(Box::new);
            let (done, solutions) = (sum.units, sum.solutions);
            return Err(Error::Stopped { done, units, solutions, journal_fault });
        }
        let written = ended.map(|(state, written)| {
            let (path, fault) = (state.path, state.fault);
            let fault = written.err().map(|error| error.at(&path)).or(fault);
            let (runs, difference) = self.read_back(&path, todo, now);
            Written { path, runs, fault: fault.or(difference) }
        });
        let units_recounted = self_check.as_ref().map_or(0, SelfCheck::recounted);
        Ok(Counted { before, sum, units_recounted, memory: prepared.memory(), written })
    }

    /// Reads back what was just counted, and reports any difference.
    fn read_back(
        &self,
        path: &Path,
        units: Vec<Range<usize>>,
        now: Tally,
    ) -> (Vec<ProcessRun>, Option<Error>) {
        let differs =
            |what: &str| Some(JournalError::NotAsWritten { what: what.to_owned() }.at(path));
        let contents = match journal::read(path) {
            Ok(Some(contents)) => contents,
            Ok(None) => return (Vec::new(), differs("it is missing or empty")),
            Err(error) => return (Vec::new(), Some(error)),
        };
        let fault = match self.plan.cut().check(&contents.plan, path) {
            Err(error) => Some(error),
            Ok(()) if self.tally_of(Some(&contents.counts), units) == now => None,
            Ok(()) => differs("units are missing or have different counts"),
        };
        (contents.runs, fault)
    }
}
