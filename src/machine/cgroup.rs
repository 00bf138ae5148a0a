//! The limits that control groups, version 1 or 2, set for the memory of this process.
//!
//! A group's limit also binds every group below it. So the limit that applies is the tightest one
//! between the process's own group and the root.
//!
//! `/proc/self/cgroup` names the group in each hierarchy: `4:memory:/slurm/job_7` for version 1,
//! `0::/user.slice` for version 2. They are mounted in `/sys/fs/cgroup`: version 1 in a folder for each
//! controller (or for those that share a hierarchy), version 2 there, or in `unified` if both are in use.
//! In a container the mount often shows only a part of the tree, of which the container's own group is
//! the root. So the longest end of the group's path that exists below the mount is taken.
//!
//! A missing file sets no limit. Systems other than Linux have none of these files.
//!
//! All functions take the folder that stands for `/`, so that tests can build one.

use std::fs;
use std::path::Path;

use super::memory::Memory;

#[cfg(test)]
mod tests;

/// What version 1 writes without a limit: the largest number of whole pages, which is above this.
const UNLIMITED: u64 = 1 << 62;

/// The names of one version of the interface: the files with limits, with what is used, and the part of `memory.stat`
/// that the operating system can drop at once.
struct Names {
    limits: &'static [&'static str],
    used: &'static str,
    inactive: &'static str,
}

const VERSION_1: Names = Names {
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    inactive: "total_inactive_file",
};
/// Above `memory.high` processes are not killed, but slowed to a crawl.
const VERSION_2: Names = Names {
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    inactive: "inactive_file",
};

/// Returns the limits on memory, from the process's own group upwards.
pub(crate) fn limits(root: &Path) -> Vec<Memory> {
    let own = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    own.lines().filter_map(|line| of_hierarchy(root, line)).flatten().collect()
}

/// Returns the limits in the hierarchy of a line of `/proc/self/cgroup`, if it is one for memory.
fn of_hierarchy(root: &Path, line: &str) -> Option<Vec<Memory>> {
    let mounts = root.join("sys/fs/cgroup");
    let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
    let (names, places) = match controllers {
        "" => (&VERSION_2, ["unified", ""]),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (&VERSION_1, ["memory", controllers])
        }
        _ => return None,
    };
    let top = places.map(|place| mounts.join(place)).into_iter().find(|top| top.is_dir())?;
    // A group outside the namespace is not below the mount.
    let group = if group.starts_with("/..") { "" } else { group.trim_start_matches('/') };
    let parts: Vec<&str> = group.split('/').collect();
    let mut ends = (0..=parts.len()).map(|start| top.join(parts[start..].join("/")));
    let folder = ends.find(|folder| folder.is_dir())?;
    let groups = folder.ancestors().take_while(|folder| folder.starts_with(&top));
    Some(groups.flat_map(|group| of_group(group, names)).collect())
}

/// Returns the limits that one group sets. File pages that the operating system can drop at once do not count as used.
fn of_group(group: &Path, names: &Names) -> Vec<Memory> {
    let inactive = number_in(&group.join("memory.stat"), names.inactive).unwrap_or(0);
    let used = number(&group.join(names.used)).unwrap_or(0).saturating_sub(inactive);
    let limits = names.limits.iter().filter_map(|name| {
        let file = group.join(name);
        let total = number(&file).filter(|limit| *limit < UNLIMITED)?;
        Some(Memory::limited(total, used, file.display()))
    });
    limits.collect()
}

/// Reads a file that holds one number; `None` if it holds `max`.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Reads a number in a file of lines `NAME NUMBER`, with or without a unit behind it.
pub(crate) fn number_in(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let mut lines = text.lines().map(str::split_whitespace);
    lines
        .find_map(|mut words| words.next().filter(|word| *word == name).and(words.next()))?
        .parse()
        .ok()
}
