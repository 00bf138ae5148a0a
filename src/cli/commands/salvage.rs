//! `nqueens salvage FILE --into NEW`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use nqueens::journal::{JournalError, Salvaged, salvage};
use nqueens::{BoardSize, Engine, Error, Kernel, Plan, SplitRows};

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::{engine, file, pass};
use crate::cli::output::report::{Format, Report};
use crate::cli::output::stderr::{escaped, message};
use crate::cli::output::text::many;

/// Only the first broken places are printed one by one.
const PRINTED: usize = 5;

/// Copy the good lines of a damaged journal to a new one
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens salvage old.journal --into new.journal
  nqueens salvage old.journal --into new.journal --without 17,40..44")]
pub(crate) struct SalvageArgs {
    /// The journal; it is only read
    #[arg(value_name = "FILE")]
    path: PathBuf,

    /// The new journal; there must be no such file yet
    #[arg(long, value_name = "NEW", value_parser = file())]
    into: PathBuf,

    /// Leave these units out: numbers and ranges, for example 17,40..44 (the end excluded)
    #[arg(long, value_name = "UNITS", value_delimiter = ',', value_parser = unit_range)]
    without: Vec<Range<usize>>,

    /// Size of the board, if the first line is damaged
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    size: Option<BoardSize>,

    /// Engine of the journal, if the first line is damaged [default: the one that auto chooses]
    #[arg(long, value_name = "NAME", requires = "size", value_parser = engine())]
    engine: Option<Engine>,

    /// Split rows of the journal, if the first line is damaged and the engine is subtrees
    #[arg(long, value_name = "ROWS", requires = "size", allow_negative_numbers = true)]
    split_rows: Option<SplitRows>,

    /// The journal is one of a second count, if the first line is damaged
    #[arg(long, requires = "size")]
    second: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Units as they are written on the command line: `17` or `40..44`.
fn unit_range(text: &str) -> Result<Range<usize>, String> {
    let number = |text: &str| text.parse::<usize>().ok();
    let range = match text.split_once("..") {
        Some((first, end)) => number(first).zip(number(end)).map(|(first, end)| first..end),
        None => number(text).and_then(|unit| Some(unit..unit.checked_add(1)?)),
    };
    range.filter(|units| !units.is_empty()).ok_or_else(|| "write units as 17 or 40..44".to_owned())
}

impl SalvageArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let salvaged = self.salvage()?;
        let exit = judge(&salvaged);
        Ok(exit.answer(Format::new(self.json, false), report(salvaged, &self.into)))
    }

    fn salvage(&self) -> Result<Salvaged, Error> {
        let with = |plan| salvage(&self.path, &self.into, plan, &self.without);
        let Some(size) = self.size else { return with(None) };
        // Whole counts choose the engine that suits this machine, shards one that suits all.
        let automatic =
            [Kernel::detect(), Kernel::Portable].map(|kernel| Engine::auto(size, kernel));
        let [engine, other] = self.engine.map_or(automatic, |engine| [engine; 2]);
        let with = |engine| {
            with(Some(Plan::new(size, engine, self.split_rows).in_pass(pass(self.second))))
        };
        match with(engine) {
            Err(Error::Journal { error: JournalError::NotOfPlan { .. }, .. })
                if other != engine =>
            {
                with(other)
            }
            salvaged => salvaged,
        }
    }
}

/// Prints what was left out.
fn judge(salvaged: &Salvaged) -> Exit {
    for broken in salvaged.left_out.iter().take(PRINTED) {
        message!("line {}, {}: {}", broken.line, many(broken.bytes, "byte"), broken.what);
    }
    if let Some(more @ 1..) = salvaged.left_out.len().checked_sub(PRINTED) {
        message!("and {}", many(more, "more place"));
    }
    let [first, ..] = salvaged.disputed[..] else { return Exit::Done };
    message!(
        "{}, the first is {first}, recorded with two counts: a machine made errors; verify what \
         the same machine counted elsewhere",
        many(salvaged.disputed.len(), "unit")
    );
    Exit::Failed
}

fn report(salvaged: Salvaged, into: &Path) -> Report {
    let Salvaged { plan, finished, lines_kept, left_out, disputed, .. } = salvaged;
    let kept = finished.units_done();
    let (kept_units, kept_lines) = (many(kept, "unit"), many(lines_kept, "line"));
    let mut report = Report::default();
    report
        .plan(&plan)
        .row("kept", format_args!("{kept_units}, {kept_lines}"))
        .field("kept", kept)
        .field("lines_kept", lines_kept)
        .row("left out", many(left_out.len(), "place"))
        .field("places_left_out", left_out.len())
        .field("disputed", disputed)
        .row("to count", many(plan.units() - kept, "unit"))
        .entry("journal", escaped(into.display()));
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_numbers_and_ranges() {
        assert_eq!(unit_range("17"), Ok(17..18));
        assert_eq!(unit_range("40..44"), Ok(40..44));
        for bad in ["", "-1", "4..4", "5..4", "..4", "4..", "x", "18446744073709551615"] {
            assert!(unit_range(bad).is_err(), "{bad}");
        }
    }
}
