//! The answer of a command, or a row of a table: its text and its fields, made at once.
//!
//! Counts are strings in JSON, because they pass 2^53 from n = 26. Times are seconds. docs/JSON.md describes the
//! fields.

use std::fmt::Display;
use std::io::{self, Write};

use crate::forecast::Approximate;
use crate::{Engine, Kernel, Pass, Plan};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::failure::Failure;
use crate::cli::print::format::{many, rounded};
use crate::cli::print::stdout::print;
use crate::cli::quote::escaped;

/// How an answer is printed. Without an option, it is printed as labels and values.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Format {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only the number
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
}

/// How the rows of a table are printed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RowFormat {
    /// Print comma-separated values with a header line
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

impl RowFormat {
    /// Returns whether rows are printed with their fields, for programs.
    pub(crate) fn has_fields(self) -> bool {
        self.csv || self.json
    }

    /// Prints a line for people, which is no row: nothing in CSV and JSON.
    pub(crate) fn remark(self, text: impl Display) -> Result<(), Failure> {
        if self.has_fields() {
            return Ok(());
        }
        print(|out| writeln!(out, "{text}"))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    rows: Vec<(&'static str, String)>,
    fields: Map<String, Value>,
    numbers: Vec<String>,
}

impl Report {
    /// Adds a line of the text, in which control characters are escaped.
    pub(crate) fn row(&mut self, label: &'static str, text: impl Display) -> &mut Self {
        self.rows.push((label, escaped(text)));
        self
    }

    /// Returns the labels and texts of the lines.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &(&'static str, String)> {
        self.rows.iter()
    }

    /// Adds a field of the object.
    pub(crate) fn field(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a line and a field of this name.
    pub(crate) fn entry(
        &mut self,
        name: &'static str,
        value: impl Into<Value> + Display,
    ) -> &mut Self {
        self.row(name, &value).field(name, value)
    }

    /// Adds a field for a number, and a field with `_error` in its name for half the width of its interval of
    /// 95 %, which is two standard errors; null if that is not known.
    pub(crate) fn approximate(&mut self, name: &str, number: Option<Approximate>) -> &mut Self {
        let mut value = None;
        let mut error = None;
        if let Some(number) = number {
            value = Some(rounded(number.value, 6));
            let half_width = 2.0 * number.standard_error;
            if half_width.is_finite() {
                error = Some(rounded(half_width, 6));
            }
        }
        self.field(name, value).field(&format!("{name}_error"), error)
    }

    /// Adds a number that `--quiet` prints too. Without a number there is no line, and the field is null.
    pub(crate) fn number(&mut self, name: &'static str, number: Option<u128>) -> &mut Self {
        if let Some(number) = number {
            self.bare(number).row(name, number);
        }
        self.field(name, number.map(|number| number.to_string()))
    }

    /// Adds a number that only `--quiet` prints.
    pub(crate) fn bare(&mut self, number: impl Display) -> &mut Self {
        self.numbers.push(number.to_string());
        self
    }

    /// Adds which engine counts, with which kernel, and on how many threads.
    pub(crate) fn engine(&mut self, engine: Engine, kernel: Kernel, threads: usize) -> &mut Self {
        self.row("engine", format_args!("{engine}, kernel {kernel}"))
            .field("engine", engine.name())
            .field("kernel", kernel.name())
            .entry("threads", threads)
    }

    /// Adds which pass it is. The text names only the second one.
    pub(crate) fn pass(&mut self, pass: Pass) -> &mut Self {
        if pass == Pass::Second {
            self.row("pass", "second, on mirrored units");
        }
        self.field("pass", pass.to_string())
    }

    /// Adds the plan of a journal.
    pub(crate) fn plan(&mut self, plan: &Plan) -> &mut Self {
        let engine = plan.engine();
        let hash = format!("{:08x}", plan.id());
        let units = many(plan.units(), "unit");
        let is_second = plan.pass() == Pass::Second;
        let second = if is_second { ", second pass" } else { "" };
        self.entry("n", plan.size().get())
            .row("plan", format_args!("engine {engine}, hash {hash}, {units}{second}"))
            .field("engine", engine.name())
            .field("plan", hash)
            .field("units", plan.units())
            .field("pass", plan.pass().to_string())
    }

    /// Adds the text and the numbers of another report below, and returns its object.
    pub(crate) fn put_below(&mut self, other: Self) -> Value {
        if !self.rows.is_empty() {
            self.row("", "");
        }
        self.rows.extend(other.rows);
        self.numbers.extend(other.numbers);
        Value::Object(other.fields)
    }

    /// Removes the text, because there is no answer yet.
    pub(crate) fn without_text(&mut self) {
        self.rows.clear();
    }

    /// Prints a row of a table.
    pub(crate) fn print_row(&self, format: RowFormat, is_first: bool) -> Result<(), Failure> {
        print(|out| {
            if format.json {
                return writeln!(out, "{}", json!(self.fields));
            }
            if format.csv {
                return self.write_csv(is_first, out);
            }
            for (_, text) in &self.rows {
                writeln!(out, "{text}")?;
            }
            Ok(())
        })
    }

    /// Writes the fields as a line of CSV, with a header above the first line, and without columns for lists.
    fn write_csv(&self, is_first: bool, out: &mut impl Write) -> io::Result<()> {
        let mut names = Vec::new();
        let mut values = Vec::new();
        for (name, value) in &self.fields {
            if !value.is_array() {
                names.push(name);
                values.push(value);
            }
        }
        let mut lines = csv::Writer::from_writer(out);
        if is_first {
            lines.write_record(names)?;
        }
        lines.serialize(values)?;
        lines.flush()
    }

    /// Writes an answer.
    pub(crate) fn write(self, format: Format, out: &mut impl Write) -> io::Result<()> {
        if format.json {
            return writeln!(out, "{}", Value::Object(self.fields));
        }
        if format.quiet {
            for number in &self.numbers {
                writeln!(out, "{number}")?;
            }
            return Ok(());
        }
        for (label, text) in &self.rows {
            let line = format!("{label:<13}{text}");
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_in_text_and_kept_in_json() {
        let mut report = Report::default();
        report.entry("journal", "q\u{202e}\u{61c}\x1b[2J".to_owned());

        let mut text = Vec::new();
        report.clone().write(Format::default(), &mut text).expect("memory takes it");
        assert_eq!(text, b"journal      q\\u{202e}\\u{61c}\\u{1b}[2J\n");

        let mut object = Vec::new();
        report.write(Format { json: true, quiet: false }, &mut object).expect("memory takes it");
        let wanted = "{\"journal\":\"q\u{202e}\u{61c}\\u001b[2J\"}\n";
        assert_eq!(object, wanted.as_bytes());
    }
}
