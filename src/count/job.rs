//! The one way through a count or a shard: open its journal, plan, prepare, drive, close.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::driver::{Driver, Tally};
use super::{Count, Outcome};
use crate::board::known::{Published, known};
use crate::engine::{Engine, Kernel, Resources, SplitRows};
use crate::error::{Error, JournalError, Shortage};
use crate::machine::memory::fitting_threads;
use crate::observe::Start;
use crate::plan::Plan;
use crate::record::{Folder, Journal, Locked, Record, Run, half_open, len, units_of};
use crate::shard::Shard;

/// Shards choose their split rows as if for this many threads, so that every machine makes the same
/// choice.
const SHARD_THREADS: usize = 64;

/// What a record takes of the memory, in bytes for each unit of the plan. Units are recorded in ranges of
/// hundreds on long counts; a range takes a few dozen bytes.
const RECORD_BYTES: u64 = 1;
/// What the counts take that a shard may have to read, for each of its units.
const COUNT_BYTES: u64 = 8;

/// Where finished units are recorded.
pub(super) enum Place {
    Nowhere,
    /// One journal.
    File(PathBuf),
    /// A folder shared by many processes, each with its own journal.
    Folder(PathBuf),
}

/// The units to count, and where to record them.
pub(super) struct Job<'a> {
    count: &'a Count<'a>,
    shard: Shard,
    place: Place,
    machine: Resources,
    /// What settings that are missing should suit: a kernel and a number of threads.
    suited: (Kernel, usize),
}

impl<'a> Job<'a> {
    /// All units.
    pub(super) fn whole(count: &'a Count<'a>) -> Self {
        let place = count.journal.clone().map_or(Place::Nowhere, Place::File);
        let machine = count.machine();
        let suited = (machine.kernel, machine.threads);
        Self { count, shard: Shard::WHOLE, place, machine, suited }
    }

    /// The units of a shard, recorded in a journal or in a folder, which is created if it is missing.
    pub(super) fn of_shard(count: &'a Count<'a>, shard: Shard, out: &Path) -> Result<Self, Error> {
        let is_file = out.is_file() || out.extension().is_some_and(|name| name == "journal");
        let place = if is_file {
            Place::File(out.to_owned())
        } else {
            std::fs::create_dir_all(out)
                .map_err(|error| JournalError::cannot_open(error).at(out))?;
            Place::Folder(out.to_owned())
        };
        // Every machine must make the same choice.
        let suited = (Kernel::Portable, SHARD_THREADS);
        Ok(Self { count, shard, place, machine: count.machine(), suited })
    }

    pub(super) fn run(&self) -> Result<Outcome, Error> {
        let begun = Instant::now();
        let Self { count, shard, machine, .. } = *self;
        count.check_queens(!matches!(self.place, Place::Nowhere))?;
        let mut left_out = Vec::new();
        let (locked, record) = self.open(&mut left_out)?;
        let plan = self.plan(record.as_ref())?;
        let units = units_of(shard.ranges(plan.units()));
        let (mut todo, mut before) = (units.clone(), Tally::default());
        if let Some(record) = &record {
            let solutions = record.solutions_in(&units)?;
            todo = &units - &record.finished;
            before = Tally { units: len(&units) - len(&todo), solutions };
        }
        let mut outcome = Outcome {
            size: count.size,
            shard,
            total: before.solutions,
            engine: plan.engine(),
            kernel: machine.kernel_of(plan.engine()),
            threads: machine.threads,
            units: len(&units),
            units_before: before.units,
            memory: None,
            elapsed: begun.elapsed(),
            published: Published::Unknown,
            runs: record.iter().flat_map(Record::runs).cloned().collect(),
            journal: None,
            journal_fault: None,
            left_out,
        };
        if !todo.is_empty() {
            let prepared = plan.prepare(&self.within_budget(&plan)?, &count.cancel)?;
            outcome.memory = prepared.memory();
            let held = locked.as_ref().and(record.as_ref());
            let cut_off = held.map_or(0, |record| record.files[0].cut_off);
            let held = held.map_or(Tally::default(), |record| Tally {
                units: record.units_done(),
                solutions: record.solutions,
            });
            let journal = self.begin(locked, &plan)?;
            count.observer.started(&Start {
                plan: &plan,
                shard,
                threads: machine.threads,
                units: outcome.units,
                units_done: before.units,
                solutions: before.solutions,
                cut_off,
            });
            let driver = Driver {
                plan: &plan,
                prepared: &prepared,
                journal: journal.as_ref(),
                observer: count.observer,
                cancel: &count.cancel,
                begun: Instant::now(),
                has_failed: AtomicBool::new(false),
            };
            let counted = driver.run(half_open(&todo));
            let has_failed = journal.as_ref().is_some_and(Journal::has_failed);
            let is_complete = counted.as_ref().is_ok_and(|now| now.units == len(&todo));
            let total = counted.as_ref().ok().map(|now| before.plus(*now).solutions);
            outcome.journal = journal.as_ref().map(|journal| journal.path.clone());
            let closed = journal.map(|journal| {
                let total = total.filter(|_| is_complete);
                journal.close(&plan, &|trouble| {
                    count.observer.disk_trouble(&trouble.with_total(total));
                })
            });
            let now = counted?;
            let checked = closed
                .map(|closed| closed.and_then(|record| check_written(record, held.plus(now))));
            match checked.transpose() {
                // A journal that failed is the reason why the count stopped.
                Err(error) if !is_complete && has_failed => return Err(error),
                Err(error) => outcome.journal_fault = Some(error),
                Ok(runs) => outcome.runs = runs.unwrap_or_default(),
            }
            let sum = before.plus(now);
            if !is_complete {
                return Err(Error::Stopped {
                    done: sum.units,
                    units: outcome.units,
                    solutions: sum.solutions,
                    journal_fault: outcome.journal_fault.map(Box::new),
                });
            }
            outcome.total = sum.solutions;
        }
        if shard == Shard::WHOLE && count.queens.is_empty() {
            outcome.published = Published::compare(outcome.total, known(count.size).total);
        }
        outcome.elapsed = begun.elapsed();
        Ok(outcome)
    }

