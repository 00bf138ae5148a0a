//! `nqueens estimate N`.

use std::time::Duration;

use clap::Args;
use nqueens::BoardSize;
use nqueens::estimate::{Effort, Estimate};
use nqueens::known::known;

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::{EngineArgs, whole_number};
use crate::cli::output::json::{microseconds, seconds};
use crate::cli::output::report::{Format, Report};
use crate::cli::output::text::{self, duration, many};
use crate::cli::session::Session;

/// The times that a sample may take.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(1_000_000);

/// Estimate, from random units, how long a count would take on this machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens estimate 22                      from a sample of ten seconds
  nqueens estimate 24 --seconds 60 --memory 4G")]
pub(crate) struct EstimateArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Count random units for so long: seconds, or a time like 10s or 2m
    #[arg(long, value_name = "S", default_value = "10", allow_negative_numbers = true)]
    #[arg(value_parser = sample_time)]
    seconds: Duration,

    /// Draw the same units again: the number that an earlier estimate printed
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    #[arg(value_parser = whole_number::<u64>)]
    seed: Option<u64>,

    #[command(flatten)]
    engine: EngineArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn sample_time(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let with_unit =
        units.iter().find_map(|(name, seconds)| Some((text.strip_suffix(name)?, seconds)));
    let (number, seconds) = with_unit.unwrap_or((text, &1.0));
    let time = number
        .parse()
        .ok()
        .and_then(|number: f64| Duration::try_from_secs_f64(number * seconds).ok());
    time.filter(|time| (SHORTEST..=LONGEST).contains(time)).ok_or_else(|| {
        "this is no time for a sample: choose 0.001 to 1000000 seconds, or a time like 2m"
            .to_owned()
    })
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
        let report = report(self.n, seed, &estimate);
        Ok(Exit::Done.answer(Format::new(self.json, false), report))
    }
}

fn report(size: BoardSize, seed: u64, estimate: &Estimate) -> Report {
    let Estimate { units_sampled, clusters, elapsed, cpu_seconds, total, .. } = *estimate;
    let (time, error) = (estimate.seconds.value, 2.0 * estimate.seconds.standard_error);
    let [about, low, high, cpu_time] = [time, time - error, time + error, cpu_seconds.value]
        .map(|seconds| duration(text::seconds(seconds)));
    let is_whole = units_sampled == estimate.units;
    let [total_low, total_high] =
        [-2.0, 2.0].map(|errors| (total.value + errors * total.standard_error).max(0.0));
    let published = known(size).total.map(|total| total.to_string());
    let mut report = Report::default();
    report
        .entry("n", size.get())
        .engine(estimate.engine, estimate.kernel, estimate.threads)
        .row(
            "sample",
            format_args!(
                "{units_sampled} of {} in {}, {:.1} s, seed {seed}",
                many(estimate.units, "unit"),
                many(clusters, "cluster"),
                elapsed.as_secs_f64()
            ),
        )
        .field("units", estimate.units)
        .field("units_sampled", units_sampled)
        .field("clusters", clusters)
        .field("sample_seconds", seconds(elapsed))
        .field("seed", seed)
        .memory(estimate.memory, estimate.threads)
        .row(
            "time",
            match is_whole {
                true => format!("about {about} (the whole board was counted, on this machine)"),
                false => format!("about {about}, {low} to {high} with 95 % (this machine)"),
            },
        )
        .field("estimated_seconds", microseconds(time))
        .field("estimated_seconds_error", microseconds(error))
        .row("CPU time", format_args!("about {cpu_time} (estimated)"))
        .field("estimated_cpu_seconds", microseconds(cpu_seconds.value))
        .row(
            "total",
            match is_whole {
                true => format!("{:.0} (counted, not estimated)", total.value),
                false => format!(
                    "about {:.4e}, {total_low:.4e} to {total_high:.4e} with 95 %",
                    total.value
                ),
            },
        )
        .field("counted", is_whole)
        .field("estimated_total", total.value)
        .field("estimated_total_standard_error", total.standard_error)
        .row("published", published.as_deref().unwrap_or("unknown"))
        .field("published_total", published);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_or_are_seconds() {
        for (text, seconds) in
            [("10", 10.0), ("0.5", 0.5), ("10s", 10.0), ("2m", 120.0), ("1h", 3600.0)]
        {
            assert_eq!(sample_time(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "s", "m", "-1", "0", "1d", "2 m", "1e9", "nan", "inf", "1m30s"] {
            assert!(sample_time(text).is_err(), "{text}");
        }
    }
}
