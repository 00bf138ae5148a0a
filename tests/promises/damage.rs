//! `merge FILE --into NEW` keeps all good lines of a damaged journal, and a damaged journal hides none of the others.
//! `journal_fuzz` has every kind of damage.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use nqueens::Error;
use nqueens::record::JournalError;

use crate::common::processes::{send, wait_for_work};
use crate::common::{
    arg, contents, count_shard, counts, finish, fresh_folder, json, nqueens, output, raised, read,
    result, run, seal_first, set_aside, spawn, stderr, stdout, unsealed,
};

/// A finished journal, in lines of one unit.
fn finished(folder: &Path) -> (PathBuf, String) {
    let path = folder.join("q.journal");
    let mut command = nqueens(&[
        "count",
        "11",
        "--engine",
        "subtrees",
        "--split-rows",
        "2",
        "--threads",
        "1",
        "--journal",
    ]);
    assert!(run(command.arg(&path)).status.success());
    let text = fs::read_to_string(&path).expect("text");
    (path, text)
}

fn save(from: &Path, into: &Path, args: &[&str]) -> Output {
    run(nqueens(&["merge", "--json", "--into"]).arg(into).arg(from).args(args))
}

/// Resumes a journal and expects the exact total.
fn resumes(path: &Path) {
    let output = run(nqueens(&["count", "11", "--quiet", "--journal"]).arg(path));
    assert_eq!(result(&output), (Some(0), "2680\n", ""));
}

