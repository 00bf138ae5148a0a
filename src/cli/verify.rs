//! `nqueens verify FILE|FOLDER...`.

use std::io::{self, Write};

use anyhow::Context;
use nqueens::known::known;
use nqueens::merge::Merged;
use nqueens::verify::{Sample, Verdict, verify};
use nqueens::{Kernel, Published, thread_pool};
use serde::Serialize;

use super::answer::print;
use super::exit::{Exit, Failure};
use super::fields::{as_string, as_string_or_null, write_json};
use super::merge::read;
use super::options::VerifyOptions;
use super::progress::RecountBar;
use super::signals::cancel_on_signals;
use super::talk::say;

/// So many differences are told one by one.
const TOLD: usize = 5;

pub(super) fn run(options: &VerifyOptions) -> Result<Exit, Failure> {
    let VerifyOptions { paths, units, machine, .. } = options;
    let cancel = cancel_on_signals().context("cannot catch signals").map_err(Failure::Other)?;
    let merged = read(paths)?;
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let sample = Sample { units: *units, seed };
    let kernel = machine.kernel.unwrap_or_else(Kernel::detect);
    let Merged { plan, finished, .. } = &merged;
    let bar = RecountBar::new(machine.progress, finished.units_done().min(*units));
    let verdict = thread_pool(machine.threads)?
        .install(|| verify(plan, finished, sample, kernel, &|| bar.advance(), &cancel));
    bar.clear();
    let verdict = verdict?;

    let report = VerifyReport::new(&merged, &verdict, seed);
    let found = judge(&report, &merged, &verdict);
    Ok(print(found, |out| match options.json {
        true => write_json(out, &report),
        false => report.write_text(out),
    }))
}

/// Says what is wrong or missing.
fn judge(report: &VerifyReport, merged: &Merged, verdict: &Verdict) -> Exit {
    for difference in verdict.differences.iter().take(TOLD) {
        say(format_args!(
            "unit {} is recorded with {}, {} counts {}",
            difference.unit, difference.recorded, report.recounted_by, difference.recounted
        ));
    }
    if verdict.differences.len() > TOLD {
        say(format_args!("and {} more", verdict.differences.len() - TOLD));
    }
    if let Published::Differs { expected } = report.published {
        let (n, total) = (report.n, merged.finished.solutions());
        say(format_args!("Q({n}) = {total} differs from the published {expected}"));
    }
    if !verdict.differences.is_empty() || matches!(report.published, Published::Differs { .. }) {
        return Exit::Failed;
    }
    if verdict.recounted < verdict.chosen {
        say(format_args!(
            "stopped after recounting {} of {} units: no difference so far",
            verdict.recounted, verdict.chosen
        ));
        return Exit::Stopped;
    }
    if !merged.finished.is_complete() {
        say(format_args!(
            "the count is not finished: {} of {} units are missing",
            report.units - report.finished,
            report.units
        ));
        return Exit::Stopped;
    }
    Exit::Done
}

#[derive(Debug, Serialize)]
struct VerifyReport {
    n: u32,
    engine: &'static str,
    plan: String,
    units: usize,
    finished: usize,
    #[serde(serialize_with = "as_string_or_null")]
    total: Option<u128>,
    #[serde(serialize_with = "as_string")]
    published: Published,
    recounted: usize,
    recounted_by: &'static str,
    differences: Vec<DifferenceReport>,
    undetected_part: f64,
    seed: u64,
}

#[derive(Debug, Serialize)]
struct DifferenceReport {
    unit: usize,
    #[serde(serialize_with = "as_string")]
    recorded: u64,
    #[serde(serialize_with = "as_string")]
    recounted: u64,
}

impl VerifyReport {
    fn new(merged: &Merged, verdict: &Verdict, seed: u64) -> Self {
        let Merged { plan, finished, .. } = merged;
        let total = finished.is_complete().then_some(finished.solutions());
        let published = total.map_or(Published::Unknown, |total| {
            Published::compare(total, known(plan.size()).total)
        });
        let differences = verdict.differences.iter().map(|difference| DifferenceReport {
            unit: difference.unit,
            recorded: difference.recorded,
            recounted: difference.recounted,
        });
        Self {
            n: plan.size().get(),
            engine: plan.engine().name(),
            plan: format!("{:08x}", plan.hash()),
            units: plan.units(),
            finished: finished.units_done(),
            total,
            published,
            recounted: verdict.recounted,
            recounted_by: verdict.method,
            differences: differences.collect(),
            undetected_part: verdict.undetected_part(finished.units_done()),
            seed,
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { n, engine, plan, units, finished, recounted, recounted_by, .. } = self;
        writeln!(out, "n            {n}")?;
        writeln!(out, "plan         engine {engine}, hash {plan}, {units} units")?;
        writeln!(out, "finished     {finished} units, every line and sum as it was written")?;
        if let Some(total) = self.total {
            writeln!(out, "total        {total}")?;
            writeln!(out, "published    {}", self.published)?;
        }
        let outcome = match self.differences.len() {
            0 => "no difference".to_owned(),
            differences => format!("{differences} DIFFER"),
        };
        writeln!(
            out,
            "recounted    {recounted} of {finished} units by {recounted_by}, seed {}: \
             {outcome}",
            self.seed
        )?;
        let evidence = match (self.differences.len(), self.undetected_part) {
            (1.., _) => "against the count: at least one of its units is wrong".to_owned(),
            (0, 0.0) => "every finished unit was counted twice, in two ways".to_owned(),
            (0, part) if part < 1.0 => format!(
                "had {:.2} % of the units been wrong, this check would have found one in 19 of \
                 20 cases",
                100.0 * part
            ),
            (0, _) => "none: no unit was recounted".to_owned(),
        };
        writeln!(out, "evidence     {evidence}")
    }
}
