//! `nqueens shard N --index I --shards K --out PATH`.

use std::env;
use std::path::PathBuf;

use clap::Args;
use nqueens::{BoardSize, ShardOutcome};
use serde_json::{Value, json};

use crate::cli::exit::{Exit, Failure, Format, Line, Report};
use crate::cli::options::{EngineArgs, number_of_shards, shard};
use crate::cli::output::json::seconds;
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
        Ok(exit.answer(Format::new(self.json, false), &ShardReport(outcome)))
    }
}

struct ShardReport(ShardOutcome);

impl Report for ShardReport {
    fn rows(&self) -> Vec<Line> {
        let ShardOutcome { shard, units_before, solutions, engine, kernel, .. } = &self.0;
        let (index, last) = (shard.index(), shard.shards() - 1);
        let units = many(self.0.units, "unit");
        let mut rows = vec![
            ("n", self.0.size.to_string()),
            ("shard", format!("{index} (of 0..={last}): {units}, {units_before} done before")),
            ("solutions", format!("{solutions} in this shard")),
            ("engine", format!("{engine}, kernel {kernel}")),
            ("threads", self.0.threads.to_string()),
        ];
        rows.extend(text::self_check(self.0.units_recounted));
        rows.push(("seconds", format!("{:.3}", self.0.elapsed.as_secs_f64())));
        let journal = self.0.journal.as_ref().map(|path| escaped(path.display()));
        rows.push(("journal", journal.unwrap_or_else(|| "nothing was left to count".to_owned())));
        rows
    }

    fn json(&self) -> Value {
        let ShardOutcome { size, shard, engine, kernel, threads, .. } = &self.0;
        json!({
            "n": size.get(),
            "index": shard.index(),
            "shards": shard.shards(),
            "units": self.0.units,
            "units_before": self.0.units_before,
            "solutions": self.0.solutions.to_string(),
            "engine": engine.name(),
            "kernel": kernel.name(),
            "threads": threads,
            "recounted": self.0.units_recounted,
            "seconds": seconds(self.0.elapsed),
            "journal": self.0.journal.as_ref().map(|path| escaped(path.display())),
        })
    }
}
