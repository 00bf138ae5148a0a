//! Limits on threads that other programs cannot lift by ending.
//!
//! The operating system refuses a thread with the same words whatever the limit is. So the limits are looked at
//! afterwards.

use std::path::Path;

use rustix::process::{Resource, getrlimit};

use crate::machine::groups::groups_of_process;
use crate::machine::memory::process_limits;
use crate::machine::{STACK, read_number};

/// The bytes that a thread may reserve beyond its stack before it runs: a guard page, the stack of its signal handlers,
/// and the start of a heap of its own.
const RESERVE: u64 = 256 << 10;

/// Returns the limit under which this process can never start this many more threads, such as `ulimit -v` or the path of
/// a file of a control group. Returns `None` if it may be able to when other programs have ended.
///
/// The threads that a refused pool had started must have ended, because they count against the limits.
pub(crate) fn lasting_limit(threads: usize) -> Option<String> {
    let root = Path::new("/");
    let running = read_number(&root.join("proc/self/status"), "Threads:").unwrap_or(1);
    let threads = threads as u64;
    if let Some(limit) = group_limit(root, running, threads) {
        return Some(limit);
    }
    // The limit is on all processes of a user, but these threads alone exceed it.
    let of_user = getrlimit(Resource::Nproc).current;
    if of_user.is_some_and(|most| running + threads > most) {
        return Some("ulimit -u".to_owned());
    }
    let needed = threads * (STACK + RESERVE);
    let too_small = process_limits().into_iter().find(|limit| limit.available < needed);
    too_small.map(|limit| limit.limit)
}

/// Returns the file of the lowest control group that never has room for more threads of a process, which already runs
/// some.
fn group_limit(root: &Path, running: u64, threads: u64) -> Option<String> {
    for group in groups_of_process(root, "pids") {
        let file = group.folder.join("pids.max");
        let Some(most) = read_number(&file, "") else { continue };
        // In a group above, programs of other groups may end, and then only the threads of this process are left.
        let used = if group.is_own {
            read_number(&group.folder.join("pids.current"), "").unwrap_or(running)
        } else {
            running
        };
        if used + threads > most {
            return Some(file.display().to_string());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake_root::Root;

    #[test]
    fn an_own_group_that_is_full_and_a_group_above_that_is_too_small_are_lasting_limits() {
        let own = "sys/fs/cgroup/a/b/pids.max";
        let above = "sys/fs/cgroup/a/pids.max";
        for (own_limit, above_limit, expected) in [
            ("max\n", "max\n", None),
            // Eight threads fit beside the 30 that run.
            ("38\n", "max\n", None),
            ("37\n", "max\n", Some(own)),
            // They fit if all other programs of this group end, but not beside the two of this process.
            ("max\n", "10\n", None),
            ("max\n", "9\n", Some(above)),
            ("37\n", "9\n", Some(own)),
        ] {
            let root = Root::new("threads", "0::/a/b\n");
            root.file(own, own_limit);
            root.file("sys/fs/cgroup/a/b/pids.current", "30\n");
            root.file(above, above_limit);
            root.file("sys/fs/cgroup/a/pids.current", "500\n");
            let limit = group_limit(root.path(), 2, 8);
            let expected = expected.map(|file| root.path().join(file).display().to_string());
            assert_eq!(limit, expected, "{own_limit}{above_limit}");
        }
    }

    #[test]
    fn version_1_has_a_hierarchy_for_the_number_of_processes() {
        let root = Root::new("threads-1", "8:pids:/a\n4:memory:/b\n0::/\n");
        root.file("sys/fs/cgroup/pids/a/pids.max", "5\n");
        root.file("sys/fs/cgroup/pids/a/pids.current", "1\n");
        assert_eq!(group_limit(root.path(), 1, 4), None);
        assert!(group_limit(root.path(), 1, 5).expect("too small").ends_with("pids/a/pids.max"));
    }
}
