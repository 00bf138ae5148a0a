//! Promise: a unit with different numbers is never part of a total until one number stands in at least two lines, and
//! in more lines than any other. Until then the unit is missing, and the command that counts what is missing settles
//! it. docs/JOURNAL.md makes this promise under "A unit is wrong".

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use nqueens::plan::Plan;
use nqueens::{Cancel, Engine};

use super::damage::{N, TOTAL, count, finished};
use crate::common::processes::{send, wait_for_units};
use crate::common::{
    OnePass, arg, contents, counts, eight_units_with_two_counts, finish,
    first_line_with_check_digits, fresh, fresh_folder, journals_in, json, nqueens, output, plan_of,
    raised, record_of, result, run, shell, size, spawn, stderr, stdout, units_of_line,
    units_with_two_counts, with_check_digits, without_check_digits,
};

/// The names that the journals of two hosts have.
const RIGHT: &str = "n11-0000-of-0001.node1.7.journal";
const WRONG: &str = "n11-0000-of-0001.node2.7.journal";

/// Gives all lines of a text the times of a slow machine, so that a line with a new count of the same units differs.
fn slower(text: &str) -> String {
    let mut slow = String::new();
    for line in text.split_inclusive('\n') {
        match line.split_once(" elapsed-ms=") {
            Some((before, after)) if line.starts_with("done ") => {
                let (_, after) = without_check_digits(after).split_once(' ').expect("fields");
                slow += &with_check_digits(text, &format!("{before} elapsed-ms=7200000 {after}"));
            }
            _ => slow += line,
        }
    }
    slow
}

/// A finished journal of one host, and one of another host with a line of each wrong unit alone.
struct TwoHosts {
    folder: PathBuf,
    right: PathBuf,
    wrong: PathBuf,
    /// The right journal, and its plan.
    text: String,
    plan: Plan,
    /// The wrong units in increasing order, with their right counts.
    units: [(usize, u64); 2],
}

impl TwoHosts {
    fn new(name: &str) -> Self {
        let folder = fresh_folder(name);
        let (path, text) = finished(&folder);
        fs::remove_file(path).expect("there");
        let text = slower(&text);
        let (right, wrong) = (folder.join(RIGHT), folder.join(WRONG));
        fs::write(&right, &text).expect("room");
        let record = contents(&right);
        let plan = record.plan().clone();
        let mut units: Vec<(usize, u64)> = Vec::new();
        for number in [8, 20] {
            let unit = units_of_line(text.lines().nth(number).expect("a line")).start;
            units.push((unit, record.count(unit).expect("a finished unit")));
        }
        units.sort_unstable();
        let new = Self { folder, right, wrong, text, plan, units: [units[0], units[1]] };
        fs::write(&new.wrong, new.wrong_text(1)).expect("room");
        new
    }

    /// The journal of a host that counted both units, and found so much more for each.
    fn wrong_text(&self, by: u64) -> String {
        let mut text = self.text.split_inclusive('\n').take(2).collect::<String>();
        for line in self.text.lines().filter(|line| line.starts_with("done ")) {
            let unit = units_of_line(line).start;
            if self.units.iter().any(|(wrong, _)| *wrong == unit) {
                text += &raised(&self.plan, &self.text, line, by).1;
            }
        }
        text
    }

    /// Writes another journal to the folder.
    fn add(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("room");
    }

    /// The number of files in the folder.
    fn files(&self) -> usize {
        fs::read_dir(&self.folder).expect("there").count()
    }

    /// Counts in the folder, and expects the right total, with one warning of each unit.
    fn is_settled_by_counting(&self) {
        let files = self.files();
        let counted = count(&self.folder, &["--quiet"]);
        assert_eq!((counted.status.code(), stdout(&counted)), (Some(0), TOTAL), "{counted:?}");
        let warnings: Vec<&str> = stderr(&counted).lines().collect();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        for (warning, (unit, _)) in warnings.iter().zip(self.units) {
            let begins = format!("nqueens: warning: unit {unit} was counted as ");
            assert!(warning.starts_with(&begins), "{warning}");
            assert!(warning.ends_with("it is missing until it is counted again"), "{warning}");
        }
        assert_eq!(self.files(), files + 1, "the units are in a new file");
        assert_eq!(self.record().total(), Some(2680));
        self.is_settled();
    }

