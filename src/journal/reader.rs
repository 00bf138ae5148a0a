//! Reads journals, and checks everything in them.

use std::io::{BufRead, Read};
use std::mem::take;
use std::ops::Range;
use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use super::counts::weighted_sum;
use super::finished::{common, gaps, push, unite};
use super::header::{NamedPlan, buffered, open, plan_of, read_header};
use super::line::{DoneLine, Line, RunLine, may_be_cut_off, unseal};
use super::{Counts, Finished, JournalError, ProcessRun};
use crate::error::Error;
use crate::plan::Plan;

/// What a journal holds.
#[derive(Debug)]
#[non_exhaustive]
pub struct Contents {
    /// The plan whose units it records.
    pub plan: Arc<Plan>,
    /// The units that are finished.
    pub finished: Finished,
    /// Their counts.
    pub counts: Counts,
    /// The processes that worked on it.
    pub runs: Vec<ProcessRun>,
    /// The number of units that were recorded and then withdrawn because a recount differed.
    pub withdrawn: usize,
    /// Bytes of a last line that was cut off in the middle of a write. It is ignored.
    pub torn: u64,
    /// Bytes of the whole lines.
    whole: u64,
}

/// The contents of a journal to be continued, apart from its plan.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// `None` if nothing is recorded.
    pub(crate) counts: Option<Counts>,
    pub(super) withdrawn: usize,
    pub(super) torn: u64,
    pub(super) whole: u64,
}

impl From<Counts> for Recorded {
    fn from(counts: Counts) -> Self {
        Self { counts: Some(counts), ..Self::default() }
    }
}

/// What a journal holds, without its counts.
#[derive(Debug)]
pub(crate) struct Overview {
    pub(crate) finished: Finished,
    pub(crate) runs: Vec<ProcessRun>,
    pub(crate) withdrawn: usize,
    pub(crate) torn: u64,
    /// Bytes of the whole lines.
    pub(crate) whole: u64,
}

/// Some counts of a journal, or all.
#[derive(Debug, Default)]
pub(crate) struct SomeCounts {
    pub(crate) counts: Counts,
    pub(crate) runs: Vec<ProcessRun>,
    /// What each run recorded and nobody withdrew: the number of the run, and units.
    pub(crate) recorded: Vec<(usize, Range<usize>)>,
    pub(crate) withdrawn: usize,
    torn: u64,
    whole: u64,
}

/// Reads a journal. `None` if there is no such file or it is empty.
///
/// # Errors
///
/// [`Error::Journal`] if it cannot be read or is damaged; with [`JournalError::HeaderCutOff`] if it
/// ends within its first line, as it may after a process was killed right at its start.
pub fn read(path: &Path) -> Result<Option<Contents>, Error> {
    let read = || open(path)?.map_or(Ok(None), |file| read_from(buffered(file)));
    read().map_err(|error: JournalError| error.at(path))
}

/// Reads a journal, but keeps no counts. `None` if there is no such file or it is empty. The error
/// is [`Error::PlansDiffer`] if it names another plan.
pub(crate) fn read_overview(path: &Path, named: &NamedPlan) -> Result<Option<Overview>, Error> {
    let of_file = |error: JournalError| error.at(path);
    let Some((mut input, whole)) = named.open(path)? else { return Ok(None) };
    let (plan, mut runs) = (&*named.plan, Vec::new());
    let (mut ranges, mut solutions) = (Vec::new(), 0);
    let mut is_plain = true;
    let lines = read_lines(&mut input, whole, |number, line| {
        let damaged = |what| JournalError::Damaged { line: number, what };
        check_line(plan, &line).map_err(damaged)?;
        take_run(&mut runs, &line).map_err(damaged)?;
        match line {
            Line::Run(_) => {}
            Line::Done(done) => {
                push(&mut ranges, done.units);
                solutions += done.solutions;
            }
            Line::Withdrawn(_) => is_plain = false,
        }
        Ok(is_plain)
    });
    let (whole, torn) = lines.map_err(of_file)?;
    let (ranges, shared) = unite(ranges);
    if is_plain && shared.is_empty() {
        let finished = Finished::new(ranges, plan.units(), solutions);
        return Ok(Some(Overview { finished, runs, withdrawn: 0, torn, whole }));
    }
    // What is left of the sum shows only with the counts.
    let contents =
        read_counts(path, named, None, from_ref(&(0..plan.units())))?.unwrap_or_default();
    let SomeCounts { counts, runs, withdrawn, torn, whole, .. } = contents;
    Ok(Some(Overview { finished: counts.finished(plan), runs, withdrawn, torn, whole }))
}

/// Reads the counts of some units, in increasing order, from the first `length` bytes of a journal,
/// or from all of it. `None` if there is no such file or it is empty. The error is
/// [`Error::PlansDiffer`] if it names another plan.
pub(crate) fn read_counts(
    path: &Path,
    named: &NamedPlan,
    length: Option<u64>,
    wanted: &[Range<usize>],
) -> Result<Option<SomeCounts>, Error> {
    let Some((input, header)) = named.open(path)? else { return Ok(None) };
    let mut input = input.take(length.map_or(u64::MAX, |length| length.saturating_sub(header)));
    let some = SomeCounts::read(&mut input, header, &named.plan, wanted);
    let some = some.map_err(|error| error.at(path))?;
    if length.is_some_and(|length| some.whole < length) {
        let what = "it was changed while it was read".to_owned();
        return Err(JournalError::NotAsWritten { what }.at(path));
    }
    Ok(Some(some))
}

