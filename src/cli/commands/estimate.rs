//! `nqueens estimate N`.

use std::time::Duration;

use clap::Args;
use nqueens::BoardSize;
use nqueens::estimate::{Effort, Estimate};
use nqueens::known::known;
use nqueens::memory::readable;
use serde_json::{Value, json};

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::EngineArgs;
use crate::cli::output::json::{microseconds, seconds};
use crate::cli::output::text::{self, duration, many};
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
        let estimate = estimate.map_err(|failure| {
            failure.if_stopped(|_| "stopped before the sample was large enough".to_owned())
        })?;
        let report = EstimateReport { size: self.n, estimate, seed };
        Ok(Exit::Done.answer(Format::new(self.json, false), &report))
    }
}

struct EstimateReport {
    size: BoardSize,
    estimate: Estimate,
    seed: u64,
}

impl Report for EstimateReport {
    fn rows(&self) -> Vec<Line> {
        let Estimate { engine, kernel, threads, units, units_sampled, clusters, .. } =
            self.estimate;
        let Estimate { memory, seconds: time, total, .. } = self.estimate;
        let (units, clusters) = (many(units, "unit"), many(clusters, "cluster"));
        let (sample_time, seed) = (self.estimate.elapsed.as_secs_f64(), self.seed);
        let sample = format!("{units_sampled} of {units} in {clusters}");
        let mut rows = vec![
            ("n", self.size.to_string()),
            ("engine", format!("{engine}, kernel {kernel}")),
            ("threads", threads.to_string()),
            ("sample", format!("{sample}, {sample_time:.1} s, seed {seed}")),
        ];
        rows.extend(memory.map(|memory| {
            let (shared, per_thread) = (readable(memory.shared), readable(memory.per_thread));
            ("memory", format!("{shared} + {threads} x {per_thread}"))
        }));
        let (mean, error) = (time.value, 2.0 * time.standard_error);
        let [mean, low, high, cpu_time] =
            [mean, mean - error, mean + error, self.estimate.cpu_seconds.value]
                .map(|time| duration(text::seconds(time)));
        let published = known(self.size).total;
        rows.extend([
            ("time", format!("about {mean}, {low} to {high} with 95 % (estimated, this machine)")),
            ("CPU time", format!("about {cpu_time} (estimated)")),
            (
                "total",
                format!(
                    "about {:.4e} ± {:.1e} (estimated, standard error)",
                    total.value, total.standard_error
                ),
            ),
            ("published", published.map_or("unknown".to_owned(), |total| total.to_string())),
        ]);
        rows
    }

    fn json(&self) -> Value {
        let Estimate { seconds: time, cpu_seconds, total, memory, .. } = self.estimate;
        json!({
            "n": self.size.get(),
            "engine": self.estimate.engine.name(),
            "kernel": self.estimate.kernel.name(),
            "threads": self.estimate.threads,
            "units": self.estimate.units,
            "units_sampled": self.estimate.units_sampled,
            "clusters": self.estimate.clusters,
            "sample_seconds": seconds(self.estimate.elapsed),
            "seed": self.seed,
            "estimated_seconds": microseconds(time.value),
            "estimated_seconds_error": microseconds(2.0 * time.standard_error),
            "estimated_cpu_seconds": microseconds(cpu_seconds.value),
            "estimated_total": total.value,
            "estimated_total_standard_error": total.standard_error,
            "published_total": known(self.size).total.map(|total| total.to_string()),
            "memory_shared": memory.map(|memory| memory.shared),
            "memory_per_thread": memory.map(|memory| memory.per_thread),
        })
    }
}
