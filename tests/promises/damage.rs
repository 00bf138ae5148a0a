//! Promise: a damaged line costs its own units and nothing else. A count needs no command for it, and the command that
//! other commands print takes it out of the journal, but not while that is being written. docs/JOURNAL.md makes this promise under "After damage", "Line 1 is damaged" and "Damage".
//! `journal_fuzz` has damage of every kind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use nqueens::Error;
use nqueens::record::{JournalError, Record, journals_in};

use crate::common::processes::{send, wait_until};
use crate::common::{
    arg, contents, count_shard, counts, finish, first_line_with_check_digits, fresh_folder, json,
    nqueens, output, read, refused, result, run, set_aside, shell, spawn, stderr, stdout,
    without_check_digits,
};

/// Q(11), and its text.
pub(crate) const N: &str = "11";
pub(crate) const TOTAL: &str = "2680\n";

/// Runs a count that records its units at this place.
pub(crate) fn count(place: &Path, args: &[&str]) -> Output {
    run(nqueens(&["count", N, "--threads", "1", "--journal"]).arg(place).args(args))
}

/// A finished journal, in lines of one unit.
pub(crate) fn finished(folder: &Path) -> (PathBuf, String) {
    let path = folder.join("q.journal");
    // Many threads take many short ranges, so the journal has many lines.
    let counted = count(&path, &["--engine", "subtrees", "--split-rows", "2", "--threads", "16"]);
    assert!(counted.status.success(), "{counted:?}");
    let text = fs::read_to_string(&path).expect("text");
    (path, text)
}

/// Resumes a journal and expects the exact total, without a warning.
pub(crate) fn resumes(place: &Path) {
    assert_eq!(result(&count(place, &["--quiet"])), (Some(0), TOTAL, ""));
}

/// The only command of this kind that messages print. It ends its line.
pub(crate) fn printed_command<'a>(messages: &'a str, begins: &str) -> &'a str {
    let mut commands = messages.match_indices(begins).map(|(at, _)| &messages[at..]);
    let command = commands.next().unwrap_or_else(|| panic!("no '{begins}' in: {messages}"));
    assert_eq!(commands.next(), None, "one command is enough: {messages}");
    command.lines().next().expect("a line")
}

/// The command that takes damaged lines out of a journal, or of one in a folder, as `merge` prints it.
pub(crate) fn removal_command(place: &Path) -> String {
    let merged = output(&["merge", arg(place)]);
    printed_command(stderr(&merged), "sed -i.bak ").to_owned()
}

/// Runs a printed command in a folder.
pub(crate) fn obey(folder: &Path, command: &str) {
    let obeyed = shell(folder, command);
    assert_eq!(result(&obeyed), (Some(0), "", ""), "{command}");
}

pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::write(path, bytes).expect("the folder can be written");
}

/// The units that the undamaged lines of a journal hold.
fn units_held(path: &Path) -> usize {
    let record = Record::read(&[path]).expect("readable").expect("a journal");
    record.sum().units
}

/// What happens to the bytes of a journal.
type DamageOfBytes = fn(&mut [u8]);

/// What happens to the lines of a journal.
type Damage = fn(&mut Vec<Vec<u8>>);

/// Flips a bit of a line, counted from 1.
pub(crate) fn flip(lines: &mut [Vec<u8>], number: usize) {
    let line = &mut lines[number - 1];
    let middle = line.len() / 2;
    line[middle] ^= 1;
}

/// Damage behind the first line, with the numbers of the lines that are damaged then.
const DAMAGES: [(&str, Damage, &str); 10] = [
    ("a bit", |lines| flip(lines, 40), "line 40 is damaged"),
    ("the line of a run", |lines| flip(lines, 2), "line 2 is damaged"),
    (
        "many lines",
        |lines| [5, 9, 10, 11, 17].into_iter().for_each(|number| flip(lines, number)),
        "lines 5,9-11,17 are damaged",
    ),
    (
        // Line ends are lost as well.
        "a block of zeros",
        |lines| {
            let mut hit: Vec<u8> = lines.drain(49..53).flatten().collect();
            let start = 20;
            let end = hit.len() - 20;
            hit[start..end].fill(0);
            lines.insert(49, hit);
        },
        "line 50 is damaged",
    ),
    ("no text", |lines| lines[29] = b"\xff\xfe\x80 done\n".to_vec(), "line 30 is damaged"),
    (
        "other text between the lines",
        |lines| {
            lines.insert(7, b"\n".to_vec());
            lines.insert(8, b"a letter\n".to_vec());
        },
        "lines 8-9 are damaged",
    ),
    (
        "a line without an end for megabytes",
        |lines| {
            let mut long = vec![b'x'; 3 << 20];
            long.push(b'\n');
            lines.insert(20, long);
        },
        "line 21 is damaged",
    ),
    (
        "the first line of another count",
        |lines| {
            let first = String::from_utf8(lines[0].clone()).expect("text");
            let other = without_check_digits(&first).replace(" n=11 ", " n=12 ");
            lines.insert(11, first_line_with_check_digits(&other).into_bytes());
        },
        "line 12 belongs to another count",
    ),
    (
        "a tail",
        |lines| *lines.last_mut().expect("a line") = b"a letter".to_vec(),
        "line LAST is damaged",
    ),
    (
        "a tail of megabytes",
        |lines| *lines.last_mut().expect("a line") = vec![b'z'; 5 << 19],
        "line LAST is damaged",
    ),
];

