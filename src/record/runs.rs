//! The processes that wrote journals, and what they tell of a count: how far it is, and how long the rest takes.

use std::fmt;
use std::time::Duration;

use super::Record;
use super::reader::JournalFile;
use crate::board::known::known;
use crate::done::UnitsDone;
use crate::engine::Kernel;
use crate::error::Error;
use crate::forecast::{Approximate, Rest, Sample, WallTime};
use crate::machine::Cpu;
use crate::machine::date::today;
use crate::shard::Shard;
use crate::version::version;

/// The work of one process, as recorded in a journal.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Run {
    /// The version of the program, with its commit: `0.1.0+86eb928`. Older journals have no commit.
    pub version: String,
    /// The day on which the run began, in UTC: `2026-11-26`. Empty in older journals.
    pub date: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The number of counting threads.
    pub threads: usize,
    /// The shard that the process counted.
    pub shard: Shard,
    /// The brand of the CPU.
    pub machine: String,
    /// The number of units that the process finished.
    pub units: usize,
    /// The wall time from the start of counting to the last recorded units.
    pub elapsed: Duration,
    /// The CPU time that all threads of the process spent on units.
    pub cpu_time: Duration,
    /// The finished units with the CPU time that they took, for a forecast.
    pub(super) sample: Sample,
}

impl Run {
    /// Makes the run of this process, which begins now.
    pub(crate) fn begin(kernel: Kernel, threads: usize, shard: Shard) -> Self {
        Self {
            version: version(),
            date: today(),
            kernel: kernel.name().to_owned(),
            threads,
            shard,
            machine: Cpu::detect().brand.replace(char::is_control, " "),
            ..Self::default()
        }
    }

    /// Makes a run that stands for one whose own line is lost.
    pub(super) fn unknown() -> Self {
        Self {
            version: "unknown".to_owned(),
            kernel: "unknown".to_owned(),
            threads: 1,
            machine: "unknown".to_owned(),
            ..Self::default()
        }
    }

    /// Returns whether units take equally long in both runs: the kernel, the machine and the number of threads are
    /// equal.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.kernel == other.kernel
            && self.machine == other.machine
            && self.threads == other.threads
    }

    /// Adds finished units to the run.
    pub(super) fn add(&mut self, done: &UnitsDone) {
        self.units += done.units.len();
        self.elapsed = self.elapsed.max(done.elapsed);
        self.cpu_time = self.cpu_time.saturating_add(done.cpu_time);
        self.sample.add(done);
    }

    /// Parses the line that begins a run, without its first word and its CRC.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        Some(Self {
            version: take_field(&mut rest, "version=")?.to_owned(),
            date: take_field(&mut rest, "date=").unwrap_or_default().to_owned(),
            kernel: take_field(&mut rest, "kernel=")?.to_owned(),
            threads: take_field(&mut rest, "threads=")?.parse().ok()?,
            shard: take_field(&mut rest, "shard=")?.parse().ok()?,
            // The machine's name comes last, because it may contain spaces.
            machine: rest.strip_prefix("machine=")?.to_owned(),
            ..Self::default()
        })
    }
}

/// Takes the field with this name from the beginning of a text, with the space behind it, and returns the value. If the
/// text does not begin with the field, returns `None` and takes nothing.
fn take_field<'a>(text: &mut &'a str, name: &str) -> Option<&'a str> {
    let (value, rest) = text.strip_prefix(name)?.split_once(' ')?;
    *text = rest;
    Some(value)
}

/// Writes the line that begins a run, without its CRC.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, date, kernel, threads, shard, machine, .. } = self;
        write!(f, "run version={version} ")?;
        if !date.is_empty() {
            write!(f, "date={date} ")?;
        }
        write!(f, "kernel={kernel} threads={threads} shard={shard} machine={machine}")
    }
}

/// Returns the number of shards, if all processes that wrote these journals agree on it. It is 1 if none of them counted
/// a shard. A whole count among shards has no say, and neither has a run whose line is lost.
pub(super) fn agreed_shards(files: &[JournalFile]) -> Option<usize> {
    let mut agreed = 1;
    for run in files.iter().flat_map(|file| &file.runs) {
        match run.shard.shards() {
            1 => {}
            shards if agreed == 1 || shards == agreed => agreed = shards,
            _ => return None,
        }
    }
    Some(agreed)
}

/// Returns an estimate with its value, and without its error.
fn with_unknown_error(estimate: Approximate) -> Approximate {
    Approximate::roughly(estimate.value)
}

/// The progress of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardUnits {
    /// The number of units in the shard.
    pub units: usize,
    /// The number of its units that are finished.
    pub finished: usize,
}

