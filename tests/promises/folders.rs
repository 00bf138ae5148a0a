//! Promise: whole counts and shards share a folder, each process skips the units that the journals of its count hold,
//! and everything else in the folder is passed over. docs/JOURNAL.md makes this promise in its first lines.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nqueens::plan::Pass;
use nqueens::{Count, Engine, Shard};
use serde_json::Value;

use crate::common::{
    arg, as_folder, contents, count_into, count_shard, fresh, fresh_folder, journal_in, json,
    keep_lines, note_skipped, output, refused, repeated, result, run, set_aside, size, stderr,
    stdout,
};

/// Q(12), and its text.
pub(crate) const N: u32 = 12;
pub(crate) const TOTAL: &str = "14200\n";

/// The names in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("there").map(|entry| entry.expect("there"));
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

/// Counts n = 12 in a folder, without a message. Returns the JSON object.
fn count_in(place: &Path, args: &[&str]) -> Value {
    let count = ["count", "12", "--json", "--journal", arg(place)];
    let counted = output(&[&count, args].concat());
    assert_eq!((counted.status.code(), stderr(&counted)), (Some(0), ""), "{args:?}");
    json(&counted)
}

/// Each process makes a journal of its own, and counts what no journal of its count holds yet.
#[test]
fn a_whole_count_and_shards_share_a_folder() {
    let folder = fresh("folders-whole");
    let place = as_folder(&folder);
    let shard = count_in(&place, &["--shard", "1/3"]);
    assert_eq!((&shard["total"], &shard["journal"]["units_before"]), (&Value::Null, &0.into()));
    // The whole count skips what the shard holds.
    let whole = count_in(&place, &[]);
    assert_eq!((&whole["total"], &whole["shard"]), (&"14200".into(), &Value::Null));
    assert_eq!(whole["journal"]["units_before"], shard["units"]);
    assert_eq!(names(&folder).len(), 2);
    // Nothing is left for a shard, with any number of shards.
    for part in ["0/3", "2/3", "3/7"] {
        let again = count_in(&place, &["--shard", part]);
        assert_eq!(again["journal"]["units_before"], again["units"], "{part}");
        assert_eq!(again["journal"]["file"], arg(&place), "{part}: no file was written");
    }
    assert_eq!(names(&folder).len(), 2);
    let record = contents(&folder);
    assert_eq!((record.total(), repeated(&record)), (Some(14_200), 0));
    assert_eq!(record.missing_shards(3), Ok(Vec::new()));

    // Also the other way round, from a whole count that was stopped.
    let begun = folder.join("begun.journal");
    for name in names(&folder) {
        let path = folder.join(name);
        if contents(&path).runs().any(|run| run.shard() == Shard::WHOLE) {
            fs::rename(&path, &begun).expect("room");
        } else {
            fs::remove_file(&path).expect("there");
        }
    }
    keep_lines(&begun, 30);
    let held = contents(&begun).units_done();
    let mut before = 0;
    for part in ["0/3", "1/3", "2/3"] {
        let shard = count_in(&place, &["--shard", part]);
        before += shard["journal"]["units_before"].as_u64().expect("a number");
    }
    assert_eq!(before, held as u64, "each unit of the whole count is in one shard");
    let record = contents(&folder);
    assert_eq!((record.total(), repeated(&record)), (Some(14_200), 0));
}

