//! `nqueens compare N...`: engines, kernels and numbers of threads side by side.
//!
//! A configuration is an engine with a kernel on a number of threads. On each board every configuration counts once to
//! warm up. Then rounds follow in which each counts once, so that whatever else the machine does falls on all of them
//! alike. Configurations that are too slow are left out. [`statistics`] makes the rows, with a [`ratio`] in each, and
//! [`plot`] the picture.

mod earlier;
mod plot;
mod ratio;
mod statistics;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::mem::take;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::forecast::rough_seconds;
use crate::machine::memory::StatedMemory;
use crate::machine::process_time;
use crate::plan::ThreadMemory;
use crate::{Agreement, BoardSize, Cancel, Count, Engine, Error, Kernel, Outcome, thread_pool};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use rayon::ThreadPool;

use crate::cli::args::{engines, kernels, named_or_all};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::files::{check_drawing, drawing, write_drawing};
use crate::cli::memory::stated_memory;
use crate::cli::print::format::{duration, many};
use crate::cli::print::origin::Origin;
use crate::cli::print::published::print_differs;
use crate::cli::print::report::RowFormat;
use crate::cli::progress::{Progress, ProgressWhen, Work};
use crate::cli::quote::escaped;
use crate::cli::session::threads_that_fit;
use crate::cli::signals::cancel_on_signals;
use crate::cli::stderr::message;
use crate::cli::values::{default_threads, number_of_threads, path, sizes, time};
use earlier::Earlier;
use ratio::Ratio;
use statistics::{
    Compared, Configuration, QUIET_SHARE, SPEED_UP_TITLES, TITLES, Timings, least_cpu_share,
};

/// A run is left out only if its rough cost exceeds the limit by more than this factor. A rough cost that is too low
/// wastes one run, which is cut off at the limit. A rough cost that is too high would leave out an engine that fits.
const MARGIN: f64 = 3.0;

/// Time engines, kernels and numbers of threads side by side
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens compare 8-12 --engines all --svg times.svg  all methods, and a picture
  nqueens compare 16 --kernels all --threads 1,2      what vectors gain
  nqueens compare 20 --threads all --svg threads.svg  speed-up, and a picture
  nqueens compare 10-24 --engines all --kernels all --seconds-limit 10  burn-in")]
pub(crate) struct CompareArgs {
    /// Boards to count: sizes and ranges (8,10,12 or 8-10)
    #[arg(value_name = "N", required = true, value_delimiter = ',', value_parser = sizes)]
    sizes: Vec<RangeInclusive<u32>>,

    /// Engines to compare; ratios are to the first one named, or to subtrees for all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "subtrees,colours")]
    #[arg(value_parser = named_or_all::<Engine>("all of these, on boards where they are fast enough", engines()))]
    engines: Vec<Option<Engine>>,

    /// Numbers of threads to compare, or all: 1, 2, 4 .. and the default [default: as for count]
    #[arg(long, short, value_name = "T,...", value_delimiter = ',', value_parser = parse_threads)]
    threads: Vec<Threads>,

    /// Kernels (vector instructions) to compare [default: the fastest that this CPU can run]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = named_or_all::<Kernel>("all that this CPU can run", kernels()))]
    #[arg(default_value = Kernel::detect().name(), hide_default_value = true)]
    kernels: Vec<Option<Kernel>>,

    /// Number of timed runs of each, after one run to warm up
    #[arg(long, value_name = "R", default_value = "5")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    repeat: usize,

    /// Leave an engine out from the first board on where a run takes longer, such as 10 or 1m30s
    #[arg(long, value_name = "S", default_value = "60", value_parser = time)]
    seconds_limit: Duration,

    /// Draw a picture of the times, or of the speed-up by threads
    ///
    /// The picture shows the time against n, on the fewest threads. With several --threads and at most two boards, it
    /// shows the speed-up against the threads.
    #[arg(long, value_name = "FILE", value_parser = drawing("svg"))]
    svg: Option<PathBuf>,

