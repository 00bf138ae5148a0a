//! The processes that wrote journals.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::engine::Kernel;
use crate::machine::Cpu;
use crate::machine::date::today;
use crate::plan::done::UnitsDone;
use crate::plan::shard::Shard;
use crate::version::version;

/// The work of one process, as recorded in a journal.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) version: Arc<str>,
    pub(crate) date: Option<Arc<str>>,
    pub(crate) kernel: Arc<str>,
    pub(crate) threads: usize,
    pub(crate) shard: Shard,
    pub(crate) machine: Arc<str>,
    pub(crate) units: usize,
    pub(crate) elapsed: Duration,
    pub(crate) cpu_time: Duration,
}

impl Run {
    /// Returns the version of the program, with its commit: `1.0.0+86eb928`. Older journals have no commit.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the day on which the run began, in UTC: `2026-11-26`. Older journals do not name it.
    pub fn date(&self) -> Option<&str> {
        self.date.as_deref()
    }

    /// Returns the name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Returns the number of counting threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the shard that the process counted.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// Returns the brand of the CPU.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Returns the number of units that the process finished.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Returns the wall time from the start of counting to the last recorded units.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns the CPU time that all threads of the process spent on units.
    pub fn cpu_time(&self) -> Duration {
        self.cpu_time
    }

    /// Makes the run of this process, which begins now.
    pub(crate) fn of_this_process(kernel: Kernel, threads: usize, shard: Shard) -> Self {
        let brand = Cpu::detect().brand.unwrap_or_else(|| "unknown".to_owned());
        Self {
            version: version().into(),
            date: Some(today().into()),
            kernel: kernel.name().into(),
            threads,
            shard,
            machine: brand.replace(char::is_control, " ").into(),
            ..Self::unknown()
        }
    }

    /// Makes the run of units in front of which no run has begun.
    pub(crate) fn unknown() -> Self {
        Self {
            version: "unknown".into(),
            date: None,
            kernel: "unknown".into(),
            threads: 1,
            shard: Shard::WHOLE,
            machine: "unknown".into(),
            units: 0,
            elapsed: Duration::ZERO,
            cpu_time: Duration::ZERO,
        }
    }

    /// Returns the line that begins the run, without its CRC.
    pub(super) fn line(&self) -> String {
        let Self { version, date, kernel, threads, shard, machine, .. } = self;
        let date = match date {
            Some(date) => format!("date={date} "),
            None => String::new(),
        };
        format!(
            "run version={version} {date}kernel={kernel} threads={threads} shard={shard} machine={machine}"
        )
    }

    /// Adds finished units to the run.
    pub(super) fn add(&mut self, done: &UnitsDone) {
        self.units += done.units.len();
        self.elapsed = self.elapsed.max(done.elapsed);
        self.cpu_time = self.cpu_time.saturating_add(done.cpu_time);
    }

    /// Parses the line that begins a run, without its first word and its CRC.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        Some(Self {
            version: take_field(&mut rest, "version=")?.into(),
            date: take_field(&mut rest, "date=").map(Arc::from),
            kernel: take_field(&mut rest, "kernel=")?.into(),
            threads: take_field(&mut rest, "threads=")?.parse().ok()?,
            shard: take_field(&mut rest, "shard=")?.parse().ok()?,
            // The machine's name comes last, because it may contain spaces.
            machine: rest.strip_prefix("machine=")?.into(),
            ..Self::unknown()
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

/// The texts of runs, each of them once. Most runs of a count have the same texts, and there may be a million runs.
#[derive(Debug, Default)]
pub(super) struct Texts(Mutex<HashSet<Arc<str>>>);

impl Texts {
    /// Replaces each text of a run by an equal one that is known already.
    pub(super) fn share(&self, run: &mut Run) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = [&mut run.version, &mut run.kernel, &mut run.machine];
        for text in texts.into_iter().chain(&mut run.date) {
            match known.get(text) {
                Some(equal) => *text = Arc::clone(equal),
                None => _ = known.insert(Arc::clone(text)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_line_is_lost_is_called_unknown() {
        let expected = "run version=unknown kernel=unknown threads=1 shard=0/1 machine=unknown";
        assert_eq!(Run::unknown().line(), expected);
    }

    #[test]
    fn the_run_of_this_process_says_who_counts_and_when() {
        let before = today();
        let shard = Shard::new(1, 3).expect("in range");
        let run = Run::of_this_process(Kernel::PORTABLE, 2, shard).line();
        let version = version();
        let said = |date: &str| {
            format!(
                "run version={version} date={date} kernel=portable threads=2 shard=1/3 machine="
            )
        };
        let [before, after] = [before, today()].map(|date| said(&date));
        assert!(run.starts_with(&before) || run.starts_with(&after), "{run}");
    }

    #[test]
    fn a_line_of_a_run_is_read_as_it_was_written() {
        for date in ["", "date=2026-11-26 "] {
            let rest = "kernel=avx2 threads=3 shard=2/7 machine=A CPU with 4 cores";
            let text = format!("version=1.0.0+86eb928 {date}{rest}");
            let run = Run::parse(&text).expect("good");
            assert_eq!(run.line(), format!("run {text}"));
        }
    }

    #[test]
    fn runs_share_equal_texts() {
        let parse = |date: &str| {
            let text = format!(
                "version=1.0.0+86eb928 date={date} kernel=avx2 threads=3 shard=2/7 machine=A CPU"
            );
            Run::parse(&text).expect("good")
        };
        let mut runs = ["2026-11-26", "2026-11-27"].map(parse);
        let texts = Texts::default();
        for run in &mut runs {
            texts.share(run);
        }
        let [one, other] = runs;
        assert!(Arc::ptr_eq(&one.version, &other.version));
        assert!(Arc::ptr_eq(&one.kernel, &other.kernel));
        assert!(Arc::ptr_eq(&one.machine, &other.machine));
        assert_ne!(one.date, other.date);
    }
}
