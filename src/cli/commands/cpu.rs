//! `nqueens cpu`: what the program sees of this machine and of the container that it runs in.

use crate::{Cpu, Kernel, Memory, cores};
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
        let threads = default_threads()?;
        let kernels: Vec<&str> = Kernel::available().into_iter().map(Kernel::name).collect();
        let kernel = Kernel::detect().name();
        let mut report = Report::default();
        report
            .row("cpu", cpu.brand.as_deref().unwrap_or(NOT_KNOWN))
            .row("cores", cores_text(&cpu))
            .row("threads", threads_text(threads, cores(), cpu.physical_cores))
            .field("cpu", cpu.brand)
            .field("physical_cores", cpu.physical_cores)
            .field("logical_cores", cpu.logical_cores)
            .field("threads", threads)
            .bare(threads)
            .row("kernel", format_args!("{kernel} of {}", kernels.join(", ")))
            .field("kernels", kernels)
            .field("kernel", kernel);
        add_memory(&mut report, Memory::detect(stated_memory()?).as_ref());
        Ok(Exit::Done.answer(self.format, report))
    }
}

/// What stands for a fact that the operating system does not report.
const NOT_KNOWN: &str = "not known";

/// Returns what is known of the number of cores.
fn cores_text(cpu: &Cpu) -> String {
    match (cpu.physical_cores, cpu.logical_cores) {
        (Some(physical), Some(logical)) => format!("{physical} physical, {logical} logical"),
        (Some(physical), None) => format!("{physical} physical"),
        (None, Some(logical)) => format!("{logical} logical"),
        (None, None) => NOT_KNOWN.to_owned(),
    }
}

/// Returns how many threads a count has without `--threads`, and where that number comes from. `usable` is the number of
/// logical cores that this process may use. Where each physical core runs two hardware threads, it also says how to halve
/// the memory, because every counting thread has its own.
fn threads_text(threads: usize, usable: usize, physical: Option<usize>) -> String {
    let mut text = format!("{threads} without --threads");
    if threads != usable {
        return text;
    }
    text += ", one for each hardware thread that this process may use";
    if let Some(physical) = physical
        && threads == 2 * physical
    {
        text += &format!("; --threads {physical} takes half the memory");
    }
    text
}

/// Adds the limit on memory that leaves the least.
fn add_memory(report: &mut Report, limit: Option<&Memory>) {
    match limit {
        Some(memory) => {
            let available = BinaryBytes(memory.available);
            let total = BinaryBytes(memory.total);
            let most = BinaryBytes(memory.usable());
            let text =
                format!("{available} available of {total}, of which a count uses up to {most}");
            report.row("memory", text).row("memory limit", &memory.limit);
        }
        None => {
            report.row("memory", format_args!("{NOT_KNOWN}: counts start without a limit"));
        }
    }
    report
        .field("memory_total", limit.map(|memory| memory.total))
        .field("memory_available", limit.map(|memory| memory.available))
        .field("memory_usable", limit.map(Memory::usable))
        .field("memory_limit", limit.map(|memory| memory.limit.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_numbers_of_cores_are_printed() {
        for (physical_cores, logical_cores, expected) in [
            (Some(8), Some(16), "8 physical, 16 logical"),
            (Some(8), None, "8 physical"),
            (None, Some(16), "16 logical"),
            (None, None, "not known"),
        ] {
            let cpu = Cpu { brand: None, physical_cores, logical_cores };
            assert_eq!(cores_text(&cpu), expected);
        }
    }

    #[test]
    fn a_number_of_threads_says_what_it_counts_and_how_to_halve_the_memory() {
        let of_each = "without --threads, one for each hardware thread that this process may use";
        for (threads, usable, physical, expected) in [
            (2, 2, Some(2), format!("2 {of_each}")),
            (16, 16, Some(8), format!("16 {of_each}; --threads 8 takes half the memory")),
            // The process may use a part of the machine, and nobody knows which hardware threads share a core.
            (6, 6, Some(8), format!("6 {of_each}")),
            (16, 16, None, format!("16 {of_each}")),
            // NQUEENS_THREADS sets the number.
            (5, 16, Some(8), "5 without --threads".to_owned()),
        ] {
            assert_eq!(threads_text(threads, usable, physical), expected);
        }
    }
}
