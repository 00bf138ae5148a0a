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

/// What a group and all groups below it may use: bytes of memory, or processes and threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupLimit {
    /// The file that sets the limit.
    pub(crate) file: PathBuf,
    pub(crate) limit: u64,
    pub(crate) used: u64,
}

impl GroupLimit {
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
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
            Some(GroupLimit { file, limit, used })
        })
    });
    limits.collect()
}

/// Without a limit, version 1 writes the largest number of whole pages.
const UNLIMITED: u64 = 1 << 62;

/// The tightest limit on processes and threads: the one that leaves the fewest.
pub(crate) fn tasks(root: &Path) -> Option<GroupLimit> {
    let limits = groups(root, "pids").into_iter().filter_map(|(_, folder)| {
        let (file, used) = (folder.join("pids.max"), number(&folder.join("pids.current")));
        Some(GroupLimit { limit: number(&file)?, file, used: used.unwrap_or(0) })
    });
    limits.min_by_key(GroupLimit::left)
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

/// A number in a file of lines `NAME NUMBER`, with or without a unit behind it.
pub(crate) fn field(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let mut lines = text.lines().map(str::split_whitespace);
    lines
        .find_map(|mut words| words.next().filter(|word| *word == name).and(words.next()))?
        .parse()
        .ok()
}

/// The folders of the process's groups in the hierarchies that may have this controller, each
/// from the process's own group up to the root of the mount.
fn groups(root: &Path, controller: &str) -> Vec<(Version, PathBuf)> {
    let Ok(own) = fs::read_to_string(root.join("proc/self/cgroup")) else { return Vec::new() };
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
    let of_hierarchy = |line: &str| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let version = match controllers {
            "" => Version::Two,
            _ if controllers.split(',').any(|name| name == controller) => Version::One,
            _ => return None,
        };
        let fits = |mount: &&Mount| {
            mount.version == version
                && (version == Version::Two
                    || mount.options.split(',').any(|name| name == controller))
        };
        // A hierarchy may be mounted more than once, with the group visible in only one mount.
        let place = |mount: &Mount| (mount.place(root), mount.folder(root, Path::new(group)));
        let places: Vec<(PathBuf, PathBuf)> = mounts.iter().filter(fits).map(place).collect();
        let seen = places.iter().find(|(top, folder)| folder != top);
        let (top, folder) = seen.or(places.first())?;
        let up = folder.ancestors().take_while(|folder| folder.starts_with(top));
        Some(up.map(|folder| (version, folder.to_owned())).collect::<Vec<_>>())
    };
    own.lines().filter_map(of_hierarchy).flatten().collect()
}

/// A line of `mountinfo` that mounts a hierarchy of groups.
#[derive(Debug)]
struct Mount {
    version: Version,
    /// The mount options. In version 1 they include the controllers of the hierarchy.
    options: String,
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
        let options = right.nth(1).unwrap_or_default().to_owned();
        Some(Self { version, options, top, point })
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
