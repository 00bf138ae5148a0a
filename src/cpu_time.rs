//! CPU time of the current thread: the cost of a count, whatever else the machine is doing.

use std::ops::{AddAssign, Mul};
use std::time::{Duration, Instant};

/// CPU time that this thread has used since it started.
#[cfg(unix)]
pub(crate) fn of_this_thread() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Without a clock for CPU time: wall time since the first call.
#[cfg(not(unix))]
pub(crate) fn of_this_thread() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

/// Seconds that something took on this thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu += other.cpu;
    }
}

impl Mul<f64> for Spent {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self { wall: self.wall * times, cpu: self.cpu * times }
    }
}

/// Measures both times of this thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: of_this_thread() }
    }

    /// The time since the start or the last lap, which ends here.
    pub(crate) fn lap(&mut self) -> Spent {
        let before = std::mem::replace(self, Self::start());
        let cpu = self.cpu.saturating_sub(before.cpu);
        Spent { wall: (self.wall - before.wall).as_secs_f64(), cpu: cpu.as_secs_f64() }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn sleep_costs_no_cpu_time() {
        let before = of_this_thread();
        std::thread::sleep(Duration::from_millis(100));
        let slept = of_this_thread() - before;
        assert!(slept < Duration::from_millis(50), "{slept:?}");
        // This loop ends only if the clock runs while the thread works.
        while of_this_thread() - before < Duration::from_millis(60) {}
    }
}
