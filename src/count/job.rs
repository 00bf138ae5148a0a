//! The one way through a count, of a whole board or a shard, and through an estimate: open the place for journals, plan,
//! count, close the journal.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::observe::Start;
use super::settings::Count;
use crate::board::known::{Published, known};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::done::Sum;
use crate::engine::{Engine, Kernel};
use crate::error::Error;
use crate::forecast::{Rest, Sample, TimeLeft};
use crate::machine::cores;
use crate::plan::Plan;
use crate::record::{Journal, Place, Record, Run};
use crate::shard::Shard;

/// The result of a finished count, of a whole board or of a shard.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The size of the board.
    pub size: BoardSize,
    /// The shard: [`Shard::WHOLE`] for a whole count.
    pub shard: Shard,
    /// The number of solutions in the finished units, each count times the weight of its unit. For a whole count,
    /// this is Q(n).
    pub total: u128,
    /// The number of finished units. It is less than `units` in the sample of an [estimate](crate::Estimate), and if
    /// [`Count::run_until_stopped`] was stopped.
    pub units_done: usize,
    /// The engine that counted.
    pub engine: Engine,
    /// The kernel that counted: [`Kernel::Portable`] for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// The number of units in the whole count or in the shard.
    pub units: usize,
    /// The number of units that journals already held when the count began.
    pub units_before: usize,
    /// The wall time without the start of the threads. Reading journals and waiting for the disk are part of it.
    pub elapsed: Duration,
    /// How the total compares with the published one: [`Published::Unknown`] for shards and samples.
    pub published: Published,
    /// The processes that worked on the journal, as read back from it. If nothing was left to count, the processes that
    /// wrote the journals that were read.
    pub runs: Vec<Run>,
    /// The journal that was written. `None` if there is no journal, or nothing was left to count.
    pub journal: Option<PathBuf>,
    /// The reason why the journal cannot be relied on, although all units are counted and the total is right.
    pub journal_fault: Option<Error>,
    /// The reasons why lines and journals were left out. Their units were counted again.
    pub left_out: Vec<Error>,
}

impl Count<'_> {
    /// Counts all units of the board, or of the shard that is set.
    ///
    /// # Errors
    ///
    /// * [`Error::Stopped`] or [`Error::StoppedBefore`] after a cancellation.
    /// * [`Error::InvalidValue`] for a board that the engine does not count, a number of threads out of range, or a
    ///   journal whose name does not end in `.journal`.
    /// * [`Error::ThreadsNotStarted`] if threads cannot be started.
    /// * [`Error::LacksMemory`] if the engine, the plan or the record needs more memory than there is.
    /// * [`Error::Journal`] if the journal cannot be used, and [`Error::CountsDiffer`] if a unit has two different
    ///   counts.
    /// * [`Error::PlansDiffer`] if a folder holds journals of several plans of this board, and the settings do not say
    ///   which is meant.
    /// * [`Error::UnitOverflow`] or [`Error::EntryOverflow`] if a number does not fit.
    ///
    /// # Panics
    ///
    /// Without [`Count::threads`], outside of a pool, if rayon cannot start its global pool.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.run_until_stopped()?.complete()
    }

    /// Counts as [`Count::run`] does. But if a cancellation stops the count, the result says how far it came: it has
    /// fewer [finished units](Outcome::units_done) than [units](Outcome::units).
    ///
    /// ```
    /// use nqueens::{BoardSize, Cancel, Count};
    ///
    /// let cancel = Cancel::new();
    /// cancel.cancel(); // usually from another thread
    /// let outcome = Count::new(BoardSize::new(20)?).cancel(&cancel).run_until_stopped()?;
    /// println!("{} of {} units, {} solutions", outcome.units_done, outcome.units, outcome.total);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Count::run`], but not [`Error::Stopped`].
    pub fn run_until_stopped(&self) -> Result<Outcome, Error> {
        self.check()?;
        self.on_its_threads(|| Job::new(self).run())?
    }
}

impl Outcome {
    /// Returns the outcome if all units are finished, else [`Error::Stopped`].
    fn complete(self) -> Result<Self, Error> {
        if self.units_done == self.units {
            return Ok(self);
        }
        let done = Sum { units: self.units_done, solutions: self.total };
        Err(Error::Stopped { done, units: self.units })
    }
}

/// A count that is about to run.
pub(super) struct Job<'a> {
    count: &'a Count<'a>,
    begun: Instant,
    /// Stops all threads before their next unit.
    pub(super) stop: Cancel,
}

impl<'a> Job<'a> {
    pub(super) fn new(count: &'a Count<'a>) -> Self {
        Self { count, begun: Instant::now(), stop: Cancel::new() }
    }

