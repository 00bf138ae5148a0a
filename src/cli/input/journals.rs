//! The journals that a command reads.

use std::path::PathBuf;

use crate::Shard;
use crate::record::{Records, journals_in};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::{Value, json};

use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::failure::warnings::warn_of;
use crate::cli::input::memory::stated_memory;
use crate::cli::input::values::path;
use crate::cli::output::format::ranges;
use crate::cli::output::report::{Format, Report};

/// Which journals, and how the report on them is printed.
#[derive(Debug, Args)]
pub(crate) struct JournalsArgs {
    #[command(flatten)]
    pub(crate) format: Format,

    /// Journals of a board, or folders of them; the count may still be running
    ///
    /// Journals of the first and of the second count are compared.
    #[arg(required = true, value_name = "FILE|FOLDER", value_parser = path())]
    pub(crate) paths: Vec<PathBuf>,

    /// Number of shards, to name the missing ones [default: as in the journals]
    #[arg(long, value_name = "K")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=Shard::MAX_SHARDS as u64))]
    pub(crate) shards: Option<usize>,
}

impl JournalsArgs {
    /// Reads the journals, which are of one plan, and warns of what is left out. Takes no locks. Both counts are `None` if
    /// no journal has begun.
    pub(crate) fn read(&self) -> Result<Records, Failure> {
        let records = Records::read_with_memory(&self.paths, stated_memory()?)?;
        warn_of(&records);
        Ok(records)
    }

    /// Ends a command that found no journal that has begun. Nothing is complete, which scripts read from the exit code and
    /// from the JSON object.
    pub(crate) fn nothing_recorded(&self) -> Failure {
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
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let paths = paths.join(", ");
        let has_journals = journals_in(&self.paths).is_ok_and(|files| !files.is_empty());
        let text = if has_journals {
            format!("no journal in {paths} holds a finished unit yet")
        } else {
            format!("there is no journal in {paths}: their names end in .journal")
        };
        Exit::Stopped.answer(self.format, report).because(text)
    }
}
