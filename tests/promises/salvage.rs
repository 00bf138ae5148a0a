//! `merge FILE --into NEW` keeps all good lines of a damaged journal, whatever is wrong with the rest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{
    contents, counts, fresh_folder, json, nqueens, raised, result, run, seal_first, unsealed,
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
    run(nqueens(&["merge", "--json", "--into"]).arg(into).arg(from).args(args))
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
    let remedy = format!("'nqueens merge {} --into NEW' keeps its good lines", path.display());
    assert!(result(&refused).2.contains(&remedy), "{refused:?}");

    let new = folder.join("new.journal");
    let saved = salvage(&path, &new, &[]);
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
    let units = contents(&path).tally().units;
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
        assert_eq!(saved.status.code(), Some(1), "{damage}: {saved:?}");
        let kept = json(&saved)["finished"].as_u64().expect("a number");
        let lost = units as u64 - kept;
        assert!(lost <= most as u64, "{damage}: {lost} of {units} units");
        assert_eq!(
            contents(&new).files()[0].runs.len(),
            if damage == "no run line" { 1 } else { 2 }
        );
        resumes(&new);
    }
}

/// `cat` joins journals of one count. A journal that another version began keeps its first line.
#[test]
fn joined_journals_are_read_as_one() {
    let folder = fresh_folder("salvage-joined");
    let (path, text) = finished(&folder);
    let first = text.lines().next().expect("a line");
    let begun = seal_first(&unsealed(first).replace("version=0.1.0", "version=0.0.9"));
    let half = text.lines().count() / 2;
    let [one, other]: [String; 2] = [0, half].map(|from| {
        let lines = text.lines().skip(1).skip(from).take(half);
        begun.clone() + &lines.map(|line| format!("{line}\n")).collect::<String>()
    });
    fs::write(&path, one + &other).expect("the folder can be written");
    assert!(contents(&path).is_complete());
    resumes(&path);
    assert!(fs::read_to_string(&path).expect("text").starts_with(&begun));
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
    assert_eq!(contents(&new).files()[0].runs[0].machine, "unknown", "its line is lost");
    resumes(&new);
}

#[test]
fn two_counts_of_one_unit_are_both_left_out_and_reported() {
    let folder = fresh_folder("salvage-disputed");
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
    let saved = salvage(&path, &new, &[]);
    assert_eq!(saved.status.code(), Some(1), "one of them is wrong: {saved:?}");
    assert!(result(&saved).2.contains(&format!("unit {unit} has the count")), "{saved:?}");
    assert_eq!(counts(&contents(&new)).get(&unit), None);
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
    assert_eq!(saved.status.code(), Some(3), "three units are missing: {saved:?}");
    assert_eq!(json(&saved)["missing"]["units"], 3);
    let held = contents(&new);
    assert!([3, 7, 8].iter().all(|unit| !held.finished().contains(*unit)));
    resumes(&new);
    for (units, reason) in [("9-7", "7-9"), ("7..9", "7-9")] {
        let bad = salvage(&path, &folder.join("x"), &["--without", units]);
        assert_eq!(bad.status.code(), Some(2), "{bad:?}");
        assert!(result(&bad).2.contains(reason), "{bad:?}");
    }
}
