//! `nqueens shard N --index I --shards K --out PATH`.

use std::path::PathBuf;

use clap::Args;
use nqueens::{BoardSize, Outcome, Shard};

use crate::cli::args::{EngineArgs, MachineArgs, which_count};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::many;
use crate::cli::journals::shards_text;
use crate::cli::report::{Format, Report};
use crate::cli::session::{Session, check_journal};
use crate::cli::stderr::escaped;
use crate::cli::values::{path_in_folder, shard, up_to};

/// Count one shard of a board's units, for a cluster
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare number of solutions of this shard")))]
#[command(after_help = "\
Examples:
  nqueens shard 24 --index 0 --shards 100 --out q24   the first of 100 shards
  nqueens shard 24 --shards 100 --out q24             as a task of a job array")]
pub(crate) struct ShardArgs {
    /// Size of the board, 0 to 32
    #[arg(allow_negative_numbers = true)]
    n: BoardSize,

    /// Index of the shard, from 0 [default: SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, PBS_ARRAYID,
    /// JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, HQ_TASK_ID, SGE_TASK_ID - 1 or LSB_JOBINDEX - 1]
    #[arg(long, value_name = "I", allow_negative_numbers = true)]
    index: Option<String>,

    /// Number of shards
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = up_to(Shard::MAX_SHARDS))]
    shards: usize,

    /// Folder for the journals of all shards, on a file system that all machines share; or, if it
    /// ends in .journal, the journal of this shard
    #[arg(long, value_name = "PATH", value_parser = path_in_folder())]
    out: PathBuf,

    #[command(flatten)]
    format: Format,

    /// Run the second, independent count, on mirrored units
    #[arg(long)]
    second: bool,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    machine: MachineArgs,
}

impl ShardArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let shard = shard(self.index, self.shards)?;
        let place = shards_text(&[shard.index()], shard.shards());
        let session = Session::counting(&self.engine, &self.machine)?;
        let count = self.engine.count(self.n).which_count(which_count(self.second));
        let outcome = session.run(|| session.set_up(count).run_shard(shard, &self.out));
        let outcome = outcome.map_err(|failure| {
            failure
                .if_stopped(|text| format!("{place}: {text}; the same command resumes the count"))
        })?;
        let exit = check_journal(&place, &outcome);
        let mut report = report(&outcome);
        report.which_count(which_count(self.second));
        Ok(exit.answer(self.format, report))
    }
}

fn report(outcome: &Outcome) -> Report {
    let Outcome { shard, units, units_before, total: solutions, .. } = outcome;
    let (index, last, of_shard) = (shard.index(), shard.shards() - 1, many(*units, "unit"));
    let journal = outcome.journal.as_ref().map(|path| escaped(path.display()));
    let mut report = Report::default();
    report
        .entry("n", outcome.size.get())
        .row("shard", format_args!("{index} of 0-{last}: {of_shard}, {units_before} done before"))
        .field("index", index)
        .field("shards", shard.shards())
        .field("units", *units)
        .field("units_before", *units_before)
        .row("solutions", format_args!("{solutions} in this shard"))
        .field("solutions", solutions.to_string())
        .bare(solutions)
        .engine(outcome.engine, outcome.kernel, outcome.threads)
        .seconds(outcome.elapsed)
        .row("journal", journal.as_deref().unwrap_or("none: all units were done before"))
        .field("journal", journal);
    report
}
