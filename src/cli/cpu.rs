//! `nqueens cpu`: what the program sees of this machine.

use std::io::{self, Write};

use nqueens::{Kernel, memory};
use serde::Serialize;

use super::answer::print;
use super::bytes::readable;
use super::exit::{Exit, Failure};
use super::fields::write_json;
use super::machine::Machine;
use super::options::CpuOptions;

#[derive(Debug, Serialize)]
struct CpuReport {
    cpu: String,
    physical_cores: usize,
    logical_cores: usize,
    affinity: Option<String>,
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

pub(super) fn run(options: &CpuOptions) -> Result<Exit, Failure> {
    let machine = Machine::look();
    let report = CpuReport {
        cpu: machine.cpu,
        physical_cores: machine.physical_cores,
        logical_cores: machine.logical_cores,
        affinity: machine.affinity,
        quota: machine.quota,
        threads: options.threads,
        features: features(),
        kernels: Kernel::available().into_iter().map(Kernel::name).collect(),
        kernel: Kernel::detect().name(),
        memory_total: machine.memory.total,
        memory_available: machine.memory.available,
        memory_limit: machine.memory.limit.to_string(),
        memory_budget: memory::default_budget(),
    };
    Ok(print(Exit::Done, |out| match options.json {
        true => write_json(out, &report),
        false => report.write_text(out),
    }))
}

impl CpuReport {
    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let or_none = |text: Option<String>, none: &str| text.unwrap_or_else(|| none.to_owned());
        let affinity = or_none(self.affinity.clone(), "unknown");
        let quota = or_none(self.quota.map(|cores| format!("{cores} cores")), "none");
        writeln!(out, "cpu        {}", self.cpu)?;
        writeln!(
            out,
            "cores      {} physical, {} logical",
            self.physical_cores, self.logical_cores
        )?;
        writeln!(out, "affinity   {affinity}")?;
        writeln!(out, "quota      {quota}")?;
        writeln!(out, "threads    {} unless --threads says otherwise", self.threads)?;
        writeln!(out, "features   {}", self.features.join(" "))?;
        writeln!(out, "kernel     {} of {}", self.kernel, self.kernels.join(", "))?;
        writeln!(
            out,
            "memory     {} available of {}, {} used unless --memory says otherwise",
            readable(self.memory_available),
            readable(self.memory_total),
            readable(self.memory_budget)
        )?;
        writeln!(out, "limit      {} (it leaves the least memory)", self.memory_limit)
    }
}

/// The instruction sets that kernels use or may come to use, as far as this CPU has them.
fn features() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
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
    {
        Vec::new()
    }
}