    /// Compare with FILE, the output of --json on another machine or of another version
    ///
    /// Each ratio is to the row of FILE with the same board, engine, threads and kernel, or with another kernel if FILE
    /// has only that one. A total that differs is exit code 1.
    #[arg(long, value_name = "FILE", value_parser = path())]
    against: Option<PathBuf>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    progress: ProgressWhen,

    #[command(flatten)]
    format: RowFormat,
}

/// Numbers of threads as an option names them.
#[derive(Clone, Copy, Debug)]
enum Threads {
    Number(usize),
    /// The powers of two below the default, and the default.
    All,
}

fn parse_threads(text: &str) -> Result<Threads, String> {
    if text == "all" { Ok(Threads::All) } else { number_of_threads(text).map(Threads::Number) }
}

impl CompareArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if let Some(path) = &self.svg {
            check_drawing("--svg", path)?;
        }
        let mut comparison = Comparison::new(&self)?;
        let result = comparison.run();
        comparison.progress.clear();
        comparison.warn_of_a_busy_machine();
        comparison.draw()?;
        match result {
            Ok(()) => Ok(comparison.found),
            Err(failure) => Err(failure.after(comparison.found)),
        }
    }

    /// Returns the boards that are named, in ascending order.
    fn boards(&self) -> Result<BTreeSet<BoardSize>, Error> {
        self.sizes.iter().cloned().flatten().map(BoardSize::new).collect()
    }

    /// Returns the numbers of threads that are named, or the default.
    fn numbers_of_threads(&self) -> Result<Vec<usize>, Failure> {
        let mut numbers = Vec::new();
        for threads in &self.threads {
            match threads {
                Threads::Number(number) => numbers.push(*number),
                Threads::All => numbers.extend(doublings_up_to(self.default_threads()?)),
            }
        }
        if numbers.is_empty() {
            numbers.push(self.default_threads()?);
        }
        Ok(numbers)
    }

    /// Returns the default number of threads, or as many as fit into memory on all boards that are counted.
    fn default_threads(&self) -> Result<usize, Failure> {
        let mut memory = Vec::new();
        for configuration in self.configurations(&[default_threads()?]) {
            for size in self.boards()? {
                let engine = configuration.engine;
                if engine.check(size).is_ok() && !self.is_too_slow(size, configuration) {
                    memory.push(ThreadMemory::of_engine(engine, size));
                }
            }
        }
        threads_that_fit(&memory)
    }

    /// Returns whether the rough cost of a run is far above the limit.
    fn is_too_slow(&self, size: BoardSize, configuration: Configuration) -> bool {
        let Configuration { engine, kernel, threads } = configuration;
        let seconds = rough_seconds(size, engine, kernel, threads);
        seconds > MARGIN * self.seconds_limit.as_secs_f64()
    }

    /// Returns the configurations with these numbers of threads, in the order of the rows.
    fn configurations(&self, numbers_of_threads: &[usize]) -> Vec<Configuration> {
        let named_kernels = named(&self.kernels, &Kernel::available());
        let mut configurations = Vec::new();
        for engine in named(&self.engines, Engine::ALL) {
            let kernels: &[Kernel] =
                if engine.has_kernels() { &named_kernels } else { &[Kernel::PORTABLE] };
            for &kernel in kernels {
                for &threads in numbers_of_threads {
                    let configuration = Configuration { engine, kernel, threads };
                    // A name that is given twice would make two rows that nothing tells apart.
                    if !configurations.contains(&configuration) {
                        configurations.push(configuration);
                    }
                }
            }
        }
        configurations
    }

    /// Returns what ratios are relative to: the rows of the file that `--against` names, or the first configuration of
    /// the engine that is named first, which is subtrees if all engines are.
    fn reference(
        &self,
        sizes: &BTreeSet<BoardSize>,
        configurations: &[Configuration],
    ) -> Result<Reference, Failure> {
        if let Some(file) = &self.against {
            let earlier = Earlier::read(file)?;
            let file = file.display().to_string();
            let has_row = |configuration: &Configuration| {
                sizes.iter().any(|size| earlier.row(*size, *configuration).is_some())
            };
            if !configurations.iter().any(has_row) {
                let why = "it has no row for these boards, engines, kernels and threads";
                return Err(Exit::Usage.because(format!("--against {file}: {why}")));
            }
            return Ok(Reference::Earlier { file, earlier });
        }
        let engine = self.engines[0].unwrap_or(Engine::Subtrees);
        let first = configurations.iter().find(|configuration| configuration.engine == engine);
        let first = *first.expect("every engine that is named has a configuration");
        Ok(Reference::Configuration(first))
    }
}

