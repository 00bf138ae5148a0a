//! The first line of a journal, and the plan that it names.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::str::FromStr;

use super::disk::open;
use super::line::{LineCrc, trim_zeros};
use crate::board::size::BoardSize;
use crate::engine::{Engine, WhichCount};
use crate::error::{Error, JournalError};
use crate::machine::memory::StatedMemory;
use crate::plan::Plan;
use crate::version::version;

/// The first word of every journal.
const MAGIC: &str = "nqueens-journal";
/// The number of the format that this version writes and reads.
const FORMAT: u32 = 2;
/// The number of bytes in which the first line has to end. A new file that a power cut filled with zeros is smaller:
/// in the second before the first sync, no count writes this much.
const MAX_FIRST_LINE_LEN: u64 = 1 << 22;

/// The count whose journals a process looks for in a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) size: BoardSize,
    pub(crate) which: WhichCount,
    /// The engine that the user asked for, or `None` if any will do.
    pub(crate) engine: Option<Engine>,
    /// The split rows that the user asked for, or `None` if any will do.
    pub(crate) split_rows: Option<usize>,
    /// What the user states of the memory.
    pub(crate) stated_memory: Option<StatedMemory>,
}

/// The first line of a journal that was read.
pub(crate) struct FirstLine {
    version: String,
    /// The plan, as a [`Plan`] is displayed.
    pub(crate) plan: String,
}

impl FirstLine {
    /// Returns the first line that this version writes for a plan, with its line feed.
    pub(crate) fn format(plan: &Plan) -> String {
        LineCrc::FIRST_LINE.add_to(&format!("{MAGIC} {FORMAT} version={} {plan}", version()))
    }

    /// Opens a journal and reads its first line. Returns `None` if the journal has not begun.
    pub(crate) fn read_at(path: &Path) -> Result<Option<Self>, Error> {
        let mut input = BufReader::with_capacity(512, open(path)?);
        Self::read(&mut input).map_err(|error| error.at(path))
    }

