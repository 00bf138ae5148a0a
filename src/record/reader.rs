//! Reads one journal from its beginning to its end, line by line, and checks everything in it.
//!
//! A line that is not as it was written is left out, and reading goes on with the next one.

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::disk::{open, parse_file_name};
use super::first_line::FirstLine;
use super::line::{Line, LineCrc, MAX_LINE_LEN, may_be_cut_off};
use super::runs::Run;
use crate::done::UnitsDone;
use crate::error::{Error, JournalError};
use crate::forecast::{Cores, Sample};
use crate::plan::Plan;

/// A journal that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JournalFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The processes that wrote the file.
    pub runs: Vec<Run>,
    /// The bytes of all complete lines.
    pub bytes: u64,
    /// The bytes after the complete lines: an incomplete line, left by a process that was killed while it wrote.
    pub cut_off: u64,
    /// The time at which the file was last written, by the clock of the file system.
    pub modified: Option<SystemTime>,
    /// Whether a process held the lock of the file, and so was writing it. Only [`Record::watch`](super::Record::watch)
    /// looks for it. Some file systems do not show locks of other hosts: then the processes of other hosts are not
    /// noticed.
    pub is_written: bool,
    /// Whether the last of the complete lines has no line feed. That happens only if the line is damaged.
    pub(super) lacks_line_feed: bool,
    /// The cores that the writing process gets.
    pub(super) cores: Cores,
    /// The reasons why lines were left out, or why the file was not read to its end.
    pub(super) left_out: Vec<Error>,
}

/// A line with finished units, as [`JournalFile::scan`] passes it on.
pub(super) struct DoneLine<'a> {
    /// The number of the line, counted from 1.
    pub(super) number: usize,
    /// The process that finished the units.
    pub(super) run: &'a Run,
    pub(super) done: UnitsDone,
}

impl JournalFile {
    /// Returns the host that the name of the file contains, if a process created it in a folder.
    pub fn host(&self) -> Option<&str> {
        host_in(self.path.file_name()?.to_str()?)
    }

