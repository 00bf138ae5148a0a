//! `nqueens merge FILE|FOLDER...`.

use std::collections::BTreeSet;
use std::io::Write;

use crate::record::{Record, RecordedCount, TwiceCounted, compare_counts, is_being_written};
use crate::{Error, Published, Shard};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::bad_lines::{BadLines, lines_of, print_commands};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::{duration, many};
use crate::cli::journals::{
    self, JournalsArgs, check, is_unread, missing_shards, ranges, shards_text,
};
use crate::cli::report::Report;
use crate::cli::stderr::{message, print_first};

/// Add up the journals of a count, and print the total if no unit is missing
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the total")))]
#[command(after_help = "\
Examples:
  nqueens merge q24                        the total of the shards in folder q24
  nqueens merge q24 --missing              the shards to run again: 3,7-9
  nqueens merge --twice q24                compares the two counts in the folder")]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    journals: JournalsArgs,

    /// Print only the numbers of the missing shards that no process is counting, for a job array, such as 3,7-9
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    missing: bool,

    /// Compare the first and the second count unit by unit, and print the total if all units agree
    #[arg(long, conflicts_with_all = ["second", "missing"])]
    twice: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if self.twice {
            self.compare_two_counts()
        } else if self.missing {
            self.print_missing_shards()
        } else {
            self.print_total()
        }
    }

    fn print_total(&self) -> Result<Exit, Failure> {
        let record = self.journals.read()?;
        let exit = check(&record);
        let mut report = report_journals(&record);
        if let Some(total) = record.total() {
            report.bare(total);
            return Ok(exit.answer(self.journals.format, report));
        }
        message!("{}", self.journals.describe_missing(&record));
        report.without_text();
        Ok(exit.and(Exit::Stopped).answer(self.journals.format, report))
    }

    /// Prints the shards that are neither complete nor running. Damage is no failure here, because its units are missing, and running
    /// their shards counts them again.
    fn print_missing_shards(&self) -> Result<Exit, Failure> {
        let Some(record) = self.journals.read_if_begun()? else {
            let Some(shards) = self.journals.shards else {
                return Err(self.journals.no_finished_unit(false));
            };
            let all: Vec<usize> = (0..shards).collect();
            return Ok(Exit::Stopped.print(|out| writeln!(out, "{}", ranges(&all))));
        };
        let mut exit = check(&record);
        if record.total().is_some() {
            return Ok(exit);
        }
        if exit == Exit::Failed && is_only_damaged(&record.left_out) {
            exit = Exit::Done;
        }
        exit = exit.and(Exit::Stopped);
        let Some((shards, missing)) = missing_shards(&record) else {
            let text = "--missing: the journals do not agree on the number of shards: name it with --shards K";
            return Err(Exit::Usage.because(text));
        };
        let running = running_shards(&record, shards, &missing);
        let mut idle = missing;
        idle.retain(|index| !running.contains(index));
        if !running.is_empty() {
            let running: Vec<usize> = running.into_iter().collect();
            let running = shards_text(&running, shards);
            message!("left out, because processes are counting them: {running}");
        }
        if idle.is_empty() {
            return Ok(exit);
        }
        Ok(exit.print(|out| writeln!(out, "{}", ranges(&idle))))
    }

    /// Compares both counts. There is a total only if they agree on every unit.
    fn compare_two_counts(&self) -> Result<Exit, Failure> {
        let [first, second] = self.journals.read_both()?;
        let twice = compare_counts(&first, &second)?;
        let plan = first.plan();
        let is_proof = twice.units == plan.units() && twice.differing == 0;
        let counted_twice =
            format!("{} of {} counted twice", twice.units, many(plan.units(), "unit"));
        let counts = [("first", &first), ("second", &second)];

        let mut exit;
        if twice.differing > 0 {
            print_differences(&twice);
            exit = Exit::Failed;
        } else {
            exit = check(&first).and(check(&second));
            if !is_proof {
                message!("{counted_twice}, all with equal counts");
                self.print_what_is_missing(counts);
            }
        }

        let total = if is_proof { first.total() } else { None };
        let published = if is_proof { first.published() } else { Published::Unknown };
        let differences: Vec<Value> = twice.disagreements.iter().map(difference).collect();
        let mut report = Report::default();
        report
            .plan(plan)
            .number("total", total)
            .entry("published", published.to_string())
            .row("twice", format_args!("{counted_twice}, all with equal counts"))
            .field("counted_twice", twice.units)
            .field("differing", twice.differing)
            .field("differences", differences);
        for (name, record) in counts {
            let mut part = report_journals(record);
            part.entry("machines", machines(record));
            let object = report.put_below(part);
            report.field(name, object);
        }
        if !is_proof {
            exit = exit.and(Exit::Stopped);
            report.without_text();
        }
        Ok(exit.answer(self.journals.format, report))
    }

    /// Prints what each of the two counts lacks.
    fn print_what_is_missing(&self, counts: [(&str, &Record); 2]) {
        for (name, record) in counts {
            if record.total().is_none() {
                message!("{name} count: {}", self.journals.describe_missing(record));
            }
        }
    }
}