/// Returns the values that are named. `None` names all.
fn named<T: Copy>(names: &[Option<T>], all: &[T]) -> Vec<T> {
    let mut named = Vec::new();
    for name in names {
        match name {
            Some(value) => named.push(*value),
            None => named.extend_from_slice(all),
        }
    }
    named
}

/// Returns 1, 2, 4 and so on below a number, and the number.
fn doublings_up_to(most: usize) -> Vec<usize> {
    let mut numbers = Vec::new();
    let mut number = 1;
    while number < most {
        numbers.push(number);
        number *= 2;
    }
    numbers.push(most);
    numbers
}

/// What ratios are relative to.
enum Reference {
    /// A configuration that counts in turn with the others.
    Configuration(Configuration),
    /// An earlier comparison. Each configuration is compared with its own row for the board.
    Earlier { file: String, earlier: Earlier },
}

/// Prints the name of the configuration, or of the file with the earlier comparison.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration(configuration) => configuration.fmt(f),
            Self::Earlier { file, .. } => file.fmt(f),
        }
    }
}

impl Reference {
    /// Returns the ratio of timings to the reference, if it has timings of this board. `board` has all timings of the
    /// board.
    fn ratio(&self, timings: &Timings, board: &[Timings]) -> Option<Ratio> {
        match self {
            Self::Configuration(configuration) => timings.ratio_to(*configuration, board),
            Self::Earlier { earlier, .. } => {
                let row = earlier.row(timings.size, timings.configuration)?;
                Some(timings.ratio_to_earlier(&row.run_seconds))
            }
        }
    }

    /// Returns the name of the kernel that timings are compared with.
    fn kernel(&self, timings: &Timings) -> Option<&str> {
        match self {
            Self::Configuration(configuration) => Some(configuration.kernel.name()),
            Self::Earlier { earlier, .. } => {
                Some(&earlier.row(timings.size, timings.configuration)?.kernel)
            }
        }
    }
}

/// A comparison under way.
struct Comparison<'a> {
    args: &'a CompareArgs,
    /// Ascending, because a configuration that is too slow for a board is too slow for all larger ones.
    sizes: BTreeSet<BoardSize>,
    /// The configurations that were fast enough for all boards so far.
    configurations: Vec<Configuration>,
    reference: Reference,
    /// The fewest of several numbers of threads. Speed-ups are relative to runs on these.
    fewest: Option<usize>,
    /// A pool for each number of threads.
    pools: BTreeMap<usize, ThreadPool>,
    stated_memory: Option<StatedMemory>,
    cancel: Cancel,
    progress: Progress,
    /// The timings of all configurations, board by board.
    measured: Vec<Timings>,
    /// The exit code so far: `Failed` after a total that differs.
    found: Exit,
}

/// A board that was counted once.
struct Counted {
    total: u128,
    units: usize,
    elapsed: Duration,
    /// The CPU time of the process meanwhile.
    cpu_time: Duration,
    agreement: Agreement,
}

impl<'a> Comparison<'a> {
    /// Turns the options into what is to be compared.
    fn new(args: &'a CompareArgs) -> Result<Self, Failure> {
        let numbers_of_threads = args.numbers_of_threads()?;
        let mut pools = BTreeMap::new();
        for &threads in &numbers_of_threads {
            pools.insert(threads, thread_pool(threads)?);
        }
        let fewest = if pools.len() > 1 { pools.keys().next().copied() } else { None };
        let configurations = args.configurations(&numbers_of_threads);
        let sizes = args.boards()?;
        let reference = args.reference(&sizes, &configurations)?;
        Ok(Self {
            args,
            sizes,
            configurations,
            reference,
            fewest,
            pools,
            stated_memory: stated_memory()?,
            cancel: cancel_on_signals()?,
            progress: Progress::new(args.progress),
            measured: Vec::new(),
            found: Exit::Done,
        })
    }

