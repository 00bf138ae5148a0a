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
        let date = today();
        let (version, kernel) = (version(), kernel.name().to_owned());
        let machine = Cpu::detect().brand.replace(char::is_control, " ");
        Self { version, date, kernel, threads, shard, machine, ..Self::default() }
    }

    /// Makes a run that stands for one whose own line is lost.
    pub(super) fn unknown() -> Self {
        let [version, kernel, machine] = [(); 3].map(|()| "unknown".to_owned());
        Self { version, kernel, threads: 1, machine, ..Self::default() }
    }

    /// Returns whether units take equally long in both runs: the kernel, the machine and the number of threads are
    /// equal.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (&self.kernel, &self.machine, self.threads)
            == (&other.kernel, &other.machine, other.threads)
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
        let mut field = |name| {
            let (value, after) = rest.strip_prefix(name)?.split_once(' ')?;
            rest = after;
            Some(value.to_owned())
        };
        let run = Self {
            version: field("version=")?,
            date: field("date=").unwrap_or_default(),
            kernel: field("kernel=")?,
            threads: field("threads=")?.parse().ok()?,
            shard: field("shard=")?.parse().ok()?,
            ..Self::default()
        };
        // The machine's name comes last, because it may contain spaces.
        Some(Self { machine: rest.strip_prefix("machine=")?.to_owned(), ..run })
    }
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
        self.runs().fold(Duration::ZERO, |sum, run| sum.saturating_add(run.cpu_time))
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
            each[index].units += units.len();
            each[index].finished += units.filter(|unit| self.count(*unit).is_some()).count();
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
        let done = self.sum();
        let total = known(self.plan().size()).total;
        let solutions = total.map(|total| total as f64 - done.solutions as f64);
        let rest = Rest { units: self.plan().units() - done.units, solutions };
        let mut now: Vec<&Run> = self.running().filter_map(|file| file.runs.last()).collect();
        if now.is_empty() {
            now = self.runs().collect();
        }
        let are_alike = now.iter().all(|run| run.is_like(now[0]));
        let mut sample = self.sample(|run| now.iter().any(|now| now.is_like(run)));
        let is_exact = are_alike && !sample.is_empty();
        if sample.is_empty() {
            sample = self.sample(|_| true);
        }
        let mut work = sample.cpu_seconds(rest);
        if !is_exact {
            work = work.map(|work| Approximate::roughly(work.value));
        }
        WorkLeft {
            cpu_seconds: work.map(Approximate::with_run_variation),
            wall_time: work.zip(self.cores()).map(|(work, cores)| WallTime::of(work, cores)),
        }
    }

    /// Returns how many cores the processes that are counting got lately. A process of which too little is known is
    /// assumed to get as many for each thread as the others.
    fn cores(&self) -> Option<f64> {
        let mut threads = 0;
        let mut known_threads = 0;
        let mut cores = 0.0;
        for file in self.running() {
            let of_file = file.runs.last().map_or(0, |run| run.threads);
            threads += of_file;
            if let Some(mean) = file.cores.mean() {
                known_threads += of_file;
                cores += mean.min(of_file as f64);
            }
        }
        (known_threads > 0).then(|| cores * threads as f64 / known_threads as f64)
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
