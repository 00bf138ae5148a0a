//! Reads one journal from its beginning to its end, line by line, and checks everything in it.
//!
//! A line that is not as it was written is left out, and reading goes on with the next one.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::disk::{host_in, is_locked, open};
use super::first_line::FirstLine;
use super::line::{Line, LineCrc, MAX_LINE_LEN, may_be_cut_off};
use super::runs::{Run, Texts};
use crate::done::UnitsDone;
use crate::error::{Error, JournalError};
use crate::forecast::Cores;
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
    /// The cores that the writing process gets. `None` if the file is not being written.
    pub(super) cores: Option<Box<Cores>>,
    /// The reasons why lines were left out, or why the file was not read to its end.
    pub(super) left_out: Vec<Error>,
}

/// A line with finished units, as [`JournalFile::read`] passes it on.
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

    /// Opens a journal of this plan, and reads it as [`JournalFile::read`] does.
    pub(super) fn read_at(
        path: &Path,
        plan: &Plan,
        texts: &Texts,
        looks_for_writer: bool,
        take: impl FnMut(DoneLine<'_>),
    ) -> Result<Option<Self>, Error> {
        let file = open(path)?;
        let is_written = looks_for_writer && is_locked(&file);
        Self::read(path, &file, is_written, plan, texts, take)
    }

    /// Reads a journal of this plan, and passes each line with finished units to `take`. Damaged lines are left out.
    /// The runs share `texts` with those of other journals. Returns `None` if the journal has not begun; all of it was
    /// read then.
    ///
    /// If the first line is damaged, the others are read all the same, because no line of another plan can have the
    /// right CRC.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if the journal is of another plan. [`Error::Journal`] if the first line cannot be read,
    /// or if it is damaged and no other line is good.
    pub(super) fn read(
        path: &Path,
        input: impl Read,
        is_written: bool,
        plan: &Plan,
        texts: &Texts,
        take: impl FnMut(DoneLine<'_>),
    ) -> Result<Option<Self>, Error> {
        // The time is asked for before the file is read. So whatever is written after this time is read too, or is
        // recent.
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let mut input = BufReader::with_capacity(1 << 16, CountingReader::new(input));
        let plan_text = plan.to_string();
        let first_error = match FirstLine::read(&mut input) {
            Ok(None) => return Ok(None),
            Ok(Some(first)) if first.plan == plan_text => None,
            Ok(Some(first)) => {
                let files = [path.to_owned(), path.to_owned()];
                return Err(Error::PlansDiffer { files, plans: [plan_text, first.plan] });
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
            is_written,
            lacks_line_feed: false,
            cores: is_written.then(Box::default),
            left_out: first_error.iter().cloned().collect(),
        };
        let mut reader = LineReader::new(plan, plan_text, texts, file, take);
        let read = reader.read_lines(&mut input);
        let LineReader { mut file, damage, .. } = reader;
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
        // Everything was read except the incomplete line.
        file.bytes = input.get_ref().bytes - file.cut_off;
        // Most journals have one run, and a vector makes room for four.
        file.runs.shrink_to_fit();
        Ok(Some(file))
    }
}

/// A reader of the lines after the first one.
struct LineReader<'a, T> {
    plan: &'a Plan,
    plan_text: String,
    line_crc: LineCrc,
    texts: &'a Texts,
    /// The journal, as far as it was read.
    file: JournalFile,
    damage: Damage,
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
    /// A damaged line, and what is wrong with it.
    Damaged(&'static str),
    /// An incomplete last line, left by a process that was killed while it wrote.
    CutOff,
}

impl<'a, T: FnMut(DoneLine<'_>)> LineReader<'a, T> {
    fn new(
        plan: &'a Plan,
        plan_text: String,
        texts: &'a Texts,
        file: JournalFile,
        take: T,
    ) -> Self {
        Self {
            plan,
            plan_text,
            line_crc: LineCrc::of(plan),
            texts,
            file,
            damage: Damage::default(),
            number: 2,
            is_run_known: false,
            take,
        }
    }

    /// Reads all lines to the end of the file. A line that is too long is read in pieces, and each piece is damaged.
    fn read_lines(&mut self, input: &mut impl BufRead) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            input.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                return Ok(());
            }
            let has_line_feed = bytes.ends_with(b"\n");
            match self.parse(&bytes) {
                Piece::FirstLine => {}
                Piece::Good(line) => {
                    self.add_line(line);
                    self.is_run_known = true;
                    self.file.lacks_line_feed = false;
                }
                Piece::Damaged(what) => {
                    self.damage.add(self.number, what);
                    self.is_run_known = false;
                    self.file.lacks_line_feed = !has_line_feed;
                }
                Piece::CutOff => {
                    self.file.cut_off = bytes.len() as u64;
                    return Ok(());
                }
            }
            if has_line_feed {
                self.number += 1;
            }
        }
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
        if FirstLine::parse(line).is_ok_and(|first| first.plan == self.plan_text) {
            return Piece::FirstLine;
        }
        let parsed = self.line_crc.take_from(line).and_then(|text| Line::parse(text, self.plan));
        match parsed {
            Ok(line) => Piece::Good(line),
            Err(what) => Piece::Damaged(what),
        }
    }

    /// Adds a good line to the journal.
    fn add_line(&mut self, line: Line) {
        match line {
            Line::Run(run) => {
                self.begin_run(run);
                if let Some(cores) = &mut self.file.cores {
                    **cores = Cores::default();
                }
            }
            Line::Done(done) => {
                // Damage may have hidden the beginning of another run.
                if !self.is_run_known {
                    self.begin_run(Run::unknown());
                }
                let run = self.file.runs.last_mut().expect("a run has begun");
                run.add(&done);
                if let Some(cores) = &mut self.file.cores {
                    cores.record(&done);
                }
                (self.take)(DoneLine { number: self.number, run, done });
            }
        }
    }

    fn begin_run(&mut self, mut run: Run) {
        self.texts.share(&mut run);
        self.file.runs.push(run);
    }
}

/// A reader that counts the bytes that pass through it.
pub(super) struct CountingReader<R> {
    input: R,
    pub(super) bytes: u64,
}

impl<R> CountingReader<R> {
    pub(super) fn new(input: R) -> Self {
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
    lines: Vec<RangeInclusive<usize>>,
    /// What is wrong with the first of these lines.
    first_fault: Option<&'static str>,
}

impl Damage {
    fn add(&mut self, number: usize, what: &'static str) {
        self.first_fault.get_or_insert(what);
        match self.lines.last_mut() {
            // The pieces of a line that is too long have the number of the line.
            Some(last) if number <= *last.end() + 1 => *last = *last.start()..=number,
            _ => self.lines.push(number..=number),
        }
    }
}
