//! `nqueens table N...`: row by row, each as soon as it is counted.

use std::ops::RangeInclusive;

use crate::{Agreement, BoardSize, Error, Outcome};
use clap::Args;

use crate::cli::args::{EngineArgs, MachineArgs};
use crate::cli::commands::count::stopped_text;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::print::format::{duration, json_seconds};
use crate::cli::print::published::verdict;
use crate::cli::print::report::{Report, RowFormat};
use crate::cli::session::{EngineChoice, Session};
use crate::cli::values::sizes;

/// Count a range of boards and compare them with the published table
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens table                            n = 1 to 16, compared with OEIS
  nqueens table 4-18 --csv                 for a spreadsheet")]
pub(crate) struct TableArgs {
    /// Boards to count: sizes and ranges (8,10,12 or 8-10)
    #[arg(value_name = "N", default_value = "1-16", value_delimiter = ',', value_parser = sizes)]
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
        let choice = EngineChoice::new(&self.engine);
        let mut memory = Vec::new();
        for size in self.boards()? {
            memory.push(choice.memory_of_thread(size));
        }
        let mut session = Session::new(&self.machine, &memory)?;
        session.progress.warn_of_long_counts();
        self.format.remark(TITLES)?;
        let mut exit = Exit::Done;
        let mut is_first = true;
        for size in self.boards()? {
            let counted = count_board(size, choice, &session);
            let board = counted.map_err(|failure| failure.after(exit))?;
            if let Agreement::Differs { .. } = board.published {
                exit = Exit::Failed;
            }
            let mut row = board.row();
            if self.format.has_fields() {
                row.origin();
            }
            let printed = row.print_row(self.format, is_first);
            printed.map_err(|failure| failure.after(exit))?;
            is_first = false;
        }
        Ok(exit)
    }

    /// Returns the boards that are named, in this order.
    fn boards(&self) -> Result<Vec<BoardSize>, Error> {
        self.sizes.iter().cloned().flatten().map(BoardSize::new).collect()
    }
}

/// The result of counting one board.
struct Board {
    outcome: Outcome,
    total: u128,
    fundamental: u128,
    /// The verdict on all numbers of the row.
    published: Agreement,
}

/// Counts a board, and compares its numbers with the published ones.
fn count_board(size: BoardSize, choice: EngineChoice, session: &Session) -> Result<Board, Failure> {
    let count = session.count(size, choice);
    let outcome = session.run(|| count.run_here())?;
    let Some(total) = outcome.total else {
        return Err(Exit::Stopped.because(format!("n = {size}: {}", stopped_text(&outcome))));
    };
    let classes = session.classes(size, total)?;
    let published = verdict(size, total, Some(&classes));
    Ok(Board { outcome, total, fundamental: classes.fundamental(), published })
}

const TITLES: &str = " n                 total          fundamental         time  published";

impl Board {
    fn row(&self) -> Report {
        let Self { outcome, total, fundamental, published } = self;
        let n = outcome.size.get();
        let time = duration(outcome.elapsed);
        let mut row = Report::default();
        row.row("", format_args!("{n:>2} {total:>21} {fundamental:>20} {time:>12}  {published}"))
            .field("n", n)
            .field("total", total.to_string())
            .field("fundamental", fundamental.to_string())
            .field("seconds", json_seconds(outcome.elapsed))
            .field("published", published.to_string());
        row
    }
}
