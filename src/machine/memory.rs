//! How much memory is available, and how much of it a count may use.
//!
//! **What limits a process.** Besides the machine: its control group and all groups above it
//! (containers, Slurm, systemd), where a process that uses more is killed, and the limits of the
//! process (`ulimit -v` and `-d`, `h_vmem` of Grid Engine), where an allocation fails.
//! [`Memory::detect`] finds the limit that leaves the least. The limits of the process count what is reserved,
//! used or not: for these, a thread needs more than for the others.

use std::env;
use std::fmt::Display;
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
    /// Returns the limit that leaves the least. No limit leaves more than the machine has. If the system does not
    /// report its memory, as Linux without `/proc`, and nothing else is a limit, all numbers are 0.
    pub fn detect() -> Self {
        let least = Self::limits().into_iter().min_by_key(|limit| limit.available);
        least.unwrap_or_else(|| Self::limited(0, 0, "nothing"))
    }

    /// Returns the bytes that a count may use: three quarters of what is available. The rest is for the program
    /// itself, and others.
    pub fn usable(&self) -> u64 {
        self.available / 4 * 3
    }

    /// Asks the operating system for all limits, the machine first. What is not reported is no limit.
    pub(crate) fn limits() -> Vec<Self> {
        let ram = MemoryRefreshKind::nothing().with_ram();
        let system = System::new_with_specifics(RefreshKind::nothing().with_memory(ram));
        let total = system.total_memory();
        let mut machine =
            Self::limited(total, total.saturating_sub(system.available_memory()), "this machine");
        if let Some(given) = env::var(GIVEN).ok().filter(|text| !text.is_empty()) {
            machine = Self { available: bytes(&given), limit: GIVEN.to_owned(), ..machine };
        }
        let machine = Some(machine).filter(|machine| machine.total > 0);
        let groups = cgroup::limits(Path::new("/"));
        let process = [
            process_limit(Resource::As, "VmSize:", "ulimit -v"),
            process_limit(Resource::Data, "VmData:", "ulimit -d"),
        ];
        machine.into_iter().chain(groups).chain(process.into_iter().flatten()).collect()
    }

    /// A limit of this many bytes, some of which are used.
    pub(super) fn limited(total: u64, used: u64, limit: impl Display) -> Self {
        let available = total.saturating_sub(used);
        Self { total, available, limit: limit.to_string(), counts_reserved: false }
    }
}

/// Bytes, written as `68719476736` or `64G`. What is not understood is no memory: the error names the variable.
fn bytes(text: &str) -> u64 {
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let found = units.into_iter().find_map(|(unit, bits)| Some((text.strip_suffix(unit)?, bits)));
    let (number, bits) = found.unwrap_or((text, 0));
    number.parse().ok().and_then(|number: u64| number.checked_mul(1 << bits)).unwrap_or(0)
}

/// Returns a limit of this process alone, if it is set.
fn process_limit(resource: Resource, used: &str, limit: &str) -> Option<Memory> {
    let total = getrlimit(resource).current?;
    let kibibytes = cgroup::number_in(Path::new("/proc/self/status"), used).unwrap_or(0);
    Some(Memory { counts_reserved: true, ..Memory::limited(total, kibibytes << 10, limit) })
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
