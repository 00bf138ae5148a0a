//! `nqueens verify FILE|FOLDER...`.

use clap::Args;
use nqueens::record::Record;
use nqueens::verify::{Difference, Verdict, choose_units, verify};
use serde_json::json;

use crate::cli::args::MachineArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::format::many;
use crate::cli::journals::{self, JournalsArgs, check};
use crate::cli::progress::Work;
use crate::cli::report::{Format, Report};
use crate::cli::session::Session;
use crate::cli::stderr::{message, print_first};

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
    units: usize,

    /// Seed of the random choice; the seed that an earlier check printed chooses the same units, unless the journals
    /// have grown
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    seed: Option<u64>,

    #[command(flatten)]
    machine: MachineArgs,
}

impl VerifyArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let session = Session::new(&self.machine)?;
        let record = self.journals.read(self.format)?;
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        let (plan, finished) = (record.plan(), record.finished());
        let counts = record.counts(&choose_units(finished, self.units, seed))?;
        let Session { cancel, progress, .. } = &session;
        let chosen = counts.len();
        progress.begin("verify", [0, chosen], Work::Steps("units"));
        let counted = || progress.advance(1);
        let verdict = session.run(|| verify(plan, &counts, &counted, cancel))?;
        Ok(judge(&record, chosen, &verdict).answer(self.format, report(&record, &verdict, seed)))
    }
}

/// Prints what is wrong or missing, and returns the exit code.
fn judge(record: &Record, chosen: usize, verdict: &Verdict) -> Exit {
    let Verdict { recounted, differences, .. } = verdict;
    print_first(differences.iter().map(|Difference { unit, recorded, recounted, .. }| {
        format!("unit {unit} is recorded with {recorded}, backtracking counts {recounted}")
    }));
    let exit = check(record);
    if !differences.is_empty() {
        return Exit::Failed;
    }
    if *recounted < chosen {
        let chosen = many(chosen, "unit");
        message!("stopped after recounting {recounted} of {chosen}: no difference so far");
        return exit.and(Exit::Stopped);
    }
    if record.total().is_none() {
        message!("no difference so far; the count is not finished");
    }
    exit
}

fn report(record: &Record, verdict: &Verdict, seed: u64) -> Report {
    let Verdict { recounted, differences, .. } = verdict;
    let undetected_part = verdict.undetected_part(record.tally().units);
    let found = match differences.len() {
        0 => "no difference".to_owned(),
        differing => format!("{differing} DIFFER"),
    };
    let right = 100.0 * (1.0 - undetected_part);
    let evidence = match undetected_part {
        _ if !differences.is_empty() => "against the count: at least one of its units is wrong",
        0.0 => "every finished unit was counted twice, in two ways",
        1.0 => "none: no unit was recounted",
        _ => &format!("at least {right:.2} % of the units are right, with 95 % confidence"),
    };
    let difference = |Difference { unit, recorded, recounted, .. }: &Difference| {
        let [recorded, recounted] = [recorded, recounted].map(u64::to_string);
        json!({ "unit": unit, "recorded": recorded, "recounted": recounted })
    };
    let finished = many(record.tally().units, "unit");
    let mut report = journals::report(record);
    report
        .row("finished", format_args!("{finished}, every line and checksum as it was written"))
        .row(
            "recounted",
            format_args!("{recounted} of {finished} by backtracking, seed {seed}: {found}"),
        )
        .field("recounted", *recounted)
        .bare(differences.len())
        .field("seed", seed.to_string())
        .field("differences", differences.iter().map(difference).collect::<Vec<_>>())
        .row("evidence", evidence)
        .field("undetected_part", undetected_part);
    report
}