    /// Expects the right total of all commands, and that nothing is left to count.
    fn is_settled(&self) {
        let files = self.files();
        for args in [&["count", N, "--quiet", "--journal"][..], &["merge", "--quiet"]] {
            let again = run(nqueens(args).arg(&self.folder));
            assert_eq!((again.status.code(), stdout(&again)), (Some(0), TOTAL), "{again:?}");
            for (unit, count) in self.units {
                let ends = format!(": a machine made an error; more lines settle it as {count}");
                let of_unit = |line: &&str| {
                    line.contains(&format!("unit {unit} was counted as ")) && line.ends_with(&ends)
                };
                assert_eq!(stderr(&again).lines().filter(of_unit).count(), 1, "{again:?}");
            }
            assert_eq!(stderr(&again).lines().count(), 2, "{again:?}");
        }
        assert_eq!(self.files(), files, "nothing was left to count");
    }

    fn record(&self) -> OnePass {
        record_of(&[&self.folder])
    }

    /// For each number of the first wrong unit, the lines that hold it, and the hosts.
    fn votes(&self) -> Vec<(u64, usize, Vec<String>)> {
        let record = self.record();
        assert_eq!(
            (record.differences().len(), record.differences()[0].unit),
            (2, self.units[0].0)
        );
        let verified = json(&output(&["verify", "--json", arg(&self.folder)]));
        let recorded = verified["differences"][0]["recorded"].as_array().expect("a list").clone();
        let votes = recorded.into_iter().map(|vote| {
            let count = vote["count"].as_str().expect("a number").parse().expect("a number");
            let lines: usize = vote["lines"].as_u64().expect("a number").try_into().expect("few");
            (count, lines, serde_json::from_value(vote["hosts"].clone()).expect("names"))
        });
        votes.collect()
    }
}

fn hosts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_unit_with_two_numbers_is_missing_and_the_same_command_settles_it() {
    let journals = TwoHosts::new("disputed-count");
    let before = [&journals.right, &journals.wrong].map(|path| fs::read(path).expect("there"));
    for command in ["merge", "status"] {
        let report = output(&[command, "--json", arg(&journals.folder)]);
        let object = json(&report);
        assert!(object["total"].is_null(), "{command}: {object}");
        assert_eq!(object["missing"]["units"], 2, "{command}: {object}");
        assert_eq!((&object["disputed"], &object["settled"]), (&2.into(), &0.into()), "{object}");
        let warnings: Vec<&str> = stderr(&report).lines().collect();
        for (warning, (unit, count)) in warnings.iter().zip(journals.units) {
            let expected = format!(
                "nqueens: warning: unit {unit} was counted as {count} (node1) and {} (node2): a machine made an error; it \
                 is missing until it is counted again",
                count + 1
            );
            assert_eq!(*warning, expected, "{command}");
        }
    }
    let merged = output(&["merge", arg(&journals.folder)]);
    assert_eq!((merged.status.code(), stdout(&merged)), (Some(3), ""), "{merged:?}");
    assert!(stderr(&merged).contains("the journals lack 2 of "), "{merged:?}");
    let missing = output(&["merge", "--missing", arg(&journals.folder)]);
    assert_eq!((missing.status.code(), stdout(&missing)), (Some(3), "0\n"), "{missing:?}");
    assert_eq!(journals.files(), 2, "nothing was written");

    journals.is_settled_by_counting();
    let [right, wrong] = [journals.right.clone(), journals.wrong.clone()];
    assert_eq!([right, wrong].map(|path| fs::read(path).expect("there")), before);
    let merged = json(&output(&["merge", "--json", arg(&journals.folder)]));
    assert_eq!((&merged["disputed"], &merged["settled"]), (&0.into(), &2.into()), "{merged}");
}

/// The command that `status` prints counts these units again, too.
#[test]
fn the_command_of_status_settles_a_unit() {
    let journals = TwoHosts::new("disputed-status");
    let status = json(&output(&["status", "--json", arg(&journals.folder)]));
    let resume = status["resume"].as_str().expect("a command");
    let resumed = shell(&journals.folder, resume);
    assert_eq!(resumed.status.code(), Some(0), "{resume}: {resumed:?}");
    journals.is_settled();
}

