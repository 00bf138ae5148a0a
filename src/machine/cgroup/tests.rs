//! Groups laid out in a folder, as the operating system and containers show them.

use super::*;

/// A folder that stands for `/`, removed at the end.
struct Root(PathBuf);

impl Root {
    /// An empty folder, for a process in these groups with these mounts.
    fn new(name: &str, groups: &str, mounts: &str) -> Self {
        let folder = format!("nqueens-cgroup-{name}-{}", std::process::id());
        let root = Self(std::env::temp_dir().join(folder));
        root.file("proc/self/cgroup", groups);
        root.file("proc/self/mountinfo", mounts);
        root
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("can be made");
        fs::write(path, text).expect("can be written");
    }

    /// A group of version 1 that uses this much.
    fn v1(&self, folder: &str, limit: &str, used: &str) {
        self.file(&format!("{folder}/memory.limit_in_bytes"), limit);
        self.file(&format!("{folder}/memory.usage_in_bytes"), used);
    }

    /// A group of version 2 that uses this much.
    fn v2(&self, folder: &str, max: &str, high: &str, used: &str) {
        self.file(&format!("{folder}/memory.max"), max);
        self.file(&format!("{folder}/memory.high"), high);
        self.file(&format!("{folder}/memory.current"), used);
    }

    /// The file, the limit and the bytes left, for every limit.
    fn memory(&self) -> Vec<(String, u64, u64)> {
        let plain = |file: &Path| file.strip_prefix(&self.0).expect("below").display().to_string();
        let memory = memory(&self.0).into_iter();
        memory.map(|group| (plain(&group.file), group.limit, group.left())).collect()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const NONE: &str = "9223372036854771712\n";
const V2: &str = "25 22 0:22 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const HYBRID: &str = "\
    31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
    35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
    36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
    39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n\
    41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

fn limit(file: &str, limit: u64, available: u64) -> (String, u64, u64) {
    (file.to_owned(), limit, available)
}

#[test]
fn without_groups_there_are_no_limits() {
    let root = Root::new("absent", "", "");
    assert_eq!((root.memory(), tasks(&root.0), cpu_quota(&root.0)), (vec![], None, None));
    let nowhere = Path::new("/nonexistent-folder-of-no-machine");
    assert_eq!((memory(nowhere), tasks(nowhere), cpu_quota(nowhere)), (vec![], None, None));
}

#[test]
fn all_nested_groups_of_version_2_apply() {
    let root = Root::new("v2", "0::/slurm/job_7/step_0\n", V2);
    let slurm = "sys/fs/cgroup/slurm";
    root.v2(slurm, "max\n", "max\n", "900\n");
    root.v2(&format!("{slurm}/job_7"), "1000\n", "800\n", "600\n");
    root.file(&format!("{slurm}/job_7/memory.stat"), "anon 1\ninactive_file 100\nfile 2\n");
    root.v2(&format!("{slurm}/job_7/step_0"), "2000\n", "max\n", "100\n");
    root.file(&format!("{slurm}/job_7/pids.max"), "64\n");
    root.file(&format!("{slurm}/job_7/pids.current"), "5\n");
    root.file(&format!("{slurm}/cpu.max"), "");
    root.file(&format!("{slurm}/job_7/cpu.max"), "150000 100000\n");
    root.file(&format!("{slurm}/job_7/step_0/cpu.max"), "max 100000\n");
    let expected = [
        limit("sys/fs/cgroup/slurm/job_7/step_0/memory.max", 2000, 1900),
        limit("sys/fs/cgroup/slurm/job_7/memory.max", 1000, 500),
        limit("sys/fs/cgroup/slurm/job_7/memory.high", 800, 300),
    ];
    assert_eq!(root.memory(), expected);
    let tasks = tasks(&root.0).expect("limited");
    assert_eq!((tasks.limit, tasks.used), (64, 5));
    assert_eq!(cpu_quota(&root.0), Some(1.5));
}

#[test]
fn nested_groups_of_version_1_on_a_hybrid_machine() {
    let groups = "8:pids:/\n4:memory:/a b/c\n2:cpu,cpuacct:/a\n1:name=systemd:/z\n0::/\n";
    let root = Root::new("v1", groups, HYBRID);
    let memory = "sys/fs/cgroup/memory";
    root.v1(memory, NONE, "5000\n");
    root.v1(&format!("{memory}/a b"), "1000\n", "700\n");
    root.file(&format!("{memory}/a b/memory.stat"), "cache 3\ntotal_inactive_file 200\n");
    root.v1(&format!("{memory}/a b/c"), NONE, "50\n");
    root.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n");
    root.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    root.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    root.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    let expected = [limit("sys/fs/cgroup/memory/a b/memory.limit_in_bytes", 1000, 500)];
    assert_eq!(root.memory(), expected);
    assert_eq!(cpu_quota(&root.0), Some(2.5));
    assert_eq!(tasks(&root.0), None, "the root group has no limit");
}

/// The process reads its path on the host, which does not exist below the mount.
#[test]
fn a_container_sees_its_own_group_as_the_root_of_the_mount() {
    let mounts = "\
        800 791 0:32 /docker/abc /sys/fs/cgroup/memory ro master:15 - cgroup cgroup rw,memory\n\
        801 791 0:33 /elsewhere /sys/fs/cgroup/pids ro master:16 - cgroup cgroup rw,pids\n";
    let root = Root::new("container", "4:memory:/docker/abc\n8:pids:/docker/abc\n", mounts);
    root.v1("sys/fs/cgroup/memory", "1000\n", "400\n");
    root.file("sys/fs/cgroup/pids/pids.max", "9\n");
    let expected = [limit("sys/fs/cgroup/memory/memory.limit_in_bytes", 1000, 600)];
    assert_eq!(root.memory(), expected);
    assert_eq!(tasks(&root.0).map(|tasks| tasks.limit), Some(9));
}

/// In a cgroup namespace the process's own group is `/`, or lies outside the namespace.
#[test]
fn a_namespace_of_groups() {
    for (name, group) in [("inside", "0::/\n"), ("beside", "0::/../sibling\n")] {
        let root = Root::new(name, group, V2);
        root.v2("sys/fs/cgroup", "512\n", "max\n", "12\n");
        assert_eq!(root.memory(), [limit("sys/fs/cgroup/memory.max", 512, 500)], "{group}");
    }
}

#[test]
fn numbers_of_a_status() {
    let root = Root::new("status", "", "");
    root.file("proc/self/status", "Name:\tx\nVmSize:\t    3172 kB\nVmData:\t     360 kB\n");
    let status = root.0.join("proc/self/status");
    assert_eq!(field(&status, "VmData:"), Some(360));
    assert_eq!(field(&status, "VmPeak:"), None);
}

/// The first mount shows only another group.
#[test]
fn the_mount_that_shows_the_processs_group_is_used() {
    let mounts = format!("7 5 0:32 /x /other\\040place rw - cgroup cgroup rw,memory\n{HYBRID}");
    let root = Root::new("two-mounts", "4:memory:/y\n", &mounts);
    root.v1("other place", "1\n", "1\n");
    root.v1("sys/fs/cgroup/memory/y", "77\n", "7\n");
    let expected = [limit("sys/fs/cgroup/memory/y/memory.limit_in_bytes", 77, 70)];
    assert_eq!(root.memory(), expected);
}
