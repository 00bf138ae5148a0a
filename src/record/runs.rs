//! The processes that wrote journals.

use std::fmt;
use std::time::Duration;

use super::reader::JournalFile;
use crate::done::UnitsDone;
use crate::engine::Kernel;
use crate::forecast::Sample;
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
    pub(crate) fn of_this_process(kernel: Kernel, threads: usize, shard: Shard) -> Self {
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

/// Returns the number of shards, if all processes that wrote these journals agree on it. It is 1 if none of them
/// counted a shard. A whole count among shards has no say, and neither has a run whose line is lost.
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
