//! `nqueens compare N...`: engines and numbers of threads side by side.
//!
//! On each board every contestant, an engine on a number of threads, counts once to warm up; then
//! rounds follow in which each counts once, so that whatever else the machine does falls on all of
//! them alike. [`rounds`] times them and leaves out, by [`forecast`], those that are too slow;
//! [`statistics`] makes the rows.

mod forecast;
mod rounds;
mod statistics;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use nqueens::cpu::Cpu;
use nqueens::known::known;
use nqueens::{BoardSize, Cancel, Engine, thread_pool};

use crate::cli::args::{OrAuto, engine_or_all};
use crate::cli::exit::{Exit, Failure};
use crate::cli::file::OwnFile;
use crate::cli::format::many;
use crate::cli::plot;
use crate::cli::progress::{Progress, ProgressWhen};
use crate::cli::rows::{RowFormat, RowWriter};
use crate::cli::signals::cancel_on_signals;
use crate::cli::stderr::{escaped, message};
use crate::cli::timings::{self, Timing};
use crate::cli::values::{default_threads, file, number_of_threads, sizes};
use rounds::{Contestant, Rounds, RoundsArgs};
use statistics::Reference;

/// Time engines and numbers of threads side by side
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens compare 8-14 --engines all                all methods side by side
  nqueens compare 16 --threads 1,2 --svg times.svg  and a picture of it")]
pub(crate) struct CompareArgs {
    /// Boards to count: sizes and ranges, as 8,10,12 or 8-10
    #[arg(value_name = "N", required_unless_present = "draw", allow_negative_numbers = true)]
    #[arg(value_delimiter = ',', value_parser = sizes)]
    sizes: Vec<RangeInclusive<u32>>,

    /// Engines to compare; ratios are to the first one named, or to subtrees for all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "subtrees,halves")]
    #[arg(value_parser = engine_or_all())]
    engines: Vec<OrAuto<Engine>>,

    /// Numbers of threads to compare; without it one number: NQUEENS_THREADS, SLURM_CPUS_PER_TASK,
    /// or all cores that this process may use
    #[arg(long, short, value_name = "T,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = number_of_threads)]
    threads: Vec<usize>,

    #[command(flatten)]
    rounds: RoundsArgs,

    /// Draw time against n, on the fewest threads
    #[arg(long, value_name = "FILE", value_parser = file())]
    svg: Option<PathBuf>,

    /// Draw what an earlier run wrote with --csv into FILE, instead of measuring
    #[arg(long, value_name = "FILE", requires = "svg", conflicts_with = "sizes")]
    #[arg(value_parser = file())]
    draw: Option<PathBuf>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    progress: ProgressWhen,

    #[command(flatten)]
    format: RowFormat,
}

impl CompareArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let cancel = cancel_on_signals()?;
        let mut rows = self.draw.as_deref().map(timings::read).transpose()?.unwrap_or_default();
        let picture = |path: &PathBuf| OwnFile::new("--svg", path.clone(), plot::BEGINNING);
        let picture = self.svg.as_ref().map(picture).transpose()?;
        let result = match &self.draw {
            Some(_) => Ok(Exit::Done),
            None => self.measure(&cancel, &mut rows),
        };
        if let Some(file) = picture.filter(|_| !rows.is_empty()) {
            file.write(&plot::picture(&rows))?;
        }
        result
    }

    /// Measures board by board; each board's rows are written as soon as they are known.
    fn measure(&self, cancel: &Cancel, all_rows: &mut Vec<Timing>) -> Result<Exit, Failure> {
        let sizes = self.sizes.iter().cloned().flatten();
        let mut sizes = sizes.map(BoardSize::new).collect::<Result<Vec<_>, _>>()?;
        // Ascending: a board's time is predicted from the one before.
        sizes.sort_unstable();
        sizes.dedup();
        let engines = self.engines.iter().flat_map(|engine| match engine {
            Some(engine) => vec![*engine],
            None => Engine::ALL.to_vec(),
        });
        let pools = match &self.threads[..] {
            [] => vec![thread_pool(default_threads()?)?],
            threads => threads.iter().map(|one| thread_pool(*one)).collect::<Result<_, _>>()?,
        };
        let contestants = engines
            .flat_map(|engine| pools.iter().map(move |pool| Contestant { engine, pool }))
            .collect();
        let reference = self.engines.first().copied().flatten().unwrap_or(Engine::Subtrees);
        let reference = Reference { engine: reference, threads: pools[0].current_num_threads() };
        let progress = Progress::new(self.progress);
        let mut rounds = Rounds::new(&self.rounds, contestants, cancel, &progress);
        rounds.begin(sizes.len());
        let result = self.measure_boards(&sizes, reference, &mut rounds, all_rows);
        progress.clear();
        result
    }

    fn measure_boards(
        &self,
        sizes: &[BoardSize],
        reference: Reference,
        rounds: &mut Rounds<'_>,
        all_rows: &mut Vec<Timing>,
    ) -> Result<Exit, Failure> {
        let (cancel, progress) = (rounds.cancel, rounds.progress);
        let cpu = escaped(Cpu::detect().brand);
        let mut exit = Exit::Done;
        let Reference { engine, threads } = reference;
        let heading = format!(
            "{} each on {cpu}\nratio: times as fast as {engine} on {}, ± two standard errors\n{}",
            many(self.rounds.repeat as usize, "run"),
            many(threads, "thread"),
            timings::TITLES
        );
        let mut writer = progress.suspend(|| RowWriter::begin(self.format, heading))?;
        for size in sizes {
            let measured = rounds.measure(*size)?;
            let rows = statistics::timings(*size, &measured, reference, &cpu);
            for line in statistics::differences(*size, known(*size).total, &measured) {
                progress.suspend(|| message!("{line}"));
                exit = Exit::Failed;
            }
            let written = progress.suspend(|| rows.iter().try_for_each(|row| writer.write(row)));
            all_rows.extend(rows);
            if let Err(error) = written {
                return Ok(exit.unprinted(&error));
            }
            if cancel.is_cancelled() {
                let runs = measured.len() * self.rounds.repeat as usize;
                let done: usize = measured.iter().map(|runs| runs.seconds.len()).sum();
                progress.suspend(|| message!("stopped at n = {size} after {done} of {runs} runs"));
                return Ok(if exit == Exit::Done { Exit::Stopped } else { exit });
            }
        }
        Ok(exit)
    }
}
