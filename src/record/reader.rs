//! Reads one journal, line by line, and checks everything in it.

use std::fs::{self, TryLockError};
use std::io::{BufRead, BufReader, Read};
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::disk::{named_shard, open};
use super::header::Header;
use super::line::{LONGEST_LINE, Line, Run, Seal, may_be_cut_off};
use super::units::UnitSet;
use crate::done::UnitsDone;
use crate::error::{Error, JournalError};
use crate::plan::Plan;

/// The plan of a journal, and the file that names it.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) plan: Arc<Plan>,
    /// The plan as it is displayed: its hash takes a while.
    pub(super) text: String,
    pub(super) path: PathBuf,
}

/// One of the journals of a record.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct JournalFile {
    /// Where it is.
    pub path: PathBuf,
    /// The processes that wrote it.
    pub runs: Vec<Run>,
    /// The units that it holds.
    pub units: UnitSet,
    /// The solutions in its lines, with weights. Units that it holds more than once count as often.
    pub solutions: u128,
    /// Bytes of its lines.
    pub bytes: u64,
    /// Bytes after them, of a line that was cut off in the middle of a write.
    pub cut_off: u64,
    /// When it was last written, by the clock of the file system.
    pub modified: Option<SystemTime>,
}

impl JournalFile {
    /// The host in the name of the file, if the process of a shard made it.
    pub fn host(&self) -> Option<&str> {
        let name = self.path.file_name()?.to_str()?;
        named_shard(name)?;
        let mut fields = name.split('.').skip(1);
        let (host, process) = (fields.next()?, fields.next()?);
        process.parse::<u32>().is_ok().then_some(host)
    }

    /// Whether two readings of it found the same.
    pub(super) fn holds_same_as(&self, other: &Self) -> bool {
        (self.bytes, self.solutions, &self.units) == (other.bytes, other.solutions, &other.units)
    }

    /// Whether a process is writing it now, as far as its lock tells. Where a file system does not show the
    /// locks of other hosts, their processes are not seen.
    pub fn is_being_written(&self) -> bool {
        open(&self.path)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// What a journal holds.
pub(super) struct Contents {
    pub(super) named: Named,
    pub(super) file: JournalFile,
    /// The units of its lines, which may overlap.
    pub(super) ranges: Vec<Range<usize>>,
    /// Why lines were left out.
    pub(super) left_out: Vec<Error>,
}

impl Contents {
    /// Adds a line to the last run.
    fn add(&mut self, done: &UnitsDone) {
        if let Some(run) = self.file.runs.last_mut() {
            run.units += done.units.len();
            run.elapsed = run.elapsed.max(done.elapsed);
            run.cpu_time = run.cpu_time.saturating_add(done.cpu_time);
        }
        self.file.solutions = self.file.solutions.saturating_add(done.solutions);
        match self.ranges.last_mut().filter(|last| last.end == done.units.start) {
            Some(last) => last.end = done.units.end,
            None => self.ranges.push(done.units.clone()),
        }
    }
}

impl Named {
    /// Names the plan of a new journal.
    pub(super) fn of(plan: Arc<Plan>, path: PathBuf) -> Self {
        Self { text: plan.to_string(), plan, path }
    }

    /// The plan that a journal names in its first line. `None` if it has not begun.
    pub(super) fn at(path: &Path) -> Result<Option<Self>, Error> {
        Header::at(path)?.map(|header| Self::by(path, header)).transpose()
    }

    fn by(path: &Path, header: Header) -> Result<Self, Error> {
        let plan = header.plan().map_err(|error| error.at(path))?;
        Ok(Self { plan: Arc::new(plan), text: header.plan, path: path.to_owned() })
    }

    /// What seals the lines of its journals.
    pub(super) fn seal(&self) -> Seal {
        Seal::of(&self.text)
    }

    /// Reads a journal of this plan, or of any plan, which is then made. Every line with finished units is
    /// passed to `take`, after what was read before it, of which the last run is the one that finished them.
    /// Lines that are not as they were written are left out. `None` if the journal has not begun; then all of
    /// it was read as well.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if it is of another plan, [`Error::Journal`] if it cannot be read.
    pub(super) fn scan(
        known: Option<&Self>,
        path: &Path,
        input: impl Read,
        mut take: impl FnMut(&JournalFile, UnitsDone),
    ) -> Result<Option<Contents>, Error> {
        use JournalError::{Damaged, NotAJournal};
        let of_file = |error: JournalError| error.at(path);
        // Asked before it is read: what is written later is read as well, or is not old.
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let mut input = BufReader::with_capacity(1 << 16, input.take(u64::MAX));
        let mut first_error = None;
        let named = match (Header::read(&mut input), known) {
            (Ok(None), _) => return Ok(None),
            (Ok(Some(header)), None) => Self::by(path, header)?,
            (Ok(Some(header)), Some(known)) if header.plan != known.text => {
                let files = [known.path.clone(), path.to_owned()];
                return Err(Error::PlansDiffer { files, plans: [known.text.clone(), header.plan] });
            }
            (Ok(Some(_)), Some(known)) => known.clone(),
            // No line of another plan has the right CRC.
            (Err(error @ (Damaged { .. } | NotAJournal)), Some(known)) => {
                first_error = Some(of_file(error));
                known.clone()
            }
            (Err(error), _) => return Err(of_file(error)),
        };
        let (plan, seal) = (Arc::clone(&named.plan), named.seal());
        let mut contents = Contents {
            named,
            file: JournalFile { path: path.to_owned(), modified, ..JournalFile::default() },
            ranges: Vec::new(),
            left_out: first_error.iter().cloned().collect(),
        };
        // Whether it is known who counted the units of the next line.
        let mut is_begun = false;
        let mut text = Vec::new();
        // Line 1 was the header. A line of any length is read in pieces, and all of them are damaged.
        let mut number = 2;
        loop {
            text.clear();
            let length = (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut text);
            let length = length.map_err(JournalError::cannot("read")).map_err(of_file)? as u64;
            let line = match text.split_last() {
                None => break,
                // Journals that were joined have several first lines, and some versions wrote copies.
                Some((b'\n', text))
                    if Header::parse(text).is_ok_and(|it| it.plan == contents.named.text) =>
                {
                    number += 1;
                    continue;
                }
                Some((b'\n', text)) => seal.open(text).and_then(|text| Line::parse(text, &plan)),
                Some(_) if length < LONGEST_LINE && may_be_cut_off(&text) => {
                    contents.file.cut_off = length;
                    break;
                }
                Some(_) => Err("it has no end"),
            };
            let was_begun = mem::replace(&mut is_begun, line.is_ok());
            match line {
                Ok(Line::Run(run)) => contents.file.runs.push(run),
                Ok(Line::Done(done)) => {
                    // Damage may have hidden the beginning of another run.
                    if !was_begun {
                        contents.file.runs.push(Run::unknown());
                    }
                    contents.add(&done);
                    take(&contents.file, done);
                }
                Err(what) => contents.left_out.push(of_file(Damaged { line: number, what })),
            }
            number += usize::from(text.ends_with(b"\n"));
        }
        // All was read, to the end of the file.
        contents.file.bytes = u64::MAX - input.get_ref().limit() - contents.file.cut_off;
        contents.file.units = contents.ranges.iter().cloned().collect();
        // If nothing of it is good, that is because of its first line.
        first_error.filter(|_| contents.file.runs.is_empty()).map_or(Ok(Some(contents)), Err)
    }
}
