//! `nqueens verify FILE|FOLDER...`.

use std::collections::BTreeSet;

use clap::Args;
use nqueens::record::{Record, RecordedCount};
use nqueens::verify::{Verdict, choose_units, verify};
use nqueens::{Cancel, Error};
use rayon::prelude::*;
use serde_json::json;

use crate::cli::args::MachineArgs;
use crate::cli::bad_lines::{damaged_lines, lines_of, print_commands};
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::many;
use crate::cli::journals::{self, JournalsArgs, check};
use crate::cli::progress::Work;
use crate::cli::report::{Format, Report};
use crate::cli::session::Session;
use crate::cli::stderr::{message, print_first};
use crate::cli::values::{amount, seed};

/// Check journals: recount some of their units by another method
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print the bare number of differences")))]
#[command(after_help = "\
Examples:
  nqueens verify q22.journal               recounts 200 units
  nqueens verify q24 --units 1000 -t 8     more of them, on 8 threads")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    format: Format,

    #[command(flatten)]
    journals: JournalsArgs,

    /// Number of units to recount, chosen at random
    #[arg(long, value_name = "K", default_value = "200", allow_negative_numbers = true)]
    #[arg(value_parser = amount)]
    units: usize,

    /// Seed of the random choice; the seed that an earlier check printed chooses the same units, unless the journals
    /// have grown
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = seed)]
    seed: Option<u64>,

    #[command(flatten)]
    machine: MachineArgs,
}

impl VerifyArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let session = Session::new(&self.machine)?;
        let record = self.journals.read_to_verify(self.format)?;
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        let units = choose_units(&record, self.units, seed);
        let Session { cancel, progress, .. } = &session;
        progress.begin("verify", [0, units.len()], Work::Steps("units"));
        let counted = || progress.advance(1);
        let (verdict, disputed) = session.run(|| {
            let verdict = verify(&record, &units, &counted, cancel)?;
            Ok((verdict, wrong_lines_of_disputed(&record, cancel)?))
        })?;
        let mut wrong = wrong_lines(&record, &verdict);
        wrong.extend(disputed);
        let exit = judge(&record, units.len(), &verdict, &wrong);
        Ok(exit.answer(self.format, report(&record, &verdict, &wrong, seed)))
    }
}

/// A line with a wrong count, and the count that backtracking finds.
#[derive(Clone)]
struct WrongLine {
    line: RecordedCount,
    recounted: u64,
}

/// Looks up the lines that hold the counts that differ.
fn wrong_lines(record: &Record, verdict: &Verdict) -> Vec<WrongLine> {
    let units: Vec<usize> = verdict.differences.iter().map(|difference| difference.unit).collect();
    let mut wrong = Vec::new();
    for line in record.find(&units) {
        let found = verdict.differences.iter().find(|difference| difference.unit == line.unit);
        let recounted = found.expect("it was looked up").recounted;
        wrong.push(WrongLine { line, recounted });
    }
    wrong
}

