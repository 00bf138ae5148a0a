//! The journals that a command reads.

use std::path::PathBuf;

use crate::record::{BothCounts, Record, journals_in, split_by_plan};
use crate::{Error, Plan, Shard};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::exit::Exit;
use crate::cli::failure::bad_lines::{
    damaged_lines, print_commands, print_commands_that_take_apart,
};
use crate::cli::failure::failure::Failure;
use crate::cli::failure::warnings::{warn_of_cut_off, warn_of_left_out};
use crate::cli::input::memory::stated_memory;
use crate::cli::input::values::number;
use crate::cli::output::format::ranges;
use crate::cli::output::report::{Format, Report};

/// Which journals, and how the report on them is printed.
#[derive(Debug, Args)]
pub(crate) struct JournalsArgs {
    #[command(flatten)]
    pub(crate) format: Format,

    /// Journals of a board, or folders of them; the count may still be running. Journals of the first and of the second
    /// count are compared
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub(crate) paths: Vec<PathBuf>,

    /// Number of shards, to name the missing ones [default: as in the journals]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = number_of_shards)]
    pub(crate) shards: Option<usize>,
}

/// Reads a number of shards.
fn number_of_shards(text: &str) -> Result<usize, String> {
    number(text, 1, Shard::MAX_SHARDS)
}

/// What the journals of a plan hold: its first count, its second one, or both, in this order.
#[derive(Debug)]
pub(crate) struct Counts(Vec<Record>);

/// What all journals hold that were named.
pub(crate) struct Journals {
    /// The counts of each plan.
    pub(crate) plans: Vec<Counts>,
    /// Why other counts cannot be read.
    pub(crate) failures: Vec<Failure>,
}

impl Counts {
    /// Returns the records of the counts, of which there is at least one.
    pub(crate) fn records(&self) -> Vec<&Record> {
        self.0.iter().collect()
    }

    /// Returns the plan.
    pub(crate) fn plan(&self) -> &Plan {
        self.0[0].plan()
    }

    /// Returns the first of the journals with its plan, as text: `q8.journal is of n = 8 (engine subtrees, split rows 1)`.
    fn first_journal_and_plan(&self) -> String {
        let plan = self.plan();
        let file = match self.0[0].files().first() {
            Some(file) => file.path.display().to_string(),
            None => "a journal that cannot be read any more".to_owned(),
        };
        let mut text = format!("{file} is of n = {} (engine {}", plan.size(), plan.engine());
        if let Some(rows) = plan.split_rows() {
            text += &format!(", split rows {rows}");
        }
        text + ")"
    }

    /// Compares the first and the second count, if both are there.
    pub(crate) fn compare(&self) -> Result<Option<BothCounts>, Error> {
        match &self.0[..] {
            [first, second] => BothCounts::compare(first, second).map(Some),
            _ => Ok(None),
        }
    }

    /// Warns of what is left out, without commands that take lines out.
    pub(crate) fn warn(&self) {
        for record in &self.0 {
            warn_of_left_out(&record.left_out, Some(record.files()));
            warn_of_cut_off(record);
        }
    }

    /// Warns of what is left out, and prints the commands that take it out.
    pub(crate) fn warn_with_commands(&self) {
        self.warn();
        for record in &self.0 {
            // `verify` prints one command for all bad lines of a journal.
            if record.disputed().is_empty() {
                print_commands(damaged_lines(&record.left_out));
            }
            print_commands_that_take_apart(&record.left_out);
        }
    }
}

impl JournalsArgs {
    /// Reads all journals. Prints nothing, and takes no locks.
    pub(crate) fn read(&self) -> Result<Journals, Failure> {
        let mut journals = Journals { plans: Vec::new(), failures: Vec::new() };
        let stated_memory = stated_memory()?;
        for files in split_by_plan(journals_in(&self.paths)?) {
            let mut records = Vec::new();
            for files_of_count in files {
                if files_of_count.is_empty() {
                    continue;
                }
                match Record::read_with_memory(&files_of_count, stated_memory) {
                    Ok(Some(mut record)) => {
                        if self.shards.is_some() {
                            record.shards = self.shards;
                        }
                        records.push(record);
                    }
                    Ok(None) => {}
                    Err(error) => journals.failures.push(Failure::from(error)),
                }
            }
            if !records.is_empty() {
                journals.plans.push(Counts(records));
            }
        }
        Ok(journals)
    }

    /// Reads the journals of one plan. Prints nothing. Returns `None` if none has begun.
    pub(crate) fn read_one_plan(&self) -> Result<Option<Counts>, Failure> {
        let Journals { mut plans, mut failures } = self.read()?;
        if let Some(failure) = failures.pop() {
            return Err(failure);
        }
        if let [one, other, ..] = &plans[..] {
            let text = format!(
                "{}, and {}: name the files or folders of one of them; if one is there by mistake, move it to another \
                 folder",
                one.first_journal_and_plan(),
                other.first_journal_and_plan()
            );
            return Err(Exit::Usage.because(text));
        }
        Ok(plans.pop())
    }

    /// Ends a command that found no finished unit of a count. Nothing is complete, which scripts read from the exit code
    /// and from the JSON object.
    pub(crate) fn no_finished_unit(&self) -> Failure {
        let mut indices = Value::Null;
        if let Some(shards) = self.shards {
            let all: Vec<usize> = (0..shards).collect();
            indices = ranges(&all).into();
        }
        let mut report = Report::default();
        report
            .field("n", Value::Null)
            .field("plan", Value::Null)
            .field("total", Value::Null)
            .field("finished", 0)
            .field("missing", json!({ "units": null, "shards": self.shards, "indices": indices }));
        let paths = self.paths_text();
        let has_journals = journals_in(&self.paths).is_ok_and(|files| !files.is_empty());
        let text = if has_journals {
            format!("no journal in {paths} holds a finished unit yet")
        } else {
            format!("there is no journal in {paths}: their names end in .journal")
        };
        Exit::Stopped.answer(self.format, report).because(text)
    }

    /// Returns the paths for a message.
    fn paths_text(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        paths.join(", ")
    }
}