    /// Opens the place for journals, makes the plan, counts the units that are missing, and closes the journal.
    pub(super) fn run(self) -> Result<Outcome, Error> {
        let (count, shard, threads) = (self.count, self.count.shard, rayon::current_num_threads());
        let (place, record) = match &count.journal {
            Some(path) => {
                let (place, record) =
                    Place::open(path, &count.wanted(), shard, || count.plan(), &count.cancel)?;
                (Some(place), record)
            }
            None => (None, None),
        };
        let plan = match &record {
            Some(record) => count.recorded_plan(record)?,
            None => Arc::new(count.plan()?),
        };
        let units: Vec<Range<usize>> = shard.ranges(plan.units()).collect();
        let done = record.as_ref().map_or(Sum::default(), |record| record.sum_in(&units));
        let todo = record.as_ref().map_or(units.clone(), |record| record.missing_in(&units));
        let kernel = count.kernel_of(plan.engine());
        let run = Run::begin(kernel, threads, shard);
        let left_out = record.as_ref().map_or(Vec::new(), |record| record.left_out.clone());
        let start = Start {
            plan: &plan,
            shard,
            kernel,
            threads,
            units: units.iter().map(ExactSizeIterator::len).sum(),
            done,
            cut_off: match (&place, &record) {
                (Some(Place::File(_)), Some(record)) => record.files()[0].cut_off,
                _ => 0,
            },
            left_out: &left_out,
            time_left: &self.time_left(&plan, &run, done, &todo, record.as_ref()),
        };
        let runs: Vec<Run> = record.iter().flat_map(Record::runs).cloned().collect();
        // A named file may hold units of other shards, too.
        let held = record.as_ref().map_or(Sum::default(), Record::sum);
        // Its memory is free for the counting threads.
        drop(record);
        let mut journal = None;
        if !todo.is_empty() {
            plan.check_memory(threads)?;
            journal = place.map(|place| place.begin(&plan, held, &run)).transpose()?;
        }
        count.observer.started(&start);
        let (begun, stop) = (Instant::now(), self.stop.clone());
        let done = Mutex::new(start.done);
        let driver = Driver { count, start: &start, journal: journal.as_ref(), begun, done, stop };
        let counted = driver.run(&todo)?;
        self.close(&start, counted, journal, runs)
    }

    /// Makes the forecast of a count that begins. Runs in the journals with the same kernel, CPU and number of threads
    /// are part of the sample.
    fn time_left(
        &self,
        plan: &Plan,
        run: &Run,
        done: Sum,
        todo: &[Range<usize>],
        record: Option<&Record>,
    ) -> TimeLeft {
        let recorded = match record {
            Some(record) => record.sample(|other| run.is_like(other)),
            None => Sample::new(plan.units()),
        };
        let total = self.published_total();
        let solutions = total.map(|total| total as f64 - done.solutions as f64);
        let units = todo.iter().map(ExactSizeIterator::len).sum();
        TimeLeft::new(recorded, Rest { units, solutions }, run.threads.min(cores()))
    }

    /// Waits until the disk has the whole journal, reads it back and compares it with what was counted.
    fn close(
        &self,
        start: &Start<'_>,
        counted: Sum,
        journal: Option<Journal>,
        runs_before: Vec<Run>,
    ) -> Result<Outcome, Error> {
        let done = start.done + counted;
        let is_complete = done.units == start.units;
        let path = journal.as_ref().map(|journal| journal.path().to_owned());
        let observer = self.count.observer;
        let waits = || observer.waits_for_disk(is_complete.then_some(done.solutions));
        // The first cancellation stops the counting, or, if all units are counted, this wait.
        let is_over = || is_complete && self.count.cancel.is_cancelled();
        let closed = journal.map(|journal| journal.close(counted, &waits, &is_over)).transpose();
        let (read_back, journal_fault) = match closed {
            Ok(Some((record, news))) => {
                if let Some(news) = news {
                    observer.journal_harmed(&news);
                }
                (Some(record), None)
            }
            Ok(None) => (None, None),
            // A fault of the journal may be the reason why the count stopped. Then the same command would not
            // resume it.
            Err(error) if !is_complete => return Err(error),
            Err(error) => (None, Some(error)),
        };
        let runs = match &read_back {
            Some(record) => {
                // No unit is missing, but somebody else has written lines that mean nothing.
                for error in record.left_out.iter().filter(|error| !start.left_out.contains(error))
                {
                    observer.journal_harmed(error);
                }
                record.runs().cloned().collect()
            }
            None => runs_before,
        };
        Ok(Outcome {
            size: self.count.size,
            shard: start.shard,
            total: done.solutions,
            units_done: done.units,
            engine: start.plan.engine(),
            kernel: start.kernel,
            threads: start.threads,
            units: start.units,
            units_before: start.done.units,
            elapsed: self.begun.elapsed(),
            published: Published::compare(
                done.solutions,
                self.published_total().filter(|_| is_complete),
            ),
            runs,
            journal: path,
            journal_fault,
            left_out: start.left_out.to_vec(),
        })
    }

    /// Returns the published total, if this counts the whole board.
    fn published_total(&self) -> Option<u128> {
        known(self.count.size).total.filter(|_| self.count.shard == Shard::WHOLE)
    }
}
