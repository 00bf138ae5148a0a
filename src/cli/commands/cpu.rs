//! `nqueens cpu`: what the program sees of this machine and of the container that it runs in.

use crate::{Cpu, Kernel, Memory};
use clap::Args;
use indicatif::BinaryBytes;

use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::input::memory::stated_memory;
use crate::cli::input::values::default_threads;
use crate::cli::output::report::{Format, Report};

/// Show the cores, memory and kernels that counts can use
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
        let memory = Memory::detect(stated_memory()?);
        let physical = cpu.physical_cores;
        let threads = default_threads()?;
        let kernels: Vec<&str> = Kernel::available().into_iter().map(Kernel::name).collect();
        let kernel = Kernel::detect().name();
        let usable = memory.usable();
        let room = if memory.total == 0 {
            "not known: counts start without a limit".to_owned()
        } else {
            let available = BinaryBytes(memory.available);
            let total = BinaryBytes(memory.total);
            let most = BinaryBytes(usable);
            format!("{available} available of {total}, of which a count uses up to {most}")
        };
        let mut report = Report::default();
        report
            .entry("cpu", cpu.brand)
            .row("cores", format_args!("{physical} physical, {} logical", cpu.logical_cores))
            .field("physical_cores", physical)
            .field("logical_cores", cpu.logical_cores)
            .row("threads", format_args!("{threads} without --threads"))
            .field("threads", threads)
            .bare(threads)
            .row("kernel", format_args!("{kernel} of {}", kernels.join(", ")))
            .field("kernels", kernels)
            .field("kernel", kernel)
            .row("memory", room)
            .field("memory_total", memory.total)
            .field("memory_available", memory.available)
            .field("memory_usable", usable)
            .row("memory limit", &memory.limit)
            .field("memory_limit", memory.limit.to_string());
        Ok(Exit::Done.answer(self.format, report))
    }
}
