//! Promise: a damaged line costs its own units and nothing else, and a count needs no command for it. docs/JOURNAL.md
//! makes this promise under "What is promised". `journal_fuzz` has random damage of every kind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use nqueens::journal::JournalErrorKind;

use super::fuzzed::damaged_lines;
use crate::common::processes::{send, wait_until};
use crate::common::{
    arg, contents, count_shard, counts, finish, fresh_folder, journal_error, journal_in,
    journals_in, json, nqueens, output, read, record_of, refused, result, run, spawn, stderr,
    stdout,
};

/// Q(11), and its text.
pub(crate) const N: &str = "11";
pub(crate) const TOTAL: &str = "2680\n";

/// The plan of [`finished`], for a count that has to name it.
const PLAN: [&str; 4] = ["--engine", "subtrees", "--split-rows", "2"];

/// Runs a count that records its units in this folder.
pub(crate) fn count(folder: &Path, args: &[&str]) -> Output {
    run(nqueens(&["count", N, "--threads", "1", "--journal"]).arg(folder).args(args))
}

/// A finished journal `q.journal` in a folder, with many short lines, and its text.
pub(crate) fn finished(folder: &Path) -> (PathBuf, String) {
    // Many threads take many short ranges, so the journal has many lines.
    let counted = count(folder, &[&PLAN[..], &["--threads", "16"]].concat());
    assert!(counted.status.success(), "{counted:?}");
    let path = folder.join("q.journal");
    fs::rename(journal_in(folder), &path).expect("the folder can be written");
    let text = fs::read_to_string(&path).expect("text");
    (path, text)
}

/// Resumes the count in a folder and expects the exact total, without a warning.
pub(crate) fn resumes(folder: &Path) {
    assert_eq!(result(&count(folder, &["--quiet"])), (Some(0), TOTAL, ""));
}

pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::write(path, bytes).expect("the folder can be written");
}

/// Removes all journals of a folder but one.
fn keep_only(folder: &Path, kept: &Path) {
    for path in journals_in(folder) {
        if path != kept {
            fs::remove_file(path).expect("the folder can be written");
        }
    }
}

/// What happens to the bytes of a journal.
type DamageOfBytes = fn(&mut [u8]);

/// What happens to the lines of a journal.
type Damage = fn(&mut Vec<Vec<u8>>);

/// Flips a bit of a line, counted from 1.
fn flip(lines: &mut [Vec<u8>], number: usize) {
    let line = &mut lines[number - 1];
    let middle = line.len() / 2;
    line[middle] ^= 1;
}

/// Damage behind the first line, with what the warning says of it. A last line without a line feed may belong to a
/// process that was killed, so there is no warning of it.
const DAMAGES: [(&str, Damage, Option<&str>); 9] = [
    ("a bit", |lines| flip(lines, 20), Some("line 20 is damaged")),
    ("the line of a run", |lines| flip(lines, 2), Some("line 2 is damaged")),
    (
        "many lines",
        |lines| [5, 9, 10, 11, 17].into_iter().for_each(|number| flip(lines, number)),
        Some("lines 5,9-11,17 are damaged"),
    ),
    (
        // Line ends are lost as well.
        "a block of zeros",
        |lines| {
            let mut hit: Vec<u8> = lines.drain(19..23).flatten().collect();
            let start = 20;
            let end = hit.len() - 20;
            hit[start..end].fill(0);
            lines.insert(19, hit);
        },
        Some("line 20 is damaged"),
    ),
    ("no text", |lines| lines[14] = b"\xff\xfe\x80 done\n".to_vec(), Some("line 15 is damaged")),
    (
        "other text between the lines",
        |lines| {
            lines.insert(7, b"\n".to_vec());
            lines.insert(8, b"a letter\n".to_vec());
        },
        Some("lines 8-9 are damaged"),
    ),
    (
        "a line without an end for megabytes",
        |lines| {
            let mut long = vec![b'x'; 3 << 20];
            long.push(b'\n');
            lines.insert(20, long);
        },
        Some("line 21 is damaged"),
    ),
    ("a tail", |lines| *lines.last_mut().expect("a line") = b"a letter".to_vec(), None),
    (
        "a tail of megabytes",
        |lines| *lines.last_mut().expect("a line") = vec![b'z'; 5 << 19],
        Some("line LAST is damaged"),
    ),
];

