//! `nqueens compare N...`: engines, kernels and numbers of threads side by side.
//!
//! On each board every contestant, an engine with a kernel on a number of threads, counts once to warm
//! up; then rounds follow in which each counts once, so that whatever else the machine does falls on all
//! of them alike. Those that are too slow are left out. [`statistics`] makes the rows.

mod plot;
mod statistics;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::mem::take;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use nqueens::forecast::core_hours;
use nqueens::{BoardSize, Cancel, Count, Cpu, Engine, Error, Kernel, Outcome, thread_pool};
use rayon::ThreadPool;

use crate::cli::args::{OrElse, engines, kernels, named_or};
use crate::cli::exit::{Exit, Failure};
use crate::cli::file::{check_drawing, drawing, write_drawing};
use crate::cli::format::{duration, many};
use crate::cli::progress::{Progress, ProgressWhen, Work, rough_seconds};
use crate::cli::report::RowFormat;
use crate::cli::signals::cancel_on_signals;
use crate::cli::stderr::{escaped, message, print_differs};
use crate::cli::values::{default_threads, number_of_threads, sizes, time, up_to};
use statistics::{Contestant, Runs, TITLES, conclusion};

/// A run may take so many times less than what boards roughly cost. A cost that is too low
/// costs one run that is cut off at the limit, one that is too high would leave out an engine that fits.
const MARGIN: f64 = 3.0;

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

    /// Numbers of threads to compare; without it one number: NQUEENS_THREADS, or all cores that this
    /// process may use, of these at most SLURM_CPUS_PER_TASK
    #[arg(long, short, value_name = "T,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = number_of_threads)]
    threads: Vec<usize>,

    /// Kernels (vector instructions) to compare; without it the fastest that this CPU can run
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = named_or::<Kernel>("all", "all that this CPU can run", kernels()))]
    #[arg(default_value = Kernel::detect().name(), hide_default_value = true)]
    kernels: Vec<OrElse<Kernel>>,

    /// How often each is timed, after one run to warm up
    #[arg(long, value_name = "R", default_value = "5", allow_negative_numbers = true)]
    #[arg(value_parser = up_to(100_000))]
    repeat: usize,

    /// Leave engines out from the board on where one run takes longer: seconds, or a time like 10s or
    /// 2m
    #[arg(long, value_name = "S", default_value = "60", allow_negative_numbers = true)]
    #[arg(value_parser = time)]
    seconds_limit: Duration,

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
        let mut threads = self.threads.clone();
        if threads.is_empty() {
            threads.push(default_threads()?);
        }
        let pools = threads.iter().map(|threads| Ok((*threads, thread_pool(*threads)?)));
        let pools = pools.collect::<Result<BTreeMap<_, _>, Error>>()?;
        let contestants = self.contestants(&threads);
        let reference = self.engines.first().copied().flatten().unwrap_or(Engine::Subtrees);
        let reference = contestants.iter().find(|contestant| contestant.engine == reference);
        let reference = *reference.unwrap_or(&contestants[0]);
        let progress = Progress::new(self.progress);
        let lacked_memory = false;
        let mut rounds = Rounds { args: self, contestants, pools, cancel, progress, lacked_memory };
        let mut exit = Exit::Done;
        let repeats = many(self.repeat, "run");
        let ratio = format!("ratio: to {reference} (two standard errors)");
        self.format.remark(format_args!("{repeats} each on {cpu}\n{ratio}\n{TITLES}"))?;
        for size in sizes {
            let mut board = Vec::new();
            let result = rounds.measure(size, &mut board);
            let done: usize = board.iter().map(|runs| runs.seconds.len()).sum();
            let of = board.len() * self.repeat;
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
            if result.as_ref().is_err_and(Error::is_cancelled) {
                rounds
                    .progress
                    .suspend(|| message!("stopped at n = {size} after {done} of {of} runs"));
                return Ok(exit.or(Exit::Stopped));
            }
            result.map_err(|error| Failure::from(error).after(exit))?;
        }
        if all.is_empty() {
            let exit = if rounds.lacked_memory { Exit::NotNow } else { Exit::Failed };
            return Err(exit.because("nothing was measured, for the reasons above"));
        }
        rounds.progress.clear();
        let text = conclusion(all, reference.threads);
        let written = text.map_or(Ok(()), |text| self.format.remark(text));
        Ok(written.map_or_else(|error| exit.unprinted(&error), |()| exit))
    }
}

