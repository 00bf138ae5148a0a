//! `nqueens count N`.

use std::path::PathBuf;

use clap::Args;
use nqueens::symmetry::Classes;
use nqueens::{BoardSize, Error, Outcome, Published, Shard, Sum};
use serde_json::{Value, json};

use crate::cli::args::{EngineArgs, MachineArgs, SplitArgs, which_count};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{json_seconds, many, sum};
use crate::cli::published::verdict;
use crate::cli::report::{Format, Report};
use crate::cli::session::Session;
use crate::cli::stderr::message;
use crate::cli::values::path_in_folder;

/// Count the solutions of one board, or of a part of it
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare number: the total and with --fundamental the fundamental number, or with --shard the solutions in the shard")))]
#[command(mut_arg("engine", |engine| engine.hide_possible_values(false).help("Engine that counts")))]
#[command(mut_arg("kernel", |kernel| kernel.hide_possible_values(false).help("Vector instructions to use")))]
#[command(after_help = "\
Examples:
  nqueens count 16                         the number of solutions, on all cores
  nqueens count 22 --journal q22.journal   the same command resumes it
  nqueens count 24 --shard 3/40 --journal q24/  one of 40 parts, for a cluster")]
pub(crate) struct CountArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Record finished units at PATH; the same command resumes a count that was stopped or killed. PATH is a file
    /// that ends in .journal, or a folder (with a slash behind it, or it exists): there each process makes a journal
    /// of its own, and skips what the others hold
    #[arg(long, short, value_name = "PATH", value_parser = path_in_folder())]
    journal: Option<PathBuf>,

    /// Count only shard I of K, from 0 to K-1; 'nqueens merge' adds the shards up
    #[arg(long, value_name = "I/K", allow_hyphen_values = true, requires = "journal")]
    shard: Option<Shard>,

    #[command(flatten)]
    format: Format,

    /// Also count the solutions up to rotation and reflection, by the size of their classes
    #[arg(long, conflicts_with = "shard")]
    fundamental: bool,

    /// Run the second count, on mirrored units
    #[arg(long)]
    second: bool,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    split: SplitArgs,
}

impl CountArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let session = Session::counting(&self.engine, &self.machine)?;
        let which = which_count(self.second);
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        let mut count = self.engine.count(self.n).which_count(which).shard(shard);
        if let Some(rows) = self.split.rows(self.engine.engine)? {
            count = count.split_rows(rows);
        }
        session.announce(self.n, &self.engine);
        if let Some(path) = &self.journal {
            count = count.journal(path);
        }
        let outcome = session.run(|| session.set_up(count).run_until_stopped())?;
        let mut exit = judge(&outcome);
        let mut classes = None;
        let is_complete = outcome.units_done == outcome.units;
        if !is_complete {
            self.report_stopped(&outcome);
            exit = exit.and(Exit::Stopped);
        } else if self.fundamental {
            match session.classes(&outcome) {
                Ok(counted) => classes = Some(counted),
                // The total may have taken long.
                Err(failure) if failure.exit == Exit::Stopped => exit = exit.and(failure.report()),
                Err(failure) => return Err(failure.after(exit)),
            }
        }
        let is_whole = outcome.shard == Shard::WHOLE;
        let mut published = Published::Unknown;
        if is_whole && is_complete {
            published = verdict(outcome.size, outcome.total, classes.as_ref());
        }
        if let Published::Differs { .. } = published {
            exit = exit.and(Exit::Failed);
        }
        let mut report = report(&outcome, classes, published);
        self.report_journal(&mut report, &outcome);
        report.which_count(which);
        if !is_complete {
            report.without_text();
        }
        Ok(exit.answer(self.format, report))
    }

    /// Prints how far a count came that was stopped.
    fn report_stopped(&self, outcome: &Outcome) {
        let done = Sum { units: outcome.units_done, solutions: outcome.total };
        let stopped = Error::Stopped { done, units: outcome.units };
        let part = self.shard.map_or(String::new(), |shard| format!("shard {shard}: "));
        let kept = match &self.journal {
            Some(_) => "the same command resumes the count",
            None => "nothing was kept, because there is no --journal",
        };
        message!("{part}{stopped}; {kept}");
    }

    /// Adds what all runs of the journals took together, as they were read back from the disk: wall time without the
    /// pauses between runs, and the CPU time that all threads spent on units. In a folder these are the runs of this
    /// process, or of all processes if nothing was left to count.
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
            "seconds": json_seconds(wall),
            "cpu_seconds": json_seconds(cpu),
        });
        report.field("journal", journal);
    }
}

/// Prints what is wrong with the journal of a count, and returns the exit code.
fn judge(outcome: &Outcome) -> Exit {
    let Outcome { size, shard, total, .. } = outcome;
    let Some(fault) = &outcome.journal_fault else { return Exit::Done };
    let name = match *shard {
        Shard::WHOLE => format!("Q({size}) = {total}"),
        _ => format!("shard {shard} of n = {size}"),
    };
    let fault = Failure::from(fault.clone());
    message!("{name} is counted, but its journal is not complete: {fault}");
    if fault.exit == Exit::Stopped { Exit::Stopped } else { Exit::Failed }
}

fn report(outcome: &Outcome, classes: Option<Classes>, published: Published) -> Report {
    let Outcome { shard, total: solutions, .. } = outcome;
    let is_whole = *shard == Shard::WHOLE;
    let is_complete = outcome.units_done == outcome.units;
    let mut report = Report::default();
    report.entry("n", outcome.size.get());
    if is_whole {
        report.field("shard", Value::Null);
    } else {
        let (index, last) = (shard.index(), shard.shards() - 1);
        let units = many(outcome.units, "unit");
        report
            .row("part", format_args!("shard {index} of 0-{last}: {units}"))
            .field("shard", shard.to_string())
            .row("solutions", format_args!("{solutions} in this shard"));
        if is_complete {
            report.bare(solutions);
        }
    }
    let fundamental = classes.as_ref().map(Classes::fundamental);
    report
        .number("total", (is_whole && is_complete).then_some(*solutions))
        .field("solutions", solutions.to_string())
        .number("fundamental", fundamental);
    report_classes(&mut report, classes);
    if is_whole {
        report.row("published", published);
    }
    report
        .field("published", published.to_string())
        .engine(outcome.engine, outcome.kernel, outcome.threads)
        .field("units", outcome.units)
        .field("units_done", outcome.units_done)
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