/// Lines are copied when journals are packed, sent and kept twice. A copy says nothing new.
#[test]
fn a_wrong_line_that_was_copied_is_one_line() {
    let journals = TwoHosts::new("disputed-copies");
    let text = journals.wrong_text(1);
    for number in 3..6 {
        journals.add(&format!("n11-0000-of-0001.node{number}.7.journal"), &text);
    }
    // It went through Windows, and its lines are in another order, each of them twice.
    let mut lines: Vec<&str> = text.lines().chain(text.lines()).collect();
    lines.reverse();
    journals.add("copy.journal", &(lines.join("\r\n") + "\r\n"));
    let (_, right) = journals.units[0];
    let of_wrong = ["copy.journal", "node2", "node3", "node4", "node5"];
    let expected = [(right, 1, hosts(&["node1"])), (right + 1, 1, hosts(&of_wrong))];
    assert_eq!(journals.votes(), expected);
    journals.is_settled_by_counting();
}

/// Packing must neither settle a unit nor take its settlement away.
#[test]
fn a_packed_journal_beside_its_parts_settles_nothing() {
    let journals = TwoHosts::new("disputed-packed");
    let pack = || {
        let packed = "cat *.journal > packed.tmp && mv packed.tmp packed.journal";
        assert!(shell(&journals.folder, packed).status.success());
    };
    pack();
    let lines = || journals.votes().iter().map(|(_, lines, _)| *lines).collect::<Vec<_>>();
    assert_eq!(lines(), [1, 1]);
    journals.is_settled_by_counting();
    assert_eq!(lines(), [2, 1]);
    pack();
    assert_eq!(lines(), [2, 1]);
    journals.is_settled();
    // The parts may go, and then nobody knows any more which host was wrong.
    for path in journals_in(&journals.folder) {
        if !path.ends_with("packed.journal") {
            fs::remove_file(path).expect("there");
        }
    }
    assert_eq!(lines(), [2, 1]);
    journals.is_settled();
}

#[test]
fn three_numbers_of_a_unit_are_settled_by_the_next_count() {
    let journals = TwoHosts::new("disputed-three");
    // All three are in one file, in lines beside each other.
    let text = journals.text.clone() + &journals.wrong_text(1) + &journals.wrong_text(7);
    fs::remove_file(&journals.wrong).expect("there");
    fs::write(&journals.right, text).expect("room");
    let (_, right) = journals.units[0];
    let one = |count| (count, 1, hosts(&["node1"]));
    assert_eq!(journals.votes(), [right, right + 1, right + 7].map(one));
    journals.is_settled_by_counting();
}

/// The first count adds a number, so it ends without a total, and the next one settles the units.
#[test]
fn if_all_numbers_are_wrong_two_counts_settle_the_unit() {
    let journals = TwoHosts::new("disputed-all-wrong");
    let mut text = String::new();
    for line in journals.text.split_inclusive('\n') {
        let is_of = |unit| journals.units.iter().any(|(wrong, _)| *wrong == unit);
        if line.starts_with("done ") && is_of(units_of_line(line).start) {
            text += &raised(&journals.plan, &journals.text, line, 3).1;
        } else {
            text += line;
        }
    }
    fs::write(&journals.right, text).expect("room");
    let counted = count(&journals.folder, &["--quiet"]);
    assert_eq!((counted.status.code(), stdout(&counted)), (Some(3), ""), "{counted:?}");
    assert_eq!(journals.record().total(), None);
    // A second pass whose line has the text of the first one would be taken for a copy. That takes the same time in
    // milliseconds and in microseconds.
    let new = journals_in(&journals.folder);
    let new = new.iter().find(|path| ![&journals.right, &journals.wrong].contains(path));
    let new = new.expect("a new journal");
    let slow = slower(&fs::read_to_string(new).expect("text"));
    fs::write(new, slow).expect("room");
    journals.is_settled_by_counting();
}

