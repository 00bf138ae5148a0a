//! The first line of a journal, and the plan that it names.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::JournalError;
use super::line::{FORMATS, Header, MAGIC, pass_of_format, seal, unseal};
use crate::engine::Pass;
use crate::error::Error;
use crate::plan::{Cut, Plan};
use crate::size::BoardSize;

/// The longest header, in bytes.
const LONGEST_HEADER: u64 = 4096;

/// A plan that a journal names. It is made once for all journals that name the same.
#[derive(Clone, Debug)]
pub(crate) struct NamedPlan {
    /// The first journal that names it.
    pub(crate) path: PathBuf,
    pub(crate) plan: Arc<Plan>,
    header: Header,
}

/// Which count a journal holds, from the number of its format alone, so also if the rest is damaged.
/// `None` if the file ends before it, or is no journal.
///
/// # Errors
///
/// [`Error::Journal`] if the file cannot be read.
pub fn pass_of(path: &Path) -> Result<Option<Pass>, Error> {
    let cannot_read = |error| JournalError::cannot_read(error).at(path);
    let Some(file) = open(path).map_err(|error| error.at(path))? else { return Ok(None) };
    let mut start = Vec::new();
    file.take(LONGEST_HEADER).read_to_end(&mut start).map_err(cannot_read)?;
    Ok(pass_of_line(&start))
}

/// The same, given the beginning of the file.
pub(super) fn pass_of_line(start: &[u8]) -> Option<Pass> {
    let rest = start.strip_prefix(MAGIC.as_bytes())?.strip_prefix(b" ")?;
    // Without a space after it, the number may have been cut off.
    let end = rest.iter().position(|byte| *byte == b' ')?;
    pass_of_format(std::str::from_utf8(&rest[..end]).ok()?)
}

/// Reads the plan that a journal names. `None` if there is no such file or it is empty.
pub(crate) fn read_plan(path: &Path) -> Result<Option<NamedPlan>, Error> {
    let read = || {
        let Some(file) = open(path)? else { return Ok(None) };
        let Some(line) = read_header(&mut BufReader::new(file))? else { return Ok(None) };
        let (header, plan) = plan_of(&line[..line.len() - 1])?;
        Ok(Some(NamedPlan { path: path.to_owned(), plan: Arc::new(plan), header }))
    };
    read().map_err(|error: JournalError| error.at(path))
}

impl NamedPlan {
    /// Opens a journal of this plan behind its header. Returns the header's length, too.
    pub(super) fn open(&self, path: &Path) -> Result<Option<(BufReader<File>, u64)>, Error> {
        let of_file = |error: JournalError| error.at(path);
        let Some(file) = open(path).map_err(of_file)? else { return Ok(None) };
        let mut input = buffered(file);
        let Some(line) = read_header(&mut input).map_err(of_file)? else { return Ok(None) };
        let text = &line[..line.len() - 1];
        let is_named = |header: Header| {
            Header { version: self.header.version.clone(), ..header } == self.header
        };
        if !unseal(text).and_then(Header::parse).is_ok_and(is_named) {
            let (_, plan) = plan_of(text).map_err(of_file)?;
            let (named, other) = (self.path.clone(), path.to_owned());
            if plan.hash() == self.plan.hash() {
                let n = plan.size().get();
                return Err(match plan.pass() {
                    Pass::First => Error::PassesDiffer { n, first: other, second: named },
                    Pass::Second => Error::PassesDiffer { n, first: named, second: other },
                });
            }
            return Err(Error::PlansDiffer {
                first: named,
                first_plan: self.plan.to_string(),
                second: other,
                second_plan: plan.to_string(),
            });
        }
        Ok(Some((input, line.len() as u64)))
    }
}

/// Opens a journal for reading. `None` if there is no such file.
pub(super) fn open(path: &Path) -> Result<Option<File>, JournalError> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(JournalError::cannot_open(error)),
        Ok(metadata) if !metadata.is_file() => return Err(JournalError::NotAFile),
        Ok(_) => {}
    }
    File::open(path).map(Some).map_err(JournalError::cannot_open)
}

pub(super) fn buffered(file: File) -> BufReader<File> {
    BufReader::with_capacity(1 << 16, file)
}

/// Reads the first line, with its line feed. `None` if the file is empty.
pub(super) fn read_header(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, JournalError> {
    let mut first = Vec::new();
    input.take(LONGEST_HEADER).read_until(b'\n', &mut first).map_err(JournalError::cannot_read)?;
    match first.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(first)),
        Some(_) => Err(without_end(first)),
    }
}

/// The error of a file whose first line has no end.
fn without_end(first: Vec<u8>) -> JournalError {
    let common = first.len().min(MAGIC.len());
    if first[..common] != MAGIC.as_bytes()[..common] {
        return JournalError::NotAJournal;
    }
    match String::from_utf8(first) {
        Ok(text) if !text.contains(char::is_control) => JournalError::HeaderCutOff { text },
        _ => JournalError::DamagedHeader { what: "it has no end".to_owned() },
    }
}

/// Whether a header that was cut off is the beginning of the header that this version writes for a
/// plan. If so, nothing is lost by writing it again.
pub(crate) fn begins_header_of(text: &str, plan: &Plan) -> bool {
    seal(&Header::of(plan)).starts_with(text)
}

/// A header, and the plan that it names.
pub(super) fn plan_of(header: &[u8]) -> Result<(Header, Plan), JournalError> {
    let damaged = |what| JournalError::DamagedHeader { what };
    let mut words = header.split(|byte| *byte == b' ');
    if words.next() != Some(MAGIC.as_bytes()) {
        return Err(JournalError::NotAJournal);
    }
    let text = unseal(header).map_err(damaged)?;
    let format = text.split(' ').nth(1).unwrap_or("");
    if pass_of_format(format).is_none() {
        let format = format.replace(char::is_control, "?");
        return Err(JournalError::UnknownFormat { format, known: FORMATS });
    }
    let header = Header::parse(text).map_err(damaged)?;
    let size = BoardSize::new(header.n).map_err(|error| damaged(error.to_string()))?;
    let (engine, split_rows, pass) = (header.engine, header.split_rows, header.pass);
    // One line may name a plan so large that the machine would swap for hours.
    let cut = Cut { size, engine, split_rows, pass, queens: None };
    cut.check_pass().map_err(|error| damaged(error.to_string()))?;
    cut.check_memory()?;
    let plan = cut.plan();
    if header.split_rows != plan.split_rows() {
        return Err(damaged("its split rows do not fit its engine".to_owned()));
    }
    if (header.plan, header.units) != (plan.hash(), plan.units()) {
        let Header { version, plan: holds, units, .. } = header;
        return Err(JournalError::OtherPlan { version, holds, units, makes: plan.hash() });
    }
    Ok((header, plan))
}