/// The time that the rest of a count takes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkLeft {
    /// The CPU time of the rest in seconds. `None` while nothing is finished. The standard error is infinite while
    /// too little is finished.
    pub cpu_seconds: Option<Approximate>,
    /// The wall time of the rest, if the processes that are counting at this moment count all of it. `None` if no process
    /// is counting, or while too little is known.
    pub wall_time: Option<WallTime>,
}

impl Record {
    /// Returns the processes that wrote the journals.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.files().iter().flat_map(|file| &file.runs)
    }

    /// Returns the CPU time of all units that were counted. A unit that was counted twice adds both times.
    pub fn cpu_time(&self) -> Duration {
        let mut sum = Duration::ZERO;
        for run in self.runs() {
            sum = sum.saturating_add(run.cpu_time);
        }
        sum
    }

    /// Returns the journals that processes are writing.
    pub fn running(&self) -> impl Iterator<Item = &JournalFile> {
        self.files().iter().filter(|file| file.is_written && !file.runs.is_empty())
    }

    /// Returns the number of units and of finished units of each shard, if the plan is cut into this number of
    /// shards.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless `shards` is 1 to [`Shard::MAX_SHARDS`].
    pub fn shard_units(&self, shards: usize) -> Result<Vec<ShardUnits>, Error> {
        Shard::new(0, shards)?;
        let mut each = vec![ShardUnits::default(); shards];
        for (index, units) in Shard::blocks(self.plan().units(), shards) {
            let shard = &mut each[index];
            shard.units += units.len();
            shard.finished += units.filter(|unit| self.count(*unit).is_some()).count();
        }
        Ok(each)
    }

    /// Returns the indices of the shards that are not complete, if the plan is cut into this number of shards.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless `shards` is 1 to [`Shard::MAX_SHARDS`].
    pub fn missing_shards(&self, shards: usize) -> Result<Vec<usize>, Error> {
        let mut missing = Vec::new();
        for (index, shard) in self.shard_units(shards)?.iter().enumerate() {
            if shard.finished < shard.units {
                missing.push(index);
            }
        }
        Ok(missing)
    }

    /// Estimates how long the missing units take.
    ///
    /// The sample is the work of runs with the kernel, CPU and number of threads of the runs that are counting. If no
    /// process is counting, the sample is all runs. The standard error is infinite if these runs are not like each
    /// other. It is also infinite if no run like the ones that are counting has finished a unit: then the sample is
    /// all runs.
    pub fn work_left(&self) -> WorkLeft {
        let rest = self.rest();
        let mut now: Vec<&Run> = self.running().filter_map(|file| file.runs.last()).collect();
        if now.is_empty() {
            now = self.runs().collect();
        }
        let are_alike = now.iter().all(|run| run.is_like(now[0]));
        let sample = self.sample(|run| now.iter().any(|now| now.is_like(run)));
        let work = if sample.is_empty() {
            self.sample(|_| true).cpu_seconds(rest).map(with_unknown_error)
        } else if are_alike {
            sample.cpu_seconds(rest)
        } else {
            sample.cpu_seconds(rest).map(with_unknown_error)
        };
        let cores = self.cores();
        WorkLeft {
            cpu_seconds: work.map(Approximate::with_run_variation),
            wall_time: work.zip(cores).map(|(work, cores)| WallTime::of(work, cores)),
        }
    }

    /// Returns the part of the plan that is not finished.
    fn rest(&self) -> Rest {
        let done = self.sum();
        let total = known(self.plan().size()).total;
        Rest {
            units: self.plan().units() - done.units,
            solutions: total.map(|total| total as f64 - done.solutions as f64),
        }
    }

    /// Returns how many cores the processes that are counting got lately. A process of which too little is known is
    /// assumed to get as many for each thread as the others.
    fn cores(&self) -> Option<f64> {
        let mut threads = 0;
        let mut known_threads = 0;
        let mut cores = 0.0;
        for file in self.running() {
            let threads_of_file = file.runs.last().map_or(0, |run| run.threads);
            threads += threads_of_file;
            if let Some(mean) = file.cores.mean() {
                known_threads += threads_of_file;
                cores += mean.min(threads_of_file as f64);
            }
        }
        if known_threads == 0 {
            return None;
        }
        Some(cores * threads as f64 / known_threads as f64)
    }

    /// Returns the finished units of some runs.
    pub(crate) fn sample(&self, is_wanted: impl Fn(&Run) -> bool) -> Sample {
        let mut sample = Sample::new(self.plan().units());
        for run in self.runs().filter(|run| is_wanted(run)) {
            sample.add_all(&run.sample);
        }
        sample
    }
}
