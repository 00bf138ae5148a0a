//! `nqueens shard N --index I --of K --out PATH`.

use std::io::{self, Write};

use anyhow::Context;
use nqueens::{Count, ShardOutcome, thread_pool};
use serde::Serialize;

use super::answer::print;
use super::exit::{Exit, Failure};
use super::fields::{as_string, microseconds, write_json};
use super::options::ShardOptions;
use super::progress::Progress;
use super::signals::cancel_on_signals;
use super::talk::{plain, say};

pub(super) fn run(options: &ShardOptions) -> Result<Exit, Failure> {
    let ShardOptions { size, shard, out, how, .. } = options;
    let cancel = cancel_on_signals().context("cannot catch signals").map_err(Failure::Other)?;
    how.warn_if_slow(*size);
    let pool = thread_pool(how.machine.threads)?;
    let progress = Progress::new(how.machine.progress);
    let count = how.apply(Count::new(*size)).pool(&pool).observer(&progress).cancel(&cancel);
    let outcome = count.run_shard(*shard, out);
    progress.clear();
    let outcome = outcome.map_err(|error| match Failure::from(error) {
        Failure::Stopped(message) => Failure::Stopped(format!(
            "shard {shard}: {message}; the same command goes on from there"
        )),
        other => other,
    })?;
    for reason in &outcome.left_out {
        say(format_args!("warning: {reason}; its units were counted as not finished"));
    }
    let mut found = Exit::Done;
    if let Some(fault) = &outcome.journal_fault {
        say(format_args!("shard {shard} is counted, but not all recorded: {fault}"));
        found = Exit::Failed;
    }
    let report = ShardReport::new(&outcome);
    Ok(print(found, |out| match options.json {
        true => write_json(out, &report),
        false => report.write_text(out),
    }))
}

#[derive(Debug, Serialize)]
struct ShardReport {
    n: u32,
    index: usize,
    of: usize,
    units: usize,
    units_before: usize,
    #[serde(serialize_with = "as_string")]
    solutions: u128,
    engine: &'static str,
    kernel: &'static str,
    threads: usize,
    recounted: usize,
    seconds: f64,
    journal: Option<String>,
}

impl ShardReport {
    fn new(outcome: &ShardOutcome) -> Self {
        Self {
            n: outcome.size.get(),
            index: outcome.shard.index(),
            of: outcome.shard.shards(),
            units: outcome.units,
            units_before: outcome.units_before,
            solutions: outcome.solutions,
            engine: outcome.engine.name(),
            kernel: outcome.kernel.name(),
            threads: outcome.threads,
            recounted: outcome.units_recounted,
            seconds: microseconds(outcome.elapsed.as_secs_f64()),
            journal: outcome.journal.as_ref().map(|path| plain(path.display())),
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { n, index, of, units, units_before, solutions, threads, seconds, .. } = self;
        writeln!(out, "n            {n}")?;
        writeln!(out, "shard        {index} of {of}: {units} units, {units_before} done before")?;
        writeln!(out, "solutions    {solutions} in this shard")?;
        writeln!(out, "engine       {}, kernel {}", self.engine, self.kernel)?;
        writeln!(out, "threads      {threads}")?;
        if self.recounted > 0 {
            writeln!(out, "self-check   {} units recounted, no difference", self.recounted)?;
        }
        writeln!(out, "seconds      {seconds:.3}")?;
        let journal = self.journal.as_deref().unwrap_or("nothing was left to count");
        writeln!(out, "journal      {journal}")
    }
}
