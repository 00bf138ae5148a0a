//! `nqueens merge FILE|FOLDER...`.

use std::io::Write;

use clap::Args;

use crate::cli::commands::journals::JournalsArgs;
use crate::cli::commands::journals::{CountState, Journals};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::print::format::{ranges, shards_text};
use crate::cli::stderr::message;

/// Add up the journals of a count, and print the total if no unit is missing
///
/// If there are journals of the first and of the second pass, both are used. Then there is a total only if no unit
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
        if self.missing && records.all().is_empty() {
            return self.print_all_shards();
        }
        let journals = Journals::new(&records, &self.journals)?;
        if self.missing {
            return print_missing_shards(&journals);
        }
        let mut exit = journals.judge();
        let mut report = journals.report();
        match journals.total() {
            Some(total) => _ = report.bare(total),
            None => report.without_text(),
        }
        if !journals.is_complete() {
            journals.print_what_is_missing();
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
}

/// Prints the shards that are neither complete nor running.
fn print_missing_shards(journals: &Journals<'_>) -> Result<Exit, Failure> {
    let [CountState { named_shards, shards, .. }] = &journals.counts[..] else {
        let text = "--missing: these are journals of both passes: name the journals of one of them, or keep each pass \
                    in a folder of its own";
        return Err(Exit::Usage.because(text));
    };
    if journals.total().is_some() {
        return Ok(journals.judge());
    }
    if named_shards.is_none() {
        let text =
            "--missing: the journals do not agree on the number of shards: name it with --shards K";
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
