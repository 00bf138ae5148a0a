//! Promise: a unit with two different counts is never part of a total, and no count of it starts until the wrong
//! line is out.
//! `verify` finds that line. docs/JOURNAL.md makes this promise under "A unit is wrong".

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use nqueens::record::Record;
use nqueens::verify::{choose_units, verify};
use nqueens::{Cancel, Count, Error, Shard};
use serde_json::Value;

use super::damage::{TOTAL, count, finished, flip, obey, printed_command, resumes, write};
use crate::common::processes::send;
use crate::common::{
    arg, commands_after, contents, count_shard, eight_units_with_two_counts, fresh, fresh_folder,
    json, nqueens, output, raise_counts, raise_first_count, raised, refused, result, set_aside,
    shell, size, spawn, stderr, stdout, units_with_two_counts,
};

/// Two finished journals of one count. Lines 9 and 30 of the second one, counted from 1, are wrong, and its line 5 is
/// damaged.
struct TwoJournals {
    folder: PathBuf,
    right: PathBuf,
    wrong: PathBuf,
    /// The units with two counts: the one of line 9, then the one of line 30.
    units: [usize; 2],
}

impl TwoJournals {
    fn new(name: &str) -> Self {
        let folder = fresh_folder(name);
        let (right, text) = finished(&folder);
        let wrong = folder.join("wrong.journal");
        write(&wrong, &text);
        let units = raise_counts(&wrong, 1, |number, _| [8, 29].contains(&number));
        let raised = fs::read_to_string(&wrong).expect("text");
        let mut lines = Vec::new();
        for line in raised.split_inclusive('\n') {
            lines.push(line.as_bytes().to_vec());
        }
        flip(&mut lines, 5);
        write(&wrong, lines.concat());
        Self { folder, right, wrong, units: units.try_into().expect("two lines") }
    }

    /// The command that finds the wrong lines.
    fn verify(&self) -> String {
        format!("nqueens verify {} {}", arg(&self.right), arg(&self.wrong))
    }

    /// The bytes of both files, and the number of files in the folder.
    fn bytes_and_files(&self) -> ([Vec<u8>; 2], usize) {
        let bytes = [&self.right, &self.wrong].map(|path| fs::read(path).expect("there"));
        (bytes, fs::read_dir(&self.folder).expect("there").count())
    }
}

