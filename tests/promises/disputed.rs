//! Promise: a unit with two different counts is never part of a total, and no count starts until the wrong line is out.
//! `verify` finds that line. docs/JOURNAL.md makes this promise under "A unit is wrong".

use std::fs;
use std::path::Path;

use super::damage::{TOTAL, count, finished, flip, obey, printed_command, resumes, write};
use crate::common::{
    arg, contents, fresh_folder, json, output, raise_counts, raised, refused, result, shell, stderr,
};

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
        let code = report.status.code();
        let object = json(&report);
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
    assert_eq!(printed_command(message, "sed -i "), take_out);
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
        let wrong = folder.join("wrong.journal");
        let packed = folder.join("packed.journal");
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
    let command = printed_command(stderr(&found), "sed -i ");
    assert_eq!(command, format!("sed -i '{last}d' {}", arg(&path)));
    obey(&folder, command);
    resumes(&path);
    assert_eq!(fs::read_to_string(&path).expect("text"), text, "nothing was left to count");

    // Equal duplicates are harmless.
    write(&path, format!("{text}{line}\n"));
    resumes(&path);
}
