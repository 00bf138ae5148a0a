//! Reads a journal line by line, and passes on the lines that are as they were written.
//!
//! A line belongs to the plan and count whose CRC it has, whatever file it is in, and in whatever order the lines are.
//! So journals can be joined, and a damaged first line costs nothing as long as another journal names the plan. Lines
//! of another count that a first line of the file names are passed over. All other lines are damaged, and are left out.
//! A last line without a line feed is dropped, because its process may still be writing it, or was killed while it did.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::first_line::{FirstLine, open};
use super::line::{Line, LineCrc, MAX_LINE_LEN};
use super::names::host_in;
use super::run::{Run, Texts};
use crate::cancel::Cancel;
use crate::error::{Action, Error, Problem};
use crate::numbers::add_number;
use crate::plan::Plan;
use crate::plan::done::UnitsDone;

/// A journal that was read.
#[derive(Clone, Debug)]
pub(crate) struct JournalFile {
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// The processes that wrote the file.
    pub(crate) runs: Vec<Run>,
    /// The time at which the file was last written, by the clock of the file system.
    pub(crate) modified: Option<SystemTime>,
}

impl JournalFile {
    /// Returns the host that the name of the file contains, if a process gave it that name.
    pub(crate) fn host(&self) -> Option<&str> {
        host_in(self.path.file_name()?.to_str()?)
    }
}

/// A line with finished units.
pub(crate) struct DoneLine<'a> {
    /// The index of its plan among those that are read.
    pub(crate) plan: usize,
    /// The process that finished the units.
    pub(crate) run: &'a Run,
    /// The number of this process among those that wrote the journal, counted from 1.
    pub(crate) run_number: usize,
    /// The line as it was written, without its end.
    pub(crate) text: &'a [u8],
    pub(crate) done: UnitsDone,
}

/// What was read from a file.
#[derive(Debug, Default)]
pub(crate) struct FileRead {
    /// For each plan that is read, the file if it holds a line of the plan.
    pub(crate) of_plans: Vec<Option<JournalFile>>,
    /// The plans of other counts that first lines of the file name.
    pub(crate) others: Vec<String>,
    /// The reasons why lines were left out, or why the file was not read to its end.
    pub(crate) left_out: Vec<Error>,
}

/// The largest number of other counts in a file whose lines are told from damage.
const MAX_OTHERS: usize = 16;

/// The reading of journals that hold units of some plans.
pub(crate) struct Reading<'a> {
    plans: Vec<KnownPlan<'a>>,
    /// The texts that runs of these journals share.
    texts: Texts,
    cancel: &'a Cancel,
}

/// A plan whose lines are read.
struct KnownPlan<'a> {
    plan: &'a Plan,
    text: String,
    line_crc: LineCrc,
}

impl<'a> Reading<'a> {
    /// Prepares to read journals of these plans. A cancellation ends the reading.
    pub(crate) fn new(plans: &'a [Arc<Plan>], cancel: &'a Cancel) -> Self {
        let mut known = Vec::new();
        for plan in plans {
            let text = plan.to_string();
            known.push(KnownPlan { plan, line_crc: LineCrc::of_text(&text), text });
        }
        Self { plans: known, texts: Texts::default(), cancel }
    }

    /// Returns [`Error::Cancelled`] after a cancellation.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.cancel.check()
    }
}

