//! Reads one journal from its beginning to its end, line by line, and checks everything in it.
//!
//! A line that is not as it was written is left out, and reading goes on with the next one. Lines of another count are
//! left out, too, but they are no damage: they follow a first line of their own, as in journals of several counts that
//! were joined.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::disk::open;
use super::first_line::FirstLine;
use super::line::{Line, LineCrc, MAX_LINE_LEN, may_be_cut_off, may_hide_run};
use super::names::host_in;
use super::run::{Run, Texts};
use crate::cancel::Cancel;
use crate::error::{Error, JournalError};
use crate::numbers::add_number;
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};

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
    /// Whether the last of the complete lines has no line feed. That happens only if the line is damaged.
    pub(super) lacks_line_feed: bool,
    /// The reasons why lines were left out, or why the file was not read to its end.
    pub(crate) left_out: Vec<Error>,
}

/// What a file turned out to be when it was read.
pub(crate) enum Found {
    /// A journal that has not begun: the file is empty, or ends within its first line. All of it was read.
    NotBegun,
    /// A journal of the plan.
    Journal(JournalFile),
    /// A journal of another plan. Only its first line was read.
    OfOtherPlan {
        /// The path of the file.
        path: PathBuf,
        /// The plan that the first line names.
        plan: String,
    },
}

/// A line with finished units, as [`JournalFile::read`] passes it on.
pub(crate) struct DoneLine<'a> {
    /// The number of the line, counted from 1.
    pub(crate) number: usize,
    /// The process that finished the units.
    pub(crate) run: &'a Run,
    /// The number of this process among those that wrote the journal, counted from 1.
    pub(crate) run_number: usize,
    pub(crate) done: UnitsDone,
}

/// The number of pieces after which reading looks for a cancellation.
const LOOK_EVERY: usize = 256;
/// The largest number of other counts whose lines are told from damage.
const MAX_OTHERS: usize = 16;

/// The reading of journals of one plan.
pub(crate) struct Reading<'a> {
    plan: &'a Plan,
    plan_text: String,
    line_crc: LineCrc,
    /// The texts that runs of these journals share.
    texts: Texts,
    cancel: &'a Cancel,
}

impl<'a> Reading<'a> {
    /// Makes a reading of journals of this plan, which a cancellation ends.
    pub(crate) fn new(plan: &'a Plan, cancel: &'a Cancel) -> Self {
        Self {
            plan,
            plan_text: plan.to_string(),
            line_crc: LineCrc::of(plan),
            texts: Texts::default(),
            cancel,
        }
    }

    /// Returns [`Error::StoppedBefore`] after a cancellation.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.cancel.check("the journals were read")
    }
}

impl JournalFile {
    /// Returns the host that the name of the file contains, if a process created it in a folder.
    pub fn host(&self) -> Option<&str> {
        host_in(self.path.file_name()?.to_str()?)
    }

