//! `nqueens count N`.

use std::path::PathBuf;
use std::time::Instant;

use crate::count::completions::Completions;
use crate::plan::ThreadMemory;
use crate::{Agreement, BoardSize, Classes, Count, Engine, Outcome, Shard, Square};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::args::{EngineArgs, MachineArgs, SplitArgs, pass};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::print::format::{duration, json_seconds, many, sum};
use crate::cli::print::published::verdict;
use crate::cli::print::report::{Format, Report};
use crate::cli::progress::Work;
use crate::cli::session::{EngineChoice, Session};
use crate::cli::stderr::message;
use crate::cli::values::path;
use crate::cli::warnings::warn;

/// Count the solutions of one board, or of one of its shards
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the total").long_help("Print only the total, or with --shard the number of solutions in the shard. With --fundamental, also print the fundamental number")))]
#[command(mut_arg("engine", |engine| engine.hide_possible_values(false).help("Engine that counts [default: the fastest for the board]")))]
#[command(mut_arg("kernel", |kernel| kernel.hide_possible_values(false).help("Vector instructions to use [default: the fastest that this CPU can run]")))]
#[command(after_help = "\
Examples:
  nqueens count 16                         the number of solutions, on all CPUs
  nqueens count 22 --journal q22           the same command resumes it
  nqueens count 27 --shard 3/300 --journal q27  one of 300 shards
  nqueens count 12 --place a1,c2 --block d4     with a1 and c2, without d4")]
pub(crate) struct CountArgs {
    /// Size of the board, 0 to 32; engine colours, the fastest, ends at 30
    n: BoardSize,

    /// Record finished units in FOLDER; the same command resumes the count
    ///
    /// FOLDER is made if it is not there. Each process writes a file of its own in it, and skips the units that the
    /// others hold.
    #[arg(long, short, value_name = "FOLDER", value_parser = path())]
    journal: Option<PathBuf>,

    /// Count only shard I of K, from 0 to K-1; 'nqueens merge' adds the shards up
    #[arg(long, value_name = "I/K", requires = "journal")]
    shard: Option<Shard>,

    /// Count only the solutions with queens on these squares, such as a1,d5
    ///
    /// Squares are named as in chess, or as row:column (1:1 is a1, at the bottom left). No symmetry is used, so this
    /// takes minutes at n = 19.
    #[arg(long, value_name = "SQUARES", value_delimiter = ',')]
    #[arg(conflicts_with_all = FOR_WHOLE_BOARDS)]
    place: Vec<Square>,

    /// Count only the solutions without a queen on these squares
    #[arg(long, value_name = "SQUARES", value_delimiter = ',')]
    #[arg(conflicts_with_all = FOR_WHOLE_BOARDS, hide_short_help = true)]
    block: Vec<Square>,

    #[command(flatten)]
    format: Format,

    /// Also count the solutions up to rotation and reflection
    ///
    /// Solutions that rotations and reflections turn into each other are a class. Also printed is how many classes have
    /// 8, 4, 2 and 1 solutions.
    #[arg(long, conflicts_with = "shard")]
    fundamental: bool,

    /// Run the second pass, on mirrored units
    #[arg(long)]
    second: bool,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    split: SplitArgs,
}

/// The options that have no meaning for a part of the solutions.
const FOR_WHOLE_BOARDS: [&str; 6] =
    ["journal", "shard", "fundamental", "second", "engine", "split_rows"];

