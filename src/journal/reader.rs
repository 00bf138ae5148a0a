//! Reads journals, and checks everything in them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use super::line::{DoneLine, FORMAT, Header, Line, MAGIC, RunLine, may_be_cut_off, seal, unseal};
use super::{Finished, JournalError, ProcessRun};
use crate::error::Error;
use crate::journal::finished::weighted_sum;
use crate::plan::{Cut, Plan};
use crate::size::BoardSize;

/// The longest header, in bytes.
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
    pub runs: Vec<ProcessRun>,
    /// The number of units that were recorded and then withdrawn because a recount differed.
    pub withdrawn: usize,
    /// Bytes of a last line that was cut off in the middle of a write. It is ignored.
    pub torn: u64,
    /// Bytes of the whole lines.
    whole: u64,
}

impl From<Finished> for Recorded {
    fn from(finished: Finished) -> Self {
        Self { finished: Some(finished), ..Self::default() }
    }
}

/// The contents of a journal to be continued, apart from its plan.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// `None` if nothing is recorded.
    pub(crate) finished: Option<Finished>,
    pub(super) withdrawn: usize,
    pub(super) torn: u64,
    pub(super) whole: u64,
}

/// Reads a journal. `None` if there is no such file or it is empty.
///
/// # Errors
///
/// [`Error::Journal`] if it cannot be read or is damaged; with [`JournalError::HeaderCutOff`] if it
/// ends within its first line, as it may after a process was killed right at its start.
pub fn read(path: &Path) -> Result<Option<Contents>, Error> {
    let read = || open(path)?.map_or(Ok(None), |file| read_from(BufReader::new(file)));
    read().map_err(|error: JournalError| error.at(path))
}

/// Opens a journal for reading. `None` if there is no such file.
pub(super) fn open(path: &Path) -> Result<Option<File>, JournalError> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(JournalError::cannot_open(error)),
        Ok(metadata) if !metadata.is_file() => return Err(JournalError::NotAFile),
        Ok(_) => {}
    }
    File::open(path).map(Some).map_err(JournalError::cannot_open)
}

/// Reads a journal from its first byte.
pub(super) fn read_from(mut input: impl BufRead) -> Result<Option<Contents>, JournalError> {
    let Some((plan, length)) = read_header(&mut input)? else { return Ok(None) };
    let mut contents = Contents::none_of(plan, length);
    let mut line = Vec::new();
    for number in 2.. {
        line.clear();
        let length = input.read_until(b'\n', &mut line).map_err(JournalError::cannot_read)? as u64;
        let damaged = |what| JournalError::Damaged { line: number, what };
        let Some((b'\n', text)) = line.split_last() else {
            if !may_be_cut_off(&line) {
                return Err(damaged("it has no end".to_owned()));
            }
            contents.torn = length;
            break;
        };
        contents.whole += length;
        let line = unseal(text).and_then(Line::parse).map_err(damaged)?;
        contents.take(number, line)?;
    }
    Ok(Some(contents))
}

/// Reads the first line. Returns the plan and the length of the line; `None` if the file is empty.
pub(super) fn read_header(input: &mut impl BufRead) -> Result<Option<(Plan, u64)>, JournalError> {
    let mut first = Vec::new();
    input.take(LONGEST_HEADER).read_until(b'\n', &mut first).map_err(JournalError::cannot_read)?;
    match first.split_last() {
        None => Ok(None),
        Some((b'\n', header)) => Ok(Some((plan_of(header)?, first.len() as u64))),
        Some(_) => Err(without_end(first)),
    }
}

/// The error of a file whose first line has no end.
fn without_end(first: Vec<u8>) -> JournalError {
    let common = first.len().min(MAGIC.len());
    if first[..common] != MAGIC.as_bytes()[..common] {
        return JournalError::NotAJournal;
    }
    match String::from_utf8(first) {
        Ok(text) if !text.contains(char::is_control) => JournalError::HeaderCutOff { text },
        _ => JournalError::DamagedHeader { what: "it has no end".to_owned() },
    }
}

