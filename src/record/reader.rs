//! Reads one journal, line by line, and checks everything in it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::header::{Header, PlanName, open};
use super::line::{DoneLine, LONGEST_LINE, Line, Seal, may_be_cut_off};
use super::{Run, weighted_sum};
use crate::engine::Kernel;
use crate::error::{Error, JournalError};
use crate::machine::cpu::Cpu;
use crate::plan::Plan;
use crate::shard::Shard;

/// What to do about lines that are not as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The first one is an error.
    Strict,
    /// They are left out, and listed.
    SkipDamaged,
}

/// The plan that journals name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) plan: Arc<Plan>,
    name: PlanName,
    /// The first journal that names it.
    path: PathBuf,
}

/// What the lines of one journal say, apart from their counts.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) runs: Vec<Run>,
    pub(super) left_out: Vec<Error>,
    /// Bytes up to the end of the last line.
    pub(super) bytes: u64,
    /// Bytes after it, of a line that was cut off.
    pub(super) cut_off: u64,
}

impl Named {
    pub(super) fn of(plan: Arc<Plan>, path: &Path) -> Self {
        Self { name: PlanName::of(&plan), plan, path: path.to_owned() }
    }

    /// The plan that a journal names. `None` if it has not begun.
    pub(super) fn at(path: &Path) -> Result<Option<Self>, Error> {
        let header = Header::read(&mut BufReader::new(open(path)?));
        let header = header.map_err(|error| error.at(path))?;
        header.map(|(header, _)| Self::by(path, header)).transpose()
    }

    fn by(path: &Path, header: Header) -> Result<Self, Error> {
        let plan = header.plan.plan(&header.version).map_err(|error| error.at(path))?;
        Ok(Self { plan: Arc::new(plan), name: header.plan, path: path.to_owned() })
    }

    /// What seals the lines of its journals.
    pub(super) fn seal(&self) -> Seal {
        Seal::of(&self.name)
    }

    /// The first line that this version writes.
    pub(super) fn first_line(&self) -> String {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Seal::FIRST_LINE.close(&Header { version, plan: self.name.clone() })
    }

    /// Reads a journal of this plan, or of any plan, which is then made. Every line with finished units is
    /// passed to `take`, with the number of its run. `None` if the journal has not begun; then all of it
    /// was read as well.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] if it is of another plan, [`Error::Journal`] if it cannot be read or,
    /// where reading is strict, if a line is damaged.
    pub(super) fn scan(
        known: Option<&Self>,
        path: &Path,
        input: impl Read,
        mode: Mode,
        mut take: impl FnMut(usize, DoneLine),
    ) -> Result<Option<(Arc<Plan>, Scan)>, Error> {
        let of_file = |error: JournalError| error.at(path);
        let mut input = BufReader::with_capacity(1 << 16, input);
        let Some((header, bytes)) = Header::read(&mut input).map_err(of_file)? else {
            return Ok(None);
        };
        let named = match known {
            None => Self::by(path, header)?,
            Some(known) if known.name == header.plan => known.clone(),
            Some(known) => {
                return Err(Error::PlansDiffer {
                    first: known.path.clone(),
                    first_plan: known.name.to_string(),
                    second: path.to_owned(),
                    second_plan: header.plan.to_string(),
                });
            }
        };
        let mut scan = Scan { bytes, ..Scan::default() };
        let seal = named.seal();
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
                Some((b'\n', text)) => {
                    let line = seal.open(text).and_then(Line::parse);
                    line.and_then(|line| check(&named.plan, line))
                }
                Some(_) if length < LONGEST_LINE && may_be_cut_off(&text) => {
                    scan.cut_off = length;
                    break;
                }
                Some(_) => Err("it has no end"),
            };
            scan.bytes += length;
            let is_alone = !is_begun && matches!(line, Ok(Line::Done(_)));
            let line = match is_alone && mode == Mode::Strict {
                true => Err("no run begins before it"),
                false => line,
            };
            // Damage may have hidden the beginning of another run.
            is_begun = line.is_ok();
            match line {
                Ok(Line::Run(run)) => scan.runs.push(run),
                Ok(Line::Done(done)) => {
                    if is_alone {
                        scan.runs.push(Run::unknown());
                    }
                    scan.take(done, &mut take);
                }
                Err(what) => {
                    let error = of_file(JournalError::Damaged { line: number, what });
                    match mode {
                        Mode::Strict => return Err(error),
                        Mode::SkipDamaged => scan.left_out.push(error),
                    }
                }
            }
            number += usize::from(text.ends_with(b"\n"));
        }
        Ok(Some((named.plan, scan)))
    }
}

impl Scan {
    /// Adds a line to the last run.
    fn take(&mut self, done: DoneLine, take: &mut impl FnMut(usize, DoneLine)) {
        let last = self.runs.len() - 1;
        let run = &mut self.runs[last];
        run.units += done.units.len();
        run.elapsed = run.elapsed.max(done.elapsed);
        run.cpu_time = run.cpu_time.saturating_add(done.cpu_time);
        take(last, done);
    }
}

impl Run {
    /// The work of this process, which begins.
    pub(crate) fn begin(kernel: Kernel, threads: usize, shard: Shard) -> Self {
        let (version, kernel) = (env!("CARGO_PKG_VERSION").to_owned(), kernel.name().to_owned());
        let machine = Cpu::detect().brand.replace(char::is_control, " ");
        Self { version, kernel, threads, shard, machine, ..Self::default() }
    }

    /// Stands for a run whose own line is lost.
    fn unknown() -> Self {
        let [version, kernel, machine] = [(); 3].map(|()| "unknown".to_owned());
        Self { version, kernel, threads: 1, machine, ..Self::default() }
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
