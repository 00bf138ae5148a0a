//! How much memory is available, and how much of it a count may use.
//!
//! **What limits a process.** The memory of the machine, which is the least that anybody has. With
//! `vm.overcommit_memory` = 2, Linux also limits what all programs together reserve. Containers, Slurm and systemd set
//! limits on control groups, which [`groups`] reads. The limits of the process itself are `ulimit -v` and `ulimit -d`,
//! or `h_vmem` of Grid Engine. A process that uses more than its machine or a control group allows is killed. Beyond
//! the other limits an allocation fails, which ends the process as well.

mod groups;

use std::path::Path;

use rustix::process::{Resource, getrlimit};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::read_number;
use groups::group_limits;

/// How much memory the machine has available, in place of what the system reports. With ZFS, for example, Linux does
/// not count the cache as available, although it can be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatedMemory {
    pub(crate) bytes: u64,
    /// What messages call this limit: where the user has stated it.
    pub(crate) name: &'static str,
}

/// A limit on the memory of this process, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryLimit {
    /// What messages call the limit: `physical memory`, where the user has stated it, the path of a file of a control
    /// group, `ulimit -v` or `ulimit -d`, or [`COMMIT_LIMIT`].
    pub(crate) name: String,
    /// The whole memory, used or not.
    pub(crate) total: u64,
    /// The memory that is free or can be freed.
    pub(crate) available: u64,
    /// The memory that would be available if other processes used none.
    pub(crate) without_others: u64,
    /// Whether memory that is reserved and not used counts as well, such as the stacks of threads.
    pub(crate) counts_reserved: bool,
}

/// What messages call the limit of `vm.overcommit_memory` = 2.
const COMMIT_LIMIT: &str = "CommitLimit (vm.overcommit_memory = 2)";

impl MemoryLimit {
    /// Returns the limit that leaves the least memory.
    ///
    /// Returns `None` if the system reports neither its memory nor any other limit.
    pub(crate) fn smallest(stated: Option<StatedMemory>) -> Option<Self> {
        Self::all(stated).into_iter().min_by_key(|limit| limit.available)
    }

    /// Returns the bytes that a count may use.
    pub(crate) fn usable(&self) -> u64 {
        three_quarters(self.available)
    }

    /// Returns whether these bytes could be used if other processes used no memory.
    pub(crate) fn fits_without_others(&self, bytes: u64) -> bool {
        bytes <= three_quarters(self.without_others)
    }

    /// Returns all limits. What the system does not report is no limit.
    pub(crate) fn all(stated: Option<StatedMemory>) -> Vec<Self> {
        let root = Path::new("/");
        let mut limits = Self::of_process();
        limits.extend(machine_limit(root, stated));
        limits.extend(commit_limit(root));
        limits.extend(group_limits(root));
        limits
    }

    /// Returns the limits of this process alone.
    pub(crate) fn of_process() -> Vec<Self> {
        let mut limits = Vec::new();
        limits.extend(process_limit(Resource::As, "VmSize:", "ulimit -v"));
        limits.extend(process_limit(Resource::Data, "VmData:", "ulimit -d"));
        limits
    }

    /// Makes a limit under which `used` bytes are in use, `used_here` of them by this process.
    fn new(name: impl Into<String>, total: u64, used: u64, used_here: u64) -> Self {
        Self {
            name: name.into(),
            total,
            available: total.saturating_sub(used),
            without_others: total.saturating_sub(used_here),
            counts_reserved: false,
        }
    }
}

/// Returns the part of the available memory that a count may use. The rest is for the program itself and for other
/// programs.
fn three_quarters(bytes: u64) -> u64 {
    bytes / 4 * 3
}

/// Returns the memory of the machine, as its user has stated it or as the system reports it.
fn machine_limit(root: &Path, stated: Option<StatedMemory>) -> Option<MemoryLimit> {
    if let Some(StatedMemory { bytes, name }) = stated {
        return Some(MemoryLimit::new(name, bytes, 0, 0));
    }
    let ram = MemoryRefreshKind::nothing().with_ram();
    let system = System::new_with_specifics(RefreshKind::nothing().with_memory(ram));
    let total = system.total_memory();
    if total == 0 {
        return None;
    }
    let used = total.saturating_sub(system.available_memory());
    Some(MemoryLimit::new("physical memory", total, used, used_here(root, "VmRSS:")))
}

/// Returns the limit on what all programs together reserve, if there is one.
fn commit_limit(root: &Path) -> Option<MemoryLimit> {
    let mode = read_number(&root.join("proc/sys/vm/overcommit_memory"), "")?;
    if mode != 2 {
        return None;
    }
    let meminfo = root.join("proc/meminfo");
    let total = read_number(&meminfo, "CommitLimit:")? << 10;
    let used = read_number(&meminfo, "Committed_AS:")? << 10;
    let limit = MemoryLimit::new(COMMIT_LIMIT, total, used, used_here(root, "VmData:"));
    Some(MemoryLimit { counts_reserved: true, ..limit })
}

/// Returns a limit of this process alone, if it is set.
fn process_limit(resource: Resource, field: &str, name: &str) -> Option<MemoryLimit> {
    let total = getrlimit(resource).current?;
    let used = used_here(Path::new("/"), field);
    Some(MemoryLimit { counts_reserved: true, ..MemoryLimit::new(name, total, used, used) })
}

/// Returns the bytes that this process uses, as a field of its status counts them.
fn used_here(root: &Path, field: &str) -> u64 {
    read_number(&root.join("proc/self/status"), field).unwrap_or(0) << 10
}

#[cfg(test)]
mod tests;
