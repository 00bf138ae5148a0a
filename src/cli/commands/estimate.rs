//! `nqueens estimate N`.

use std::time::Duration;

use clap::Args;
use nqueens::estimate::{Effort, Estimate};
use nqueens::known::known;
use nqueens::memory::readable;
use nqueens::{BoardSize, EstimatedCount};
use serde::Serialize;

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::EngineArgs;
use crate::cli::output::json::{as_seconds, as_string_or_null, microseconds};
use crate::cli::output::text::{duration, many, seconds};
use crate::cli::session::Session;

/// The times that a sample may take.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(1_000_000);

/// Estimate, from random units, how long a count would take on this machine
#[derive(Debug, Args)]
pub(crate) struct EstimateArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Count random units for this many seconds
    #[arg(long, value_name = "S", default_value = "10", allow_negative_numbers = true)]
    #[arg(value_parser = sample_time)]
    seconds: Duration,

    /// Draw the same units again: the number that an earlier estimate printed
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    seed: Option<u64>,

    #[command(flatten)]
    engine: EngineArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn sample_time(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| (SHORTEST..=LONGEST).contains(time))
        .ok_or_else(|| "this is no time for a sample: choose 0.001 to 1000000".to_owned())
}

impl EstimateArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let session = Session::new(&self.engine)?;
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        let effort = Effort { time: self.seconds, units: usize::MAX, seed };
        let estimate = session.run(self.engine.count(self.n), |count| count.estimate(effort));
        let (estimate, count) = estimate.map_err(|failure| {
            failure.if_stopped(|_| "stopped before the sample was large enough".to_owned())
        })?;
        let report = EstimateReport::new(self.n, &estimate, &count, seed);
        Ok(Exit::Done.answer(Format::new(self.json, false), &report))
    }
}

/// All of it is estimated, except for what the sample was and what is published.
#[derive(Debug, Serialize)]
struct EstimateReport {
    n: u32,
    engine: &'static str,
    kernel: &'static str,
    threads: usize,
    units: usize,
    units_sampled: usize,
    clusters: usize,
    #[serde(serialize_with = "as_seconds")]
    sample_seconds: Duration,
    seed: u64,
    estimated_seconds: f64,
    /// Half the width of its interval of 95 %.
    estimated_seconds_error: f64,
    estimated_cpu_seconds: f64,
    estimated_total: f64,
    estimated_total_standard_error: f64,
    #[serde(serialize_with = "as_string_or_null")]
    published_total: Option<u128>,
    memory_shared: Option<u64>,
    memory_per_thread: Option<u64>,
}

impl EstimateReport {
    fn new(size: BoardSize, estimate: &Estimate, count: &EstimatedCount, seed: u64) -> Self {
        let Estimate { seconds, core_seconds, total, memory, .. } = *estimate;
        Self {
            n: size.get(),
            engine: count.engine.name(),
            kernel: count.kernel.name(),
            threads: count.threads,
            units: count.units,
            units_sampled: estimate.units_sampled,
            clusters: estimate.clusters,
            sample_seconds: estimate.elapsed,
            seed,
            estimated_seconds: microseconds(seconds.mean),
            estimated_seconds_error: microseconds(2.0 * seconds.error),
            estimated_cpu_seconds: microseconds(core_seconds.mean),
            estimated_total: total.mean,
            estimated_total_standard_error: total.error,
            published_total: known(size).total,
            memory_shared: memory.map(|memory| memory.shared),
            memory_per_thread: memory.map(|memory| memory.per_thread),
        }
    }
}

impl Report for EstimateReport {
    fn rows(&self) -> Vec<Line> {
        let Self { threads, units_sampled, units, clusters, seed, .. } = self;
        let sample_seconds = self.sample_seconds.as_secs_f64();
        let sample = format!(
            "{units_sampled} of {} in {}",
            many(*units, "unit"),
            many(*clusters, "cluster")
        );
        let mut rows = vec![
            ("n", self.n.to_string()),
            ("engine", format!("{}, kernel {}", self.engine, self.kernel)),
            ("threads", threads.to_string()),
            ("sample", format!("{sample}, {sample_seconds:.1} s, seed {seed}")),
        ];
        if let (Some(shared), Some(per_thread)) = (self.memory_shared, self.memory_per_thread) {
            let (shared, per_thread) = (readable(shared), readable(per_thread));
            rows.push(("memory", format!("{shared} + {threads} x {per_thread}")));
        }
        let (mean, error) = (self.estimated_seconds, self.estimated_seconds_error);
        let [mean, low, high] =
            [mean, mean - error, mean + error].map(|time| duration(seconds(time)));
        let cpu_time = duration(seconds(self.estimated_cpu_seconds));
        let (total, error) = (self.estimated_total, self.estimated_total_standard_error);
        rows.extend([
            ("time", format!("about {mean}, {low} to {high} with 95 % (estimated, this machine)")),
            ("CPU time", format!("about {cpu_time} (estimated)")),
            ("total", format!("about {total:.4e} ± {error:.1e} (estimated, standard error)")),
            ("published", self.published_total.map_or("unknown".to_owned(), |q| q.to_string())),
        ]);
        rows
    }
}
