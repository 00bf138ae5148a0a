//! The limits of control groups on memory.
//!
//! A missing file sets no limit. Where version 1 has no limit, its file holds the number that [`MIN_UNLIMITED`]
//! explains.

use std::path::Path;

use super::{Memory, Scope};
use crate::machine::groups::{Group, Version, groups_of_process};
use crate::machine::read_number;

/// Returns the limits of control groups, from the process's own group upwards.
pub(super) fn group_limits(root: &Path) -> Vec<Memory> {
    let mut limits = Vec::new();
    for group in groups_of_process(root, "memory") {
        let files = match group.version {
            Version::One => &VERSION_1,
            Version::Two => &VERSION_2,
        };
        limits.extend(files.limits_of(&group));
    }
    limits
}

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

impl GroupFiles {
    /// Returns the limits that a control group sets.
    fn limits_of(&self, group: &Group) -> Vec<Memory> {
        let folder = &group.folder;
        // File pages that the operating system can drop at once do not count as used.
        let inactive = read_number(&folder.join("memory.stat"), self.inactive).unwrap_or(0);
        let in_use = read_number(&folder.join(self.used), "").unwrap_or(0);
        let used = in_use.saturating_sub(inactive);
        let scope = if group.is_own { Scope::Own } else { Scope::GroupAbove };
        let mut limits = Vec::new();
        for name in self.limits {
            let file = folder.join(name);
            if let Some(total) = read_number(&file, "")
                && total < MIN_UNLIMITED
            {
                limits.push(Memory::limited(total, used, file.display(), scope));
            }
        }
        limits
    }
}
