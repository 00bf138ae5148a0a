//! `nqueens merge FILE|FOLDER...`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use nqueens::known::known;
use nqueens::merge::{Merged, journals_in, merge};
use nqueens::{Published, Shard};
use serde::Serialize;

use super::answer::print;
use super::exit::{Exit, Failure};
use super::fields::{as_string, as_string_or_null, microseconds, write_json};
use super::options::{CountFormat, JournalsOptions, MergeOptions};
use super::talk::say;

pub(super) fn run(options: &MergeOptions) -> Result<Exit, Failure> {
    let merged = read(&options.journals.paths)?;
    let missing = Missing::of(&merged, &options.journals);
    let report = MergeReport::new(&merged, missing);
    let mut found = Exit::Done;
    if let Published::Differs { expected } = report.published {
        let (n, total) = (report.n, merged.finished.solutions());
        say(format_args!("Q({n}) = {total} differs from the published {expected}"));
        found = Exit::Failed;
    }
    if report.total.is_none() {
        say(report.what_is_missing());
        found = Exit::Stopped;
    }
    Ok(print(found, |out| match (options.format, report.total) {
        (CountFormat::Json, _) => write_json(out, &report),
        (CountFormat::Quiet, Some(total)) => writeln!(out, "{total}"),
        (CountFormat::Text, Some(total)) => report.write_text(total, out),
        (_, None) => Ok(()),
    }))
}

/// Reads journals and folders of them together.
pub(super) fn read(paths: &[PathBuf]) -> Result<Merged, Failure> {
    let files = journals_in(paths)?;
    let merged = merge(&files)?;
    for path in merged.iter().flat_map(|merged| &merged.unbegun) {
        let path = path.display();
        say(format_args!("warning: nothing is recorded in {path}; it is left out"));
    }
    for file in merged.iter().flat_map(|merged| &merged.files) {
        let path = file.path.display();
        if file.torn {
            say(format_args!("warning: the last line of {path} was cut off and is left out"));
        }
        if file.withdrawn > 0 {
            say(format_args!(
                "warning: {path} withdrew {} units after a recount differed; do not trust the \
                 machine that counted them",
                file.withdrawn
            ));
        }
    }
    merged.ok_or_else(|| {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let paths = paths.join(", ");
        Failure::Usage(if files.is_empty() {
            format!("{paths}: there are no journals (files *.journal) in it")
        } else {
            format!("{paths}: nothing is recorded yet")
        })
    })
}

/// What is not finished.
#[derive(Debug, Serialize)]
pub(super) struct Missing {
    pub(super) units: usize,
    /// First unit and the one behind the last.
    ranges: Vec<(usize, usize)>,
    /// How many shards there are, if the journals agree on it or it was said.
    pub(super) of: Option<usize>,
    /// The shards with missing units, as a job array is written: `3,7-9`.
    pub(super) shards: Option<String>,
}

impl Missing {
    pub(super) fn of(merged: &Merged, options: &JournalsOptions) -> Self {
        let ranges: Vec<(usize, usize)> =
            merged.missing_units().into_iter().map(|range| (range.start, range.end)).collect();
        let of = options.shards.or_else(|| merged.shards());
        Self {
            units: merged.plan.units() - merged.finished.units_done(),
            ranges,
            of,
            shards: of.map(|of| as_array(&merged.missing_shards(shards))),
        }
    }
}

/// Numbers in the form of job arrays: `3,7-9`.
fn as_array(shards: &[Shard]) -> String {
    let mut text = String::new();
    let mut rest = shards;
    while let [first, ..] = rest {
        let run = rest.iter().enumerate().take_while(|(at, s)| s.index() == first.index() + at);
        let length = run.count();
        let comma = if text.is_empty() { "" } else { "," };
        text += &match length {
            1 => format!("{comma}{}", first.index()),
            _ => format!("{comma}{}-{}", first.index(), first.index() + length - 1),
        };
        rest = &rest[length..];
    }
    text
}

#[derive(Debug, Serialize)]
struct MergeReport {
    n: u32,
    engine: &'static str,
    plan: String,
    units: usize,
    finished: usize,
    #[serde(serialize_with = "as_string_or_null")]
    total: Option<u128>,
    #[serde(serialize_with = "as_string")]
    published: Published,
    files: usize,
    /// Units that more than one file holds.
    twice: usize,
    cpu_seconds: f64,
    missing: Missing,
}

impl MergeReport {
    fn new(merged: &Merged, missing: Missing) -> Self {
        let Merged { plan, finished, files, twice, .. } = merged;
        let total = finished.is_complete().then(|| finished.solutions());
        let runs = files.iter().flat_map(|member| &member.runs);
        let core: Duration = runs.map(|run| run.busy).sum();
        Self {
            n: plan.size().get(),
            engine: plan.engine().name(),
            plan: format!("{:08x}", plan.hash()),
            units: plan.units(),
            finished: finished.units_done(),
            total,
            published: total.map_or(Published::Unknown, |total| {
                Published::compare(total, known(plan.size()).total)
            }),
            files: files.len(),
            twice: *twice,
            cpu_seconds: microseconds(core.as_secs_f64()),
            missing,
        }
    }

    fn write_text(&self, total: u128, out: &mut impl Write) -> io::Result<()> {
        let Self { n, engine, plan, units, files, twice, cpu_seconds, published, .. } = self;
        writeln!(out, "n            {n}")?;
        writeln!(out, "total        {total}")?;
        writeln!(out, "published    {published}")?;
        writeln!(out, "plan         engine {engine}, hash {plan}, {units} units")?;
        writeln!(
            out,
            "journals     {files}, {twice} units in more than one, all with equal counts"
        )?;
        writeln!(out, "core time    {cpu_seconds:.3} s")
    }

    fn what_is_missing(&self) -> String {
        let Missing { units, of, shards, ranges } = &self.missing;
        let all = self.units;
        match (of, shards) {
            (Some(of), Some(shards)) => format!(
                "{units} of {all} units are missing, in shards {shards} of {of}: run these again"
            ),
            _ => format!(
                "{units} of {all} units are missing, the first is {}: run their shards again (the \
                 journals do not agree on how many there are; --of names those that are missing)",
                ranges.first().map_or(0, |range| range.0)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_as_job_arrays() {
        let array = |indices: &[usize]| {
            let shards: Vec<Shard> =
                indices.iter().map(|index| Shard::new(*index, 100).expect("in range")).collect();
            as_array(&shards)
        };
        assert_eq!(array(&[]), "");
        assert_eq!(array(&[3]), "3");
        assert_eq!(array(&[0, 1]), "0-1");
        assert_eq!(array(&[3, 7, 8, 9, 99]), "3,7-9,99");
    }
}