    /// Opens a journal, reads its first line, and makes the plan that the line names. Returns `None` if the journal has
    /// not begun.
    pub(crate) fn read_plan_at(
        path: &Path,
        stated_memory: Option<StatedMemory>,
    ) -> Result<Option<Plan>, Error> {
        match Self::read_at(path)? {
            Some(first) => first.make_plan(path, stated_memory).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the first line. Returns `None` if the journal has not begun.
    pub(crate) fn read(input: &mut impl BufRead) -> Result<Option<Self>, JournalError> {
        let mut bytes = Vec::new();
        let read = input.take(MAX_FIRST_LINE_LEN).read_until(b'\n', &mut bytes);
        read.map_err(|error| JournalError::cannot("read", error))?;
        match Beginning::of(&bytes) {
            Beginning::WholeLine(line) => Self::parse(line).map(Some),
            Beginning::CutOff => Ok(None),
            Beginning::Endless => Err(JournalError::NoPlan { what: "it has no end" }),
            Beginning::Foreign => Err(not_a_journal(&bytes)),
        }
    }

    /// Parses a first line, given without its line feed.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, JournalError> {
        let has_magic =
            line.strip_prefix(MAGIC.as_bytes()).is_some_and(|rest| rest.starts_with(b" "));
        if !has_magic {
            return Err(not_a_journal(line));
        }
        let text = match LineCrc::FIRST_LINE.take_from(line) {
            Ok(text) => text,
            Err(what) => return Err(JournalError::NoPlan { what }),
        };
        match Self::parse_fields(text) {
            Some(first) => Ok(first),
            None => {
                let format = text.split(' ').nth(1).unwrap_or_default().to_owned();
                Err(JournalError::UnknownFormat { format })
            }
        }
    }

    /// Parses a first line of this format, given without its CRC.
    fn parse_fields(text: &str) -> Option<Self> {
        // Control characters must not reach a terminal.
        if text.contains(char::is_control) {
            return None;
        }
        let fields = text.strip_prefix(&format!("{MAGIC} {FORMAT} version="))?;
        let (version, plan) = fields.split_once(' ')?;
        Some(Self { version: version.to_owned(), plan: plan.to_owned() })
    }

    /// Returns which count of its plan the journal holds.
    pub(crate) fn which_count(&self) -> WhichCount {
        let is_second = self.plan.contains(" count=second ");
        if is_second { WhichCount::Second } else { WhichCount::First }
    }

    /// Returns the value of a field of the plan, such as `n=`.
    fn field(&self, name: &str) -> Option<&str> {
        self.plan.split(' ').find_map(|field| field.strip_prefix(name))
    }

    /// Returns the value of a field of the plan as a number, an engine or a board size. Returns `None` if the field has no
    /// such value.
    fn parse_field<T: FromStr>(&self, name: &str) -> Option<T> {
        self.field(name)?.parse().ok()
    }

    /// Returns whether the journal is one of the count that a process is about to run.
    pub(crate) fn is_of(&self, wanted: &Wanted) -> bool {
        if self.parse_field("n=") != Some(wanted.size) || self.which_count() != wanted.which {
            return false;
        }
        if wanted.engine.is_some() && self.parse_field("engine=") != wanted.engine {
            return false;
        }
        let split_rows: Option<usize> = self.parse_field("split-rows=");
        match (wanted.split_rows, split_rows) {
            (Some(asked), Some(rows)) => asked == rows,
            // Only prefixes have split rows.
            _ => true,
        }
    }

    /// Makes the plan that the line of this journal names.
    ///
    /// # Errors
    ///
    /// [`JournalError::OtherPlan`] if this build has no such plan, and [`Error::LacksMemory`] if it does not fit into
    /// memory.
    pub(crate) fn make_plan(
        &self,
        path: &Path,
        stated_memory: Option<StatedMemory>,
    ) -> Result<Plan, Error> {
        let mut made = "no such plan".to_owned();
        if let Some((size, engine, split_rows)) = self.settings() {
            match Plan::with_memory(size, engine, split_rows, stated_memory) {
                Ok(plan) => {
                    let plan = plan.for_count(self.which_count());
                    made = plan.to_string();
                    if made == self.plan {
                        return Ok(plan);
                    }
                }
                Err(error @ Error::LacksMemory(_)) => return Err(error),
                Err(_) => {}
            }
        }
        let version = self.version.clone();
        let holds = self.plan.clone();
        Err(JournalError::OtherPlan { version, holds, has: made }.at(path))
    }

    /// Returns the board size, the engine and the split rows of the plan. Returns `None` if this build has no such
    /// board or engine.
    fn settings(&self) -> Option<(BoardSize, Engine, Option<usize>)> {
        let size: BoardSize = self.parse_field("n=")?;
        let engine: Engine = self.parse_field("engine=")?;
        // Only prefixes have split rows. For other plans the field has no number.
        let split_rows = self.field("split-rows=")?.parse().ok();
        Some((size, engine, split_rows))
    }
}

/// The ways in which a file may begin.
#[derive(Debug, PartialEq, Eq)]
enum Beginning<'a> {
    /// With a whole line, given without its line feed.
    WholeLine(&'a [u8]),
    /// With a part of a journal's first line, or with nothing. The file ends there, or a power cut has left zeros in
    /// place of the rest. So the journal has not begun.
    CutOff,
    /// Like a journal, but with a first line that has lost its end.
    Endless,
    /// Not like a journal.
    Foreign,
}

impl<'a> Beginning<'a> {
    /// Returns how a file begins. `bytes` is all up to the first line feed, or [`MAX_FIRST_LINE_LEN`] bytes, or the
    /// whole file.
    fn of(bytes: &'a [u8]) -> Self {
        if let Some(line) = bytes.strip_suffix(b"\n") {
            return Self::WholeLine(line);
        }
        let text = trim_zeros(bytes);
        let magic = MAGIC.as_bytes();
        if !text.starts_with(magic) && !magic.starts_with(text) {
            return Self::Foreign;
        }
        let is_whole_file = (bytes.len() as u64) < MAX_FIRST_LINE_LEN;
        let is_damaged = text.iter().any(u8::is_ascii_control);
        if is_whole_file && !is_damaged { Self::CutOff } else { Self::Endless }
    }
}

/// Returns the error of a file that does not begin like a journal. If a disk lost a block, the file begins with
/// zeros.
fn not_a_journal(line: &[u8]) -> JournalError {
    if line.starts_with(&[0; MAGIC.len()]) {
        return JournalError::NoPlan { what: "it begins with zeros" };
    }
    JournalError::NotAJournal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_begin_in_four_ways() {
        let zeros_and_more = [&[0; 512][..], b"done"].concat();
        let mut too_long = format!("{MAGIC} 2 version=1 ").into_bytes();
        too_long.resize(1 << 22, b'x');
        assert_eq!(too_long.len() as u64, MAX_FIRST_LINE_LEN);
        for (bytes, beginning) in [
            (
                &b"nqueens-journal 2 version=1\n"[..],
                Beginning::WholeLine(b"nqueens-journal 2 version=1"),
            ),
            (b"n,solutions\n", Beginning::WholeLine(b"n,solutions")),
            (b"", Beginning::CutOff),
            (b"nqueens-j", Beginning::CutOff),
            (b"nqueens-journal 2 vers", Beginning::CutOff),
            (b"nqueens-journal 2 vers\0\0\0", Beginning::CutOff),
            (&[0; 512], Beginning::CutOff),
            (b"nqueens-journal 2 vers\0\0\0run", Beginning::Endless),
            (&too_long, Beginning::Endless),
            (b"queens", Beginning::Foreign),
            (&zeros_and_more, Beginning::Foreign),
        ] {
            assert_eq!(Beginning::of(bytes), beginning, "{}", bytes.escape_ascii());
        }
    }
}
