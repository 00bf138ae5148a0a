//! `nqueens verify FILE|FOLDER...`.

use std::hash::{BuildHasher as _, RandomState};

use crate::record::Difference;
use crate::verify::Verdict;
use clap::Args;
use serde_json::{Value, json};

use crate::cli::args::MachineArgs;
use crate::cli::commands::journals::{Journals, JournalsArgs, votes, votes_text};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::print::format::{many, percent};
use crate::cli::print::report::Report;
use crate::cli::progress::Work;
use crate::cli::session::Session;
use crate::cli::stderr::{message, print_first};

/// Check journals: recount some of their units by a simple search
///
/// Units of engine colours are recounted by a search of each colour, which shares with the engine only the split into
/// colours, the units, and how often they count each solution. Units of other engines are recounted by backtracking.
#[derive(Debug, Args)]
#[command(mut_arg("quiet", |quiet| quiet.help("Print only the number of differences")))]
#[command(after_help = "\
Examples:
  nqueens verify q22                       recounts 200 units
  nqueens verify q24 --units 1000 -t 8     more of them, on 8 threads")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    journals: JournalsArgs,

    /// Number of units to recount, chosen at random
    #[arg(long, value_name = "K", default_value = "200")]
    units: usize,

    /// Seed of the random choice
    ///
    /// The seed that an earlier check printed chooses the same units, unless the journals have grown.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    #[command(flatten)]
    machine: MachineArgs,
}

impl VerifyArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let records = self.journals.read()?;
        let journals = Journals::new(&records, &self.journals)?;
        let memory = records.all()[0].plan().recount_memory();
        let session = Session::new(&self.machine, &[memory])?;
        let seed = self.seed.unwrap_or_else(new_seed);
        session.progress.begin("verify", [0, 0], Work::Steps("units"));
        let show = |recounted, all| session.progress.note(recounted, all);
        let verdict =
            session.run(|| records.verify_here(self.units, seed, &show, &session.cancel))?;
        let exit = judge(&verdict, &journals);
        Ok(exit.answer(self.journals.format, report(&verdict, &journals, seed)))
    }
}

/// Returns a seed that differs from run to run. It has at most ten digits, so that it can be copied by hand.
fn new_seed() -> u64 {
    // The keys of a hasher are random.
    RandomState::new().hash_one("seed") >> 32
}

/// Prints what is wrong or missing, and returns the exit code.
fn judge(verdict: &Verdict, journals: &Journals<'_>) -> Exit {
    let mut messages = Vec::new();
    for difference in &verdict.differences {
        let Difference { unit, pass, votes, .. } = difference;
        let recorded = votes_text(votes);
        let recounted = recounted_text(difference);
        messages.push(format!(
            "unit {unit}: the {pass} pass has {recorded}, the recount finds {recounted}"
        ));
    }
    print_first(messages.into_iter());
    let exit = journals.judge();
    if verdict.wrong_units_in_use() > 0 {
        return Exit::Failed;
    }
    if verdict.remaining > 0 {
        let recounted = verdict.disputed + verdict.recounted;
        let all_units = many(recounted + verdict.remaining, "unit");
        message!("stopped after recounting {recounted} of {all_units}: no difference so far");
        return exit.and(Exit::Stopped);
    }
    if verdict.finished == 0 {
        message!("nothing was checked: no unit is finished");
        return exit.and(Exit::Stopped);
    }
    if journals.total().is_none() {
        let is_without_difference = verdict.recounted > 0 && verdict.differences.is_empty();
        let found = if is_without_difference { "no difference so far; " } else { "" };
        message!("{found}the count is not finished");
    }
    if journals.both.is_some() && !journals.is_complete() {
        journals.print_what_is_missing();
        return exit.and(Exit::Stopped);
    }
    exit
}

fn report(verdict: &Verdict, journals: &Journals<'_>, seed: u64) -> Report {
    let Verdict { recounted, disputed, .. } = *verdict;
    let finished = many(verdict.finished, "unit");
    let method = journals.counts[0].record.plan().recount_method();
    let mut text = format!("{recounted} of {finished} by {method}, seed {seed}");
    if disputed > 0 {
        text += &format!(", and {} with different numbers", many(disputed, "unit"));
    }
    let wrong_units = verdict.wrong_units_in_use();
    if wrong_units > 0 {
        text += &format!(": {wrong_units} DIFFER");
    } else if recounted > 0 && verdict.differences.is_empty() {
        text += ": no difference";
    } else if recounted > 0 {
        text += ": no wrong number is used";
    }
    let is_as_written = journals.left_out.is_empty() && verdict.finished > 0;
    let as_written = if is_as_written { ", every line as it was written" } else { "" };
    let differences: Vec<Value> = verdict.differences.iter().map(difference).collect();
    let mut report = journals.report();
    report
        .row("finished", format_args!("{finished}{as_written}"))
        .row("recounted", text)
        .field("recounted", recounted)
        .bare(wrong_units)
        .field("seed", seed.to_string())
        .field("differences", differences)
        .row("evidence", evidence(verdict))
        .field("undetected_part", verdict.undetected_part());
    report
}

/// Returns what the check says of the count.
fn evidence(verdict: &Verdict) -> String {
    if verdict.wrong_units_in_use() > 0 {
        return "against the count: at least one of its units is wrong".to_owned();
    }
    if verdict.recounted == 0 {
        return "none: no unit was recounted".to_owned();
    }
    if verdict.recounted == verdict.finished {
        return "every finished unit was recounted, with equal counts".to_owned();
    }
    let right = percent_right(verdict.undetected_part());
    format!("at least {right} % of the finished units are right, with 95 % confidence")
}

/// Returns a unit with a wrong number as the report has it.
fn difference(difference: &Difference) -> Value {
    json!({
        "unit": difference.unit,
        "pass": difference.pass.to_string(),
        "recorded": votes(&difference.votes),
        "recounted": recounted_text(difference),
    })
}

/// Returns the count that the recount has found.
fn recounted_text(difference: &Difference) -> String {
    difference.recounted.expect("every difference of a check was recounted").to_string()
}

/// Returns the part of the finished units that is right, in percent. It is rounded down, because the check shows no
/// more than this part, and never the whole, because a sample leaves room for a wrong unit.
#[expect(clippy::cast_possible_truncation, reason = "a million at most")]
fn percent_right(undetected_part: f64) -> String {
    let millionths = (1e6 * (1.0 - undetected_part)) as u128;
    percent(millionths.min(999_999), 1_000_000)
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