/// Two wrong lines with one number, perhaps of one machine with bad memory, are more than one right line. So `verify`
/// looks at every unit with different numbers, and names the host. Without its journals the count is right.
#[test]
fn verify_finds_a_unit_that_was_settled_as_a_wrong_number() {
    let journals = TwoHosts::new("disputed-verify");
    let check = || {
        let checked = output(&["verify", "--json", "--units", "1", arg(&journals.folder)]);
        (checked.status.code(), json(&checked)["differences"].clone(), stderr(&checked).to_owned())
    };
    let hosts = "(node1) and {} (node2)";
    let said = |(unit, count): (usize, u64)| {
        let votes = format!("{count} {}", hosts.replace("{}", &(count + 1).to_string()));
        format!("nqueens: unit {unit}: the first pass has {votes}, the recount finds {count}\n")
    };
    // Not settled: they are missing, and their numbers are named, but none of them is in use.
    let (_, differences, messages) = check();
    for (number, (unit, count)) in journals.units.into_iter().enumerate() {
        assert!(messages.contains(&said((unit, count))), "{messages}");
        let difference = &differences[number];
        assert_eq!((&difference["unit"], &difference["pass"]), (&unit.into(), &"first".into()));
        assert_eq!(difference["recounted"], count.to_string(), "{difference}");
        let recorded = &difference["recorded"];
        assert_eq!(recorded[1]["count"], (count + 1).to_string(), "{difference}");
        assert_eq!(recorded[1]["hosts"], serde_json::json!(["node2"]), "{difference}");
    }
    // Settled as the wrong number.
    let again = slower(&journals.wrong_text(1)).replace("7200000", "7200001");
    let mut text = String::new();
    for line in again.lines() {
        match line.starts_with("done ") {
            true => text += &with_check_digits(&again, without_check_digits(line)),
            false => text += &format!("{line}\n"),
        }
    }
    fs::write(&journals.wrong, journals.wrong_text(1) + &text).expect("room");
    assert_eq!(journals.record().total(), Some(2680 + excess(&journals)));
    let merged = output(&["merge", "--quiet", arg(&journals.folder)]);
    assert_eq!(merged.status.code(), Some(1), "the published total differs: {merged:?}");
    let (code, _, messages) = check();
    assert_eq!(code, Some(1), "{messages}");
    for unit in journals.units {
        assert!(messages.contains(&said(unit)), "{messages}");
    }
    fs::rename(&journals.wrong, journals.folder.join("away")).expect("room");
    let merged = output(&["merge", "--quiet", arg(&journals.folder)]);
    assert_eq!(result(&merged), (Some(0), TOTAL, ""));
}

/// The solutions that both units have too many.
fn excess(journals: &TwoHosts) -> u128 {
    journals.units.iter().map(|(unit, _)| u128::from(journals.plan.weight(*unit))).sum()
}

/// A shard reads what may hold its own units, so a dispute elsewhere neither stops it nor is told to it.
#[test]
fn a_dispute_in_shard_0_of_1000_stops_no_other_shard() {
    let folder = fresh_folder("disputed-shards");
    let shard = |index: usize| {
        let shard = format!("{index}/1000");
        let args = ["--engine", "subtrees", "--split-rows", "3", "--shard", &shard, "--json"];
        let counted = count(&folder, &args);
        assert_eq!(counted.status.code(), Some(0), "{counted:?}");
        counted
    };
    assert!(json(&shard(0))["units"].as_u64() > Some(0), "it has a unit");
    let path = journals_in(&folder).remove(0);
    let text = slower(&fs::read_to_string(&path).expect("text"));
    fs::write(&path, &text).expect("room");
    let plan = contents(&path).plan().clone();
    let line = text.lines().nth(2).expect("a line");
    let (unit, wrong) = raised(&plan, &text, line, 1);
    let head: String = text.split_inclusive('\n').take(2).collect();
    fs::write(folder.join("n11-0000-of-1000.node2.7.journal"), head + &wrong).expect("room");
    for index in [1, 7] {
        let counted = shard(index);
        let units = json(&counted)["units"].clone();
        assert_eq!((stderr(&counted), &json(&counted)["units_done"]), ("", &units));
    }
    let missing = output(&["merge", "--missing", arg(&folder)]);
    assert!(stdout(&missing).starts_with("0,2-6,8-"), "{missing:?}");

    // A file with any other name may hold any unit. So every shard reads it, and warns, but none is stopped.
    fs::rename(folder.join("n11-0000-of-1000.node2.7.journal"), folder.join("wrong.journal"))
        .expect("room");
    shard(2);
    let warning = format!("nqueens: warning: unit {unit} was counted as ");
    let settled = shard(0);
    assert!(stderr(&settled).starts_with(&warning), "{settled:?}");
    let missing = output(&["merge", "--missing", arg(&folder)]);
    assert!(stdout(&missing).starts_with("3-6,8-"), "{missing:?}");
    assert!(stderr(&missing).contains("more lines settle it as "), "{missing:?}");
}

