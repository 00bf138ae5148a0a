//! `nqueens merge FILE|FOLDER...`.

use std::io::Write;

use clap::Args;

use crate::cli::commands::merged::Merged;
use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::input::journals::JournalsArgs;
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

    /// Print only the missing shards that no process is counting, such as 3,7-9
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    missing: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let records = self.journals.read()?;
        let has_begun = !records.all().is_empty();
        match (has_begun, self.missing) {
            (true, false) => self.print_total(&Merged::new(&records, self.journals.shards)?),
            (true, true) => {
                self.print_missing_shards(&Merged::new(&records, self.journals.shards)?)
            }
            (false, true) => self.print_all_shards(),
            (false, false) => Err(self.journals.nothing_recorded()),
        }
    }

    fn print_total(&self, merged: &Merged<'_>) -> Result<Exit, Failure> {
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

    /// Prints the numbers of all shards, because no journal has begun.
    fn print_all_shards(&self) -> Result<Exit, Failure> {
        let Some(shards) = self.journals.shards else {
            return Err(self.journals.nothing_recorded());
        };
        let all: Vec<usize> = (0..shards).collect();
        Ok(Exit::Stopped.print(|out| writeln!(out, "{}", ranges(&all))))
    }

    /// Prints the shards that are neither complete nor running.
    fn print_missing_shards(&self, merged: &Merged<'_>) -> Result<Exit, Failure> {
        let [shards] = &merged.shards[..] else {
            let text = "--missing: these are journals of both counts: name the journals of one of them, or keep each count \
                        in a folder of its own";
            return Err(Exit::Usage.because(text));
        };
        if merged.total().is_some() {
            return Ok(merged.judge());
        }
        if self.journals.shards.or(merged.records[0].agreed_shards()).is_none() {
            let text = "--missing: the journals do not agree on the number of shards: name it with --shards K";
            return Err(Exit::Usage.because(text));
        }
        if !shards.running.is_empty() {
            let running = shards_text(&shards.running, shards.number);
            message!("left out, because processes are counting them: {running}");
        }
        if shards.missing.is_empty() {
            return Ok(Exit::Stopped);
        }
        Ok(Exit::Stopped.print(|out| writeln!(out, "{}", ranges(&shards.missing))))
    }
}