/// Whether a header that was cut off is the beginning of the header that this version writes for a
/// plan. If so, nothing is lost by writing it again.
pub(crate) fn begins_header_of(text: &str, plan: &Plan) -> bool {
    seal(&Header::of(plan)).starts_with(text)
}

/// The plan that a header names.
pub(super) fn plan_of(header: &[u8]) -> Result<Plan, JournalError> {
    let damaged = |what| JournalError::DamagedHeader { what };
    let mut words = header.split(|byte| *byte == b' ');
    if words.next() != Some(MAGIC.as_bytes()) {
        return Err(JournalError::NotAJournal);
    }
    let text = unseal(header).map_err(damaged)?;
    let format = text.split(' ').nth(1).unwrap_or("");
    if format != FORMAT.to_string() {
        let format = format.replace(char::is_control, "?");
        return Err(JournalError::UnknownFormat { format, known: FORMAT });
    }
    let header = Header::parse(text).map_err(damaged)?;
    let size = BoardSize::new(header.n).map_err(|error| damaged(error.to_string()))?;
    let Header { engine, split_rows, .. } = header;
    // One line may name a plan so large that the machine would swap for hours.
    Cut { size, engine, split_rows, queens: None }.check_memory()?;
    let plan = Plan::new(size, engine, split_rows);
    if header.split_rows != plan.split_rows() {
        return Err(damaged("its split rows do not fit its engine".to_owned()));
    }
    if (header.plan, header.units) != (plan.hash(), plan.units()) {
        let Header { version, plan: holds, units, .. } = header;
        return Err(JournalError::OtherPlan { version, holds, units, makes: plan.hash() });
    }
    Ok(plan)
}

impl Contents {
    /// The plan, and what is recorded of it.
    pub(crate) fn into_parts(self) -> (Plan, Recorded) {
        let Self { plan, finished, withdrawn, torn, whole, .. } = self;
        (plan, Recorded { finished: Some(finished), withdrawn, torn, whole })
    }

    fn none_of(plan: Plan, whole: u64) -> Self {
        let finished = Finished::none_of(&plan);
        Self { plan, finished, runs: Vec::new(), withdrawn: 0, torn: 0, whole }
    }

    /// Adds what a line records.
    fn take(&mut self, number: usize, line: Line) -> Result<(), JournalError> {
        let damaged = |what: String| JournalError::Damaged { line: number, what };
        check_line(&self.plan, &line).map_err(damaged)?;
        match line {
            Line::Run(RunLine { version, kernel, threads, shard, machine }) => {
                let (units, elapsed, cpu_time) = (0, Duration::ZERO, Duration::ZERO);
                let run = ProcessRun {
                    version,
                    kernel,
                    threads,
                    shard,
                    machine,
                    units,
                    elapsed,
                    cpu_time,
                };
                self.runs.push(run);
            }
            Line::Done(DoneLine { units, elapsed, cpu_time, counts, .. }) => {
                let no_run = || damaged("no run begins before it".to_owned());
                let run = self.runs.last_mut().ok_or_else(no_run)?;
                if let Err(unit) = self.finished.add(units.start, &counts, &self.plan) {
                    let first = self.finished.count(unit).unwrap_or_default();
                    let second = counts[unit - units.start];
                    return Err(JournalError::TwoCounts { line: number, unit, first, second });
                }
                run.units += units.len();
                run.elapsed = run.elapsed.max(elapsed);
                run.cpu_time += cpu_time;
            }
            Line::Withdrawn(units) => {
                self.withdrawn += self.finished.withdraw(units, &self.plan);
            }
        }
        Ok(())
    }
}

/// Makes sure that the plan has a line's units, and that their sum is right.
pub(super) fn check_line(plan: &Plan, line: &Line) -> Result<(), String> {
    if let Line::Done(DoneLine { units, .. }) | Line::Withdrawn(units) = line
        && units.end > plan.units()
    {
        return Err("the plan has no such units".to_owned());
    }
    if let Line::Done(DoneLine { units, solutions, counts, .. }) = line
        && weighted_sum(plan, units.start, counts) != Some(*solutions)
    {
        return Err("its sum is not the sum of its counts".to_owned());
    }
    Ok(())
}
