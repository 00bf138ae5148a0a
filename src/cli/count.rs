//! `nqueens count N`.

use anyhow::Context;
use nqueens::{Cancel, Count, Outcome, Published, symmetry, thread_pool};

use super::answer::print;
use super::exit::{Exit, Failure};
use super::options::{CountFormat, CountOptions, How};
use super::progress::Progress;
use super::record::Record;
use super::report::CountReport;
use super::signals::cancel_on_signals;
use super::talk::say;

pub(super) fn run(options: &CountOptions) -> Result<Exit, Failure> {
    let CountOptions { size, how, journal, .. } = options;
    let cancel = cancel_on_signals().context("cannot catch signals").map_err(Failure::Other)?;
    how.warn_if_slow(*size);
    let pool = thread_pool(how.machine.threads)?;
    let progress = Progress::new(how.machine.progress);
    let mut count = how.apply(Count::new(*size)).pool(&pool).observer(&progress).cancel(&cancel);
    if !options.queens.is_empty() {
        count = count.with_queens(options.queens.clone());
    }
    if let Some(path) = journal {
        count = count.journal(path);
    }
    let outcome = count.run();
    progress.clear();
    let outcome = outcome.map_err(|error| match Failure::from(error) {
        Failure::Stopped(message) if journal.is_some() => {
            Failure::Stopped(format!("{message}; the same command goes on from there"))
        }
        other => other,
    })?;
    let record = journal.as_deref().map(|path| Record::new(path, &outcome));
    let fundamental = options.fundamental.then(|| fundamental(&outcome, &cancel)).transpose()?;

    let mut found = Exit::Done;
    if let Published::Differs { expected } = outcome.published {
        say(format_args!(
            "Q({size}) = {} differs from the published {expected}: one of them is wrong",
            outcome.total
        ));
        found = Exit::Failed;
    }
    if let Some(fault) = &outcome.journal_fault {
        say(format_args!(
            "Q({size}) = {} is counted, but not all recorded: {fault}",
            outcome.total
        ));
        found = Exit::Failed;
    }
    let report = CountReport::new(&outcome, fundamental, record);
    Ok(print(found, |out| match options.format {
        CountFormat::Text => report.write_text(out),
        CountFormat::Json => report.write_json(out),
        CountFormat::Quiet => report.write_quiet(out),
    }))
}

/// The solutions up to symmetry. If the search for them is stopped, the total, which may have taken
/// long, is said with the reason.
pub(super) fn fundamental(outcome: &Outcome, cancel: &Cancel) -> Result<u128, Failure> {
    let Outcome { size, total, .. } = outcome;
    symmetry::fundamental(*size, *total, cancel).map_err(|error| match Failure::from(error) {
        Failure::Stopped(message) => {
            Failure::Stopped(format!("{message}; the total is done: Q({size}) = {total}"))
        }
        other => other,
    })
}

impl How {
    /// The settings of a count, except for its pool.
    pub(super) fn apply<'a>(&self, mut count: Count<'a>) -> Count<'a> {
        if let Some(engine) = self.engine {
            count = count.engine(engine);
        }
        if let Some(kernel) = self.machine.kernel {
            count = count.kernel(kernel);
        }
        if let Some(split_rows) = self.split_rows {
            count = count.split_rows(split_rows);
        }
        if let Some(bytes) = self.memory {
            count = count.memory(bytes);
        }
        count.self_check(self.self_check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nqueens::BoardSize;

    #[test]
    fn a_stopped_search_for_symmetric_solutions_does_not_lose_the_total() {
        let size = BoardSize::new(8).expect("in range");
        let outcome = Count::new(size).run().expect("a count");
        let cancel = Cancel::new();
        cancel.cancel();
        let Err(Failure::Stopped(message)) = fundamental(&outcome, &cancel) else {
            panic!("it was stopped");
        };
        assert!(message.ends_with("Q(8) = 92"), "{message}");
    }
}