/// Whoever counts disputed units may be killed. What it has counted by then is in its journal, and the next run of the
/// same command does the rest.
#[test]
fn a_kill_while_units_are_settled_loses_nothing() {
    let folder = fresh_folder("disputed-kill");
    units_with_two_counts(18, 8000, &folder.join("n18-0000-of-0001.node1.7.journal"));
    let args = ["count", "18", "--quiet", "--threads", "1", "--kernel", "portable", "--journal"];
    let counted = || run(nqueens(&args).arg(&folder));
    let mut child = spawn(nqueens(&args).arg(&folder));
    // A third number, or one of the two once more.
    let new = wait_for_new_journal(&folder, &mut child);
    wait_for_units(&new, &mut child, 0);
    send("KILL", &child);
    let killed = finish(child);
    assert_eq!(killed.status.code(), None, "it was killed before its end: {killed:?}");
    let after_kill = counts(&record_of(&[&new]));
    assert!(!after_kill.is_empty() && record_of(&[&folder]).total().is_none());

    // Both of the written numbers are wrong for most units, so the first whole count adds a third one, and the next
    // count settles what the killed process had not counted.
    let settled = until_settled(&counted);
    assert_eq!(stdout(&settled), "666090624\n", "{settled:?}");
    let after = record_of(&[&folder]);
    for (unit, count) in after_kill {
        assert_eq!(after.count(unit), Some(count), "unit {unit}");
    }
}

/// Runs the same command until it is done. Two counts of a unit that takes microseconds may write equal lines, which
/// are one line, so another run may be needed.
fn until_settled(count: &dyn Fn() -> Output) -> Output {
    for _ in 0..6 {
        let counted = count();
        if counted.status.code() == Some(0) {
            return counted;
        }
        assert_eq!((counted.status.code(), stdout(&counted)), (Some(3), ""), "{counted:?}");
    }
    panic!("six runs settle nothing");
}

/// The journal in a folder that a process has just made.
fn wait_for_new_journal(folder: &Path, child: &mut std::process::Child) -> PathBuf {
    crate::common::processes::wait_for("a journal", child, || {
        let files = journals_in(folder);
        files.into_iter().find(|path| !arg(path).ends_with("node1.7.journal"))
    })
}

/// All of them are read in one pass over the files, and each is settled.
#[test]
fn ten_thousand_disputes_are_settled_together() {
    let folder = fresh_folder("disputed-many");
    let args = ["count", "17", "--engine", "subtrees", "--split-rows", "4", "--quiet", "--journal"];
    let counted = || run(nqueens(&args).arg(&folder));
    let total = "95815104\n";
    assert_eq!(result(&counted()), (Some(0), total, ""));
    let plan = plan_of(size(17), Engine::Subtrees, Some(4));
    let units = 10_000;
    assert!(plan.units() > units, "{plan}");
    let record = contents(&folder);
    let first = first_line_with_check_digits(&format!("nqueens-journal 2 version=0.1.0 {plan}"));
    let mut text = first.clone();
    for unit in 0..units {
        let count = record.count(unit).expect("finished") + 1;
        let sum = u128::from(count) * u128::from(plan.weight(unit));
        let line = format!(
            "done units={unit}..{} solutions={sum} elapsed-ms=1 busy-us=1 counts={count}",
            unit + 1
        );
        text += &with_check_digits(&first, &line);
    }
    fs::write(folder.join("wrong.journal"), text).expect("room");
    let disputed = record_of(&[&folder]);
    assert_eq!(
        (disputed.differences().len(), disputed.units_done()),
        (units, plan.units() - units)
    );

    let in_time = |run: &dyn Fn() -> Output| {
        let begun = Instant::now();
        let output = run();
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}: {output:?}", begun.elapsed());
        output
    };
    let status = in_time(&|| output(&["status", "--json", arg(&folder)]));
    assert_eq!(json(&status)["disputed"], units, "{status:?}");
    assert!(stderr(&status).ends_with("\nnqueens: and 9995 more\n"), "{status:?}");
    let counted = until_settled(&|| in_time(&counted));
    assert_eq!(stdout(&counted), total, "{counted:?}");
    assert!(stderr(&counted).ends_with("\nnqueens: and 9995 more\n"), "{counted:?}");
    let merged = in_time(&|| output(&["merge", "--json", arg(&folder)]));
    assert_eq!((&json(&merged)["settled"], &json(&merged)["disputed"]), (&units.into(), &0.into()));
}