/// Reads a journal from its first byte.
pub(super) fn read_from(mut input: impl BufRead) -> Result<Option<Contents>, JournalError> {
    let Some(header) = read_header(&mut input)? else { return Ok(None) };
    let (_, plan) = plan_of(&header[..header.len() - 1])?;
    let some =
        SomeCounts::read(&mut input, header.len() as u64, &plan, from_ref(&(0..plan.units())))?;
    let SomeCounts { counts, runs, withdrawn, torn, whole, .. } = some;
    let (finished, plan) = (counts.finished(&plan), Arc::new(plan));
    Ok(Some(Contents { plan, finished, counts, runs, withdrawn, torn, whole }))
}

/// Reads the lines after the header, which has `whole` bytes, as long as `take` returns true.
/// Returns the bytes of all whole lines, and those of a last line that was cut off.
fn read_lines(
    input: &mut impl BufRead,
    mut whole: u64,
    mut take: impl FnMut(usize, Line) -> Result<bool, JournalError>,
) -> Result<(u64, u64), JournalError> {
    let mut line = Vec::new();
    for number in 2.. {
        line.clear();
        let length = input.read_until(b'\n', &mut line).map_err(JournalError::cannot_read)? as u64;
        let damaged = |what| JournalError::Damaged { line: number, what };
        let Some((b'\n', text)) = line.split_last() else {
            if !may_be_cut_off(&line) {
                return Err(damaged("it has no end".to_owned()));
            }
            return Ok((whole, length));
        };
        whole += length;
        if !take(number, unseal(text).and_then(Line::parse).map_err(damaged)?)? {
            break;
        }
    }
    Ok((whole, 0))
}

impl Contents {
    /// The plan, and what is recorded of it.
    pub(crate) fn into_parts(self) -> (Arc<Plan>, Recorded) {
        let Self { plan, counts, withdrawn, torn, whole, .. } = self;
        (plan, Recorded { counts: Some(counts), withdrawn, torn, whole })
    }
}

impl SomeCounts {
    /// Reads the counts of the wanted units from the lines after a header of this length.
    fn read(
        input: &mut impl BufRead,
        header: u64,
        plan: &Plan,
        wanted: &[Range<usize>],
    ) -> Result<Self, JournalError> {
        let mut some = Self::default();
        let take = |number, line| some.take(number, line, plan, wanted).map(|()| true);
        (some.whole, some.torn) = read_lines(input, header, take)?;
        Ok(some)
    }

    /// Adds what a line records.
    fn take(
        &mut self,
        number: usize,
        line: Line,
        plan: &Plan,
        wanted: &[Range<usize>],
    ) -> Result<(), JournalError> {
        let damaged = |what: String| JournalError::Damaged { line: number, what };
        check_line(plan, &line).map_err(damaged)?;
        take_run(&mut self.runs, &line).map_err(damaged)?;
        match line {
            Line::Run(_) => {}
            Line::Done(DoneLine { units, counts, .. }) => {
                for part in common(&units, wanted) {
                    let some = &counts[part.start - units.start..part.end - units.start];
                    if let Err(unit) = self.counts.add(part.start, some) {
                        let first = self.counts.get(unit).unwrap_or_default();
                        let second = counts[unit - units.start];
                        return Err(JournalError::TwoCounts { line: number, unit, first, second });
                    }
                    let run = self.runs.len() - 1;
                    match self.recorded.last_mut() {
                        Some((last, range)) if (*last, range.end) == (run, part.start) => {
                            range.end = part.end;
                        }
                        _ => self.recorded.push((run, part)),
                    }
                }
            }
            Line::Withdrawn(units) => {
                let left = |(run, range): (usize, Range<usize>)| {
                    gaps(range, [units.clone()]).map(move |rest| (run, rest))
                };
                self.recorded = take(&mut self.recorded).into_iter().flat_map(left).collect();
                self.withdrawn += self.counts.withdraw(units);
            }
        }
        Ok(())
    }
}

/// Takes note of a line in the list of the processes.
fn take_run(runs: &mut Vec<ProcessRun>, line: &Line) -> Result<(), String> {
    match line {
        Line::Run(run) => {
            let RunLine { version, kernel, threads, shard, machine } = run.clone();
            let (units, elapsed, cpu_time) = (0, Duration::ZERO, Duration::ZERO);
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
        Line::Done(done) => {
            let run = runs.last_mut().ok_or_else(|| "no run begins before it".to_owned())?;
            run.units += done.units.len();
            run.elapsed = run.elapsed.max(done.elapsed);
            run.cpu_time = run.cpu_time.saturating_add(done.cpu_time);
        }
        Line::Withdrawn(_) => {}
    }
    Ok(())
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