    /// Opens a journal, and reads it as [`JournalFile::read`] does.
    pub(crate) fn read_at(
        path: &Path,
        reading: &Reading<'_>,
        take: impl FnMut(DoneLine<'_>),
    ) -> Result<Found, Error> {
        reading.check()?;
        Self::read(path, open(path)?, reading, take)
    }

    /// Reads a journal, and passes each line with finished units to `take`. Damaged lines and lines of other counts are
    /// left out.
    ///
    /// If the first line is damaged, the others are read all the same, because no line of another plan can have the
    /// right CRC.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if the first line cannot be read, or if it is damaged and no other line is good.
    /// [`Error::StoppedBefore`] after a cancellation.
    pub(crate) fn read(
        path: &Path,
        input: impl Read,
        reading: &Reading<'_>,
        take: impl FnMut(DoneLine<'_>),
    ) -> Result<Found, Error> {
        // The time is asked for before the file is read. So whatever is written after this time is read too, or is
        // recent.
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let mut input = BufReader::with_capacity(1 << 16, CountingReader::new(input));
        let first_error = match FirstLine::read(&mut input) {
            Ok(None) => return Ok(Found::NotBegun),
            Ok(Some(first)) if first.plan == reading.plan_text => None,
            Ok(Some(first)) => {
                return Ok(Found::OfOtherPlan { path: path.to_owned(), plan: first.plan });
            }
            Err(error @ (JournalError::NoPlan { .. } | JournalError::NotAJournal)) => {
                Some(error.at(path))
            }
            Err(error) => return Err(error.at(path)),
        };
        let file = Self {
            path: path.to_owned(),
            runs: Vec::new(),
            bytes: 0,
            cut_off: 0,
            modified,
            lacks_line_feed: false,
            left_out: first_error.iter().cloned().collect(),
        };
        let mut reader = LineReader::new(reading, file, take);
        let read = reader.read_lines(&mut input);
        let LineReader { mut file, damage, others, .. } = reader;
        reading.check()?;
        // If no line is good, the damaged first line is the reason.
        if let Some(error) = first_error
            && file.runs.is_empty()
        {
            return Err(error);
        }
        // The lines before a fault of the disk are good. Those behind it may be good as well.
        if let Err(error) = read {
            file.left_out.push(JournalError::cannot("read", error).at(path));
        }
        if let Some(what) = damage.first_fault {
            file.left_out.push(JournalError::Damaged { lines: damage.lines, what }.at(path));
        }
        for OtherCount { plan, lines, .. } in others {
            file.left_out.push(JournalError::OfOtherCount { lines, plan }.at(path));
        }
        // Everything was read except the incomplete line.
        file.bytes = input.get_ref().bytes - file.cut_off;
        // Most journals have one run, and a vector makes room for four.
        file.runs.shrink_to_fit();
        Ok(Found::Journal(file))
    }

    /// Reads the end of a journal, which begins with a line behind the first one. Returns the runs that began there, and
    /// the sum of the units in all lines.
    pub(crate) fn read_end(
        path: &Path,
        input: impl Read,
        reading: &Reading<'_>,
    ) -> io::Result<(Vec<Run>, Sum)> {
        let file = Self {
            path: path.to_owned(),
            runs: Vec::new(),
            bytes: 0,
            cut_off: 0,
            modified: None,
            lacks_line_feed: false,
            left_out: Vec::new(),
        };
        let mut sum = Sum::default();
        let mut reader = LineReader::new(reading, file, |line| sum += line.done.sum());
        reader.read_lines(&mut BufReader::with_capacity(1 << 16, input))?;
        let runs = reader.file.runs;
        Ok((runs, sum))
    }
}

/// A reader of the lines after the first one.
struct LineReader<'a, T> {
    reading: &'a Reading<'a>,
    /// The journal, as far as it was read.
    file: JournalFile,
    damage: Damage,
    /// The other counts of which the journal has a first line.
    others: Vec<OtherCount>,
    /// The number of the line that is read next, counted from 1.
    number: usize,
    /// Whether it is known which run counted the units of the next line: the line before it was good.
    is_run_known: bool,
    /// Receives each line with finished units.
    take: T,
}

/// A piece of a journal: a line, or as much of a line as fits into [`MAX_LINE_LEN`] bytes.
enum Piece {
    /// The first line of this plan. Journals that were joined have several of them.
    FirstLine,
    Good(Line),
    /// The first line of another count.
    OtherFirstLine(FirstLine),
    /// A line of the other count with this place in the list of them.
    OfOther(usize),
    /// A damaged line, and what is wrong with it.
    Damaged(&'static str),
    /// An incomplete last line, left by a process that was killed while it wrote.
    CutOff,
}

impl<'a, T: FnMut(DoneLine<'_>)> LineReader<'a, T> {
    fn new(reading: &'a Reading<'a>, file: JournalFile, take: T) -> Self {
        Self {
            reading,
            file,
            damage: Damage::default(),
            others: Vec::new(),
            number: 2,
            is_run_known: false,
            take,
        }
    }