impl CountArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if !self.place.is_empty() || !self.block.is_empty() {
            return self.count_completions();
        }
        let choice = EngineChoice::with_split_rows(&self.engine, &self.split)?;
        let mut session = Session::new(&self.machine, &[choice.memory_of_thread(self.n)])?;
        if self.journal.is_none() {
            session.progress.warn_of_long_counts();
        }
        session.announce_slow_engine(self.n, choice);
        let count = self.set_up(session.count(self.n, choice));
        let outcome = session.run(|| count.run_here())?;
        let mut exit = judge_journal(&outcome);
        if !outcome.is_complete() {
            if session.cancel.is_cancelled() {
                self.print_stopped(&outcome);
            } else {
                warn(&[], &outcome.differences);
                let left = many(outcome.units - outcome.units_done, "unit");
                message!("{left} not settled yet; the same command counts them again");
            }
            exit = exit.and(Exit::Stopped);
            let mut report = self.report(&outcome, None, Agreement::Unknown);
            report.without_text();
            return Ok(exit.answer(self.format, report));
        }
        let mut classes = None;
        if let Some(total) = outcome.total
            && self.fundamental
        {
            match session.classes(outcome.size, total) {
                Ok(counted) => classes = Some(counted),
                // The total is the answer nevertheless, because it may have taken long.
                Err(failure) if failure.exit == Exit::Stopped => exit = exit.and(failure.report()),
                Err(failure) => return Err(failure.after(exit)),
            }
        }
        let mut published = Agreement::Unknown;
        if let Some(total) = outcome.total {
            published = verdict(outcome.size, total, classes.as_ref());
        }
        if let Agreement::Differs { .. } = published {
            exit = exit.and(Exit::Failed);
        }
        Ok(exit.answer(self.format, self.report(&outcome, classes, published)))
    }

    /// Counts the solutions with and without queens on the squares that are named.
    fn count_completions(&self) -> Result<Exit, Failure> {
        let completions = Completions::new(self.n, &self.place, &self.block)?;
        let memory = ThreadMemory::of_engine(Engine::Subtrees, self.n);
        let session = Session::new(&self.machine, &[memory])?;
        let begun = Instant::now();
        let name = format!("n = {}", self.n);
        session.progress.begin(&name, [0, completions.parts()], Work::Steps("parts"));
        let counted = || session.progress.advance(1);
        let kernel = EngineChoice::new(&self.engine).kernel();
        let solutions = session.run(|| completions.count(kernel, &counted, &session.cancel))?;
        let elapsed = begun.elapsed();
        let mut report = Report::default();
        report.entry("n", self.n.get()).field("total", Value::Null);
        report_squares(&mut report, "place", &self.place);
        report_squares(&mut report, "block", &self.block);
        report
            .number("solutions", Some(solutions))
            .entry("kernel", kernel.name())
            .entry("threads", session.threads())
            .row("time", duration(elapsed))
            .field("seconds", json_seconds(elapsed));
        if self.format.json {
            report.origin();
        }
        Ok(Exit::Done.answer(self.format, report))
    }

    /// Adds to a count what only this command has.
    fn set_up<'a>(&self, count: Count<'a>) -> Count<'a> {
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        let count = count.pass(pass(self.second)).shard(shard);
        match &self.journal {
            Some(path) => count.journal(path),
            None => count,
        }
    }

    /// Prints how far a count came that was stopped.
    fn print_stopped(&self, outcome: &Outcome) {
        let stopped = stopped_text(outcome);
        let part = match self.shard {
            Some(shard) => format!("shard {shard}: "),
            None => String::new(),
        };
        let kept = match self.journal {
            Some(_) => "the same command resumes the count",
            None => "nothing was kept, because there is no --journal",
        };
        message!("{part}{stopped}; {kept}");
    }

    fn report(&self, outcome: &Outcome, classes: Option<Classes>, published: Agreement) -> Report {
        let mut report = Report::default();
        report.entry("n", outcome.size.get());
        if outcome.shard.is_whole() {
            report.field("shard", Value::Null);
        } else {
            report_shard(&mut report, outcome);
        }
        report.number("total", outcome.total).field("solutions", outcome.solutions.to_string());
        report_classes(&mut report, classes);
        if outcome.shard.is_whole() {
            report.row("published", published);
        }
        report
            .field("published", published.to_string())
            .engine(outcome.engine, outcome.kernel, outcome.threads)
            .field("units", outcome.units)
            .field("units_done", outcome.units_done);
        report_time(&mut report, outcome);
        self.report_journal(&mut report, outcome);
        report.pass(pass(self.second));
        if self.format.json {
            report.origin();
        }
        report
    }

    /// Adds what all runs took together, as their journals hold it: wall time without the pauses between runs, and the
    /// CPU time that all threads spent on units.
    fn report_journal(&self, report: &mut Report, outcome: &Outcome) {
        let Some(place) = &self.journal else {
            report.field("journal", Value::Null);
            return;
        };
        let Outcome { runs, units_before, .. } = outcome;
        let wall = sum(runs.iter().map(|run| run.elapsed));
        let cpu = sum(runs.iter().map(|run| run.cpu_time));
        let file = outcome.journal.as_ref().unwrap_or(place).display().to_string();
        let before = many(*units_before, "unit");
        report.row("journal", format_args!("{file}: {before} done before"));
        let journal = json!({
            "file": file,
            "units_before": units_before,
            "runs": runs.len(),
            "seconds": json_seconds(wall),
            "cpu_seconds": json_seconds(cpu),
        });
        report.field("journal", journal);
    }
}

