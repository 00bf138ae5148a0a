//! How long the threads of timed runs waited for a core, because other programs ran or there were too few cores.
//!
//! A thread is at work until it has no units left. The CPU time of the process is compared with that, because threads
//! that have nothing left to do wait, too, but not for a core.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::machine::process_time;
use crate::{BoardSize, Observer, SoFar, Start};

/// The share of its work that a thread may wait without a warning. A quiet machine has programs of its own, too.
const SMALL_SHARE: f64 = 0.1;

/// The time that a thread may wait in each run without a warning, because it takes a while to wake up.
const SHORT: Duration = Duration::from_micros(300);

/// An observer of one run.
#[derive(Debug, Default)]
pub(super) struct Watch(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// The CPU time of the process when the run began, and at the latest report.
    cpu_time: [Duration; 2],
    /// When each thread reported last.
    threads: HashMap<ThreadId, Duration>,
}

impl Observer for Watch {
    fn started(&self, _: &Start<'_>) {
        let now = process_time();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cpu_time = [now, now];
    }

    fn units_done(&self, so_far: &SoFar<'_>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.cpu_time[1] = process_time();
        seen.threads.insert(thread::current().id(), so_far.newest.elapsed);
    }
}

impl Watch {
    /// Returns what is known at the end of the run.
    pub(super) fn on_cores(&self) -> OnCores {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let [before, after] = seen.cpu_time;
        OnCores {
            threads: seen.threads.len(),
            at_work: seen.threads.values().sum(),
            cpu_time: after.saturating_sub(before),
        }
    }
}

/// How long the threads of runs were at work, and how much of that time they had a core.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OnCores {
    /// The number of threads, added up over the runs.
    threads: usize,
    /// The wall time that all threads together were at work.
    at_work: Duration,
    cpu_time: Duration,
}

impl OnCores {
    /// Returns the share of their work that threads waited, if that is worth a warning.
    fn share_waited(&self) -> Option<f64> {
        let waited = self.at_work.saturating_sub(self.cpu_time);
        let share = waited.as_secs_f64() / self.at_work.as_secs_f64();
        // A clock that stands still says nothing.
        let is_known = self.cpu_time > Duration::ZERO;
        let is_long = waited.as_secs_f64() > SHORT.as_secs_f64() * self.threads as f64;
        if is_known && is_long && share > SMALL_SHARE { Some(share) } else { None }
    }
}

/// How long threads waited in all runs, board by board.
#[derive(Debug, Default)]
pub(super) struct Waiting(BTreeMap<BoardSize, OnCores>);

impl Waiting {
    /// Adds a run.
    pub(super) fn add(&mut self, size: BoardSize, run: OnCores) {
        let all = self.0.entry(size).or_default();
        all.threads += run.threads;
        all.at_work += run.at_work;
        all.cpu_time += run.cpu_time;
    }

    /// Returns a warning if threads had to wait.
    pub(super) fn warning(&self) -> Option<String> {
        let mut boards = Vec::new();
        for (size, runs) in &self.0 {
            if let Some(share) = runs.share_waited() {
                boards.push(format!("{:.0}% of the time at n = {size}", 100.0 * share));
            }
        }
        if boards.is_empty() {
            return None;
        }
        Some(format!(
            "threads waited for a core ({}), so these times are too long: end other programs, or name fewer \
             threads",
            boards.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(runs: &[(usize, u64, u64)]) -> Option<String> {
        let mut waiting = Waiting::default();
        for &(threads, at_work, cpu_time) in runs {
            let at_work = Duration::from_micros(at_work);
            let cpu_time = Duration::from_micros(cpu_time);
            let size = BoardSize::new(14).expect("in range");
            waiting.add(size, OnCores { threads, at_work, cpu_time });
        }
        waiting.warning()
    }

    #[test]
    fn only_threads_that_wait_long_are_worth_a_warning() {
        assert_eq!(waiting(&[]), None);
        assert_eq!(waiting(&[(2, 2_000_000, 1_900_000)]), None, "a quiet machine");
        assert_eq!(waiting(&[(2, 2_000_000, 2_100_000)]), None, "other threads of the process");
        assert_eq!(waiting(&[(2, 1000, 500)]), None, "threads wake up");
        assert_eq!(waiting(&[(2, 2_000_000, 0)]), None, "the clock stands still");
        let warning = waiting(&[(2, 20_000, 16_000), (2, 20_000, 4000)]).expect("they waited");
        assert!(
            warning.starts_with("threads waited for a core (50% of the time at n = 14)"),
            "{warning}"
        );
    }
}