    /// Locks the journal, and reads what is finished. In a folder, this is what journals hold that may
    /// have units of the shard; those of the other count are not read.
    fn open(&self, left_out: &mut Vec<Error>) -> Result<(Option<Locked>, Option<Record>), Error> {
        match &self.place {
            Place::Nowhere => Ok((None, None)),
            Place::File(path) => {
                let mut locked = Locked::open(path)?;
                let record = locked.record.take();
                Ok((Some(locked), record))
            }
            Place::Folder(path) => {
                let Count { size, pass, .. } = *self.count;
                let folder = Folder::list(path, size, pass, self.shard)?;
                let record;
                (record, *left_out) = folder.read(self.shard)?;
                // A machine made errors. Whatever this one counts, it would not be settled.
                let differ = |error: &&Error| matches!(error, Error::CountsDiffer { .. });
                left_out.iter().find(differ).map_or(Ok((None, record)), |error| Err(error.clone()))
            }
        }
    }

    /// The plan of the record, if it is the one that is asked for; without a record, the one that suits.
    fn plan(&self, record: Option<&Record>) -> Result<Arc<Plan>, Error> {
        let (kernel, threads) = self.suited;
        let asked = self.count.plan(record.map(|record| &*record.plan), kernel, threads);
        asked.check_pass()?;
        let Some(record) = record else {
            self.within_budget(&asked)?;
            return Ok(Arc::new(asked));
        };
        let path = record.files.first().map_or(Path::new(""), |file| &file.path);
        check_same(&asked, &record.plan).map_err(|error| error.at(path))?;
        Ok(Arc::clone(&record.plan))
    }

    /// Begins the journal that this process writes, if there is to be one.
    fn begin(&self, locked: Option<Locked>, plan: &Arc<Plan>) -> Result<Option<Journal>, Error> {
        let Resources { threads, .. } = self.machine;
        let run = Run::begin(self.machine.kernel_of(plan.engine()), threads, self.shard);
        match (locked, &self.place) {
            (Some(locked), _) => locked.begin(plan, &run).map(Some),
            (None, Place::Folder(folder)) => Journal::create_in(folder, plan, &run).map(Some),
            (None, _) => Ok(None),
        }
    }

    /// The part of the memory that is left for the engine's lists. It is worked out before anything is
    /// built: nobody should wait for a plan only to learn that the rest does not fit.
    pub(super) fn within_budget(&self, plan: &Plan) -> Result<Resources, Error> {
        let Resources { threads, memory: budget, .. } = self.machine;
        let (units, list) = plan.forecast();
        let units = units as u64;
        let record = match self.place {
            Place::Nowhere => 0,
            _ => units * RECORD_BYTES + units * COUNT_BYTES / self.shard.shards() as u64,
        };
        let fixed = list + record;
        let per_thread = plan.engine().worker_bytes(plan.size());
        let needed = fixed.saturating_add(per_thread.saturating_mul(threads as u64));
        match budget.checked_sub(fixed) {
            Some(memory) if needed <= budget => Ok(Resources { memory, ..self.machine }),
            rest => Err(Error::MemoryBudget(Shortage {
                engine: plan.engine().name(),
                n: plan.size().get(),
                needed,
                threads,
                least: fixed.saturating_add(per_thread),
                fitting: rest.map_or(0, |rest| fitting_threads(rest, per_thread)),
                budget,
                given: self.count.memory.is_some(),
            })),
        }
    }
}

/// Makes sure that a recorded plan is the one that is asked for.
fn check_same(asked: &Plan, held: &Plan) -> Result<(), JournalError> {
    let rows = |split_rows: Option<SplitRows>| split_rows.map_or(0, SplitRows::get);
    let fields: [(_, &dyn Display, &dyn Display); 4] = [
        ("n", &held.size(), &asked.size()),
        ("engine", &held.engine(), &asked.engine()),
        ("split rows", &rows(held.split_rows()), &rows(asked.split_rows())),
        ("count", &held.pass(), &asked.pass()),
    ];
    let fields =
        fields.map(|(name, held, asked)| (format!("{name} = {held}"), format!("{name} = {asked}")));
    let differing = fields.into_iter().find(|(held, asked)| held != asked);
    differing.map_or(Ok(()), |(holds, asked)| Err(JournalError::OtherCount { holds, asked }))
}

/// Makes sure that a journal, read back, holds what was counted. Returns who counted.
fn check_written(record: Record, expected: Tally) -> Result<Vec<Run>, Error> {
    let written = Tally { units: record.units_done(), solutions: record.solutions };
    if written == expected {
        return Ok(record.runs().cloned().collect());
    }
    let what = "units are missing or have different counts".to_owned();
    Err(JournalError::NotAsWritten { what }.at(&record.files[0].path))
}

impl Resources {
    /// The kernel that an engine uses.
    pub(super) fn kernel_of(&self, engine: Engine) -> Kernel {
        if engine.has_kernels() { self.kernel } else { Kernel::Portable }
    }
}