/// A machine has made an error, and counting the unit once more would not settle which count is right.
#[test]
fn no_count_starts_over_two_counts_of_a_unit() {
    let journals = TwoJournals::new("disputed-count");
    let before = journals.bytes_and_files();
    let right = arg(&journals.right);
    let wrong = arg(&journals.wrong);
    let [of_line_9, of_line_30] = journals.units;
    let (first, line) = if of_line_9 < of_line_30 { (of_line_9, 9) } else { (of_line_30, 30) };
    let words = [
        format!("unit {first} has the count "),
        format!("in line {line} of {right}, but "),
        format!("in line {line} of {wrong}: "),
        format!("and how to take it out: {}", journals.verify()),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    refused(&count(&journals.folder, &["--quiet"]), 1, &words);
    // Of 95 shards each has one unit.
    for unit in journals.units {
        let plan = contents(&journals.right).plan().clone();
        let of_unit = |index: &usize| {
            let shard = Shard::new(*index, 95).expect("in range");
            shard.ranges(plan.units()).any(|range| range.contains(&unit))
        };
        let index = (0..95).find(of_unit).expect("a shard");
        let shard = count(&journals.folder, &["--shard", &format!("{index}/95"), "--quiet"]);
        refused(&shard, 1, &["a machine made an error"]);
    }
    assert_eq!(journals.bytes_and_files(), before, "the files are only read");
}

#[test]
fn reports_leave_out_units_with_two_counts() {
    let journals = TwoJournals::new("disputed-reports");
    for command in ["merge", "status"] {
        let report = output(&[command, "--json", arg(&journals.folder)]);
        assert_eq!(report.status.code(), Some(1), "{command}: {report:?}");
        let object = json(&report);
        assert_eq!(object["total"], Value::Null, "{command}");
        assert_eq!(object["missing"]["units"], 2, "{command}");
        for unit in journals.units {
            let named = format!("unit {unit} has the count ");
            assert!(stderr(&report).contains(&named), "{command}: {report:?}");
        }
    }
    // No count would begin, so no command is printed that resumes it.
    let status = json(&output(&["status", "--json", arg(&journals.folder)]));
    assert_eq!(status["resume"], Value::Null);
    let shown = output(&["status", arg(&journals.folder)]);
    let reason = "resume       none while units have two counts: see 'nqueens verify'\n";
    assert!(stdout(&shown).contains(reason), "{shown:?}");
    assert!(stdout(&shown).contains("disputed     2 units with two counts: "), "{shown:?}");
    assert_eq!(status["disputed"], 2);
    assert!(stderr(&shown).contains(": nqueens verify "), "{shown:?}");
    let page = journals.folder.join("page.html");
    let drawn = output(&["status", "--html", arg(&page), arg(&journals.folder)]);
    assert_eq!(drawn.status.code(), Some(1), "{drawn:?}");
    let page = fs::read_to_string(&page).expect("a page");
    assert!(page.contains("2 units with two counts"), "{page}");
    assert!(page.contains("There is no command that counts it: "), "{page}");
}

/// Only the shard of the unit is refused, so all others can be counted.
#[test]
fn a_unit_with_two_counts_stops_its_own_shard_only() {
    let folder = fresh_folder("disputed-shard");
    set_aside(&count_shard(12, 1, 4, &folder), "right");
    let wrong = folder.join("wrong.journal");
    fs::copy(folder.join("right.journal"), &wrong).expect("room");
    raise_first_count(&wrong);
    let status = json(&output(&["status", "--json", arg(&folder)]));
    let resume = status["resume"].as_str().expect("a command");
    assert!(resume.contains("for i in 0 $(seq 2 3); do "), "{resume}");
    let counted = shell(&folder, resume);
    assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    let refusal = ["count", "12", "--shard", "1/4", "--journal", arg(&folder)];
    refused(&output(&refusal), 1, &["a machine made an error"]);
    let status = json(&output(&["status", "--json", arg(&folder)]));
    assert_eq!((&status["missing"]["units"], &status["resume"]), (&1.into(), &Value::Null));
}

/// One command takes all bad lines out. After two commands for one file, the second would take out good lines.
#[test]
fn verify_finds_the_wrong_lines_and_one_command_takes_them_out() {
    let journals = TwoJournals::new("disputed-verify");
    let wrong = arg(&journals.wrong);
    let found = shell(&journals.folder, &journals.verify());
    let (code, _, message) = result(&found);
    assert_eq!(code, Some(1), "{message}");
    for (unit, line) in journals.units.into_iter().zip([9, 30]) {
        let begins = format!("nqueens: unit {unit} is recorded with ");
        let place = format!(" in line {line} of {wrong} (");
        let named =
            message.lines().filter(|said| said.starts_with(&begins) && said.contains(&place));
        assert_eq!(named.count(), 1, "unit {unit}: {message}");
    }
    let accused = format!(" of {} (", arg(&journals.right));
    assert!(!message.contains(&accused), "its lines are right: {message}");
    let take_out = format!("sed -i.bak '5d;9d;30d' {wrong}");
    assert_eq!(printed_command(message, "sed -i.bak "), take_out);

    let found = json(&output(&["verify", "--json", arg(&journals.folder)]));
    let mut lines = Vec::new();
    for difference in found["differences"].as_array().expect("a list") {
        assert_eq!(difference["file"], wrong, "{difference}");
        lines.push(difference["line"].as_u64().expect("a number"));
    }
    lines.sort_unstable();
    assert_eq!(lines, [9, 30]);

    obey(&journals.folder, &take_out);
    resumes(&journals.folder);
    let merged = output(&["merge", "--quiet", arg(&journals.folder)]);
    assert_eq!(result(&merged), (Some(0), TOTAL, ""));
}

/// Whoever shows a bar knows how many units there are, and hears of each.
#[test]
fn a_check_recounts_the_units_with_two_counts_as_the_others() {
    let journals = TwoJournals::new("disputed-library");
    let files = [journals.right.clone(), journals.wrong.clone()];
    let record = Record::read(&files).expect("readable").expect("two journals");
    let right = contents(&journals.right);
    let mut units = journals.units;
    units.sort_unstable();
    assert_eq!(record.disputed(), units);
    let chosen = choose_units(&[&record], 3, 1);
    let heard = AtomicUsize::new(0);
    let hear = || _ = heard.fetch_add(1, Ordering::Relaxed);
    let verdict = verify(&[&record], &chosen, &hear, &Cancel::new()).expect("a verdict");
    assert_eq!((verdict.recounted, verdict.differences.len()), (3, 0));
    let found: Vec<_> = verdict.disputed.iter().map(|of| (of.unit, Some(of.recounted))).collect();
    assert_eq!(found, units.map(|unit| (unit, right.count(unit))));
    assert_eq!(heard.into_inner(), 5);

    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = verify(&[&record], &chosen, &|| (), &cancel).expect("a verdict");
    assert_eq!((stopped.recounted, stopped.disputed.len()), (0, 0));
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
    // The journal has units with two counts, so it is not the signal that decides the exit code.
    assert_eq!(child.wait().expect("ended").code(), Some(1), "{message}");
    assert!(message.contains("stopped after recounting 0 of 8 units"), "{message}");
}

/// Journals may be packed while the old ones are still there, and then a wrong line is in two files. If only one of them
/// were taken out, the other one would be right for all that a count can see.
#[test]
fn every_copy_of_a_wrong_line_is_taken_out() {
    let folder = fresh_folder("damage-copies");
    let (_, text) = finished(&folder);
    let wrong = folder.join("wrong.journal");
    let packed = folder.join("packed.journal");
    write(&wrong, &text);
    raise_counts(&wrong, 1, |number, _| number == 8);
    fs::copy(&wrong, &packed).expect("room");
    let found = output(&["verify", arg(&folder)]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let commands = commands_after("so that their units are counted again: ", stderr(&found));
    let all = [&packed, &wrong].map(|path| format!("sed -i.bak '9d' {}", arg(path)));
    assert_eq!(commands, all);
    obey(&folder, &all.join(" && "));
    resumes(&folder);
}

/// Both lines stand in the file that the count would go on with.
#[test]
fn a_file_with_two_counts_of_a_unit_is_refused_until_one_line_is_out() {
    let folder = fresh_folder("damage-disputed");
    let (path, text) = finished(&folder);
    let plan = contents(&path).plan().clone();
    let (number, line) = text.lines().enumerate().nth(20).expect("a line");
    let (unit, other) = raised(&plan, &text, line, 1);
    let last = text.lines().count() + 1;
    write(&path, text.clone() + &other);
    let places = format!(" in line {} of {}, but ", number + 1, arg(&path));
    refused(&count(&path, &[]), 1, &[&format!("unit {unit} has the count "), &places]);
    let found = output(&["verify", arg(&path)]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let report = json(&output(&["verify", "--json", "--units", "3", arg(&path)]));
    assert_eq!(report["differences"].as_array().map(Vec::len), Some(1), "{report}");
    let difference = &report["differences"][0];
    assert_eq!(difference["unit"], unit, "{report}");
    assert_eq!(difference["line"], last, "{report}");
    assert_eq!(difference["file"], arg(&path), "{report}");
    let right = difference["recounted"].as_str().expect("text").parse::<u64>().expect("a number");
    assert_eq!(difference["recorded"], (right + 1).to_string(), "{report}");
    let command = printed_command(stderr(&found), "sed -i.bak ");
    assert_eq!(command, format!("sed -i.bak '{last}d' {}", arg(&path)));
    obey(&folder, command);
    resumes(&path);
    assert_eq!(fs::read_to_string(&path).expect("text"), text, "nothing was left to count");

    // Equal duplicates are harmless.
    write(&path, format!("{text}{line}\n"));
    resumes(&path);
}

/// The lines of so many units are not all looked up, but every unit counts as disputed.
#[test]
fn of_very_many_units_with_two_counts_none_is_passed_over() {
    let path = fresh("disputed-many.journal");
    let units = 10_400;
    units_with_two_counts(24, units, &path);
    let record = Record::read(&[&path]).expect("readable").expect("a journal");
    assert_eq!(record.disputed(), Vec::from_iter(0..units));
    assert_eq!((record.left_out().len(), record.sum().units), (10_000, 0));
    let shards = record.shard_units(1).expect("in range");
    assert_eq!(shards[0].disputed, units);
    // A unit whose lines were not looked up stops a count of its shard, too.
    let holds = |shard: &Shard, unit| {
        shard.ranges(record.plan().units()).any(|range| range.contains(&unit))
    };
    let mut shards = (0..1000).map(|index| Shard::new(index, 1000).expect("in range"));
    let shard = shards.find(|shard| holds(shard, 10_200)).expect("one shard holds it");
    assert!(!(0..10_000).any(|unit| holds(&shard, unit)), "{shard}");
    let refused = Count::new(size(24)).shard(shard).journal(&path).run();
    assert!(matches!(refused, Err(Error::CountsDiffer(_))), "{refused:?}");
}
