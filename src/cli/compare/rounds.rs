//! Who counts when: one run of each to warm up, then rounds in which each counts once.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::{Args, value_parser};
use nqueens::forecast::core_hours;
use nqueens::{BoardSize, Cancel, Count, Error, Outcome};
use rayon::ThreadPool;

use super::statistics::{Contestant, Runs};
use crate::cli::exit::Failure;
use crate::cli::format::{duration, long_time, rounded_to_figures};
use crate::cli::progress::{Progress, Work};
use crate::cli::stderr::message;
use crate::cli::values::time;

/// What will take longer is announced, by the table of what boards cost: seconds.
const ANNOUNCED: f64 = 60.0;

/// A run may take so many times less than it is expected to. An expectation that is too low costs one run
/// that is cut off at the limit, one that is too high would leave out an engine that fits.
const MARGIN: f64 = 3.0;

/// Shorter runs predict nothing: their times grow more slowly.
const SHORTEST: f64 = 0.1;

/// The seconds of a run by the table of what boards cost and, if it took a while, by the contestant's last board
/// and the time that this took.
fn expected_seconds(
    &Contestant { engine, kernel, threads }: &Contestant,
    size: BoardSize,
    last: Option<(BoardSize, f64)>,
) -> f64 {
    let cores = threads.min(num_cpus::get()) as f64;
    let by_table = |size| 3600.0 * core_hours(size, engine, kernel) / cores;
    let last = last.filter(|(_, seconds)| *seconds >= SHORTEST);
    by_table(size) * last.map_or(1.0, |(last, seconds)| seconds / by_table(last))
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
}