    /// Measures board by board, and writes the rows of each board as soon as they are known.
    fn run(&mut self) -> Result<(), Failure> {
        self.write_titles()?;
        for size in self.sizes.clone() {
            let mut board = Vec::new();
            let result = self.measure(size, &mut board);
            self.progress.clear();
            // After an error, some configurations have only warmed up.
            board.retain(|timings| !timings.seconds.is_empty());
            let first_row = self.measured.len();
            self.measured.extend(board);
            self.write_rows(first_row)?;
            if let Err(error) = result {
                if error.is_cancelled() {
                    return Err(Exit::Stopped.because(format!("stopped at n = {size}")));
                }
                return Err(error.into());
            }
        }
        if self.measured.is_empty() {
            return Err(Exit::Failed.because("nothing was measured, for the reasons above"));
        }
        Ok(())
    }

    /// Times all configurations that are fast enough for a board, and puts their timings into `board`. What is timed
    /// before an error, which may be a cancellation, stays there.
    fn measure(&mut self, size: BoardSize, board: &mut Vec<Timings>) -> Result<(), Error> {
        let name = format!("compare n = {size}");
        self.progress.begin(&name, [0, self.configurations.len()], Work::Steps("runs to warm up"));
        for configuration in take(&mut self.configurations) {
            if let Err(error) = configuration.engine.check(size) {
                message!("left out from n = {size} on: {configuration}: {error}");
                continue;
            }
            match self.warm_up(size, configuration) {
                Ok(Counted { total, units, .. }) => {
                    self.configurations.push(configuration);
                    self.check_earlier(size, configuration, total);
                    board.push(Timings {
                        size,
                        configuration,
                        total,
                        units,
                        seconds: Vec::new(),
                        cpu_seconds: 0.0,
                    });
                }
                Err(error) if error.is_cancelled() && !self.cancel.is_cancelled() => {
                    let limit = duration(self.args.seconds_limit);
                    message!(
                        "left out from n = {size} on: {configuration}: a run takes longer than {limit} \
                         (--seconds-limit)"
                    );
                }
                Err(error) => return Err(error),
            }
        }
        let runs = board.len() * self.args.repeat;
        self.progress.begin(&name, [0, runs], Work::Steps("runs"));
        for _ in 0..self.args.repeat {
            for timings in &mut *board {
                let counted = self.count(size, timings.configuration, &self.cancel)?;
                self.check_published(size, timings.configuration, &counted);
                timings.cpu_seconds += counted.cpu_time.as_secs_f64();
                // No time is 0, because its logarithm is drawn, and others are divided by it.
                timings.seconds.push(counted.elapsed.as_secs_f64().max(1e-9));
            }
        }
        Ok(())
    }

    /// Counts a first time, which is not timed. A run that takes longer than the limit is cancelled, and does not begin
    /// if its rough cost is far above the limit.
    fn warm_up(&mut self, size: BoardSize, configuration: Configuration) -> Result<Counted, Error> {
        let limit = self.args.seconds_limit;
        if self.args.is_too_slow(size, configuration) {
            return Err(Error::Cancelled);
        }
        let begun = Instant::now();
        let cancel = self.cancel.clone();
        let is_over = || cancel.is_cancelled() || begun.elapsed() >= limit;
        let counted = Cancel::run_until(is_over, |stop| self.count(size, configuration, stop))??;
        self.check_published(size, configuration, &counted);
        Ok(counted)
    }

    /// Counts a board once.
    fn count(
        &self,
        size: BoardSize,
        configuration: Configuration,
        cancel: &Cancel,
    ) -> Result<Counted, Error> {
        let Configuration { engine, kernel, threads } = configuration;
        let count = Count::new(size).engine(engine).kernel(kernel).cancel_on(cancel);
        let count = count.with_stated_memory(self.stated_memory);
        let cpu_time_before = process_time();
        let outcome = self.pools[&threads].install(|| count.run_here())?;
        let cpu_time = process_time().saturating_sub(cpu_time_before);
        let Outcome { units, elapsed, agreement, .. } = outcome;
        let Some(total) = outcome.total else {
            return Err(Error::Cancelled);
        };
        self.progress.advance(1);
        Ok(Counted { total, units, elapsed, cpu_time, agreement })
    }

