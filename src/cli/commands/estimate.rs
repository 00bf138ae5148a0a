//! `nqueens estimate N`.

use std::time::Duration;

use crate::{Agreement, Approximate, BoardSize, Forecast, Outcome};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use indicatif::BinaryBytes;

use crate::cli::args::{EngineArgs, MachineArgs};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::print::format::{duration, expected, json_seconds, many, rounded, wall_time};
use crate::cli::print::published::print_differs;
use crate::cli::print::report::{Format, Report};
use crate::cli::progress::Work;
use crate::cli::session::{EngineChoice, Session};
use crate::cli::stderr::message;
use crate::cli::values::time;

/// Estimate, from a sample, how long a count would take on this machine
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the estimated seconds")))]
#[command(after_help = "\
Examples:
  nqueens estimate 22                      from a sample of ten seconds
  nqueens estimate 28 --seconds 2m         from a longer one
  nqueens estimate 26 --cores 64           how long 64 such CPUs would take")]
pub(crate) struct EstimateArgs {
    /// Size of the board, 0 to 32; engine colours, the fastest, ends at 30
    n: BoardSize,

    #[command(flatten)]
    format: Format,

    /// Length of the sample, such as 10, 10s or 2m
    ///
    /// If no unit has ended by then, the sample takes up to six times as long.
    #[arg(long, value_name = "S", default_value = "10", value_parser = time)]
    seconds: Duration,

    /// Estimate the time and the memory for C CPUs like those of this machine
    #[arg(long, value_name = "C")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000_000))]
    cores: Option<usize>,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    machine: MachineArgs,
}

/// What a sample says of a count.
struct Estimate {
    /// The outcome of the count that was stopped.
    sample: Outcome,
    forecast: Forecast,
    total: Approximate,
}

impl Estimate {
    fn new(sample: Outcome, forecast: Forecast) -> Self {
        let total = forecast.total.expect("an estimate of a count has its total");
        Self { sample, forecast, total }
    }
}

impl EstimateArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let choice = EngineChoice::new(&self.engine);
        let session = Session::new(&self.machine, &[choice.memory_of_thread(self.n)])?;
        session.announce_slow_engine(self.n, choice);
        let milliseconds = self.seconds.as_millis().try_into().unwrap_or(usize::MAX);
        session.progress.begin("estimate", [0, milliseconds], Work::Sample);
        let count = session.count(self.n, choice);
        let (sample, forecast) = session.run(|| count.estimate_here(self.seconds))?;
        let estimate = Estimate::new(sample, forecast);
        let sample = &estimate.sample;
        let mut exit = Exit::Done;
        if !sample.is_complete() && session.cancel.is_cancelled() {
            let elapsed = duration(sample.elapsed);
            let wanted = duration(self.seconds);
            message!("stopped after {elapsed} of {wanted}");
            exit = Exit::Stopped;
        }
        if let Agreement::Differs { expected } = sample.agreement {
            print_differs(format_args!("Q({}) = {}", self.n, sample.solutions), expected);
            exit = Exit::Failed;
        }
        let was_stopped = exit == Exit::Stopped;
        Ok(exit.answer(self.format, self.report(&estimate, was_stopped)))
    }

    fn report(&self, estimate: &Estimate, was_stopped: bool) -> Report {
        let sample = &estimate.sample;
        let total = estimate.total;
        let published = self.n.published().total;
        let estimated_total = Some(total).filter(|total| total.standard_error.is_finite());
        let mut sampled = format!("{} of {}", sample.units_done, many(sample.units, "unit"));
        sampled += &format!(", {}", duration(sample.elapsed));
        if is_too_small(estimate) {
            sampled += ", too few to be fair: the cheap ones end first";
        }
        let seconds = self.seconds_of_count(estimate);
        let threads = self.cores.unwrap_or(sample.threads);
        let memory = sample.engine.memory_of_thread(self.n).saturating_mul(threads as u64);
        // 0 stands for little.
        let memory = if memory > 0 { Some(memory) } else { None };
        let mut report = Report::default();
        report
            .entry("n", self.n.get())
            .engine(sample.engine, sample.kernel, sample.threads)
            .row("sample", sampled)
            .field("units", sample.units)
            .field("units_sampled", sample.units_done)
            .field("sample_seconds", json_seconds(sample.elapsed))
            .field("cancelled", was_stopped)
            .row("time", self.time_text(estimate));
        if threads > sample.threads {
            report.row(
                "",
                "allow for more: many CPUs slow each other down (16 took 1.2 to 1.6 times as long)",
            );
        }
        report
            .bare(rounded(seconds.value, 6))
            .approximate("estimated_seconds", Some(seconds))
            .field("cores", self.cores)
            .field("cores_of_sample", estimate.forecast.cores.map(|cores| rounded(cores, 2)))
            .row("CPU time", expected(estimate.forecast.cpu_seconds))
            .approximate("estimated_cpu_seconds", Some(estimate.forecast.cpu_seconds))
            .row("total", total_text(total, published))
            .field("memory", memory)
            .field("counted", sample.is_complete())
            .approximate("estimated_total", estimated_total)
            .field("published_total", published.map(|total| total.to_string()));
        if let Some(memory) = memory {
            let threads = many(threads, "thread");
            report.row("memory", format_args!("{} on {threads}", BinaryBytes(memory)));
        }
        if self.format.json {
            report.origin();
        }
        report
    }

    /// Returns the wall time of the count on `--cores`, or on the threads of the sample.
    fn seconds_of_count(&self, estimate: &Estimate) -> Approximate {
        match self.cores {
            Some(cores) => estimate.forecast.on_cores(cores),
            None => estimate.forecast.wall_seconds.expect("an estimate has a wall time"),
        }
    }

    /// Returns the wall time as text, with the CPUs that it holds for.
    fn time_text(&self, estimate: &Estimate) -> String {
        let seconds = self.seconds_of_count(estimate);
        if let Some(cores) = self.cores {
            return format!("{} on {} like this one", expected(seconds), many(cores, "CPU"));
        }
        if estimate.sample.is_complete() {
            return expected(seconds);
        }
        wall_time(seconds, estimate.sample.threads, estimate.forecast.cores)
    }
}

/// Returns whether a sample has finished units, but too few to know an error. The units that end first are cheap, so
/// forecasts from them are too low.
fn is_too_small(estimate: &Estimate) -> bool {
    let errors = [estimate.forecast.cpu_seconds.standard_error, estimate.total.standard_error];
    estimate.sample.units_done > 0 && errors.iter().all(|error| error.is_infinite())
}

/// Returns the estimated total as text, with as many digits as its interval leaves.
fn total_text(total: Approximate, published: Option<u128>) -> String {
    let value = total.value;
    let half_width = 2.0 * total.standard_error;
    let mut text = if half_width == 0.0 {
        format!("{value:.0}")
    } else if half_width == f64::INFINITY {
        "unknown: the sample is too small".to_owned()
    } else if value <= 0.0 {
        "unknown: the sample has found no solution".to_owned()
    } else if value < 10.0 * half_width {
        format!("{value:.1e} ± {half_width:.1e}")
    } else {
        format!("{value:.3e} ± {half_width:.1e}")
    };
    if let Some(published) = published {
        text += &format!(" (published: {published})");
    }
    text
}