/// The total is exact, one warning names the lines, and the damaged file stays as it is.
#[test]
fn damage_behind_the_first_line_does_not_stop_a_count() {
    let folder = fresh_folder("damage-lines of it's user");
    let (path, text) = finished(&folder);
    let all = contents(&path).units_done();
    let whole: Vec<Vec<u8>> =
        text.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
    for (name, damage, expected) in DAMAGES {
        keep_only(&folder, &path);
        let mut lines = whole.clone();
        damage(&mut lines);
        let damaged = lines.concat();
        write(&path, &damaged);
        let warning = match expected {
            Some(expected) => {
                let named = expected.replace("LAST", &lines.len().to_string());
                format!("nqueens: warning: left out: {}: {named}\n", path.display())
            }
            None => String::new(),
        };
        let held = record_of(&[&path]).units_done();

        let counted = count(&folder, &["--json"]);
        assert_eq!((counted.status.code(), stderr(&counted)), (Some(0), &*warning), "{name}");
        let object = json(&counted);
        assert_eq!(object["total"], TOTAL.trim_end(), "{name}");
        assert_eq!(object["journal"]["units_before"], held, "{name}");
        assert!(fs::read(&path).expect("there") == damaged, "{name}: it is only read");
        assert_eq!(record_of(&[&folder]).units_done(), all, "{name}");

        // As long as the file is there, every command warns of it. Nothing is left to count, so no file is made.
        let files = journals_in(&folder);
        assert_eq!(files.len(), 1 + usize::from(held < all), "{name}");
        for args in [&["count", N, "--quiet", "--journal"][..], &["merge", "--quiet"]] {
            let again = run(nqueens(args).arg(&folder));
            assert_eq!(result(&again), (Some(0), TOTAL, &*warning), "{name}: {args:?}");
        }
        assert_eq!(journals_in(&folder), files, "{name}");
    }
}

#[test]
fn one_bad_byte_costs_one_line() {
    let folder = fresh_folder("damage-byte");
    let (path, text) = finished(&folder);
    let all = contents(&path).units_done();
    let mut bytes = text.clone().into_bytes();
    bytes[text.len() / 2] ^= 1;
    write(&path, &bytes);
    assert_eq!(journal_error(read(&path)).kind(), JournalErrorKind::Damaged);
    let held = record_of(&[&path]).units_done();
    assert!((all - 3..all).contains(&held), "{held} of {all} units");
    // What reads the journal says so too, and changes nothing.
    for command in ["merge", "status", "verify"] {
        let report = output(&[command, "--json", arg(&path)]);
        assert!(stderr(&report).contains(" is damaged\n"), "{command}: {report:?}");
        assert_eq!(json(&report)["damaged"], serde_json::json!([arg(&path)]), "{command}");
        assert_eq!(json(&report)["finished"], held, "{command}");
    }
    assert_eq!(output(&["merge", arg(&path)]).status.code(), Some(3), "units are missing");
    assert_eq!(fs::read(&path).expect("still there"), bytes, "the file is only read");
}

/// The end of the first line.
fn line_end(bytes: &mut [u8]) -> &mut u8 {
    bytes.iter_mut().find(|byte| **byte == b'\n').expect("a line")
}

/// The file does not say any more of which count it is. A command that names the plan does, and so does any other
/// journal of the count. Then all lines behind the first one are used.
#[test]
fn a_damaged_first_line_costs_no_unit_if_something_else_names_the_plan() {
    let folder = fresh_folder("damage-first");
    let (path, text) = finished(&folder);
    let shard = [&PLAN[..], &["--shard", "0/1000000", "--quiet"]].concat();
    let elsewhere = fresh_folder("damage-first-other");
    assert!(count(&elsewhere, &shard).status.success());
    let other = journal_in(&elsewhere);
    let damages: [(&str, DamageOfBytes); 4] = [
        ("a bit of the plan", |bytes| bytes[60] ^= 1),
        ("zeros", |bytes| bytes[..30].fill(0)),
        // Then the line of the run is a part of line 1, and lost.
        ("the line feed", |bytes| *line_end(bytes) = b' '),
        ("a bit of the first word", |bytes| bytes[3] ^= 1),
    ];
    for (name, damage) in damages {
        let mut bytes = text.clone().into_bytes();
        damage(&mut bytes);
        write(&path, &bytes);
        for command in ["merge", "status", "verify"] {
            let reasons = [arg(&path), "is not a journal of nqueens"];
            refused(&output(&[command, arg(&folder)]), 2, &reasons);
        }
        let warning = format!("nqueens: warning: left out: {}: line 1 is damaged\n", arg(&path));
        let counted = count(&folder, &[&PLAN[..], &["--quiet"]].concat());
        assert_eq!(result(&counted), (Some(0), TOTAL, &*warning), "{name}");
        // Nothing was left to count, but a new journal names the plan for other commands.
        let made = journals_in(&folder).into_iter().find(|made| *made != path);
        let made = made.expect("a new journal");
        assert_eq!(contents(&made).units_done(), 0, "{name}");
        for command in ["merge", "status", "verify"] {
            for beside in [&made, &other] {
                let report = output(&[command, "--json", arg(&path), arg(beside)]);
                assert_eq!((report.status.code(), stderr(&report)), (Some(0), &*warning), "{name}");
                assert_eq!(json(&report)["total"], TOTAL.trim_end(), "{name}: {command}");
            }
            assert_eq!(output(&[command, arg(&folder)]).status.code(), Some(0), "{name}");
        }
        let again = count(&folder, &[&PLAN[..], &["--quiet"]].concat());
        assert_eq!(result(&again), (Some(0), TOTAL, &*warning), "{name}");
        assert_eq!(journals_in(&folder).len(), 2, "{name}: no third one");
        fs::remove_file(made).expect("it is there");
        assert_eq!(fs::read(&path).expect("there"), bytes, "{name}: it is only read");
    }
}

