//! `nqueens table N...`: row by row, each as soon as it is counted.

use std::ops::RangeInclusive;

use clap::Args;
use nqueens::{BoardSize, Published};

use crate::cli::args::{EngineArgs, MachineArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, json_seconds};
use crate::cli::published::verdict;
use crate::cli::report::{Report, RowFormat};
use crate::cli::session::Session;
use crate::cli::values::sizes;

/// Count a range of boards and compare them with the published table
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens table                            n = 1 to 16, compared with OEIS
  nqueens table 4-18 --csv                 for a spreadsheet")]
pub(crate) struct TableArgs {
    /// Boards to count: sizes and ranges (8,10,12 or 8-10)
    #[arg(value_name = "N", default_value = "1-16", allow_negative_numbers = true)]
    #[arg(value_delimiter = ',', value_parser = sizes)]
    sizes: Vec<RangeInclusive<u32>>,

    #[command(flatten)]
    format: RowFormat,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    machine: MachineArgs,
}

impl TableArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let session = Session::counting(&self.engine, &self.machine)?;
        let mut exit = Exit::Done;
        self.format.remark(TITLES)?;
        for (place, n) in self.sizes.iter().cloned().flatten().enumerate() {
            let row = self.row(BoardSize::new(n)?, &session);
            let (row, published) = row.map_err(|failure| failure.after(exit))?;
            if let Published::Differs { .. } = published {
                exit = Exit::Failed;
            }
            if let Err(error) = row.write_row(self.format, place == 0) {
                return Ok(exit.unprinted(&error));
            }
        }
        Ok(exit.print(|_| Ok(())))
    }

    /// Counts a board. Returns its row, and the verdict on its numbers.
    fn row(&self, size: BoardSize, session: &Session) -> Result<(Report, Published), Failure> {
        let outcome = session.run(|| session.set_up(self.engine.count(size)).run());
        let outcome =
            outcome.map_err(|failure| failure.if_stopped(|text| format!("n = {size}: {text}")))?;
        let (n, total) = (size.get(), outcome.total);
        let classes = session.classes(&outcome)?;
        let fundamental = classes.fundamental();
        let published = verdict(size, total, Some(&classes));
        let time = duration(outcome.elapsed);
        let mut row = Report::default();
        row.row("", format_args!("{n:>2} {total:>21} {fundamental:>20} {time:>12}  {published}"))
            .field("n", n)
            .field("total", total.to_string())
            .field("fundamental", fundamental.to_string())
            .field("seconds", json_seconds(outcome.elapsed))
            .field("published", published.to_string());
        Ok((row, published))
    }
}

const TITLES: &str = " n                 total          fundamental         time  published";