/// A folder may hold journals of other boards and of the second pass, whatever they are called.
#[test]
fn journals_of_other_counts_are_passed_over() {
    let folder = fresh_folder("folders-other-counts");
    let whole = |n: u32| Count::new(size(n)).threads(2).journal(&folder);
    let second = || whole(N).pass(Pass::Second);
    let other_board = whole(11).run().expect("a count");
    let first = whole(N).run().expect("a count");
    assert_eq!((first.total, first.units_before, first.left_out.len()), (Some(14_200), 0, 0));
    let of_second = second().run().expect("a count");
    assert_eq!((of_second.total, of_second.units_before), (Some(14_200), 0), "counted for itself");
    // The names say which count it is. Without them, the first lines do.
    for (outcome, name) in [(&other_board, "x"), (&first, "y"), (&of_second, "z")] {
        set_aside(outcome, name);
    }
    let before = names(&folder);
    for (count, units) in
        [(whole(11), other_board.units), (whole(N), first.units), (second(), of_second.units)]
    {
        let again = count.run().expect("a count");
        assert_eq!((again.units_before, again.left_out.len()), (units, 0));
    }
    for shard in [Shard::new(1, 2), Shard::new(4, 5)] {
        let again = whole(N).shard(shard.expect("in range")).run().expect("a shard");
        assert_eq!((again.units_before, again.left_out.len()), (again.units, 0));
    }
    assert_eq!(names(&folder), before, "nothing was left to count");
}

/// The units of engines differ. If nobody says which engine is meant, nothing is counted.
#[test]
fn journals_of_other_engines_are_passed_over_if_an_engine_is_named() {
    let folder = fresh_folder("folders-engines");
    let count = |args: &[&str]| {
        let count = ["count", "12", "--quiet", "--journal", arg(&folder)];
        output(&[&count, args].concat())
    };
    let subtrees = ["--engine", "subtrees"];
    let rows = ["--split-rows", "3"];
    // An engine that is not named is that of the journals.
    for args in [&subtrees[..], &[], &["--shard", "0/2"]] {
        assert_eq!(count(args).status.code(), Some(0), "{args:?}");
    }
    assert_eq!(names(&folder).len(), 1, "the others found all units");
    assert_eq!(contents(&folder).plan().engine(), Engine::Subtrees);
    for args in [&["--engine", "colours"][..], &["--engine", "bitmask"], &rows] {
        let before = names(&folder);
        assert_eq!(result(&count(args)), (Some(0), TOTAL, ""), "{args:?}");
        assert_eq!(names(&folder).len(), before.len() + 1, "{args:?}: all units were counted");
        assert_eq!(result(&count(args)), (Some(0), TOTAL, ""), "{args:?}");
        assert_eq!(names(&folder).len(), before.len() + 1, "{args:?}: no unit was counted");
    }
    let before = names(&folder);
    let words = ["plan=", "a count its --engine and --split-rows"];
    refused(&count(&[]), 2, &words);
    refused(&count(&subtrees), 2, &words);
    assert_eq!(names(&folder), before);
}

/// The folder may have any name, and is made if its parent is there. A file is no place for journals, whatever it
/// holds.
#[test]
fn a_place_for_journals_is_a_folder() {
    let folder = fresh_folder("folders-names");
    for name in ["q", "q.txt", "q.journal", "q8/"] {
        let path = folder.join(name);
        assert_eq!(result(&run(&mut count_into("8", &path, &[]))), (Some(0), "92\n", ""));
        assert_eq!(names(&path).len(), 1, "{name}");
    }
    let words = ["is not a folder", "move this file into one, and name the folder"];
    let old = journal_in(&folder.join("q"));
    let letter = folder.join("letter");
    fs::write(&letter, "a letter\n").expect("room");
    for file in [&letter, &old] {
        let before = fs::read(file).expect("there");
        for args in [&[][..], &["--shard", "0/2"]] {
            refused(&run(&mut count_into("8", file, args)), 2, &words);
        }
        assert_eq!(fs::read(file).expect("there"), before, "{}", file.display());
    }
    // As the message says.
    let other = folder.join("other");
    fs::create_dir(&other).expect("room");
    fs::rename(old, other.join("old.journal")).expect("there");
    assert_eq!(result(&run(&mut count_into("8", &other, &[]))), (Some(0), "92\n", ""));
    assert_eq!(names(&other).len(), 1, "nothing was left to count");
}

