//! `nqueens count N`.

mod record;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nqueens::memory::readable;
use nqueens::{BoardSize, FixedQueens, MemoryUse, Outcome, Published, Square};
use serde::Serialize;

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::EngineArgs;
use crate::cli::output::json::{as_seconds, as_string, as_string_or_null};
use crate::cli::output::stderr::message;
use crate::cli::output::text::many;
use crate::cli::session::Session;
use record::Record;

/// Count the solutions of one board
#[derive(Debug, Args)]
pub(crate) struct CountArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Also count the solutions up to rotation and reflection
    #[arg(long)]
    fundamental: bool,

    #[command(flatten)]
    engine: EngineArgs,

    /// Fix queens in advance, with engine subtrees: squares as in chess (a1,d5: column and row) or as
    /// row:column
    #[arg(
        long,
        value_name = "SQUARES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with_all = ["fundamental", "journal"]
    )]
    place: Vec<Square>,

    /// Record finished units in FILE; the same command resumes where it was stopped or killed
    #[arg(long, short, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long, conflicts_with = "quiet")]
    json: bool,

    /// Print the bare number (with --fundamental: the total, then the fundamental number)
    #[arg(long, short)]
    quiet: bool,
}

impl CountArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let queens = FixedQueens::new(self.n, &self.place)?;
        let session = Session::new(&self.engine)?;
        let mut count = self.engine.count(self.n);
        if !queens.is_empty() {
            count = count.with_queens(queens);
        }
        if let Some(path) = &self.journal {
            count = count.journal(path);
        }
        let outcome =
            session.run(count, |count| count.run()).map_err(|failure| match self.journal {
                Some(_) => {
                    failure.if_stopped(|text| format!("{text}; the same command resumes there"))
                }
                None => failure,
            })?;
        let fundamental = self.fundamental.then(|| session.fundamental(&outcome)).transpose()?;
        let journal = self.journal.as_deref().map(|path| Record::new(path, &outcome));
        let report = CountReport::new(&outcome, fundamental, journal);
        Ok(judge(&outcome).answer(Format::new(self.json, self.quiet), &report))
    }
}

/// Prints what is wrong with a count.
fn judge(outcome: &Outcome) -> Exit {
    let Outcome { size, total, .. } = outcome;
    let mut exit = Exit::Done;
    if let Published::Differs { expected } = outcome.published {
        message!("Q({size}) = {total} differs from the published {expected}: one of them is wrong");
        exit = Exit::Failed;
    }
    if let Some(fault) = &outcome.journal_fault {
        message!("Q({size}) = {total} is counted, but not all recorded: {fault}");
        exit = Exit::Failed;
    }
    exit
}

#[derive(Debug, Serialize)]
struct CountReport {
    n: u32,
    #[serde(serialize_with = "as_string")]
    total: u128,
    #[serde(serialize_with = "as_string_or_null")]
    fundamental: Option<u128>,
    engine: &'static str,
    kernel: &'static str,
    threads: usize,
    units: usize,
    memory: Option<MemoryReport>,
    recounted: usize,
    journal: Option<Record>,
    #[serde(serialize_with = "as_seconds")]
    seconds: Duration,
    #[serde(serialize_with = "as_string")]
    published: Published,
}

/// Planned memory, in bytes.
#[derive(Debug, Serialize)]
struct MemoryReport {
    shared: u64,
    per_thread: u64,
    strategy: &'static str,
}

impl CountReport {
    fn new(outcome: &Outcome, fundamental: Option<u128>, journal: Option<Record>) -> Self {
        let memory = |planned: MemoryUse| MemoryReport {
            shared: planned.shared,
            per_thread: planned.per_thread,
            strategy: planned.strategy,
        };
        Self {
            n: outcome.size.get(),
            total: outcome.total,
            fundamental,
            engine: outcome.engine.name(),
            kernel: outcome.kernel.name(),
            threads: outcome.threads,
            units: outcome.units,
            memory: outcome.memory.map(memory),
            recounted: outcome.units_recounted,
            journal,
            seconds: outcome.elapsed,
            published: outcome.published,
        }
    }
}

impl Report for CountReport {
    fn rows(&self) -> Vec<Line> {
        let Self { threads, recounted, .. } = self;
        let mut rows = vec![("n", self.n.to_string()), ("total", self.total.to_string())];
        rows.extend(self.fundamental.map(|number| ("fundamental", number.to_string())));
        rows.extend([
            ("published", self.published.to_string()),
            ("engine", format!("{}, kernel {}", self.engine, self.kernel)),
            ("threads", threads.to_string()),
            ("units", self.units.to_string()),
        ]);
        rows.extend(self.memory.as_ref().map(|MemoryReport { shared, per_thread, strategy }| {
            let (shared, per_thread) = (readable(*shared), readable(*per_thread));
            ("memory", format!("{strategy}: {shared} + {threads} x {per_thread}"))
        }));
        if *recounted > 0 {
            let units = many(*recounted, "unit");
            rows.push(("self-check", format!("{units} recounted, no difference")));
        }
        rows.push(("seconds", format!("{:.3}", self.seconds.as_secs_f64())));
        rows.extend(self.journal.iter().flat_map(Record::rows));
        rows
    }

    fn numbers(&self) -> Vec<u128> {
        [Some(self.total), self.fundamental].into_iter().flatten().collect()
    }
}
