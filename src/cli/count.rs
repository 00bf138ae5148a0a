//! `nqueens count N`.

use std::path::{Path, PathBuf};

use clap::Args;
use nqueens::symmetry::Classes;
use nqueens::{BoardSize, Engine, FixedQueens, Outcome, Published, Square};
use serde_json::{Value, json};

use crate::cli::args::{EXPERTS, EngineArgs, MachineArgs, which_count};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{json_seconds, many, sum};
use crate::cli::report::{Format, Report};
use crate::cli::session::{Session, check_journal};
use crate::cli::stderr::{escaped, print_differs};
use crate::cli::values::{path_in_folder, up_to};

/// Count the solutions of one board
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare total, and with --fundamental the fundamental number")))]
#[command(mut_arg("engine", |engine| engine.hide_possible_values(false).help("Engine that counts")))]
#[command(mut_arg("kernel", |kernel| kernel.hide_possible_values(false).help("Vector instructions to use")))]
#[command(after_help = "\
Examples:
  nqueens count 16                         the number of solutions, on all cores
  nqueens count 22 --journal q22.journal   the same command resumes it")]
pub(crate) struct CountArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Record finished units in FILE; the same command resumes a count that was stopped or killed
    #[arg(long, short, value_name = "FILE", value_parser = path_in_folder())]
    journal: Option<PathBuf>,

    #[command(flatten)]
    format: Format,

    /// Also count the solutions up to rotation and reflection, by the size of their classes
    #[arg(long)]
    fundamental: bool,

    /// Run the second, independent count, on mirrored units
    #[arg(long)]
    second: bool,

    /// Fix queens on these squares, with engine subtrees: squares as in chess (a1,d5; a1 is at the bottom left) or as
    /// row:column
    #[arg(
        long,
        value_name = "SQUARES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with_all = ["fundamental", "journal"]
    )]
    place: Vec<Square>,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    machine: MachineArgs,

    /// Make units of all placements of the first ROWS rows, 1 to 4, with engine subtrees [default: a sixth of N]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, value_parser = up_to(4))]
    #[arg(help_heading = EXPERTS, hide_short_help = true)]
    split_rows: Option<usize>,
}

impl CountArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let queens = FixedQueens::new(self.n, &self.place)?;
        let session = Session::counting(&self.engine, &self.machine)?;
        let mut count = self.engine.count(self.n).which_count(which_count(self.second));
        if let Some(rows) = self.split_rows {
            if let Some(engine) = self.engine.engine.filter(|engine| *engine != Engine::Subtrees) {
                let other = format!(
                    "--split-rows needs engine subtrees, not {engine}: leave out one of them"
                );
                return Err(Exit::Usage.because(other));
            }
            count = count.split_rows(rows);
        }
        if queens.is_empty() {
            session.announce(self.n, &self.engine);
        } else {
            count = count.with_queens(queens);
        }
        if let Some(path) = &self.journal {
            count = count.journal(path);
        }
        let outcome = session.run(|| session.set_up(count).run());
        let kept = match &self.journal {
            Some(_) => "the same command resumes the count",
            None => "nothing was kept, because there is no --journal",
        };
        let outcome =
            outcome.map_err(|failure| failure.if_stopped(|text| format!("{text}; {kept}")))?;
        let classes = self.fundamental.then(|| session.classes(&outcome)).transpose()?;
        let mut report = report(&outcome, classes, &self.place);
        match &self.journal {
            Some(path) => report_journal(&mut report, path, &outcome),
            None => _ = report.field("journal", Value::Null),
        }
        report.which_count(which_count(self.second));
        Ok(judge(&outcome).answer(self.format, report))
    }
}

/// Prints what is wrong with a count, and returns the exit code.
fn judge(outcome: &Outcome) -> Exit {
    let Outcome { size, total, .. } = outcome;
    let exit = check_journal(format_args!("Q({size}) = {total}"), outcome);
    let Published::Differs { expected } = outcome.published else { return exit };
    print_differs(format_args!("Q({size}) = {total}"), expected);
    Exit::Failed
}

fn report(outcome: &Outcome, classes: Option<Classes>, place: &[Square]) -> Report {
    let mut report = Report::default();
    report.entry("n", outcome.size.get());
    if !place.is_empty() {
        let squares: Vec<String> = place.iter().map(Square::to_string).collect();
        report.row("place", squares.join(", ")).field("place", squares);
    }
    let fundamental = classes.as_ref().map(Classes::fundamental);
    report.number("total", Some(outcome.total)).number("fundamental", fundamental);
    report_classes(&mut report, classes);
    // Completions are published nowhere.
    if place.is_empty() {
        report.entry("published", outcome.published.to_string());
    }
    report
        .engine(outcome.engine, outcome.kernel, outcome.threads)
        .field("units", outcome.units)
        .seconds(outcome.elapsed);
    report
}

/// Adds how many classes there are of 8, 4, 2 and 1 solutions.
fn report_classes(report: &mut Report, classes: Option<Classes>) {
    let fields = classes.map(|Classes { of_eight, of_four, of_two, of_one }| {
        let text =
            format!("{of_eight} of 8 solutions, {of_four} of 4, {of_two} of 2, {of_one} of 1");
        report.row("classes", text);
        let [of_eight, of_four, of_two, of_one] =
            [of_eight, of_four, of_two, of_one].map(|classes| classes.to_string());
        json!({ "8": of_eight, "4": of_four, "2": of_two, "1": of_one })
    });
    report.field("classes", fields);
}

/// Adds what all runs of a journal took together, as it was read back from the disk: wall time without the pauses
/// between runs, and the CPU time that all threads spent on units.
fn report_journal(report: &mut Report, path: &Path, outcome: &Outcome) {
    let Outcome { runs, units_before, .. } = outcome;
    let wall = sum(runs.iter().map(|run| run.elapsed));
    let cpu = sum(runs.iter().map(|run| run.cpu_time));
    let (file, before) = (escaped(path.display()), many(*units_before, "unit"));
    report.row("journal", format_args!("{file}: {before} done before"));
    let journal = json!({
        "file": file,
        "units_before": units_before,
        "seconds": json_seconds(wall),
        "cpu_seconds": json_seconds(cpu),
    });
    report.field("journal", journal);
}
