//! `nqueens salvage FILE --into NEW`.

use std::path::PathBuf;
use std::slice::from_ref;

use clap::Args;
use nqueens::Error;
use nqueens::record::{JournalError, Record, Units, is_locked};

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::many;
use crate::cli::report::{Report, TextOrJson};
use crate::cli::stderr::{escaped, message, print_first};
use crate::cli::values::{file_in_folder, range, whole_number};

/// Copy the good lines of a damaged journal to a new one
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens salvage old.journal --into new.journal
  nqueens salvage old.journal --into new.journal --without 17,40-43")]
pub(crate) struct SalvageArgs {
    /// The journal; it is only read
    #[arg(value_name = "FILE")]
    path: PathBuf,

    /// The new journal; there must be no such file yet
    #[arg(long, value_name = "NEW", value_parser = file_in_folder())]
    into: PathBuf,

    #[command(flatten)]
    format: TextOrJson,

    /// Leave these units out: numbers and ranges, for example 17,40-43
    #[arg(long, value_name = "UNITS", value_delimiter = ',', value_parser = units)]
    without: Vec<Units>,
}

/// Units as they are written on the command line: `17`, `40-43` or `40..=43`.
fn units(text: &str) -> Result<Units, String> {
    Ok(Units::from_iter([range(text, whole_number)?]))
}

impl SalvageArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if is_locked(&self.path) {
            let in_use = Error::Journal { path: self.path, error: JournalError::InUse };
            return Err(in_use.into());
        }
        let Some(record) = Record::read(from_ref(&self.path))? else {
            let path = self.path.display();
            return Err(Exit::Usage.because(format!("{path}: nothing is recorded in it")));
        };
        let without = self.without.into_iter().fold(Units::new(), |sum, units| sum | units);
        let saved = record.save(&self.into, &without)?;
        let unit = |error: &Error| match error {
            Error::CountsDiffer { unit, .. } => Some(*unit),
            _ => None,
        };
        let disputed: Vec<usize> = record.left_out.iter().filter_map(unit).collect();
        let exit = judge(&record, disputed.len());
        let mut report = report(&record, &saved, disputed);
        report.entry("journal", escaped(self.into.display()));
        Ok(exit.answer(self.format, report))
    }
}

/// Prints what is left out.
fn judge(record: &Record, disputed: usize) -> Exit {
    print_first(record.left_out.iter().map(|error| format!("left out: {error}")));
    if disputed == 0 {
        return Exit::Done;
    }
    message!(
        "{} recorded with two counts: a machine made errors; verify what the same machine counted \
         elsewhere",
        many(disputed, "unit")
    );
    Exit::Failed
}

fn report(record: &Record, saved: &Record, disputed: Vec<usize>) -> Report {
    let kept = saved.units_done();
    let lines = record.left_out.len() - disputed.len();
    let asked = record.units_done() - kept;
    let units = many(disputed.len() + asked, "unit");
    let mut report = Report::default();
    report
        .plan(&record.plan)
        .row("kept", many(kept, "unit"))
        .field("kept", kept)
        .row("left out", format_args!("{}, {units}", many(lines, "line")))
        .field("places_left_out", lines)
        .field("disputed", disputed)
        .field("without", asked)
        .row("to count", many(record.plan.units() - kept, "unit"));
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_numbers_and_ranges() {
        assert_eq!(units("17"), Ok(Units::from_iter([17])));
        assert_eq!(units("18446744073709551615"), Ok(Units::from_iter([usize::MAX])));
        for range in ["40-43", "40..=43"] {
            assert_eq!(units(range), Ok(Units::from_iter([40..=43])));
        }
        for bad in ["", "-1", "5-4", "40..44", "-4", "4-", "x", "18446744073709551616", "1-2-3"] {
            assert!(units(bad).is_err(), "{bad}");
        }
    }
}
