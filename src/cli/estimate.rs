//! `nqueens estimate N`.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Context;
use nqueens::estimate::{Approximate, Effort, Estimate};
use nqueens::known::known;
use nqueens::{BoardSize, Count, Error, Estimate, thread_pool};
use serde::Serialize;

use super::answer::print;
use super::bytes::readable;
use super::exit::{Exit, Failure};
use super::fields::{as_string_or_null, microseconds, write_json};
use super::options::EstimateOptions;
use super::progress::short;
use super::signals::cancel_on_signals;

pub(super) fn run(options: &EstimateOptions) -> Result<Exit, Failure> {
    let EstimateOptions { size, time, how, .. } = options;
    let cancel = cancel_on_signals().context("cannot catch signals").map_err(Failure::Other)?;
    how.warn_if_slow(*size);
    let pool = thread_pool(how.machine.threads)?;
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let effort = Effort { time: *time, units: usize::MAX, seed };
    let count = how.apply(Count::new(*size)).pool(&pool).cancel(&cancel);
    let (estimate, count) = count.estimate(effort).map_err(|error| match error {
        Error::UnitStopped { .. } => {
            Failure::Stopped("stopped before the sample was large enough".to_owned())
        }
        other => other.into(),
    })?;
    let report = EstimateReport::new(*size, &estimate, &count, seed);
    Ok(print(Exit::Done, |out| match options.json {
        true => write_json(out, &report),
        false => report.write_text(out),
    }))
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
    sample_seconds: f64,
    seed: u64,
    /// With half the width of its interval of 95 %.
    estimated_seconds: f64,
    estimated_seconds_error: f64,
    estimated_core_seconds: f64,
    /// With its standard error.
    estimated_total: f64,
    estimated_total_standard_error: f64,
    #[serde(serialize_with = "as_string_or_null")]
    published_total: Option<u128>,
    memory_shared: Option<u64>,
    memory_per_thread: Option<u64>,
}

impl EstimateReport {
    fn new(size: BoardSize, estimate: &Estimate, count: &Estimate, seed: u64) -> Self {
        let Estimate { seconds, cpu_seconds, total, memory, .. } = *estimate;
        Self {
            n: size.get(),
            engine: count.engine.name(),
            kernel: count.kernel.name(),
            threads: count.threads,
            units: count.units,
            units_sampled: estimate.units_sampled,
            clusters: estimate.clusters,
            sample_seconds: microseconds(estimate.elapsed.as_secs_f64()),
            seed,
            estimated_seconds: microseconds(seconds.mean),
            estimated_seconds_error: microseconds(2.0 * seconds.error),
            estimated_core_seconds: microseconds(cpu_seconds.mean),
            estimated_total: total.mean,
            estimated_total_standard_error: total.error,
            published_total: known(size).total,
            memory_shared: memory.map(|memory| memory.shared),
            memory_per_thread: memory.map(|memory| memory.per_thread),
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { n, engine, kernel, threads, units, units_sampled, clusters, seed, .. } = self;
        writeln!(out, "n            {n}")?;
        writeln!(out, "engine       {engine}, kernel {kernel}")?;
        writeln!(out, "threads      {threads}")?;
        writeln!(
            out,
            "sample       {units_sampled} of {units} units in {clusters} clusters, {:.1} s, seed {seed}",
            self.sample_seconds
        )?;
        if let (Some(shared), Some(per_thread)) = (self.memory_shared, self.memory_per_thread) {
            let (shared, per_thread) = (readable(shared), readable(per_thread));
            writeln!(out, "memory       {shared} + {threads} x {per_thread}")?;
        }
        let time =
            Approximate { mean: self.estimated_seconds, error: self.estimated_seconds_error };
        let (low, high) = ((time.mean - time.error).max(0.0), time.mean + time.error);
        writeln!(
            out,
            "time         about {}, {} to {} with 95 % (estimated, this machine)",
            duration(time.mean),
            duration(low),
            duration(high)
        )?;
        writeln!(out, "core time    about {} (estimated)", duration(self.estimated_core_seconds))?;
        writeln!(
            out,
            "total        about {:.4e} ± {:.1e} (estimated, standard error)",
            self.estimated_total, self.estimated_total_standard_error
        )?;
        match self.published_total {
            Some(total) => writeln!(out, "published    {total}"),
            None => writeln!(out, "published    unknown"),
        }
    }
}

fn duration(seconds: f64) -> String {
    short(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}
