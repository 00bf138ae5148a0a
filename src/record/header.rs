//! The first line of a journal, and the plan that it names.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::line::{Seal, strictly, without_zeros};
use crate::board::size::BoardSize;
use crate::engine::{Engine, Pass, SplitRows};
use crate::error::{Error, JournalError};
use crate::machine::memory::Memory;
use crate::plan::Plan;

/// The first word of every journal.
const MAGIC: &str = "nqueens-journal";
/// The format of journals.
const FORMAT: u32 = 2;
/// The longest first line, in bytes.
const LONGEST: u64 = 4096;
/// Every machine can spare this many bytes.
const SMALL: u64 = 16 << 20;

/// The first line: who began the journal, and of which plan it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) version: String,
    pub(super) plan: PlanName,
}

/// What tells a plan, and a count of it, from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlanName {
    pub(super) n: u32,
    pub(super) pass: Pass,
    pub(super) engine: Engine,
    pub(super) split_rows: Option<SplitRows>,
    pub(super) hash: u32,
    pub(super) units: usize,
}

impl Header {
    /// Reads the first line, with its length in bytes. `None` if the file has not begun: it is empty, or
    /// ends within its first line; a power cut may have left zeros in place of the rest.
    pub(super) fn read(input: &mut impl BufRead) -> Result<Option<(Self, u64)>, JournalError> {
        let mut line = Vec::new();
        let cannot_read = JournalError::cannot_read;
        input.take(LONGEST).read_until(b'\n', &mut line).map_err(cannot_read)?;
        if let Some((b'\n', text)) = line.split_last() {
            return Ok(Some((Self::parse(text)?, line.len() as u64)));
        }
        let text = without_zeros(&line);
        if !is_beginning(text) {
            return Err(foreign(text));
        }
        match is_zeros(input).map_err(cannot_read)? && !text.iter().any(u8::is_ascii_control) {
            true => Ok(None),
            false => Err(JournalError::DamagedHeader { what: "it has no end" }),
        }
    }

    fn parse(line: &[u8]) -> Result<Self, JournalError> {
        if !line.strip_prefix(MAGIC.as_bytes()).is_some_and(|rest| rest.starts_with(b" ")) {
            return Err(foreign(line));
        }
        let damaged = |what| JournalError::DamagedHeader { what };
        let text = Seal::FIRST_LINE.open(line).map_err(damaged)?;
        let fields = text.strip_prefix(&format!("{MAGIC} {FORMAT} version=")).and_then(|rest| {
            let (version, plan) = rest.split_once(' ')?;
            Some(Self { version: version.to_owned(), plan: PlanName::parse(plan)? })
        });
        strictly(text, |_| fields).map_err(|_| {
            // Second counts of the first format had the number of this one, and other fields.
            let other = text.split(' ').nth(1).unwrap_or_default();
            let format = if other == "2" { "1" } else { other };
            JournalError::UnknownFormat { format: format.to_owned(), known: FORMAT }
        })
    }
}

/// The error of a file that does not begin like a journal. A disk that lost a block leaves zeros.
fn foreign(line: &[u8]) -> JournalError {
    match line.starts_with(&[0]) {
        true => JournalError::DamagedHeader { what: "it begins with zeros" },
        false => JournalError::NotAJournal,
    }
}

/// Whether bytes are the beginning of a first line.
fn is_beginning(text: &[u8]) -> bool {
    let common = text.len().min(MAGIC.len());
    text[..common] == MAGIC.as_bytes()[..common]
}

/// Whether all that is left are zeros.
fn is_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        let (length, is_zeros) = (bytes.len(), without_zeros(bytes).is_empty());
        if length == 0 || !is_zeros {
            return Ok(is_zeros);
        }
        input.consume(length);
    }
}

impl PlanName {
    pub(super) fn of(plan: &Plan) -> Self {
        Self {
            n: plan.size().get(),
            pass: plan.pass(),
            engine: plan.engine(),
            split_rows: plan.split_rows(),
            hash: plan.hash(),
            units: plan.units(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let mut field = |name| fields.next()?.strip_prefix(name);
        Some(Self {
            n: field("n=")?.parse().ok()?,
            pass: match field("count=")? {
                "first" => Pass::First,
                "second" => Pass::Second,
                _ => return None,
            },
            engine: field("engine=")?.parse().ok()?,
            split_rows: match field("split-rows=")? {
                "none" => None,
                rows => Some(rows.parse().ok()?),
            },
            hash: u32::from_str_radix(field("plan=")?, 16).ok()?,
            units: field("units=")?.parse().ok()?,
        })
    }

    /// The plan of this name.
    pub(super) fn plan(&self, version: &str) -> Result<Plan, JournalError> {
        let other = |makes| JournalError::OtherPlan {
            version: version.to_owned(),
            holds: self.hash,
            units: self.units,
            makes,
        };
        let size = BoardSize::new(self.n).map_err(|_| other(0))?;
        let plan = Plan::new(size, self.engine, self.split_rows).in_pass(self.pass);
        plan.check_pass().map_err(|_| other(0))?;
        // One line may name a plan so large that the machine would swap for hours. To ask the
        // operating system for its memory takes longer than to read a small journal.
        let (_, needed) = plan.forecast();
        let available = if needed < SMALL { SMALL } else { Memory::detect().available };
        if needed > available {
            let (n, units, engine) = (self.n, self.units, self.engine.name());
            return Err(JournalError::TooLarge { n, engine, units, needed, available });
        }
        if Self::of(&plan) == *self { Ok(plan) } else { Err(other(plan.hash())) }
    }
}

/// Which count a journal holds. `None` if the first line does not tell.
pub(super) fn pass_of(path: &Path) -> Option<Pass> {
    let mut input = BufReader::with_capacity(512, open(path).ok()?);
    let (header, _) = Header::read(&mut input).ok()??;
    Some(header.plan.pass)
}

/// Opens a journal for reading.
pub(super) fn open(path: &Path) -> Result<File, Error> {
    let cannot_open = |error| JournalError::cannot_open(error).at(path);
    if !std::fs::metadata(path).map_err(cannot_open)?.is_file() {
        return Err(JournalError::NotAFile.at(path));
    }
    File::open(path).map_err(cannot_open)
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MAGIC} {FORMAT} version={} {}", self.version, self.plan)
    }
}

/// As `n=8 count=first engine=bitmask split-rows=none plan=0a84c9f3 units=8`: the seed of the other
/// lines' CRCs.
impl fmt::Display for PlanName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, pass, engine, split_rows, hash, units } = self;
        write!(f, "n={n} count={pass} engine={engine} split-rows=")?;
        match split_rows {
            None => f.write_str("none")?,
            Some(rows) => write!(f, "{rows}")?,
        }
        write!(f, " plan={hash:08x} units={units}")
    }
}
