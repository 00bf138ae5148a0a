//! `nqueens compare N...`: engines, kernels and numbers of threads side by side.
//!
//! On each board every contestant, an engine with a kernel on a number of threads, counts once to warm
//! up; then rounds follow in which each counts once, so that whatever else the machine does falls on all
//! of them alike. Those that are too slow are left out. [`statistics`] makes the rows.

mod earlier;
mod plot;
mod statistics;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use nqueens::forecast::core_hours;
use nqueens::{
    BoardSize, Cancel, Count, Cpu, Engine, Error, Kernel, Outcome, Published, thread_pool,
};
use rayon::ThreadPool;
use sysinfo::System;

use crate::cli::args::{engines, kernels, named_or};
use crate::cli::exit::{Exit, Failure};
use crate::cli::file::{check_drawing, drawing, write_drawing};
use crate::cli::format::{duration, many};
use crate::cli::progress::{Progress, ProgressWhen, Work, rough_seconds};
use crate::cli::published::print_differs;
use crate::cli::quote::escaped;
use crate::cli::report::RowFormat;
use crate::cli::signals::cancel_on_signals;
use crate::cli::stderr::message;
use crate::cli::stdout;
use crate::cli::values::{default_threads, number, number_of_threads, sizes, time};
use statistics::{Contestant, Runs, SPEED_UP_TITLES, TITLES};

/// A run is left out only if its rough cost exceeds the limit by more than this factor. A cost that is too low
/// wastes one run, which is cut off at the limit; one that is too high would leave out an engine that fits.
const MARGIN: f64 = 3.0;

/// Time engines, kernels and numbers of threads side by side
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens compare 8-12 --engines all --svg times.svg  all methods, and a picture
  nqueens compare 16 --kernels all --threads 1,2      what vectors are worth
  nqueens compare 20 --threads all --svg threads.svg  speed-up, and a picture
  nqueens compare 10-24 --engines all --kernels all --seconds-limit 10  burn-in")]
pub(crate) struct CompareArgs {
    /// Boards to count: sizes and ranges (8,10,12 or 8-10)
    #[arg(value_name = "N", required = true, allow_negative_numbers = true)]
    #[arg(value_delimiter = ',', value_parser = sizes)]
    sizes: Vec<RangeInclusive<u32>>,

    /// Engines to compare; ratios are to the first one named, or to subtrees for all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "subtrees,colours")]
    #[arg(value_parser = named_or::<Engine>("all", "all of these, on boards where they are fast enough", engines()))]
    engines: Vec<Option<Engine>>,

    /// Numbers of threads to compare, or all: 1, 2, 4 .. and the default [default: NQUEENS_THREADS, else
    /// the usable cores]
    #[arg(long, short, value_name = "T,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = numbers_of_threads)]
    threads: Vec<Threads>,

    /// Kernels (vector instructions) to compare [default: the fastest that this CPU can run]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = named_or::<Kernel>("all", "all that this CPU can run", kernels()))]
    #[arg(default_value = Kernel::detect().name(), hide_default_value = true)]
    kernels: Vec<Option<Kernel>>,

    /// Number of timed runs of each, after one run to warm up
    #[arg(long, value_name = "R", default_value = "5", allow_negative_numbers = true)]
    #[arg(value_parser = number_of_runs)]
    repeat: usize,

    /// Drop an engine from the first board on where a run exceeds this (10, 10s, 1m30s)
    #[arg(long, value_name = "S", default_value = "60", allow_negative_numbers = true)]
    #[arg(value_parser = time)]
    seconds_limit: Duration,

    /// Draw time against n, on the fewest threads; with several --threads and at most two boards, draw
    /// speed-up against threads
    #[arg(long, value_name = "FILE", value_parser = drawing("svg"))]
    svg: Option<PathBuf>,

    /// Compare with FILE, which --json has printed elsewhere or earlier: ratios are to the same rows of
    /// FILE, and a total that differs is exit code 1
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    progress: ProgressWhen,

    #[command(flatten)]
    format: RowFormat,
}

/// Reads a number of timed runs.
fn number_of_runs(text: &str) -> Result<usize, String> {
    number(text, 1, 100_000)
}