#[test]
fn one_bad_byte_costs_one_line() {
    let folder = fresh_folder("damage-byte");
    let (path, text) = finished(&folder);
    let mut bytes = text.clone().into_bytes();
    bytes[text.len() / 2] ^= 1;
    fs::write(&path, &bytes).expect("the folder can be written");
    let refused = run(nqueens(&["count", "11", "--journal"]).arg(&path));
    let remedy = format!("'nqueens merge {} --into NEW' keeps its good lines", path.display());
    assert!(result(&refused).2.contains(&remedy), "{refused:?}");

    let new = folder.join("new.journal");
    let saved = save(&path, &new, &[]);
    let report = json(&saved);
    let lines = text.lines().count() - 1;
    assert_eq!(saved.status.code(), Some(1), "it was damaged: {saved:?}");
    let units = contents(&new).tally().units;
    assert_eq!(
        (&report["finished"], &report["damaged"][0]),
        (&units.into(), &path.to_str().into())
    );
    assert!(units > lines / 2, "{units} units of {lines} lines");
    assert_eq!(fs::read(&path).expect("still there"), bytes, "the old file is only read");
    resumes(&new);

    let again = save(&path, &new, &[]);
    assert_eq!(again.status.code(), Some(2), "the new file is not overwritten: {again:?}");
    let nothing = save(&folder.join("none.journal"), &folder.join("x"), &[]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(!folder.join("x").exists());
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
    fs::write(&path, one + &other).expect("the folder can be written");
    assert!(contents(&path).total().is_some());
    resumes(&path);
    assert!(fs::read_to_string(&path).expect("text").starts_with(&begun));
}

/// The first line is the same in all journals of a count of one version.
#[test]
fn another_journal_of_the_count_stands_in_for_a_first_line() {
    let folder = fresh_folder("damage-first");
    let (path, text) = finished(&folder);
    let other = folder.join("other.journal");
    let count = ["count", "11", "--engine", "subtrees", "--split-rows", "2", "--journal"];
    assert!(run(nqueens(&count).arg(&other)).status.success());
    let first = fs::read_to_string(&other).expect("text").lines().next().map(str::to_owned);
    let zeros = "\0".repeat(200);
    let damaged = zeros.clone() + &text[200..];
    fs::write(&path, &damaged).expect("the folder can be written");
    let new = folder.join("new.journal");
    let refused = save(&path, &new, &[]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let message = result(&refused).2;
    let remedy =
        format!("'nqueens merge {} OTHER --into NEW' keeps its good lines", path.display());
    assert!(message.contains(&remedy), "{message}");

    fs::write(&other, first.expect("a line") + "\n").expect("the folder can be written");
    let mut merge = nqueens(&["merge", "--into"]);
    let merged = run(merge.arg(&new).args([&path, &other]));
    assert_eq!(merged.status.code(), Some(1), "{merged:?}");
    assert_eq!(contents(&new).files()[0].runs[0].machine, "unknown", "its line is lost");
    resumes(&new);
}

#[test]
fn two_counts_of_one_unit_are_both_left_out_and_reported() {
    let folder = fresh_folder("damage-disputed");
    let (path, text) = finished(&folder);
    let plan = contents(&path).plan().clone();
    let (unit, line) = (0..plan.units())
        .find_map(|unit| {
            let units = format!("units={unit}..{} ", unit + 1);
            text.lines().find(|line| line.contains(&units)).map(|line| (unit, line))
        })
        .expect("a line of one unit");
    let (_, other) = raised(&plan, &text, line, 1);
    fs::write(&path, text.clone() + &other + line + "\n").expect("the folder can be written");
    let new = folder.join("new.journal");
    let saved = save(&path, &new, &[]);
    assert_eq!(saved.status.code(), Some(1), "one of them is wrong: {saved:?}");
    assert!(result(&saved).2.contains(&format!("unit {unit} has the count")), "{saved:?}");
    assert_eq!(counts(&contents(&new)).get(&unit), None);
    resumes(&new);

    // Equal duplicates are harmless and need no saving.
    fs::write(&path, format!("{text}{line}\n")).expect("the folder can be written");
    resumes(&path);
}

/// Who stops it learns of it as well.
#[test]
fn a_shard_says_what_it_left_out_as_it_starts() {
    let folder = fresh_folder("damage-stopped");
    fs::write(folder.join("bad.journal"), "nqueens-journal 2 \n").expect("room");
    let mut shard = nqueens(&["shard", "22", "--index", "0", "--shards", "2", "--out"]);
    let mut child = spawn(shard.arg(&folder));
    wait_for_work(&mut child, std::time::Duration::from_millis(300));
    send("TERM", &child);
    let stopped = finish(child);
    assert_eq!(stopped.status.code(), Some(3), "{stopped:?}");
    let message = stderr(&stopped);
    assert!(message.starts_with("nqueens: warning: left out: "), "{message}");
    assert!(message.contains("stopped after "), "{message}");
}

#[test]
fn units_can_be_left_out_by_number() {
    let folder = fresh_folder("damage-without");
    let (path, _) = finished(&folder);
    let new = folder.join("new.journal");
    let saved = save(&path, &new, &["--without", "3,7-8"]);
    assert_eq!(saved.status.code(), Some(3), "three units are missing: {saved:?}");
    assert_eq!(json(&saved)["missing"]["units"], 3);
    let held = contents(&new);
    assert!([3, 7, 8].iter().all(|unit| !held.finished().contains(*unit)));
    resumes(&new);
    for (units, reason) in [("9-7", "7-9"), ("7..9", "7-9"), ("3,99999999", "choose 0 to ")] {
        let bad = save(&path, &folder.join("x"), &["--without", units]);
        assert_eq!(bad.status.code(), Some(2), "{bad:?}");
        assert!(result(&bad).2.contains(reason), "{bad:?}");
    }
}

/// A failed machine may leave a damaged file. Other processes continue without it, and all that is good
/// is shown, with a warning and exit code 1 until a user has dealt with the file.
#[test]
fn a_damaged_journal_hides_nothing_else() {
    let folder = fresh_folder("damage-shard");
    let path = set_aside(&count_shard(12, 0, 3, &folder), "damaged");
    let mut bytes = fs::read(&path).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("the folder can be written");
    let again = count_shard(12, 0, 3, &folder);
    let kept = again.units - again.units_before;
    assert!(kept > 0 && kept < again.units / 2, "{kept} of {} units", again.units);
    assert_eq!(again.left_out.len(), 1, "one line");
    let refused = read(&folder);
    let Err(Error::Journal { path: named, error: JournalError::Damaged { .. } }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(named, path);

    let (out, page) = (arg(&folder), folder.join("page.html"));
    let named = arg(&path);
    let warned = |args: &[&str]| {
        let output = output(&[args, &[out]].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
        let remedy = format!("'nqueens merge {named} --into NEW' keeps its good lines; then move");
        assert!(stderr(&output).contains(&remedy), "{args:?}: {output:?}");
        stdout(&output).to_owned()
    };
    assert_eq!(warned(&["merge"]), "", "two shards are missing");
    let html = ["status", "--html", arg(&page)];
    assert!(warned(&html).contains(&format!("damaged      1 journal, the first is {named}")));
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("1 complete</li>") && page.contains(named), "{page}");
    for index in [1, 2] {
        set_aside(&count_shard(12, index, 3, &folder), &index.to_string());
    }
    assert_eq!(warned(&["merge", "--quiet"]), "14200\n");
    assert!(warned(&["verify", "--units", "3"]).contains("damaged      1 journal, the first is "));
    let new = folder.join("new.journal");
    let saved = output(&["merge", named, "--into", arg(&new)]);
    assert_eq!(saved.status.code(), Some(1), "it is damaged: {saved:?}");
    fs::rename(&path, path.with_extension("old")).expect("the folder can be written");
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
    fs::write(&path, text.replacen("\nrun ", "\nruN ", 1)).expect("the folder can be written");
    let status = output(&["status", "--json", arg(&folder)]);
    assert_eq!(status.status.code(), Some(1), "{status:?}");
    let (status, named) = (json(&status), arg(&path));
    assert_eq!(status["missing"]["indices"], "2", "{status}");
    assert_eq!(status["damaged"], serde_json::json!([named]), "{status}");
}

/// The plan is that of another journal; no line of another plan has the right CRC.
#[test]
fn a_shard_finds_its_units_in_a_journal_whose_first_line_is_damaged() {
    let folder = fresh_folder("damage-first-line");
    let outcome = count_shard(12, 0, 2, &folder);
    count_shard(12, 1, 2, &folder);
    let path = outcome.journal.expect("written");
    let mut bytes = fs::read(&path).expect("readable");
    bytes[20] ^= 1;
    fs::write(&path, &bytes).expect("the folder can be written");
    let again = count_shard(12, 0, 2, &folder);
    assert_eq!((again.units_before, again.total), (outcome.units, outcome.total));
    assert!(again.left_out[0].to_string().contains("line 1 is damaged"), "{:?}", again.left_out);
}