/// Recounts the units with two different counts on the current rayon pool, and returns the lines with wrong ones. After
/// a cancellation, the units that were not recounted are left out.
fn wrong_lines_of_disputed(record: &Record, cancel: &Cancel) -> Result<Vec<WrongLine>, Error> {
    let wrong_lines = |error: &Error| -> Result<Vec<WrongLine>, Error> {
        let Error::CountsDiffer { lines } = error else { return Ok(Vec::new()) };
        let recounted = match record.plan().recount(lines[0].unit, cancel) {
            Ok(count) => count,
            Err(error) if error.is_cancelled() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let wrong = lines.iter().filter(|line| line.count != recounted);
        Ok(wrong.map(|line| WrongLine { line: line.clone(), recounted }).collect())
    };
    let wrong: Result<Vec<_>, Error> = record.left_out.par_iter().map(wrong_lines).collect();
    Ok(wrong?.concat())
}

/// Prints what is wrong or missing, and returns the exit code.
fn judge(record: &Record, chosen: usize, verdict: &Verdict, wrong: &[WrongLine]) -> Exit {
    print_first(wrong.iter().map(|WrongLine { line, recounted }| {
        format!("unit {} is recorded with {line}, backtracking counts {recounted}", line.unit)
    }));
    print_commands(
        damaged_lines(&record.left_out),
        lines_of(wrong.iter().map(|wrong| &wrong.line)),
    );
    let exit = check(record);
    if !wrong.is_empty() || !verdict.differences.is_empty() {
        return Exit::Failed;
    }
    if record.sum().units == 0 {
        message!("nothing was checked: no unit is finished");
        return exit.and(Exit::Stopped);
    }
    let recounted = verdict.recounted;
    if recounted < chosen {
        let chosen = many(chosen, "unit");
        message!("stopped after recounting {recounted} of {chosen}: no difference so far");
        return exit.and(Exit::Stopped);
    }
    if record.total().is_none() {
        let found = if recounted > 0 { "no difference so far; " } else { "" };
        message!("{found}the count is not finished");
    }
    exit
}

/// Returns the part of the finished units that is right, in percent with two decimals.
///
/// It is rounded down, because the check shows no more than this part. It stays below 100, because a sample leaves room
/// for a wrong unit.
fn percent_right(undetected_part: f64) -> String {
    let percent = 100.0 * (1.0 - undetected_part);
    let rounded_down = (100.0 * percent).floor() / 100.0;
    format!("{:.2}", rounded_down.min(99.99))
}

fn report(record: &Record, verdict: &Verdict, wrong: &[WrongLine], seed: u64) -> Report {
    let Verdict { recounted, differences, .. } = verdict;
    let undetected_part = verdict.undetected_part(record.sum().units);
    let units_of_lines = wrong.iter().map(|wrong| wrong.line.unit);
    let differing: BTreeSet<usize> =
        differences.iter().map(|difference| difference.unit).chain(units_of_lines).collect();
    let found = match differing.len() {
        0 if *recounted == 0 => String::new(),
        0 => ": no difference".to_owned(),
        differing => format!(": {differing} DIFFER"),
    };
    let evidence = if !differing.is_empty() {
        "against the count: at least one of its units is wrong".to_owned()
    } else if *recounted == 0 {
        "none: no unit was recounted".to_owned()
    } else if undetected_part == 0.0 {
        "every finished unit was counted twice, in two ways".to_owned()
    } else {
        let right = percent_right(undetected_part);
        format!("at least {right} % of the finished units are right, with 95 % confidence")
    };
    let difference = |WrongLine { line, recounted }: &WrongLine| {
        json!({
            "unit": line.unit,
            "recorded": line.count.to_string(),
            "recounted": recounted.to_string(),
            "file": line.path.display().to_string(),
            "line": line.line,
        })
    };
    let finished = many(record.sum().units, "unit");
    let is_whole = record.sum().units > 0
        && record.left_out.is_empty()
        && record.files().iter().all(|file| file.cut_off == 0);
    let as_written = if is_whole { ", every line as it was written" } else { "" };
    let mut report = journals::report(record);
    report
        .row("finished", format_args!("{finished}{as_written}"))
        .row(
            "recounted",
            format_args!("{recounted} of {finished} by backtracking, seed {seed}{found}"),
        )
        .field("recounted", *recounted)
        .bare(differing.len())
        .field("seed", seed.to_string())
        .field("differences", wrong.iter().map(difference).collect::<Vec<_>>())
        .row("evidence", evidence)
        .field("undetected_part", undetected_part);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest part of wrong units that a check of this many units can have missed.
    fn undetected_part(recounted: u32) -> f64 {
        1.0 - 0.05f64.powf(1.0 / f64::from(recounted))
    }

    #[test]
    fn the_part_that_is_right_is_rounded_down_and_never_100() {
        for (recounted, text) in [
            (1, "5.00"),
            (200, "98.51"),
            // 99.0064 % is more than 99.00 %, and less than 99.01 %.
            (300, "99.00"),
            // 99.9950 %.
            (60_000, "99.99"),
            (u32::MAX, "99.99"),
        ] {
            assert_eq!(percent_right(undetected_part(recounted)), text, "{recounted}");
        }
        // Rounding of the last bit must not make it 100.
        assert_eq!(percent_right(f64::MIN_POSITIVE), "99.99");
    }

    #[test]
    fn the_part_that_is_printed_is_never_larger_than_the_true_one() {
        for recounted in 1..100_000 {
            let part = undetected_part(recounted);
            let printed: f64 = percent_right(part).parse().expect("a number");
            assert!(printed / 100.0 <= 1.0 - part, "{recounted}: {printed}");
        }
    }
}
