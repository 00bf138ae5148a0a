//! `nqueens salvage FILE --into NEW`.

use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use nqueens::journal::{Salvaged, salvage};
use nqueens::{BoardSize, Engine, Kernel, Plan, SplitRows};
use serde::Serialize;

use super::answer::print;
use super::exit::{Exit, Failure};
use super::fields::write_json;
use super::talk::{plain, say};

/// So many places are told one by one.
const TOLD: usize = 5;

/// The arguments; their doc comments are the help text.
#[derive(Debug, Args)]
pub(super) struct SalvageArgs {
    /// The journal; it is only read
    #[arg(value_name = "FILE")]
    path: PathBuf,

    /// The new journal; there must be no such file yet
    #[arg(long, value_name = "NEW")]
    into: PathBuf,

    /// Leave these units out: numbers and ranges, for example 17,40..44 (the end excluded)
    #[arg(long, value_name = "UNITS", value_delimiter = ',')]
    without: Vec<UnitRange>,

    /// Size of the board, if the first line is damaged
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    size: Option<BoardSize>,

    /// Engine of the journal, if the first line is damaged [default: the one that auto chooses]
    #[arg(long, value_name = "NAME", requires = "size")]
    engine: Option<String>,

    /// Split rows of the journal, if the first line is damaged and the engine is subtrees
    #[arg(long, value_name = "ROWS", requires = "size", allow_negative_numbers = true)]
    split_rows: Option<SplitRows>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug)]
pub(crate) struct SalvageOptions {
    path: PathBuf,
    into: PathBuf,
    without: Vec<Range<usize>>,
    /// Used if the first line is damaged.
    plan: Option<Plan>,
    json: bool,
}

/// `17` or `40..44`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnitRange(Range<usize>);

impl FromStr for UnitRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|unit| *unit < usize::MAX);
        let range = match text.split_once("..") {
            Some((start, end)) => number(start).zip(number(end)).map(|(start, end)| start..end),
            None => number(text).map(|unit| unit..unit + 1),
        };
        let range = range.filter(|range| !range.is_empty());
        range.map(Self).ok_or_else(|| "write units as 17 or 40..44".to_owned())
    }
}

impl SalvageArgs {
    pub(super) fn checked(self) -> Result<SalvageOptions, Failure> {
        let engine = self.engine.as_deref().map(str::parse::<Engine>).transpose();
        let engine = engine.map_err(|error| Failure::Usage(format!("--engine: {error}")))?;
        let plan = self.size.map(|size| {
            let engine = engine.unwrap_or_else(|| Engine::auto(size, Kernel::detect()));
            Plan::new(size, engine, self.split_rows)
        });
        let without = self.without.into_iter().map(|units| units.0).collect();
        let Self { path, into, json, .. } = self;
        Ok(SalvageOptions { path, into, without, plan, json })
    }
}

pub(super) fn run(options: SalvageOptions) -> Result<Exit, Failure> {
    let SalvageOptions { path, into, without, plan, json } = options;
    let salvaged = salvage(&path, &into, plan, &without)?;
    for broken in salvaged.left_out.iter().take(TOLD) {
        say(format_args!("line {}, {} bytes: {}", broken.line, broken.bytes, broken.what));
    }
    if let Some(more @ 1..) = salvaged.left_out.len().checked_sub(TOLD) {
        say(format_args!("and {more} more places"));
    }
    let mut found = Exit::Done;
    if let [first, ..] = salvaged.disputed[..] {
        say(format_args!(
            "{} units, the first is {first}, are recorded with two counts: a machine made errors; \
             verify what the same machine counted elsewhere",
            salvaged.disputed.len()
        ));
        found = Exit::Failed;
    }
    let report = SalvageReport::new(&salvaged, plain(into.display()));
    Ok(print(found, |out| match json {
        true => write_json(out, &report),
        false => report.write_text(out),
    }))
}

#[derive(Debug, Serialize)]
struct SalvageReport {
    n: u32,
    engine: &'static str,
    plan: String,
    units: usize,
    kept: usize,
    lines_kept: usize,
    places_left_out: usize,
    disputed: Vec<usize>,
    journal: String,
}

impl SalvageReport {
    fn new(salvaged: &Salvaged, journal: String) -> Self {
        let Salvaged { plan, finished, .. } = salvaged;
        Self {
            n: plan.size().get(),
            engine: plan.engine().name(),
            plan: format!("{:08x}", plan.hash()),
            units: plan.units(),
            kept: finished.units_done(),
            lines_kept: salvaged.lines_kept,
            places_left_out: salvaged.left_out.len(),
            disputed: salvaged.disputed.clone(),
            journal,
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { n, engine, plan, units, kept, lines_kept, places_left_out, .. } = self;
        writeln!(out, "n            {n}")?;
        writeln!(out, "plan         engine {engine}, hash {plan}, {units} units")?;
        writeln!(out, "kept         {kept} units, {lines_kept} lines")?;
        writeln!(out, "left out     {places_left_out} places")?;
        writeln!(out, "to count     {} units", units - kept)?;
        writeln!(out, "journal      {}", self.journal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_numbers_and_ranges() {
        let range = |text: &str| text.parse::<UnitRange>().map(|units| units.0);
        assert_eq!(range("17"), Ok(17..18));
        assert_eq!(range("40..44"), Ok(40..44));
        for bad in ["", "-1", "4..4", "5..4", "..4", "4..", "x", "18446744073709551615"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }
}
