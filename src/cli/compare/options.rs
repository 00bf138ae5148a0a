//! The arguments of `nqueens compare`, checked.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nqueens::{BoardSize, Engine, Error, Kernel};

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::{OrAuto, bytes, default_threads, number_of_threads, or_auto, sizes};
use crate::cli::output::bar::ProgressWhen;
use crate::cli::output::rows::RowFormat;

/// Time engines and numbers of threads side by side
#[derive(Debug, Args)]
pub(in crate::cli) struct CompareArgs {
    /// Boards to count: sizes or ranges FIRST..=LAST, 0 to 32
    #[arg(value_name = "N", required_unless_present = "draw", allow_negative_numbers = true)]
    #[arg(value_parser = sizes)]
    sizes: Vec<RangeInclusive<u32>>,

    /// Engines to compare, the first of which the others are measured by; or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "subtrees,halves")]
    engines: Vec<String>,

    /// Numbers of threads to compare; without it one number: NQUEENS_THREADS, SLURM_CPUS_PER_TASK,
    /// or all cores that this process may use
    #[arg(long, short, value_name = "T,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = number_of_threads)]
    threads: Vec<usize>,

    /// How often each is timed, after one run to warm up
    #[arg(long, value_name = "R", default_value = "5", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: u32,

    /// Leave engines out on boards where one run takes longer
    #[arg(long, value_name = "S", default_value = "60", allow_negative_numbers = true)]
    seconds_limit: f64,

    /// Vector instructions to use: auto, portable, avx2 or avx512
    #[arg(long, value_name = "NAME", default_value = "auto")]
    #[arg(value_parser = or_auto(Kernel::from_name))]
    kernel: OrAuto<Kernel>,

    /// Memory that a count may use, for example 4G [default: three quarters of what is available]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    #[arg(value_parser = bytes)]
    memory: Option<u64>,

    /// Draw time against n, and speed-up against threads if there are several numbers of them
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Draw what an earlier run wrote with --csv into FILE, instead of measuring
    #[arg(long, value_name = "FILE", requires = "svg", conflicts_with = "sizes")]
    draw: Option<PathBuf>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    progress: ProgressWhen,

    /// Print comma-separated values with a header line
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug)]
pub(crate) struct CompareOptions {
    /// Ascending: a board's time is predicted from the one before.
    pub(super) sizes: Vec<BoardSize>,
    pub(super) engines: Vec<Engine>,
    pub(super) threads: Vec<usize>,
    pub(super) repeat: u32,
    pub(super) seconds_limit: Duration,
    /// `None` for `auto`.
    pub(super) kernel: Option<Kernel>,
    /// Bytes; `None` for the default share.
    pub(super) memory: Option<u64>,
    pub(super) svg: Option<PathBuf>,
    /// Rows to draw instead of measuring.
    pub(super) draw: Option<PathBuf>,
    pub(super) progress: ProgressWhen,
    pub(super) format: RowFormat,
}

impl CompareOptions {
    /// How many runs there are if no engine is left out, those that warm up included.
    pub(super) fn runs(&self) -> u64 {
        let contestants = self.sizes.len() * self.engines.len() * self.threads.len();
        contestants as u64 * u64::from(self.repeat + 1)
    }
}

impl CompareArgs {
    pub(in crate::cli) fn run(self) -> Result<Exit, Failure> {
        super::run(&self.checked()?)
    }

    fn checked(self) -> Result<CompareOptions, Failure> {
        let sizes = self.sizes.into_iter().flatten();
        let mut sizes: Vec<BoardSize> =
            sizes.map(BoardSize::new).collect::<Result<_, _>>().map_err(Failure::from)?;
        sizes.sort_unstable();
        sizes.dedup();
        let numbers = match self.threads.is_empty() {
            true => vec![default_threads()?],
            false => self.threads,
        };
        let seconds_limit = Duration::try_from_secs_f64(self.seconds_limit).ok();
        let seconds_limit = seconds_limit.filter(|limit| !limit.is_zero()).ok_or_else(|| {
            let given = self.seconds_limit;
            Failure::Usage(format!("--seconds-limit: '{given}' is no time: give seconds above 0"))
        })?;
        Ok(CompareOptions {
            sizes,
            engines: without_repetitions(engines(&self.engines)?),
            threads: without_repetitions(numbers),
            repeat: self.repeat,
            seconds_limit,
            kernel: self.kernel,
            memory: self.memory,
            svg: self.svg,
            draw: self.draw,
            progress: self.progress,
            format: RowFormat::new(self.csv, self.json),
        })
    }
}

fn engines(names: &[String]) -> Result<Vec<Engine>, Failure> {
    let mut engines = Vec::new();
    for name in names {
        if name == "all" {
            engines.extend(Engine::ALL);
            continue;
        }
        engines.push(name.parse().map_err(|error| match error {
            Error::UnknownEngine { given, choices } => {
                let error = Error::UnknownEngine { given, choices: format!("all, {choices}") };
                Failure::Usage(format!("--engines: {error}"))
            }
            other => Failure::Usage(format!("--engines: {other}")),
        })?);
    }
    Ok(engines)
}

/// Each item where it stands first.
fn without_repetitions<T: PartialEq + Copy>(items: Vec<T>) -> Vec<T> {
    let first = |(place, item): (usize, &T)| (!items[..place].contains(item)).then_some(*item);
    items.iter().enumerate().filter_map(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_counts_once() {
        let names = |text: &str| {
            let names: Vec<String> = text.split(',').map(str::to_owned).collect();
            engines(&names).map(without_repetitions).map_err(|failure| format!("{failure:?}"))
        };
        assert_eq!(names("halves,subtrees,halves"), Ok(vec![Engine::Halves, Engine::Subtrees]));
        assert_eq!(names("bitmask,all").map(|engines| engines.len()), Ok(Engine::ALL.len()));
        assert!(names("halves,").expect_err("refused").contains("one of all, permutation"));
    }
}
