//! Saves the good lines of a damaged journal.
//!
//! Every line has its own CRC, so damage costs only the lines that it touches. Lines whose CRC and
//! units are right go to a new file, even those that lost their line feeds. The damaged file is
//! only read.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::ops::Range;
use std::path::Path;

use super::header::{open, pass_of_line, plan_of};
use super::line::{Header, Line, MAGIC, RunLine, seal, unseal};
use super::reader::check_line;
use super::sync::write_new;
use super::{Counts, Finished, JournalError};
use crate::cancel::Cancel;
use crate::engine::{Kernel, Pass};
use crate::error::Error;
use crate::plan::Plan;
use crate::shard::Shard;

/// The beginnings of the lines after the first.
const STARTS: [&[u8]; 3] = [b"done units=", b"run version=", b"withdrawn units="];

/// The field of a second count in the first line.
const SECOND: &[u8] = b" count=second ";

/// What is wrong with a line of another plan.
const MISFIT: &str = "its units or their sum do not fit the plan";

/// The number of units that are counted again to check a given plan.
const RECOUNTED: usize = 50;

/// The result of a salvage.
#[derive(Debug)]
#[non_exhaustive]
pub struct Salvaged {
    /// The plan.
    pub plan: Plan,
    /// The units that the new journal holds.
    pub finished: Finished,
    /// The number of lines in the new journal, without the first.
    pub lines_kept: usize,
    /// What was left out, in the order of the file.
    pub left_out: Vec<Broken>,
    /// Units that the old journal records with two different counts. All lines with these units
    /// were left out.
    pub disputed: Vec<usize>,
}

/// Bytes of a journal that are not a good line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The number of the line, from 1.
    pub line: usize,
    /// The number of bytes.
    pub bytes: usize,
    /// What is wrong with them.
    pub what: String,
}

/// Copies the good lines of a journal to a new one, except lines with units in `without`.
///
/// The plan is read from the first line. If that is damaged, `plan` is used, provided that all
/// lines fit it: their units, their sums, and the counts of some units, which are counted again. Its
/// pass matters only if what the line says of it is damaged as well.
///
/// # Errors
///
/// [`Error::Journal`] if the first line is damaged and `plan` is missing or is not the file's plan,
/// or if a file cannot be read, created or written. A new file that cannot be written is removed.
pub fn salvage(
    path: &Path,
    into: &Path,
    plan: Option<Plan>,
    without: &[Range<usize>],
) -> Result<Salvaged, Error> {
    let of_old = |error: JournalError| error.at(path);
    let old = open(path).and_then(|file| file.ok_or_else(JournalError::missing)).map_err(of_old)?;
    if matches!(old.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return Err(of_old(JournalError::InUse));
    }
    let (plan, header, is_given) = find_plan(&old, plan).map_err(of_old)?;
    let mut salvage = Salvage::new(plan, without);
    // The first pass finds the units with two counts, the second copies the lines without them.
    for line in lines(path, &old)? {
        let (number, line) = line?;
        salvage.examine(number, &line);
    }
    if is_given && !salvage.fits_plan()? {
        return Err(of_old(JournalError::NotOfPlan { plan: salvage.salvaged.plan.to_string() }));
    }
    write_new(into, |out, into| salvage.copy((path, &old), (into, out), &header), |_| Ok(()))?;
    let Salvage { mut salvaged, kept, .. } = salvage;
    salvaged.finished = kept.finished(&salvaged.plan);
    Ok(salvaged)
}

