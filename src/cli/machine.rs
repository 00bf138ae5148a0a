//! What the operating system says about this machine, and about the container that we run in.

use std::fs;

use nqueens::cpu::{self, Cpu};
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
        let cpu = Cpu::detect();
        Self {
            cpu: cpu.brand,
            physical_cores: num_cpus::get_physical(),
            logical_cores: cpu.logical_cores,
            affinity: affinity(),
            quota: cpu::quota(),
            memory: Memory::detect(),
        }
    }
}

/// Linux: the mask in `/proc`.
fn affinity() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_core_and_memory() {
        let machine = Machine::look();
        assert!(machine.logical_cores >= 1);
        assert!(machine.memory.total >= machine.memory.available);
        assert!(machine.memory.available > 0);
    }
}
