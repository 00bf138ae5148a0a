//! How far a count has come, what is left of it, and the commands that count what no process is counting.

use std::collections::BTreeSet;
use std::path::Path;
use std::slice;
use std::time::{Duration, SystemTime};

use nqueens::record::{JournalFile, Left, Record, Run, journals_in, split_by_plan};
use nqueens::{Error, Shard, WhichCount};
use rayon::prelude::*;

use crate::cli::format::{date_in, duration, figures, grouped, json_seconds, many, to_go, utc};
use crate::cli::journals::{Journals, ranges};
use crate::cli::report::{Report, units};
use crate::cli::stderr::quoted;

pub(super) struct Status {
    pub(super) journals: Journals,
    /// The journals that processes write now.
    pub(super) running: Vec<JournalFile>,
    left: Left,
    pub(super) now: SystemTime,
}

impl Status {
    pub(super) fn new(journals: Journals, now: SystemTime) -> Self {
        let is_running = |file: &&JournalFile| !file.runs.is_empty() && file.is_being_written();
        let running: Vec<_> =
            journals.record.files().par_iter().filter(is_running).cloned().collect();
        let left = journals.record.left(&running);
        Self { journals, running, left, now }
    }

    /// What the processes that write now have done so far.
    fn running_runs(&self) -> impl Iterator<Item = &Run> {
        self.running.iter().filter_map(|file| file.runs.last())
    }

    /// The indices of the shards that processes count now, with the plan cut into this many.
    pub(super) fn running_indices(&self, shards: usize) -> Vec<usize> {
        let counted = self.running_runs().map(|run| run.shard);
        counted.filter(|shard| shard.shards() == shards).map(Shard::index).collect()
    }

    /// How to count what no process counts now. If the journals do not agree on the number of shards, any will do.
    pub(super) fn resume(&self) -> Option<Resume> {
        let Journals { record, missing, .. } = &self.journals;
        let run = self.running_runs().next().or(record.runs().last())?;
        let shards = missing.as_ref().map_or(run.shard.shards(), |missing| missing.shards);
        let running = self.running_indices(shards);
        let mut idle = record.missing_shards(shards).ok()?;
        idle.retain(|index| !running.contains(index));
        let resume = Resume::of(record, &idle, shards);
        resume.filter(|resume| resume.slurm.is_some() || self.running.is_empty())
    }

    /// What is finished of the plan, in percent.
    pub(super) fn percent(&self) -> String {
        let (done, all) = (self.journals.record.tally().units, self.journals.record.plan().units());
        // What is missing must not be rounded away.
        let percent = 100.0 * done as f64 / all as f64;
        figures(if done < all { percent.min(99.9) } else { percent }, 3)
    }

    /// Adds to a list what is finished, what is left, and how to go on, in two lines.
    pub(super) fn summarise(&self, list: &mut Report) {
        let record = &self.journals.record;
        let (size, engine) = (record.plan().size(), record.plan().engine());
        let is_second = record.plan().which_count() == WhichCount::Second;
        let second = if is_second { ", second count" } else { "" };
        let left = match self.cpu_time_left() {
            _ if record.is_complete() => format!("{} solutions", grouped(record.tally().solutions)),
            Some(left) => format!("{left} of CPU time to go, {}", self.end()),
            None => self.end(),
        };
        let percent = self.percent();
        let count = format_args!("n = {size}, engine {engine}{second}: {percent} % done, {left}");
        list.row("count", count).bare(&percent);
        if let Some(resume) = self.resume() {
            list.row("", resume.in_a_line());
        }
    }

    /// The CPU time of what is missing.
    fn cpu_time_left(&self) -> Option<String> {
        self.left.cpu_seconds.filter(|_| self.journals.total.is_none()).map(to_go)
    }

    /// When all units will be finished.
    fn end(&self) -> String {
        match self.left.seconds {
            _ if self.journals.record.is_complete() => "reached".to_owned(),
            Some(time) => format!("in {}{}", to_go(time), date_in(time.value)),
            None if self.running.is_empty() => "no process is counting".to_owned(),
            _ => "too early to say".to_owned(),
        }
    }