/// The plan, the first line of the new journal, and whether the plan is the given one.
fn find_plan(old: &File, given: Option<Plan>) -> Result<(Plan, String, bool), JournalError> {
    let mut first = Vec::new();
    old.take(4096).read_to_end(&mut first).map_err(JournalError::cannot_read)?;
    // The line feed after it may be lost, but its CRC shows where it ends.
    let sealed = pieces(&first).next().and_then(|piece| sealed_prefix(piece));
    let header = sealed.unwrap_or(first.split(|byte| *byte == b'\n').next().unwrap_or_default());
    match (plan_of(header), given) {
        (Ok((_, plan)), _) => {
            Ok((plan, String::from_utf8_lossy(header).into_owned() + "\n", false))
        }
        (Err(JournalError::DamagedHeader { .. } | JournalError::NotAJournal), Some(plan)) => {
            // The line names the count twice. One change must not turn a first count into a second one.
            let is_second = header.windows(SECOND.len()).any(|field| field == SECOND);
            let pass = pass_of_line(header).filter(|pass| (*pass == Pass::Second) == is_second);
            let pass = pass.unwrap_or(plan.pass());
            let plan = plan.in_pass(pass);
            let header = seal(&Header::of(&plan));
            Ok((plan, header, true))
        }
        // The user believes that it is a journal.
        (Err(JournalError::NotAJournal), None) => {
            Err(JournalError::DamagedHeader { what: "it does not begin like a journal".to_owned() })
        }
        (Err(error), _) => Err(error),
    }
}

/// Cuts bytes into pieces, before everything that looks like the beginning of a line.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let begins = |at: &usize| STARTS.iter().any(|start| rest[*at..].starts_with(start));
        let end = (1..rest.len()).find(begins).unwrap_or(rest.len());
        let (piece, others) = rest.split_at(end);
        rest = others;
        Some(piece)
    })
}

/// The longest beginning that ends with its correct CRC, ignoring a few bytes after it.
fn sealed_prefix(piece: &[u8]) -> Option<&[u8]> {
    let is_text = |byte: &u8| !byte.is_ascii_control();
    let text = &piece[..piece.iter().take_while(|byte| is_text(byte)).count()];
    (0..=text.len().min(8)).map(|cut| &text[..text.len() - cut]).find(|text| unseal(text).is_ok())
}

/// The number, from 1, and the bytes of every line, without its line feed.
fn lines(
    path: &Path,
    mut file: &File,
) -> Result<impl Iterator<Item = Result<(usize, Vec<u8>), Error>>, Error> {
    let cannot_read = |error| JournalError::cannot_read(error).at(path);
    file.rewind().map_err(cannot_read)?;
    let lines = (1..).zip(BufReader::new(file).split(b'\n'));
    Ok(lines.map(move |(number, line)| Ok((number, line.map_err(cannot_read)?))))
}

struct Salvage<'a> {
    salvaged: Salvaged,
    without: &'a [Range<usize>],
    /// Everything that was recorded, to find units with two counts.
    seen: Counts,
    /// What the new journal holds.
    kept: Counts,
    disputed: HashSet<usize>,
    /// Whether a line has the right CRC, but does not fit the plan.
    has_misfits: bool,
}

impl<'a> Salvage<'a> {
    fn new(plan: Plan, without: &'a [Range<usize>]) -> Self {
        let (seen, kept) = (Counts::default(), Counts::default());
        let (finished, left_out, disputed) = (Finished::default(), Vec::new(), Vec::new());
        let salvaged = Salvaged { plan, finished, lines_kept: 0, left_out, disputed };
        Self { salvaged, without, seen, kept, disputed: HashSet::new(), has_misfits: false }
    }

    /// Whether the lines belong to this plan. Sums alone may fit another plan by chance, so the
    /// units that are quickest to count are counted again.
    fn fits_plan(&self) -> Result<bool, Error> {
        let plan = &self.salvaged.plan;
        let mut units: Vec<(u64, usize)> =
            self.seen.iter().map(|(unit, count)| (count, unit)).collect();
        units.sort_unstable();
        let mut recounter = plan.recounter(Kernel::detect());
        for (count, unit) in units.into_iter().filter(|(count, _)| *count > 0).take(RECOUNTED) {
            if recounter.count(unit, &Cancel::new())? != count {
                return Ok(false);
            }
        }
        Ok(!self.has_misfits)
    }

