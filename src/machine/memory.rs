//! How much memory is available, and how much of it a count may use.
//!
//! **What limits a process.** Three things: the memory of the machine, control groups, and limits of the process
//! itself. Containers, Slurm and systemd use control groups. A process is killed if it uses more than its own group
//! allows, or any group above it. The limits of the process are `ulimit -v` and `ulimit -d`, or `h_vmem` of Grid
//! Engine. There an allocation fails. [`Memory::detect`] finds the limit that leaves the least.
//!
//! The limits of the process count memory that is reserved, used or not. Under these limits a thread needs more.
//!
//! **Control groups** have two versions, 1 and 2. A group's limit also binds every group below it, so all limits
//! between the process's own group and the root count.
//!
//! `/proc/self/cgroup` names the group of the process in each hierarchy: `4:memory:/slurm/job_7` for version 1,
//! `0::/user.slice` for version 2. The hierarchies are mounted in `/sys/fs/cgroup`. Version 1 has a folder there for
//! each controller, or for several controllers that share a hierarchy. Version 2 lies directly there, or in `unified`
//! if both versions are in use. In a container the mount often shows only a part of the tree, and the root of that
//! part is the container's own group. So the code takes the longest end of the group's path that exists below the
//! mount.
//!
//! A missing file sets no limit. Where version 1 has no limit, its file holds a number that is larger than any
//! machine. Systems other than Linux have none of these files. The functions take the folder that stands for `/`, so
//! that tests can build one.

use std::env;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use parse_size::Config;
use rustix::process::{Resource, getrlimit};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::error::Error;

/// The environment variable with which users state the available memory where the system reports too little. With
/// ZFS, for example, Linux does not count the cache as available, although it can be freed.
const VARIABLE: &str = "NQUEENS_MEMORY";
/// The smallest amount of memory that the variable can state. A smaller number lacks its unit, because nobody who
/// writes 64 means 64 bytes.
const MIN_STATED_BYTES: u64 = 1 << 20;

/// The memory that this process can use, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The whole memory, used or not, in bytes.
    pub total: u64,
    /// The memory that is free or can be freed, in bytes.
    pub available: u64,
    /// The limit that leaves the least, which sets these numbers: `physical memory`, `NQUEENS_MEMORY`, the path of a
    /// file of a control group, `ulimit -v`, `ulimit -d`, or `nothing` if no limit is known.
    pub limit: String,
    /// Whether the limit also counts memory that is reserved and not used, as `ulimit -v` and `ulimit -d` do.
    pub counts_reserved: bool,
}

impl Memory {
    /// Returns the limit that leaves the least memory. No limit leaves more than the machine has.
    ///
    /// The environment variable `NQUEENS_MEMORY` replaces what the machine has available. It is a number of bytes, or
    /// a size such as `64G`, `64GB`, `64 GiB` or `1.5T`. All units are powers of 1024. An empty variable is ignored.
    ///
    /// If the system does not report its memory, no limit of the machine applies. If nothing else is a limit either,
    /// all numbers are 0.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if `NQUEENS_MEMORY` is no such size, or less than 1 MiB.
    pub fn detect() -> Result<Self, Error> {
        let least = Self::limits()?.into_iter().min_by_key(|limit| limit.available);
        Ok(least.unwrap_or_else(|| Self::limited(0, 0, "nothing")))
    }

    /// Returns the bytes that a count may use: three quarters of what is available. The rest is for the program
    /// itself and for other programs.
    pub fn usable(&self) -> u64 {
        self.available / 4 * 3
    }

    /// Returns the bytes that a count might use if all other programs gave their memory back. The variable
    /// `NQUEENS_MEMORY` always leaves the same.
    pub(crate) fn most(&self) -> u64 {
        let most = if self.limit == VARIABLE { self.available } else { self.total };
        most / 4 * 3
    }

    /// Asks the operating system for all limits, the machine first. What the system does not report is no limit.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if `NQUEENS_MEMORY` cannot be read.
    pub(crate) fn limits() -> Result<Vec<Self>, Error> {
        let ram = MemoryRefreshKind::nothing().with_ram();
        let system = System::new_with_specifics(RefreshKind::nothing().with_memory(ram));
        let total = system.total_memory();
        let used = total.saturating_sub(system.available_memory());
        let mut machine = Self::limited(total, used, "physical memory");
        let stated = env::var_os(VARIABLE).unwrap_or_default();
        if !stated.is_empty() {
            machine.available = parse_bytes(&stated)?;
            machine.limit = VARIABLE.to_owned();
        }
        let mut limits = Vec::new();
        if machine.total > 0 {
            limits.push(machine);
        }
        limits.extend(group_limits(Path::new("/")));
        limits.extend(process_limit(Resource::As, "VmSize:", "ulimit -v"));
        limits.extend(process_limit(Resource::Data, "VmData:", "ulimit -d"));
        Ok(limits)
    }

    /// Makes a limit of `total` bytes, of which `used` are in use.
    fn limited(total: u64, used: u64, limit: impl Display) -> Self {
        let available = total.saturating_sub(used);
        Self { total, available, limit: limit.to_string(), counts_reserved: false }
    }
}

