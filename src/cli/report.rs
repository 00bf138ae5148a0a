//! Counts as text, CSV and JSON.

use std::io::{self, Write};

use nqueens::{Outcome, Published};
use serde::Serialize;

use super::bytes::readable;
use super::fields::{as_string, as_string_or_null, microseconds};
use super::options::TableFormat;
use super::record::Record;

/// The answer of `nqueens count`.
#[derive(Debug, Serialize)]
pub(super) struct CountReport {
    n: u32,
    #[serde(serialize_with = "as_string")]
    total: u128,
    #[serde(serialize_with = "as_string_or_null")]
    fundamental: Option<u128>,
    engine: &'static str,
    kernel: &'static str,
    threads: usize,
    units: usize,
    memory: Option<MemoryReport>,
    recounted: usize,
    journal: Option<Record>,
    seconds: f64,
    #[serde(serialize_with = "as_string")]
    published: Published,
}

/// Planned memory, in bytes.
#[derive(Debug, Serialize)]
struct MemoryReport {
    shared: u64,
    per_thread: u64,
    strategy: &'static str,
}

impl CountReport {
    pub(super) fn new(
        outcome: &Outcome,
        fundamental: Option<u128>,
        journal: Option<Record>,
    ) -> Self {
        Self {
            n: outcome.size.get(),
            total: outcome.total,
            fundamental,
            engine: outcome.engine.name(),
            kernel: outcome.kernel.name(),
            threads: outcome.threads,
            units: outcome.units,
            memory: outcome.memory.map(|planned| MemoryReport {
                shared: planned.shared,
                per_thread: planned.per_thread,
                strategy: planned.strategy,
            }),
            recounted: outcome.units_recounted,
            journal,
            seconds: microseconds(outcome.elapsed.as_secs_f64()),
            published: outcome.published,
        }
    }

    pub(super) fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { n, total, engine, kernel, threads, units, seconds, published, .. } = self;
        writeln!(out, "n            {n}")?;
        writeln!(out, "total        {total}")?;
        if let Some(fundamental) = self.fundamental {
            writeln!(out, "fundamental  {fundamental}")?;
        }
        writeln!(out, "published    {published}")?;
        writeln!(out, "engine       {engine}, kernel {kernel}")?;
        writeln!(out, "threads      {threads}")?;
        writeln!(out, "units        {units}")?;
        if let Some(MemoryReport { shared, per_thread, strategy }) = &self.memory {
            let (shared, per_thread) = (readable(*shared), readable(*per_thread));
            writeln!(out, "memory       {strategy}: {shared} + {threads} x {per_thread}")?;
        }
        if self.recounted > 0 {
            writeln!(out, "self-check   {} units recounted, no difference", self.recounted)?;
        }
        writeln!(out, "seconds      {seconds:.3}")?;
        self.journal.as_ref().map_or(Ok(()), |record| record.write_text(out))
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    pub(super) fn write_quiet(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.total)?;
        match self.fundamental {
            Some(fundamental) => writeln!(out, "{fundamental}"),
            None => Ok(()),
        }
    }
}

/// A row of `nqueens table`.
#[derive(Debug)]
pub(super) struct TableRow {
    pub(super) n: u32,
    pub(super) total: u128,
    pub(super) fundamental: u128,
    pub(super) seconds: f64,
    pub(super) published: Published,
    pub(super) published_fundamental: Published,
}

/// The same for serde: one column each, in the order of the text table.
#[derive(Serialize)]
struct FlatRow {
    n: u32,
    #[serde(serialize_with = "as_string")]
    total: u128,
    #[serde(serialize_with = "as_string")]
    fundamental: u128,
    seconds: f64,
    #[serde(serialize_with = "as_string")]
    published: Published,
}

impl TableRow {
    /// What differs from the published values: name, computed, published.
    pub(super) fn differences(&self) -> Vec<(&'static str, u128, u128)> {
        let columns = [
            ("total", self.total, self.published),
            ("fundamental", self.fundamental, self.published_fundamental),
        ];
        columns
            .into_iter()
            .filter_map(|(what, computed, published)| match published {
                Published::Differs { expected } => Some((what, computed, expected)),
                _ => None,
            })
            .collect()
    }

    /// One word for both columns.
    fn verdict(&self) -> Published {
        match (self.published, self.published_fundamental) {
            (Published::Agrees, differs @ Published::Differs { .. }) => differs,
            (total, _) => total,
        }
    }

    fn flat(&self) -> FlatRow {
        FlatRow {
            n: self.n,
            total: self.total,
            fundamental: self.fundamental,
            seconds: microseconds(self.seconds),
            published: self.verdict(),
        }
    }
}

/// Writes a table row by row, each flushed at once.
pub(super) enum TableWriter<W: Write> {
    Text(W),
    Csv(Box<csv::Writer<W>>),
    Json(W),
}

impl<W: Write> TableWriter<W> {
    pub(super) fn new(format: TableFormat, out: W) -> Self {
        match format {
            TableFormat::Text => Self::Text(out),
            TableFormat::Csv => Self::Csv(Box::new(csv::Writer::from_writer(out))),
            TableFormat::Json => Self::Json(out),
        }
    }

    /// CSV brings its header with the first row.
    pub(super) fn write_header(&mut self) -> io::Result<()> {
        let Self::Text(out) = self else { return Ok(()) };
        let [n, total, fundamental, seconds] = ["n", "total", "fundamental", "seconds"];
        writeln!(out, "{n:>2} {total:>21} {fundamental:>20} {seconds:>12}  published")?;
        out.flush()
    }

    pub(super) fn write_row(&mut self, row: &TableRow) -> io::Result<()> {
        match self {
            Self::Text(out) => {
                let TableRow { n, total, fundamental, seconds, .. } = row;
                let verdict = row.verdict();
                writeln!(out, "{n:>2} {total:>21} {fundamental:>20} {seconds:>12.3}  {verdict}")?;
                out.flush()
            }
            Self::Csv(out) => {
                out.serialize(row.flat())?;
                out.flush()
            }
            Self::Json(out) => {
                serde_json::to_writer(&mut *out, &row.flat())?;
                writeln!(out)?;
                out.flush()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(published: Published, published_fundamental: Published) -> TableRow {
        TableRow {
            n: 8,
            total: 92,
            fundamental: 12,
            seconds: 0.0,
            published,
            published_fundamental,
        }
    }

    #[test]
    fn a_row_that_differs_says_which_number() {
        let agrees = row(Published::Agrees, Published::Agrees);
        assert_eq!((agrees.verdict(), agrees.differences().len()), (Published::Agrees, 0));

        let differs = Published::Differs { expected: 11 };
        let wrong_fundamental = row(Published::Agrees, differs);
        assert_eq!(wrong_fundamental.verdict(), differs);
        assert_eq!(wrong_fundamental.differences(), [("fundamental", 12, 11)]);

        let wrong_total = row(Published::Differs { expected: 90 }, Published::Agrees);
        assert_eq!(wrong_total.differences(), [("total", 92, 90)]);
        let unknown = row(Published::Unknown, Published::Unknown);
        assert_eq!((unknown.verdict(), unknown.differences().len()), (Published::Unknown, 0));
    }
}
