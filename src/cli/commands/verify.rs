//! `nqueens verify FILE|FOLDER...`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;

use crate::record::{Record, Votes};
use crate::verify::{Verdict, choose_units, disputed_units, finished_units, verify};
use crate::{Error, WhichCount};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::commands::merged::{Merged, votes, votes_text};
use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::input::args::MachineArgs;
use crate::cli::input::journals::JournalsArgs;
use crate::cli::input::session::Session;
use crate::cli::output::format::many;
use crate::cli::output::progress::Work;
use crate::cli::output::report::Report;
use crate::cli::output::stderr::{message, print_first};

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
        if records.all().is_empty() {
            return Err(self.journals.nothing_recorded());
        }
        let session = Session::new(&self.machine)?;
        let merged = Merged::new(&records, self.journals.shards)?;
        let seed = self.seed.unwrap_or_else(new_seed);
        let units = choose_units(&merged.records, self.units, seed);
        let all_units = disputed_units(&merged.records).len() + units.len();
        session.progress.begin("verify", [0, all_units], Work::Steps("units"));
        let findings = session.run(|| recount(&merged.records, &units, &session))?;
        let exit = findings.judge(&merged, all_units, &self.journals.paths);
        let is_as_written = records.left_out().is_empty();
        Ok(exit.answer(self.journals.format, findings.report(&merged, is_as_written, seed)))
    }
}

/// Returns a seed that differs from run to run. It has at most ten digits, so that it can be copied by hand.
fn new_seed() -> u64 {
    // The keys of a hasher are random.
    RandomState::new().hash_one("seed") >> 32
}

/// A unit for which journals of a count hold a wrong number.
struct WrongUnit {
    unit: usize,
    which: WhichCount,
    /// All numbers that the journals of the count hold, each with its hosts.
    votes: Vec<Votes>,
    recounted: u64,
    /// Whether the count uses the wrong number. If it does not, more lines have settled the unit, or it is missing.
    is_used: bool,
}

/// What a check has found.
struct Findings<'a> {
    records: &'a [&'a Record],
    verdict: Verdict,
    /// The units with a wrong number, among those that were recounted, in increasing order.
    wrong: Vec<WrongUnit>,
}

/// Recounts units on the current rayon pool, and all units with different numbers.
fn recount<'a>(
    records: &'a [&'a Record],
    units: &[usize],
    session: &Session,
) -> Result<Findings<'a>, Error> {
    let counted = || session.progress.advance(1);
    let verdict = verify(records, units, &counted, &session.cancel)?;
    let wrong = wrong_units(records, &verdict);
    Ok(Findings { records, verdict, wrong })
}