/// Reads a number of bytes, `68719476736` or `64G`. All units are powers of 1024, because memory is sold in them, and
/// because Slurm reads its own sizes in them.
fn parse_bytes(stated: &OsStr) -> Result<u64, Error> {
    let text = stated.to_string_lossy();
    // The crate skips all spaces, but `6 4G` is a slip.
    let is_one_number =
        text.split_whitespace().skip(1).all(|word| !word.contains(char::is_numeric));
    // Bytes that are no text have become a character that no size contains, so they are refused, too.
    match Config::new().with_binary().parse_size(text.trim()) {
        Ok(bytes) if bytes >= MIN_STATED_BYTES && is_one_number => Ok(bytes),
        _ => {
            let advice = "set it to a size such as 64G or 1.5T, or unset it";
            Err(Error::invalid("an amount of memory for NQUEENS_MEMORY", text, advice))
        }
    }
}

/// Returns a limit of this process alone, if it is set.
fn process_limit(resource: Resource, used: &str, limit: &str) -> Option<Memory> {
    let total = getrlimit(resource).current?;
    let kibibytes = read_number(Path::new("/proc/self/status"), used).unwrap_or(0);
    Some(Memory { counts_reserved: true, ..Memory::limited(total, kibibytes << 10, limit) })
}

/// Returns the limits of control groups, from the process's own group upwards.
fn group_limits(root: &Path) -> Vec<Memory> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut limits = Vec::new();
    for line in groups.lines() {
        if let Some(group) = OwnGroup::find(root, line) {
            limits.extend(group.limits());
        }
    }
    limits
}

/// The process's own group in a hierarchy of control groups that controls memory.
struct OwnGroup {
    /// The folder of the group.
    folder: PathBuf,
    /// The folder of the topmost group of the hierarchy.
    top: PathBuf,
    files: &'static GroupFiles,
}

impl OwnGroup {
    /// Finds the group that a line of `/proc/self/cgroup` names. Returns `None` if its hierarchy does not control memory,
    /// or is not mounted.
    fn find(root: &Path, line: &str) -> Option<Self> {
        let (_number, controllers_and_group) = line.split_once(':')?;
        let (controllers, group) = controllers_and_group.split_once(':')?;
        let (files, places) = if controllers.is_empty() {
            (&VERSION_2, ["unified", ""])
        } else if controllers.split(',').any(|name| name == "memory") {
            (&VERSION_1, ["memory", controllers])
        } else {
            return None;
        };
        let mounts = root.join("sys/fs/cgroup");
        let top = places.map(|place| mounts.join(place)).into_iter().find(|top| top.is_dir())?;
        // A group outside the namespace is not below the mount.
        let below_top = if group.starts_with("/..") { "" } else { group.trim_start_matches('/') };
        let folder = longest_existing_end(&top, below_top)?;
        Some(Self { folder, top, files })
    }

    /// Returns the limits of the group and of all groups above it.
    fn limits(&self) -> Vec<Memory> {
        let mut limits = Vec::new();
        for folder in self.folder.ancestors().take_while(|folder| folder.starts_with(&self.top)) {
            limits.extend(self.files.limits_of(folder));
        }
        limits
    }
}

/// The names of the files that describe the memory of a control group.
struct GroupFiles {
    limits: &'static [&'static str],
    used: &'static str,
    /// The name of a number in `memory.stat`: the bytes of file pages that the operating system can drop at once.
    inactive: &'static str,
}

/// The files of groups of version 1.
const VERSION_1: GroupFiles = GroupFiles {
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    inactive: "total_inactive_file",
};

/// The files of groups of version 2.
const VERSION_2: GroupFiles = GroupFiles {
    // Above `memory.high` processes are not killed, but slowed to a crawl.
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    inactive: "inactive_file",
};

/// Finds the longest end of a group's path that exists below the top of its hierarchy: of `a/b/c` one of `a/b/c`, `b/c`,
/// `c` and the top itself.
fn longest_existing_end(top: &Path, group: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = group.split('/').collect();
    for start in 0..=parts.len() {
        let folder = top.join(parts[start..].join("/"));
        if folder.is_dir() {
            return Some(folder);
        }
    }
    None
}

impl GroupFiles {
    /// Returns the limits that the control group in this folder sets.
    fn limits_of(&self, folder: &Path) -> Vec<Memory> {
        // File pages that the operating system can drop at once do not count as used.
        let inactive = read_number(&folder.join("memory.stat"), self.inactive).unwrap_or(0);
        let in_use = read_number(&folder.join(self.used), "").unwrap_or(0);
        let used = in_use.saturating_sub(inactive);
        let mut limits = Vec::new();
        for name in self.limits {
            let file = folder.join(name);
            if let Some(total) = read_number(&file, "") {
                limits.push(Memory::limited(total, used, file.display()));
            }
        }
        limits
    }
}

/// Reads the number that follows a name at the beginning of a line. With an empty name, reads the number on the first
/// line. Returns `None` for `max` or if there is no number.
fn read_number(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests;