/// Some systems put a file of their own beside each one on a share.
#[test]
fn names_that_begin_with_a_dot_are_no_journals() {
    let folder = fresh_folder("folders-companions");
    let shard = count_shard(N, 0, 1, &folder);
    set_aside(&shard, "n12-0000-of-0001.h.1");
    let companion = folder.join("._n12-0000-of-0001.h.1.journal");
    fs::write(&companion, b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ").expect("room");
    fs::write(folder.join(".journal"), "a letter\n").expect("room");
    for (command, answer) in [("merge", TOTAL), ("status", "100\n"), ("verify", "0\n")] {
        let read = output(&[command, "--quiet", arg(&folder)]);
        assert_eq!(result(&read), (Some(0), answer, ""), "{command}");
    }
    let again = count_shard(N, 0, 1, &folder);
    assert_eq!((again.units_before, again.left_out.len()), (shard.units, 0));
    // Who names one means it. No unit is missing, so it is only a warning.
    let own = folder.join("n12-0000-of-0001.h.1.journal");
    let letter = folder.join(".journal");
    let named = output(&["merge", "--quiet", arg(&letter), arg(&own)]);
    assert_eq!((named.status.code(), stdout(&named)), (Some(0), TOTAL), "{named:?}");
    let warning = "/.journal: is not a journal of nqueens";
    assert!(stderr(&named).contains(warning), "{named:?}");
    assert_eq!(stderr(&named).lines().count(), 1, "{named:?}");
    refused(&output(&["merge", arg(&companion)]), 2, &["is not a journal of nqueens"]);
}

/// Also such as may not be read, and hidden ones: snapshots and the like.
#[test]
fn folders_within_a_folder_are_not_read() {
    let folder = fresh_folder("folders-within");
    set_aside(&count_shard(N, 0, 2, &folder), "q");
    for name in ["inner", ".snapshot", "inner.journal"] {
        let inner = folder.join(name);
        fs::create_dir(&inner).expect("room");
        set_aside(&count_shard(N, 1, 2, &inner), "r");
        if name == "inner.journal" {
            // Its name says that it is a journal.
            let read = output(&["merge", "--json", arg(&folder)]);
            assert_eq!(json(&read)["total"], Value::Null, "{name}");
            assert!(stderr(&read).contains("is not a journal"), "{name}: {read:?}");
        } else {
            for command in ["merge", "status", "verify"] {
                let read = output(&[command, "--json", arg(&folder)]);
                let report = json(&read);
                assert_eq!(report["total"], Value::Null, "{name} {command}: {read:?}");
                assert_eq!(report["files"], 1, "{name} {command}: {read:?}");
            }
        }
        fs::remove_dir_all(&inner).expect("there");
    }
    let secret = folder.join("secret");
    fs::create_dir(&secret).expect("room");
    let mode = |mode| fs::set_permissions(&secret, fs::Permissions::from_mode(mode));
    mode(0).expect("it is ours");
    let is_kept_out = secret.read_dir().is_err();
    let read = ["merge", "status"].map(|command| output(&[command, "--json", arg(&folder)]));
    let shard = ["count", "12", "--shard", "1/2", "--quiet", "--journal", arg(&folder)];
    let counted = output(&shard);
    mode(0o700).expect("it is ours");
    if !is_kept_out {
        note_skipped("root may read every folder");
    }
    for read in read {
        assert_eq!(json(&read)["files"], 1, "{read:?}");
        assert!(!stderr(&read).contains("secret"), "{read:?}");
    }
    assert_eq!((counted.status.code(), stderr(&counted)), (Some(0), ""));
}

/// Text that went through Windows ends its lines with two bytes.
#[test]
fn line_ends_of_windows_change_nothing() {
    let folder = fresh_folder("folders-windows");
    assert!(run(&mut count_into("12", &folder, &[])).status.success());
    let path = journal_in(&folder);
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replace('\n', "\r\n")).expect("room");
    assert_eq!(result(&output(&["merge", "--quiet", arg(&folder)])), (Some(0), TOTAL, ""));
    assert_eq!(result(&run(&mut count_into("12", &folder, &[]))), (Some(0), TOTAL, ""));
    assert_eq!(names(&folder).len(), 1, "nothing was left to count");
}
