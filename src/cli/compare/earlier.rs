//! An earlier comparison, as `--json` printed it on this machine or another.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::read_to_string;
use std::path::Path;

use nqueens::BoardSize;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::statistics::{Contestant, Runs};
use crate::cli::exit::{Exit, Failure};

/// A row. Fields that are not here are ignored.
#[derive(Deserialize)]
struct Row {
    n: u32,
    engine: String,
    kernel: String,
    threads: usize,
    #[serde(deserialize_with = "count")]
    total: u128,
    run_seconds: Vec<f64>,
}

/// Reads a count, which is a string.
fn count<'a, D: Deserializer<'a>>(text: D) -> Result<u128, D::Error> {
    String::deserialize(text)?.parse().map_err(D::Error::custom)
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
    let text = read_to_string(path).map_err(|error| unusable(&error))?;
    let rows = serde_json::Deserializer::from_str(&text).into_iter();
    let rows = rows.collect::<Result<Vec<Row>, _>>().map_err(|error| {
        unusable(&format_args!("this is not what 'nqueens compare --json' prints: {error}"))
    })?;
    let runs = |Row { n, engine, kernel, threads, total, run_seconds: seconds }: Row| {
        let size = *sizes.iter().find(|size| size.get() == n)?;
        let contestant = *contestants.iter().find(|contestant| {
            (contestant.engine.name(), contestant.kernel.name()) == (&*engine, &*kernel)
                && contestant.threads == threads
        })?;
        (!seconds.is_empty()).then_some(Runs { size, contestant, total, seconds })
    };
    let rows: Vec<_> = rows.into_iter().filter_map(runs).collect();
    match rows.is_empty() {
        false => Ok(rows),
        true => Err(unusable(&"it has no row for these boards, engines, kernels and threads")),
    }
}