    /// Opens a journal of this plan and reads it, as [`JournalFile::scan`] does.
    pub(super) fn read(
        path: &Path,
        plan: &Plan,
        looks_for_writer: bool,
        take: impl FnMut(DoneLine<'_>),
    ) -> Result<Option<Self>, Error> {
        let file = open(path)?;
        let is_written = looks_for_writer && is_locked(&file);
        Self::scan(path, &file, is_written, plan, take)
    }

    /// Reads a journal of this plan, and passes each line with finished units to `take`. Damaged lines are left out.
    /// Returns `None` if the journal has not begun; all of it was read then.
    ///
    /// If the first line is damaged, the others are read all the same, because no line of another plan can have the
    /// right CRC.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if the journal is of another plan. [`Error::Journal`] if the first line cannot be read,
    /// or if it is damaged and no other line is good.
    pub(super) fn scan(
        path: &Path,
        input: impl Read,
        is_written: bool,
        plan: &Plan,
        mut take: impl FnMut(DoneLine<'_>),
    ) -> Result<Option<Self>, Error> {
        use JournalError::{NoPlan, NotAJournal};
        // The time is asked for before the file is read. So whatever is written after this time is read too, or is
        // recent.
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let mut input = BufReader::with_capacity(1 << 16, input.take(u64::MAX));
        let plan_text = plan.to_string();
        let first_error = match FirstLine::read(&mut input) {
            Ok(None) => return Ok(None),
            Ok(Some(first)) if first.plan == plan_text => None,
            Ok(Some(first)) => {
                let files = [path.to_owned(), path.to_owned()];
                return Err(Error::PlansDiffer { files, plans: [plan_text, first.plan] });
            }
            Err(error @ (NoPlan { .. } | NotAJournal)) => Some(error.at(path)),
            Err(error) => return Err(error.at(path)),
        };
        let mut file = Self {
            path: path.to_owned(),
            runs: Vec::new(),
            bytes: 0,
            cut_off: 0,
            modified,
            is_written,
            lacks_line_feed: false,
            cores: Cores::default(),
            left_out: first_error.iter().cloned().collect(),
        };
        let mut damage = Damage::default();
        let line_crc = LineCrc::of(plan);
        let begin = |run| Run { sample: Sample::new(plan.units()), ..run };
        // Whether the line before was good, so that it is known which run counted the units of this one.
        let mut is_begun = false;
        // Line 1 was read. A line that is too long is read in pieces, and each piece is damaged.
        let mut number = 2;
        let mut text = Vec::new();
        loop {
            text.clear();
            let read = (&mut input).take(MAX_LINE_LEN).read_until(b'\n', &mut text);
            let length = match read {
                Ok(length) => length as u64,
                // The lines before are good. Those behind may be good as well.
                Err(error) => {
                    file.left_out.push(JournalError::cannot("read")(error).at(path));
                    break;
                }
            };
            let line = match text.split_last() {
                None => break,
                // Journals that were joined have several first lines.
                Some((b'\n', text))
                    if FirstLine::parse(text).is_ok_and(|first| first.plan == plan_text) =>
                {
                    number += 1;
                    continue;
                }
                Some((b'\n', text)) => {
                    line_crc.take_from(text).and_then(|text| Line::parse(text, plan))
                }
                Some(_) if length < MAX_LINE_LEN && may_be_cut_off(&text) => {
                    file.cut_off = length;
                    break;
                }
                Some(_) => Err("it has no end"),
            };
            file.lacks_line_feed = !text.ends_with(b"\n");
            let was_begun = std::mem::replace(&mut is_begun, line.is_ok());
            match line {
                Ok(Line::Run(run)) => {
                    file.runs.push(begin(run));
                    file.cores = Cores::default();
                }
                Ok(Line::Done(done)) => {
                    // Damage may have hidden the beginning of another run.
                    if !was_begun {
                        file.runs.push(begin(Run::unknown()));
                    }
                    let run = file.runs.last_mut().expect("a run has begun");
                    run.add(&done);
                    if is_written {
                        file.cores.record(&done);
                    }
                    take(DoneLine { number, run, done });
                }
                Err(what) => damage.add(number, what),
            }
            number += usize::from(text.ends_with(b"\n"));
        }
        // If no line is good, the damaged first line is the reason.
        if let Some(error) = first_error.filter(|_| file.runs.is_empty()) {
            return Err(error);
        }
        // What was read is all but the incomplete line.
        file.bytes = u64::MAX - input.get_ref().limit() - file.cut_off;
        if let Some((_, what)) = damage.first {
            file.left_out.push(JournalError::Damaged { lines: damage.lines, what }.at(path));
        }
        Ok(Some(file))
    }
}

/// The damaged lines of a journal.
#[derive(Default)]
struct Damage {
    lines: Vec<RangeInclusive<usize>>,
    /// The first of these lines, and what is wrong with it.
    first: Option<(usize, &'static str)>,
}

impl Damage {
    fn add(&mut self, number: usize, what: &'static str) {
        self.first.get_or_insert((number, what));
        match self.lines.last_mut() {
            // The pieces of a line that is too long have the number of the line.
            Some(last) if number <= *last.end() + 1 => *last = *last.start()..=number,
            _ => self.lines.push(number..=number),
        }
    }
}

/// Returns whether another process holds the lock of a journal that was just opened.
pub(super) fn is_locked(file: &File) -> bool {
    let locked = file.try_lock_shared();
    // A process that begins to write the journal must not wait until it is read.
    let _ = file.unlock();
    matches!(locked, Err(TryLockError::WouldBlock))
}

/// Returns the host that the name of a journal contains, if a process created it in a folder.
pub(super) fn host_in(name: &str) -> Option<&str> {
    parse_file_name(name)?;
    let mut fields = name.split('.').skip(1);
    let (host, process) = (fields.next()?, fields.next()?);
    process.parse::<u32>().is_ok().then_some(host)
}
