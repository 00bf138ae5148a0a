//! How much memory is available, and how much of it a count may use.
//!
//! **What limits a process.** Three things: the memory of the machine, control groups, and limits of the process
//! itself. Containers, Slurm and systemd use control groups. A process is killed if it uses more than its own group
//! allows, or any group above it. The limits of the process are `ulimit -v` and `ulimit -d`, or `h_vmem` of Grid
//! Engine. There an allocation fails. [`Memory::detect`] finds the limit that leaves the least.
//!
//! The limits of the process count memory that is reserved, used or not. Under these limits a thread needs more.
//!
//! The limits of control groups are read in [`groups`].

mod groups;

use std::fmt::Display;
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::read_number;
use crate::error::Remedy;
use groups::group_limits;

/// How much memory the machine has available, in place of what the system reports. With ZFS, for example, Linux does not
/// count the cache as available, although it can be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatedMemory {
    pub(crate) bytes: u64,
    /// What messages call this limit: where the user has stated it.
    pub(crate) name: &'static str,
}

/// The memory that this process can use, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// The whole memory, used or not, in bytes.
    pub(crate) total: u64,
    /// The memory that is free or can be freed, in bytes.
    pub(crate) available: u64,
    /// The limit that leaves the least, which sets these numbers: `physical memory`, where the user has stated it, the
    /// path of a file of a control group, `ulimit -v` or `ulimit -d`.
    pub(crate) limit: String,
    /// Whether the limit also counts memory that is reserved and not used, as `ulimit -v` and `ulimit -d` do.
    pub(crate) counts_reserved: bool,
    /// What the limit binds.
    pub(crate) scope: Scope,
}

/// What a limit on memory binds, and so whether it leaves more when other programs give memory back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The machine, which other programs use as well.
    Machine,
    /// The machine as its user describes it, which does not change.
    StatedMachine,
    /// A control group above the process's own one. Programs in other groups below it use its memory as well.
    GroupAbove,
    /// This process alone, or its own control group. What runs in the group belongs to one job, so nobody
    /// else gives memory back.
    Own,
}

impl Memory {
    /// Returns the limit that leaves the least memory. No limit leaves more than the machine has.
    ///
    /// If the system does not report its memory, no limit of the machine applies. Returns `None` if nothing else is a
    /// limit either.
    #[cfg(feature = "cli")]
    pub(crate) fn detect(stated: Option<StatedMemory>) -> Option<Self> {
        Self::limits(stated).into_iter().min_by_key(|limit| limit.available)
    }

    /// Returns the bytes that a count may use: three quarters of what is available. The rest is for the program
    /// itself and for other programs.
    pub(crate) fn usable(&self) -> u64 {
        self.available / 4 * 3
    }

    /// Returns what gives a count the memory that it lacks under this limit.
    pub(crate) fn remedy(&self, needed: u64) -> Remedy {
        let most = match self.scope {
            Scope::Machine | Scope::GroupAbove => self.total,
            Scope::StatedMachine | Scope::Own => self.available,
        };
        if needed <= most / 4 * 3 {
            return Remedy::Waiting;
        }
        match self.scope {
            Scope::GroupAbove | Scope::Own => Remedy::HigherLimit,
            Scope::Machine | Scope::StatedMachine => Remedy::LargerMachine,
        }
    }

    /// Asks the operating system for all limits, the machine first. What the system does not report is no limit.
    pub(crate) fn limits(stated: Option<StatedMemory>) -> Vec<Self> {
        let ram = MemoryRefreshKind::nothing().with_ram();
        let system = System::new_with_specifics(RefreshKind::nothing().with_memory(ram));
        let total = system.total_memory();
        let used = total.saturating_sub(system.available_memory());
        let mut machine = Self::limited(total, used, "physical memory", Scope::Machine);
        if let Some(stated) = stated {
            // The machine has at least as much as its user states, also where the system reports nothing.
            machine.total = machine.total.max(stated.bytes);
            machine.available = stated.bytes;
            machine.limit = stated.name.to_owned();
            machine.scope = Scope::StatedMachine;
        }
        let mut limits = Vec::new();
        if machine.total > 0 {
            limits.push(machine);
        }
        limits.extend(group_limits(Path::new("/")));
        limits.extend(process_limits());
        limits
    }

    /// Makes a limit of `total` bytes, of which `used` are in use.
    fn limited(total: u64, used: u64, limit: impl Display, scope: Scope) -> Self {
        let available = total.saturating_sub(used);
        Self { total, available, limit: limit.to_string(), counts_reserved: false, scope }
    }
}

/// Returns the limits of this process alone.
pub(crate) fn process_limits() -> Vec<Memory> {
    let mut limits = Vec::new();
    limits.extend(process_limit(Resource::As, "VmSize:", "ulimit -v"));
    limits.extend(process_limit(Resource::Data, "VmData:", "ulimit -d"));
    limits
}

/// Returns a limit of this process alone, if it is set.
fn process_limit(resource: Resource, used: &str, limit: &str) -> Option<Memory> {
    let total = getrlimit(resource).current?;
    let kibibytes = read_number(Path::new("/proc/self/status"), used).unwrap_or(0);
    let limited = Memory::limited(total, kibibytes << 10, limit, Scope::Own);
    Some(Memory { counts_reserved: true, ..limited })
}

#[cfg(test)]
mod tests;
