//! Promise: files that are no journals, journals of another format or plan, and lines of another count are refused or
//! left out, they stay as they are, and no command or path is made of what stands in them. docs/JOURNAL.md makes this
//! promise under "What is promised", and docs/FORMAT.md under "Format 2".

use std::fs;
use std::path::Path;

use nqueens::journal::{JournalErrorKind, Records};
use nqueens::plan::Pass;
use nqueens::{Count, Engine, Error};

use super::journal::{error_in, finished_journal};
use crate::common::{
    arg, first_line_with_check_digits, fresh_folder, journal_error, journal_in, json, output,
    plan_of, refused, repeated, result, shell, size, stderr, stdout, with_check_digits,
    without_check_digits,
};

#[test]
fn foreign_files_are_in_the_way_of_no_count() {
    for (text, is_named) in [
        ("a letter\n", true),
        ("nqueens\n", true),
        ("nqueens-journalist 1 n=8\n", true),
        ("nqueens-journal 2 version=0.1.0 n=8 00000000\n", true),
        // What has no line feed may be the first line of a process that was killed.
        ("x", false),
        ("\0\u{5}\u{16}\u{7}\0\0Mac OS X", false),
    ] {
        let folder = fresh_folder("foreign");
        let path = folder.join("foreign.journal");
        fs::write(&path, text).expect("the folder can be written");
        refused(&output(&["merge", arg(&folder)]), 2, &[arg(&path), "is not a journal of nqueens"]);
        let outcome = Count::new(size(8)).journal(&folder).run().expect("a count");
        assert_eq!((outcome.total, outcome.units_before), (Some(92), 0), "{text:?}");
        match &outcome.left_out[..] {
            [] => assert!(!is_named, "{text:?}"),
            [Error::Journal(error)] => {
                assert_eq!((error.kind(), error.path()), (JournalErrorKind::NotAJournal, &*path));
                assert!(is_named, "{text:?}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
        assert_eq!(fs::read_to_string(&path).expect("still there"), text);
        let merged = output(&["merge", "--quiet", arg(&folder)]);
        assert_eq!((merged.status.code(), stdout(&merged)), (Some(0), "92\n"), "{text:?}");

        // A file is no place for journals.
        let refusal = output(&["count", "8", "--journal", arg(&path)]);
        refused(&refusal, 2, &["is not a folder: journals live in a folder"]);
        assert_eq!(fs::read_to_string(&path).expect("still there"), text);
    }
    let nowhere = fresh_folder("foreign").join("missing").join("q8");
    let nowhere = Count::new(size(8)).journal(nowhere).run();
    let error = journal_error(nowhere);
    assert_eq!(error.kind(), JournalErrorKind::Io);
    assert!(error.to_string().contains(": cannot create the journal: "), "{error}");
}

#[test]
fn journals_of_other_formats_and_plans_are_refused() {
    let whole = String::from_utf8(finished_journal("formats", 8, Engine::Subtrees)).expect("text");
    let header = without_check_digits(whole.lines().next().expect("a line"));
    let newer = header.replace("nqueens-journal 2", "nqueens-journal 3");
    let assert_format = |first: &str, format: &str| {
        let error = error_in("formats", first_line_with_check_digits(first));
        assert_eq!(error.kind(), JournalErrorKind::UnknownFormat);
        let text = format!(": has journal format {format}, which this version");
        assert!(error.to_string().contains(&text), "{error}");
    };
    assert_format(&newer, "3");
    let older =
        "nqueens-journal 1 version=0.1.0 n=8 engine=bitmask split-rows=none plan=0a84c9f3 units=8";
    assert_format(older, "1");

    let plan = plan_of(size(8), Engine::Subtrees, None);
    let hash = format!("plan={:08x}", plan.id());
    assert!(header.contains(&hash), "{header}");
    for (field, bad) in [
        (&*hash, "plan=00000007"),
        ("n=8", "n=33"),
        ("split-rows=1", "split-rows=none"),
        ("engine=subtrees", "engine=bitmask"),
        ("engine=subtrees", "engine=x"),
    ] {
        let other = header.replace(field, bad);
        let error = error_in("formats", first_line_with_check_digits(&other));
        assert_eq!(error.kind(), JournalErrorKind::OtherPlan, "{bad}: {error}");
        // It names the build that began the journal, and what differs, nothing else.
        let message = error.to_string();
        let texts: Vec<&str> = message.split('\'').collect();
        let [_, version, _, holds, _, has, ""] = texts[..] else { panic!("{bad}: {message}") };
        assert_eq!(version, crate::common::version());
        assert_ne!(holds, has);
        if field == hash {
            assert_eq!(holds.replace(bad, field), has);
        }
    }
    // A count does not begin anew beside a journal that another build began.
    let in_folder = |first: &str| {
        let folder = fresh_folder("formats-folder");
        let first = first_line_with_check_digits(first);
        fs::write(folder.join("begun.journal"), first).expect("the folder can be written");
        let refused = journal_error(Count::new(size(8)).journal(&folder).run());
        journal_in(&folder);
        refused
    };
    let other_plan = header.replace(&*hash, "plan=00000007");
    assert_eq!(in_folder(&newer).kind(), JournalErrorKind::UnknownFormat);
    assert_eq!(in_folder(&other_plan).kind(), JournalErrorKind::OtherPlan);
    let error = error_in("formats", header.to_owned() + " 00000000\n");
    assert_eq!(error.kind(), JournalErrorKind::NotAJournal);
}

/// A journal: its plan without the count, its first line, and all lines behind it.
struct Lines {
    plan: String,
    first: String,
    rest: String,
}

impl Lines {
    fn of(count: Count<'_>) -> Self {
        let folder = fresh_folder("foreign-journal");
        count.threads(1).journal(&folder).run().expect("a count");
        let text = fs::read_to_string(journal_in(&folder)).expect("text");
        let (first, rest) = text.split_once('\n').expect("lines");
        let plan = without_check_digits(first).replace(" count=second ", " count=first ");
        Self { plan, first: first.to_owned(), rest: rest.to_owned() }
    }
}

/// No two plans, and no two counts of one, have lines with the same CRC. A line of the other count of the same plan
/// belongs to that count. A line of another plan is damaged, or belongs to that plan if its first line stands in the
/// file, too.
#[test]
fn whole_lines_of_other_counts_are_never_taken() {
    let mut journals = Vec::new();
    for pass in [Pass::First, Pass::Second] {
        let count = |n| Count::new(size(n)).pass(pass);
        journals.push(Lines::of(count(8).engine(Engine::Colours)));
        journals.push(Lines::of(count(9).engine(Engine::Colours)));
        journals.push(Lines::of(count(8).engine(Engine::Subtrees).split_rows(1)));
        journals.push(Lines::of(count(8).engine(Engine::Subtrees).split_rows(2)));
    }
    let path = fresh_folder("foreign-lines").join("q.journal");
    for (number, own) in journals.iter().enumerate() {
        for (other_number, other) in journals.iter().enumerate() {
            if other_number == number {
                continue;
            }
            for line in other.rest.lines().take(3) {
                let text = format!("{}\n{}{line}\n", own.first, own.rest);
                fs::write(&path, &text).expect("room");
                let records = Records::read(&[&path]).expect("readable");
                let is_first = own.first.contains(" count=first ");
                let (record, of_other) = match is_first {
                    true => (records.first(), records.second()),
                    false => (records.second(), records.first()),
                };
                let record = record.expect("the count of line 1");
                assert!(record.total().is_some() && repeated(record) == 0, "{line}");
                if own.plan == other.plan {
                    assert!(of_other.is_some() && records.left_out().is_empty(), "{line}");
                    continue;
                }
                assert!(of_other.is_none(), "{line}");
                let number_of_line = 2 + own.rest.lines().count();
                let [Error::Journal(error)] = records.left_out() else {
                    panic!("{:?}", records.left_out());
                };
                assert_eq!(error.kind(), JournalErrorKind::Damaged);
                let ending = format!(": line {number_of_line} is damaged");
                assert!(error.to_string().ends_with(&ending), "{error}");

                // The plan of the other line is named as well, so these are the journals of two plans.
                fs::write(&path, format!("{text}{}\n{line}\n", other.first)).expect("room");
                let differ = journal_error(Records::read(&[&path]));
                assert_eq!(differ.kind(), JournalErrorKind::OtherPlan);
            }
        }
    }
}

/// A count takes the lines of its own plan out of any file, and no other line.
#[test]
fn a_count_passes_over_the_lines_of_other_plans_in_its_folder() {
    let folder = fresh_folder("foreign-mixed");
    let mut text = String::new();
    for (n, engine) in [(8, Engine::Subtrees), (8, Engine::Bitmask), (9, Engine::Subtrees)] {
        text += &String::from_utf8(finished_journal("foreign-part", n, engine)).expect("text");
    }
    let path = folder.join("mixed.journal");
    fs::write(&path, &text).expect("room");
    for (n, total) in [("8", "92\n"), ("9", "352\n")] {
        let args = ["count", n, "--engine", "subtrees", "--quiet", "--journal", arg(&folder)];
        assert_eq!(result(&output(&args)), (Some(0), total, ""), "n = {n}");
    }
    for command in ["merge", "status", "verify"] {
        let reasons = [arg(&path), "engine=subtrees", "engine=bitmask"];
        refused(&output(&[command, arg(&path)]), 2, &reasons);
    }
    assert_eq!(fs::read_to_string(&path).expect("there"), text);
}

/// Texts with which a stranger may try to make a user run a command, or read or write a file elsewhere.
const ATTACKS: [&str; 5] = [
    "../../victim",
    "$(touch victim)",
    "'; touch victim; '",
    "`touch victim` | tee victim > victim && touch victim #",
    "-h ~/victim \u{202e}\\\" victim",
];

/// The lines of messages that contain the word, without the quoted plans of messages that name the file.
fn lines_with_victim(text: &str, path: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.replace(arg(path), "FILE");
        let quoted =
            ["nqueens '", "plan '", "holds '"].iter().filter_map(|begins| line.find(begins)).min();
        let rest = match quoted {
            Some(at) if line.contains("FILE") => &line[..at],
            _ => &line[..],
        };
        if rest.contains("victim") {
            found.push(rest.to_owned());
        }
    }
    found
}

/// No command is made of what stands in a journal, even if its CRC is right.
#[test]
fn forged_lines_make_no_command_and_no_path() {
    let whole = String::from_utf8(finished_journal("forged", 8, Engine::Subtrees)).expect("text");
    let header = without_check_digits(whole.lines().next().expect("a line")).to_owned();
    let (_, plan) = header.split_once(" n=").expect("a plan");
    let mut texts = vec![
        first_line_with_check_digits("nqueens-journal 2 v ../../victim a x y b"),
        first_line_with_check_digits("nqueens-journal ../../victim version=1 n=8"),
    ];
    for attack in ATTACKS {
        for forged in [
            format!("nqueens-journal {attack} {plan}"),
            format!("nqueens-journal 2 {attack} n={plan}"),
            format!("nqueens-journal 2 version=0.1.0 {attack}"),
            format!("nqueens-journal 2 version=0.1.0 n=8 {attack}"),
            format!("nqueens-journal 2 version=0.1.0 n={plan} {attack}"),
            header.replace(" n=8 ", &format!(" version={attack} n=8 ")),
            header.replace("version=", &format!("version={attack}")),
            header.replace("engine=subtrees", &format!("engine={attack}")),
            header.replace("split-rows=1", &format!("split-rows={attack}")),
            header.replace("count=first", &format!("count={attack}")),
        ] {
            texts.push(first_line_with_check_digits(&forged));
        }
        // Alone, they name no plan. Beside the right first line they are one of several.
        let run = format!("run {attack} version=1 kernel=x threads=1 shard=0/1 machine=m");
        texts.push(first_line_with_check_digits(&header) + &with_check_digits(&header, &run));
    }
    let folder = fresh_folder("forged");
    let path = folder.join("forged.journal");
    let whole_folder = fresh_folder("forged-whole");
    let good = whole_folder.join("good.journal");
    fs::write(&good, &whole).expect("room");
    for text in texts {
        fs::write(&path, &text).expect("room");
        for line in ["merge", "merge --missing", "merge --json", "status", "verify --units 1"] {
            for others in ["", " good.journal"] {
                let command = format!("nqueens {line} forged.journal{others}");
                let _ = fs::remove_file(folder.join("good.journal"));
                if !others.is_empty() {
                    fs::copy(&good, folder.join("good.journal")).expect("room");
                }
                let ran = shell(&folder, &command);
                assert!(ran.status.code().is_some_and(|code| code <= 3), "{command}: {ran:?}");
                let printed = format!("{}{}", stdout(&ran), stderr(&ran));
                let named = lines_with_victim(&printed, Path::new("forged.journal"));
                assert_eq!(named, [""; 0], "{command} with {text}");
            }
        }
        let ran = shell(&folder, "nqueens count 8 --engine subtrees --journal .");
        assert!(ran.status.code().is_some_and(|code| code <= 3), "{text}: {ran:?}");
        let printed = format!("{}{}", stdout(&ran), stderr(&ran));
        assert_eq!(lines_with_victim(&printed, Path::new("forged.journal")), [""; 0], "{text}");
        assert_eq!(fs::read_to_string(&path).expect("there"), text, "it is only read");
    }
    // A status of a good journal prints a command, and that has nothing from the other file.
    let status = json(&output(&["status", "--json", arg(&good)]));
    assert_eq!(status["total"], "92", "{status}");
}
