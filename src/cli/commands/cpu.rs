//! `nqueens cpu`: what the program sees of this machine and of the container that it runs in.

use std::fs;

use clap::Args;
use nqueens::Kernel;
use nqueens::cpu::{self, Cpu};
use nqueens::memory::{self, Memory, readable};
use serde::Serialize;

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::default_threads;

/// Show what the program sees of this machine
#[derive(Debug, Args)]
pub(crate) struct CpuArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl CpuArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let cpu = Cpu::look();
        let memory = Memory::look();
        let report = CpuReport {
            cpu: cpu.brand,
            physical_cores: num_cpus::get_physical(),
            logical_cores: cpu.logical_cores,
            affinity: affinity(),
            quota: cpu::quota(),
            threads: default_threads()?,
            features: features(),
            kernels: Kernel::available().into_iter().map(Kernel::name).collect(),
            kernel: Kernel::detect().name(),
            memory_total: memory.total,
            memory_available: memory.available,
            memory_limit: memory.limit.to_string(),
            memory_budget: memory::default_budget(),
        };
        Ok(Exit::Done.answer(Format::new(self.json, false), &report))
    }
}

#[derive(Debug, Serialize)]
struct CpuReport {
    cpu: String,
    physical_cores: usize,
    logical_cores: usize,
    /// Logical cores that this process may use, as Linux lists them: `0-3,8`.
    affinity: Option<String>,
    /// Cores' worth of time that the container may use.
    quota: Option<f64>,
    threads: usize,
    features: Vec<&'static str>,
    kernels: Vec<&'static str>,
    kernel: &'static str,
    memory_total: u64,
    memory_available: u64,
    memory_limit: String,
    memory_budget: u64,
}

impl Report for CpuReport {
    fn rows(&self) -> Vec<Line> {
        let Self { physical_cores, logical_cores, .. } = self;
        let quota = self.quota.map_or("none".to_owned(), |cores| format!("{cores} cores"));
        let [available, total, budget] =
            [self.memory_available, self.memory_total, self.memory_budget].map(readable);
        vec![
            ("cpu", self.cpu.clone()),
            ("cores", format!("{physical_cores} physical, {logical_cores} logical")),
            ("affinity", self.affinity.clone().unwrap_or_else(|| "unknown".to_owned())),
            ("quota", quota),
            ("threads", format!("{} without --threads", self.threads)),
            ("features", self.features.join(" ")),
            ("kernel", format!("{} of {}", self.kernel, self.kernels.join(", "))),
            ("memory", format!("{available} available of {total}, {budget} used without --memory")),
            ("limit", format!("{} (it leaves the least memory)", self.memory_limit)),
        ]
    }
}

/// Linux: the mask in `/proc`.
fn affinity() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

/// The instruction sets that kernels use or may come to use, as far as this CPU has them.
#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    let found = [
        ("popcnt", is_x86_feature_detected!("popcnt")),
        ("bmi1", is_x86_feature_detected!("bmi1")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512vpopcntdq", is_x86_feature_detected!("avx512vpopcntdq")),
    ];
    found.into_iter().filter_map(|(name, present)| present.then_some(name)).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<&'static str> {
    Vec::new()
}