/// The rounds of all boards.
pub(super) struct Rounds<'a> {
    args: &'a RoundsArgs,
    contestants: Vec<Contestant>,
    /// Those of each number of threads.
    pools: &'a BTreeMap<usize, ThreadPool>,
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a Progress,
    /// The boards of each contestant in their order, and their times: to tell who is too slow.
    learnt: Vec<(Contestant, BoardSize, f64)>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(
        args: &'a RoundsArgs,
        contestants: Vec<Contestant>,
        pools: &'a BTreeMap<usize, ThreadPool>,
        cancel: &'a Cancel,
        progress: &'a Progress,
    ) -> Self {
        Self { args, contestants, pools, cancel, progress, learnt: Vec::new() }
    }

    /// The runs of each contestant on a board.
    fn runs(&self) -> usize {
        self.args.repeat as usize + 1
    }

    /// Tells if these boards will take minutes, and shows the progress on them.
    pub(super) fn begin(&self, sizes: &[BoardSize]) {
        let limit = self.args.seconds_limit.as_secs_f64();
        let mut all = 0.0;
        for contestant in &self.contestants {
            for size in sizes {
                let seconds = expected_seconds(contestant, *size, None);
                if seconds > limit {
                    // It is tried once, if it is not known to be too slow.
                    all += if seconds > MARGIN * limit { 0.0 } else { limit };
                    break;
                }
                all += seconds * self.runs() as f64;
            }
        }
        if all > ANNOUNCED {
            let time = long_time(rounded_to_figures(all, 2));
            message!("this takes about {time}; a smaller --repeat or --seconds-limit shortens it");
        }
        let runs = sizes.len() * self.contestants.len() * self.runs();
        self.progress.begin("compare", [0, runs], Work::Compare(Default::default()));
    }

    /// Times all contestants that are fast enough for a board. After a cancellation the result is
    /// what was measured before.
    pub(super) fn measure(&mut self, size: BoardSize) -> Result<Vec<Runs>, Failure> {
        let mut racing: Vec<(Contestant, Runs)> = Vec::new();
        let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut round = Duration::ZERO;
        for contestant in self.contestants.clone() {
            if self.cancel.is_cancelled() {
                break;
            }
            match self.warm_up(size, contestant)? {
                Ok(outcome) => {
                    let totals = vec![outcome.total];
                    racing.push((contestant, Runs { contestant, totals, seconds: Vec::new() }));
                    round += outcome.elapsed;
                }
                Err(_) if self.cancel.is_cancelled() => {}
                Err(reason) => left_out.entry(reason).or_default().push(contestant.to_string()),
            }
        }
        self.report_left_out(size, left_out);
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
                self.learnt.push((contestant, size, seconds));
            }
        }
        Ok(racing.into_iter().map(|(_, runs)| runs).collect())
    }

    /// The first run, which is not timed, or why the contestant is left out on this board.
    fn warm_up(
        &mut self,
        size: BoardSize,
        contestant: Contestant,
    ) -> Result<Result<Outcome, String>, Failure> {
        let limit = self.args.seconds_limit;
        let longer = format!("longer than {} (--seconds-limit)", duration(limit));
        let last = self.learnt.iter().rev().find(|(learnt, ..)| *learnt == contestant);
        let last = last.map(|&(_, size, seconds)| (size, seconds));
        if expected_seconds(&contestant, size, last) > MARGIN * limit.as_secs_f64() {
            return Ok(Err(format!("a run would take {longer}")));
        }
        self.begin_run(size, contestant, None);
        let begun = Instant::now();
        let is_over = || self.cancel.is_cancelled() || begun.elapsed() >= limit;
        match Cancel::watched(is_over, |stop| self.count(size, contestant, stop))? {
            Ok(outcome) => {
                self.progress.update(|state| state.done += 1);
                Ok(Ok(outcome))
            }
            Err(error) if error.is_cancelled() => {
                if !self.cancel.is_cancelled() {
                    self.learnt.push((contestant, size, limit.as_secs_f64()));
                }
                Ok(Err(format!("a run takes {longer}")))
            }
            Err(error @ Error::LacksMemory { .. }) => Ok(Err(Failure::from(error).to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn begin_run(&self, size: BoardSize, contestant: Contestant, left: Option<Duration>) {
        let left = left.map_or("warming up".to_owned(), |left| duration(left) + " left");
        let run = format!("n = {size}: {contestant}");
        self.progress.update(|state| state.work = Work::Compare([run, left]));
    }

    /// One line for a board: the engines by reason.
    fn report_left_out(&self, size: BoardSize, left_out: BTreeMap<String, Vec<String>>) {
        let engines = left_out.values().map(Vec::len).sum::<usize>();
        self.progress.update(|state| state.all -= engines * self.runs());
        let reasons = left_out.into_iter();
        let reasons = reasons.map(|(reason, engines)| format!("{}: {reason}", engines.join(", ")));
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        if !reasons.is_empty() {
            self.progress.suspend(|| message!("n = {size}: left out: {reasons}"));
        }
    }

    fn count(
        &self,
        size: BoardSize,
        Contestant { engine, kernel, threads }: Contestant,
        cancel: &Cancel,
    ) -> Result<Outcome, Error> {
        let count = Count::new(size).engine(engine).kernel(kernel).pool(&self.pools[&threads]);
        count.cancel(cancel).run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nqueens::{Engine, Kernel};

    #[test]
    fn a_board_is_predicted_from_a_smaller_one_that_took_a_while() {
        let contestant =
            Contestant { engine: Engine::Bitmask, kernel: Kernel::Portable, threads: 1 };
        let size = |n| BoardSize::new(n).expect("in range");
        let expected = |n, last| expected_seconds(&contestant, size(n), last);
        let by_table = expected(17, None);
        assert!(by_table > 6.0 * expected(16, None), "{by_table}");
        let twice = expected(17, Some((size(16), 2.0 * expected(16, None))));
        assert!((twice / by_table - 2.0).abs() < 1e-9, "{twice} and {by_table}");
        assert_eq!(expected(17, Some((size(8), 0.01))), by_table, "a hundredth of a second");
    }
}