    /// Prints a total that is not the published one, and makes the comparison fail.
    fn check_published(
        &mut self,
        size: BoardSize,
        configuration: Configuration,
        counted: &Counted,
    ) {
        if let Agreement::Differs { expected } = counted.agreement {
            print_differs(computed(size, counted.total, configuration), expected);
            self.found = Exit::Failed;
        }
    }

    /// Prints a total that is not the one of an earlier comparison, and makes the comparison fail.
    fn check_earlier(&mut self, size: BoardSize, configuration: Configuration, total: u128) {
        let Reference::Earlier { file, earlier } = &self.reference else { return };
        let Some(row) = earlier.row(size, configuration) else { return };
        if row.total != total.to_string() {
            let computed = computed(size, total, configuration);
            message!("{computed} differs from {} in {file}: one of them is wrong", row.total);
            self.found = Exit::Failed;
        }
    }

    /// Prints a warning if other programs took CPUs, or there were fewer CPUs than threads.
    fn warn_of_a_busy_machine(&self) {
        if let Some((share, timings)) = least_cpu_share(&self.measured)
            && share < QUIET_SHARE
        {
            message!(
                "a thread had a CPU for only {:.0}% of the time (n = {}, {}), so these times are too long: end other \
                 programs, or use fewer threads",
                100.0 * share,
                timings.size,
                timings.configuration
            );
        }
    }

    /// Writes the lines above the first row.
    fn write_titles(&self) -> Result<(), Failure> {
        let format = self.args.format;
        let runs = many(self.args.repeat, "run");
        let Origin { version, host, .. } = Origin::here();
        let cpu = Origin::here().cpu_text();
        format.remark(format_args!("{runs} each of nqueens {version} on {host}, {cpu}"))?;
        format.remark(format_args!(
            "ratio: speed relative to {}, ± half of the 95% interval",
            escaped(&self.reference)
        ))?;
        for line in self.other_kernels() {
            format.remark(escaped(line))?;
        }
        format.remark("CPU: share of the time for which the threads ran")?;
        format.remark(if self.fewest.is_some() { SPEED_UP_TITLES } else { TITLES })?;
        Ok(())
    }

    /// Returns a line for each engine with a kernel that is compared with another one.
    fn other_kernels(&self) -> BTreeSet<String> {
        let mut lines = BTreeSet::new();
        let Reference::Earlier { file, earlier } = &self.reference else { return lines };
        for configuration in &self.configurations {
            for size in &self.sizes {
                if let Some(row) = earlier.row(*size, *configuration)
                    && row.kernel != configuration.kernel.name()
                {
                    let name = configuration.name();
                    lines
                        .insert(format!("{name} is compared with kernel {} in {file}", row.kernel));
                }
            }
        }
        lines
    }

    /// Writes the rows of the last board, which begin with this one.
    fn write_rows(&self, first_row: usize) -> Result<(), Failure> {
        let reference_name = self.reference.to_string();
        let board = &self.measured[first_row..];
        for (index, timings) in board.iter().enumerate() {
            let compared = Compared {
                reference: &reference_name,
                kernel: self.reference.kernel(timings),
                ratio: self.reference.ratio(timings, board),
            };
            let row = timings.row(compared, self.fewest, board);
            row.print_row(self.args.format, first_row + index == 0)?;
        }
        Ok(())
    }

    /// Draws the picture, if there is anything to draw.
    fn draw(&self) -> Result<(), Failure> {
        if let Some(path) = &self.args.svg
            && !self.measured.is_empty()
        {
            let origin = Origin::here();
            let picture = plot::picture(&self.measured, &origin.version, &origin.cpu_text());
            write_drawing("--svg", path, &picture)?;
        }
        Ok(())
    }
}

/// Returns a total, with the configuration and the machine that counted it.
fn computed(size: BoardSize, total: u128, configuration: Configuration) -> String {
    format!("Q({size}) = {total} by {configuration} of {}", Origin::here().host)
}
