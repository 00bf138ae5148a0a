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
        let stated = env::var_os(VARIABLE).filter(|text| !text.is_empty());
        if let Some(stated) = stated {
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
    // Bytes that are no text have become a character that no size contains, so they are refused, too.
    let size = Config::new().with_binary().parse_size(text.trim());
    // The crate skips all spaces, but `6 4G` is a slip.
    let is_one_number =
        text.split_whitespace().skip(1).all(|word| !word.contains(char::is_numeric));
    match size.ok().filter(|_| is_one_number) {
        Some(bytes) if bytes >= MIN_STATED_BYTES => Ok(bytes),
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
    let own = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    own.lines().filter_map(|line| hierarchy_limits(root, line)).flatten().collect()
}

/// Returns the limits in the hierarchy that a line of `/proc/self/cgroup` names, if the hierarchy controls memory.
fn hierarchy_limits(root: &Path, line: &str) -> Option<Vec<Memory>> {
    let mounts = root.join("sys/fs/cgroup");
    let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
    let (limits, used, inactive, places): (&[&str], _, _, _) = match controllers {
        // Above `memory.high` processes are not killed, but slowed to a crawl.
        "" => (&["memory.max", "memory.high"], "memory.current", "inactive_file", ["unified", ""]),
        _ if controllers.split(',').any(|name| name == "memory") => {
            let limit = &["memory.limit_in_bytes"];
            (limit, "memory.usage_in_bytes", "total_inactive_file", ["memory", controllers])
        }
        _ => return None,
    };
    let top = places.map(|place| mounts.join(place)).into_iter().find(|top| top.is_dir())?;
    // A group outside the namespace is not below the mount.
    let group = if group.starts_with("/..") { "" } else { group.trim_start_matches('/') };
    let parts: Vec<&str> = group.split('/').collect();
    let mut ends = (0..=parts.len()).map(|start| top.join(parts[start..].join("/")));
    let own = ends.find(|folder| folder.is_dir())?;
    let of_group = |group: &Path| {
        // File pages that the operating system can drop at once do not count as used.
        let inactive = read_number(&group.join("memory.stat"), inactive).unwrap_or(0);
        let used = read_number(&group.join(used), "").unwrap_or(0).saturating_sub(inactive);
        let files = limits.iter().map(|name| group.join(name));
        let limited =
            |file: PathBuf| Some(Memory::limited(read_number(&file, "")?, used, file.display()));
        files.filter_map(limited).collect::<Vec<_>>()
    };
    let groups = own.ancestors().take_while(|folder| folder.starts_with(&top));
    Some(groups.flat_map(of_group).collect())
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
