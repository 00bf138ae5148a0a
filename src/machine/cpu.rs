//! The CPU: what it is, how much of it this process may use, and how much a thread has used, which is
//! the cost of a count, whatever else the machine is doing.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

/// The CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The brand, or `unknown`.
    pub brand: String,
    /// The number of logical cores, including those this process may not use.
    pub logical_cores: usize,
}

impl Cpu {
    /// Asks the operating system.
    pub fn detect() -> Self {
        let wanted = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
        let system = System::new_with_specifics(wanted);
        let brand = system.cpus().first().map_or("", |cpu| cpu.brand().trim());
        Self {
            brand: if brand.is_empty() { "unknown".to_owned() } else { brand.to_owned() },
            logical_cores: system.cpus().len(),
        }
    }
}

/// CPU time that this thread has used since it started.
pub(crate) fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_costs_no_cpu_time() {
        let before = thread_time();
        std::thread::sleep(Duration::from_millis(100));
        let slept = thread_time() - before;
        assert!(slept < Duration::from_millis(50), "{slept:?}");
        // This loop ends only if the clock runs while the thread works.
        while thread_time() - before < Duration::from_millis(60) {}
    }
}
