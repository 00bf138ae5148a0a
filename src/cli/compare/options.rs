//! The arguments of `nqueens compare`, checked.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use nqueens::{BoardSize, Engine, Error, Kernel};

use crate::cli::args::CompareArgs;
use crate::cli::bytes::Bytes;
use crate::cli::exit::Failure;
use crate::cli::options::{TableFormat, kernel, table_format, threads};
use crate::cli::progress::When;

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
    pub(super) progress: When,
    pub(super) format: TableFormat,
}

impl CompareOptions {
    /// How many runs there are if no engine is left out, those that warm up included.
    pub(super) fn runs(&self) -> u64 {
        let contestants = self.sizes.len() * self.engines.len() * self.threads.len();
        contestants as u64 * u64::from(self.repeat + 1)
    }
}

impl CompareArgs {
    pub(in crate::cli) fn checked(self) -> Result<CompareOptions, Failure> {
        let sizes = self.sizes.into_iter().flat_map(|sizes| sizes.0);
        let mut sizes: Vec<BoardSize> =
            sizes.map(BoardSize::new).collect::<Result<_, _>>().map_err(Failure::from)?;
        sizes.sort_unstable();
        sizes.dedup();
        let variable = |name: &str| env::var(name).ok();
        let numbers = if self.threads.is_empty() {
            vec![threads(None, variable)?]
        } else {
            let numbers = self.threads.iter().map(|text| threads(Some(text), variable));
            numbers.collect::<Result<_, _>>()?
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
            kernel: kernel(&self.kernel)?,
            memory: self.memory.map(|Bytes(bytes)| bytes),
            svg: self.svg,
            draw: self.draw,
            progress: self.progress.into(),
            format: table_format(self.csv, self.json),
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
