//! How far a count has come, what is left of it, and the commands that count what no process is counting.

use std::path::Path;
use std::slice;
use std::time::{Duration, SystemTime};

use nqueens::record::{Record, Run, journals_in, split_by_plan};
use nqueens::{Error, Shard, WhichCount};

use crate::cli::format::{duration, figures, grouped, json_seconds, many, to_go};
use crate::cli::journals::{self, missing_shards, ranges, shards_text};
use crate::cli::report::{Report, units};
use crate::cli::stderr::quoted;

/// The processes that count now, with what they have done so far.
fn running_runs(record: &Record) -> impl Iterator<Item = &Run> {
    record.running().filter_map(|file| file.runs.last())
}

/// The indices of the shards that processes count now, with the plan cut into this many.
pub(super) fn running_indices(record: &Record, shards: usize) -> Vec<usize> {
    let counted = running_runs(record).map(|run| run.shard);
    counted.filter(|shard| shard.shards() == shards).map(Shard::index).collect()
}

/// What is finished of the plan, in percent.
pub(super) fn percent(record: &Record) -> String {
    let (done, all) = (record.tally().units, record.plan().units());
    // What is missing must not be rounded away.
    let percent = 100.0 * done as f64 / all as f64;
    figures(if done < all { percent.min(99.9) } else { percent }, 3)
}

/// The report on a count, as of now.
pub(super) fn report(record: &Record, now: SystemTime) -> Report {
    let (percent, done, left) = (percent(record), units(record.tally().units), record.work_left());
    let solutions = grouped(record.tally().solutions);
    let mut report = journals::report(record, grouped);
    report.bare(&percent).row("done", format_args!("{done}, {percent} %, {solutions} solutions"));
    match missing_shards(record) {
        Some((1, _)) => {}
        Some((shards, missing)) if missing.is_empty() => {
            report.row("shards", format_args!("{0} of {0} complete", grouped(shards)));
        }
        Some((shards, missing)) => {
            report.row("shards", format_args!("missing: {}", shards_text(&missing, shards)));
        }
        None => _ = report.row("shards", "unknown: the journals do not agree on their number"),
    }
    let (processes, journals) = (record.running().count(), many(record.files().len(), "journal"));
    let threads = running_runs(record).map(|run| run.threads).sum::<usize>();
    let running = match processes {
        0 => "no".to_owned(),
        _ => format!("{processes} of {journals}, {}", many(threads, "thread")),
    };
    report.row("running", running).field("running", processes).field("threads", threads);
    // By the clock of the file system, for journals have no dates.
    let last = record.files().iter().filter_map(|file| file.modified).max();
    let since = last.and_then(|last| (now + SKEW).duration_since(last).ok());
    let since = since.map(|since| since.saturating_sub(SKEW));
    if let Some(since) = since {
        report.row("last record", format_args!("{} ago", duration(since)));
    }
    let measured = duration(record.cpu_time());
    let is_whole = record.total().is_some();
    let to_come = left.cpu_seconds.filter(|_| !is_whole);
    let to_come = to_come.map_or(String::new(), |left| format!(", {} to go", to_go(left)));
    let end = match left.seconds {
        _ if is_whole => "reached".to_owned(),
        Some(time) => format!("in {}", to_go(time)),
        None if processes == 0 => "no process is counting".to_owned(),
        None => "too early to say".to_owned(),
    };
    report
        .field("seconds_since_record", since.map(json_seconds))
        .row("CPU time", format_args!("{measured} measured{to_come}"))
        .approximate("cpu_seconds_left", left.cpu_seconds)
        .row("end", end)
        .approximate("seconds_left", left.seconds);
    let resume = Resume::of(record);
    if let Some(resume) = &resume {
        report.row("resume", &resume.command);
    }
    report.field("resume", resume.map(|resume| resume.command));
    report
}

/// Clocks of machines differ by less. A file that is dated later was not written then.
const SKEW: Duration = Duration::from_secs(60);

/// How to go on with a count.
pub(super) struct Resume {
    /// On one machine.
    pub(super) command: String,
    /// On a Slurm cluster, if there are shards.
    pub(super) slurm: Option<String>,
}

impl Resume {
    /// How to count what no process counts now. If the journals do not agree on the number of shards, any will do.
    /// `None` if there is nothing to do.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let (plan, files) = (record.plan(), record.files());
        let n = plan.size();
        let second = if plan.which_count() == WhichCount::Second { " --second" } else { "" };
        let run = running_runs(record).next().or(record.runs().last())?;
        let shards = record.shards.unwrap_or(run.shard.shards());
        let running = running_indices(record, shards);
        let mut idle = record.missing_shards(shards).ok()?;
        idle.retain(|index| !running.contains(index));
        if idle.is_empty() {
            return None;
        }
        let path = &files.first()?.path;
        let folder = Path::new(".").join(path.parent()?);
        let folder = folder.canonicalize().unwrap_or(folder);
        // No shard begins beside another count, or if a unit has two counts.
        let plans = journals_in(slice::from_ref(&folder)).map(split_by_plan);
        let is_mixed = plans.is_ok_and(|plans| plans.len() > 1);
        let is_disputed = |error: &Error| matches!(error, Error::CountsDiffer { .. });
        let is_plain = shards == 1 && files.len() == 1;
        if is_plain || is_mixed || record.left_out.iter().any(is_disputed) {
            let mut command = format!("nqueens count {n}{second} --journal ");
            if files.len() == 1 && record.left_out.is_empty() {
                command += &quoted(path);
            } else {
                let files: Vec<_> = files.iter().map(|file| quoted(&file.path)).collect();
                let (files, new) = (files.join(" "), quoted(&path.with_extension("good.journal")));
                // Not &&, for it fails if something is left out.
                command = format!("nqueens merge {files} --into {new}; {command}{new}");
            }
            // A process that counts now may count all of them.
            let is_idle = record.running().next().is_none();
            return is_idle.then_some(Self { command, slurm: None });
        }
        let indices = ranges(&idle);
        let sequence = |range: &str| match range.split_once('-') {
            Some((first, last)) => format!("$(seq {first} {last})"),
            None => range.to_owned(),
        };
        let sequences = indices.split(',').map(sequence).collect::<Vec<_>>().join(" ");
        let options = format!("--shards {shards}{second} --out {}", quoted(&folder));
        let command = match idle[..] {
            [index] => format!("nqueens shard {n} --index {index} {options}"),
            _ => format!(
                "for i in {sequences}; do nqueens shard {n} --index $i {options} || break; done"
            ),
        };
        Some(Self {
            command,
            slurm: Some(format!("scripts/slurm/submit.sh {n} --indices {indices} {options}")),
        })
    }
}
