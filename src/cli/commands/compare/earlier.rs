//! An earlier comparison, as `--json` printed it on this machine or another.
//!
//! The file holds one JSON object after the other, each on a line of its own. People join such files and edit them, so
//! every error gives the number of the line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use crate::BoardSize;
use crate::record::IoError;
use serde_json::{Deserializer, Map, Value};

use super::statistics::{Configuration, Timings};
use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::failure::way_out::io_way_out;
use crate::cli::output::format::many;

/// The times of a run that are believed, in seconds. No comparison prints less, and none takes thirty years. Ratios
/// divide by these times and take their logarithms, so they may be neither 0 nor infinite.
const POSSIBLE_SECONDS: RangeInclusive<f64> = 1e-9..=1e9;

/// A row. Other fields of a line are ignored, because another version may print more.
pub(super) struct Row {
    pub(super) n: u64,
    pub(super) engine: String,
    pub(super) kernel: String,
    pub(super) threads: u64,
    pub(super) total: u128,
    pub(super) run_seconds: Vec<f64>,
}

/// Reads the rows of a file that belong to given boards and configurations. A file without such a row is an error, because
/// then nothing can be compared.
pub(super) fn read(
    path: &Path,
    sizes: &BTreeSet<BoardSize>,
    configurations: &[Configuration],
) -> Result<Vec<Timings>, Failure> {
    let bytes = fs::read(path).map_err(|error| unreadable(path, error))?;
    let rows = read_rows(&bytes).map_err(|why| unusable(path, why))?;
    let mut wanted = Vec::new();
    for row in rows {
        let size = sizes.iter().find(|size| u64::from(size.get()) == row.n);
        let configuration = configurations.iter().find(|one| row.is_of(one));
        if let (Some(&size), Some(&configuration)) = (size, configuration) {
            wanted.push(Timings {
                size,
                configuration,
                total: row.total,
                seconds: row.run_seconds,
            });
        }
    }
    if wanted.is_empty() {
        let why = "it has no row for these boards, engines, kernels and threads";
        return Err(unusable(path, why));
    }
    Ok(wanted)
}

/// Returns the failure for a file that cannot be compared with.
fn unusable(path: &Path, why: impl Display) -> Failure {
    Exit::Usage.because(format!("--against {}: {why}", path.display()))
}

/// Returns the failure for a file that the operating system does not give.
fn unreadable(path: &Path, error: io::Error) -> Failure {
    let error = IoError::from(error);
    let (exit, way_out) = io_way_out(path, "read", &error);
    exit.because(format!("--against {}: {error}{way_out}", path.display()))
}

impl Row {
    fn is_of(&self, configuration: &Configuration) -> bool {
        self.engine == configuration.engine.name()
            && self.kernel == configuration.kernel.name()
            && self.threads == configuration.threads as u64
    }

    /// Returns what may be only once in a file: the board, the engine, the kernel and the number of threads.
    fn key(&self) -> (u64, String, String, u64) {
        (self.n, self.engine.clone(), self.kernel.clone(), self.threads)
    }

    /// Returns the board and the configuration as a message names them.
    fn name(&self) -> String {
        let Self { n, engine, kernel, threads, .. } = self;
        let threads = many(usize::try_from(*threads).unwrap_or(usize::MAX), "thread");
        format!("n = {n}, {engine} {kernel} on {threads}")
    }
}

/// Reads all rows of a file. The error says which line is wrong, and why.
pub(super) fn read_rows(bytes: &[u8]) -> Result<Vec<Row>, String> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let line = 1 + lines_in(&bytes[..error.valid_up_to()]);
            return Err(not_a_row(line, "it is not text"));
        }
    };
    if text.trim().is_empty() {
        return Err(
            "the file is empty: name one that 'nqueens compare --json' has printed".to_owned()
        );
    }
    let mut rows = Vec::new();
    let mut line_of_key = BTreeMap::new();
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    loop {
        let line = line_after(text, values.byte_offset());
        let value = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) if error.is_eof() => return Err(not_a_row(line, "it is cut off")),
            Some(Err(error)) => {
                let why = format!("it cannot be read from column {} on", error.column());
                return Err(not_a_row(error.line(), &why));
            }
            None => return Ok(rows),
        };
        let row = read_row(&value).map_err(|why| not_a_row(line, &why))?;
        if let Some(other) = line_of_key.insert(row.key(), line) {
            return Err(format!(
                "lines {other} and {line} are both of {}: keep one report in the file",
                row.name()
            ));
        }
        rows.push(row);
    }
}

/// Returns the number of the line on which the next value begins, after this many bytes and the spaces that follow.
fn line_after(text: &str, offset: usize) -> usize {
    let spaces = text[offset..].len() - text[offset..].trim_start().len();
    1 + lines_in(&text.as_bytes()[..offset + spaces])
}

/// Returns the number of line feeds.
fn lines_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// Returns the message for a line that holds no row.
fn not_a_row(line: usize, why: &str) -> String {
    format!("line {line} is not a row of 'nqueens compare --json': {why}")
}

/// Reads the fields of a row. The error says which field is missing or wrong.
fn read_row(value: &Value) -> Result<Row, String> {
    let fields = value.as_object().ok_or("it is not a JSON object")?;
    let digits = text_field(fields, "total")?;
    let Ok(total) = digits.parse() else {
        return Err(format!("its total is '{digits}', which is no number"));
    };
    let times = field(fields, "run_seconds")?.as_array().ok_or("its run_seconds are not a list")?;
    let mut run_seconds = Vec::new();
    for time in times {
        match time.as_f64() {
            Some(seconds) if POSSIBLE_SECONDS.contains(&seconds) => run_seconds.push(seconds),
            _ => {
                return Err(format!("its run_seconds hold {time}, which is not the time of a run"));
            }
        }
    }
    if run_seconds.is_empty() {
        return Err("its run_seconds hold no time".to_owned());
    }
    Ok(Row {
        n: number_field(fields, "n")?,
        engine: text_field(fields, "engine")?.to_owned(),
        kernel: text_field(fields, "kernel")?.to_owned(),
        threads: number_field(fields, "threads")?,
        total,
        run_seconds,
    })
}

fn field<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    fields.get(name).ok_or_else(|| format!("it has no {name}"))
}

fn number_field(fields: &Map<String, Value>, name: &str) -> Result<u64, String> {
    let value = field(fields, name)?;
    value.as_u64().ok_or_else(|| format!("its {name} is {value}, which is no whole number"))
}

fn text_field<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let value = field(fields, name)?;
    value.as_str().ok_or_else(|| format!("its {name} is {value}, which is no text in quotes"))
}