impl CompareArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if let Some(path) = &self.svg {
            check_drawing("--svg", path)?;
        }
        let mut comparison = Comparison::new(&self)?;
        let result = comparison.run();
        comparison.progress.clear();
        if let Some(path) = self.svg.as_ref().filter(|_| !comparison.measured.is_empty()) {
            write_drawing(
                "--svg",
                path,
                &plot::picture(&comparison.measured, &escaped(&comparison.cpu)),
            )?;
        }
        let found = comparison.found;
        result.map(|()| found).map_err(|failure| failure.after(found))
    }

    /// Returns who counts on these numbers of threads, in the order of the rows.
    fn contestants(&self, threads: &[usize]) -> Vec<Contestant> {
        let kernels = named(&self.kernels, &Kernel::available());
        let mut contestants = Vec::new();
        for engine in named(&self.engines, &Engine::ALL) {
            for &kernel in if engine.has_kernels() { &kernels[..] } else { &[Kernel::Portable] } {
                for &threads in threads {
                    let contestant = Contestant { engine, kernel, threads };
                    // A name that is given twice would make two rows that nothing tells apart.
                    if !contestants.contains(&contestant) {
                        contestants.push(contestant);
                    }
                }
            }
        }
        contestants
    }
}

/// Returns the values that are named; `None` names all.
fn named<T: Copy>(names: &[Option<T>], all: &[T]) -> Vec<T> {
    names.iter().flat_map(|name| name.map_or(all.to_vec(), |one| vec![one])).collect()
}

/// Numbers of threads as an option names them.
#[derive(Clone, Copy, Debug)]
enum Threads {
    Number(usize),
    /// The powers of two below the default, and the default.
    All,
}

fn numbers_of_threads(text: &str) -> Result<Threads, String> {
    if text == "all" { Ok(Threads::All) } else { number_of_threads(text).map(Threads::Number) }
}

impl Threads {
    fn numbers(self) -> Result<Vec<usize>, Failure> {
        let most = match self {
            Self::Number(number) => return Ok(vec![number]),
            Self::All => default_threads()?,
        };
        let powers = (0..).map(|power| 1 << power).take_while(|few| *few < most);
        Ok(powers.chain([most]).collect())
    }
}

/// Returns a total, with who counted it on which machine.
fn computed(size: BoardSize, total: u128, who: Contestant) -> String {
    let host = System::host_name().unwrap_or_else(|| "this machine".to_owned());
    format!("Q({size}) = {total} by {who} of {host}")
}

/// A comparison under way.
struct Comparison<'a> {
    args: &'a CompareArgs,
    cpu: String,
    /// Ascending: a contestant that is too slow for a board is too slow for all larger ones.
    sizes: BTreeSet<BoardSize>,
    /// The contestants that were fast enough for all boards so far.
    contestants: Vec<Contestant>,
    /// The contestant relative to which ratios are, without an earlier comparison.
    reference: Contestant,
    /// The rows of the earlier comparison that `--against` names. Ratios are then relative to these rows.
    earlier: Option<Vec<Runs>>,
    /// The name of the reference, or of the file with the earlier comparison.
    reference_name: String,
    /// The fewest of several numbers of threads. Speed-ups are relative to a run on these.
    fewest: Option<usize>,
    /// A pool for each number of threads.
    pools: BTreeMap<usize, ThreadPool>,
    cancel: Cancel,
    progress: Progress,
    /// All timed runs, board by board.
    measured: Vec<Runs>,
    /// The exit code so far: `Failed` after a total that differs.
    found: Exit,
}

impl<'a> Comparison<'a> {
    fn new(args: &'a CompareArgs) -> Result<Self, Failure> {
        let mut threads = Vec::new();
        for named in &args.threads {
            threads.extend(named.numbers()?);
        }
        if threads.is_empty() {
            threads.push(default_threads()?);
        }
        let pools = threads.iter().map(|threads| Ok((*threads, thread_pool(*threads)?)));
        let pools = pools.collect::<Result<BTreeMap<_, _>, Error>>()?;
        let contestants = args.contestants(&threads);
        let sizes = args.sizes.iter().cloned().flatten().map(BoardSize::new);
        let sizes = sizes.collect::<Result<_, _>>()?;
        let reference = args.engines[0].unwrap_or(Engine::Subtrees);
        let reference = contestants.iter().find(|contestant| contestant.engine == reference);
        let reference = *reference.unwrap_or(&contestants[0]);
        let against = args.against.as_deref();
        let earlier = against.map(|file| earlier::read(file, &sizes, &contestants));
        Ok(Self {
            args,
            cpu: Cpu::detect().brand,
            sizes,
            reference,
            earlier: earlier.transpose()?,
            reference_name: against
                .map_or(reference.to_string(), |file| file.display().to_string()),
            contestants,
            fewest: pools.keys().next().copied().filter(|_| pools.len() > 1),
            pools,
            cancel: cancel_on_signals()?,
            progress: Progress::new(args.progress),
            measured: Vec::new(),
            found: Exit::Done,
        })
    }

