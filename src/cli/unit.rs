//! `nqueens unit N I`: what a unit counts, so that another program can count it too.

use clap::Args;
use nqueens::{BoardSize, Engine, Kernel, Plan};

use crate::cli::args::{EngineArgs, SplitArgs, which_count};
use crate::cli::exit::{Exit, Failure};
use crate::cli::report::{Format, Report};
use crate::cli::signals::cancel_on_signals;
use crate::cli::values::{amount, choose};

/// Show and count one unit, for a check by another program
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare count")))]
#[command(after_help = "\
Examples:
  nqueens unit 20 17                       its rows, columns, weight and count
  nqueens unit 28 5000 --json              for a script")]
pub(crate) struct UnitArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Number of the unit, from 0
    #[arg(value_name = "I", allow_negative_numbers = true, value_parser = amount)]
    unit: usize,

    #[command(flatten)]
    format: Format,

    /// Count the mirrored unit, as the second count does
    #[arg(long)]
    second: bool,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    split: SplitArgs,
}

impl UnitArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let split_rows = self.split.rows(self.engine.engine)?;
        let engine = match (self.engine.engine, split_rows) {
            (Some(engine), _) => engine,
            // Only this engine has split rows, so they choose it, as in a count.
            (None, Some(_)) => Engine::Subtrees,
            (None, None) => Engine::auto(self.n),
        };
        engine.check(self.n)?;
        self.engine.warn_of_kernel();
        let plan = Plan::new(self.n, engine, split_rows).for_count(which_count(self.second));
        if self.unit >= plan.units() {
            let advice = choose(0, plan.units() - 1);
            return Err(Exit::Usage.because(format!("unit {}: {advice}", self.unit)));
        }
        plan.check_memory(1)?;
        let kernel = self.engine.kernel.unwrap_or_else(Kernel::detect);
        let count = plan.worker(kernel).count(self.unit, &cancel_on_signals()?)?;
        Ok(Exit::Done.answer(self.format, report(&plan, self.unit, count)))
    }
}

fn report(plan: &Plan, unit: usize, count: u64) -> Report {
    let (n, domains, weight) = (plan.size().get(), plan.domains(unit), plan.weight(unit));
    let mut report = Report::default();
    report.plan(plan).entry("unit", unit).entry("weight", weight);
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let (mut rows, mut white_rows) = (Vec::new(), Vec::new());
    for row in 1..=n {
        let allowed = domains.columns(row as usize - 1);
        let columns: Vec<u32> = (1..=n).filter(|column| allowed >> (column - 1) & 1 == 1).collect();
        let label = if row == 1 { "columns" } else { "" };
        report.row(label, format_args!("of row {row}: {}", list(&columns)));
        if columns.iter().all(|column| column % 2 == row % 2) {
            white_rows.push(row);
        }
        rows.push(columns);
    }
    if plan.engine() == Engine::Colours {
        report.row("white rows", list(&white_rows)).field("white_rows", white_rows);
    }
    report.field("columns", rows).row("count", count).bare(count);
    report.field("unit_count", count.to_string());
    report
}
