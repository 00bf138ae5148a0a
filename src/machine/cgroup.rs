//! The limits that control groups, version 1 or 2, set for this process.
//!
//! A group's limit also binds every group below it. So the limit that applies is the tightest one
//! between the process's own group and the root. Two files show where the groups are:
//!
//! * `/proc/self/cgroup` names the group in each hierarchy: `4:memory:/slurm/job_7` for version 1,
//!   `0::/user.slice` for version 2.
//! * `/proc/self/mountinfo` shows where a hierarchy is mounted, and which of its groups is the root
//!   of that mount. In a container this is often the container's own group, whose path does not
//!   exist below the mount. If a group's folder is not found, the root of the mount is used.
//!
//! On a hybrid machine both versions are mounted, and each controller belongs to one of them. A
//! missing file sets no limit. Systems other than Linux have none of these files.
//!
//! All functions take the folder that stands for `/`, so that tests can build one.

use std::fs;
use std::path::{Component, Path, PathBuf};

#[cfg(test)]
mod tests;

/// How much memory a group may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupMemory {
    /// The file that sets the limit.
    pub(crate) file: PathBuf,
    /// Bytes that the group and all groups below it may use.
    pub(crate) limit: u64,
    /// Bytes left. File pages that the operating system can drop at once do not count as used.
    pub(crate) available: u64,
}

/// How many processes and threads a group may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupTasks {
    /// The file that sets the limit.
    pub(crate) file: PathBuf,
    /// The most processes and threads.
    pub(crate) limit: u64,
    /// How many are running.
    pub(crate) running: u64,
}

/// The two interfaces of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The groups whose memory is limited, from the process's own group upwards.
pub(crate) fn memory(root: &Path) -> Vec<GroupMemory> {
    let mut limited = Vec::new();
    let mut add = |version, folder: &Path, name: &str, limit: Option<u64>| {
        let Some(limit) = limit.filter(|limit| *limit < UNLIMITED) else { return };
        let available = limit.saturating_sub(used_memory(version, folder));
        limited.push(GroupMemory { file: folder.join(name), limit, available });
    };
    let mut hierarchical = None;
    for (version, folder) in groups(root, "memory") {
        match version {
            Version::One => {
                // The process's own group comes first. Its `memory.stat` includes the limits of
                // groups above it that a container cannot see. Without `use_hierarchy` the groups
                // above do not limit those below.
                let own = hierarchical.is_none();
                if own || number(&folder.join("memory.use_hierarchy")) != Some(0) {
                    let name = "memory.limit_in_bytes";
                    add(version, &folder, name, number(&folder.join(name)));
                }
                hierarchical.get_or_insert(folder);
            }
            // Above `memory.high` processes are not killed, but slowed to a crawl.
            Version::Two => ["memory.max", "memory.high"]
                .into_iter()
                .for_each(|name| add(version, &folder, name, number(&folder.join(name)))),
        }
    }
    if let Some(own) = hierarchical {
        let limit = field(&own.join("memory.stat"), "hierarchical_memory_limit");
        add(Version::One, &own, "memory.stat", limit);
    }
    limited
}

/// Without a limit, version 1 writes the largest number of whole pages.
const UNLIMITED: u64 = 1 << 62;

/// Bytes that a group uses and cannot release at once.
fn used_memory(version: Version, folder: &Path) -> u64 {
    let (usage, inactive) = match version {
        Version::One => ("memory.usage_in_bytes", "total_inactive_file"),
        Version::Two => ("memory.current", "inactive_file"),
    };
    let reclaimable = field(&folder.join("memory.stat"), inactive).unwrap_or(0);
    number(&folder.join(usage)).unwrap_or(0).saturating_sub(reclaimable)
}

/// The tightest limit on processes and threads: the one that leaves the fewest.
pub(crate) fn tasks(root: &Path) -> Option<GroupTasks> {
    let limited = groups(root, "pids").into_iter().filter_map(|(_, folder)| {
        let file = folder.join("pids.max");
        let limit = number(&file)?;
        Some(GroupTasks { file, limit, running: number(&folder.join("pids.current")).unwrap_or(0) })
    });
    limited.min_by_key(|tasks| tasks.limit.saturating_sub(tasks.running))
}

