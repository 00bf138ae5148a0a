//! How far a count has come, what is left of it, and the command that counts what no process is counting.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::record::Record;
use crate::{Engine, WhichCount};

use crate::cli::format::{
    duration, expected, json_seconds, many, rounded, wall_time as wall_time_text,
};
use crate::cli::journals::{
    self, missing_shards, ranges, running_indices, running_runs, shards_text,
};
use crate::cli::quote::quoted;
use crate::cli::report::Report;

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
    let mut command = None;
    match Resume::of(record, counts) {
        Resume::Finished | Resume::Running => {}
        Resume::Command(text) => {
            report.row("resume", &text);
            command = Some(text);
        }
        Resume::Obstacle(reason) => {
            report.row("resume", reason);
        }
    }
    report.field("resume", command);
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
    let silence = longest_silence(record, now);
    add_processes(report, record, silence);
    add_last_record(report, record, now);
    add_times(report, record, silence);
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

/// Returns the longest time for which a process that counts has recorded nothing, if that is unusual.
fn longest_silence(record: &Record, now: SystemTime) -> Option<Duration> {
    record.running().filter_map(|file| file.silence(now)).max()
}

/// Adds how many processes count now, and on how many threads.
fn add_processes(report: &mut Report, record: &Record, silence: Option<Duration>) {
    let processes = record.running().count();
    let threads = running_threads(record);
    if processes == 0 {
        report.row("running", "no");
    } else {
        let journals = many(record.files().len(), "journal");
        let threads = many(threads, "thread");
        let mut text = format!("{processes} of {journals}, {threads}");
        if let Some(silence) = silence {
            text += &format!(", nothing recorded for {}", duration(silence));
        }
        report.row("running", text);
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

/// Adds the CPU time so far, and what the rest will take. After a `silence` of a process, nobody knows when it ends.
fn add_times(report: &mut Report, record: &Record, silence: Option<Duration>) {
    let left = record.work_left();
    let wall_time = left.wall_time.filter(|_| silence.is_none());
    let mut cpu_time = format!("{} measured", duration(record.cpu_time()));
    if record.total().is_none()
        && let Some(seconds) = left.cpu_seconds
    {
        cpu_time += &format!(", {} to go", expected(seconds));
    }
    report
        .row("CPU time", cpu_time)
        .approximate("cpu_seconds_left", left.cpu_seconds)
        .approximate("seconds_left", wall_time.map(|left| left.seconds))
        .field("cores", wall_time.map(|left| rounded(left.cores, 2)));
    if record.running().next().is_none() {
        return;
    }
    let text = match wall_time {
        Some(left) => {
            let time = wall_time_text(left.seconds, running_threads(record), left.cores);
            match missing_after_running(record) {
                0 => time,
                missing => {
                    let shards = many(missing, "shard");
                    format!("{time} for the running shards, then {shards} to go")
                }
            }
        }
        None if silence.is_some() => "not known, because a process records nothing".to_owned(),
        None => "too early to say".to_owned(),
    };
    report.row("time left", text);
}

/// Returns the number of shards that are missing and that no process is counting.
fn missing_after_running(record: &Record) -> usize {
    let Some((shards, missing)) = missing_shards(record) else { return 0 };
    let running = running_indices(record, shards);
    missing.iter().filter(|index| !running.contains(index)).count()
}

/// What to do about the units that are missing.
pub(super) enum Resume {
    /// Nothing, because no unit is missing.
    Finished,
    /// Nothing, because processes are counting all of them.
    Running,
    /// This command counts those that no process is counting.
    Command(String),
    /// No command does it, for this reason, which also says what to do.
    Obstacle(String),
}

impl Resume {
    /// Returns what to do about the units of a record that are missing. If `counts` has another plan of this board, the
    /// command names the plan.
    ///
    /// If the journals do not agree on the number of shards, the command counts all that is missing.
    pub(super) fn of(record: &Record, counts: &[Record]) -> Self {
        if record.total().is_some() {
            return Self::Finished;
        }
        let command = format!("nqueens count {}", plan_options(record, counts));
        match record.shards {
            Some(shards) if shards > 1 => Self::of_shards(record, shards, &command),
            _ => Self::of_whole(record, &command),
        }
    }

    /// Returns what to do if no process counts shards of this number.
    fn of_whole(record: &Record, command: &str) -> Self {
        if record.running().next().is_some() {
            return Self::Running;
        }
        if !record.disputed().is_empty() {
            return Self::disputed();
        }
        match place_of(record) {
            Ok(place) => Self::Command(format!("{command} --journal {}", quoted(&place))),
            Err(reason) => Self::Obstacle(reason),
        }
    }

    /// Returns what to do about the shards that are missing.
    fn of_shards(record: &Record, shards: usize, command: &str) -> Self {
        let Ok(each) = record.shard_units(shards) else { return Self::Running };
        let running = running_indices(record, shards);
        let mut is_any_disputed = false;
        let mut idle = Vec::new();
        for (index, shard) in each.iter().enumerate() {
            if shard.finished == shard.units || running.contains(&index) {
                continue;
            }
            // A count of this shard would not begin.
            if shard.disputed > 0 {
                is_any_disputed = true;
            } else {
                idle.push(index);
            }
        }
        if idle.is_empty() {
            return if is_any_disputed { Self::disputed() } else { Self::Running };
        }
        match folder_of(record) {
            Ok(folder) => {
                let folder = quoted(&folder);
                Self::Command(command_for_shards(&idle, shards, command, &folder))
            }
            Err(reason) => Self::Obstacle(reason),
        }
    }

    /// Returns that units with two counts have to be settled first.
    fn disputed() -> Self {
        let reason = "none while units have two counts: see 'nqueens verify'";
        Self::Obstacle(reason.to_owned())
    }
}

/// Returns the file or the folder that a count has to name in order to use all journals of a record, or the reason why
/// there is none.
fn place_of(record: &Record) -> Result<PathBuf, String> {
    match record.files() {
        [file] => {
            check_name(&file.path)?;
            Ok(file.path.clone())
        }
        _ => folder_of(record),
    }
}

/// Returns the folder of all journals of a record, or the reason why there is none.
fn folder_of(record: &Record) -> Result<PathBuf, String> {
    let mut folders = BTreeSet::new();
    for file in record.files() {
        check_name(&file.path)?;
        let folder = Path::new(".").join(file.path.parent().unwrap_or(Path::new("")));
        folders.insert(folder.canonicalize().unwrap_or(folder));
    }
    match folders.len() {
        1 => Ok(folders.pop_first().expect("one folder")),
        _ => Err("none while the journals are in several folders: copy them into one".to_owned()),
    }
}

/// Checks that a count would take a journal by its name.
fn check_name(path: &Path) -> Result<(), String> {
    if path.extension().is_some_and(|ending| ending == "journal") {
        return Ok(());
    }
    Err(format!("none while the name of {} does not end in .journal: rename it", path.display()))
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

/// Returns the command that counts these shards, with journals in a folder, for sh, bash, fish and tcsh. It ends with the
/// first shard that fails or is stopped.
fn command_for_shards(indices: &[usize], shards: usize, command: &str, folder: &str) -> String {
    if let [index] = indices {
        return format!("{command} --shard {index}/{shards} --journal {folder}");
    }
    let mut words = Vec::new();
    for range in ranges(indices).split(',') {
        words.push(match range.split_once('-') {
            Some((first, last)) => format!("$(seq {first} {last})"),
            None => range.to_owned(),
        });
    }
    let words = words.join(" ");
    // The folder is an argument of sh, because its name may need quotes of its own.
    format!(
        "sh -c 'for i in {words}; do {command} --shard $i/{shards} --journal \"$0\" || exit; done' {folder}"
    )
}