    /// Measures board by board, and writes the rows of each board as soon as they are known.
    fn run(&mut self) -> Result<(), Failure> {
        let CompareArgs { format, repeat, .. } = *self.args;
        format.remark(format_args!("{} each on {}", many(repeat, "run"), escaped(&self.cpu)))?;
        format.remark(format_args!(
            "ratio: speed relative to {}, ± two standard errors",
            escaped(&self.reference_name)
        ))?;
        format.remark(if self.fewest.is_some() { SPEED_UP_TITLES } else { TITLES })?;
        for size in self.sizes.clone() {
            let first = self.measured.len();
            let result = self.measure(size);
            self.progress.clear();
            self.measured.retain(|runs| !runs.seconds.is_empty());
            let board = &self.measured[first..];
            for (runs, place) in board.iter().zip(first..) {
                let ratio = match self.earlier {
                    None => runs.ratio_to(self.reference, board),
                    Some(_) => self.earlier(runs).map(|earlier| runs.ratio_to_earlier(earlier)),
                };
                let row = runs.row(ratio, &self.reference_name, self.fewest, board, &self.cpu);
                row.write_row(format, place == 0)?;
            }
            result.map_err(|error| match error.is_cancelled() {
                true => Exit::Stopped.because(format!("stopped at n = {size}")),
                false => Failure::from(error),
            })?;
        }
        stdout::settle(Duration::MAX)?;
        if self.measured.is_empty() {
            return Err(Exit::Failed.because("nothing was measured, for the reasons above"));
        }
        Ok(())
    }

    /// Returns the row of the same contestant on the same board in the file of an earlier comparison.
    fn earlier(&self, runs: &Runs) -> Option<&Runs> {
        let is_same =
            |other: &&Runs| (other.size, other.contestant) == (runs.size, runs.contestant);
        self.earlier.iter().flatten().find(is_same)
    }

    /// Times all contestants that are fast enough for a board. What is measured before an error, which
    /// may be a cancellation, is kept.
    fn measure(&mut self, size: BoardSize) -> Result<(), Error> {
        let name = format!("compare n = {size}");
        self.progress.begin(&name, [0, self.contestants.len()], Work::Steps("runs to warm up"));
        let first = self.measured.len();
        for contestant in take(&mut self.contestants) {
            match self.warm_up(size, contestant) {
                Ok(Outcome { total, .. }) => {
                    self.contestants.push(contestant);
                    let runs = Runs { size, contestant, total, seconds: Vec::new() };
                    let earlier = self.earlier(&runs).map(|earlier| earlier.total);
                    if let Some(earlier) = earlier.filter(|earlier| *earlier != total) {
                        let (computed, file) =
                            (computed(size, total, contestant), &self.reference_name);
                        message!(
                            "{computed} differs from {earlier} in {file}: one of them is wrong"
                        );
                        self.found = Exit::Failed;
                    }
                    self.measured.push(runs);
                }
                Err(error) if error.is_cancelled() && !self.cancel.is_cancelled() => {
                    let limit = duration(self.args.seconds_limit);
                    message!(
                        "left out from n = {size} on: {contestant}: a run takes longer than {limit} \
                         (--seconds-limit)"
                    );
                }
                Err(error) => return Err(error),
            }
        }
        let runs = self.contestants.len() * self.args.repeat;
        self.progress.begin(&name, [0, runs], Work::Steps("runs"));
        let cancel = self.cancel.clone();
        for _ in 0..self.args.repeat {
            for place in first..self.measured.len() {
                let outcome = self.count(size, self.measured[place].contestant, &cancel)?;
                // No time is 0: its logarithm is drawn, and others are divided by it.
                self.measured[place].seconds.push(outcome.elapsed.as_secs_f64().max(1e-9));
            }
        }
        Ok(())
    }

    /// Counts a first time, which is not timed. A run that takes too long is cancelled.
    fn warm_up(&mut self, size: BoardSize, who: Contestant) -> Result<Outcome, Error> {
        let limit = self.args.seconds_limit;
        let core_hours = core_hours(size, who.engine, who.kernel);
        if rough_seconds(core_hours, who.threads) > MARGIN * limit.as_secs_f64() {
            return Err(Error::StoppedBefore { what: "the first unit" });
        }
        let (begun, cancel) = (Instant::now(), self.cancel.clone());
        let is_over = || cancel.is_cancelled() || begun.elapsed() >= limit;
        Cancel::run_until(is_over, |stop| self.count(size, who, stop))?
    }

    /// Counts once, and prints it if the total is not the published one.
    fn count(
        &mut self,
        size: BoardSize,
        who: Contestant,
        cancel: &Cancel,
    ) -> Result<Outcome, Error> {
        let count = Count::new(size).engine(who.engine).kernel(who.kernel);
        let outcome = self.pools[&who.threads].install(|| count.cancel(cancel).run())?;
        if let Published::Differs { expected } = outcome.published {
            let computed = computed(size, outcome.total, who);
            print_differs(computed, expected);
            self.found = Exit::Failed;
        }
        self.progress.advance(1);
        Ok(outcome)
    }
}
