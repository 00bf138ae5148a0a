//! Saves what is good of a damaged journal.
//!
//! Every line has its own CRC, so damage costs only the lines that it touches. Those whose CRC and
//! units are right go to a new file; where line ends were lost, lines are looked for inside. The
//! damaged file is only read.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::ops::Range;
use std::path::Path;

use super::line::{Header, Line, MAGIC, RunLine, seal, unseal};
use super::reader::{check_done, open, plan_of};
use super::sync::sync_folder;
use super::{Finished, JournalError};
use crate::cancel::Cancel;
use crate::engine::Kernel;
use crate::error::Error;
use crate::plan::Plan;
use crate::shard::Shard;

/// What the lines after the first begin with.
const STARTS: [&[u8]; 3] = [b"done units=", b"run version=", b"withdrawn units="];

/// What is wrong with a line of another plan.
const STRANGER: &str = "its units or their sum do not fit the plan";

/// So many units are counted again to make sure of a plan that was given.
const RECOUNTED: usize = 50;

/// What could be saved.
#[derive(Debug)]
#[non_exhaustive]
pub struct Salvaged {
    /// The plan.
    pub plan: Plan,
    /// The units that the new journal holds.
    pub finished: Finished,
    /// How many lines the new journal holds, without the first.
    pub lines_kept: usize,
    /// The places that were left out, in the order of the file.
    pub left_out: Vec<Broken>,
    /// Units that the old journal records with two different counts: all lines with them were left
    /// out.
    pub disputed: Vec<usize>,
}

/// Bytes of a journal that are no good line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The number of the line, from 1.
    pub line: usize,
    /// How many bytes it has.
    pub bytes: usize,
    /// What is wrong with it.
    pub what: String,
}

/// Copies the good lines of a journal to a new one, without the units given.
///
/// The plan is read from the first line. If that is damaged, `plan` is used, once it is sure that
/// all lines fit it: their units and sums, and what some of their units count.
///
/// # Errors
///
/// [`Error::Journal`] if the first line is damaged and no plan is given, or another one than the
/// file's; if a file cannot be read, or the new one not be made or written; then it is removed.
pub fn salvage(
    path: &Path,
    into: &Path,
    plan: Option<Plan>,
    without: &[Range<usize>],
) -> Result<Salvaged, Error> {
    let of_old = |error: JournalError| error.at(path);
    let of_new = |error: JournalError| error.at(into);
    let old = open(path).and_then(|file| file.ok_or_else(JournalError::missing)).map_err(of_old)?;
    if matches!(old.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return Err(of_old(JournalError::InUse));
    }
    let (plan, header, is_given) = find_plan(&old, plan).map_err(of_old)?;
    let mut salvage = Salvage::new(plan, without);
    let rewind = || (&old).rewind().map_err(|error| of_old(JournalError::cannot_read(error)));
    rewind()?;
    // The first time shows which units have two counts, the second keeps the lines without them.
    for_each_line(&old, |number, line| salvage.examine(number, line)).map_err(of_old)?;
    if is_given && !salvage.fits_plan()? {
        return Err(of_old(JournalError::NotOfPlan { plan: salvage.salvaged.plan.to_string() }));
    }
    rewind()?;
    let new = make(into).map_err(of_new)?;
    let copied = salvage.copy(&old, &new, &header);
    if copied.is_err() {
        let _ = std::fs::remove_file(into);
    }
    copied.map_err(|failure| match failure {
        CopyError::Read(error) => of_old(error),
        CopyError::Write(error) => of_new(JournalError::cannot_write(error)),
    })?;
    sync_folder(into);
    Ok(salvage.salvaged)
}

enum CopyError {
    Read(JournalError),
    Write(io::Error),
}

fn make(path: &Path) -> Result<File, JournalError> {
    OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => JournalError::Exists,
        _ => JournalError::cannot_open(error),
    })
}

/// The plan, the first line of the new journal, and whether the plan is the one that was given.
fn find_plan(old: &File, given: Option<Plan>) -> Result<(Plan, String, bool), JournalError> {
    let mut first = Vec::new();
    let mut input = io::Read::take(old, 4096);
    io::Read::read_to_end(&mut input, &mut first).map_err(JournalError::cannot_read)?;
    // The line feed behind it may be lost; its CRC tells where it ends.
    let sealed = pieces(&first).next().and_then(|piece| sealed_prefix(piece));
    let header = sealed.unwrap_or(first.split(|byte| *byte == b'\n').next().unwrap_or_default());
    match (plan_of(header), given) {
        (Ok(plan), _) => Ok((plan, String::from_utf8_lossy(header).into_owned() + "\n", false)),
        (Err(JournalError::DamagedHeader { .. } | JournalError::NotAJournal), Some(plan)) => {
            let header = seal(&Header::of(&plan));
            Ok((plan, header, true))
        }
        // Whoever salvages it thinks that it is one.
        (Err(JournalError::NotAJournal), None) => {
            Err(JournalError::DamagedHeader { what: "it does not begin like one".to_owned() })
        }
        (Err(error), _) => Err(error),
    }
}

/// Cuts bytes before everything that looks like the beginning of a line.
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

/// The longest beginning that has a right CRC at its end, other bytes behind it left aside.
fn sealed_prefix(piece: &[u8]) -> Option<&[u8]> {
    let is_text = |byte: &u8| !byte.is_ascii_control();
    let text = &piece[..piece.iter().take_while(|byte| is_text(byte)).count()];
    (0..=text.len().min(8)).map(|cut| &text[..text.len() - cut]).find(|text| unseal(text).is_ok())
}

