//! `nqueens count N`.

mod record;

use std::path::PathBuf;

use clap::Args;
use nqueens::{BoardSize, FixedQueens, Kernel, Outcome, Published, Square};
use serde_json::Value;

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::{EngineArgs, file, pass};
use crate::cli::progress::LongCount;
use crate::cli::report::{Format, Report};
use crate::cli::stderr::{alarm, message};
use record::Record;

/// Count the solutions of one board
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens count 16                         the number of solutions, on all cores
  nqueens count 22 --journal q22.journal   the same command resumes it")]
pub(crate) struct CountArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Also count the solutions up to rotation and reflection
    #[arg(long)]
    fundamental: bool,

    /// Count for the second time: every unit on other data, its image under a symmetry of the board
    #[arg(long)]
    second: bool,

    #[command(flatten)]
    engine: EngineArgs,

    /// Fix queens in advance, with engine subtrees: squares as in chess (a1,d5: column and row, a1 at
    /// the bottom left) or as row:column
    #[arg(
        long,
        value_name = "SQUARES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with_all = ["fundamental", "journal"]
    )]
    place: Vec<Square>,

    /// Record finished units in FILE; the same command resumes a count that was stopped or killed
    #[arg(long, short, value_name = "FILE", value_parser = file())]
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
        let mut session = self.engine.session()?;
        let mut count = self.engine.count(self.n).pass(pass(self.second));
        if queens.is_empty() {
            let kernel = self.engine.machine.kernel.unwrap_or_else(Kernel::detect);
            let has_journal = self.journal.is_some();
            session.progress.long_count = Some(LongCount { kernel, has_journal });
        } else {
            count = count.with_queens(queens);
        }
        if let Some(path) = &self.journal {
            count = count.journal(path);
        }
        let outcome = session.end(session.set_up(count).run());
        let outcome = outcome.map_err(|failure| match self.journal {
            Some(_) => {
                failure.if_stopped(|text| format!("{text}; the same command resumes the count"))
            }
            None => failure,
        })?;
        let fundamental = self.fundamental.then(|| session.fundamental(&outcome)).transpose()?;
        let record = self.journal.map(|path| Record::new(&path, &outcome));
        let mut report = report(&outcome, fundamental, record);
        report.field("pass", pass(self.second).to_string());
        Ok(judge(&outcome).answer(Format::new(self.json, self.quiet), report))
    }
}

/// Prints what is wrong with a count.
fn judge(outcome: &Outcome) -> Exit {
    let Outcome { size, total, .. } = outcome;
    let mut exit = Exit::Done;
    if let Published::Differs { expected } = outcome.published {
        alarm!("Q({size}) = {total} differs from the published {expected}: one of them is wrong");
        exit = Exit::Failed;
    }
    if let Some(fault) = &outcome.journal_fault {
        message!("Q({size}) = {total} is counted, but its journal needs attention: {fault}");
        exit = Exit::Failed;
    }
    exit
}

fn report(outcome: &Outcome, fundamental: Option<u128>, record: Option<Record>) -> Report {
    let mut report = Report::default();
    report
        .entry("n", outcome.size.get())
        .number("total", Some(outcome.total))
        .number("fundamental", fundamental)
        .published(outcome.published)
        .engine(outcome.engine, outcome.kernel, outcome.threads)
        .entry("units", outcome.units)
        .memory(outcome.memory, outcome.threads)
        .seconds(outcome.elapsed);
    match record {
        Some(record) => record.report(&mut report),
        None => {
            report.field("journal", Value::Null);
        }
    }
    report
}
