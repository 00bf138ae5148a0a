//! `nqueens shard N --index I --shards K --out PATH`.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nqueens::{BoardSize, ShardOutcome};
use serde::Serialize;

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::{EngineArgs, number_of_shards, shard};
use crate::cli::output::json::{as_seconds, as_string};
use crate::cli::output::stderr::{escaped, message};
use crate::cli::output::text::{self, many};
use crate::cli::session::Session;

/// Count one shard of a board's units, for a cluster
#[derive(Debug, Args)]
pub(crate) struct ShardArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Which shard, from 0; without it SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, JOB_COMPLETION_INDEX,
    /// AWS_BATCH_JOB_ARRAY_INDEX or HQ_TASK_ID, or one less than SGE_TASK_ID or LSB_JOBINDEX
    #[arg(long, value_name = "I", allow_negative_numbers = true)]
    index: Option<String>,

    /// How many shards there are
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = number_of_shards)]
    shards: usize,

    /// Folder for the journals of all shards, on a file system that all machines share; or, if it
    /// ends in .journal, the journal of this shard
    #[arg(long, value_name = "PATH")]
    out: PathBuf,

    #[command(flatten)]
    engine: EngineArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ShardArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let shard = shard(self.index.as_deref(), self.shards, |name| env::var(name).ok())?;
        let name = text::shard(shard);
        let session = Session::new(&self.engine)?;
        let count = self.engine.count(self.n);
        let outcome = session.run(count, |count| count.run_shard(shard, &self.out));
        let outcome = outcome.map_err(|failure| {
            failure.if_stopped(|text| format!("{name}: {text}; the same command resumes there"))
        })?;
        for reason in &outcome.left_out {
            message!("warning: {reason}; its units were counted as not finished");
        }
        let mut exit = Exit::Done;
        if let Some(fault) = &outcome.journal_fault {
            message!("{name} is counted, but not all recorded: {fault}");
            exit = Exit::Failed;
        }
        Ok(exit.answer(Format::new(self.json, false), &ShardReport::new(&outcome)))
    }
}

#[derive(Debug, Serialize)]
struct ShardReport {
    n: u32,
    index: usize,
    shards: usize,
    units: usize,
    units_before: usize,
    #[serde(serialize_with = "as_string")]
    solutions: u128,
    engine: &'static str,
    kernel: &'static str,
    threads: usize,
    recounted: usize,
    #[serde(serialize_with = "as_seconds")]
    seconds: Duration,
    journal: Option<String>,
}

impl ShardReport {
    fn new(outcome: &ShardOutcome) -> Self {
        Self {
            n: outcome.size.get(),
            index: outcome.shard.index(),
            shards: outcome.shard.of(),
            units: outcome.units,
            units_before: outcome.units_before,
            solutions: outcome.solutions,
            engine: outcome.engine.name(),
            kernel: outcome.kernel.name(),
            threads: outcome.threads,
            recounted: outcome.units_recounted,
            seconds: outcome.elapsed,
            journal: outcome.journal.as_ref().map(|path| escaped(path.display())),
        }
    }
}

impl Report for ShardReport {
    fn rows(&self) -> Vec<Line> {
        let (units, before) = (many(self.units, "unit"), self.units_before);
        let (index, last) = (self.index, self.shards - 1);
        let mut rows = vec![
            ("n", self.n.to_string()),
            ("shard", format!("{index} (of 0..={last}): {units}, {before} done before")),
            ("solutions", format!("{} in this shard", self.solutions)),
            ("engine", format!("{}, kernel {}", self.engine, self.kernel)),
            ("threads", self.threads.to_string()),
        ];
        if self.recounted > 0 {
            let units = many(self.recounted, "unit");
            rows.push(("self-check", format!("{units} recounted, no difference")));
        }
        let journal = self.journal.as_deref().unwrap_or("nothing was left to count");
        rows.push(("seconds", format!("{:.3}", self.seconds.as_secs_f64())));
        rows.push(("journal", journal.to_owned()));
        rows
    }
}