/// Returns those of the missing shards that processes are counting. The file system is asked only for the locks of
/// journals of these shards.
fn running_shards(record: &Record, shards: usize, missing: &[usize]) -> BTreeSet<usize> {
    let mut running = BTreeSet::new();
    for file in record.files() {
        let Some(run) = file.runs.last() else { continue };
        let is_whole = run.shard == Shard::WHOLE;
        let index = run.shard.index();
        let is_missing = run.shard.shards() == shards && missing.binary_search(&index).is_ok();
        if (is_whole || is_missing) && is_being_written(&file.path) {
            if is_whole {
                running.extend(missing);
            } else {
                running.insert(index);
            }
        }
    }
    running
}

/// Returns whether nothing is left out but damaged lines.
fn is_only_damaged(left_out: &[Error]) -> bool {
    left_out.iter().all(|error| matches!(error, Error::Journal { .. }) && !is_unread(error))
}

/// Prints the units whose two counts differ, and the commands that take their lines out.
fn print_differences(twice: &TwiceCounted) {
    let mut differences = Vec::new();
    for [first, second] in &twice.disagreements {
        let unit = first.unit;
        differences
            .push(format!("unit {unit} differs: first count {first}, second count {second}"));
    }
    print_first(differences.into_iter());
    let units = many(twice.differing, "unit");
    message!(
        "the counts differ in {units}: at least one machine made errors; take the lines out of both counts, and count \
         their units again"
    );
    print_commands(lines_of(&twice.lines), BadLines::new());
}

/// Returns the machines that counted, each once.
fn machines(record: &Record) -> String {
    let machines: BTreeSet<&str> = record.runs().map(|run| &*run.machine).collect();
    machines.into_iter().collect::<Vec<_>>().join("; ")
}

/// Returns the report on the journals of one count.
fn report_journals(record: &Record) -> Report {
    let files = record.files().len();
    let repeated = match record.repeated() {
        0 => "no unit".to_owned(),
        repeated => many(repeated, "unit"),
    };
    let mut report = journals::report(record);
    report
        .row("journals", format_args!("{files}, {repeated} in two"))
        .row("CPU time", duration(record.cpu_time()));
    report
}

/// Returns what the first and the second count recorded for a unit.
fn difference([first, second]: &[RecordedCount; 2]) -> Value {
    json!({ "unit": first.unit, "first": recorded(first), "second": recorded(second) })
}

/// Returns a count as a journal holds it, with its place.
fn recorded(count: &RecordedCount) -> Value {
    json!({
        "count": count.count.to_string(),
        "machine": count.machine,
        "file": count.path.display().to_string(),
        "line": count.line,
    })
}
