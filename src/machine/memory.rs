//! How much memory is available, and how much of it a count may use.
//!
//! **What limits a process.** Besides the machine: its control group and all groups above it
//! (containers, Slurm, systemd), where a process that uses more is killed, and the limits of the
//! process (`ulimit -v` and `-d`, `h_vmem` of Grid Engine), where an allocation fails.
//! [`Memory::detect`] finds the limit that leaves the least.

use std::path::Path;

use rustix::process::{Resource, getrlimit};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::machine::cgroup;

/// Bytes of memory that this process can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All memory, used or not.
    pub total: u64,
    /// Memory that is free or can be freed.
    pub available: u64,
    /// What sets these numbers, the limit that leaves the least: `this machine`, the file of a control
    /// group, or the limits of a process, `ulimit -v` and `ulimit -d`.
    pub limit: String,
}

impl Memory {
    /// Asks the operating system.
    pub fn detect() -> Self {
        let ram = MemoryRefreshKind::nothing().with_ram();
        let system = System::new_with_specifics(RefreshKind::nothing().with_memory(ram));
        let (total, available) = (system.total_memory(), system.available_memory());
        let machine = Self { total, available, limit: "this machine".to_owned() };
        let groups = cgroup::memory(Path::new("/")).into_iter().map(|group| Self {
            total: group.limit,
            available: group.left(),
            limit: group.file.display().to_string(),
        });
        Self::tightest(machine, groups.chain(process_limits()))
    }

    /// The one that leaves the least. No limit leaves more than the machine has.
    fn tightest(machine: Self, limits: impl Iterator<Item = Self>) -> Self {
        let least = limits.min_by_key(|limit| limit.available);
        least.filter(|least| least.available < machine.available).unwrap_or(machine)
    }
}

/// The limits of this process alone, if they are set.
fn process_limits() -> Vec<Memory> {
    let status = Path::new("/proc/self/status");
    let kinds = [(Resource::As, "VmSize:", "ulimit -v"), (Resource::Data, "VmData:", "ulimit -d")];
    let limits = kinds.into_iter().filter_map(|(resource, used, limit)| {
        let total = getrlimit(resource).current?;
        let kibibytes = cgroup::field(status, used).unwrap_or(0);
        let available = total.saturating_sub(kibibytes << 10);
        Some(Memory { total, available, limit: limit.to_owned() })
    });
    limits.collect()
}

/// The bytes that a count may use: three quarters of what is available. The rest is for the program itself,
/// the stacks of its threads, and others.
#[doc(hidden)]
pub fn usable() -> u64 {
    Memory::detect().available / 4 * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_leaves_the_least_applies() {
        let memory = |total, available, limit: &str| {
            let limit = limit.to_owned();
            Memory { total, available, limit }
        };
        let machine = memory(100, 80, "this machine");
        let roomy = memory(1000, 900, "ulimit -d");
        let full = memory(90, 10, "ulimit -v");
        let tightest =
            |limits: &[Memory]| Memory::tightest(machine.clone(), limits.iter().cloned());
        assert_eq!(tightest(&[]), machine);
        assert_eq!(tightest(std::slice::from_ref(&roomy)), machine);
        assert_eq!(tightest(&[roomy, full.clone()]), full);
    }

    #[test]
    fn this_machine_has_memory() {
        let memory = Memory::detect();
        assert!(memory.available > 0 && memory.available <= memory.total, "{memory:?}");
    }
}
