//! Tables whose rows are written one by one: as text, Markdown, CSV or JSON.

use std::io::{self, Write};

use serde::Serialize;

/// How the rows of a table are written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowFormat {
    Text,
    Markdown,
    Csv,
    Json,
}

/// A column of a table that people read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// Title and width of words.
    Left(&'static str, usize),
    /// Title and width of numbers.
    Right(&'static str, usize),
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Left(title, _) | Self::Right(title, _) => title,
        }
    }

    /// Words stand two spaces from the column before, numbers one.
    fn padded(self, cell: &str) -> String {
        match self {
            Self::Left(_, width) => format!("  {cell:<width$}"),
            Self::Right(_, width) => format!(" {cell:>width$}"),
        }
    }
}

/// A row: its fields are the columns of CSV and the fields of JSON.
pub(crate) trait Row: Serialize {
    /// The columns of text and Markdown.
    const COLUMNS: &[Column];

    /// The texts in these columns.
    fn cells(&self) -> Vec<String>;

    /// What is written as JSON: the same fields, or more.
    fn object(&self) -> impl Serialize {
        self
    }
}

/// Writes rows, each flushed at once.
pub(crate) enum RowWriter<W: Write> {
    Text(W),
    Markdown(W),
    Csv(Box<csv::Writer<W>>),
    Json(W),
}

impl<W: Write> RowWriter<W> {
    /// Writes what people read above the rows: lines that explain them, and the titles. CSV brings
    /// its own header with the first row.
    pub(crate) fn begin<R: Row>(
        format: RowFormat,
        notes: &[String],
        mut out: W,
    ) -> io::Result<Self> {
        let titles: Vec<&str> = R::COLUMNS.iter().map(|column| column.title()).collect();
        match format {
            RowFormat::Text => {
                notes.iter().try_for_each(|note| writeln!(out, "{note}"))?;
                writeln!(out, "{}", line::<R>(&titles))?;
                out.flush()?;
                Ok(Self::Text(out))
            }
            RowFormat::Markdown => {
                if !notes.is_empty() {
                    writeln!(out, "{}.\n", notes.join("; "))?;
                }
                writeln!(out, "| {} |", titles.join(" | "))?;
                let rules = R::COLUMNS.iter().map(|column| match column {
                    Column::Left(..) => "---|",
                    Column::Right(..) => "--:|",
                });
                writeln!(out, "|{}", rules.collect::<String>())?;
                out.flush()?;
                Ok(Self::Markdown(out))
            }
            RowFormat::Csv => Ok(Self::Csv(Box::new(csv::Writer::from_writer(out)))),
            RowFormat::Json => Ok(Self::Json(out)),
        }
    }

    pub(crate) fn write<R: Row>(&mut self, row: &R) -> io::Result<()> {
        match self {
            Self::Text(out) => {
                writeln!(out, "{}", line::<R>(&row.cells()))?;
                out.flush()
            }
            Self::Markdown(out) => {
                writeln!(out, "| {} |", row.cells().join(" | "))?;
                out.flush()
            }
            Self::Csv(out) => {
                out.serialize(row)?;
                out.flush()
            }
            Self::Json(out) => {
                serde_json::to_writer(&mut *out, &row.object())?;
                writeln!(out)?;
                out.flush()
            }
        }
    }
}

/// A line of the text table.
fn line<R: Row>(cells: &[impl AsRef<str>]) -> String {
    let cells = R::COLUMNS.iter().zip(cells).map(|(column, cell)| column.padded(cell.as_ref()));
    let line: String = cells.collect();
    // The first column needs no space before it.
    line[1..].trim_end().to_owned()
}
