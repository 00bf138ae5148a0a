//! `nqueens cpu`: what the program sees of this machine and of the container that it runs in.

use crate::{Cpu, Kernel, MemoryLimit};
use clap::Args;
use indicatif::BinaryBytes;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::memory::stated_memory;
use crate::cli::print::format::many;
use crate::cli::print::report::{Format, Report};
use crate::cli::values::default_threads;

/// Show the CPUs, memory and kernels that counts can use
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the number of threads")))]
#[command(after_help = "\
Examples:
  nqueens cpu                              what a count would use
  nqueens cpu --json                       for a script")]
pub(crate) struct CpuArgs {
    #[command(flatten)]
    format: Format,
}

impl CpuArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let cpu = Cpu::detect();
        let threads = default_threads()?;
        let kernels: Vec<&str> = Kernel::available().into_iter().map(Kernel::name).collect();
        let kernel = Kernel::detect().name();
        let limit = MemoryLimit::smallest(stated_memory()?);
        let mut report = Report::default();
        report
            .row("cpu", cpu.brand.as_deref().unwrap_or(NOT_KNOWN))
            .row("CPUs", cpus_text(&cpu))
            .row("threads", format_args!("{threads} without --threads"))
            .field("cpu", cpu.brand)
            .field("physical_cores", cpu.physical_cores)
            .field("logical_cpus", cpu.logical_cpus)
            .field("threads", threads)
            .bare(threads)
            .row("kernel", kernel_text(kernel, &kernels))
            .field("kernels", kernels)
            .field("kernel", kernel)
            .row("memory", memory_text(limit.as_ref()))
            .row("memory limit", limit.as_ref().map_or("none", |limit| &limit.name))
            .field("memory_total", limit.as_ref().map(|limit| limit.total))
            .field("memory_available", limit.as_ref().map(|limit| limit.available))
            .field("memory_usable", limit.as_ref().map(MemoryLimit::usable))
            .field("memory_limit", limit.map(|limit| limit.name));
        Ok(Exit::Done.answer(self.format, report))
    }
}

/// What stands for a fact that the operating system does not report.
const NOT_KNOWN: &str = "not known";

/// Returns the number of CPUs of the machine, and of the cores that they share, if the operating system reports them.
fn cpus_text(cpu: &Cpu) -> String {
    match (cpu.physical_cores, cpu.logical_cpus) {
        (Some(cores), Some(cpus)) => format!("{cpus} on {}", many(cores, "physical core")),
        _ => NOT_KNOWN.to_owned(),
    }
}

/// Returns the kernel that a count chooses, and the other ones that the CPU can run: `avx2 (also: portable)`.
fn kernel_text(kernel: &str, kernels: &[&str]) -> String {
    let mut others = kernels.to_vec();
    others.retain(|other| *other != kernel);
    match others.len() {
        0 => kernel.to_owned(),
        _ => format!("{kernel} (also: {})", others.join(", ")),
    }
}

/// Returns how much memory a limit leaves.
fn memory_text(limit: Option<&MemoryLimit>) -> String {
    let Some(limit) = limit else { return NOT_KNOWN.to_owned() };
    let available = BinaryBytes(limit.available);
    let total = BinaryBytes(limit.total);
    let most = BinaryBytes(limit.usable());
    format!("{available} available of {total}, of which a count uses up to {most}")
}
