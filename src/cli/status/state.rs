//! How far a count has come, what is left of it, and the command that counts what no process is counting.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::record::{Record, Run};
use crate::{Engine, Error, WhichCount};

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
    let mut indices = Vec::new();
    for run in running_runs(record) {
        if run.shard.shards() == shards {
            indices.push(run.shard.index());
        }
    }
    indices
}

/// Returns how much of the plan is finished, in percent.
pub(super) fn percent(record: &Record) -> String {
    let done = record.sum().units as u128;
    let all = record.plan().units() as u128;
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
    let done = record.sum();
    let units = many(done.units, "unit");
    let percent = percent(record);
    report.row("done", format_args!("{units}, {percent} %, {} solutions", done.solutions));
    add_shards(report, record);
    add_processes(report, record);
    add_last_record(report, record, now);
    add_times(report, record);
}

/// Adds which shards are complete, running or missing. A count in one piece has no shards.
fn add_shards(report: &mut Report, record: &Record) {
    let Some((shards, missing)) = missing_shards(record) else {
        report.row("shards", "unknown: the journals do not agree on their number");
        return;
    };
    if shards == 1 {
        return;
    }
    if missing.is_empty() {
        report.row("shards", format_args!("{shards} of {shards} complete"));
        return;
    }
    let all_running = running_indices(record, shards);
    let mut running = Vec::new();
    let mut idle = Vec::new();
    for index in missing {
        if all_running.contains(&index) {
            running.push(index);
        } else {
            idle.push(index);
        }
    }
    let mut parts = Vec::new();
    if !running.is_empty() {
        parts.push(format!("running: {}", shards_text(&running, shards)));
    }
    if !idle.is_empty() {
        parts.push(format!("missing: {}", shards_text(&idle, shards)));
    }
    report.row("shards", parts.join("; "));
}

/// Adds how many processes count now, and on how many threads.
fn add_processes(report: &mut Report, record: &Record) {
    let processes = record.running().count();
    let threads = running_threads(record);
    if processes == 0 {
        report.row("running", "no");
    } else {
        let journals = many(record.files().len(), "journal");
        let threads = many(threads, "thread");
        report.row("running", format_args!("{processes} of {journals}, {threads}"));
    }
    report.field("running", processes).field("threads", threads);
}

/// Returns the number of threads that count now.
fn running_threads(record: &Record) -> usize {
    running_runs(record).map(|run| run.threads).sum()
}

/// Clocks of machines differ by less. A file that is dated later was not written then.
const SKEW: Duration = Duration::from_secs(60);

/// Adds how long ago something was recorded.
fn add_last_record(report: &mut Report, record: &Record, now: SystemTime) {
    let ago = time_since_record(record, now);
    if let Some(ago) = ago {
        report.row("last record", format_args!("{} ago", duration(ago)));
    }
    report.field("seconds_since_record", ago.map(json_seconds));
}

/// Returns the time since the last record, from the times of the files, because a journal records only the day on which
/// a run began. Returns `None` if a file has a time in the future.
fn time_since_record(record: &Record, now: SystemTime) -> Option<Duration> {
    let last = record.files().iter().filter_map(|file| file.modified).max()?;
    let ago_and_skew = (now + SKEW).duration_since(last).ok()?;
    Some(ago_and_skew.saturating_sub(SKEW))
}

/// Adds the CPU time so far, and what the rest will take.
fn add_times(report: &mut Report, record: &Record) {
    let left = record.work_left();
    let mut cpu_time = format!("{} measured", duration(record.cpu_time()));
    if record.total().is_none()
        && let Some(seconds) = left.cpu_seconds
    {
        cpu_time += &format!(", {} to go", expected(seconds));
    }
    report
        .row("CPU time", cpu_time)
        .approximate("cpu_seconds_left", left.cpu_seconds)
        .approximate("seconds_left", left.wall_time.map(|left| left.seconds))
        .field("cores", left.wall_time.map(|left| rounded(left.cores, 2)));
    if record.running().next().is_none() {
        return;
    }
    match left.wall_time {
        Some(left) => {
            let time = wall_time(left.seconds, running_threads(record), left.cores);
            report.row("time left", format_args!("{time} with these threads"));
        }
        None => {
            report.row("time left", "too early to say");
        }
    }
}

/// Returns the command that counts what no process counts now. Returns `None` if there is nothing to do, or if no count
/// would begin, because a unit has two counts. If the journals do not agree on the number of shards, the command counts
/// all that is missing. If `counts` has another plan of this board, the command names the plan.
pub(super) fn resume(record: &Record, counts: &[Record]) -> Option<String> {
    let is_disputed = |error: &Error| matches!(error, Error::CountsDiffer { .. });
    if record.total().is_some() || record.left_out.iter().any(is_disputed) {
        return None;
    }
    let command = format!("nqueens count {}", plan_options(record, counts));
    let files = record.files();
    let path = &files.first()?.path;
    let folder = Path::new(".").join(path.parent()?);
    let folder = folder.canonicalize().unwrap_or(folder);
    match record.shards {
        Some(shards) if shards > 1 => resume_shards(record, shards, &command, &folder),
        // A process that counts now may count all of them.
        _ if record.running().next().is_some() => None,
        _ => {
            let place = if files.len() == 1 { quoted(path) } else { quoted(&folder) };
            Some(format!("{command} --journal {place}"))
        }
    }
}

/// Returns the board and the options that lead to the plan of a record.
fn plan_options(record: &Record, counts: &[Record]) -> String {
    let plan = record.plan();
    let is_other_plan =
        |other: &Record| other.plan().size() == plan.size() && other.plan().hash() != plan.hash();
    let has_other_plan = counts.iter().any(is_other_plan);
    let mut options = plan.size().to_string();
    if plan.which_count() == WhichCount::Second {
        options += " --second";
    }
    if has_other_plan || plan.engine() != Engine::auto(plan.size()) {
        options += &format!(" --engine {}", plan.engine());
    }
    if has_other_plan && let Some(rows) = plan.split_rows() {
        options += &format!(" --split-rows {rows}");
    }
    options
}

/// Returns the command that counts the shards that are missing and not running, with journals in a folder.
fn resume_shards(record: &Record, shards: usize, command: &str, folder: &Path) -> Option<String> {
    let running = running_indices(record, shards);
    let mut idle = record.missing_shards(shards).ok()?;
    idle.retain(|index| !running.contains(index));
    let folder = quoted(folder);
    match idle[..] {
        [] => None,
        [index] => Some(format!("{command} --shard {index}/{shards} --journal {folder}")),
        _ => {
            let numbers = shell_sequence(&idle);
            Some(format!(
                "{numbers} | xargs -I {{}} {command} --shard {{}}/{shards} --journal {folder}"
            ))
        }
    }
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
