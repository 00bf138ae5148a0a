//! Packs what several journals hold into one.
//!
//! The new journal has the lines of one that a single process could have written: a `run` line for
//! every process, and behind it the units that this process was the first to record, in increasing
//! order, up to [`UNITS_A_LINE`] a line. The CPU time of a process is in its first line. Units that
//! were withdrawn or repeated are left out, but the CPU time that they took is not: it is added to a
//! neighbouring line.
//!
//! One journal after the other is read, so memory holds the counts of one of them at a time.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::slice::from_ref;
use std::time::Duration;

use super::{Member, Merged};
use crate::error::Error;
use crate::journal::{
    Counts, DoneLine, JournalError, Line, ProcessRun, RunLine, SomeCounts, common, header_of,
    read_counts, read_overview, seal, weighted_sum, write_new,
};
use crate::memory::Memory;

/// Units of a line, at most: damage to a line costs all of them.
const UNITS_A_LINE: usize = 1024;

/// A new journal.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Packed {
    /// Its length in bytes.
    pub bytes: u64,
    /// The length of the journals that it was made of.
    pub bytes_before: u64,
}

impl Merged {
    /// Writes all finished units to a new journal, and reads it back. What processes have recorded
    /// since the journals were merged is not in it.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if a file cannot be read or written, if the new one exists, or with
    /// [`JournalError::TooLarge`] if the counts of the largest journal do not fit in memory.
    pub fn pack(&self, into: &Path) -> Result<Packed, Error> {
        self.check_memory()?;
        write_new(
            into,
            |out, path| {
                let mut packer =
                    Packer { merged: self, out, into: path, last: None, carried: Duration::ZERO };
                packer.write_all()?;
                Ok(())
            },
            |path| self.compare(path),
        )?;
        self.keep_time(into);
        let bytes = std::fs::metadata(into).map_or(0, |metadata| metadata.len());
        let bytes_before = self.files.iter().map(|member| member.length).sum();
        Ok(Packed { bytes, bytes_before })
    }

    /// Gives the new journal the time at which a process last wrote one of these: `status` draws
    /// progress by these times. The time of a file is not worth an error.
    fn keep_time(&self, path: &Path) {
        let newest = self.files.iter().filter_map(|member| member.modified).max();
        let set = |time| File::options().append(true).open(path)?.set_modified(time);
        let _: Option<io::Result<()>> = newest.map(set);
    }

    fn check_memory(&self) -> Result<(), Error> {
        let units = |member: &&Member| member.finished.units_done();
        let Some(largest) = self.files.iter().max_by_key(units) else { return Ok(()) };
        let needed = units(&largest) as u64 * Counts::BYTES_A_UNIT;
        let available = Memory::detect().available;
        if needed <= available {
            return Ok(());
        }
        let (n, engine) = (self.plan.size().get(), self.plan.engine().name());
        let units = self.plan.units();
        Err(JournalError::TooLarge { n, engine, units, needed, available }.at(&largest.path))
    }

    /// Makes sure that a journal holds what these hold.
    fn compare(&self, path: &Path) -> Result<(), Error> {
        let cpu_time = |runs: &[ProcessRun]| runs.iter().map(|run| run.cpu_time).sum::<Duration>();
        let before = self.files.iter().map(|member| cpu_time(&member.runs)).sum::<Duration>();
        let held = read_overview(path, &self.named)?;
        let is_same = held.is_some_and(|held| {
            // Without units, no line can hold the time.
            let is_timed = cpu_time(&held.runs) == before || held.finished.units_done() == 0;
            held.finished == self.finished && is_timed
        });
        let what = "it differs from the journals that were packed".to_owned();
        if is_same { Ok(()) } else { Err(JournalError::NotAsWritten { what }.at(path)) }
    }
}

/// Writes the lines.
struct Packer<'a, W> {
    merged: &'a Merged,
    out: W,
    into: &'a Path,
    /// A line that may get more CPU time.
    last: Option<DoneLine>,
    /// CPU time that is in no line yet.
    carried: Duration,
}