/// The rounds of all boards, in ascending order.
struct Rounds<'a> {
    args: &'a CompareArgs,
    /// Those that were fast enough for all boards so far.
    contestants: Vec<Contestant>,
    /// Those of each number of threads.
    pools: BTreeMap<usize, ThreadPool>,
    cancel: Cancel,
    progress: Progress,
    /// Whether something was left out for lack of memory.
    lacked_memory: bool,
}

impl Rounds<'_> {
    /// Times all contestants that are fast enough for a board. What is measured before an error, which
    /// may be a cancellation, is there.
    fn measure(&mut self, size: BoardSize, board: &mut Vec<Runs>) -> Result<(), Error> {
        let runs = |contestants: usize| contestants * (self.args.repeat + 1);
        let all = runs(self.contestants.len());
        self.progress.begin("compare", [0, all], Work::Compare(String::new()));
        let mut too_slow = Vec::new();
        for contestant in take(&mut self.contestants) {
            match self.warm_up(size, contestant) {
                Ok(outcome) => {
                    self.contestants.push(contestant);
                    board.push(Runs::new(contestant, &outcome));
                }
                Err(error @ Error::LacksMemory { .. }) => {
                    self.lacked_memory = true;
                    self.leave_out(size, contestant, Failure::from(error));
                }
                Err(error) if error.is_cancelled() && !self.cancel.is_cancelled() => {
                    too_slow.push(contestant.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        if !too_slow.is_empty() {
            let limit = duration(self.args.seconds_limit);
            let reason = format!("a run takes longer than {limit} (--seconds-limit)");
            self.leave_out(size, too_slow.join(", "), reason);
        }
        for _ in 0..self.args.repeat {
            for runs in &mut *board {
                runs.record(&self.count(size, runs.contestant, &self.cancel)?);
            }
        }
        Ok(())
    }

    fn leave_out(&self, size: BoardSize, who: impl Display, reason: impl Display) {
        self.progress.suspend(|| message!("left out from n = {size} on: {who}: {reason}"));
    }

    /// The first run, which is not timed. One that takes too long is cancelled.
    fn warm_up(&self, size: BoardSize, who: Contestant) -> Result<Outcome, Error> {
        let (limit, core_hours) =
            (self.args.seconds_limit, core_hours(size, who.engine, who.kernel));
        if rough_seconds(core_hours, who.threads) > MARGIN * limit.as_secs_f64() {
            return Err(Error::StoppedBefore { what: "the first unit" });
        }
        let begun = Instant::now();
        let is_over = || self.cancel.is_cancelled() || begun.elapsed() >= limit;
        Cancel::watched(is_over, |stop| self.count(size, who, stop))?
    }

    fn count(&self, size: BoardSize, who: Contestant, cancel: &Cancel) -> Result<Outcome, Error> {
        self.progress.begin_run(format!("n = {size}: {who}"));
        let count = Count::new(size).engine(who.engine).kernel(who.kernel);
        let outcome = count.pool(&self.pools[&who.threads]).cancel(cancel).run()?;
        self.progress.advance(1);
        Ok(outcome)
    }
}

/// Those that are named; `None` names all.
fn named<T: Copy>(names: &[Option<T>], all: &[T]) -> Vec<T> {
    names.iter().flat_map(|name| name.map_or(all.to_vec(), |one| vec![one])).collect()
}
