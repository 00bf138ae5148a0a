//! `nqueens status FILE|FOLDER...`.

mod grid;
mod history;
mod page;
mod state;

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;

use crate::cli::exit::{Exit, Failure};
use crate::cli::file::OwnFile;
use crate::cli::journals::JournalsArgs;
use crate::cli::report::Format;
use crate::cli::values::file;
use state::Status;

/// Show how far the shards have come
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare percentage of finished units")))]
#[command(after_help = "\
Examples:
  nqueens status q24                       the shards in folder q24
  nqueens status q22.journal --json        one count, for a script")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    journals: JournalsArgs,

    /// Write a page to look at in a browser, in place of an earlier one
    #[arg(long, value_name = "FILE", value_parser = file())]
    html: Option<PathBuf>,

    #[command(flatten)]
    format: Format,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        // Before any reading: a folder of many journals takes a while.
        let file =
            self.html.map(|path| OwnFile::new("--html", path, page::BEGINNING)).transpose()?;
        let now = SystemTime::now();
        let status = |journals| Status::new(journals, now);
        let counts = self.journals.read_both()?.map(|journals| journals.map(status));
        if let Some(file) = file {
            file.write(&page::page(&counts, self.journals.paths()))?;
        }
        let mut reports = counts.iter().flatten().map(Status::report);
        let mut report = reports.next().unwrap_or_default();
        report.section("second", reports.next());
        Ok(Exit::Done.answer(self.format, report))
    }
}
