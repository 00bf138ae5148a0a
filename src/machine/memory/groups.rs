//! The limits of control groups on the memory of this process.
//!
//! Control groups have two versions, 1 and 2. A group's limit also binds every group below it, so all limits
//! between the process's own group and the root count.
//!
//! `/proc/self/cgroup` names the group of the process in each hierarchy: `4:memory:/slurm/job_7` for version 1,
//! `0::/user.slice` for version 2. The hierarchies are mounted in `/sys/fs/cgroup`. Version 1 has a folder there for
//! each controller, or for several controllers that share a hierarchy. Version 2 lies directly there, or in `unified`
//! if both versions are in use. In a container the mount often shows only a part of the tree, and the root of that
//! part is the container's own group. So the code takes the longest end of the group's path that exists below the
//! mount.
//!
//! A missing file sets no limit, so systems other than Linux have none. Where version 1 has no limit, its file holds
//! the number that [`MIN_UNLIMITED`] explains. The functions take the folder that stands for `/`, so that tests can
//! build one.

use std::fs;
use std::path::{Path, PathBuf};

use super::{MemoryLimit, used_here};
use crate::machine::read_number;

/// Where version 1 has no limit, its file holds 2^63 bytes, rounded down to whole pages. No machine has half as much.
const MIN_UNLIMITED: u64 = 1 << 62;

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

/// Returns the limits of control groups, from the process's own group upwards.
pub(super) fn group_limits(root: &Path) -> Vec<MemoryLimit> {
    let lines = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let used_here = used_here(root, "VmRSS:");
    let mut limits = Vec::new();
    for line in lines.lines() {
        limits.extend(limits_of_line(root, line, used_here).unwrap_or_default());
    }
    limits
}

/// Returns the limits of the group that a line of `/proc/self/cgroup` names, and of all groups above it. Returns `None`
/// if its hierarchy does not limit memory, or is not mounted.
fn limits_of_line(root: &Path, line: &str, used_here: u64) -> Option<Vec<MemoryLimit>> {
    let (_number, controllers_and_group) = line.split_once(':')?;
    let (controllers, group) = controllers_and_group.split_once(':')?;
    let (files, places) = if controllers.is_empty() {
        (VERSION_2, ["unified", ""])
    } else if controllers.split(',').any(|name| name == "memory") {
        (VERSION_1, ["memory", controllers])
    } else {
        return None;
    };
    let mounts = root.join("sys/fs/cgroup");
    let top = places.map(|place| mounts.join(place)).into_iter().find(|top| top.is_dir())?;
    // A group outside the namespace is not below the mount.
    let below_top = if group.starts_with("/..") { "" } else { group.trim_start_matches('/') };
    let nearest = longest_existing_end(&top, below_top)?;
    let mut limits = Vec::new();
    for folder in nearest.ancestors().take_while(|folder| folder.starts_with(&top)) {
        limits.extend(files.limits_in(folder, used_here));
    }
    Some(limits)
}

/// Finds the longest end of a group's path that exists below the top of its hierarchy: of `a/b/c` one of `a/b/c`,
/// `b/c`, `c` and the top itself.
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
    /// Returns the limits that the control group with this folder sets.
    fn limits_in(&self, folder: &Path, used_here: u64) -> Vec<MemoryLimit> {
        // File pages that the operating system can drop at once do not count as used.
        let inactive = read_number(&folder.join("memory.stat"), self.inactive).unwrap_or(0);
        let in_use = read_number(&folder.join(self.used), "").unwrap_or(0);
        let used = in_use.saturating_sub(inactive);
        let mut limits = Vec::new();
        for name in self.limits {
            let file = folder.join(name);
            if let Some(total) = read_number(&file, "")
                && total < MIN_UNLIMITED
            {
                limits.push(MemoryLimit::new(file.display().to_string(), total, used, used_here));
            }
        }
        limits
    }
}
