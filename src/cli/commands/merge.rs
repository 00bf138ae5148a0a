//! `nqueens merge FILE|FOLDER...`.

use std::io::Write;

use crate::Error;
use clap::Args;

use crate::cli::commands::facts::{check, missing_shards};
use crate::cli::commands::merged::Merged;
use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::failure::warnings::is_unread;
use crate::cli::input::journals::{Counts, JournalsArgs};
use crate::cli::output::format::{ranges, shards_text};
use crate::cli::output::stderr::message;

/// Add up the journals of a count, and print the total if no unit is missing
///
/// If there are journals of the first and of the second count, both are used. Then there is a total only if no unit
/// differs between them.
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the total")))]
#[command(after_help = "\
Examples:
  nqueens merge q24                        the total of the shards in folder q24
  nqueens merge q24 --missing              the shards to run again: 3,7-9
  nqueens merge q24 q24-second             compares the two counts of a board")]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    journals: JournalsArgs,

    /// Print only the numbers of the missing shards that no process is counting, for a job array, such as 3,7-9
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    missing: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let counts = self.journals.read_one_plan()?;
        if let Some(counts) = &counts {
            counts.warn_with_commands();
        }
        match counts {
            Some(counts) if self.missing => self.print_missing_shards(&counts),
            Some(counts) => self.print_total(&counts),
            None if self.missing => self.print_all_shards(),
            None => Err(self.journals.no_finished_unit()),
        }
    }

    fn print_total(&self, counts: &Counts) -> Result<Exit, Failure> {
        let merged = Merged::new(counts)?;
        let mut exit = merged.judge();
        let mut report = merged.report();
        match merged.total() {
            Some(total) => _ = report.bare(total),
            None => report.without_text(),
        }
        if !merged.is_complete() {
            merged.print_what_is_missing(&self.journals.paths);
            exit = exit.and(Exit::Stopped);
        }
        Ok(exit.answer(self.journals.format, report))
    }

    /// Prints the shards that are neither complete nor running. Damage is no failure here, because its units are missing,
    /// and running their shards counts them again.
    fn print_missing_shards(&self, counts: &Counts) -> Result<Exit, Failure> {
        let [record] = counts.records()[..] else {
            let text = "--missing: these are journals of both counts: name the journals of one of them, or keep each count \
                        in a folder of its own";
            return Err(Exit::Usage.because(text));
        };
        let mut exit = check(&[record], record.total());
        if record.total().is_some() {
            return Ok(exit);
        }
        if exit == Exit::Failed && is_only_damaged(&record.left_out) {
            exit = Exit::Done;
        }
        exit = exit.and(Exit::Stopped);
        let Some((shards, missing)) = missing_shards(record) else {
            let text = "--missing: the journals do not agree on the number of shards: name it with --shards K";
            return Err(Exit::Usage.because(text));
        };
        let all_running = record.running().shards(shards);
        let mut running = Vec::new();
        let mut idle = Vec::new();
        for index in missing {
            if all_running.contains(&index) {
                running.push(index);
            } else {
                idle.push(index);
            }
        }
        if !running.is_empty() {
            let running = shards_text(&running, shards);
            message!("left out, because processes are counting them: {running}");
        }
        if idle.is_empty() {
            return Ok(exit);
        }
        Ok(exit.print(|out| writeln!(out, "{}", ranges(&idle))))
    }

    /// Prints the numbers of all shards, because no journal has begun.
    fn print_all_shards(&self) -> Result<Exit, Failure> {
        let Some(shards) = self.journals.shards else {
            return Err(self.journals.no_finished_unit());
        };
        let all: Vec<usize> = (0..shards).collect();
        Ok(Exit::Stopped.print(|out| writeln!(out, "{}", ranges(&all))))
    }
}

/// Returns whether nothing is left out but damaged lines.
fn is_only_damaged(left_out: &[Error]) -> bool {
    left_out.iter().all(|error| matches!(error, Error::Journal { .. }) && !is_unread(error))
}