/// Calls `each` with the number and the bytes of every line, without its line feed.
fn for_each_line(file: &File, mut each: impl FnMut(usize, &[u8])) -> Result<(), JournalError> {
    let mut input = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(JournalError::cannot_read)? == 0 {
            break;
        }
        each(number, line.strip_suffix(b"\n").unwrap_or(&line));
    }
    Ok(())
}

struct Salvage<'a> {
    salvaged: Salvaged,
    without: &'a [Range<usize>],
    /// All that was recorded, to find out units with two counts.
    seen: Finished,
    disputed: HashSet<usize>,
    /// Whether a line has a right CRC, but units or sums that the plan does not have.
    has_strangers: bool,
}

impl<'a> Salvage<'a> {
    fn new(plan: Plan, without: &'a [Range<usize>]) -> Self {
        let (seen, finished) = (Finished::none_of(&plan), Finished::none_of(&plan));
        let (left_out, disputed) = (Vec::new(), Vec::new());
        let salvaged = Salvaged { plan, finished, lines_kept: 0, left_out, disputed };
        Self { salvaged, without, seen, disputed: HashSet::new(), has_strangers: false }
    }

    /// Whether the lines can be of this plan. Sums alone may fit another plan by chance, so that
    /// the units that are quickest to count are counted again.
    fn fits_plan(&self) -> Result<bool, Error> {
        let plan = &self.salvaged.plan;
        let units = (0..plan.units()).filter_map(|unit| Some((self.seen.count(unit)?, unit)));
        let mut units: Vec<(u64, usize)> = units.collect();
        units.sort_unstable();
        let mut recounter = plan.recounter(Kernel::detect());
        for (count, unit) in units.into_iter().filter(|(count, _)| *count > 0).take(RECOUNTED) {
            if recounter.count(unit, &Cancel::new())? != count {
                return Ok(false);
            }
        }
        Ok(!self.has_strangers)
    }

    /// The good lines in the bytes of a line, with their bytes; what is not good is handed to
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
            let line = unseal(sealed).and_then(|text| Ok((Line::parse(text)?, text)));
            match line {
                Ok((Line::Done(done), _)) if check_done(plan, &done).is_err() => {
                    broken(piece, STRANGER.to_owned());
                }
                Ok((Line::Withdrawn(units), _)) if units.end > plan.units() => {
                    broken(piece, STRANGER.to_owned());
                }
                Ok((line, _)) => {
                    // The CRC was found right, so this is text.
                    good.push((line, std::str::from_utf8(sealed).unwrap_or_default()));
                }
                Err(_) if number == 1 && piece.starts_with(MAGIC.as_bytes()) => {}
                Err(what) => broken(piece, what),
            }
        }
        good
    }

    /// Takes note of the units of a line, and of what is broken in it.
    fn examine(&mut self, number: usize, bytes: &[u8]) {
        let Self { salvaged: Salvaged { plan, left_out, disputed, .. }, seen, .. } = self;
        let has_strangers = &mut self.has_strangers;
        let broken = |bytes: &[u8], what: String| {
            *has_strangers |= what == STRANGER;
            left_out.push(Broken { line: number, bytes: bytes.len(), what });
        };
        for (line, _) in Self::good_lines(plan, number, bytes, broken) {
            match line {
                Line::Run(_) => {}
                Line::Withdrawn(units) => {
                    seen.withdraw(units, plan);
                }
                Line::Done(done) => {
                    for (unit, count) in (done.units.start..).zip(&done.counts) {
                        if seen.add(unit, &[*count], plan).is_err() && self.disputed.insert(unit) {
                            disputed.push(unit);
                        }
                    }
                }
            }
        }
    }

    /// Writes the new journal.
    fn copy(&mut self, old: &File, new: &File, header: &str) -> Result<(), CopyError> {
        let mut out = BufWriter::new(new);
        let mut written = out.write_all(header.as_bytes());
        let mut has_run = false;
        for_each_line(old, |number, bytes| {
            for (line, text) in Self::good_lines(&self.salvaged.plan, number, bytes, |_, _| ()) {
                if written.is_ok() && self.keep(&line) {
                    if !has_run && !matches!(line, Line::Run(_)) {
                        written = out.write_all(unknown_run().as_bytes());
                    }
                    has_run = true;
                    self.salvaged.lines_kept += 1;
                    written = std::mem::replace(&mut written, Ok(()))
                        .and_then(|()| out.write_all(text.as_bytes()))
                        .and_then(|()| out.write_all(b"\n"));
                }
            }
        })
        .map_err(CopyError::Read)?;
        written.and_then(|()| out.flush()).and_then(|()| new.sync_all()).map_err(CopyError::Write)
    }

    /// Whether a line is to be in the new journal; takes its units into account.
    fn keep(&mut self, line: &Line) -> bool {
        let Salvaged { plan, finished, .. } = &mut self.salvaged;
        match line {
            Line::Run(_) => true,
            Line::Withdrawn(units) => {
                finished.withdraw(units.clone(), plan);
                true
            }
            Line::Done(done) => {
                let overlaps = |other: &Range<usize>| {
                    other.start < done.units.end && done.units.start < other.end
                };
                let is_unwanted = self.without.iter().any(overlaps)
                    || done.units.clone().any(|unit| self.disputed.contains(&unit));
                !is_unwanted
                    && matches!(finished.add(done.units.start, &done.counts, plan), Ok(1..))
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