/// The total is exact, the message names the lines, and its command leaves a journal without damage. The command can be
/// pasted whatever the name of the folder is.
#[test]
fn damage_behind_the_first_line_does_not_stop_a_count() {
    let folder = fresh_folder("damage-lines of it's user");
    let (path, text) = finished(&folder);
    let all = contents(&path).sum().units;
    let whole: Vec<Vec<u8>> =
        text.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
    for (name, damage, expected) in DAMAGES {
        let mut lines = whole.clone();
        damage(&mut lines);
        let is_tail = name.starts_with("a tail");
        let is_foreign = name.starts_with("the first line of another");
        let named = expected.replace("LAST", &lines.len().to_string());
        let damaged = lines.concat();
        write(&path, &damaged);
        let held = units_held(&path);

        let counted = count(&path, &["--json"]);
        let (code, _, message) = result(&counted);
        assert_eq!(code, Some(0), "{name}: {message}");
        let object = json(&counted);
        assert_eq!(object["total"], TOTAL.trim_end(), "{name}");
        assert_eq!(object["journal"]["units_before"], held, "{name}");
        let begins = format!("nqueens: warning: left out: {}: {named} (", path.display());
        assert!(message.starts_with(&begins), "{name}: no '{begins}' in {message}");
        assert!(!message.contains("sed -"), "{name}: the count needs no command: {message}");

        // The file goes on growing. A tail has no line feed, so one comes behind it.
        let grown = fs::read(&path).expect("there");
        assert!(grown.starts_with(&damaged), "{name}: a line was changed");
        let behind = &grown[damaged.len()..];
        if held == all {
            assert!(behind.is_empty(), "{name}: all units are there");
        } else if is_tail {
            assert!(behind.starts_with(b"\nrun version="), "{name}");
        } else {
            assert!(behind.starts_with(b"run version="), "{name}");
        }
        assert_eq!(units_held(&path), all, "{name}");

        // Until the line is taken out, every count warns of it, and changes nothing.
        let again = count(&path, &["--quiet"]);
        assert_eq!((again.status.code(), stdout(&again)), (Some(0), TOTAL), "{name}");
        assert!(stderr(&again).starts_with(&begins), "{name}: {again:?}");
        assert!(fs::read(&path).expect("there") == grown, "{name}: nothing was left to count");
        if is_foreign {
            continue;
        }
        let command = removal_command(&path);
        obey(&folder, &command);
        fs::remove_file(path.with_extension("journal.bak")).expect("the old file");
        resumes(&path);
        let held = contents(&path);
        assert!(held.total().is_some() && held.left_out().is_empty(), "{name}: {command}");
        assert!(fs::read(&path).expect("there").len() < grown.len(), "{name}: {command}");
    }
}

#[test]
fn one_bad_byte_costs_one_line() {
    let folder = fresh_folder("damage-byte");
    let (path, text) = finished(&folder);
    let all = contents(&path).sum().units;
    let mut bytes = text.clone().into_bytes();
    bytes[text.len() / 2] ^= 1;
    write(&path, &bytes);
    assert!(matches!(read(&path), Err(Error::Journal { error: JournalError::Damaged { .. }, .. })));
    let held = units_held(&path);
    assert!((all - 3..all).contains(&held), "{held} of {all} units");
    // What reads the journal says so too, and changes nothing.
    for command in ["merge", "status", "verify"] {
        let report = output(&[command, "--json", arg(&path)]);
        assert_eq!(report.status.code(), Some(1), "units are missing: {report:?}");
        assert_eq!(json(&report)["damaged"], serde_json::json!([arg(&path)]), "{command}");
        assert_eq!(json(&report)["finished"], held, "{command}");
    }
    assert_eq!(fs::read(&path).expect("still there"), bytes, "the file is only read");
}

