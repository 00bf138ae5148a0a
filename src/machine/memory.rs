//! How much memory is available, and how much of it a count may use.
//!
//! **What limits a process.** Besides the machine: its control group and all groups above it
//! (containers, Slurm, systemd), where a process that uses more is killed, and the limits of the
//! process (`ulimit -v` and `-d`, `h_vmem` of Grid Engine), where an allocation fails.
//! [`Memory::detect`] finds the limit that leaves the least. The limits of the process count what is reserved,
//! used or not: for these, a thread needs more than for the others.

use std::env;
use std::iter::once;
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::cgroup;

/// The variable with which a user says how much memory is available, where the system reports too little: with ZFS,
/// Linux does not count the cache, although it can be freed.
const GIVEN: &str = "NQUEENS_MEMORY";

/// Bytes of memory that this process can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All memory, used or not.
    pub total: u64,
    /// Memory that is free or can be freed.
    pub available: u64,
    /// What sets these numbers, the limit that leaves the least: `this machine`, `NQUEENS_MEMORY`, the file of a control
    /// group, or the limits of a process, `ulimit -v` and `ulimit -d`; else `nothing`.
    pub limit: String,
    /// Whether memory that is reserved and not used counts as well: `ulimit -v` and `ulimit -d`.
    pub counts_reserved: bool,
}

impl Memory {
    /// The limit that leaves the least. No limit leaves more than the machine has. If the system does not tell its
    /// memory, as Linux without `/proc`, and nothing else is a limit, all numbers are 0.
    pub fn detect() -> Self {
        let least = Self::limits().into_iter().min_by_key(|limit| limit.available);
        least.unwrap_or_else(|| {
            let limit = "nothing".to_owned();
            Self { total: 0, available: 0, limit, counts_reserved: false }
        })
    }

    /// The bytes that a count may use: three quarters of what is available. The rest is for the program
    /// itself, and others.
    pub fn usable(&self) -> u64 {
        self.available / 4 * 3
    }

    /// Asks the operating system for all limits, the machine first. What is not told is no limit.
    pub(crate) fn limits() -> Vec<Self> {
        let ram = MemoryRefreshKind::nothing().with_ram();
        let system = System::new_with_specifics(RefreshKind::nothing().with_memory(ram));
        let (total, available) = (system.total_memory(), system.available_memory());
        let (available, limit) = match env::var(GIVEN) {
            Ok(text) if !text.is_empty() => (bytes(&text), GIVEN),
            _ => (available, "this machine"),
        };
        let machine = Self { total, available, limit: limit.to_owned(), counts_reserved: false };
        let groups = cgroup::memory(Path::new("/")).into_iter().map(|group| Self {
            total: group.limit,
            available: group.left,
            limit: group.file.display().to_string(),
            counts_reserved: false,
        });
        let machine = once(machine).filter(|machine| machine.total > 0);
        machine.chain(groups).chain(process_limits()).collect()
    }
}

/// Bytes, written as `68719476736` or `64G`. What is not understood is no memory: the error names the variable.
fn bytes(text: &str) -> u64 {
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let found = units.into_iter().find_map(|(unit, bits)| Some((text.strip_suffix(unit)?, bits)));
    let (number, bits) = found.unwrap_or((text, 0));
    number.parse().ok().and_then(|number: u64| number.checked_mul(1 << bits)).unwrap_or(0)
}

/// The limits of this process alone, if they are set.
fn process_limits() -> Vec<Memory> {
    let status = Path::new("/proc/self/status");
    let kinds = [(Resource::As, "VmSize:", "ulimit -v"), (Resource::Data, "VmData:", "ulimit -d")];
    let limits = kinds.into_iter().filter_map(|(resource, used, limit)| {
        let total = getrlimit(resource).current?;
        let kibibytes = cgroup::field(status, used).unwrap_or(0);
        let available = total.saturating_sub(kibibytes << 10);
        Some(Memory { total, available, limit: limit.to_owned(), counts_reserved: true })
    });
    limits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_memory() {
        let memory = Memory::detect();
        assert!(memory.available > 0 && memory.available <= memory.total, "{memory:?}");
    }
}
