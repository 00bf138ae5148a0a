//! Reads journals; believes nothing.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use super::line::{DoneLine, FORMAT, Header, Line, MAGIC, RunLine, unseal};
use super::{Finished, Problem, Run};
use crate::engine::SplitRows;
use crate::error::Error;
use crate::journal::finished::weighted_sum;
use crate::plan::{Cut, Plan};
use crate::size::BoardSize;

/// No header is longer.
const LONGEST_HEADER: u64 = 4096;

/// What a journal holds.
#[derive(Debug)]
#[non_exhaustive]
pub struct Contents {
    /// The plan whose units it records.
    pub plan: Plan,
    /// The units that are finished.
    pub finished: Finished,
    /// The processes that worked on it.
    pub runs: Vec<Run>,
    /// Bytes of a last line that was cut off while it was written, and is to be ignored.
    pub torn: u64,
    /// Bytes of the whole lines.
    pub(super) whole: u64,
}

/// Reads a journal. `None` if there is no such file, or nothing but an unfinished header in it.
///
/// # Errors
///
/// [`Error::Journal`] if it cannot be read or is damaged.
pub fn read(path: &Path) -> Result<Option<Contents>, Error> {
    let problem = |problem| Error::Journal { path: path.to_owned(), problem };
    let cannot_open = |error: io::Error| Problem::CannotOpen { reason: error.to_string() };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(problem(cannot_open(error))),
        Ok(metadata) if !metadata.is_file() => return Err(problem(Problem::NotAFile)),
        Ok(_) => {}
    }
    let file = File::open(path).map_err(|error| problem(cannot_open(error)))?;
    read_from(BufReader::new(file)).map_err(problem)
}

/// Reads a journal from its first byte.
pub(super) fn read_from(mut input: impl BufRead) -> Result<Option<Contents>, Problem> {
    let mut first = Vec::new();
    input.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut first).map_err(cannot_read)?;
    let Some((b'\n', header)) = first.split_last() else {
        // Nothing, or the beginning of a header: there was no time to write more.
        let begins_like_one = first.starts_with(MAGIC.as_bytes());
        let is_header = begins_like_one || MAGIC.as_bytes().starts_with(&first);
        return if is_header { Ok(None) } else { Err(Problem::NotAJournal) };
    };
    let plan = plan_of(header)?;
    let finished = Finished::none_of(&plan);
    let mut contents =
        Contents { plan, finished, runs: Vec::new(), torn: 0, whole: first.len() as u64 };
    let mut line = Vec::new();
    for number in 2.. {
        line.clear();
        let length = input.read_until(b'\n', &mut line).map_err(cannot_read)? as u64;
        let Some((b'\n', text)) = line.split_last() else {
            contents.torn = length;
            break;
        };
        contents.whole += length;
        let damaged = |what| Problem::Damaged { line: number, what };
        match unseal(text).and_then(Line::parse).map_err(damaged)? {
            Line::Run(run) => contents.begin_run(run),
            Line::Done(done) => contents.add(done, number)?,
        }
    }
    Ok(Some(contents))
}

fn cannot_read(error: io::Error) -> Problem {
    Problem::CannotRead { reason: error.to_string() }
}

/// The plan that a header names, as this program makes it.
fn plan_of(header: &[u8]) -> Result<Plan, Problem> {
    let damaged = |what| Problem::DamagedHeader { what };
    let mut words = header.split(|byte| *byte == b' ');
    if words.next() != Some(MAGIC.as_bytes()) {
        return Err(Problem::NotAJournal);
    }
    let text = unseal(header).map_err(damaged)?;
    let format = text.split(' ').nth(1).unwrap_or("");
    if format != FORMAT.to_string() {
        return Err(Problem::UnknownFormat { format: format.to_owned(), known: FORMAT });
    }
    let header = Header::parse(text).map_err(damaged)?;
    let size = BoardSize::new(header.n).map_err(|error| damaged(error.to_string()))?;
    let Header { engine, split_rows, .. } = header;
    // A header of one line may name a plan that would take hours to be swapped in and out.
    Cut { size, engine, split_rows, queens: None }.check_memory()?;
    let plan = Plan::new(size, engine, split_rows);
    if header.split_rows != plan.split_rows() {
        return Err(damaged("its split rows do not fit its engine".to_owned()));
    }
    if (header.plan, header.units) != (plan.hash(), plan.units()) {
        let Header { version, plan: holds, units, .. } = header;
        return Err(Problem::OtherPlan { version, holds, units, makes: plan.hash() });
    }
    Ok(plan)
}

impl Contents {
    /// Makes sure that the journal at this path records the units of a plan.
    pub(crate) fn check_plan(&self, plan: &Plan, path: &Path) -> Result<(), Error> {
        check_plan(&self.plan, plan, path)
    }

    fn begin_run(&mut self, line: RunLine) {
        let RunLine { version, kernel, threads, shard, machine } = line;
        let (elapsed, busy) = (Duration::ZERO, Duration::ZERO);
        self.runs.push(Run { version, kernel, threads, shard, machine, units: 0, elapsed, busy });
    }

    fn add(&mut self, done: DoneLine, line: usize) -> Result<(), Problem> {
        let DoneLine { units, solutions, elapsed, busy, counts } = done;
        let damaged = |what: &str| Problem::Damaged { line, what: what.to_owned() };
        if units.end > self.plan.units() {
            return Err(damaged("the plan has no such units"));
        }
        if weighted_sum(&self.plan, units.start, &counts) != Some(solutions) {
            return Err(damaged("its sum is not that of its counts"));
        }
        let Some(run) = self.runs.last_mut() else {
            return Err(damaged("no run begins before it"));
        };
        if let Err(unit) = self.finished.add(units.start, &counts, solutions) {
            let differs = self.finished.count(unit) != counts.get(unit - units.start).copied();
            return Err(Problem::UnitTwice { line, unit, differs });
        }
        run.units += units.len();
        run.elapsed = run.elapsed.max(elapsed);
        run.busy += busy;
        Ok(())
    }
}

/// Makes sure that a plan found in the journal at this path is the one that is asked for.
pub(crate) fn check_plan(holds: &Plan, asked: &Plan, path: &Path) -> Result<(), Error> {
    let differ = |what: &str, holds: &dyn Display, asked: &dyn Display| {
        let (holds, asked) = (format!("{what} {holds}"), format!("{what} {asked}"));
        Error::Journal { path: path.to_owned(), problem: Problem::OtherCount { holds, asked } }
    };
    let rows = |plan: &Plan| plan.split_rows().map_or(0, SplitRows::get);
    if holds.size() != asked.size() {
        return Err(differ("n =", &holds.size(), &asked.size()));
    }
    if holds.engine() != asked.engine() {
        return Err(differ("engine =", &holds.engine(), &asked.engine()));
    }
    if rows(holds) != rows(asked) {
        return Err(differ("split rows =", &rows(holds), &rows(asked)));
    }
    Ok(())
}