/// The file does not say any more of which count it is. Line 1 of any other journal of the count does.
#[test]
fn a_damaged_first_line_is_refused_and_the_printed_command_repairs_it() {
    let folder = fresh_folder("damage-first");
    let path = folder.join("q.journal");
    let new = folder.join("NEW.journal");
    assert!(count(&path, &[]).status.success());
    let good = fs::read(&path).expect("there");
    let other = ["count", N, "--shard", "0/1000000", "--journal", "OTHER.journal", "--quiet"];
    assert!(shell(&folder, &format!("nqueens {}", other.join(" "))).status.success());
    let damages: [(&str, DamageOfBytes, i32); 4] = [
        ("a bit of the plan", |bytes| bytes[60] ^= 1, 1),
        ("zeros", |bytes| bytes[..30].fill(0), 1),
        // Then the line of the run is a part of line 1, and lost.
        ("the line feed", |bytes| *line_end(bytes) = b' ', 1),
        ("a bit of the first word", |bytes| bytes[3] ^= 1, 2),
    ];
    for (name, damage, code) in damages {
        let mut bytes = good.clone();
        damage(&mut bytes);
        write(&path, &bytes);
        for args in [&["count", N, "--journal"][..], &["merge"], &["status"], &["verify"]] {
            let refusal = run(nqueens(args).arg(&path));
            let file = arg(&path);
            let command = format!("head -n 1 OTHER.journal | cat - {file} > NEW.journal");
            refused(&refusal, code, &[&format!("{file}: "), &command]);
            assert_eq!(printed_command(stderr(&refusal), "head -n 1 "), command, "{name}");
        }
        assert_eq!(fs::read(&path).expect("there"), bytes, "{name}: it is only read");

        obey(&folder, &format!("head -n 1 OTHER.journal | cat - {} > NEW.journal", arg(&path)));
        let units = contents_of_bytes(&folder, &good).sum().units;
        let resumed = count(&new, &["--json"]);
        let object = json(&resumed);
        assert_eq!(object["total"], TOTAL.trim_end(), "{name}: {resumed:?}");
        assert_eq!(object["journal"]["units_before"], units, "{name}: {resumed:?}");
        assert!(stderr(&resumed).contains("NEW.journal: line 2 is damaged ("), "{resumed:?}");
        obey(&folder, &removal_command(&new));
        resumes(&new);
    }
}

/// The end of the first line.
fn line_end(bytes: &mut [u8]) -> &mut u8 {
    bytes.iter_mut().find(|byte| **byte == b'\n').expect("a line")
}

/// What a file with these bytes holds.
fn contents_of_bytes(folder: &Path, bytes: &[u8]) -> Record {
    let path = folder.join("copy.journal");
    write(&path, bytes);
    contents(&path)
}

/// A user who stops the count reads the warning as well.
#[test]
fn a_shard_says_what_it_left_out_as_it_starts() {
    let folder = fresh_folder("damage-stopped");
    write(&folder.join("bad.journal"), "nqueens-journal 2 \n");
    let mut shard = nqueens(&["count", "22", "--shard", "0/2", "--journal"]);
    let mut child = spawn(shard.arg(&folder));
    wait_until("a finished unit", &mut child, || {
        let files = journals_in(&[&folder]).expect("the folder can be read");
        files.iter().any(|file| fs::read_to_string(file).is_ok_and(|text| text.contains("\ndone ")))
    });
    send("TERM", &child);
    let stopped = finish(child);
    assert_eq!(stopped.status.code(), Some(3), "{stopped:?}");
    let message = stderr(&stopped);
    assert!(message.starts_with("nqueens: warning: left out: "), "{message}");
    assert!(message.contains("stopped after "), "{message}");
}

