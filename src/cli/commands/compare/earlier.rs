//! An earlier comparison, as `--json` printed it on this machine or another.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use crate::BoardSize;
use serde::de::{Deserialize as _, Deserializer, Error as _};
use serde_json::Deserializer as JsonDeserializer;

use super::statistics::Configuration;
use crate::cli::advice::io_way_out;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// The times of a run that are believed, in seconds. No comparison prints less, and none takes thirty years. Ratios
/// divide by these times and take their logarithms, so they may be neither 0 nor infinite.
const POSSIBLE_SECONDS: RangeInclusive<f64> = 1e-9..=1e9;

/// A row. Other fields are ignored, because another version may print more. The kernel may be one that this CPU lacks.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Row {
    n: u32,
    engine: String,
    pub(super) kernel: String,
    threads: usize,
    pub(super) total: String,
    #[serde(deserialize_with = "possible_seconds")]
    pub(super) run_seconds: Vec<f64>,
}

/// Reads the times of the runs of a row.
fn possible_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let seconds = Vec::<f64>::deserialize(deserializer)?;
    if seconds.is_empty() || !seconds.iter().all(|run| POSSIBLE_SECONDS.contains(run)) {
        return Err(D::Error::custom("run_seconds must hold times from 1e-9 to 1e9"));
    }
    Ok(seconds)
}

/// The rows of an earlier comparison.
#[derive(Debug)]
pub(super) struct Earlier {
    rows: Vec<Row>,
}

impl Earlier {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let (exit, way_out) = io_way_out(error.kind());
                return Err(exit.because(format!("--against {}: {error}{way_out}", path.display())));
            }
        };
        match JsonDeserializer::from_slice(&bytes).into_iter().collect() {
            Ok(rows) => Ok(Self { rows }),
            Err(error) => Err(Exit::Usage.because(format!(
                "--against {}: it is not what 'nqueens compare --json' prints: {error}",
                path.display()
            ))),
        }
    }

    /// Returns the row that a configuration is compared with on a board: the last one of the same engine, kernel and
    /// number of threads, or else the only one of another kernel.
    pub(super) fn row(&self, size: BoardSize, configuration: Configuration) -> Option<&Row> {
        let Configuration { engine, kernel, threads } = configuration;
        let mut of_all_kernels = Vec::new();
        for row in &self.rows {
            if row.n == size.get() && row.engine == engine.name() && row.threads == threads {
                of_all_kernels.push(row);
            }
        }
        let of_kernel = of_all_kernels.iter().rfind(|row| row.kernel == kernel.name());
        match (of_kernel, &of_all_kernels[..]) {
            (Some(row), _) | (None, [row]) => Some(row),
            _ => None,
        }
    }
}
