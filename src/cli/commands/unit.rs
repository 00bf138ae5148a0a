//! `nqueens unit N I`: what a unit counts, so that another program can count it too.

use crate::numbers::choose;
use crate::{BoardSize, Engine, Plan};
use clap::Args;

use crate::cli::args::{EngineArgs, SplitArgs, pass};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::print::report::{Format, Report};
use crate::cli::session::EngineChoice;
use crate::cli::signals::cancel_on_signals;

/// Show and count one unit, for a check by another program
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the count")))]
#[command(after_help = "\
Examples:
  nqueens unit 20 17                       its rows, columns, weight and count
  nqueens unit 28 5000 --json              for a script")]
pub(crate) struct UnitArgs {
    /// Size of the board, 0 to 32; engine colours, the fastest, ends at 30
    n: BoardSize,

    /// Number of the unit, from 0
    #[arg(value_name = "I")]
    unit: usize,

    #[command(flatten)]
    format: Format,

    /// Count the mirrored unit, as the second pass does
    #[arg(long)]
    second: bool,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    split: SplitArgs,
}

impl UnitArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let choice = EngineChoice::with_split_rows(&self.engine, &self.split)?;
        let plan = choice.plan(self.n)?.for_pass(pass(self.second));
        if self.unit >= plan.units() {
            let advice = choose(0, plan.units() - 1);
            return Err(Exit::Usage.because(format!("unit {}: {advice}", self.unit)));
        }
        plan.check_memory(1)?;
        let cancel = cancel_on_signals()?;
        let count = plan.worker(choice.kernel())?.count(self.unit, &cancel)?;
        Ok(Exit::Done.answer(self.format, report(&plan, self.unit, count)))
    }
}

fn report(plan: &Plan, unit: usize, count: u64) -> Report {
    let n = plan.size().get();
    let domains = plan.domains(unit);
    let mut report = Report::default();
    report.plan(plan).entry("unit", unit).entry("weight", plan.weight(unit));
    let mut columns_of_rows = Vec::new();
    let mut white_rows = Vec::new();
    for row in 1..=n {
        let allowed = domains.columns(row as usize - 1);
        let columns: Vec<u32> = (1..=n).filter(|column| allowed >> (column - 1) & 1 == 1).collect();
        let label = if row == 1 { "columns" } else { "" };
        report.row(label, format_args!("of row {row}: {}", in_one_line(&columns)));
        if columns.iter().all(|column| column % 2 == row % 2) {
            white_rows.push(row);
        }
        columns_of_rows.push(columns);
    }
    if plan.engine() == Engine::Colours {
        report.row("white rows", in_one_line(&white_rows)).field("white_rows", white_rows);
    }
    report
        .field("columns", columns_of_rows)
        .row("count", count)
        .bare(count)
        .field("unit_count", count.to_string());
    report
}

/// Returns numbers with spaces between them.
fn in_one_line(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    words.join(" ")
}
