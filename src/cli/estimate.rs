//! `nqueens estimate N`.

use std::time::Duration;

use clap::Args;
use indicatif::BinaryBytes;
use nqueens::known::known;
use nqueens::{BoardSize, Estimate, Published};

use crate::cli::args::{EngineArgs, MachineArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, expected, json_seconds, many, rounded, wall_time};
use crate::cli::progress::Work;
use crate::cli::published::print_differs;
use crate::cli::report::{Format, Report};
use crate::cli::session::Session;
use crate::cli::stderr::message;
use crate::cli::values::{time, up_to};

/// Estimate, from a sample, how long a count would take on this machine
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare seconds")))]
#[command(after_help = "\
Examples:
  nqueens estimate 22                      from a sample of ten seconds
  nqueens estimate 28 --seconds 2m         from a longer one
  nqueens estimate 26 --cores 64           how long 64 such cores would take")]
pub(crate) struct EstimateArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    #[command(flatten)]
    format: Format,

    /// Length of the sample (10, 10s, 2m); up to six times that until a unit ends
    #[arg(long, value_name = "S", default_value = "10", allow_negative_numbers = true)]
    #[arg(value_parser = time)]
    seconds: Duration,

    /// Estimate the time, and the memory, for C cores like the ones of this machine, where the sample is taken
    #[arg(long, value_name = "C", allow_negative_numbers = true, value_parser = up_to(MAX_CORES))]
    cores: Option<usize>,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    machine: MachineArgs,
}

/// More cores than any cluster has.
const MAX_CORES: usize = 100_000_000;

impl EstimateArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let session = Session::counting(&self.engine, &self.machine)?;
        let count = session.set_up(self.engine.count(self.n));
        session.announce(self.n, &self.engine);
        let all = self.seconds.as_millis().try_into().unwrap_or(usize::MAX);
        session.progress.begin("estimate", [0, all], Work::Sample);
        let estimate = session.run(|| count.estimate(self.seconds))?;
        let sample = &estimate.sample;
        let [elapsed, wanted] = [sample.elapsed, self.seconds].map(duration);
        let mut exit = Exit::Done;
        if sample.units_done < sample.units && session.cancel.is_cancelled() {
            exit = Exit::Stopped;
            message!("stopped after {elapsed} of {wanted}");
        }
        if let Published::Differs { expected } = sample.published {
            print_differs(format_args!("Q({}) = {}", self.n, sample.total), expected);
            exit = Exit::Failed;
        }
        Ok(exit.answer(self.format, self.report(&estimate, exit == Exit::Stopped)))
    }

    fn report(&self, estimate: &Estimate, is_cancelled: bool) -> Report {
        let Estimate { sample, cpu_seconds, total, .. } = estimate;
        let is_whole = sample.units_done == sample.units;
        let published = known(self.n).total;
        let counted = format!("{} of {}", sample.units_done, many(sample.units, "unit"));
        let mut total_text = match (total.value, 2.0 * total.standard_error) {
            (value, 0.0) => format!("{value:.0}"),
            (..=0.0, _) => "unknown: the sample has found no solution".to_owned(),
            (value, f64::INFINITY) => format!("roughly {value:.1e}"),
            (value, error) if value < 10.0 * error => format!("{value:.1e} ± {error:.1e}"),
            (value, error) => format!("{value:.3e} ± {error:.1e}"),
        };
        if let Some(published) = published {
            total_text += &format!(" (published: {published})");
        }
        let threads = self.cores.unwrap_or(sample.threads);
        let seconds = self.cores.map_or(estimate.seconds, |cores| estimate.on_cores(cores));
        let time = match (self.cores, estimate.cores) {
            (Some(cores), _) => {
                format!("{} on {} like this one", expected(seconds), many(cores, "core"))
            }
            (None, Some(cores)) if !is_whole => wall_time(seconds, threads, cores),
            (None, _) => expected(seconds),
        };
        let memory = sample.engine.memory_of_thread(self.n).saturating_mul(threads as u64);
        let mut report = Report::default();
        report
            .entry("n", self.n.get())
            .engine(sample.engine, sample.kernel, sample.threads)
            .row("sample", format_args!("{counted}, {}", duration(sample.elapsed)))
            .field("units", sample.units)
            .field("units_sampled", sample.units_done)
            .field("sample_seconds", json_seconds(sample.elapsed))
            .field("cancelled", is_cancelled)
            .row("time", time)
            .bare(rounded(seconds.value, 6))
            .approximate("estimated_seconds", Some(seconds))
            .field("cores", self.cores)
            .field("cores_of_sample", estimate.cores.map(|cores| rounded(cores, 2)))
            .row("CPU time", expected(*cpu_seconds))
            .approximate("estimated_cpu_seconds", Some(*cpu_seconds))
            .row("total", total_text)
            .field("memory", memory)
            .field("counted", is_whole)
            .field("estimated_total", (total.value > 0.0 || is_whole).then_some(total.value))
            .field("estimated_total_standard_error", total.standard_error)
            .field("published_total", published.map(|total| total.to_string()));
        if memory > 0 {
            let threads = many(threads, "thread");
            report.row("memory", format_args!("{} on {threads}", BinaryBytes(memory)));
        }
        report
    }
}