/// A user who stops the count reads the warning as well.
#[test]
fn a_shard_says_what_it_left_out_as_it_starts() {
    let folder = fresh_folder("damage-stopped");
    write(&folder.join("bad.journal"), "nqueens-journal 2 \n");
    let mut shard = nqueens(&["count", "22", "--shard", "0/2", "--journal"]);
    let mut child = spawn(shard.arg(&folder));
    wait_until("a finished unit", &mut child, || {
        let files = journals_in(&folder);
        files.iter().any(|file| fs::read_to_string(file).is_ok_and(|text| text.contains("\ndone ")))
    });
    send("TERM", &child);
    let stopped = finish(child);
    assert_eq!(stopped.status.code(), Some(3), "{stopped:?}");
    let message = stderr(&stopped);
    assert!(message.starts_with("nqueens: warning: left out: "), "{message}");
    assert!(message.contains("bad.journal: is not a journal of nqueens"), "{message}");
    assert!(message.contains("stopped after "), "{message}");
}

/// A failed machine may leave a damaged file. Other processes continue without it, and all that is good is shown, with
/// a warning.
#[test]
fn a_damaged_journal_hides_nothing_else() {
    let folder = fresh_folder("damage-shard");
    let path = count_shard(12, 0, 3, &folder).journal.expect("it was written");
    let mut bytes = fs::read(&path).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    write(&path, bytes);
    let again = count_shard(12, 0, 3, &folder);
    let kept = again.units - again.units_before;
    assert!(kept > 0 && kept < again.units / 2, "{kept} of {} units", again.units);
    assert_eq!(again.left_out.len(), 1, "one line");
    let refused = journal_error(read(&folder));
    assert_eq!((refused.kind(), refused.path()), (JournalErrorKind::Damaged, &*path));
    let (lines, _) = damaged_lines(&refused);
    assert_eq!(lines.len(), 1, "{refused}");

    let named = arg(&path);
    let warning = format!("nqueens: warning: left out: {named}: line {} is damaged\n", lines[0]);
    let page = folder.join("page.html");
    let warned = |args: &[&str], code: i32| {
        let output = output(&[args, &[arg(&folder)]].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        assert!(stderr(&output).starts_with(&warning), "{args:?}: {output:?}");
        stdout(&output).to_owned()
    };
    assert_eq!(warned(&["merge", "--quiet"], 3), "", "two shards are missing");
    assert_eq!(warned(&["merge", "--missing"], 3), "1-2\n");
    warned(&["verify", "--units", "3"], 0);
    let html = ["status", "--html", arg(&page)];
    assert!(warned(&html, 0).contains(&format!("damaged      1 journal, the first is {named}")));
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("■</span> 1 complete"), "{page}");
    for index in [1, 2] {
        count_shard(12, index, 3, &folder);
    }
    // Other lines hold its units.
    assert_eq!(warned(&["merge", "--quiet"], 0), "14200\n");
    assert_eq!(warned(&["status", "--quiet"], 0), "100\n");
    let verified = warned(&["verify", "--units", "3"], 0);
    assert!(verified.contains("damaged      1 journal, the first is "), "{verified}");
}

/// Damage to the line of a run does not make it doubtful how many shards there are.
#[test]
fn a_run_whose_line_is_damaged_has_no_say_in_the_number_of_shards() {
    let folder = fresh_folder("damage-run");
    count_shard(12, 0, 3, &folder);
    let path = count_shard(12, 1, 3, &folder).journal.expect("it was written");
    let text = fs::read_to_string(&path).expect("text");
    write(&path, text.replacen("\nrun ", "\nruN ", 1));
    let status = json(&output(&["status", "--json", arg(&folder)]));
    assert_eq!(status["missing"]["indices"], "2", "{status}");
    assert_eq!(status["damaged"], serde_json::json!([arg(&path)]), "{status}");
}

/// No line of another plan has the right CRC, so the plan may come from another journal, or from the settings.
#[test]
fn a_shard_finds_its_units_in_a_journal_whose_first_line_is_damaged() {
    let folder = fresh_folder("damage-first-line");
    let outcome = count_shard(12, 0, 2, &folder);
    let other = count_shard(12, 1, 2, &folder).journal.expect("written");
    let path = outcome.journal.expect("written");
    let good = counts(&contents(&path));
    let mut bytes = fs::read(&path).expect("readable");
    bytes[20] ^= 1;
    write(&path, &bytes);
    for is_alone in [false, true] {
        if is_alone {
            fs::remove_file(&other).expect("there");
        }
        let again = count_shard(12, 0, 2, &folder);
        assert_eq!((again.units_before, again.units_done), (outcome.units, outcome.units));
        assert_eq!(again.solutions, outcome.solutions, "{is_alone}");
        assert_eq!(again.journal.is_some(), is_alone, "a journal that names the plan");
        let reason = again.left_out[0].to_string();
        assert!(reason.contains("line 1 is damaged"), "{is_alone}: {reason}");
    }
    assert_eq!(good.len(), outcome.units);
}
