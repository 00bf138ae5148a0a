//! Tables whose rows are written one by one: as text, CSV or JSON.

use std::fmt::Display;
use std::io::{self, StdoutLock, Write, stdout};

use clap::Args;
use serde::Serialize;
use serde_json::Value;

/// How the rows of a table are printed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RowFormat {
    /// Print comma-separated values with a header line
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Writes rows, each flushed at once.
pub(crate) struct RowWriter {
    format: RowFormat,
    out: StdoutLock<'static>,
    has_header: bool,
}

impl RowWriter {
    /// Writes what people read above the rows. CSV gets its header with the first row.
    pub(crate) fn begin(format: RowFormat, heading: impl Display) -> io::Result<Self> {
        let mut writer = Self { format, out: stdout().lock(), has_header: false };
        writer.remark(heading)?;
        Ok(writer)
    }

    /// Writes a line for people, which is no row: nothing in CSV and JSON.
    pub(crate) fn remark(&mut self, text: impl Display) -> io::Result<()> {
        if !self.format.csv && !self.format.json {
            writeln!(self.out, "{text}")?;
        }
        self.out.flush()
    }

    /// Writes a row: as it is displayed, or its fields. CSV has no place for those that are lists.
    pub(crate) fn write(&mut self, row: &(impl Serialize + Display)) -> io::Result<()> {
        let object = serde_json::to_value(row)?;
        if self.format.csv {
            let mut fields = object.as_object().cloned().unwrap_or_default();
            fields.retain(|_, value| !value.is_array());
            let mut lines = csv::Writer::from_writer(&mut self.out);
            if !self.has_header {
                lines.write_record(fields.keys())?;
                self.has_header = true;
            }
            lines.write_record(fields.values().map(in_csv))?;
            lines.flush()?;
        } else if self.format.json {
            writeln!(self.out, "{object}")?;
        } else {
            writeln!(self.out, "{row}")?;
        }
        self.out.flush()
    }
}

fn in_csv(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        number => number.to_string(),
    }
}
