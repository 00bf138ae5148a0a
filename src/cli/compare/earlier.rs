//! An earlier comparison, as `--json` printed it on this machine or another.
//!
//! The file holds one JSON object after the other, each on a line of its own. People join such files and edit them, so
//! whatever is wrong with one is said with the number of the line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use nqueens::BoardSize;
use serde_json::{Deserializer, Map, Value};

use super::statistics::{Contestant, Runs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::many;

/// The times of a run that are taken for real, in seconds: no comparison prints less, and none takes thirty years.
/// Other times are divided by these and drawn by their logarithms, so they may be neither 0 nor infinite.
const POSSIBLE_SECONDS: RangeInclusive<f64> = 1e-9..=1e9;

/// A row. Other fields of a line are ignored, because another version may print more.
struct Row {
    n: u64,
    engine: String,
    kernel: String,
    threads: u64,
    total: u128,
    run_seconds: Vec<f64>,
}

/// Reads the rows of these contestants on these boards. It is an error if the file has none of these rows, because
/// then nothing can be compared.
pub(super) fn read(
    path: &Path,
    sizes: &BTreeSet<BoardSize>,
    contestants: &[Contestant],
) -> Result<Vec<Runs>, Failure> {
    let unusable =
        |why: &dyn Display| Exit::Usage.because(format!("--against {}: {why}", path.display()));
    let bytes = fs::read(path).map_err(|error| unusable(&error))?;
    let rows = rows(&bytes).map_err(|why| unusable(&why))?;
    let mut wanted = Vec::new();
    for row in rows {
        let size = sizes.iter().find(|size| u64::from(size.get()) == row.n);
        let contestant = contestants.iter().find(|contestant| is_of(&row, contestant));
        if let (Some(size), Some(contestant)) = (size, contestant) {
            let (size, contestant) = (*size, *contestant);
            wanted.push(Runs { size, contestant, total: row.total, seconds: row.run_seconds });
        }
    }
    if wanted.is_empty() {
        return Err(unusable(&"it has no row for these boards, engines, kernels and threads"));
    }
    Ok(wanted)
}

/// Returns whether a row is of this contestant.
fn is_of(row: &Row, contestant: &Contestant) -> bool {
    row.engine == contestant.engine.name()
        && row.kernel == contestant.kernel.name()
        && row.threads == contestant.threads as u64
}

/// Reads all rows of a file. The error says which line is wrong, and why.
fn rows(bytes: &[u8]) -> Result<Vec<Row>, String> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = 1 + lines_in(&bytes[..error.valid_up_to()]);
        not_a_row(line, "it is not text")
    })?;
    if text.trim().is_empty() {
        return Err(
            "the file is empty: name one that 'nqueens compare --json' has printed".to_owned()
        );
    }
    let mut rows = Vec::new();
    let mut line_of = BTreeMap::new();
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    loop {
        let (before, after) = text.split_at(values.byte_offset());
        let spaces = after.len() - after.trim_start().len();
        let line = 1 + lines_in(before.as_bytes()) + lines_in(&after.as_bytes()[..spaces]);
        let Some(value) = values.next() else { return Ok(rows) };
        let value = value.map_err(|error| match error.is_eof() {
            true => not_a_row(line, "it is cut off"),
            false => {
                let place = format!("it cannot be read from column {} on", error.column());
                not_a_row(error.line(), &place)
            }
        })?;
        let row = row(&value).map_err(|why| not_a_row(line, &why))?;
        let contestant = (row.n, row.engine.clone(), row.kernel.clone(), row.threads);
        if let Some(other) = line_of.insert(contestant, line) {
            let Row { n, engine, kernel, threads, .. } = row;
            let threads = many(usize::try_from(threads).unwrap_or(usize::MAX), "thread");
            return Err(format!(
                "lines {other} and {line} are both of n = {n}, {engine} {kernel} on {threads}: keep one report in \
                 the file"
            ));
        }
        rows.push(row);
    }
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
fn row(value: &Value) -> Result<Row, String> {
    let fields = value.as_object().ok_or("it is not a JSON object")?;
    let total = text(fields, "total")?;
    let total = total.parse().map_err(|_| format!("its total is '{total}', which is no number"))?;
    let times = field(fields, "run_seconds")?;
    let times = times.as_array().ok_or("its run_seconds are not a list")?;
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
        n: number(fields, "n")?,
        engine: text(fields, "engine")?.to_owned(),
        kernel: text(fields, "kernel")?.to_owned(),
        threads: number(fields, "threads")?,
        total,
        run_seconds,
    })
}

fn field<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    fields.get(name).ok_or_else(|| format!("it has no {name}"))
}

fn number(fields: &Map<String, Value>, name: &str) -> Result<u64, String> {
    let value = field(fields, name)?;
    value.as_u64().ok_or_else(|| format!("its {name} is {value}, which is no whole number"))
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let value = field(fields, name)?;
    value.as_str().ok_or_else(|| format!("its {name} is {value}, which is no text in quotes"))
}
