//! Tests with control groups laid out in a folder, as operating systems and containers show them.

use super::*;
use crate::machine::fake_root::Root;

impl Root {
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

    /// Returns the file, the limit and the bytes left, for every limit.
    fn memory(&self) -> Vec<(String, u64, u64)> {
        let mut limits = Vec::new();
        for group in group_limits(self.path()) {
            limits.push((self.relative(&group.limit), group.total, group.available));
        }
        limits
    }

    /// Returns the files with the limits of the process's own groups.
    fn own_limits(&self) -> Vec<String> {
        let mut own = group_limits(self.path());
        own.retain(|limit| limit.scope == Scope::Own);
        own.iter().map(|limit| self.relative(&limit.limit)).collect()
    }

    fn relative(&self, file: &str) -> String {
        Path::new(file).strip_prefix(self.path()).expect("below").display().to_string()
    }
}

/// The number that version 1 writes without a limit, on pages of 4 KiB.
const NONE: u64 = 9_223_372_036_854_771_712;

fn limit(file: &str, limit: u64, available: u64) -> (String, u64, u64) {
    (file.to_owned(), limit, available)
}

#[test]
fn without_groups_there_are_no_limits() {
    let root = Root::new("absent", "");
    assert_eq!(root.memory(), []);
    let nowhere = Path::new("/nonexistent-folder-of-no-machine");
    assert_eq!(group_limits(nowhere), []);
}

#[test]
fn all_nested_groups_of_version_2_apply() {
    let root = Root::new("v2", "0::/slurm/job_7/step_0\n");
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
    assert_eq!(root.memory(), expected);
    assert_eq!(root.own_limits(), ["sys/fs/cgroup/slurm/job_7/step_0/memory.max"]);
}

#[test]
fn nested_groups_of_version_1_on_a_hybrid_machine() {
    let groups = "8:pids:/\n4:memory:/a b/c\n2:cpu,cpuacct:/a\n1:name=systemd:/z\n0::/\n";
    let root = Root::new("v1", groups);
    let memory = "sys/fs/cgroup/memory";
    root.file("sys/fs/cgroup/unified/cgroup.procs", "");
    root.v1(memory, &format!("{NONE}\n"), "5000\n");
    root.v1(&format!("{memory}/a b"), "1000\n", "700\n");
    root.file(&format!("{memory}/a b/memory.stat"), "cache 3\ntotal_inactive_file 200\n");
    root.v1(&format!("{memory}/a b/c"), &format!("{NONE}\n"), "50\n");
    let parent = limit("sys/fs/cgroup/memory/a b/memory.limit_in_bytes", 1000, 500);
    assert_eq!(root.memory(), vec![parent.clone()]);
    assert_eq!(root.own_limits(), [""; 0]);

    root.v1(&format!("{memory}/a b/c"), "2000\n", "50\n");
    let own = limit("sys/fs/cgroup/memory/a b/c/memory.limit_in_bytes", 2000, 1950);
    assert_eq!(root.memory(), [own, parent]);
    assert_eq!(root.own_limits(), ["sys/fs/cgroup/memory/a b/c/memory.limit_in_bytes"]);
}

/// The process reads its path on the host, which does not exist below the mount.
#[test]
fn a_container_sees_its_own_group_as_the_root_of_the_mount() {
    let root = Root::new("container", "4:memory:/docker/abc/own\n");
    root.v1("sys/fs/cgroup/memory", "1000\n", "400\n");
    root.v1("sys/fs/cgroup/memory/own", "700\n", "300\n");
    let expected = [
        limit("sys/fs/cgroup/memory/own/memory.limit_in_bytes", 700, 400),
        limit("sys/fs/cgroup/memory/memory.limit_in_bytes", 1000, 600),
    ];
    assert_eq!(root.memory(), expected);
}

/// In a cgroup namespace the process's own group is `/`, or lies outside the namespace.
#[test]
fn a_namespace_of_groups() {
    let file = "sys/fs/cgroup/memory.max";
    let groups: [(&str, &str, &[&str]); 2] =
        [("inside", "0::/\n", &[file]), ("beside", "0::/../sibling\n", &[])];
    for (name, group, own) in groups {
        let root = Root::new(name, group);
        root.v2("sys/fs/cgroup", "512\n", "max\n", "12\n");
        assert_eq!(root.memory(), [limit(file, 512, 500)], "{group}");
        assert_eq!(root.own_limits(), own, "{group}");
    }
}

#[test]
fn numbers_of_a_status() {
    let root = Root::new("status", "");
    root.file("proc/self/status", "Name:\tx\nVmSize:\t    3172 kB\nVmData:\t     360 kB\n");
    let status = root.path().join("proc/self/status");
    assert_eq!(read_number(&status, "VmData:"), Some(360));
    assert_eq!(read_number(&status, "VmPeak:"), None);
}

/// What a limit leaves to others comes back when they end, except under a limit of the process's own.
#[test]
fn the_remedy_depends_on_who_shares_the_limit() {
    for (scope, needed_at_300, needed_at_700, needed_at_900) in [
        (Scope::Machine, Remedy::Waiting, Remedy::Waiting, Remedy::LargerMachine),
        (Scope::StatedMachine, Remedy::Waiting, Remedy::LargerMachine, Remedy::LargerMachine),
        (Scope::GroupAbove, Remedy::Waiting, Remedy::Waiting, Remedy::HigherLimit),
        (Scope::Own, Remedy::Waiting, Remedy::HigherLimit, Remedy::HigherLimit),
    ] {
        // Three quarters of 1000 bytes, or of the 400 that are left.
        let limit = Memory::limited(1000, 600, "a limit", scope);
        assert_eq!(limit.remedy(300), needed_at_300, "{scope:?}");
        assert_eq!(limit.remedy(700), needed_at_700, "{scope:?}");
        assert_eq!(limit.remedy(900), needed_at_900, "{scope:?}");
    }
}

#[test]
fn this_machine_has_memory() {
    let memory = Memory::detect(None).expect("Linux reports it");
    assert!(memory.available > 0 && memory.available <= memory.total, "{memory:?}");
}