/// The tightest CPU quota, in cores.
pub(crate) fn cpu_quota(root: &Path) -> Option<f64> {
    let quotas = groups(root, "cpu").into_iter().filter_map(|(version, folder)| match version {
        Version::One => {
            let quota = fs::read_to_string(folder.join("cpu.cfs_quota_us")).ok()?;
            let period = fs::read_to_string(folder.join("cpu.cfs_period_us")).ok()?;
            parse_quota(&format!("{quota} {period}"))
        }
        Version::Two => parse_quota(&fs::read_to_string(folder.join("cpu.max")).ok()?),
    });
    quotas.min_by(f64::total_cmp)
}

/// `QUOTA PERIOD` in microseconds; `max` or -1 means no quota.
fn parse_quota(text: &str) -> Option<f64> {
    let mut numbers = text.split_whitespace();
    let quota: f64 = numbers.next()?.parse().ok()?;
    let period: f64 = numbers.next()?.parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// A file that holds one number; `None` if it holds `max`.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// A number in a file of lines `NAME NUMBER`.
fn field(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// The folders of the process's groups in the hierarchies that may have this controller, each
/// from the process's own group up to the root of the mount.
fn groups(root: &Path, controller: &str) -> Vec<(Version, PathBuf)> {
    let Ok(own) = fs::read_to_string(root.join("proc/self/cgroup")) else { return Vec::new() };
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
    let mut folders = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let version = match controllers {
            "" => Version::Two,
            _ if controllers.split(',').any(|name| name == controller) => Version::One,
            _ => continue,
        };
        let fits = |mount: &&Mount| match version {
            Version::One => mount.controllers.iter().any(|name| name == controller),
            Version::Two => mount.version == Version::Two,
        };
        // A hierarchy may be mounted more than once, with the group visible in only one mount.
        let places: Vec<(&Mount, PathBuf)> = mounts
            .iter()
            .filter(fits)
            .map(|mount| (mount, mount.folder(root, Path::new(path))))
            .collect();
        let seen = places.iter().find(|(mount, folder)| *folder != mount.place(root));
        let Some((mount, folder)) = seen.or(places.first()) else { continue };
        let top = mount.place(root);
        let up = folder.ancestors().take_while(|folder| folder.starts_with(&top));
        folders.extend(up.map(|folder| (version, folder.to_owned())));
    }
    folders
}

/// A line of `mountinfo` that mounts a hierarchy of groups.
#[derive(Debug)]
struct Mount {
    version: Version,
    /// The mount options. In version 1 they include the controllers of the hierarchy.
    controllers: Vec<String>,
    /// The group that is the root of the mount.
    top: PathBuf,
    /// Where it is mounted.
    point: PathBuf,
}

impl Mount {
    /// `31 23 0:28 TOP POINT OPTIONS [TAGS...] - TYPE SOURCE CONTROLLERS`
    fn parse(line: &str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (top, point) = (unescaped(left.next()?), unescaped(left.next()?));
        let mut right = right.split(' ');
        let version = match right.next()? {
            "cgroup" => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        };
        let options = right.nth(1).unwrap_or_default();
        let controllers = options.split(',').map(str::to_owned).collect();
        Some(Self { version, controllers, top, point })
    }

    /// Where the mount is, below the folder that stands for `/`.
    fn place(&self, root: &Path) -> PathBuf {
        root.join(self.point.strip_prefix("/").unwrap_or(&self.point))
    }

    /// The folder of a group, or that of the mount if the group is not visible in it.
    fn folder(&self, root: &Path, group: &Path) -> PathBuf {
        let place = self.place(root);
        let inside = group.strip_prefix(&self.top).unwrap_or(Path::new(""));
        let plain = inside.components().all(|part| matches!(part, Component::Normal(_)));
        let folder = place.join(inside);
        if plain && folder.is_dir() { folder } else { place }
    }
}

/// Undoes the escapes of `mountinfo`: a space is written as `\040`.
fn unescaped(text: &str) -> PathBuf {
    let plain = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    plain.iter().fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain)).into()
}
