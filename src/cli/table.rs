//! `nqueens table FIRST..=LAST`: row by row, each as soon as it is counted.

use std::io;

use anyhow::Context;
use nqueens::known::known;
use nqueens::{BoardSize, Cancel, Count, Published, thread_pool};
use rayon::ThreadPool;

use super::answer::unprinted;
use super::count::fundamental;
use super::exit::{Exit, Failure};
use super::options::{How, TableOptions};
use super::progress::Progress;
use super::report::{TableRow, TableWriter};
use super::signals::cancel_on_signals;
use super::talk::say;

pub(super) fn run(options: &TableOptions) -> Result<Exit, Failure> {
    let cancel = cancel_on_signals().context("cannot catch signals").map_err(Failure::Other)?;
    let pool = thread_pool(options.how.machine.threads)?;
    let mut writer = TableWriter::new(options.format, io::stdout().lock());
    let mut exit = Exit::Done;
    if let Err(error) = writer.write_header() {
        return Ok(unprinted(exit, &error));
    }
    for n in options.sizes.clone() {
        let size = BoardSize::new(n)?;
        let row = row(size, &options.how, &pool, &cancel)?;
        for (what, computed, expected) in row.differences() {
            say(format_args!(
                "{what}({n}) = {computed} differs from the published {expected}: \
                 one of them is wrong"
            ));
            exit = Exit::Failed;
        }
        if let Err(error) = writer.write_row(&row) {
            return Ok(unprinted(exit, &error));
        }
    }
    Ok(exit)
}

fn row(
    size: BoardSize,
    how: &How,
    pool: &ThreadPool,
    cancel: &Cancel,
) -> Result<TableRow, Failure> {
    how.warn_if_slow(size);
    let progress = Progress::new(how.machine.progress);
    let outcome = how.apply(Count::new(size)).pool(pool).observer(&progress).cancel(cancel).run();
    progress.clear();
    let outcome = outcome.map_err(|error| match Failure::from(error) {
        Failure::Stopped(message) => Failure::Stopped(format!("n = {size}: {message}")),
        other => other,
    })?;
    let fundamental = fundamental(&outcome, cancel)?;
    Ok(TableRow {
        n: size.get(),
        total: outcome.total,
        fundamental,
        seconds: outcome.elapsed.as_secs_f64(),
        published: outcome.published,
        published_fundamental: Published::compare(fundamental, known(size).fundamental),
    })
}
