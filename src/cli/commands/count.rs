//! `nqueens count N`.

mod record;

use std::path::PathBuf;

use clap::Args;
use nqueens::memory::readable;
use nqueens::{BoardSize, FixedQueens, Outcome, Published, Square};
use serde_json::{Value, json};

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::EngineArgs;
use crate::cli::output::json::seconds;
use crate::cli::output::stderr::message;
use crate::cli::output::text::self_check;
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
        let record = self.journal.map(|path| Record::new(&path, &outcome));
        let exit = judge(&outcome);
        let report = CountReport { outcome, fundamental, record };
        Ok(exit.answer(Format::new(self.json, self.quiet), &report))
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

struct CountReport {
    outcome: Outcome,
    fundamental: Option<u128>,
    record: Option<Record>,
}

impl Report for CountReport {
    fn rows(&self) -> Vec<Line> {
        let Outcome { size, total, published, engine, kernel, threads, units, .. } = &self.outcome;
        let mut rows = vec![("n", size.to_string()), ("total", total.to_string())];
        rows.extend(self.fundamental.map(|number| ("fundamental", number.to_string())));
        rows.extend([
            ("published", published.to_string()),
            ("engine", format!("{engine}, kernel {kernel}")),
            ("threads", threads.to_string()),
            ("units", units.to_string()),
        ]);
        rows.extend(self.outcome.memory.map(|memory| {
            let (shared, per_thread) = (readable(memory.shared), readable(memory.per_thread));
            ("memory", format!("{}: {shared} + {threads} x {per_thread}", memory.strategy))
        }));
        rows.extend(self_check(self.outcome.units_recounted));
        rows.push(("seconds", format!("{:.3}", self.outcome.elapsed.as_secs_f64())));
        rows.extend(self.record.iter().flat_map(Record::rows));
        rows
    }

    fn json(&self) -> Value {
        let Outcome { size, total, published, engine, kernel, threads, units, .. } = &self.outcome;
        let memory = self.outcome.memory.map(|memory| {
            json!({
                "shared": memory.shared,
                "per_thread": memory.per_thread,
                "strategy": memory.strategy,
            })
        });
        json!({
            "n": size.get(),
            "total": total.to_string(),
            "fundamental": self.fundamental.map(|number| number.to_string()),
            "engine": engine.name(),
            "kernel": kernel.name(),
            "threads": threads,
            "units": units,
            "memory": memory,
            "recounted": self.outcome.units_recounted,
            "journal": self.record.as_ref().map(Record::json),
            "seconds": seconds(self.outcome.elapsed),
            "published": published.to_string(),
        })
    }

    fn numbers(&self) -> Vec<u128> {
        [Some(self.outcome.total), self.fundamental].into_iter().flatten().collect()
    }
}