/// Returns how far a count came that was stopped.
pub(crate) fn stopped_text(outcome: &Outcome) -> String {
    let Outcome { units_done, units, solutions, .. } = outcome;
    format!("stopped after {units_done} of {units} units, {solutions} solutions so far")
}

/// Adds the wall time of this run. If it had only a part of the units to count, the time would be misread as that of
/// the whole count, so the row names its units, and another row says what all runs took.
fn report_time(report: &mut Report, outcome: &Outcome) {
    let Outcome { elapsed, units_before, units_done, units, runs, .. } = outcome;
    report.field("seconds", json_seconds(*elapsed));
    if *units_before == 0 {
        report.row("time", duration(*elapsed));
        return;
    }
    let counted = units_done - units_before;
    report.row("time", format_args!("{} for {counted} of {units} units", duration(*elapsed)));
    if outcome.journal_fault.is_none() {
        let cpu_time = duration(sum(runs.iter().map(|run| run.cpu_time)));
        let runs = many(runs.len(), "run");
        report.row("all runs", format_args!("{cpu_time} of CPU time in {runs}"));
    }
}

/// Prints what is wrong with the journal of a count, and returns the exit code.
fn judge_journal(outcome: &Outcome) -> Exit {
    let Some(fault) = &outcome.journal_fault else { return Exit::Done };
    let Outcome { size, shard, .. } = outcome;
    let counted = match outcome.total {
        Some(total) => format!("Q({size}) = {total}"),
        None => format!("shard {shard} of n = {size}"),
    };
    let fault = Failure::from(fault.clone());
    message!("{counted} is counted, but its journal is not complete: {fault}");
    fault.exit
}

/// Adds the squares that an option names.
fn report_squares(report: &mut Report, option: &'static str, squares: &[Square]) {
    let names: Vec<String> = squares.iter().map(Square::to_string).collect();
    if !names.is_empty() {
        report.row(option, names.join(","));
    }
    report.field(option, names);
}

/// Adds which part of the count a shard is, and its solutions.
fn report_shard(report: &mut Report, outcome: &Outcome) {
    let shard = outcome.shard;
    let solutions = outcome.solutions;
    let units = many(outcome.units, "unit");
    report
        .row("part", format_args!("shard {shard}: {units}"))
        .field("shard", shard.to_string())
        .row("solutions", format_args!("{solutions} in this shard"));
    if outcome.is_complete() {
        report.bare(solutions);
    }
}

/// Adds the number of classes, and how many there are of 8, 4, 2 and 1 solutions.
fn report_classes(report: &mut Report, classes: Option<Classes>) {
    let Some(classes) = classes else {
        report.number("fundamental", None).field("classes", Value::Null);
        return;
    };
    let Classes { of_eight, of_four, of_two, of_one } = classes;
    let sizes = json!({
        "8": of_eight.to_string(),
        "4": of_four.to_string(),
        "2": of_two.to_string(),
        "1": of_one.to_string(),
    });
    report
        .number("fundamental", Some(classes.fundamental()))
        .row(
            "classes",
            format_args!("{of_eight} of 8 solutions, {of_four} of 4, {of_two} of 2, {of_one} of 1"),
        )
        .field("classes", sizes);
}
