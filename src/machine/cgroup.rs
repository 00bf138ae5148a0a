//! The limits that control groups, version 1 or 2, set for the memory and the cores of this process.
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
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// The bytes of memory that a group and all groups below it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupLimit {
    /// The file that sets the limit.
    pub(crate) file: PathBuf,
    pub(crate) limit: u64,
    pub(crate) left: u64,
}

/// The two interfaces of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The limits on memory, from the process's own group upwards. File pages that the operating system can
/// drop at once do not count as used.
pub(crate) fn memory(root: &Path) -> Vec<GroupLimit> {
    let limits = groups(root, "memory").into_iter().flat_map(|(version, folder)| {
        let (limits, usage, inactive): (&[&str], _, _) = match version {
            Version::One => {
                (&["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_inactive_file")
            }
            // Above `memory.high` processes are not killed, but slowed to a crawl.
            Version::Two => (&["memory.max", "memory.high"], "memory.current", "inactive_file"),
        };
        let reclaimable = field(&folder.join("memory.stat"), inactive).unwrap_or(0);
        let used = number(&folder.join(usage)).unwrap_or(0).saturating_sub(reclaimable);
        limits.iter().filter_map(move |name| {
            let file = folder.join(name);
            let limit = number(&file).filter(|limit| *limit < UNLIMITED)?;
            Some(GroupLimit { file, limit, left: limit.saturating_sub(used) })
        })
    });
    limits.collect()
}

/// The cores that quotas of CPU time leave to the group, a part of one counted as one. `None` without a quota.
pub(crate) fn cores(root: &Path) -> Option<usize> {
    let quotas = groups(root, "cpu").into_iter().filter_map(|(version, folder)| {
        let read = |name| fs::read_to_string(folder.join(name)).ok();
        let text = match version {
            Version::One => read("cpu.cfs_quota_us")? + &read("cpu.cfs_period_us")?,
            Version::Two => read("cpu.max")?,
        };
        // Without a quota the first word is `-1` or `max`.
        let mut numbers = text.split_whitespace().map(|word| word.parse::<NonZeroUsize>().ok());
        let (quota, period) = (numbers.next()??, numbers.next()??);
        Some(quota.get().div_ceil(period.get()))
    });
    quotas.min()
}

/// Without a limit, version 1 writes the largest number of whole pages.
const UNLIMITED: u64 = 1 << 62;

/// A file that holds one number; `None` if it holds `max`.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// A number in a file of lines `NAME NUMBER`, with or without a unit behind it.
pub(crate) fn field(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let mut lines = text.lines().map(str::split_whitespace);
    lines
        .find_map(|mut words| words.next().filter(|word| *word == name).and(words.next()))?
        .parse()
        .ok()
}

/// The folders of the process's groups in the hierarchies that may have the controller that is wanted, each from the
/// process's own group up to the root of the mount.
fn groups(root: &Path, wanted: &str) -> Vec<(Version, PathBuf)> {
    let own = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mounts = root.join("sys/fs/cgroup");
    let of_hierarchy = |line: &str| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let unified = mounts.join("unified");
        let (version, top) = match controllers {
            "" if unified.is_dir() => (Version::Two, unified),
            "" => (Version::Two, mounts.clone()),
            _ if controllers.split(',').any(|name| name == wanted) => {
                let mut places = [wanted, controllers].map(|name| mounts.join(name)).into_iter();
                (Version::One, places.find(|place| place.is_dir())?)
            }
            _ => return None,
        };
        // A group outside the namespace is not below the mount.
        let group = if group.starts_with("/..") { "" } else { group.trim_start_matches('/') };
        let names: Vec<&str> = group.split('/').collect();
        let mut ends = (0..=names.len()).map(|start| top.join(names[start..].join("/")));
        let folder = ends.find(|folder| folder.is_dir())?;
        let up = folder.ancestors().take_while(|folder| folder.starts_with(&top));
        Some(up.map(|folder| (version, folder.to_owned())).collect::<Vec<_>>())
    };
    own.lines().filter_map(of_hierarchy).flatten().collect()
}
