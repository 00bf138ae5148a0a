//! What the operating system says about the CPU.

use std::path::Path;

use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::cgroup;

/// The CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Its brand, or `unknown`.
    pub brand: String,
    /// Its logical cores, whether this process may use them or not.
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

/// Cores' worth of time that the control groups of this process allow; `None` without a quota.
#[must_use]
pub fn quota() -> Option<f64> {
    cgroup::cpu_quota(Path::new("/"))
}
