//! `nqueens table N...`: row by row, each as soon as it is counted.

use std::fmt;
use std::ops::RangeInclusive;

use clap::Args;
use nqueens::known::known;
use nqueens::{BoardSize, Published};
use serde::Serialize;

use crate::cli::args::EngineArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{as_string, json_seconds, time};
use crate::cli::rows::{RowFormat, RowWriter};
use crate::cli::session::Session;
use crate::cli::stderr::print_differs;
use crate::cli::values::sizes;

/// Count a range of boards and compare them with the published table
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens table                            n = 1 to 16, next to OEIS
  nqueens table 4-18 --csv                 for a spreadsheet")]
pub(crate) struct TableArgs {
    /// Boards to count: sizes and ranges, as 8,10,12 or 8-10
    #[arg(value_name = "N", default_value = "1-16", allow_negative_numbers = true)]
    #[arg(value_delimiter = ',', value_parser = sizes)]
    sizes: Vec<RangeInclusive<u32>>,

    #[command(flatten)]
    format: RowFormat,

    #[command(flatten)]
    engine: EngineArgs,
}

impl TableArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let session = Session::counting(&self.engine)?;
        let mut exit = Exit::Done;
        let mut writer = RowWriter::begin(self.format, TITLES)?;
        for n in self.sizes.iter().cloned().flatten() {
            let row = self.row(BoardSize::new(n)?, &session)?;
            if let Published::Differs { .. } = row.published {
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
        let (n, total, known) = (size.get(), outcome.total, known(size));
        let fundamental = session.fundamental(&outcome)?;
        let seconds = json_seconds(outcome.elapsed);
        let published = verdict(
            n,
            [("total", total, known.total), ("fundamental", fundamental, known.fundamental)],
        );
        Ok(TableRow { n, total, fundamental, seconds, published })
    }
}

/// Compares numbers with the published ones, and prints those that differ: their names, what was
/// computed, what is published. The verdict is that on the first number, unless another differs.
fn verdict(n: u32, numbers: [(&str, u128, Option<u128>); 2]) -> Published {
    let verdicts = numbers.map(|(name, computed, published)| {
        let verdict = Published::compare(computed, published);
        if let Published::Differs { expected } = verdict {
            print_differs(name, n, computed, expected);
        }
        verdict
    });
    match verdicts {
        [Published::Agrees, differs @ Published::Differs { .. }] => differs,
        [first, _] => first,
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
}

const TITLES: &str = " n                 total          fundamental         time  published";

/// A line of the table.
impl fmt::Display for TableRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, total, fundamental, published, .. } = self;
        let time = time(self.seconds);
        write!(f, "{n:>2} {total:>21} {fundamental:>20} {time:>12}  {published}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_differs_decides() {
        let of = |total, fundamental| {
            verdict(8, [("total", 92, total), ("fundamental", 12, fundamental)])
        };
        assert_eq!(of(Some(92), Some(12)), Published::Agrees);
        assert_eq!(of(None, None), Published::Unknown);
        assert_eq!(of(Some(92), Some(11)), Published::Differs { expected: 11 });
        assert_eq!(of(Some(90), Some(12)), Published::Differs { expected: 90 });
    }
}
