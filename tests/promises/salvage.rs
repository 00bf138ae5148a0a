//! The command `salvage` keeps all good lines of a damaged journal, whatever is wrong with the rest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::processes::wait_for;
use crate::common::{
    contents, counts, fresh_folder, journal_error, json, nqueens, raised, read, result, run,
    seal_first, unsealed,
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

fn salvage(from: &Path, into: &Path, args: &[&str]) -> Output {
    run(nqueens(&["salvage", "--json", "--into"]).arg(into).arg(from).args(args))
}

/// Resumes a journal and expects the exact total.
fn resumes(path: &Path) {
    let output = run(nqueens(&["count", "11", "--quiet", "--journal"]).arg(path));
    assert_eq!(result(&output), (Some(0), "2680\n", ""));
}

#[test]
fn one_bad_byte_costs_one_line() {
    let folder = fresh_folder("salvage-byte");
    let (path, text) = finished(&folder);
    let mut bytes = text.clone().into_bytes();
    bytes[text.len() / 2] ^= 1;
    fs::write(&path, &bytes).expect("the folder can be written");
    let refused = run(nqueens(&["count", "11", "--journal"]).arg(&path));
    let remedy = format!("'nqueens salvage {} --into NEW' keeps its good lines", path.display());
    assert!(result(&refused).2.contains(&remedy), "{refused:?}");

    let new = folder.join("new.journal");
    let saved = salvage(&path, &new, &[]);
    let report = json(&saved);
    let lines = text.lines().count() - 1;
    assert_eq!(saved.status.code(), Some(0));
    let units = contents(&new).units_done();
    assert_eq!((&report["kept"], &report["places_left_out"]), (&units.into(), &1.into()));
    assert!(units > lines / 2, "{units} units of {lines} lines");
    assert_eq!(fs::read(&path).expect("still there"), bytes, "the old file is only read");
    resumes(&new);

    let again = salvage(&path, &new, &[]);
    assert_eq!(again.status.code(), Some(2), "the new file is not overwritten: {again:?}");
    let nothing = salvage(&folder.join("none.journal"), &folder.join("x"), &[]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(!folder.join("x").exists());
}

#[test]
fn damaged_blocks_line_ends_and_headers_cost_only_their_own_units() {
    let folder = fresh_folder("salvage-blocks");
    let (path, text) = finished(&folder);
    let units = contents(&path).units_done();
    let header = text.find('\n').expect("a line");
    let middle = text.len() / 2;
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let cases: [(&str, Change<'_>, usize); 5] = [
        ("zeros over a block", &|bytes| bytes[middle..middle + 512].fill(0), 20),
        ("zeros over a line end", &|bytes| bytes[middle..middle + 90].fill(0), 20),
        (
            "some line ends",
            &|bytes| {
                bytes[middle..middle + 300]
                    .iter_mut()
                    .filter(|byte| **byte == b'\n')
                    .for_each(|byte| *byte = b'\r');
            },
            20,
        ),
        ("a lost block", &|bytes| drop(bytes.drain(middle..middle + 300)), 20),
        ("no run line", &|bytes| bytes[header + 3] ^= 1, 0),
    ];
    for (damage, change, most) in cases {
        let mut bytes = text.clone().into_bytes();
        change(&mut bytes);
        fs::write(&path, &bytes).expect("the folder can be written");
        let new = folder.join("new.journal");
        let _ = fs::remove_file(&new);
        let saved = salvage(&path, &new, &[]);
        assert_eq!(saved.status.code(), Some(0), "{damage}: {saved:?}");
        let kept = json(&saved)["kept"].as_u64().expect("a number");
        let lost = units as u64 - kept;
        assert!(lost <= most as u64, "{damage}: {lost} of {units} units");
        assert_eq!(contents(&new).files[0].runs.len(), if damage == "no run line" { 1 } else { 2 });
        resumes(&new);
    }
}

/// A journal that is long enough for a copy of its first line, and this line.
fn long(folder: &Path) -> (PathBuf, String, String) {
    let path = folder.join("long.journal");
    let mut command = nqueens(&[
        "count",
        "15",
        "--engine",
        "subtrees",
        "--split-rows",
        "4",
        "--threads",
        "2",
        "--journal",
    ]);
    assert!(run(command.arg(&path)).status.success());
    let text = fs::read_to_string(&path).expect("text");
    let first = text.lines().next().expect("a line").to_owned();
    (path, text, first)
}

#[test]
fn damage_to_the_first_line_costs_only_the_lines_that_it_touches() {
    let folder = fresh_folder("salvage-copies");
    let (path, text, first) = long(&folder);
    assert_eq!(text.lines().filter(|line| **line == first).count(), 2);
    let all = contents(&path).units_done();
    for (block, byte) in [(1, 0), (1, b'x'), (64, 0), (64, b'x'), (4096, 0), (4096, b'x')] {
        let mut bytes = text.clone().into_bytes();
        bytes[..block].fill(byte);
        fs::write(&path, &bytes).expect("the folder can be written");
        let refused = run(nqueens(&["count", "15", "--quiet", "--journal"]).arg(&path));
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{refused:?}");
        assert_eq!(fs::read(&path).expect("still there"), bytes);

        let new = folder.join(format!("{block}-{byte}.journal"));
        let saved = salvage(&path, &new, &[]);
        assert_eq!(saved.status.code(), Some(0), "{block} times {byte}: {saved:?}");
        let begins = |line: &&str| line.as_ptr() as usize - text.as_ptr() as usize;
        // The last byte of the damage may be the line feed before a line.
        let touched = text.lines().filter(|line| begins(line) <= block);
        let lost: usize = touched
            .filter_map(|line| line.split_once("counts="))
            .map(|(_, counts)| counts.split(',').count())
            .sum();
        assert_eq!(json(&saved)["kept"], all - lost, "{block} times {byte}");
        let resumed = run(nqueens(&["count", "15", "--quiet", "--journal"]).arg(&new));
        assert_eq!(result(&resumed), (Some(0), "2279184\n", ""), "{block} times {byte}");
    }
}

#[test]
fn every_copy_of_the_first_line_is_that_line() {
    let folder = fresh_folder("salvage-other-copy");
    let (path, text, first) = long(&folder);
    let older = unsealed(&first).replace("version=0.1.0", "version=0.0.9");
    let begun = seal_first(&older);
    let at = text.rfind(&first).expect("a copy");
    let other = text[..at].to_owned() + &begun + &text[at + first.len() + 1..];
    fs::write(&path, &other).expect("the folder can be written");
    let error = journal_error(read(&path)).to_string();
    assert!(error.contains("differs from the first one"), "{error}");

    // A journal that another version began keeps its first line.
    fs::write(&path, &begun).expect("the folder can be written");
    let resumed =
        run(nqueens(&["count", "15", "--quiet", "--threads", "2", "--journal"]).arg(&path));
    assert_eq!(result(&resumed), (Some(0), "2279184\n", ""));
    let text = fs::read_to_string(&path).expect("text");
    assert_eq!(text.matches(&begun).count(), 2);
    assert!(contents(&path).is_complete());

    // Of a copy that is cut off at the end of the file nothing is taken.
    let at = text.rfind(&begun).expect("a copy") + begun.len() / 2;
    fs::write(&path, &text[..at]).expect("the folder can be written");
    assert!(contents(&path).files[0].cut_off > 0);
    let resumed =
        run(nqueens(&["count", "15", "--quiet", "--threads", "2", "--journal"]).arg(&path));
    assert_eq!(result(&resumed).0, Some(0), "{resumed:?}");
}

/// The first line is the same in all journals of a count of one version.
#[test]
fn another_journal_of_the_count_stands_in_for_a_first_line() {
    let folder = fresh_folder("salvage-first");
    let (path, text) = finished(&folder);
    let other = folder.join("other.journal");
    let count = ["count", "11", "--engine", "subtrees", "--split-rows", "2", "--journal"];
    assert!(run(nqueens(&count).arg(&other)).status.success());
    let first = fs::read_to_string(&other).expect("text").lines().next().map(str::to_owned);
    let zeros = "\0".repeat(200);
    let damaged = zeros.clone() + &text[200..];
    fs::write(&path, &damaged).expect("the folder can be written");
    let new = folder.join("new.journal");
    let refused = salvage(&path, &new, &[]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let message = result(&refused).2;
    let remedy =
        format!("'nqueens merge {} OTHER --into NEW' keeps its good lines", path.display());
    assert!(message.contains(&remedy) && !message.contains("salvage "), "{message}");

    fs::write(&other, first.expect("a line") + "\n").expect("the folder can be written");
    let mut merge = nqueens(&["merge", "--into"]);
    let merged = run(merge.arg(&new).args([&path, &other]));
    assert_eq!(merged.status.code(), Some(1), "{merged:?}");
    let run = &contents(&new).files[0].runs[0];
    assert_eq!(run.machine, "unknown", "its line is lost");
    resumes(&new);
}

#[test]
fn two_counts_of_one_unit_are_both_left_out_and_reported() {
    let folder = fresh_folder("salvage-disputed");
    let (path, text) = finished(&folder);
    let plan = contents(&path).plan;
    let (unit, line) = (0..plan.units())
        .find_map(|unit| {
            let units = format!("units={unit}..{} ", unit + 1);
            text.lines().find(|line| line.contains(&units)).map(|line| (unit, line))
        })
        .expect("a line of one unit");
    let (_, other) = raised(&plan, &text, line, 1);
    fs::write(&path, text.clone() + &other + line + "\n").expect("the folder can be written");
    let new = folder.join("new.journal");
    let saved = salvage(&path, &new, &[]);
    assert_eq!(saved.status.code(), Some(1), "one of them is wrong: {saved:?}");
    assert_eq!(json(&saved)["disputed"], serde_json::json!([unit]));
    assert!(result(&saved).2.contains("recorded with two counts"), "{saved:?}");
    assert_eq!(counts(&contents(&new)).get(unit), None);
    resumes(&new);

    // Equal duplicates are harmless and need no salvage.
    fs::write(&path, format!("{text}{line}\n")).expect("the folder can be written");
    resumes(&path);
}

#[test]
fn units_can_be_left_out_by_number() {
    let folder = fresh_folder("salvage-without");
    let (path, _) = finished(&folder);
    let new = folder.join("new.journal");
    let saved = salvage(&path, &new, &["--without", "3,7-8"]);
    assert_eq!(saved.status.code(), Some(0));
    assert_eq!(json(&saved)["without"], 3);
    let finished = contents(&new).finished;
    for unit in [3, 7, 8] {
        assert!(!finished.contains(unit));
    }
    resumes(&new);
    for (units, reason) in [("9-7", "7-9"), ("7..9", "7-9")] {
        let bad = salvage(&path, &folder.join("x"), &["--without", units]);
        assert_eq!(bad.status.code(), Some(2), "{bad:?}");
        assert!(result(&bad).2.contains(reason), "{bad:?}");
    }
}

#[test]
fn a_journal_in_use_is_not_salvaged() {
    let folder = fresh_folder("salvage-in-use");
    let path = folder.join("q.journal");
    let mut command = nqueens(&["count", "24", "--kernel", "portable", "--journal"]);
    let mut child = command.arg(&path).spawn().expect("the program starts");
    wait_for("a journal", &mut child, || read(&path).ok().flatten());
    let refused = salvage(&path, &folder.join("new.journal"), &[]);
    child.kill().expect("it runs");
    child.wait().expect("ended");
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
}
