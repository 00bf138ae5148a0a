//! Who counts when: one run of each to warm up, then rounds in which each counts once.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::mem::take;
use std::time::{Duration, Instant};

use clap::Args;
use nqueens::forecast::core_hours;
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
    pub(super) pools: BTreeMap<usize, ThreadPool>,
    pub(super) cancel: Cancel,
    pub(super) progress: Progress,
}

impl Rounds<'_> {
    /// Times all contestants that are fast enough for a board. What is measured before an error, which
    /// may be a cancellation, is there.
    pub(super) fn measure(&mut self, size: BoardSize, board: &mut Vec<Runs>) -> Result<(), Error> {
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
                    self.leave_out(size, contestant, Failure::from(error));
                }
                Err(error) if error.is_cancelled() && !self.cancel.is_cancelled() => {
                    too_slow.push(contestant.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        self.progress.update(|state| state.all = runs(board.len()));
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
        self.progress.update(|state| state.work = Work::Compare(format!("n = {size}: {who}")));
        let count = Count::new(size).engine(who.engine).kernel(who.kernel);
        let outcome = count.pool(&self.pools[&who.threads]).cancel(cancel).run()?;
        self.progress.update(|state| state.done += 1);
        Ok(outcome)
    }
}
