//! Tests with a folder that stands for `/`, with the files of operating systems and containers.

use std::fs;

use tempfile::TempDir;

use super::*;

/// A folder that stands for `/`. It is removed at the end.
struct Root(TempDir);

impl Root {
    /// Makes a folder, for a process in these groups.
    fn new(groups: &str) -> Self {
        let root = Self(tempfile::tempdir().expect("can be made"));
        root.file("proc/self/cgroup", groups);
        root
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, and makes its folders.
    fn file(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("can be made");
        fs::write(path, text).expect("can be written");
    }

    /// Adds a group of version 1 with this limit, which uses this much.
    fn v1(&self, folder: &str, limit: &str, used: &str) {
        self.file(&format!("{folder}/memory.limit_in_bytes"), limit);
        self.file(&format!("{folder}/memory.usage_in_bytes"), used);
    }

    /// Adds a group of version 2 with these limits, which uses this much.
    fn v2(&self, folder: &str, max: &str, high: &str, used: &str) {
        self.file(&format!("{folder}/memory.max"), max);
        self.file(&format!("{folder}/memory.high"), high);
        self.file(&format!("{folder}/memory.current"), used);
    }

    /// Returns the file, the limit and the bytes left, for every limit of a group.
    fn groups(&self) -> Vec<(String, u64, u64)> {
        let mut limits = Vec::new();
        for limit in group_limits(self.path()) {
            let file = Path::new(&limit.name).strip_prefix(self.path()).expect("below");
            limits.push((file.display().to_string(), limit.total, limit.available));
        }
        limits
    }
}

/// The number that version 1 writes without a limit, on pages of 4 KiB.
const NONE: u64 = 9_223_372_036_854_771_712;

fn limit(file: &str, limit: u64, available: u64) -> (String, u64, u64) {
    (file.to_owned(), limit, available)
}

#[test]
fn without_groups_there_are_no_limits() {
    assert_eq!(Root::new("").groups(), []);
    let nowhere = Path::new("/nonexistent-folder-of-no-machine");
    assert_eq!(group_limits(nowhere), []);
    assert_eq!(commit_limit(nowhere), None);
}

#[test]
fn all_nested_groups_of_version_2_apply() {
    let root = Root::new("0::/slurm/job_7/step_0\n");
    let slurm = "sys/fs/cgroup/slurm";
    root.v2(slurm, "max\n", "max\n", "900\n");
    root.v2(&format!("{slurm}/job_7"), "1000\n", "800\n", "600\n");
    root.file(&format!("{slurm}/job_7/memory.stat"), "anon 1\ninactive_file 100\nfile 2\n");
    root.v2(&format!("{slurm}/job_7/step_0"), "2000\n", "max\n", "100\n");
    let expected = [
        limit("sys/fs/cgroup/slurm/job_7/step_0/memory.max", 2000, 1900),
        limit("sys/fs/cgroup/slurm/job_7/memory.max", 1000, 500),
        limit("sys/fs/cgroup/slurm/job_7/memory.high", 800, 300),
    ];
    assert_eq!(root.groups(), expected);
}

#[test]
fn nested_groups_of_version_1_on_a_hybrid_machine() {
    let groups = "8:pids:/\n4:memory:/a b/c\n2:cpu,cpuacct:/a\n1:name=systemd:/z\n0::/\n";
    let root = Root::new(groups);
    let memory = "sys/fs/cgroup/memory";
    root.file("sys/fs/cgroup/unified/cgroup.procs", "");
    root.v1(memory, &format!("{NONE}\n"), "5000\n");
    root.v1(&format!("{memory}/a b"), "1000\n", "700\n");
    root.file(&format!("{memory}/a b/memory.stat"), "cache 3\ntotal_inactive_file 200\n");
    root.v1(&format!("{memory}/a b/c"), &format!("{NONE}\n"), "50\n");
    let parent = limit("sys/fs/cgroup/memory/a b/memory.limit_in_bytes", 1000, 500);
    assert_eq!(root.groups(), vec![parent.clone()]);

    root.v1(&format!("{memory}/a b/c"), "2000\n", "50\n");
    let own = limit("sys/fs/cgroup/memory/a b/c/memory.limit_in_bytes", 2000, 1950);
    assert_eq!(root.groups(), [own, parent]);
}

/// The process reads its path on the host, which does not exist below the mount.
#[test]
fn a_container_sees_its_own_group_as_the_root_of_the_mount() {
    let root = Root::new("4:memory:/docker/abc/own\n");
    root.v1("sys/fs/cgroup/memory", "1000\n", "400\n");
    root.v1("sys/fs/cgroup/memory/own", "700\n", "300\n");
    let expected = [
        limit("sys/fs/cgroup/memory/own/memory.limit_in_bytes", 700, 400),
        limit("sys/fs/cgroup/memory/memory.limit_in_bytes", 1000, 600),
    ];
    assert_eq!(root.groups(), expected);
}

/// In a cgroup namespace the process's own group is `/`, or lies outside the namespace.
#[test]
fn a_namespace_of_groups() {
    for group in ["0::/\n", "0::/../sibling\n"] {
        let root = Root::new(group);
        root.v2("sys/fs/cgroup", "512\n", "max\n", "12\n");
        assert_eq!(root.groups(), [limit("sys/fs/cgroup/memory.max", 512, 500)], "{group}");
    }
}

#[test]
fn numbers_of_a_status() {
    let root = Root::new("");
    root.file("proc/self/status", "Name:\tx\nVmSize:\t    3172 kB\nVmData:\t     360 kB\n");
    assert_eq!(used_here(root.path(), "VmData:"), 360 << 10);
    assert_eq!(used_here(root.path(), "VmPeak:"), 0);
}

/// In the other modes of overcommitment nothing is limited, although Linux reports the same numbers.
#[test]
fn without_overcommitment_what_all_programs_reserve_is_a_limit() {
    let root = Root::new("");
    root.file("proc/self/status", "VmData:\t     200 kB\n");
    root.file(
        "proc/meminfo",
        "MemTotal:  9000 kB\nCommitLimit:    4500 kB\nCommitted_AS:   1500 kB\n",
    );
    for mode in ["0\n", "1\n"] {
        root.file("proc/sys/vm/overcommit_memory", mode);
        assert_eq!(commit_limit(root.path()), None, "{mode}");
    }
    root.file("proc/sys/vm/overcommit_memory", "2\n");
    let expected = MemoryLimit {
        name: COMMIT_LIMIT.to_owned(),
        total: 4500 << 10,
        available: 3000 << 10,
        without_others: 4300 << 10,
        counts_reserved: true,
    };
    assert_eq!(commit_limit(root.path()), Some(expected));
}

/// What this process uses itself does not come back when others end.
#[test]
fn memory_of_others_is_what_this_process_does_not_use() {
    let root = Root::new("0::/job\n");
    root.file("proc/self/status", "VmRSS:\t     100 kB\n");
    root.v2("sys/fs/cgroup/job", "1048576\n", "max\n", "524288\n");
    let [limit] = &group_limits(root.path())[..] else { panic!("one limit") };
    assert_eq!((limit.available, limit.without_others), (512 << 10, 924 << 10));
    assert!(limit.fits_without_others(693 << 10) && !limit.fits_without_others(694 << 10));
}

#[test]
fn this_machine_has_memory() {
    let memory = machine_limit(Path::new("/"), None).expect("Linux reports it");
    assert!(memory.available > 0 && memory.available <= memory.total, "{memory:?}");
}
