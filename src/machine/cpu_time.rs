//! CPU time of the current thread: the cost of a count, whatever else the machine is doing.

use std::time::Duration;

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

/// Measures CPU time of this thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Duration);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(of_this_thread())
    }

    /// Seconds since the start or the last lap, which ends here.
    pub(crate) fn lap(&mut self) -> f64 {
        let before = std::mem::replace(self, Self::start());
        self.0.saturating_sub(before.0).as_secs_f64()
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
