//! A command that counts: its threads, its progress, and the signals that stop it.

use nqueens::forecast::Estimate;
use nqueens::{Cancel, Count, Error, Observer, Outcome, symmetry, thread_pool};
use rayon::ThreadPool;

use super::args::EngineArgs;
use super::bar::ProgressWhen;
use super::exit::Failure;
use super::long_count::LongCount;
use super::progress::Progress;
use super::sample_progress::SampleProgress;
use super::signals::cancel_on_signals;

#[derive(Debug)]
pub(crate) struct Session {
    cancel: Cancel,
    pool: ThreadPool,
    progress: ProgressWhen,
    long_count: Option<LongCount>,
}

impl Session {
    pub(crate) fn new(args: &EngineArgs) -> Result<Self, Failure> {
        args.warn_of_options_without_effect();
        Ok(Self {
            cancel: cancel_on_signals()?,
            pool: thread_pool(args.machine.threads()?)?,
            progress: args.machine.progress,
            long_count: None,
        })
    }

    /// Tells before a long count what it takes.
    pub(crate) fn announcing(self, long_count: LongCount) -> Self {
        Self { long_count: Some(long_count), ..self }
    }

    /// Runs a count on these threads. Signals stop it; its bar is gone when this returns.
    pub(crate) fn run<T>(
        &self,
        count: Count<'_>,
        run: impl FnOnce(Count<'_>) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let progress = Progress::new(self.progress, self.long_count);
        let result = self.observed(count, &progress, run);
        progress.clear();
        Ok(result?)
    }

    /// Takes a sample on these threads, in the same way.
    pub(crate) fn sample(
        &self,
        count: Count<'_>,
        estimate: impl FnOnce(Count<'_>) -> Result<Estimate, Error>,
    ) -> Result<Estimate, Failure> {
        let progress = SampleProgress::new(self.progress);
        let result = self.observed(count, &progress, estimate);
        progress.clear();
        Ok(result?)
    }

    fn observed<T>(
        &self,
        count: Count<'_>,
        observer: &dyn Observer,
        run: impl FnOnce(Count<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        run(count.pool(&self.pool).observer(observer).cancel(&self.cancel))
    }

    /// The solutions up to symmetry. If the search for symmetric ones is stopped, the message tells
    /// the total, which may have taken long.
    pub(crate) fn fundamental(&self, outcome: &Outcome) -> Result<u128, Failure> {
        let Outcome { size, total, .. } = outcome;
        symmetry::fundamental(*size, *total, &self.cancel).map_err(|error| {
            let reason = Failure::from(error);
            reason.if_stopped(|text| format!("{text}; the total is done: Q({size}) = {total}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nqueens::BoardSize;

    #[test]
    fn a_stopped_search_for_symmetric_solutions_does_not_lose_the_total() {
        let outcome = Count::new(BoardSize::new(8).expect("in range")).run().expect("a count");
        let (cancel, pool) = (Cancel::new(), thread_pool(1).expect("a thread"));
        cancel.cancel();
        let session = Session { cancel, pool, progress: ProgressWhen::Never, long_count: None };
        let Err(Failure::Stopped(message)) = session.fundamental(&outcome) else {
            panic!("it was stopped");
        };
        assert!(message.ends_with("Q(8) = 92"), "{message}");
    }
}
