//! The command `salvage` keeps all good lines of a damaged journal, whatever is wrong with the rest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use nqueens::journal;

mod common;
use common::processes::wait_for;
use common::{contents, fresh_folder, json, nqueens, raised, result, run};

/// A finished journal, in lines of one unit.
fn finished(folder: &Path) -> (PathBuf, String) {
    let path = folder.join("q.journal");
    let mut command =
        nqueens(&["count", "11", "--engine", "halves", "--threads", "1", "--journal"]);
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
    assert!(result(&refused).2.contains("nqueens salvage JOURNAL --into NEW"), "{refused:?}");

    let new = folder.join("new.journal");
    let saved = salvage(&path, &new, &[]);
    let report = json(&saved);
    let lines = text.lines().count() - 1;
    assert_eq!(saved.status.code(), Some(0));
    assert_eq!(
        (&report["lines_kept"], &report["places_left_out"]),
        (&(lines - 1).into(), &1.into())
    );
    assert_eq!(fs::read(&path).expect("still there"), bytes, "the old file is only read");
    resumes(&new);

    let again = salvage(&path, &new, &[]);
    assert_eq!(again.status.code(), Some(2), "the new file is not overwritten: {again:?}");
    let nothing = salvage(&folder.join("none.journal"), &folder.join("x"), &[]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(!folder.join("x").exists());
}

#[test]
fn damaged_blocks_line_ends_and_headers_cost_only_their_own_units() {
    let folder = fresh_folder("salvage-blocks");
    let (path, text) = finished(&folder);
    let units = contents(&path).finished.units_done();
    let header = text.find('\n').expect("a line");
    let middle = text.len() / 2;
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let cases: [(&str, Change<'_>, &[&str], usize); 6] = [
        ("zeros over a block", &|bytes| bytes[middle..middle + 512].fill(0), &[], 20),
        (
            "no line ends",
            &|bytes| {
                bytes[header + 1..]
                    .iter_mut()
                    .filter(|byte| **byte == b'\n')
                    .for_each(|byte| *byte = b'\r');
            },
            &[],
            0,
        ),
        ("no line end after the header", &|bytes| bytes[header] = b' ', &[], 0),
        (
            "no first block",
            &|bytes| bytes[..600].fill(0),
            &["--size", "11", "--engine", "halves"],
            20,
        ),
        (
            "a header of nothing",
            &|bytes| bytes[3] = b'x',
            &["--size", "11", "--engine", "halves"],
            0,
        ),
        ("a lost block", &|bytes| drop(bytes.drain(middle..middle + 300)), &[], 20),
    ];
    for (damage, change, args, most) in cases {
        let mut bytes = text.clone().into_bytes();
        change(&mut bytes);
        fs::write(&path, &bytes).expect("the folder can be written");
        let new = folder.join("new.journal");
        let _ = fs::remove_file(&new);
        let saved = salvage(&path, &new, args);
        assert_eq!(saved.status.code(), Some(0), "{damage}: {saved:?}");
        let kept = json(&saved)["kept"].as_u64().expect("a number");
        let lost = units as u64 - kept;
        assert!(lost <= most as u64, "{damage}: {lost} of {units} units");
        resumes(&new);
    }
    fs::write(&path, &text.as_bytes()[header + 1..]).expect("the folder can be written");
    let refused = salvage(&path, &folder.join("other.journal"), &[]);
    assert_eq!(refused.status.code(), Some(1), "no plan: {refused:?}");
    assert!(result(&refused).2.contains("--size N"), "{refused:?}");
    for args in [["--size", "12", "--engine", "halves"], ["--size", "11", "--engine", "subtrees"]] {
        let other = salvage(&path, &folder.join("other.journal"), &args);
        assert_eq!(other.status.code(), Some(2), "another plan: {other:?}");
        assert!(result(&other).2.contains("do not belong to a count with n = "), "{other:?}");
    }
    // If sums fit by chance, a recount does not.
    let few: Vec<&str> =
        text.lines().filter(|line| line.contains("solutions=8 ")).take(3).collect();
    assert!(!few.is_empty(), "some units have one solution");
    fs::write(&path, few.join("\n") + "\n").expect("the folder can be written");
    let other =
        salvage(&path, &folder.join("other.journal"), &["--size", "12", "--engine", "halves"]);
    assert_eq!(other.status.code(), Some(2), "another plan: {other:?}");
}

/// Shards of n = 14 are counted by another engine than whole counts on a machine with AVX2.
#[test]
fn the_size_is_enough_for_the_plan_of_a_shard() {
    let folder = fresh_folder("salvage-shard");
    let path = folder.join("shard.journal");
    let mut command = nqueens(&["shard", "14", "--index", "0", "--shards", "2", "--out"]);
    assert!(run(command.arg(&path)).status.success());
    let mut bytes = fs::read(&path).expect("written");
    bytes[30] ^= 1;
    fs::write(&path, bytes).expect("the folder can be written");
    let saved = salvage(&path, &folder.join("new.journal"), &["--size", "14"]);
    assert_eq!(saved.status.code(), Some(0), "{saved:?}");
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
    let (_, other) = raised(&plan, line, 1);
    fs::write(&path, text.clone() + &other + line + "\n").expect("the folder can be written");
    let new = folder.join("new.journal");
    let saved = salvage(&path, &new, &[]);
    assert_eq!(saved.status.code(), Some(1), "one of them is wrong: {saved:?}");
    assert_eq!(json(&saved)["disputed"], serde_json::json!([unit]));
    assert!(result(&saved).2.contains("recorded with two counts"), "{saved:?}");
    assert_eq!(contents(&new).counts.get(unit), None);
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
    let saved = salvage(&path, &new, &["--without", "3,7..9"]);
    assert_eq!(saved.status.code(), Some(0));
    let finished = contents(&new).finished;
    for unit in [3, 7, 8] {
        assert!(!finished.contains(unit));
    }
    resumes(&new);
    let bad = salvage(&path, &folder.join("x"), &["--without", "9..7"]);
    assert_eq!(bad.status.code(), Some(2), "{bad:?}");
}

#[test]
fn a_journal_in_use_is_not_salvaged() {
    let folder = fresh_folder("salvage-in-use");
    let path = folder.join("q.journal");
    let mut command = nqueens(&["count", "24", "--kernel", "portable", "--journal"]);
    let mut child = command.arg(&path).spawn().expect("the program starts");
    wait_for("a journal", &mut child, || journal::read(&path).ok().flatten());
    let refused = salvage(&path, &folder.join("new.journal"), &[]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    child.kill().expect("it runs");
    child.wait().expect("ended");
}