    /// Reads all lines to the end of the file, or until a cancellation. A line that is too long is read in pieces, and
    /// each piece is damaged.
    fn read_lines(&mut self, input: &mut impl BufRead) -> io::Result<()> {
        let mut bytes = Vec::new();
        for piece in 0.. {
            if piece % LOOK_EVERY == 0 && self.reading.cancel.is_cancelled() {
                break;
            }
            bytes.clear();
            input.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                break;
            }
            let has_line_feed = bytes.ends_with(b"\n");
            match self.parse(&bytes) {
                Piece::FirstLine => {}
                Piece::Good(line) => {
                    self.add_line(line);
                    self.is_run_known = true;
                    self.file.lacks_line_feed = false;
                }
                Piece::OtherFirstLine(first) => {
                    self.add_first_line_of_other(first);
                    self.is_run_known = false;
                }
                Piece::OfOther(place) => add_number(&mut self.others[place].lines, self.number),
                Piece::Damaged(what) => {
                    self.damage.add(self.number, what);
                    if may_hide_run(&bytes) {
                        self.is_run_known = false;
                    }
                    self.file.lacks_line_feed = !has_line_feed;
                }
                Piece::CutOff => {
                    self.file.cut_off = bytes.len() as u64;
                    break;
                }
            }
            if has_line_feed {
                self.number += 1;
            }
        }
        Ok(())
    }

    /// Parses a piece of the file, given with its line feed if it has one.
    fn parse(&self, bytes: &[u8]) -> Piece {
        let Some(line) = bytes.strip_suffix(b"\n") else {
            let is_end_of_file = (bytes.len() as u64) < MAX_LINE_LEN;
            if is_end_of_file && may_be_cut_off(bytes) {
                return Piece::CutOff;
            }
            return Piece::Damaged("it has no end");
        };
        if let Ok(first) = FirstLine::parse(line) {
            let is_own = first.plan == self.reading.plan_text;
            return if is_own { Piece::FirstLine } else { Piece::OtherFirstLine(first) };
        }
        let Reading { plan, line_crc, .. } = self.reading;
        match line_crc.take_from(line).and_then(|text| Line::parse(text, plan)) {
            Ok(line) => Piece::Good(line),
            Err(what) => match self.others.iter().position(|other| other.has_line(line)) {
                Some(place) => Piece::OfOther(place),
                None => Piece::Damaged(what),
            },
        }
    }

    /// Adds a first line of another count.
    fn add_first_line_of_other(&mut self, first: FirstLine) {
        if let Some(other) = self.others.iter_mut().find(|other| other.plan == first.plan) {
            add_number(&mut other.lines, self.number);
        } else if self.others.len() < MAX_OTHERS {
            let crc = LineCrc::of_text(&first.plan);
            let lines = vec![self.number..=self.number];
            self.others.push(OtherCount { plan: first.plan, crc, lines });
        } else {
            self.damage.add(self.number, "it is of another count");
        }
    }

    /// Adds a good line to the journal.
    fn add_line(&mut self, line: Line) {
        match line {
            Line::Run(run) => {
                self.begin_run(run);
            }
            Line::Done(done) => {
                // Damage may have hidden the beginning of another run.
                if !self.is_run_known {
                    self.begin_run(Run::unknown());
                }
                let run_number = self.file.runs.len();
                let run = self.file.runs.last_mut().expect("a run has begun");
                run.add(&done);
                (self.take)(DoneLine { number: self.number, run, run_number, done });
            }
        }
    }

    fn begin_run(&mut self, mut run: Run) {
        self.reading.texts.share(&mut run);
        self.file.runs.push(run);
    }
}

/// A reader that counts the bytes that pass through it.
struct CountingReader<R> {
    input: R,
    bytes: u64,
}

impl<R> CountingReader<R> {
    fn new(input: R) -> Self {
        Self { input, bytes: 0 }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.bytes += length as u64;
        Ok(length)
    }
}

/// The damaged lines of a journal.
#[derive(Default)]
struct Damage {
    /// The numbers of the lines, as ranges in increasing order.
    lines: Vec<RangeInclusive<usize>>,
    /// What is wrong with the first of these lines.
    first_fault: Option<&'static str>,
}

impl Damage {
    fn add(&mut self, number: usize, what: &'static str) {
        self.first_fault.get_or_insert(what);
        // The pieces of a line that is too long have the number of the line.
        add_number(&mut self.lines, number);
    }
}

/// Another count of which a journal has lines.
struct OtherCount {
    /// The plan, as a first line names it.
    plan: String,
    /// The start of the CRC of its other lines.
    crc: LineCrc,
    /// The numbers of all its lines, as ranges in increasing order.
    lines: Vec<RangeInclusive<usize>>,
}

impl OtherCount {
    /// Returns whether a line is as a process of this count wrote it.
    fn has_line(&self, line: &[u8]) -> bool {
        self.crc.take_from(line).is_ok()
    }
}
