//! Reads one journal, line by line, and checks everything in it.

use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::disk::open;
use super::header::Header;
use super::line::{DoneLine, LONGEST_LINE, Line, Run, Seal, may_be_cut_off, without_zeros};
use super::name::named_host;
use super::units::{Units, units_of, weighted_sum};
use crate::error::{Error, JournalError};
use crate::forecast::{Blocks, Cores};
use crate::plan::Plan;

/// A journal has a copy of its first line at least once in so many bytes and a line, so that damage to
/// the first line costs no other.
const COPY_EVERY: u64 = 1 << 16;

/// The plan that a journal names, and the line in which it does.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) plan: Arc<Plan>,
    header: Header,
    path: PathBuf,
}

/// One of the journals of a record.
#[derive(Clone, Debug)]
pub struct JournalFile {
    /// Where it is.
    pub path: PathBuf,
    /// The processes that wrote it.
    pub runs: Vec<Run>,
    /// The units that it holds.
    pub units: Units,
    /// Bytes of its lines.
    pub bytes: u64,
    /// Bytes after them, of a line that was cut off in the middle of a write.
    pub cut_off: u64,
    /// When it was last written, by the clock of the file system.
    pub modified: Option<SystemTime>,
    pub(super) named: Named,
    /// The solutions in its lines, and the units of these, which may overlap.
    pub(super) solutions: u128,
    pub(super) ranges: Vec<Range<usize>>,
    /// What units took in the last run, and in those before it that were like it.
    pub(super) blocks: Blocks,
    /// The cores that the last run got.
    pub(super) cores: Cores,
    pub(super) left_out: Vec<Error>,
}

impl JournalFile {
    /// The host in the name of the file, if the process of a shard made it.
    pub fn host(&self) -> Option<&str> {
        named_host(&self.path)
    }
}

impl Named {
    /// Names the plan of a new journal.
    pub(super) fn of(plan: Arc<Plan>, path: &Path) -> Self {
        Self { header: Header::of(&plan), plan, path: path.to_owned() }
    }

    /// The plan that a journal names, in its first line or a copy of it. `None` if it has not begun.
    pub(super) fn at(path: &Path) -> Result<Option<Self>, Error> {
        let mut input = BufReader::new(open(path)?);
        let header = Header::read(&mut input).or_else(|error| {
            Header::find_copy(&mut input).map(Some).ok_or(match error {
                JournalError::Damaged { .. } => JournalError::NoPlan,
                error => error,
            })
        });
        let header = header.map_err(|error| error.at(path))?;
        header.map(|header| Self::by(path, header)).transpose()
    }

    fn by(path: &Path, header: Header) -> Result<Self, Error> {
        let plan = header.plan().map_err(|error| error.at(path))?;
        Ok(Self { plan: Arc::new(plan), header, path: path.to_owned() })
    }

    /// The same plan, named by the first line of another journal.
    fn also_by(&self, path: &Path, header: Header) -> Result<Self, Error> {
        if header.plan != self.header.plan {
            return Err(Error::PlansDiffer {
                files: [self.path.clone(), path.to_owned()],
                plans: [self.header.plan.clone(), header.plan],
            });
        }
        Ok(Self { plan: Arc::clone(&self.plan), header, path: path.to_owned() })
    }

    /// What seals the lines of its journals.
    pub(super) fn seal(&self) -> Seal {
        Seal::of(&self.header.plan)
    }

    /// The first line.
    pub(super) fn first_line(&self) -> String {
        Seal::FIRST_LINE.close(&self.header)
    }

    /// A line that is to be written at this place of the file, with a copy of the first one if it is time.
    pub(super) fn with_copy(&self, line: String, at: u64) -> String {
        match at / COPY_EVERY == (at + line.len() as u64) / COPY_EVERY {
            true => line,
            false => line + &self.first_line(),
        }
    }

