//! Reads one journal, line by line, and checks everything in it.

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, Read};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::disk::{open, parse_file_name};
use super::first_line::FirstLine;
use super::line::{Line, MAX_LINE_LEN, Run, Seal, may_be_cut_off};
use super::units::UnitSet;
use crate::done::{Tally, UnitsDone};
use crate::error::{Error, JournalError};
use crate::forecast::{Clusters, Cores};
use crate::plan::Plan;

/// A journal that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JournalFile {
    /// Where it is.
    pub path: PathBuf,
    /// The plan that its first line names.
    pub plan: Arc<Plan>,
    /// The processes that wrote it.
    pub runs: Vec<Run>,
    /// The units that it holds.
    pub units: UnitSet,
    /// The units that it holds more than once.
    pub(super) repeated: UnitSet,
    /// The sum of its lines: units that it holds more than once count as often.
    pub(super) lines: Tally,
    /// Bytes of its lines.
    pub bytes: u64,
    /// Bytes after them, of a line that was cut off in the middle of a write.
    pub cut_off: u64,
    /// When it was last written, by the clock of the file system.
    pub modified: Option<SystemTime>,
    /// Whether a process held its lock, so was writing it. Where a file system does not show the locks of other hosts,
    /// their processes are not seen.
    pub is_written: bool,
    /// The cores that this process gets.
    pub(super) cores: Cores,
    /// Why lines were left out.
    pub(super) left_out: Vec<Error>,
}

impl JournalFile {
    /// Returns the host in the name of the file, if the process of a shard made it.
    pub fn host(&self) -> Option<&str> {
        host_in(self.path.file_name()?.to_str()?)
    }

    /// Opens and reads a journal, as [`JournalFile::scan`] does.
    pub(super) fn read(path: &Path, known: Option<&Arc<Plan>>) -> Result<Option<Self>, Error> {
        let file = open(path)?;
        let is_written = is_locked(&file);
        Self::scan(path, &file, is_written, known, |_, _| ())
    }

    /// Reads a journal of a known plan, or of any plan, which is then made. Every line with finished units
    /// is passed to `take`, with the runs up to the one that finished them. Lines that are not as they were written are
    /// left out. `None` if the journal has not begun; then all of it was read as well.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if it is of another plan, [`Error::Journal`] if it cannot be read.
    pub(super) fn scan(
        path: &Path,
        input: impl Read,
        is_written: bool,
        known: Option<&Arc<Plan>>,
        mut take: impl FnMut(&[Run], UnitsDone),
    ) -> Result<Option<Self>, Error> {
        use JournalError::{Damaged, NotAJournal};
        let of_file = |error: JournalError| error.at(path);
        // Asked before it is read: what is written later is read as well, or is not old.
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let mut input = BufReader::with_capacity(1 << 16, input.take(u64::MAX));
        let mut first_error = None;
        let plan = match (FirstLine::read(&mut input), known) {
            (Ok(None), _) => return Ok(None),
            (Ok(Some(first)), None) => Arc::new(first.make_plan().map_err(of_file)?),
            (Ok(Some(first)), Some(known)) if first.plan != known.to_string() => {
                let files = [path.to_owned(), path.to_owned()];
                return Err(Error::PlansDiffer { files, plans: [known.to_string(), first.plan] });
            }
            (Ok(Some(_)), Some(known)) => Arc::clone(known),
            // No line of another plan has the right CRC.
            (Err(error @ (Damaged { .. } | NotAJournal)), Some(known)) => {
                first_error = Some(of_file(error));
                Arc::clone(known)
            }
            (Err(error), _) => return Err(of_file(error)),
        };
        let (plan_text, seal) = (plan.to_string(), Seal::of(&plan));
        let (mut runs, mut cores) = (Vec::new(), Cores::default());
        let (mut lines, mut cut_off) = (Tally::default(), 0);
        let mut left_out: Vec<_> = first_error.iter().cloned().collect();
        let begin = |run| Run { clusters: Clusters::new(plan.units()), ..run };
        // The units of its lines, which may overlap.
        let mut ranges = Vec::new();
        // Whether it is known who counted the units of the next line.
        let mut is_begun = false;
        let mut text = Vec::new();
        // Line 1 was read. A line of any length is read in pieces, and all of them are damaged.
        let mut number = 2;
        loop {
            text.clear();
            let length = (&mut input).take(MAX_LINE_LEN).read_until(b'\n', &mut text);
            let length = length.map_err(JournalError::cannot("read")).map_err(of_file)? as u64;
            let line = match text.split_last() {
                None => break,
                // Journals that were joined have several first lines, and some versions wrote copies.
                Some((b'\n', text))
                    if FirstLine::parse(text).is_ok_and(|it| it.plan == plan_text) =>
                {
                    number += 1;
                    continue;
                }
                Some((b'\n', text)) => seal.open(text).and_then(|text| Line::parse(text, &plan)),
                Some(_) if length < MAX_LINE_LEN && may_be_cut_off(&text) => {
                    cut_off = length;
                    break;
                }
                Some(_) => Err("it has no end"),
            };
            let was_begun = mem::replace(&mut is_begun, line.is_ok());
            match line {
                Ok(Line::Run(run)) => {
                    runs.push(begin(run));
                    cores = Cores::default();
                }
                Ok(Line::Done(done)) => {
                    // Damage may have hidden the beginning of another run.
                    if !was_begun {
                        runs.push(begin(Run::unknown()));
                    }
                    runs.last_mut().expect("a run has begun").add(&done);
                    lines = lines + done.tally();
                    ranges.push(done.units.clone());
                    if is_written {
                        cores.record(&done);
                    }
                    take(&runs, done);
                }
                Err(what) => left_out.push(of_file(Damaged { line: number, what })),
            }
            number += usize::from(text.ends_with(b"\n"));
        }
        // If nothing of it is good, that is because of its first line.
        if let Some(error) = first_error.filter(|_| runs.is_empty()) {
            return Err(error);
        }
        // All was read, to the end of the file.
        let (path, bytes) = (path.to_owned(), u64::MAX - input.get_ref().limit() - cut_off);
        let (units, repeated) = UnitSet::unite(ranges);
        Ok(Some(Self {
            path,
            plan,
            runs,
            units,
            repeated,
            lines,
            bytes,
            cut_off,
            modified,
            is_written,
            cores,
            left_out,
        }))
    }
}

/// Returns whether a process holds the lock of a journal that was just opened.
pub(super) fn is_locked(file: &File) -> bool {
    let locked = file.try_lock_shared();
    // Whoever begins to write it must not wait until it is read.
    let _ = file.unlock();
    matches!(locked, Err(TryLockError::WouldBlock))
}

/// Returns the host in the name of a journal, if the process of a shard made it.
pub(super) fn host_in(name: &str) -> Option<&str> {
    parse_file_name(name)?;
    let mut fields = name.split('.').skip(1);
    let (host, process) = (fields.next()?, fields.next()?);
    process.parse::<u32>().is_ok().then_some(host)
}
