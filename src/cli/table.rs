//! `nqueens table FIRST..=LAST`: row by row, each as soon as it is counted.

use std::ops::RangeInclusive;

use clap::Args;
use nqueens::known::known;
use nqueens::{BoardSize, Outcome, Published};
use serde::Serialize;

use crate::cli::args::{EngineArgs, RowOutput};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{as_string, json_seconds};
use crate::cli::rows::{Column, Row, RowWriter};
use crate::cli::session::Session;
use crate::cli::stderr::alarm;
use crate::cli::stdout::stdout;
use crate::cli::values::sizes;

/// Count a range of boards and compare them with the published table
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens table                            n = 1 to 16, next to OEIS
  nqueens table 4..=18 --csv               for a spreadsheet")]
pub(crate) struct TableArgs {
    /// Boards to count: FIRST..=LAST, or one size
    #[arg(value_name = "FIRST..=LAST", default_value = "1..=16", allow_hyphen_values = true)]
    #[arg(value_parser = sizes)]
    sizes: RangeInclusive<u32>,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    output: RowOutput,
}

impl TableArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let session = self.engine.session()?;
        let format = self.output.format();
        let mut exit = Exit::Done;
        let begun = stdout().and_then(|out| RowWriter::begin::<TableRow>(format, &[], out));
        let mut writer = match begun {
            Ok(writer) => writer,
            Err(error) => return Ok(exit.unprinted(&error)),
        };
        for n in self.sizes.clone() {
            let row = self.row(BoardSize::new(n)?, &session)?;
            for (what, computed, expected) in row.differences() {
                alarm!(
                    "{what}({n}) = {computed} differs from the published {expected}: \
                     one of them is wrong"
                );
                exit = Exit::Failed;
            }
            if let Err(error) = writer.write(&row) {
                return Ok(exit.unprinted(&error));
            }
        }
        Ok(exit)
    }

    fn row(&self, size: BoardSize, session: &Session) -> Result<TableRow, Failure> {
        let outcome = session.end(session.set_up(self.engine.count(size)).run());
        let outcome =
            outcome.map_err(|failure| failure.if_stopped(|text| format!("n = {size}: {text}")))?;
        let fundamental = session.fundamental(&outcome)?;
        let verdict = Published::compare(fundamental, known(size).fundamental);
        Ok(TableRow::new(&outcome, fundamental, [outcome.published, verdict]))
    }
}

#[derive(Debug, Serialize)]
struct TableRow {
    n: u32,
    #[serde(serialize_with = "as_string")]
    total: u128,
    #[serde(serialize_with = "as_string")]
    fundamental: u128,
    seconds: f64,
    /// The worse one of the verdicts.
    #[serde(serialize_with = "as_string")]
    published: Published,
    /// On the total and on the fundamental number.
    #[serde(skip)]
    verdicts: [Published; 2],
}

impl TableRow {
    fn new(outcome: &Outcome, fundamental: u128, verdicts: [Published; 2]) -> Self {
        Self {
            n: outcome.size.get(),
            total: outcome.total,
            fundamental,
            seconds: json_seconds(outcome.elapsed),
            published: match verdicts {
                [Published::Agrees, differs @ Published::Differs { .. }] => differs,
                [total, _] => total,
            },
            verdicts,
        }
    }

    /// What differs from the published values: name, computed, published.
    fn differences(&self) -> Vec<(&'static str, u128, u128)> {
        let numbers = [("total", self.total), ("fundamental", self.fundamental)];
        let differs = |((name, computed), verdict)| match verdict {
            Published::Differs { expected } => Some((name, computed, expected)),
            _ => None,
        };
        numbers.into_iter().zip(self.verdicts).filter_map(differs).collect()
    }
}

impl Row for TableRow {
    const COLUMNS: &[Column] = &[
        Column::Right("n", 2),
        Column::Right("total", 21),
        Column::Right("fundamental", 20),
        Column::Right("seconds", 12),
        Column::Left("published", 9),
    ];

    fn cells(&self) -> Vec<String> {
        let Self { n, total, fundamental, seconds, published, .. } = self;
        let numbers = [n.to_string(), total.to_string(), fundamental.to_string()];
        [&numbers[..], &[format!("{seconds:.3}"), published.to_string()]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nqueens::Count;

    #[test]
    fn a_row_that_differs_tells_which_number() {
        let outcome = Count::new(BoardSize::new(8).expect("in range")).run().expect("a count");
        let row = |verdicts| {
            let row = TableRow::new(&outcome, 12, verdicts);
            (row.published, row.differences())
        };
        let differs = |expected| Published::Differs { expected };
        let (agrees, unknown) = (Published::Agrees, Published::Unknown);
        assert_eq!(row([agrees, agrees]), (agrees, vec![]));
        assert_eq!(row([unknown, unknown]), (unknown, vec![]));
        assert_eq!(row([agrees, differs(11)]), (differs(11), vec![("fundamental", 12, 11)]));
        assert_eq!(row([differs(90), agrees]), (differs(90), vec![("total", 92, 90)]));
    }
}
