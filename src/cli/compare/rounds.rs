//! Who counts when: one run of each to warm up, then rounds in which each counts once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use clap::{Args, value_parser};
use nqueens::{BoardSize, Cancel, Count, Engine, Error, Kernel, Outcome, memory};
use rayon::ThreadPool;

use super::forecast::{predicted_seconds, with_deadline};
use super::statistics::Runs;
use crate::cli::args::{OrAuto, kernel_or_auto};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, many};
use crate::cli::progress::{Progress, Work};
use crate::cli::stderr::message;
use crate::cli::values::{bytes, time};

/// An engine on a number of threads.
#[derive(Clone, Copy)]
pub(super) struct Contestant<'a> {
    pub(super) engine: Engine,
    pub(super) pool: &'a ThreadPool,
}

impl Contestant<'_> {
    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// How contestants are timed on every board.
#[derive(Debug, Args)]
pub(super) struct RoundsArgs {
    /// How often each is timed, after one run to warm up
    #[arg(long, value_name = "R", default_value = "5", allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u32).range(1..=100_000))]
    pub(super) repeat: u32,

    /// Leave engines out on boards where one run takes longer: seconds, or a time like 10s or 2m
    #[arg(long, value_name = "S", default_value = "60", allow_negative_numbers = true)]
    #[arg(value_parser = time)]
    seconds_limit: Duration,

    /// Vector instructions to use
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = kernel_or_auto())]
    kernel: OrAuto<Kernel>,

    /// Memory that a count may use, for example 4G [default: three quarters of what is available]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = bytes)]
    memory: Option<u64>,
}

/// The rounds of all boards.
pub(super) struct Rounds<'a> {
    args: &'a RoundsArgs,
    contestants: Vec<Contestant<'a>>,
    /// Bytes.
    memory: u64,
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a Progress,
    /// The last board of each engine on a number of threads, and its time: to tell who is too slow.
    last: HashMap<(Engine, usize), (u32, f64)>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(
        args: &'a RoundsArgs,
        contestants: Vec<Contestant<'a>>,
        cancel: &'a Cancel,
        progress: &'a Progress,
    ) -> Self {
        // Asked for once: to look at the machine's memory would take part of every small count.
        let memory = args.memory.unwrap_or_else(memory::default_budget);
        Self { args, contestants, memory, cancel, progress, last: HashMap::new() }
    }

    /// The runs of each contestant on a board.
    fn runs(&self) -> usize {
        self.args.repeat as usize + 1
    }

    /// Shows the progress on so many boards.
    pub(super) fn begin(&self, boards: usize) {
        let runs = boards * self.contestants.len() * self.runs();
        self.progress.begin("compare", [0, runs], Work::Compare(Default::default()));
    }

    /// Times all contestants that are fast enough for a board. After a cancellation the result is
    /// what was measured before.
    pub(super) fn measure(&mut self, size: BoardSize) -> Result<Vec<Runs>, Failure> {
        let mut racing: Vec<(Contestant<'_>, Runs)> = Vec::new();
        let mut left_out = Vec::new();
        let mut round = Duration::ZERO;
        for contestant in self.contestants.clone() {
            if self.cancel.is_cancelled() {
                break;
            }
            match self.warm_up(size, contestant)? {
                Ok(outcome) => {
                    racing.push((contestant, Runs::new(&outcome)));
                    round += outcome.elapsed;
                }
                Err(_) if self.cancel.is_cancelled() => {}
                Err(reason) => left_out.push((contestant, reason)),
            }
        }
        self.report_left_out(size, &left_out);
        'rounds: for done in 0..self.args.repeat {
            for &mut (contestant, ref mut runs) in &mut racing {
                let left = Some(round * (self.args.repeat - done));
                self.begin_run(size, contestant, left);
                match self.count(size, contestant, self.cancel) {
                    Ok(outcome) => runs.record(&outcome),
                    Err(_) if self.cancel.is_cancelled() => break 'rounds,
                    Err(error) => return Err(error.into()),
                }
                self.progress.update(|state| state.done += 1);
            }
        }
        for &(contestant, ref runs) in &racing {
            if let Some(seconds) = runs.median() {
                self.learn(size, contestant, seconds);
            }
        }
        Ok(racing.into_iter().map(|(_, runs)| runs).collect())
    }

    /// The first run, which is not timed, or why the contestant is left out on this board.
    fn warm_up(
        &mut self,
        size: BoardSize,
        contestant: Contestant<'_>,
    ) -> Result<Result<Outcome, String>, Failure> {
        let limit = self.args.seconds_limit;
        let longer = format!("longer than {} (--seconds-limit)", duration(limit));
        let (engine, threads) = (contestant.engine, contestant.threads());
        let predicted =
            predicted_seconds(engine, size.get(), self.last.get(&(engine, threads)).copied());
        if predicted.is_some_and(|seconds| seconds > limit.as_secs_f64()) {
            return Ok(Err(format!("a run would take {longer}")));
        }
        self.begin_run(size, contestant, None);
        let counted =
            with_deadline(limit, self.cancel, |cancel| self.count(size, contestant, cancel));
        match counted
            .map_err(|error| Exit::NotNow.because(format!("cannot start a thread: {error}")))?
        {
            Ok(outcome) => {
                self.progress.update(|state| state.done += 1);
                Ok(Ok(outcome))
            }
            Err(error) if error.is_cancelled() => {
                if !self.cancel.is_cancelled() {
                    self.learn(size, contestant, limit.as_secs_f64());
                }
                Ok(Err(format!("a run takes {longer}")))
            }
            Err(Error::MemoryBudget(mut shortage)) => {
                shortage.given = self.args.memory.is_some();
                Ok(Err(Failure::from(Error::MemoryBudget(shortage)).to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn begin_run(&self, size: BoardSize, contestant: Contestant<'_>, left: Option<Duration>) {
        let left = left.map_or("warming up".to_owned(), |left| duration(left) + " left");
        let Contestant { engine, .. } = contestant;
        let run = format!("n = {size}: {engine} on {}", many(contestant.threads(), "thread"));
        self.progress.update(|state| state.work = Work::Compare([run, left]));
    }

    fn learn(&mut self, size: BoardSize, contestant: Contestant<'_>, seconds: f64) {
        let (engine, threads) = (contestant.engine, contestant.threads());
        self.last.insert((engine, threads), (size.get(), seconds));
    }

    /// One line for a board: the engines by reason.
    fn report_left_out(&self, size: BoardSize, left_out: &[(Contestant<'_>, String)]) {
        let mut engines: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (contestant, reason) in left_out {
            engines.entry(reason).or_default().insert(contestant.engine.name());
        }
        self.progress.update(|state| state.all -= left_out.len() * self.runs());
        let names = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
        let reasons = engines.into_iter();
        let reasons = reasons.map(|(reason, engines)| format!("{}: {reason}", names(engines)));
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        if !reasons.is_empty() {
            self.progress.suspend(|| message!("n = {size}: left out: {reasons}"));
        }
    }

    fn count(
        &self,
        size: BoardSize,
        contestant: Contestant<'_>,
        cancel: &Cancel,
    ) -> Result<Outcome, Error> {
        let count = Count::new(size).engine(contestant.engine).pool(contestant.pool);
        let count = count.memory(self.memory).cancel(cancel);
        self.args.kernel.map_or(count.clone(), |kernel| count.kernel(kernel)).run()
    }
}
