//! What the operating system reports about the CPU.

use std::path::Path;

use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::machine::cgroup;

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
    #[must_use]
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

/// How many cores the control groups allow this process; `None` without a quota.
#[must_use]
pub fn quota() -> Option<f64> {
    cgroup::cpu_quota(Path::new("/"))
}
