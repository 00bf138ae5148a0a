//! Damage costs the lines that it hits and nothing else, and the commands that messages print repair a journal.
//! `journal_fuzz` has every kind of damage.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use nqueens::Error;
use nqueens::record::{JournalError, Record};

use crate::common::processes::{send, wait_for_work};
use crate::common::{
    arg, contents, count_shard, counts, finish, fresh_folder, json, nqueens, output, raise_counts,
    raised, read, refused, result, run, seal_first, set_aside, shell, spawn, stderr, stdout,
    unsealed,
};

/// Q(11), and its text.
const N: &str = "11";
const TOTAL: &str = "2680\n";

/// Runs a count that records its units at this place.
fn count(place: &Path, args: &[&str]) -> Output {
    run(nqueens(&["count", N, "--threads", "1", "--journal"]).arg(place).args(args))
}

/// A finished journal, in lines of one unit.
fn finished(folder: &Path) -> (PathBuf, String) {
    let path = folder.join("q.journal");
    // Many threads take many short ranges, so the journal has many lines.
    let counted = count(&path, &["--engine", "subtrees", "--split-rows", "2", "--threads", "16"]);
    assert!(counted.status.success(), "{counted:?}");
    let text = fs::read_to_string(&path).expect("text");
    (path, text)
}

/// Resumes a journal and expects the exact total, without a warning.
fn resumes(place: &Path) {
    assert_eq!(result(&count(place, &["--quiet"])), (Some(0), TOTAL, ""));
}

/// The only command of this kind that messages print. It ends its line.
fn printed<'a>(messages: &'a str, begins: &str) -> &'a str {
    let mut commands = messages.match_indices(begins).map(|(at, _)| &messages[at..]);
    let command = commands.next().unwrap_or_else(|| panic!("no '{begins}' in: {messages}"));
    assert_eq!(commands.next(), None, "one command is enough: {messages}");
    command.lines().next().expect("a line")
}

/// Runs a printed command in a folder.
fn obey(folder: &Path, command: &str) {
    let obeyed = shell(folder, command);
    assert_eq!(result(&obeyed), (Some(0), "", ""), "{command}");
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::write(path, bytes).expect("the folder can be written");
}

/// The units that the undamaged lines of a journal hold.
fn units_held(path: &Path) -> usize {
    let record = Record::read(&[path.to_owned()]).expect("readable").expect("a journal");
    record.sum().units
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
            let (start, end) = (20, hit.len() - 20);
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
            let other = unsealed(&first).replace(" n=11 ", " n=12 ");
            lines.insert(11, seal_first(&other).into_bytes());
        },
        "line 12 is damaged",
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
        let command = printed(message, "sed -i ");
        obey(&folder, command);
        resumes(&path);
        let held = contents(&path);
        assert!(held.total().is_some() && held.left_out.is_empty(), "{name}: {command}");
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

/// `cat` joins journals of one count. A journal that another version began keeps its first line.
#[test]
fn joined_journals_are_read_as_one() {
    let folder = fresh_folder("damage-joined");
    let (path, text) = finished(&folder);
    let first = text.lines().next().expect("a line");
    let begun = seal_first(&unsealed(first).replace("version=0.1.0", "version=0.0.9"));
    let half = text.lines().count() / 2;
    let [one, other]: [String; 2] = [0, half].map(|from| {
        let lines = text.lines().skip(1).skip(from).take(half);
        begun.clone() + &lines.map(|line| format!("{line}\n")).collect::<String>()
    });
    write(&path, one + &other);
    assert!(contents(&path).total().is_some());
    resumes(&path);
    assert!(fs::read_to_string(&path).expect("text").starts_with(&begun));
}

