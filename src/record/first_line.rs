//! The first line of a journal, and the plan that it names.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::disk::open;
use super::line::{Seal, trim_zeros};
use crate::engine::{Engine, WhichCount};
use crate::error::JournalError;
use crate::plan::Plan;
use crate::version::version;

/// The first word of every journal.
const MAGIC: &str = "nqueens-journal";
/// The number of the format that this version writes and reads.
const FORMAT: u32 = 2;
/// The number of bytes in which the first line has to end. A new file that a power cut filled with zeros is smaller:
/// in the second before the first sync, no count writes this much.
const MAX_FIRST_LINE_LEN: u64 = 1 << 22;

/// The first line of a journal that was read.
pub(super) struct FirstLine {
    version: String,
    /// The plan, as a [`Plan`] is displayed.
    pub(super) plan: String,
}

impl FirstLine {
    /// Returns the first line that this version writes, with its line feed.
    pub(super) fn write(plan: &Plan) -> String {
        Seal::FIRST_LINE.close(&format!("{MAGIC} {FORMAT} version={} {plan}", version()))
    }

    /// Opens a journal and reads its first line. Returns `None` if it has none, or if the line cannot be read.
    pub(super) fn read_at(path: &Path) -> Option<Self> {
        Self::read(&mut BufReader::with_capacity(512, open(path).ok()?)).ok()?
    }

    /// Reads the first line. Returns `None` if the file has not begun: it is empty, or ends within its first line. A
    /// power cut may have left zeros in place of the rest.
    pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Self>, JournalError> {
        let mut line = Vec::new();
        let read = input.take(MAX_FIRST_LINE_LEN).read_until(b'\n', &mut line);
        let length = read.map_err(JournalError::cannot("read"))? as u64;
        if let Some(text) = line.strip_suffix(b"\n") {
            return Self::parse(text).map(Some);
        }
        let (text, magic) = (trim_zeros(&line), MAGIC.as_bytes());
        let is_beginning = text.starts_with(magic) || magic.starts_with(text);
        if !is_beginning {
            return Err(not_a_journal(text));
        }
        if length < MAX_FIRST_LINE_LEN && !text.iter().any(u8::is_ascii_control) {
            return Ok(None);
        }
        Err(JournalError::Damaged { line: 1, what: "it has no end" })
    }

    /// Parses a first line, given without its line feed.
    pub(super) fn parse(line: &[u8]) -> Result<Self, JournalError> {
        if !line.strip_prefix(MAGIC.as_bytes()).is_some_and(|rest| rest.starts_with(b" ")) {
            return Err(not_a_journal(line));
        }
        let damaged = |what| JournalError::Damaged { line: 1, what };
        let text = Seal::FIRST_LINE.open(line).map_err(damaged)?;
        let fields = text.strip_prefix(&format!("{MAGIC} {FORMAT} version="));
        // Control characters must not reach a terminal.
        let fields = fields.and_then(|rest| rest.split_once(' '));
        let fields = fields.filter(|_| !text.contains(char::is_control));
        let (version, plan) = fields.ok_or_else(|| {
            let format = text.split(' ').nth(1).unwrap_or_default().to_owned();
            JournalError::UnknownFormat { format }
        })?;
        Ok(Self { version: version.to_owned(), plan: plan.to_owned() })
    }

    /// Returns which count of its plan the journal holds.
    pub(super) fn which_count(&self) -> WhichCount {
        let is_second = self.plan.contains(" count=second ");
        if is_second { WhichCount::Second } else { WhichCount::First }
    }

    /// Makes the plan that the line names.
    pub(super) fn make_plan(&self) -> Result<Plan, JournalError> {
        let field = |name| self.plan.split(' ').find_map(|field| field.strip_prefix(name));
        let parse = || {
            let size = field("n=")?.parse().ok()?;
            let engine: Engine = field("engine=")?.parse().ok()?;
            engine.check(size).ok()?;
            let split_rows = field("split-rows=")?.parse().ok();
            Some(Plan::new(size, engine, split_rows).for_count(self.which_count()))
        };
        let plan = parse();
        let made = plan.as_ref().map_or("no such plan".to_owned(), Plan::to_string);
        if let Some(plan) = plan.filter(|_| made == self.plan) {
            return Ok(plan);
        }
        let (version, holds) = (self.version.clone(), self.plan.clone());
        Err(JournalError::OtherPlan { version, holds, has: made })
    }
}

/// Returns the error of a file that does not begin like a journal. If a disk lost a block, the file begins with
/// zeros.
fn not_a_journal(line: &[u8]) -> JournalError {
    if line.starts_with(&[0; MAGIC.len()]) {
        return JournalError::Damaged { line: 1, what: "it begins with zeros" };
    }
    JournalError::NotAJournal
}
