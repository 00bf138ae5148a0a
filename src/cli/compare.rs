//! `nqueens compare N...`: engines and numbers of threads side by side.
//!
//! On each board every contestant, an engine on a number of threads, counts once to warm up; then
//! rounds follow in which each counts once, so that whatever else the machine does falls on all of
//! them alike. `options` -> `rounds` (who counts when, with `forecast`) -> `statistics` (rows) ->
//! `write` (text, CSV, JSON) and `plot` (the picture).

mod bar;
mod forecast;
mod options;
mod plot;
mod read;
mod rounds;
mod statistics;
mod write;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use nqueens::known::known;
use nqueens::{Cancel, memory, thread_pool};

use super::exit::{Exit, Failure};
use super::output::stderr::message;
use super::signals::cancel_on_signals;
use bar::CompareBar;
pub(super) use options::CompareArgs;
use options::CompareOptions;
use rounds::{Contestant, Rounds};
use statistics::Row;
use write::RowWriter;

fn run(options: &CompareOptions) -> Result<Exit, Failure> {
    let cancel = cancel_on_signals()?;
    // Before any measuring, so that no measurements are lost for a wrong path.
    let picture = options.svg.as_deref().map(Picture::open).transpose()?;
    if let Some(measured) = &options.draw {
        let rows = read::rows(measured)?;
        picture.map_or(Ok(()), |picture| picture.write(&rows))?;
        return Ok(Exit::Done);
    }
    let bar = CompareBar::new(options.progress, options.runs());
    let mut rows = Vec::new();
    let result = compare(options, &cancel, &bar, &mut rows);
    bar.clear();
    if let Some(picture) = picture {
        picture.write(&rows)?;
    }
    result
}

/// Measures board by board; each board's rows are written as soon as they are known.
fn compare(
    options: &CompareOptions,
    cancel: &Cancel,
    bar: &CompareBar,
    all_rows: &mut Vec<Row>,
) -> Result<Exit, Failure> {
    let pools = options.threads.iter().map(|threads| thread_pool(*threads));
    let pools = pools.collect::<Result<Vec<_>, _>>()?;
    let contestants: Vec<Contestant> = options
        .engines
        .iter()
        .flat_map(|engine| pools.iter().map(|pool| Contestant::new(*engine, pool)))
        .collect();
    let mut rounds = Rounds {
        repeat: options.repeat,
        seconds_limit: options.seconds_limit,
        kernel: options.kernel,
        // Asked for once: to look at the machine's memory would take part of every small count.
        memory: options.memory.unwrap_or_else(memory::default_budget),
        memory_given: options.memory.is_some(),
        cancel,
        bar,
        known: Vec::new(),
    };
    let mut writer = RowWriter::new(options.format, io::stdout().lock());
    let mut exit = Exit::Done;
    if let Err(error) = bar.suspend(|| writer.write_header()) {
        return Ok(exit.unprinted(&error));
    }
    for size in &options.sizes {
        let board = rounds.measure(*size, &contestants)?;
        let rows = statistics::rows(*size, &board.timings);
        for line in statistics::differences(*size, known(*size).total, &board.timings) {
            bar.suspend(|| message!("{line}"));
            exit = Exit::Failed;
        }
        let written = bar.suspend(|| rows.iter().try_for_each(|row| writer.write_row(row)));
        all_rows.extend(rows);
        if let Err(error) = written {
            return Ok(exit.unprinted(&error));
        }
        if cancel.is_cancelled() {
            let message = match (board.runs_done(), board.runs) {
                (0, _) => format!("stopped at n = {size} before its first round"),
                (done, runs) => format!("stopped at n = {size} after {done} of {runs} runs"),
            };
            if exit == Exit::Done {
                return Err(Failure::Stopped(message));
            }
            bar.suspend(|| message!("{message}"));
            return Ok(exit);
        }
    }
    Ok(exit)
}

/// The file for the picture.
struct Picture<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> Picture<'a> {
    /// Opens the file without touching what it may hold: the picture comes at the end, if at all.
    fn open(path: &'a Path) -> Result<Self, Failure> {
        let file = File::options().write(true).create(true).truncate(false).open(path);
        let file = file.with_context(|| cannot_write(path)).map_err(Failure::Other)?;
        Ok(Self { path, file })
    }

    /// Draws what was measured, if anything was.
    fn write(mut self, rows: &[Row]) -> Result<(), Failure> {
        if rows.is_empty() {
            return Ok(());
        }
        let written =
            self.truncate().and_then(|()| self.file.write_all(plot::picture(rows).as_bytes()));
        written.with_context(|| cannot_write(self.path)).map_err(Failure::Other)
    }

    /// Pipes and devices have no length.
    fn truncate(&self) -> io::Result<()> {
        if self.file.metadata()?.is_file() { self.file.set_len(0) } else { Ok(()) }
    }
}

fn cannot_write(path: &Path) -> String {
    format!("--svg: cannot write {}", path.display())
}
