//! `nqueens cpu`: what the program sees of this machine and of the container that it runs in.

use std::fs;

use clap::Args;
use nqueens::Kernel;
use nqueens::cpu::{self, Cpu};
use nqueens::memory::{self, Memory, readable};
use serde_json::{Value, json};

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
        let report = CpuReport {
            cpu: Cpu::detect(),
            quota: cpu::quota(),
            threads: default_threads()?,
            memory: Memory::detect(),
        };
        Ok(Exit::Done.answer(Format::new(self.json, false), &report))
    }
}

struct CpuReport {
    cpu: Cpu,
    /// Cores' worth of time that the container may use.
    quota: Option<f64>,
    threads: usize,
    memory: Memory,
}

fn kernels() -> Vec<&'static str> {
    Kernel::available().into_iter().map(Kernel::name).collect()
}

impl Report for CpuReport {
    fn rows(&self) -> Vec<Line> {
        let Self { cpu, memory, .. } = self;
        let (physical, logical) = (num_cpus::get_physical(), cpu.logical_cores);
        let quota = self.quota.map_or("none".to_owned(), |cores| format!("{cores} cores"));
        let [available, total, budget] =
            [memory.available, memory.total, memory::default_budget()].map(readable);
        vec![
            ("cpu", cpu.brand.clone()),
            ("cores", format!("{physical} physical, {logical} logical")),
            ("affinity", affinity().unwrap_or_else(|| "unknown".to_owned())),
            ("quota", quota),
            ("threads", format!("{} without --threads", self.threads)),
            ("features", features().join(" ")),
            ("kernel", format!("{} of {}", Kernel::detect(), kernels().join(", "))),
            ("memory", format!("{available} available of {total}, {budget} used without --memory")),
            ("limit", format!("{} (it leaves the least memory)", memory.limit)),
        ]
    }

    fn json(&self) -> Value {
        let Self { cpu, memory, .. } = self;
        json!({
            "cpu": cpu.brand,
            "physical_cores": num_cpus::get_physical(),
            "logical_cores": cpu.logical_cores,
            "affinity": affinity(),
            "quota": self.quota,
            "threads": self.threads,
            "features": features(),
            "kernels": kernels(),
            "kernel": Kernel::detect().name(),
            "memory_total": memory.total,
            "memory_available": memory.available,
            "memory_limit": memory.limit.to_string(),
            "memory_budget": memory::default_budget(),
        })
    }
}

/// Logical cores that this process may use, as Linux lists them: `0-3,8`.
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
