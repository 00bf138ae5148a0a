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
    /// The path of the file.
    pub path: PathBuf,
    /// The plan that the first line names.
    pub plan: Arc<Plan>,
    /// The processes that wrote the file.
    pub runs: Vec<Run>,
    /// The units that the file holds.
    pub units: UnitSet,
    /// The units that the file holds more than once.
    pub(super) repeated: UnitSet,
    /// The sum over all lines. A unit counts as often as lines hold it.
    pub(super) lines: Tally,
    /// The bytes of all complete lines.
    pub bytes: u64,
    /// The bytes after the complete lines: an incomplete line, left by a process that was killed while it wrote.
    pub cut_off: u64,
    /// The time at which the file was last written, by the clock of the file system.
    pub modified: Option<SystemTime>,
    /// Whether a process held the lock of the file, and so was writing it. Some file systems do not show locks of other
    /// hosts: then the processes of other hosts are not noticed.
    pub is_written: bool,
    /// The cores that the writing process gets.
    pub(super) cores: Cores,
    /// The reasons why lines were left out.
    pub(super) left_out: Vec<Error>,
}

impl JournalFile {
    /// Returns the host that the name of the file contains, if a process that counted a shard created it.
    pub fn host(&self) -> Option<&str> {
        host_in(self.path.file_name()?.to_str()?)
    }

    /// Opens and reads a journal, as [`JournalFile::scan`] does.
    pub(super) fn read(path: &Path, known: Option<&Arc<Plan>>) -> Result<Option<Self>, Error> {
        let file = open(path)?;
        let is_written = is_locked(&file);
        Self::scan(path, &file, is_written, known, |_, _| ())
    }

    /// Reads a journal of a known plan, or of any plan, which is then made from the first line.
    ///
    /// Each line with finished units is passed to `take`, with all runs up to the one that finished them. Damaged
    /// lines are left out. Returns `None` if the journal has not begun; all of it was read then.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if the journal is of another plan, [`Error::Journal`] if it cannot be read.
    pub(super) fn scan(
        path: &Path,
        input: impl Read,
        is_written: bool,
        known: Option<&Arc<Plan>>,
        mut take: impl FnMut(&[Run], UnitsDone),
    ) -> Result<Option<Self>, Error> {
        use JournalError::{Damaged, NotAJournal};
        let of_file = |error: JournalError| error.at(path);
        // The time is asked for before the file is read. So whatever is written after this time is read too, or is
        // recent.
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
            // Even without the first line, a line of another plan cannot have the right CRC.
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
        // The units of each line. Lines may overlap.
        let mut ranges = Vec::new();
        // Whether the line before was good, so that it is known which run counted the units of this one.
        let mut is_begun = false;
        let mut text = Vec::new();
        // Line 1 was read. A line that is too long is read in pieces, and each piece is damaged.
        let mut number = 2;
        loop {
            text.clear();
            let length = (&mut input).take(MAX_LINE_LEN).read_until(b'\n', &mut text);
            let length = length.map_err(JournalError::cannot("read")).map_err(of_file)? as u64;
            let line = match text.split_last() {
                None => break,
                // Journals that were joined have several first lines, and some versions wrote copies of theirs.
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
        // If no line is good, the damaged first line is the reason.
        if let Some(error) = first_error.filter(|_| runs.is_empty()) {
            return Err(error);
        }
        // The file was read to its end, so this is its length without the incomplete line.
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

/// Returns whether another process holds the lock of a journal that was just opened.
pub(super) fn is_locked(file: &File) -> bool {
    let locked = file.try_lock_shared();
    // A process that begins to write the journal must not wait until it is read.
    let _ = file.unlock();
    matches!(locked, Err(TryLockError::WouldBlock))
}

/// Returns the host that the name of a journal contains, if a process that counted a shard created it.
pub(super) fn host_in(name: &str) -> Option<&str> {
    parse_file_name(name)?;
    let mut fields = name.split('.').skip(1);
    let (host, process) = (fields.next()?, fields.next()?);
    process.parse::<u32>().is_ok().then_some(host)
}