    pub(super) fn report(&self) -> Report {
        let Journals { record, missing, .. } = &self.journals;
        let (percent, done) = (self.percent(), units(record.tally().units));
        let solutions = grouped(record.tally().solutions);
        let mut report = self.journals.report(grouped);
        report
            .bare(&percent)
            .row("done", format_args!("{done}, {percent} %, {solutions} solutions"));
        match missing {
            Some(missing) if missing.shards == 1 => {}
            Some(missing) if missing.indices.is_empty() => {
                report.row("shards", format_args!("{0} of {0} complete", grouped(missing.shards)));
            }
            Some(missing) => _ = report.row("shards", format_args!("missing: {missing}")),
            None => _ = report.row("shards", "unknown: the journals do not agree on their number"),
        }
        let folders: BTreeSet<_> = record.files().iter().map(|file| file.path.parent()).collect();
        if folders.len() > 1 {
            let names: Vec<_> = folders.iter().flatten().map(|folder| quoted(folder)).collect();
            report.row("folders", names.join(", "));
        }
        let (processes, journals) = (self.running.len(), many(record.files().len(), "journal"));
        let threads = self.running_runs().map(|run| run.threads).sum::<usize>();
        let on = many(threads, "thread");
        report
            .row("running", format_args!("{processes} of {journals}, {on}"))
            .field("running", processes)
            .field("threads", threads);
        // By the clock of the file system, for journals have no dates.
        let last = record.files().iter().filter_map(|file| file.modified).max();
        let since = last.and_then(|last| (self.now + SKEW).duration_since(last).ok());
        let since = since.map(|since| since.saturating_sub(SKEW));
        let ago = since.map(|since| format!("{} ago", duration(since)));
        let later = last.map(|last| format!("dated later than now: {}", utc(last)));
        if let Some(text) = ago.or(later) {
            report.row("last record", text);
        }
        let measured = duration(record.cpu_time());
        let left = self.cpu_time_left().map_or(String::new(), |left| format!(", {left} to go"));
        report
            .field("seconds_since_record", since.map(json_seconds))
            .row("CPU time", format_args!("{measured} measured{left}"))
            .approximate("cpu_seconds_left", self.left.cpu_seconds)
            .row("end", self.end())
            .approximate("seconds_left", self.left.seconds);
        let resume = self.resume();
        if let Some(resume) = &resume {
            report.row("resume", resume.in_a_line());
        }
        report.field("resume", resume.map(|resume| resume.command));
        report
    }
}

/// Longer lists of shards are cut.
const MOST_RANGES: usize = 200;

/// The longest command in text.
const LONGEST_LINE: usize = 400;

/// Clocks of machines differ by less. A file that is dated later was not written then.
const SKEW: Duration = Duration::from_secs(60);

/// How to go on with a count.
pub(super) struct Resume {
    /// On one machine.
    pub(super) command: String,
    /// On a Slurm cluster, if there are shards.
    pub(super) slurm: Option<String>,
    /// What is missing.
    pub(super) what: String,
}

impl Resume {
    /// The command, unless it names too many shards for a line of text.
    pub(super) fn in_a_line(&self) -> &str {
        if self.command.len() <= LONGEST_LINE { &self.command } else { "as --json and --html say" }
    }

    /// For these shards of so many, or for all units. `None` if there is nothing to do.
    fn of(record: &Record, idle: &[usize], shards: usize) -> Option<Self> {
        let (plan, files) = (record.plan(), record.files());
        let n = plan.size();
        let second = if plan.which_count() == WhichCount::Second { " --second" } else { "" };
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
            return Some(Self { command, slurm: None, what: "Units are missing".to_owned() });
        }
        let (indices, is_cut) = ranges(idle, ",", MOST_RANGES);
        let sequence = |range: &str| match range.split_once('-') {
            Some((first, last)) => format!("$(seq {first} {last})"),
            None => range.to_owned(),
        };
        let sequences = indices.split(',').map(sequence).collect::<Vec<_>>().join(" ");
        let options = format!("--shards {shards}{second} --out {}", quoted(&folder));
        let cut = if is_cut { "; the first are listed" } else { "" };
        let (idle, all) = (grouped(idle.len()), grouped(shards));
        Some(Self {
            command: format!(
                "for i in {sequences}; do nqueens shard {n} --index $i {options} || break; done"
            ),
            slurm: Some(format!("scripts/slurm/submit.sh {n} --indices {indices} {options}")),
            what: format!("{idle} of {all} shards have missing units and no process{cut}"),
        })
    }
}