#[test]
fn a_check_recounts_the_units_with_two_numbers_as_the_others() {
    let journals = TwoHosts::new("disputed-library");
    let record = journals.record();
    let units = journals.units.map(|(unit, _)| unit);
    assert!(record.differences().iter().map(|dispute| dispute.unit).eq(units));
    let verdict = record.0.verify(3, 1, &Cancel::new()).expect("a verdict");
    assert_eq!((verdict.recounted, verdict.disputed), (3, 2));
    assert_eq!(verdict.wrong_units_in_use(), 0, "what is missing is not used");
    let found: Vec<_> = verdict.differences.iter().map(|of| (of.unit, of.recounted)).collect();
    assert_eq!(found, journals.units.map(|(unit, count)| (unit, Some(count))));

    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = record.0.verify(3, 1, &cancel).expect("a verdict");
    assert_eq!((stopped.recounted, stopped.disputed, stopped.remaining), (0, 0, 5));
}

/// A unit that is settled and chosen, too, is recounted once.
#[test]
fn a_check_recounts_no_unit_twice() {
    let journals = TwoHosts::new("disputed-once");
    journals.is_settled_by_counting();
    let record = journals.record();
    let units = record.plan().units();
    let verdict = record.0.verify(usize::MAX, 1, &Cancel::new()).expect("a verdict");
    assert_eq!((verdict.recounted, verdict.disputed, verdict.remaining), (units, 2, 0));
    assert_eq!((verdict.differences.len(), verdict.wrong_units_in_use()), (2, 0));
}

/// A unit of n = 28 takes a minute, so none is finished before the signal.
#[cfg(unix)]
#[test]
fn the_bar_of_a_check_has_all_units_and_a_signal_stops_it() {
    let path = fresh("disputed-bar.journal");
    eight_units_with_two_counts(28, &path);
    let args = ["verify", arg(&path), "--threads", "1", "--progress", "always"];
    let mut child = spawn(nqueens(&args).stdout(Stdio::null()));
    let mut messages = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains(" units, elapsed") {
        line.clear();
        assert_ne!(messages.read_line(&mut line).expect("text"), 0, "it ended without progress");
    }
    assert!(line.contains("0/8 units"), "{line}");
    send("TERM", &child);
    let mut message = String::new();
    messages.read_to_string(&mut message).expect("text");
    assert_eq!(child.wait().expect("ended").code(), Some(3), "{message}");
    assert!(message.contains("stopped after recounting 0 of 8 units"), "{message}");
}

/// A journal that this user may not read may hold lines that outvote all others.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_settled_while_a_journal_cannot_be_read() {
    use crate::common::processes::shim;

    let folder = fresh_folder("disputed-unread");
    let (path, text) = finished(&folder);
    let plan = contents(&path).plan().clone();
    let line = text.lines().find(|line| line.starts_with("done ")).expect("a line").to_owned();
    let first = text.lines().next().expect("a line");
    // Two lines with a wrong number, and two more with the right one in a file that cannot be read.
    let mut wrong = text.clone();
    let mut right = format!("{first}\n");
    for number in 1..=2 {
        let again = line.replace("busy-us=", &format!("busy-us={number}"));
        wrong += &raised(&plan, &text, &again, 1).1;
        right += &raised(&plan, &text, &again, 0).1;
    }
    fs::write(&path, &wrong).expect("room");
    let unread = folder.join("unread.journal");
    fs::write(&unread, &right).expect("room");
    let merge = |faults: &[(&str, &str)]| {
        let mut command = nqueens(&["merge", "--quiet", arg(&folder)]);
        run(command.env("LD_PRELOAD", shim()).envs(faults.iter().copied()))
    };
    let settled = merge(&[]);
    assert_eq!((settled.status.code(), stdout(&settled)), (Some(0), TOTAL), "{settled:?}");
    let faults = [("SHIM_FAIL", "open"), ("SHIM_ERRNO", "13"), ("SHIM_PATH", "unread.journal")];
    let unsettled = merge(&faults);
    assert_eq!((unsettled.status.code(), stdout(&unsettled)), (Some(1), ""), "{unsettled:?}");
    assert!(stderr(&unsettled).contains("is missing until it is counted again"), "{unsettled:?}");
}
