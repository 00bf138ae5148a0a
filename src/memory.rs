//! How much memory there is, and how much of it a count takes.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Bytes of memory, the limit of a container included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All that there is.
    pub total: u64,
    /// What is free or can be freed.
    pub available: u64,
}

impl Memory {
    /// Asks the operating system.
    #[must_use]
    pub fn look() -> Self {
        let ram = MemoryRefreshKind::nothing().with_ram();
        let system = System::new_with_specifics(RefreshKind::nothing().with_memory(ram));
        let (mut total, mut available) = (system.total_memory(), system.available_memory());
        if let Some(limits) = system.cgroup_limits() {
            total = total.min(limits.total_memory);
            available = available.min(limits.free_memory);
        }
        Self { total, available }
    }
}

/// The bytes that a count may use unless it is told otherwise: three quarters of what is available.
#[must_use]
pub fn default_budget() -> u64 {
    Memory::look().available / 4 * 3
}