/// The file does not say any more of which count it is. Line 1 of any other journal of the count does.
#[test]
fn a_damaged_first_line_is_refused_and_the_printed_command_repairs_it() {
    let folder = fresh_folder("damage-first");
    let [path, new] = ["q.journal", "NEW.journal"].map(|name| folder.join(name));
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
            assert_eq!(printed(stderr(&refusal), "head -n 1 "), command, "{name}");
        }
        assert_eq!(fs::read(&path).expect("there"), bytes, "{name}: it is only read");

        obey(&folder, &format!("head -n 1 OTHER.journal | cat - {} > NEW.journal", arg(&path)));
        let units = contents_of_bytes(&folder, &good).sum().units;
        let resumed = count(&new, &["--json"]);
        let object = json(&resumed);
        assert_eq!(object["total"], TOTAL.trim_end(), "{name}: {resumed:?}");
        assert_eq!(object["journal"]["units_before"], units, "{name}: {resumed:?}");
        assert!(stderr(&resumed).contains("NEW.journal: line 2 is damaged ("), "{resumed:?}");
        obey(&folder, printed(stderr(&resumed), "sed -i "));
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

/// A machine has made an error, and counting the unit once more would not settle which count is right.
#[test]
fn a_count_does_not_go_on_over_two_counts_of_a_unit() {
    let folder = fresh_folder("damage-two");
    let (right, text) = finished(&folder);
    let wrong = folder.join("wrong.journal");
    write(&wrong, &text);
    // Lines 9 and 30 of it, counted from 1, are wrong. Line 5 is damaged besides.
    let units = raise_counts(&wrong, 1, |number, _| [8, 29].contains(&number));
    let raised = fs::read_to_string(&wrong).expect("text");
    let mut lines: Vec<Vec<u8>> =
        raised.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
    flip(&mut lines, 5);
    write(&wrong, lines.concat());
    let at = |line: usize, path: &Path| format!("sed -i '{line}d' {}", arg(path));
    let names = || fs::read_dir(&folder).expect("there").count();
    let before = (names(), fs::read(&right).expect("there"), fs::read(&wrong).expect("there"));

    let refusal = count(&folder, &["--quiet"]);
    let verify = format!("nqueens verify {} {}", arg(&right), arg(&wrong));
    let (first, line) = if units[0] < units[1] { (units[0], 9) } else { (units[1], 30) };
    let words = [
        format!("unit {first} has the count "),
        format!("in line {line} of {}, but ", arg(&right)),
        format!("in line {line} of {}: ", arg(&wrong)),
        format!("'{verify}'"),
        at(line, &right),
        at(line, &wrong),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    refused(&refusal, 1, &words);
    // Nor does a shard, or a count whose journal holds the unit twice.
    let shard = count(&folder, &["--shard", "0/1000000", "--quiet"]);
    refused(&shard, 1, &["a machine made an error"]);
    assert_eq!((names(), fs::read(&right).expect("there")), (before.0, before.1), "only read");
    assert_eq!(fs::read(&wrong).expect("there"), before.2, "only read");
    for command in ["merge", "status"] {
        let report = output(&[command, "--json", arg(&folder)]);
        let (code, object) = (report.status.code(), json(&report));
        assert_eq!((code, &object["total"]), (Some(1), &serde_json::Value::Null), "{command}");
        assert_eq!(object["missing"]["units"], 2, "{command}");
        for unit in &units {
            let named = format!("unit {unit} has the count ");
            assert!(stderr(&report).contains(&named), "{command}: {report:?}");
        }
    }
    let status = json(&output(&["status", "--json", arg(&folder)]));
    assert_eq!(status["resume"], serde_json::Value::Null, "no count would begin");

    // The command of the message finds both lines, and prints one that takes all bad lines out. After two commands for
    // one file, the second would take out good lines.
    let found = shell(&folder, &verify);
    let (code, _, message) = result(&found);
    assert_eq!(code, Some(1), "{message}");
    for (unit, line) in [(units[0], 9), (units[1], 30)] {
        let named = message.lines().filter(|said| {
            said.starts_with(&format!("nqueens: unit {unit} is recorded with "))
                && said.contains(&format!(" in line {line} of {} (", arg(&wrong)))
        });
        assert_eq!(named.count(), 1, "unit {unit}: {message}");
    }
    let accused = format!(" of {} (", arg(&right));
    assert!(!message.contains(&accused), "its lines are right: {message}");
    let take_out = format!("sed -i '5d;9d;30d' {}", arg(&wrong));
    assert_eq!(printed(message, "sed -i "), take_out);
    let found = output(&["verify", "--json", arg(&folder)]);
    let differences = json(&found)["differences"].as_array().expect("a list").clone();
    let lines = differences.iter().map(|difference| {
        assert_eq!(difference["file"], arg(&wrong), "{difference}");
        difference["line"].as_u64().expect("a number")
    });
    let mut lines: Vec<u64> = lines.collect();
    lines.sort_unstable();
    assert_eq!(lines, [9, 30]);

    obey(&folder, &take_out);
    resumes(&folder);
    assert_eq!(result(&output(&["merge", "--quiet", arg(&folder)])), (Some(0), TOTAL, ""));
}

/// Journals may be packed while the old ones are still there, and then a wrong line is in two files. If only one of them
/// were taken out, the other one would be right for all that a count can see.
#[test]
fn every_copy_of_a_wrong_line_is_taken_out() {
    for command in ["merge", "count"] {
        let folder = fresh_folder("damage-copies");
        let (right, text) = finished(&folder);
        let [wrong, packed] = ["wrong.journal", "packed.journal"].map(|name| folder.join(name));
        write(&wrong, &text);
        raise_counts(&wrong, 1, |number, _| number == 8);
        fs::copy(&wrong, &packed).expect("room");
        let said = match command {
            "merge" => output(&["merge", arg(&folder)]),
            _ => count(&folder, &[]),
        };
        assert_eq!(said.status.code(), Some(1), "{said:?}");
        let commands: Vec<String> = stderr(&said)
            .lines()
            .filter_map(|line| line.find("sed -i ").map(|at| line[at..].to_owned()))
            .collect();
        let all = commands.join(" && ");
        for path in [&right, &wrong, &packed] {
            assert!(all.contains(&format!("sed -i '9d' {}", arg(path))), "{command}: {all}");
        }
        obey(&folder, &all);
        resumes(&folder);
    }
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
    let both = format!("sed -i '{}d;{last}d' {}", number + 1, arg(&path));
    refused(&count(&path, &[]), 1, &[&format!("unit {unit} has the count "), &both]);
    let found = output(&["verify", arg(&path)]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let command = printed(stderr(&found), "sed -i ");
    assert_eq!(command, format!("sed -i '{last}d' {}", arg(&path)));
    obey(&folder, command);
    resumes(&path);
    assert_eq!(fs::read_to_string(&path).expect("text"), text, "nothing was left to count");

    // Equal duplicates are harmless.
    write(&path, format!("{text}{line}\n"));
    resumes(&path);
}

/// A user who stops the count reads the warning as well.
#[test]
fn a_shard_says_what_it_left_out_as_it_starts() {
    let folder = fresh_folder("damage-stopped");
    write(&folder.join("bad.journal"), "nqueens-journal 2 \n");
    let mut shard = nqueens(&["count", "22", "--shard", "0/2", "--journal"]);
    let mut child = spawn(shard.arg(&folder));
    wait_for_work(&mut child, std::time::Duration::from_millis(300));
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
    let Err(Error::Journal { path: of_file, error: JournalError::Damaged { lines, .. } }) = refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!((&of_file, lines.len(), lines[0].clone().count()), (&path, 1, 1));
    let take_out = format!("sed -i '{}d' {}", lines[0].start(), arg(&path));

    let (out, page) = (arg(&folder), folder.join("page.html"));
    let named = arg(&path);
    let warned = |args: &[&str], code: i32| {
        let output = output(&[args, &[out]].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        let begins = format!("nqueens: warning: left out: {named}: line ");
        assert!(stderr(&output).starts_with(&begins), "{args:?}: {output:?}");
        assert_eq!(printed(stderr(&output), "sed -i "), take_out, "{args:?}");
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
    let (status, named) = (json(&status), arg(&path));
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
        assert_eq!((again.units_before, again.total), (outcome.units, outcome.total), "{is_alone}");
        assert_eq!(again.journal, None, "{is_alone}");
        let reason = again.left_out[0].to_string();
        assert!(reason.contains("line 1 is damaged"), "{is_alone}: {reason}");
    }
    assert_eq!(good.len(), outcome.units);
}
