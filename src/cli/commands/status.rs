//! `nqueens status FILE|FOLDER...`: how far counts have come, as text, JSON or a page.

mod grid;
mod page;
mod resume;
mod state;

use std::path::PathBuf;
use std::time::SystemTime;

use crate::record::BothCounts;
use clap::Args;

use crate::cli::commands::facts::check;
use crate::cli::commands::merged::twice_text;
use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::input::drawing::{drawing, write_drawing};
use crate::cli::input::journals::{Journals, JournalsArgs};
use crate::cli::output::format::many;
use crate::cli::output::report::Report;
use crate::cli::output::stderr::message;
use resume::Resume;
use state::CountState;

/// Show what is finished, what is left, and the command that resumes a count
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the percentage of finished units")))]
#[command(after_help = "\
Examples:
  nqueens status .                         every count in this folder
  nqueens status q24                       the shards in folder q24
  nqueens status q22.journal --json        one count, for a script")]
pub(crate) struct StatusArgs {
    /// Write a page for a browser, and replace FILE if there is one
    #[arg(long, value_name = "FILE", value_parser = drawing("html"))]
    html: Option<PathBuf>,

    #[command(flatten)]
    journals: JournalsArgs,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let Journals { plans, mut failures } = self.journals.read()?;
        if plans.is_empty() {
            return Err(failures.pop().unwrap_or_else(|| self.journals.no_finished_unit()));
        }
        let mut exit = warn_of_failures(&failures);
        // Taken after reading, so that no journal seems to be written in the future.
        let now = SystemTime::now();
        let mut all = Vec::new();
        for counts in &plans {
            counts.warn_with_commands();
            all.extend(counts.records());
        }
        let mut states = Vec::new();
        for counts in &plans {
            let both = counts.compare()?;
            let has_dispute = both.as_ref().is_some_and(BothCounts::has_dispute);
            let mut of_plan = Vec::new();
            for record in counts.records() {
                exit = exit.and(check(&[record], record.total()));
                let total = record.total().filter(|_| !has_dispute);
                of_plan.push(CountState::new(record, total, &all, now));
            }
            states.push(StateOfPlan { counts: of_plan, both });
        }
        for plan in &states {
            exit = exit.and(plan.judge());
        }
        if let Some(path) = &self.html {
            let counts: Vec<&CountState<'_>> =
                states.iter().flat_map(|plan| &plan.counts).collect();
            let page = page::page(&counts, &self.journals.paths);
            write_drawing("--html", path, &page)?;
        }
        if all.iter().all(|record| record.sum().units == 0) {
            message!("no unit is recorded yet");
            exit = exit.and(Exit::Stopped);
        }
        Ok(exit.answer(self.journals.format, report(&states)))
    }
}

/// Warns of counts that cannot be read, and returns the exit code.
fn warn_of_failures(failures: &[Failure]) -> Exit {
    let mut exit = Exit::Done;
    for failure in failures {
        message!("warning: left out: {failure}");
        let is_temporary = failure.exit == Exit::Temporary;
        exit = exit.and(if is_temporary { Exit::Temporary } else { Exit::Failed });
    }
    exit
}

/// How far the counts of a plan have come.
struct StateOfPlan<'a> {
    counts: Vec<CountState<'a>>,
    /// How the first and the second count compare, if both are there.
    both: Option<BothCounts>,
}

impl StateOfPlan<'_> {
    /// Says what is wrong with the two counts together, and returns the exit code.
    fn judge(&self) -> Exit {
        let Some(both) = &self.both else { return Exit::Done };
        if both.differing.is_empty() {
            return Exit::Done;
        }
        let units = many(both.differing.len(), "unit");
        message!("the first and the second count differ in {units}: see 'nqueens merge'");
        Exit::Failed
    }

    /// Returns the report on the first count and, below it, on the second one. Their objects are one.
    fn report(&self) -> Report {
        let mut reports = self.counts.iter().map(report_on);
        let mut report = reports.next().unwrap_or_default();
        let second = reports.next().map(|second| report.put_below(second));
        let mut counted_twice = 0;
        let mut differing = 0;
        if let Some(both) = &self.both {
            counted_twice = both.counted_twice;
            differing = both.differing.len();
            let units = self.counts[0].record.plan().units();
            report.row("", "").row("twice", twice_text(both, units));
        }
        report
            .field("counted_twice", counted_twice)
            .field("differing", differing)
            .field("second", second);
        report
    }
}

/// Returns the report on all counts, one below the other. Counts of several plans are a list.
fn report(plans: &[StateOfPlan<'_>]) -> Report {
    if let [plan] = plans {
        return plan.report();
    }
    let mut report = Report::default();
    let mut objects = Vec::new();
    for plan in plans {
        objects.push(report.put_below(plan.report()));
    }
    report.field("counts", objects);
    report
}

/// Returns the report on a count, with the command that resumes it.
fn report_on(count: &CountState<'_>) -> Report {
    let mut report = Report::default();
    report.plan(count.record.plan()).bare(count.percent());
    count.add_facts(&mut report);
    let mut command = None;
    match Resume::of(count) {
        Resume::Finished | Resume::Running => {}
        Resume::Command(text) => {
            report.row("resume", &text);
            command = Some(text);
        }
        Resume::Obstacle(reason) => {
            report.row("resume", reason);
        }
    }
    report.field("resume", command);
    report
}
