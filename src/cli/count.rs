//! `nqueens count N`.

use std::io::{self, Write};

use anyhow::Context;
use nqueens::{Count, Published, symmetry, thread_pool};

use super::exit::{Exit, Failure};
use super::options::{CountFormat, CountOptions, How};
use super::progress::Progress;
use super::report::CountReport;
use super::signals::cancel_on_signals;
use super::talk::say;

pub(super) fn run(options: &CountOptions) -> Result<Exit, Failure> {
    let CountOptions { size, how, .. } = options;
    let cancel = cancel_on_signals().context("cannot catch signals").map_err(Failure::Other)?;
    how.warn_if_slow(*size);
    let pool = thread_pool(how.threads)?;
    let progress = Progress::new(how.progress);
    let outcome =
        how.apply(Count::new(*size)).pool(&pool).observer(&progress).cancel(&cancel).run();
    progress.clear();
    let outcome = outcome?;
    let fundamental = options
        .fundamental
        .then(|| symmetry::fundamental(*size, outcome.total, &cancel))
        .transpose()?;

    let report = CountReport::new(&outcome, fundamental);
    let mut out = io::stdout().lock();
    match options.format {
        CountFormat::Text => report.write_text(&mut out)?,
        CountFormat::Json => report.write_json(&mut out)?,
        CountFormat::Quiet => report.write_quiet(&mut out)?,
    }
    out.flush()?;
    if let Published::Differs { expected } = outcome.published {
        say(format_args!(
            "Q({size}) = {} differs from the published {expected}: one of them is wrong",
            outcome.total
        ));
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}

impl How {
    /// The settings of a count, except for its pool.
    pub(super) fn apply<'a>(&self, mut count: Count<'a>) -> Count<'a> {
        if let Some(engine) = self.engine {
            count = count.engine(engine);
        }
        if let Some(kernel) = self.kernel {
            count = count.kernel(kernel);
        }
        if let Some(split_rows) = self.split_rows {
            count = count.split_rows(split_rows);
        }
        if let Some(bytes) = self.memory {
            count = count.memory(bytes);
        }
        count
    }
}