impl Findings<'_> {
    /// Returns the number of units of which a count uses a wrong number.
    fn wrong_in_use(&self) -> usize {
        let used = self.wrong.iter().filter(|wrong| wrong.is_used);
        used.map(|wrong| wrong.unit).collect::<BTreeSet<_>>().len()
    }

    /// Returns the number of finished units.
    fn finished(&self) -> usize {
        finished_units(self.records).len()
    }

    /// Prints what is wrong or missing, and returns the exit code. `all_units` is the number of units that were to be
    /// recounted.
    fn judge(&self, merged: &Merged<'_>, all_units: usize, paths: &[PathBuf]) -> Exit {
        let mut messages = Vec::new();
        for WrongUnit { unit, which, votes, recounted, .. } in &self.wrong {
            let votes = votes_text(votes);
            messages.push(format!(
                "unit {unit}: the {which} count has {votes}, the recount finds {recounted}"
            ));
        }
        print_first(messages.into_iter());
        let exit = merged.judge();
        let evidence = self.evidence();
        if evidence == Evidence::Against {
            return Exit::Failed;
        }
        let recounted = self.verdict.disputed.len() + self.verdict.recounted;
        if recounted < all_units {
            let all_units = many(all_units, "unit");
            message!("stopped after recounting {recounted} of {all_units}: no difference so far");
            return exit.and(Exit::Stopped);
        }
        if self.finished() == 0 {
            message!("nothing was checked: no unit is finished");
            return exit.and(Exit::Stopped);
        }
        if merged.total().is_none() {
            let found = if evidence == Evidence::Missing || !self.wrong.is_empty() {
                ""
            } else {
                "no difference so far; "
            };
            message!("{found}the count is not finished");
        }
        if self.records.len() > 1 && !merged.is_complete() {
            merged.print_what_is_missing(paths);
            return exit.and(Exit::Stopped);
        }
        exit
    }

    fn report(&self, merged: &Merged<'_>, is_as_written: bool, seed: u64) -> Report {
        let recounted = self.verdict.recounted;
        let disputed = self.verdict.disputed.len();
        let wrong_units = self.wrong_in_use();
        let finished = many(self.finished(), "unit");
        let method = self.records[0].plan().recount_method();
        let mut text = format!("{recounted} of {finished} by {method}, seed {seed}");
        if disputed > 0 {
            text += &format!(", and {} with different numbers", many(disputed, "unit"));
        }
        let evidence = self.evidence();
        match evidence {
            Evidence::Against => text += &format!(": {wrong_units} DIFFER"),
            Evidence::Missing => {}
            Evidence::OfSome { .. } | Evidence::OfAll if self.wrong.is_empty() => {
                text += ": no difference";
            }
            Evidence::OfSome { .. } | Evidence::OfAll => text += ": no wrong number is used",
        }
        let as_written = if is_as_written && self.finished() > 0 {
            ", every line as it was written"
        } else {
            ""
        };
        let differences: Vec<Value> = self.wrong.iter().map(difference).collect();
        let undetected_part = self.verdict.undetected_part(self.finished());
        let mut report = merged.report();
        report
            .row("finished", format_args!("{finished}{as_written}"))
            .row("recounted", text)
            .field("recounted", recounted)
            .bare(wrong_units)
            .field("seed", seed.to_string())
            .field("differences", differences)
            .row("evidence", evidence)
            .field("undetected_part", undetected_part);
        report
    }

    /// Returns what the check says of the count.
    fn evidence(&self) -> Evidence {
        let undetected_part = self.verdict.undetected_part(self.finished());
        if self.wrong_in_use() > 0 {
            Evidence::Against
        } else if self.verdict.recounted == 0 {
            Evidence::Missing
        } else if undetected_part == 0.0 {
            Evidence::OfAll
        } else {
            Evidence::OfSome { undetected_part }
        }
    }
}

/// What a check says of a count.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Evidence {
    /// A unit is wrong.
    Against,
    /// No unit was recounted.
    Missing,
    /// Some units were recounted, and all of them are right. At most this part of the finished units is wrong.
    OfSome { undetected_part: f64 },
    /// All finished units were recounted, and all of them are right.
    OfAll,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Against => f.write_str("against the count: at least one of its units is wrong"),
            Self::Missing => f.write_str("none: no unit was recounted"),
            Self::OfSome { undetected_part } => {
                let right = percent_right(*undetected_part);
                write!(
                    f,
                    "at least {right} % of the finished units are right, with 95 % confidence"
                )
            }
            Self::OfAll => f.write_str("every finished unit was recounted, with equal counts"),
        }
    }
}

/// Returns the recounted units for which journals hold a wrong number.
fn wrong_units(records: &[&Record], verdict: &Verdict) -> Vec<WrongUnit> {
    let mut recounts = BTreeMap::new();
    for difference in &verdict.differences {
        recounts.insert(difference.unit, difference.recounted);
    }
    for recount in &verdict.disputed {
        recounts.insert(recount.unit, recount.recounted);
    }
    let units: BTreeSet<usize> = recounts.keys().copied().collect();
    let mut wrong = Vec::new();
    for record in records {
        for (unit, votes) in record.votes_of(&units) {
            let recounted = recounts[&unit];
            if votes.iter().any(|of_count| of_count.count != recounted) {
                let which = record.plan().which_count();
                let is_used = record.count(unit).is_some_and(|count| count != recounted);
                wrong.push(WrongUnit { unit, which, votes, recounted, is_used });
            }
        }
    }
    wrong.sort_by_key(|wrong| wrong.unit);
    wrong
}

/// Returns a unit with a wrong number as the report has it.
fn difference(wrong: &WrongUnit) -> Value {
    json!({
        "unit": wrong.unit,
        "count": wrong.which.to_string(),
        "recorded": votes(&wrong.votes),
        "recounted": wrong.recounted.to_string(),
    })
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
