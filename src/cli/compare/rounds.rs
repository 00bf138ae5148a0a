//! Who counts when: one run of each to warm up, then rounds in which each counts once.

use std::collections::BTreeMap;
use std::time::Duration;

use nqueens::{BoardSize, Cancel, Count, Engine, Error, Kernel, Outcome};
use rayon::ThreadPool;

use super::forecast::{Measured, predicted_seconds, with_deadline};
use super::statistics::Runs;
use crate::cli::exit::Failure;
use crate::cli::format::{duration, many};
use crate::cli::progress::{Progress, Work};
use crate::cli::stderr::message;

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

    /// `halves on 2 threads`
    fn name(&self) -> String {
        format!("{} on {}", self.engine, many(self.threads(), "thread"))
    }
}

/// How contestants are timed on every board.
pub(super) struct Rounds<'a> {
    pub(super) repeat: u32,
    pub(super) seconds_limit: Duration,
    pub(super) kernel: Option<Kernel>,
    /// Bytes.
    pub(super) memory: u64,
    /// Whether it was asked for; else it is what this machine has.
    pub(super) memory_given: bool,
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a Progress,
    /// The times so far, to tell who is too slow.
    pub(super) measured: Vec<Measured>,
}

impl Rounds<'_> {
    /// Times all contestants that are fast enough for a board. After a cancellation the result is
    /// what was measured before.
    pub(super) fn measure(
        &mut self,
        size: BoardSize,
        contestants: &[Contestant<'_>],
    ) -> Result<Vec<Runs>, Failure> {
        let mut racing: Vec<(&Contestant<'_>, Runs)> = Vec::new();
        let mut left_out = Vec::new();
        let mut round = Duration::ZERO;
        for contestant in contestants {
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
        self.report_left_out(size, contestants, &left_out);
        'rounds: for done in 0..self.repeat {
            for (contestant, runs) in &mut racing {
                let left = Some(round * (self.repeat - done));
                self.begin_run(size, contestant, left);
                match self.count(size, contestant, self.cancel) {
                    Ok(outcome) => runs.record(&outcome),
                    Err(_) if self.cancel.is_cancelled() => break 'rounds,
                    Err(error) => return Err(error.into()),
                }
                self.progress.update(|state| state.done += 1);
            }
        }
        for (contestant, runs) in &racing {
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
        contestant: &Contestant<'_>,
    ) -> Result<Result<Outcome, String>, Failure> {
        let limit = self.seconds_limit;
        let longer = format!("longer than {} (--seconds-limit)", duration(limit));
        let (engine, threads) = (contestant.engine, contestant.threads());
        let predicted = predicted_seconds(engine, threads, size.get(), &self.measured);
        if predicted.is_some_and(|seconds| seconds > limit.as_secs_f64()) {
            return Ok(Err(format!("a run would take {longer}")));
        }
        self.begin_run(size, contestant, None);
        let counted =
            with_deadline(limit, self.cancel, |cancel| self.count(size, contestant, cancel));
        match counted.map_err(|error| Failure::NotNow(format!("cannot start a thread: {error}")))? {
            Ok(outcome) => {
                self.progress.update(|state| state.done += 1);
                Ok(Ok(outcome))
            }
            Err(Error::Stopped { .. } | Error::PreparationStopped) => {
                if !self.cancel.is_cancelled() {
                    self.learn(size, contestant, limit.as_secs_f64());
                }
                Ok(Err(format!("a run takes {longer}")))
            }
            Err(Error::MemoryBudget(mut shortage)) => {
                shortage.given = self.memory_given;
                Ok(Err(Failure::from(Error::MemoryBudget(shortage)).to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn begin_run(&self, size: BoardSize, contestant: &Contestant<'_>, left: Option<Duration>) {
        let left = left.map_or("warming up".to_owned(), |left| duration(left) + " left");
        let run = format!("n = {size}: {}", contestant.name());
        self.progress.update(|state| state.work = Work::Compare([run, left]));
    }

    fn learn(&mut self, size: BoardSize, contestant: &Contestant<'_>, seconds: f64) {
        let (engine, threads) = (contestant.engine, contestant.threads());
        self.measured.push(Measured { engine, threads, n: size.get(), seconds });
    }

    /// One line for a board: the contestants by reason, and their threads unless all are meant.
    fn report_left_out(
        &self,
        size: BoardSize,
        contestants: &[Contestant<'_>],
        left_out: &[(&Contestant<'_>, String)],
    ) {
        if left_out.is_empty() {
            return;
        }
        let mut names: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (contestant, reason) in left_out {
            let engine = contestant.engine;
            let all = contestants.iter().filter(|other| other.engine == engine).count();
            let is_alike =
                |(other, why): &&(&Contestant<'_>, String)| other.engine == engine && why == reason;
            let alike = left_out.iter().filter(is_alike).count();
            let name = if alike == all { engine.to_string() } else { contestant.name() };
            let names = names.entry(reason).or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        self.progress.update(|state| state.all -= left_out.len() * (self.repeat as usize + 1));
        let reasons = names.iter().map(|(reason, names)| format!("{}: {reason}", names.join(", ")));
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        self.progress.suspend(|| message!("n = {size}: left out: {reasons}"));
    }

    fn count(
        &self,
        size: BoardSize,
        contestant: &Contestant<'_>,
        cancel: &Cancel,
    ) -> Result<Outcome, Error> {
        let count = Count::new(size).engine(contestant.engine).pool(contestant.pool);
        let count = count.memory(self.memory).cancel(cancel);
        self.kernel.map_or(count.clone(), |kernel| count.kernel(kernel)).run()
    }
}