/// A failed machine may leave a damaged file. Other processes continue without it, and all that is good
/// is shown, with a warning. While units are missing, the exit code is 1.
#[test]
fn a_damaged_journal_hides_nothing_else() {
    let folder = fresh_folder("damage-shard");
    let path = set_aside(&count_shard(12, 0, 3, &folder), "damaged");
    let mut bytes = fs::read(&path).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    write(&path, bytes);
    let again = count_shard(12, 0, 3, &folder);
    let kept = again.units - again.units_before;
    assert!(kept > 0 && kept < again.units / 2, "{kept} of {} units", again.units);
    assert_eq!(again.left_out.len(), 1, "one line");
    let refused = read(&folder);
    let Err(Error::Journal { path: of_file, error: JournalError::Damaged { lines, .. }, .. }) =
        refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!((&of_file, lines.len(), lines[0].clone().count()), (&path, 1, 1));
    let take_out = format!("sed -i.bak '{}d' {}", lines[0].start(), arg(&path));

    let out = arg(&folder);
    let page = folder.join("page.html");
    let named = arg(&path);
    let warned = |args: &[&str], code: i32| {
        let output = output(&[args, &[out]].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        let begins = format!("nqueens: warning: left out: {named}: line ");
        assert!(stderr(&output).starts_with(&begins), "{args:?}: {output:?}");
        assert_eq!(printed_command(stderr(&output), "sed -i.bak "), take_out, "{args:?}");
        stdout(&output).to_owned()
    };
    assert_eq!(warned(&["merge"], 1), "", "two shards are missing");
    warned(&["verify", "--units", "3"], 1);
    let html = ["status", "--html", arg(&page)];
    assert!(warned(&html, 1).contains(&format!("damaged      1 journal, the first is {named}")));
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("1 complete</li>") && page.contains(named), "{page}");
    for index in [1, 2] {
        set_aside(&count_shard(12, index, 3, &folder), &index.to_string());
    }
    // Other lines hold its units.
    assert_eq!(warned(&["merge", "--quiet"], 0), "14200\n");
    assert_eq!(warned(&["status", "--quiet"], 0), "100\n");
    let verified = warned(&["verify", "--units", "3"], 0);
    assert!(verified.contains("damaged      1 journal, the first is "), "{verified}");
    obey(&folder, &take_out);
    assert_eq!(result(&output(&["merge", "--quiet", out])), (Some(0), "14200\n", ""));
}

/// The command would put a new file in the place of the one that the process writes, and a link in the place of the
/// damage.
#[test]
fn no_command_takes_lines_out_of_a_journal_that_is_being_written_and_none_replaces_a_link() {
    let folder = fresh_folder("damage-written");
    let (path, text) = finished(&folder);
    let mut lines: Vec<Vec<u8>> =
        text.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
    flip(&mut lines, 9);
    write(&path, lines.concat());
    let writer = fs::File::options().append(true).open(&path).expect("there");
    writer.lock().expect("a local file system");
    let waits = format!("nqueens: {} is being written: to take these lines out, wait ", arg(&path));
    for command in ["merge", "status", "verify"] {
        let report = output(&[command, arg(&path)]);
        let message = stderr(&report);
        assert!(message.contains(&waits) && !message.contains("sed"), "{command}: {message}");
    }
    drop(writer);
    let link = folder.join("link");
    std::os::unix::fs::symlink(&path, &link).expect("room");
    obey(&folder, &removal_command(&link));
    assert!(link.is_symlink());
    resumes(&path);
}

/// Damage to the line of a run does not make it doubtful how many shards there are.
#[test]
fn a_run_whose_line_is_damaged_has_no_say_in_the_number_of_shards() {
    let folder = fresh_folder("damage-run");
    for index in 0..2 {
        set_aside(&count_shard(12, index, 3, &folder), &index.to_string());
    }
    let path = folder.join("1.journal");
    let text = fs::read_to_string(&path).expect("text");
    write(&path, text.replacen("\nrun ", "\nruN ", 1));
    let status = output(&["status", "--json", arg(&folder)]);
    assert_eq!(status.status.code(), Some(1), "{status:?}");
    let status = json(&status);
    let named = arg(&path);
    assert_eq!(status["missing"]["indices"], "2", "{status}");
    assert_eq!(status["damaged"], serde_json::json!([named]), "{status}");
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
        assert_eq!((again.units_before, again.done), (outcome.units, outcome.done), "{is_alone}");
        assert_eq!(again.journal, None, "{is_alone}");
        let reason = again.left_out[0].to_string();
        assert!(reason.contains("line 1 is damaged"), "{is_alone}: {reason}");
    }
    assert_eq!(good.len(), outcome.units);
}

/// Another journal names the plan, so no unit of the file is left out.
#[test]
fn a_damaged_first_line_leaves_out_no_other_line_if_another_journal_names_the_plan() {
    let folder = fresh_folder("damage-first-line");
    let good = folder.join("a.journal");
    let counted = output(&["count", "10", "--journal", arg(&good)]);
    assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    let bad = folder.join("b.journal");
    let text = fs::read_to_string(&good).expect("text");
    fs::write(&bad, text.replacen("n=10", "n=11", 1)).expect("room");
    for command in ["merge", "status", "verify"] {
        let read = output(&[command, arg(&folder)]);
        let wanted = format!(
            "nqueens: warning: left out: line 1 of {}, which is damaged: the lines behind it are used if they belong to this \
             count\n",
            bad.display()
        );
        assert_eq!((read.status.code(), stderr(&read)), (Some(0), &*wanted), "{command}");
    }
    let merged = output(&["merge", arg(&folder)]);
    let units = contents(&good).plan().units();
    let wanted = format!("\njournals     2, units recorded again {units} times\n");
    assert!(stdout(&merged).contains(&wanted), "{merged:?}");
}
