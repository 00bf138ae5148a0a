//! How far a count has come, what is left of it, and the command that counts what no process is counting.

use std::path::Path;
use std::time::{Duration, SystemTime};

use nqueens::record::{Record, Run};
use nqueens::{Engine, Error, Shard, WhichCount};

use crate::cli::format::{duration, expected, json_seconds, many, rounded, wall_time};
use crate::cli::journals::{self, missing_shards, ranges, shards_text};
use crate::cli::quote::quoted;
use crate::cli::report::Report;

/// Returns the processes that count now, with what they have done so far.
fn running_runs(record: &Record) -> impl Iterator<Item = &Run> {
    record.running().filter_map(|file| file.runs.last())
}

/// Returns the indices of the shards that processes count now, with the plan cut into this many.
pub(super) fn running_indices(record: &Record, shards: usize) -> Vec<usize> {
    let counted = running_runs(record).map(|run| run.shard);
    counted.filter(|shard| shard.shards() == shards).map(Shard::index).collect()
}

/// Returns how much of the plan is finished, in percent.
pub(super) fn percent(record: &Record) -> String {
    let (done, all) = (record.sum().units as u128, record.plan().units() as u128);
    if done == all {
        return "100".to_owned();
    }
    // Rounded down, because what is missing must not be rounded away.
    let hundredths = 10_000 * done / all;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Returns the report on a count at this moment. `counts` are all counts of the answer.
pub(super) fn report(record: &Record, counts: &[Record], now: SystemTime) -> Report {
    let mut report = Report::default();
    report.plan(record.plan()).bare(percent(record));
    add_facts(&mut report, record, now);
    let resume = resume(record, counts);
    if let Some(command) = &resume {
        report.row("resume", command);
    }
    report.field("resume", resume);
    report
}

/// Adds what is known of a count beside its plan and the command that resumes it.
pub(super) fn add_facts(report: &mut Report, record: &Record, now: SystemTime) {
    journals::add_facts(report, record);
    let (percent, left) = (percent(record), record.work_left());
    let (done, solutions) = (record.sum(), record.sum().solutions);
    let units = many(done.units, "unit");
    report.row("done", format_args!("{units}, {percent} %, {solutions} solutions"));
    match missing_shards(record) {
        Some((1, _)) => {}
        Some((shards, missing)) if missing.is_empty() => {
            report.row("shards", format_args!("{shards} of {shards} complete"));
        }
        Some((shards, missing)) => {
            let running = running_indices(record, shards);
            let is_running = |index: &usize| running.contains(index);
            let (running, idle): (Vec<usize>, Vec<usize>) =
                missing.into_iter().partition(is_running);
            let mut parts = Vec::new();
            if !running.is_empty() {
                parts.push(format!("running: {}", shards_text(&running, shards)));
            }
            if !idle.is_empty() {
                parts.push(format!("missing: {}", shards_text(&idle, shards)));
            }
            report.row("shards", parts.join("; "));
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
    // From the time of the file: a journal records only the day on which a run began.
    let last = record.files().iter().filter_map(|file| file.modified).max();
    let since = last.and_then(|last| (now + SKEW).duration_since(last).ok());
    let since = since.map(|since| since.saturating_sub(SKEW));
    if let Some(since) = since {
        report.row("last record", format_args!("{} ago", duration(since)));
    }
    let measured = duration(record.cpu_time());
    let to_come = left.cpu_seconds.filter(|_| record.total().is_none());
    let to_come = to_come.map_or(String::new(), |left| format!(", {} to go", expected(left)));
    report
        .field("seconds_since_record", since.map(json_seconds))
        .row("CPU time", format_args!("{measured} measured{to_come}"))
        .approximate("cpu_seconds_left", left.cpu_seconds)
        .approximate("seconds_left", left.wall_time.map(|left| left.seconds))
        .field("cores", left.wall_time.map(|left| rounded(left.cores, 2)));
    if processes > 0 {
        let text = left.wall_time.map_or("too early to say".to_owned(), |left| {
            format!("{} with these threads", wall_time(left.seconds, threads, left.cores))
        });
        report.row("time left", text);
    }
}

/// Clocks of machines differ by less. A file that is dated later was not written then.
const SKEW: Duration = Duration::from_secs(60);

/// Returns the command that counts what no process counts now. Returns `None` if there is nothing to do, or if no count
/// would begin, because a unit has two counts. If the journals do not agree on the number of shards, the command counts
/// all that is missing. If `counts` has another plan of this board, the command names the plan.
pub(super) fn resume(record: &Record, counts: &[Record]) -> Option<String> {
    let is_disputed = |error: &Error| matches!(error, Error::CountsDiffer { .. });
    if record.total().is_some() || record.left_out.iter().any(is_disputed) {
        return None;
    }
    let (plan, files) = (record.plan(), record.files());
    let mut options = plan.size().to_string();
    if plan.which_count() == WhichCount::Second {
        options += " --second";
    }
    let is_other_plan =
        |other: &Record| other.plan().size() == plan.size() && other.plan().hash() != plan.hash();
    let has_other_plan = counts.iter().any(is_other_plan);
    if has_other_plan || plan.engine() != Engine::auto(plan.size()) {
        options += &format!(" --engine {}", plan.engine());
    }
    if let Some(rows) = plan.split_rows().filter(|_| has_other_plan) {
        options += &format!(" --split-rows {rows}");
    }
    let path = &files.first()?.path;
    let folder = Path::new(".").join(path.parent()?);
    let folder = folder.canonicalize().unwrap_or(folder);
    let shards = record.shards.unwrap_or(1);
    if shards > 1 {
        let running = running_indices(record, shards);
        let mut idle = record.missing_shards(shards).ok()?;
        idle.retain(|index| !running.contains(index));
        let folder = quoted(&folder);
        return match idle[..] {
            [] => None,
            [index] => {
                Some(format!("nqueens count {options} --shard {index}/{shards} --journal {folder}"))
            }
            _ => {
                let numbers = shell_sequence(&idle);
                let command = format!("nqueens count {options} --shard {{}}/{shards}");
                Some(format!("{numbers} | xargs -I {{}} {command} --journal {folder}"))
            }
        };
    }
    // A process that counts now may count all of them.
    if record.running().next().is_some() {
        return None;
    }
    let place = if files.len() == 1 { quoted(path) } else { quoted(&folder) };
    Some(format!("nqueens count {options} --journal {place}"))
}

/// Returns a command that prints numbers in increasing order, one a line: `seq 7 9`, or `sh -c 'echo 3; seq 7 9'`, for
/// sh, bash and fish.
fn shell_sequence(numbers: &[usize]) -> String {
    let mut commands = Vec::new();
    for range in ranges(numbers).split(',') {
        commands.push(match range.split_once('-') {
            Some((first, last)) => format!("seq {first} {last}"),
            None => format!("echo {range}"),
        });
    }
    match &commands[..] {
        [command] => command.clone(),
        _ => format!("sh -c '{}'", commands.join("; ")),
    }
}
