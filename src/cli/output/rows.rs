//! Tables whose rows are written one by one: as text, CSV or JSON.

use std::io::{self, Write};

use serde::Serialize;

/// How the rows of a table are written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowFormat {
    Text,
    Csv,
    Json,
}

impl RowFormat {
    /// The format of the flags `--csv` and `--json`, which exclude each other.
    pub(crate) fn new(csv: bool, json: bool) -> Self {
        match (csv, json) {
            (true, _) => Self::Csv,
            (_, true) => Self::Json,
            _ => Self::Text,
        }
    }
}

/// A row: its fields are the columns of CSV and the fields of JSON.
pub(crate) trait Row: Serialize {
    /// The line above the text table.
    fn header() -> String;
    /// The line of the text table.
    fn line(&self) -> String;
}

/// Writes rows, each flushed at once.
pub(crate) enum RowWriter<W: Write> {
    Text(W),
    Csv(Box<csv::Writer<W>>),
    Json(W),
}

impl<W: Write> RowWriter<W> {
    /// Writes the header of a text table; CSV brings its own with the first row.
    pub(crate) fn begin<R: Row>(format: RowFormat, mut out: W) -> io::Result<Self> {
        Ok(match format {
            RowFormat::Text => {
                writeln!(out, "{}", R::header())?;
                out.flush()?;
                Self::Text(out)
            }
            RowFormat::Csv => Self::Csv(Box::new(csv::Writer::from_writer(out))),
            RowFormat::Json => Self::Json(out),
        })
    }

    pub(crate) fn write(&mut self, row: &impl Row) -> io::Result<()> {
        match self {
            Self::Text(out) => {
                writeln!(out, "{}", row.line())?;
                out.flush()
            }
            Self::Csv(out) => {
                out.serialize(row)?;
                out.flush()
            }
            Self::Json(out) => {
                serde_json::to_writer(&mut *out, row)?;
                writeln!(out)?;
                out.flush()
            }
        }
    }
}
