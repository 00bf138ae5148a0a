//! What the operating system says about this machine, and about the container that we run in.

use std::fs;
use std::path::Path;

use nqueens::cpu::Cpu;
use nqueens::memory::Memory;

/// The machine as this process sees it.
#[derive(Debug)]
pub(super) struct Machine {
    /// The CPU's brand.
    pub(super) cpu: String,
    pub(super) physical_cores: usize,
    pub(super) logical_cores: usize,
    /// Logical cores that this process may use, as the kernel lists them: `0-3,8`.
    pub(super) affinity: Option<String>,
    /// Cores' worth of time that the container may use.
    pub(super) quota: Option<f64>,
    pub(super) memory: Memory,
}

impl Machine {
    pub(super) fn look() -> Self {
        let cpu = Cpu::look();
        Self {
            cpu: cpu.brand,
            physical_cores: num_cpus::get_physical(),
            logical_cores: cpu.logical_cores,
            affinity: affinity(),
            quota: quota(),
            memory: Memory::look(),
        }
    }
}

/// Linux: the mask in `/proc`.
fn affinity() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

/// Linux: the control group's CPU quota, version 2 or 1; the tightest on the way to the root.
fn quota() -> Option<f64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let quotas = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        let version_1 = controllers.split(',').any(|name| name == "cpu");
        let mount = if version_1 { "/sys/fs/cgroup/cpu" } else { "/sys/fs/cgroup" };
        let wanted = version_1 || controllers.is_empty();
        Path::new(path)
            .ancestors()
            .filter(|_| wanted)
            .filter_map(|group| {
                let folder = Path::new(mount).join(group.strip_prefix("/").unwrap_or(group));
                if version_1 { quota_v1(&folder) } else { quota_v2(&folder) }
            })
            .collect::<Vec<_>>()
    });
    quotas.min_by(f64::total_cmp)
}

fn quota_v2(folder: &Path) -> Option<f64> {
    parse_quota(&fs::read_to_string(folder.join("cpu.max")).ok()?)
}

fn quota_v1(folder: &Path) -> Option<f64> {
    let quota = fs::read_to_string(folder.join("cpu.cfs_quota_us")).ok()?;
    let period = fs::read_to_string(folder.join("cpu.cfs_period_us")).ok()?;
    parse_quota(&format!("{quota} {period}"))
}

/// `QUOTA PERIOD` in microseconds; `max` or -1 is no quota.
fn parse_quota(text: &str) -> Option<f64> {
    let mut numbers = text.split_whitespace();
    let quota: f64 = numbers.next()?.parse().ok()?;
    let period: f64 = numbers.next()?.parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_of_both_versions() {
        assert_eq!(parse_quota("150000 100000\n"), Some(1.5));
        assert_eq!(parse_quota("max 100000\n"), None);
        assert_eq!(parse_quota("-1\n 100000\n"), None);
        assert_eq!(parse_quota(""), None);
    }

    #[test]
    fn this_machine_has_a_core_and_memory() {
        let machine = Machine::look();
        assert!(machine.logical_cores >= 1);
        assert!(machine.memory.total >= machine.memory.available);
        assert!(machine.memory.available > 0);
    }
}
