//! `nqueens compare N...`: engines, kernels and numbers of threads side by side.
//!
//! On each board every contestant, an engine with a kernel on a number of threads, counts once to warm
//! up; then rounds follow in which each counts once, so that whatever else the machine does falls on all
//! of them alike. [`rounds`] times them and leaves out those that are too slow; [`statistics`] makes the
//! rows.

mod plot;
mod rounds;
mod statistics;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use nqueens::cpu::Cpu;
use nqueens::{BoardSize, Engine, Error, Kernel, thread_pool};

use crate::cli::args::{OrElse, engines, kernels, named_or};
use crate::cli::exit::{Exit, Failure};
use crate::cli::file::{check_drawing, drawing, write_drawing};
use crate::cli::format::many;
use crate::cli::progress::{Progress, ProgressWhen};
use crate::cli::report::RowFormat;
use crate::cli::signals::cancel_on_signals;
use crate::cli::stderr::{escaped, message, print_differs};
use crate::cli::values::{default_threads, number_of_threads, sizes};
use rounds::{Rounds, RoundsArgs};
use statistics::{Contestant, Runs, TITLES, conclusion};

/// Time engines, kernels and numbers of threads side by side
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens compare 8-12 --engines all --svg times.svg  all methods, and a picture
  nqueens compare 16 --kernels all --threads 1,2      what vectors are worth")]
pub(crate) struct CompareArgs {
    /// Boards to count: sizes and ranges, as 8,10,12 or 8-10
    #[arg(value_name = "N", required = true, allow_negative_numbers = true)]
    #[arg(value_delimiter = ',', value_parser = sizes)]
    sizes: Vec<RangeInclusive<u32>>,

    /// Engines to compare; ratios are to the first one named, or to subtrees for all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "subtrees,colours")]
    #[arg(value_parser = named_or::<Engine>("all", "all of these, on boards where they are fast enough", engines()))]
    engines: Vec<OrElse<Engine>>,

    /// Numbers of threads to compare; without it one number: NQUEENS_THREADS, SLURM_CPUS_PER_TASK,
    /// or all cores that this process may use
    #[arg(long, short, value_name = "T,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = number_of_threads)]
    threads: Vec<usize>,

    /// Kernels (vector instructions) to compare; without it the fastest that this CPU can run
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = named_or::<Kernel>("all", "all that this CPU can run", kernels()))]
    #[arg(default_value = Kernel::detect().name(), hide_default_value = true)]
    kernels: Vec<OrElse<Kernel>>,

    #[command(flatten)]
    rounds: RoundsArgs,

    /// Draw time against n, on the fewest threads
    #[arg(long, value_name = "FILE", value_parser = drawing("svg"))]
    svg: Option<PathBuf>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    progress: ProgressWhen,

    #[command(flatten)]
    format: RowFormat,
}

impl CompareArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if let Some(path) = &self.svg {
            check_drawing("--svg", path)?;
        }
        let (cpu, mut all) = (escaped(Cpu::detect().brand), Vec::new());
        let result = self.measure(&cpu, &mut all);
        if let Some(path) = self.svg.filter(|_| !all.is_empty()) {
            write_drawing("--svg", &path, &plot::picture(&all, &cpu))?;
        }
        result
    }

    /// Who counts, in the order of the rows.
    fn contestants(&self, threads: &[usize]) -> Vec<Contestant> {
        let kernels = named(&self.kernels, &Kernel::available());
        let mut contestants = Vec::new();
        for engine in named(&self.engines, &Engine::ALL) {
            let kernels = if engine.has_kernels() { &kernels[..] } else { &[Kernel::Portable] };
            for &kernel in kernels {
                let on = |&threads| Contestant { engine, kernel, threads };
                contestants.extend(threads.iter().map(on));
            }
        }
        contestants
    }

    /// Measures board by board; each board's rows are written as soon as they are known.
    fn measure(&self, cpu: &str, all: &mut Vec<Runs>) -> Result<Exit, Failure> {
        let cancel = cancel_on_signals()?;
        let sizes = self.sizes.iter().cloned().flatten();
        let mut sizes = sizes.map(BoardSize::new).collect::<Result<Vec<_>, _>>()?;
        // Ascending: a board's time is predicted from the one before.
        sizes.sort_unstable();
        sizes.dedup();
        let threads = match &self.threads[..] {
            [] => vec![default_threads()?],
            threads => threads.to_vec(),
        };
        let pools = threads.iter().map(|threads| Ok((*threads, thread_pool(*threads)?)));
        let pools = pools.collect::<Result<BTreeMap<_, _>, Error>>()?;
        let contestants = self.contestants(&threads);
        let reference = self.engines.first().copied().flatten().unwrap_or(Engine::Subtrees);
        let reference = contestants.iter().find(|contestant| contestant.engine == reference);
        let reference = *reference.unwrap_or(&contestants[0]);
        let progress = Progress::new(self.progress);
        let mut rounds = Rounds { args: &self.rounds, contestants, pools, cancel, progress };
        let mut exit = Exit::Done;
        let repeats = many(self.rounds.repeat, "run");
        let ratio = format!("ratio: to {reference} (two standard errors)");
        self.format.remark(format_args!("{repeats} each on {cpu}\n{ratio}\n{TITLES}"))?;
        for size in sizes {
            let mut board = Vec::new();
            let result = rounds.measure(size, &mut board);
            let done: usize = board.iter().map(|runs| runs.seconds.len()).sum();
            let of = board.len() * self.rounds.repeat;
            board.retain(|runs| !runs.seconds.is_empty());
            for runs in &board {
                for (total, published) in runs.differing() {
                    let computed = format!("Q({size}) = {total} by {}", runs.contestant);
                    rounds.progress.suspend(|| print_differs(computed, published));
                    exit = Exit::Failed;
                }
                let row = runs.row(reference, &board, cpu);
                let written =
                    rounds.progress.suspend(|| row.write_row(self.format, all.is_empty()));
                all.push(runs.clone());
                if let Err(error) = written {
                    return Ok(exit.unprinted(&error));
                }
            }
            if rounds.cancel.is_cancelled() {
                rounds
                    .progress
                    .suspend(|| message!("stopped at n = {size} after {done} of {of} runs"));
                return Ok(exit.or(Exit::Stopped));
            }
            result?;
        }
        if all.is_empty() {
            return Err(Exit::Failed.because("nothing was measured: raise --seconds-limit"));
        }
        rounds.progress.clear();
        let text = conclusion(all, reference.threads);
        let written = text.map_or(Ok(()), |text| self.format.remark(text));
        Ok(written.map_or_else(|error| exit.unprinted(&error), |()| exit))
    }
}

/// Those that are named; `None` names all.
fn named<T: Copy>(names: &[Option<T>], all: &[T]) -> Vec<T> {
    names.iter().flat_map(|name| name.map_or(all.to_vec(), |one| vec![one])).collect()
}