    /// The good lines in the bytes of a line, with their text. Everything else is passed to
    /// `broken` with the reason.
    fn good_lines<'b>(
        plan: &Plan,
        number: usize,
        bytes: &'b [u8],
        mut broken: impl FnMut(&'b [u8], String),
    ) -> Vec<(Line, &'b str)> {
        let mut good = Vec::new();
        for piece in pieces(bytes) {
            let sealed = sealed_prefix(piece).unwrap_or(piece);
            match unseal(sealed).and_then(Line::parse) {
                Ok(line) if check_line(plan, &line).is_err() => {
                    broken(piece, MISFIT.to_owned());
                }
                Ok(line) => {
                    // The CRC is right, so this is text.
                    good.push((line, std::str::from_utf8(sealed).unwrap_or_default()));
                }
                Err(_) if number == 1 && piece.starts_with(MAGIC.as_bytes()) => {}
                Err(what) => broken(piece, what),
            }
        }
        good
    }

    /// Takes note of a line's units, and of what is broken in it.
    fn examine(&mut self, number: usize, bytes: &[u8]) {
        let Self { salvaged: Salvaged { plan, left_out, disputed, .. }, seen, .. } = self;
        let has_misfits = &mut self.has_misfits;
        let broken = |bytes: &[u8], what: String| {
            *has_misfits |= what == MISFIT;
            left_out.push(Broken { line: number, bytes: bytes.len(), what });
        };
        for (line, _) in Self::good_lines(plan, number, bytes, broken) {
            match line {
                Line::Run(_) => {}
                Line::Withdrawn(units) => {
                    seen.withdraw(units);
                }
                Line::Done(done) => {
                    for (unit, count) in (done.units.start..).zip(&done.counts) {
                        if seen.add(unit, &[*count]).is_err() && self.disputed.insert(unit) {
                            disputed.push(unit);
                        }
                    }
                }
            }
        }
    }

    /// Writes the new journal.
    fn copy(
        &mut self,
        (path, old): (&Path, &File),
        (into, out): (&Path, &mut impl Write),
        header: &str,
    ) -> Result<(), Error> {
        let cannot_write = |error| JournalError::cannot_write(error).at(into);
        out.write_all(header.as_bytes()).map_err(cannot_write)?;
        let mut has_run = false;
        for line in lines(path, old)? {
            let (number, bytes) = line?;
            for (line, text) in Self::good_lines(&self.salvaged.plan, number, &bytes, |_, _| ()) {
                if self.keep(&line) {
                    if !has_run && !matches!(line, Line::Run(_)) {
                        write!(out, "{}", unknown_run()).map_err(cannot_write)?;
                    }
                    has_run = true;
                    self.salvaged.lines_kept += 1;
                    writeln!(out, "{text}").map_err(cannot_write)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the new journal keeps a line. If so, takes note of its units.
    fn keep(&mut self, line: &Line) -> bool {
        match line {
            Line::Run(_) => true,
            Line::Withdrawn(units) => {
                self.kept.withdraw(units.clone());
                true
            }
            Line::Done(done) => {
                let overlaps = |other: &Range<usize>| {
                    other.start < done.units.end && done.units.start < other.end
                };
                let is_unwanted = self.without.iter().any(overlaps)
                    || done.units.clone().any(|unit| self.disputed.contains(&unit));
                !is_unwanted && matches!(self.kept.add(done.units.start, &done.counts), Ok(1..))
            }
        }
    }
}

/// Stands for runs whose own lines are lost.
fn unknown_run() -> String {
    let unknown = || "unknown".to_owned();
    seal(&Line::Run(RunLine {
        version: unknown(),
        kernel: unknown(),
        threads: 1,
        shard: Shard::WHOLE,
        machine: unknown(),
    }))
}
