//! The control groups of this process.
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
//! Systems other than Linux have none of these files. The functions take the folder that stands for `/`, so that tests
//! can build one.

use std::fs;
use std::path::{Path, PathBuf};

/// A control group that binds this process.
pub(crate) struct Group {
    pub(crate) folder: PathBuf,
    pub(crate) version: Version,
    /// Whether the process is in this group, and not only in a group below it.
    pub(crate) is_own: bool,
}

/// The version of a hierarchy of control groups. Its groups have other files.
#[derive(Clone, Copy)]
pub(crate) enum Version {
    One,
    Two,
}

/// Returns the groups that bind this process in the hierarchies that may have a controller, such as `memory` or `pids`:
/// in each hierarchy from the process's own group upwards.
pub(crate) fn groups_of_process(root: &Path, controller: &str) -> Vec<Group> {
    let lines = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut groups = Vec::new();
    for line in lines.lines() {
        groups.extend(groups_of_line(root, line, controller).unwrap_or_default());
    }
    groups
}

/// Returns the group that a line of `/proc/self/cgroup` names, and all groups above it. Returns `None` if its hierarchy
/// does not have the controller, or is not mounted.
fn groups_of_line(root: &Path, line: &str, controller: &str) -> Option<Vec<Group>> {
    let (_number, controllers_and_group) = line.split_once(':')?;
    let (controllers, group) = controllers_and_group.split_once(':')?;
    let (version, places) = if controllers.is_empty() {
        (Version::Two, ["unified", ""])
    } else if controllers.split(',').any(|name| name == controller) {
        (Version::One, [controller, controllers])
    } else {
        return None;
    };
    let mounts = root.join("sys/fs/cgroup");
    let top = places.map(|place| mounts.join(place)).into_iter().find(|top| top.is_dir())?;
    // A group outside the namespace is not below the mount.
    let is_below_mount = !group.starts_with("/..");
    let below_top = if is_below_mount { group.trim_start_matches('/') } else { "" };
    let nearest = longest_existing_end(&top, below_top)?;
    let mut groups = Vec::new();
    for folder in nearest.ancestors().take_while(|folder| folder.starts_with(&top)) {
        let is_own = is_below_mount && folder == nearest;
        groups.push(Group { folder: folder.to_owned(), version, is_own });
    }
    Some(groups)
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
