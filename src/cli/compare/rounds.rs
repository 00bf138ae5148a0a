//! Who counts when: one run of each to warm up, then rounds in which each counts once.

use std::collections::BTreeMap;
use std::mem::take;
use std::time::{Duration, Instant};

use clap::Args;
use nqueens::{BoardSize, Cancel, Count, Error, Outcome};
use rayon::ThreadPool;

use super::statistics::{Contestant, Runs};
use crate::cli::exit::Failure;
use crate::cli::format::duration;
use crate::cli::progress::{Progress, Work, rough_seconds};
use crate::cli::stderr::message;
use crate::cli::values::{time, up_to};

/// A run may take so many times less than what boards roughly cost. A cost that is too low
/// costs one run that is cut off at the limit, one that is too high would leave out an engine that fits.
const MARGIN: f64 = 3.0;

/// How contestants are timed on every board.
#[derive(Debug, Args)]
pub(super) struct RoundsArgs {
    /// How often each is timed, after one run to warm up
    #[arg(long, value_name = "R", default_value = "5", allow_negative_numbers = true)]
    #[arg(value_parser = up_to(100_000))]
    pub(super) repeat: usize,

    /// Leave engines out from the board on where one run takes longer: seconds, or a time like 10s or
    /// 2m
    #[arg(long, value_name = "S", default_value = "60", allow_negative_numbers = true)]
    #[arg(value_parser = time)]
    seconds_limit: Duration,
}

/// The rounds of all boards, in ascending order.
pub(super) struct Rounds<'a> {
    pub(super) args: &'a RoundsArgs,
    /// Those that were fast enough for all boards so far.
    pub(super) contestants: Vec<Contestant>,
    /// Those of each number of threads.
    pub(super) pools: &'a BTreeMap<usize, ThreadPool>,
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a Progress,
}

impl<'a> Rounds<'a> {
    /// Times all contestants that are fast enough for a board. What is measured before an error, which
    /// may be a cancellation, is there.
    pub(super) fn measure(
        &mut self,
        size: BoardSize,
        measured: &mut Vec<Runs>,
    ) -> Result<(), Failure> {
        let runs = |contestants: usize| contestants * (self.args.repeat + 1);
        let all = runs(self.contestants.len());
        self.progress.begin("compare", [0, all], Work::Compare(String::new()));
        let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for contestant in take(&mut self.contestants) {
            match self.warm_up(size, contestant)? {
                Ok(outcome) => {
                    self.contestants.push(contestant);
                    measured.push(Runs::new(contestant, &outcome));
                }
                Err(reason) => left_out.entry(reason).or_default().push(contestant.to_string()),
            }
        }
        self.progress.update(|state| state.all = runs(measured.len()));
        if !left_out.is_empty() {
            let reasons = left_out.into_iter();
            let reasons = reasons.map(|(reason, who)| format!("{}: {reason}", who.join(", ")));
            let reasons = reasons.collect::<Vec<_>>().join("; ");
            self.progress.suspend(|| message!("left out from n = {size} on: {reasons}"));
        }
        for _ in 0..self.args.repeat {
            for runs in &mut *measured {
                runs.record(&self.count(size, runs.contestant, self.cancel)?);
            }
        }
        Ok(())
    }

    /// The first run, which is not timed, or why the contestant is left out from this board on.
    fn warm_up(
        &self,
        size: BoardSize,
        contestant: Contestant,
    ) -> Result<Result<Outcome, String>, Failure> {
        let Contestant { engine, kernel, threads } = contestant;
        let limit = self.args.seconds_limit;
        let too_slow = format!("a run takes longer than {} (--seconds-limit)", duration(limit));
        if rough_seconds(size, engine, kernel, threads) > MARGIN * limit.as_secs_f64() {
            return Ok(Err(too_slow));
        }
        let begun = Instant::now();
        let is_over = || self.cancel.is_cancelled() || begun.elapsed() >= limit;
        match Cancel::watched(is_over, |stop| self.count(size, contestant, stop))? {
            Err(error) if error.is_cancelled() && !self.cancel.is_cancelled() => Ok(Err(too_slow)),
            Err(error @ Error::LacksMemory { .. }) => Ok(Err(Failure::from(error).to_string())),
            outcome => Ok(Ok(outcome?)),
        }
    }

    fn count(
        &self,
        size: BoardSize,
        contestant: Contestant,
        cancel: &Cancel,
    ) -> Result<Outcome, Error> {
        let run = format!("n = {size}: {contestant}");
        self.progress.update(|state| state.work = Work::Compare(run));
        let Contestant { engine, kernel, threads } = contestant;
        let count = Count::new(size).engine(engine).kernel(kernel).pool(&self.pools[&threads]);
        let outcome = count.cancel(cancel).run()?;
        self.progress.update(|state| state.done += 1);
        Ok(outcome)
    }
}
