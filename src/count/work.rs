//! What a whole count and a shard have in common: prepare, count what is left, record it, and read
//! back what was recorded.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Count;
use crate::cpu::Cpu;
use crate::engine::{Engine, Kernel, MemoryUse, Resources};
use crate::error::Error;
use crate::journal::{self, Contents, Finished, Locked, Problem, Run};
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
    pub(super) record: Option<Record>,
}

/// What a journal holds after the last unit.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) path: PathBuf,
    pub(super) runs: Vec<Run>,
    /// Why it cannot be relied on, although the units were counted.
    pub(super) fault: Option<Error>,
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

    /// The outcome if all units are finished. Some of them are recounted all the same.
    pub(super) fn nothing_to_do(
        &self,
        settings: &Count<'_>,
        finished: &Finished,
        source: &Path,
    ) -> Result<Done, Error> {
        let self_check = self.self_check(settings, Some(finished), source)?;
        Ok(Done {
            before: self.tally(Some(finished)),
            now: Tally::default(),
            units_recounted: self_check.as_ref().map_or(0, SelfCheck::recounted),
            memory: None,
            record: None,
        })
    }

    /// The self-check, which has recounted some of what is finished.
    fn self_check(
        &self,
        settings: &Count<'_>,
        finished: Option<&Finished>,
        source: &Path,
    ) -> Result<Option<SelfCheck<'_>>, Error> {
        if !settings.self_check {
            return Ok(None);
        }
        let mut check = SelfCheck::new(self.plan, self.resources.kernel);
        if let Some(finished) = finished {
            check.resume(source.to_owned(), finished, self.shard, &settings.cancel)?;
        }
        Ok(Some(check))
    }

    /// Counts what is not finished, and records it. What is finished comes from `source`.
    pub(super) fn count(
        &self,
        settings: &Count<'_>,
        finished: Option<Finished>,
        source: &Path,
        journal: Option<Locked>,
    ) -> Result<Done, Error> {
        let Self { plan, shard, resources } = *self;
        let self_check = self.self_check(settings, finished.as_ref(), source)?;
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
            withdrawn: journal.as_ref().map_or(0, |journal| journal.withdrawn),
        });
        let kernel = resources.kernel_of(plan.engine());
        let begin = |journal: Locked| {
            journal.begin(plan, kernel, resources.threads, shard, &Cpu::look().brand)
        };
        let journal = journal.map(begin).transpose()?;
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
        let Job { todo, .. } = job;
        let ended = journal
            .map(|journal| journal.finish(&|waited| settings.observer.file_system_hangs(waited)));
        let now = now?;
        let sum = before.plus(now);
        if sum.units < units {
            // A journal that failed is the reason why the count stopped.
            if let Some((state, Err(problem))) = ended {
                return Err(Error::Journal { path: state.path, problem });
            }
            return Err(Error::Stopped { done: sum.units, units, solutions: sum.solutions });
        }
        let record = ended.map(|(state, written)| {
            let (path, mut fault) = (state.path, state.fault);
            if let Err(problem) = written {
                fault = Some(Error::Journal { path: path.clone(), problem });
            }
            let (runs, difference) = self.read_back(&path, &todo, now);
            Record { path, runs, fault: fault.or(difference) }
        });
        let units_recounted = self_check.as_ref().map_or(0, SelfCheck::recounted);
        Ok(Done { before, now, units_recounted, memory: prepared.memory(), record })
    }

    /// Reads from the disk what was counted now, and says what is different.
    fn read_back(
        &self,
        path: &Path,
        units: &[Range<usize>],
        now: Tally,
    ) -> (Vec<Run>, Option<Error>) {
        let differs = |what: &str| {
            let problem = Problem::NotAsWritten { what: what.to_owned() };
            Some(Error::Journal { path: path.to_owned(), problem })
        };
        let contents = match journal::read(path) {
            Ok(Some(contents)) => contents,
            Ok(None) => return (Vec::new(), differs("it is not there, or empty")),
            Err(error) => return (Vec::new(), Some(error)),
        };
        if let Err(error) = contents.check_plan(self.plan, path) {
            return (contents.runs, Some(error));
        }
        let held = units.iter().fold(Tally::default(), |sum, range| {
            let (units, solutions) = contents.finished.tally(range.clone(), self.plan);
            sum.plus(Tally { units, solutions })
        });
        let fault =
            if held == now { None } else { differs("units are missing or have other counts") };
        (contents.runs, fault)
    }
}

/// What a journal holds. One that ends within its first line may be one that was just begun: that
/// is found out when it is opened for writing.
pub(super) fn read_begun(path: &Path) -> Result<Option<Contents>, Error> {
    match journal::read(path) {
        Err(Error::Journal { problem: Problem::HeaderCutOff { .. }, .. }) => Ok(None),
        read => read,
    }
}