impl<W: Write> Packer<'_, W> {
    fn write_all(&mut self) -> Result<(), Error> {
        let Merged { plan, named, files, shared, .. } = self.merged;
        self.write(&header_of(plan))?;
        // Bit u % 64 of word u / 64: unit u is shared, and written.
        let mut written = vec![0_u64; if shared.is_empty() { 0 } else { plan.units() / 64 + 1 }];
        for Member { path, length, .. } in files {
            let all = 0..plan.units();
            let some = read_counts(path, named, Some(*length), from_ref(&all))?;
            let SomeCounts { mut counts, runs, mut recorded, .. } = some.unwrap_or_default();
            for unit in recorded.iter().flat_map(|(_, units)| common(units, shared)).flatten() {
                let (word, bit) = (&mut written[unit / 64], 1 << (unit % 64));
                if *word & bit != 0 {
                    counts.withdraw(unit..unit + 1);
                }
                *word |= bit;
            }
            recorded.sort_unstable_by_key(|(run, units)| (*run, units.start));
            let mut lines = recorded.chunk_by(|(run, _), (next, _)| run == next).peekable();
            for (number, run) in runs.iter().enumerate() {
                self.carried += run.cpu_time;
                if let Some(units) = lines.next_if(|units| units[0].0 == number) {
                    self.write_run(run, units, &mut counts)?;
                }
            }
        }
        let carried = std::mem::take(&mut self.carried);
        if let Some(last) = &mut self.last {
            last.cpu_time += carried;
        }
        self.write_last()
    }

    /// Writes the units of a process whose counts are left, and takes them away.
    fn write_run(
        &mut self,
        run: &ProcessRun,
        recorded: &[(usize, Range<usize>)],
        counts: &mut Counts,
    ) -> Result<(), Error> {
        let mut is_begun = false;
        let mut rest = recorded.iter().map(|(_, units)| units.clone()).peekable();
        while let Some(mut units) = rest.next() {
            // The pieces of a range were recorded in any order.
            while let Some(next) = rest.next_if(|next| next.start <= units.end) {
                units.end = units.end.max(next.end);
            }
            for (first, line) in lines_of(counts.within(units.clone())) {
                self.write_last()?;
                if !std::mem::replace(&mut is_begun, true) {
                    self.write(&seal(&run_line(run)))?;
                }
                let solutions = weighted_sum(&self.merged.plan, first, &line).unwrap_or_default();
                self.last = Some(DoneLine {
                    units: first..first + line.len(),
                    solutions,
                    elapsed: run.elapsed,
                    cpu_time: std::mem::take(&mut self.carried),
                    counts: line,
                });
            }
            counts.withdraw(units);
        }
        Ok(())
    }

    fn write_last(&mut self) -> Result<(), Error> {
        match self.last.take() {
            Some(line) => self.write(&seal(&Line::Done(line))),
            None => Ok(()),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        let written = self.out.write_all(text.as_bytes());
        written.map_err(|error| JournalError::cannot_write(error).at(self.into))
    }
}

/// Cuts units with their counts into lines of consecutive units.
fn lines_of(counts: impl Iterator<Item = (usize, u64)>) -> impl Iterator<Item = (usize, Vec<u64>)> {
    let mut counts = counts.peekable();
    std::iter::from_fn(move || {
        let (first, count) = counts.next()?;
        let mut line = vec![count];
        while line.len() < UNITS_A_LINE
            && let Some((_, count)) = counts.next_if(|(unit, _)| *unit == first + line.len())
        {
            line.push(count);
        }
        Some((first, line))
    })
}

fn run_line(run: &ProcessRun) -> Line {
    let ProcessRun { version, kernel, threads, shard, machine, .. } = run.clone();
    Line::Run(RunLine { version, kernel, threads, shard, machine })
}
