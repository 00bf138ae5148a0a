//! The first line of a journal, and the plan that it names.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::str::FromStr;

use super::line::{LineCrc, MAX_LINE_LEN};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::{Engine, Pass};
use crate::error::{Action, Error, Problem};
use crate::machine::memory::StatedMemory;
use crate::plan::Plan;
use crate::version::version;

/// The first word of every journal.
const MAGIC: &str = "nqueens-journal";
/// The number of the format that this version writes and reads.
const FORMAT: u32 = 2;

/// The count whose journals a process looks for in a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) size: BoardSize,
    pub(crate) pass: Pass,
    /// The engine that the user asked for, or `None` if any will do.
    pub(crate) engine: Option<Engine>,
    /// The split rows that the user asked for, or `None` if any will do.
    pub(crate) split_rows: Option<usize>,
    /// What the user states of the memory.
    pub(crate) stated_memory: Option<StatedMemory>,
}

/// The first line of a journal that was read.
#[derive(Clone, Debug)]
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

    /// Reads a journal up to its first intact first line, which is its line 1 unless that is damaged. Returns `None` if
    /// it has none.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if the file cannot be read, or if the line names a format that this version does not read.
    pub(crate) fn find_in(path: &Path) -> Result<Option<Self>, Error> {
        Self::find_with(path, |_| true, &Cancel::new())
    }

    /// Reads a journal up to its first intact first line of a wanted count. Without one, returns the first intact first
    /// line of any count, or `None` if no first line is intact. So the journals of several counts may be joined in one
    /// file.
    ///
    /// # Errors
    ///
    /// [`Error::Journal`] if the file cannot be read, or if a line before the wanted one names a format that this
    /// version does not read. [`Error::Cancelled`] after a cancellation.
    pub(crate) fn find_wanted(
        path: &Path,
        wanted: &Wanted,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Error> {
        Self::find_with(path, |line| line.is_of(wanted), cancel)
    }

    /// Reads a journal up to its first intact first line that is wanted, and otherwise returns its first one.
    fn find_with(
        path: &Path,
        is_wanted: impl Fn(&Self) -> bool,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Error> {
        let cannot_read = |error| Problem::cannot(Action::Read, error).at(path);
        let mut input = BufReader::with_capacity(512, open(path)?);
        let mut line = Vec::new();
        let mut unwanted = None;
        loop {
            cancel.check()?;
            line.clear();
            input.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut line).map_err(cannot_read)?;
            if line.is_empty() {
                return Ok(unwanted);
            }
            if let Some(line) = line.strip_suffix(b"\n")
                && let Some(first) = Self::parse(line)
            {
                let first = first.map_err(|problem| problem.at(path))?;
                if is_wanted(&first) {
                    return Ok(Some(first));
                }
                unwanted.get_or_insert(first);
            }
        }
    }

    /// Parses a line, given without its line feed. Returns `None` if it is no first line, or if it is damaged. The
    /// format is a number, so no other text of a file gets into the message that names it.
    ///
    /// # Errors
    ///
    /// [`Problem::UnknownFormat`] if it is an intact first line of another format.
    pub(crate) fn parse(line: &[u8]) -> Option<Result<Self, Problem>> {
        let rest = line.strip_prefix(MAGIC.as_bytes())?;
        if !rest.starts_with(b" ") {
            return None;
        }
        let text = LineCrc::FIRST_LINE.take_from(line)?;
        // Control characters must not reach a terminal.
        if text.contains(char::is_control) {
            return None;
        }
        let format: u32 = text.split(' ').nth(1)?.parse().ok()?;
        if format == FORMAT {
            return Self::parse_fields(text).map(Ok);
        }
        Some(Err(Problem::UnknownFormat { format }))
    }

    /// Parses a first line of this format, given without its CRC.
    fn parse_fields(text: &str) -> Option<Self> {
        let fields = text.strip_prefix(&format!("{MAGIC} {FORMAT} version="))?;
        let (version, plan) = fields.split_once(' ')?;
        Some(Self { version: version.to_owned(), plan: plan.to_owned() })
    }

    /// Returns which pass over its plan the journal holds.
    pub(crate) fn pass(&self) -> Pass {
        let is_second = self.plan.contains(" count=second ");
        if is_second { Pass::Second } else { Pass::First }
    }

    /// Returns the value of a field of the plan, such as `n=`.
    fn field(&self, name: &str) -> Option<&str> {
        self.plan.split(' ').find_map(|field| field.strip_prefix(name))
    }

    /// Returns the value of a field of the plan as a number, an engine or a board size. Returns `None` if the field has
    /// no such value.
    fn parse_field<T: FromStr>(&self, name: &str) -> Option<T> {
        self.field(name)?.parse().ok()
    }

    /// Returns whether the journal is one of the count that a process is about to run.
    pub(crate) fn is_of(&self, wanted: &Wanted) -> bool {
        if self.parse_field("n=") != Some(wanted.size) || self.pass() != wanted.pass {
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
    /// [`Problem::OtherBuild`] if this build has no such plan, and [`Error::LacksMemory`] if it does not fit into
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
                    let plan = plan.for_pass(self.pass());
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
        Err(Problem::OtherBuild { version, holds, has: made }.at(path))
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

/// Opens a journal for reading. It is read more than once, and whoever opens a pipe would wait for its writer, so it
/// has to be a regular file.
pub(super) fn open(path: &Path) -> Result<File, Error> {
    let cannot_open = |error| Problem::cannot(Action::Open, error).at(path);
    let metadata = path.metadata().map_err(cannot_open)?;
    if !metadata.is_file() {
        return Err(Problem::NotAJournal.at(path));
    }
    File::open(path).map_err(cannot_open)
}