/// Reads a journal, and passes each intact line with finished units to `take`. Whatever cannot be used is left out,
/// with the reason.
///
/// # Errors
///
/// The errors of `take`, and [`Error::Cancelled`] after a cancellation.
pub(crate) fn read_journal(
    path: &Path,
    reading: &Reading<'_>,
    take: impl FnMut(DoneLine<'_>) -> Result<(), Error>,
) -> Result<FileRead, Error> {
    reading.check()?;
    // The time is asked for before the file is read. So whatever is written after this time is read too, or is recent.
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    match open(path) {
        Ok(file) => read_lines(path, modified, file, reading, take),
        Err(error) => Ok(FileRead {
            of_plans: vec![None; reading.plans.len()],
            left_out: vec![error],
            ..FileRead::default()
        }),
    }
}

/// Reads the lines of a journal as [`read_journal`] does.
pub(super) fn read_lines(
    path: &Path,
    modified: Option<SystemTime>,
    input: impl Read,
    reading: &Reading<'_>,
    take: impl FnMut(DoneLine<'_>) -> Result<(), Error>,
) -> Result<FileRead, Error> {
    let of_plans = vec![None; reading.plans.len()];
    let mut reader = Reader {
        reading,
        path,
        modified,
        found: FileRead { of_plans, ..FileRead::default() },
        other_crcs: Vec::new(),
        damaged: Vec::new(),
        latest_plan: 0,
        take,
    };
    let read = reader.read(&mut BufReader::with_capacity(1 << 16, input))?;
    let Reader { mut found, damaged, .. } = reader;
    // The lines before a fault of the disk are good. Those behind it may be good as well.
    if let Err(error) = read {
        found.left_out.push(Problem::cannot(Action::Read, error).at(path));
    }
    let holds_nothing = found.others.is_empty() && found.of_plans.iter().all(Option::is_none);
    if !damaged.is_empty() {
        let problem = if holds_nothing && found.left_out.is_empty() {
            Problem::NotAJournal
        } else {
            Problem::Damaged { lines: damaged }
        };
        found.left_out.push(problem.at(path));
    }
    for file in found.of_plans.iter_mut().flatten() {
        // Most journals have one run, and a vector makes room for four.
        file.runs.shrink_to_fit();
    }
    Ok(found)
}

/// A reader of the lines of a journal.
struct Reader<'a, T> {
    reading: &'a Reading<'a>,
    path: &'a Path,
    modified: Option<SystemTime>,
    found: FileRead,
    /// For each other count that first lines of the file name, the start of the CRC of its lines.
    other_crcs: Vec<LineCrc>,
    /// The numbers of the damaged lines, counted from 1, as ranges in increasing order.
    damaged: Vec<RangeInclusive<usize>>,
    /// The index of the plan whose line was read last, because the next line is most likely of the same plan.
    latest_plan: usize,
    take: T,
}

impl<T: FnMut(DoneLine<'_>) -> Result<(), Error>> Reader<'_, T> {
    /// Reads all lines to the end of the file, or until a cancellation. A line that is too long is read in pieces, and
    /// each piece is damaged.
    fn read(&mut self, input: &mut impl BufRead) -> Result<io::Result<()>, Error> {
        let mut bytes = Vec::new();
        let mut number = 1;
        loop {
            self.reading.check()?;
            bytes.clear();
            let read = input.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut bytes);
            if let Err(error) = read {
                return Ok(Err(error));
            }
            match bytes.strip_suffix(b"\n") {
                Some(line) => {
                    if !self.take_line(line)? {
                        add_number(&mut self.damaged, number);
                    }
                    number += 1;
                }
                // A piece of a line that is too long.
                None if bytes.len() as u64 == MAX_LINE_LEN => {
                    add_number(&mut self.damaged, number);
                }
                // The end of the file, perhaps behind an incomplete line.
                None => break,
            }
        }
        Ok(Ok(()))
    }

    /// Takes a line, given without its line feed. Returns whether it is intact.
    fn take_line(&mut self, line: &[u8]) -> Result<bool, Error> {
        match FirstLine::parse(line) {
            Some(Ok(first)) => {
                self.take_first_line(&first);
                return Ok(true);
            }
            Some(Err(problem)) => {
                self.found.left_out.push(problem.at(self.path));
                return Ok(true);
            }
            None => {}
        }
        let plans = &self.reading.plans;
        for turn in 0..plans.len() {
            let index = (self.latest_plan + turn) % plans.len();
            let KnownPlan { plan, line_crc, .. } = &plans[index];
            let Some(text) = line_crc.take_from(line) else { continue };
            self.latest_plan = index;
            return match Line::parse(text, plan) {
                Some(Line::Run(run)) => {
                    self.begin_run(index, run);
                    Ok(true)
                }
                Some(Line::Done(done)) => self.take_done(index, line, done).map(|()| true),
                None => Ok(false),
            };
        }
        Ok(self.other_crcs.iter().any(|crc| crc.take_from(line).is_some()))
    }

    /// Takes a first line, of a plan that is read or of another count.
    fn take_first_line(&mut self, first: &FirstLine) {
        let plans = &self.reading.plans;
        if let Some(index) = plans.iter().position(|known| known.text == first.plan) {
            self.file_of(index);
        } else if !self.found.others.contains(&first.plan) && self.found.others.len() < MAX_OTHERS {
            self.other_crcs.push(LineCrc::of_text(&first.plan));
            self.found.others.push(first.plan.clone());
        }
    }

    /// Returns the file as one that holds lines of a plan.
    fn file_of(&mut self, index: usize) -> &mut JournalFile {
        self.found.of_plans[index].get_or_insert_with(|| JournalFile {
            path: self.path.to_owned(),
            runs: Vec::new(),
            modified: self.modified,
        })
    }

    fn begin_run(&mut self, index: usize, mut run: Run) {
        self.reading.texts.share(&mut run);
        self.file_of(index).runs.push(run);
    }

    /// Takes a line with finished units.
    fn take_done(&mut self, index: usize, line: &[u8], done: UnitsDone) -> Result<(), Error> {
        if self.file_of(index).runs.is_empty() {
            self.begin_run(index, Run::unknown());
        }
        let file = self.found.of_plans[index].as_mut().expect("a run has begun in it");
        let run_number = file.runs.len();
        let run = &mut file.runs[run_number - 1];
        run.add(&done);
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        (self.take)(DoneLine { plan: index, run, run_number, text, done })
    }
}
