//! Reads journals; believes nothing.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use super::line::{DoneLine, FORMAT, Header, Line, MAGIC, RunLine, may_be_cut_off, seal, unseal};
use super::{Finished, JournalError, ProcessRun};
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
    pub runs: Vec<ProcessRun>,
    /// Units that were recorded and then withdrawn, because a recount differed.
    pub withdrawn: usize,
    /// Bytes of a last line that was cut off while it was written, and is to be ignored.
    pub torn: u64,
    /// Bytes of the whole lines.
    whole: u64,
}

impl From<Finished> for Recorded {
    fn from(finished: Finished) -> Self {
        Self { finished: Some(finished), ..Self::default() }
    }
}

/// What a journal that is to be continued holds, apart from its plan.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// `None` if nothing is recorded.
    pub(crate) finished: Option<Finished>,
    pub(super) withdrawn: usize,
    pub(super) torn: u64,
    pub(super) whole: u64,
}

/// Reads a journal. `None` if there is no such file, or nothing in it.
///
/// # Errors
///
/// [`Error::Journal`] if it cannot be read or is damaged; with [`JournalError::HeaderCutOff`] if it ends
/// within its first line, as it does when a process is killed as it begins.
pub fn read(path: &Path) -> Result<Option<Contents>, Error> {
    let read = || open(path)?.map_or(Ok(None), |file| read_from(BufReader::new(file)));
    read().map_err(|error: JournalError| error.at(path))
}

/// Opens a journal to read it; `None` if there is no such file.
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
        contents.take(line).map_err(|refusal| refusal.at(number))?;
    }
    Ok(Some(contents))
}

/// Reads the first line: the plan, and how many bytes tell of it. `None` if there is nothing.
pub(super) fn read_header(input: &mut impl BufRead) -> Result<Option<(Plan, u64)>, JournalError> {
    let mut first = Vec::new();
    input.take(LONGEST_HEADER).read_until(b'\n', &mut first).map_err(JournalError::cannot_read)?;
    match first.split_last() {
        None => Ok(None),
        Some((b'\n', header)) => Ok(Some((plan_of(header)?, first.len() as u64))),
        Some(_) => Err(without_end(first)),
    }
}

/// What is wrong with a file whose first line has no end.
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

/// Whether a header that was cut off is the beginning of the one that this version would write for
/// a plan, so that nothing is lost if it is written again.
pub(crate) fn begins_header_of(text: &str, plan: &Plan) -> bool {
    seal(&Header::of(plan)).starts_with(text)
}

/// The plan that a header names, as this program makes it.
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
    // A header of one line may name a plan that would take hours to be swapped in and out.
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

    fn take(&mut self, line: Line) -> Result<(), Refusal> {
        match line {
            Line::Run(run) => self.begin_run(run),
            Line::Done(done) => self.add(done)?,
            Line::Withdrawn(units) => {
                check_units(&self.plan, &units)?;
                self.withdrawn += self.finished.withdraw(units, &self.plan);
            }
        }
        Ok(())
    }

    fn begin_run(&mut self, line: RunLine) {
        let RunLine { version, kernel, threads, shard, machine } = line;
        let (elapsed, cpu_time) = (Duration::ZERO, Duration::ZERO);
        let (units, runs) = (0, &mut self.runs);
        runs.push(ProcessRun {
            version,
            kernel,
            threads,
            shard,
            machine,
            units,
            elapsed,
            cpu_time,
        });
    }

    fn add(&mut self, done: DoneLine) -> Result<(), Refusal> {
        check_done(&self.plan, &done)?;
        let DoneLine { units, elapsed, cpu_time, counts, .. } = done;
        let run = self.runs.last_mut().ok_or(Refusal::Damaged("no run begins before it"))?;
        if let Err(unit) = self.finished.add(units.start, &counts, &self.plan) {
            let first = self.finished.count(unit).unwrap_or_default();
            return Err(Refusal::TwoCounts { unit, first, second: counts[unit - units.start] });
        }
        run.units += units.len();
        run.elapsed = run.elapsed.max(elapsed);
        run.cpu_time += cpu_time;
        Ok(())
    }
}

/// Why a line that was read cannot be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Damaged(&'static str),
    TwoCounts { unit: usize, first: u64, second: u64 },
}

impl Refusal {
    fn at(self, line: usize) -> JournalError {
        match self {
            Self::Damaged(what) => JournalError::Damaged { line, what: what.to_owned() },
            Self::TwoCounts { unit, first, second } => {
                JournalError::TwoCounts { line, unit, first, second }
            }
        }
    }
}

/// Makes sure that finished units are of the plan, and their sum that of their counts.
pub(super) fn check_done(plan: &Plan, done: &DoneLine) -> Result<(), Refusal> {
    check_units(plan, &done.units)?;
    match weighted_sum(plan, done.units.start, &done.counts) == Some(done.solutions) {
        true => Ok(()),
        false => Err(Refusal::Damaged("its sum is not that of its counts")),
    }
}

fn check_units(plan: &Plan, units: &Range<usize>) -> Result<(), Refusal> {
    match units.end <= plan.units() {
        true => Ok(()),
        false => Err(Refusal::Damaged("the plan has no such units")),
    }
}