    /// Reads a journal of this plan, or of any plan, which is then made. Every line with finished units is
    /// passed to `take`, with the number of its run; lines that are not as they were written are left out.
    /// `None` if the journal has not begun; then all of it was read as well.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if it is of another plan, [`Error::Journal`] if it cannot be read.
    pub(super) fn scan(
        known: Option<&Self>,
        path: &Path,
        input: impl Read,
        mut take: impl FnMut(usize, DoneLine),
    ) -> Result<Option<JournalFile>, Error> {
        use JournalError::{Damaged, NotAJournal};
        let of_file = |error: JournalError| error.at(path);
        let mut input = BufReader::with_capacity(1 << 16, input.take(u64::MAX));
        let mut first_error = None;
        let named = match (Header::read(&mut input), known) {
            (Ok(None), _) => return Ok(None),
            (Ok(Some(header)), None) => Self::by(path, header)?,
            (Ok(Some(header)), Some(known)) => known.also_by(path, header)?,
            // No line of another plan has the right CRC.
            (Err(error @ (Damaged { .. } | NotAJournal)), Some(known)) => {
                first_error = Some(of_file(error));
                known.clone()
            }
            (Err(error), _) => return Err(of_file(error)),
        };
        let bytes = u64::MAX - input.get_ref().limit() - input.buffer().len() as u64;
        let left_out = first_error.iter().cloned().collect();
        let mut scan = JournalFile {
            path: path.to_owned(),
            runs: Vec::new(),
            units: Units::new(),
            bytes,
            cut_off: 0,
            modified: None,
            named,
            solutions: 0,
            ranges: Vec::new(),
            blocks: Blocks::default(),
            cores: Cores::default(),
            left_out,
        };
        let seal = scan.named.seal();
        // Whether it is known who counted the units of the next line.
        let mut is_begun = false;
        let mut text = Vec::new();
        // Line 1 was the header. A line of any length is read in parts, and all of them are damaged.
        let mut number = 2;
        loop {
            text.clear();
            let length = (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut text);
            let length = length.map_err(JournalError::cannot_read).map_err(of_file)? as u64;
            let line = match text.split_last() {
                None => break,
                Some((b'\n', text)) if Header::begins(text) => match Header::parse(text) {
                    Ok(copy) if copy == scan.named.header => Ok(None),
                    _ => Err("it differs from the first one"),
                },
                Some((b'\n', text)) => {
                    let line = seal.open(text).and_then(Line::parse);
                    line.and_then(|line| check(&scan.named.plan, line)).map(Some)
                }
                Some(_) if length < LONGEST_LINE && scan.named.may_be_cut_off(&text) => {
                    scan.cut_off = length;
                    break;
                }
                Some(_) => Err("it has no end"),
            };
            scan.bytes += length;
            let is_alone = !is_begun && matches!(line, Ok(Some(Line::Done(_))));
            // Damage may have hidden the beginning of another run.
            is_begun = matches!(line, Ok(Some(_))) || is_begun && line.is_ok();
            match line {
                Ok(None) => {}
                Ok(Some(Line::Run(run))) => scan.begin(run),
                Ok(Some(Line::Done(done))) => {
                    if is_alone {
                        scan.begin(Run::unknown());
                    }
                    scan.take(done, &mut take);
                }
                Err(what) => scan.left_out.push(of_file(Damaged { line: number, what })),
            }
            number += usize::from(text.ends_with(b"\n"));
        }
        scan.units = units_of(scan.ranges.iter().cloned());
        match first_error.filter(|_| scan.runs.is_empty()) {
            Some(error) => Err(error),
            None => Ok(Some(scan)),
        }
    }

    /// Whether a line without an end may be the beginning of one that was being written.
    fn may_be_cut_off(&self, tail: &[u8]) -> bool {
        may_be_cut_off(tail) || self.first_line().as_bytes().starts_with(without_zeros(tail))
    }
}

impl JournalFile {
    /// Adds a run. Times on another machine say nothing of those on this one.
    fn begin(&mut self, run: Run) {
        if !self.runs.last().is_some_and(|last| last.is_like(&run)) {
            self.blocks = Blocks::new(self.named.plan.units());
        }
        self.cores = Cores::default();
        self.runs.push(run);
    }

    /// Adds a line to the last run.
    fn take(&mut self, done: DoneLine, take: &mut impl FnMut(usize, DoneLine)) {
        let last = self.runs.len() - 1;
        let run = &mut self.runs[last];
        run.units += done.units.len();
        run.elapsed = run.elapsed.max(done.elapsed);
        run.cpu_time = run.cpu_time.saturating_add(done.cpu_time);
        self.solutions = self.solutions.saturating_add(done.solutions);
        self.cores.record(done.elapsed.as_secs_f64(), done.cpu_time.as_secs_f64());
        self.blocks.add(done.units.start, done.units.len(), done.solutions, done.cpu_time);
        match self.ranges.last_mut().filter(|last| last.end == done.units.start) {
            Some(last) => last.end = done.units.end,
            None => self.ranges.push(done.units.clone()),
        }
        take(last, done);
    }
}

/// Makes sure that the plan has a line's units, and that their sum is right.
fn check(plan: &Plan, line: Line) -> Result<Line, &'static str> {
    if let Line::Done(DoneLine { units, solutions, counts, .. }) = &line {
        if units.end > plan.units() {
            return Err("the plan has no such units");
        }
        if weighted_sum(plan, units.start, counts) != *solutions {
            return Err("its sum is not the sum of its counts");
        }
    }
    Ok(line)
}
