//! Promise: `merge` names the shards that are missing, and `merge --missing` prints them as job arrays take them.
//! docs/CLUSTER.md makes this promise under "What to do".

use std::fs;
use std::path::Path;

use nqueens::plan::{Pass, Plan};
use nqueens::{Count, Engine, Shard};

use super::shards::count_shards;
use super::status::start_endless;
use crate::common::{
    arg, contents, counts, first_line_with_check_digits, fresh, fresh_folder, output, plan_of,
    raise_first_count, refused, result, size, with_check_digits,
};

/// Runs `merge --missing`. Returns the exit code and the answer, and stderr if something is said there.
pub(crate) fn missing(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let named = output(&[&["merge", "--missing", arg(folder)], args].concat());
    let (code, answer, message) = result(&named);
    (code, answer.to_owned(), message.to_owned())
}

pub(crate) fn lists(indices: &str, code: i32) -> (Option<i32>, String, String) {
    let line = if indices.is_empty() { String::new() } else { format!("{indices}\n") };
    (Some(code), line, String::new())
}

#[test]
fn what_is_missing_is_named() {
    let folder = fresh("missing");
    count_shards(12, &[0, 1, 4], 6, &folder);
    let merged = contents(&folder);
    assert_eq!(merged.missing_shards(6), Ok(vec![2, 3, 5]));
    // Nothing of the other pass has begun.
    let of_second = merged.0.missing_shards(Pass::Second, 6).expect("in range");
    assert_eq!(of_second.len(), 6);
    for shards in [0, 1_000_001, usize::MAX] {
        assert!(merged.missing_shards(shards).is_err(), "{shards} shards");
    }
    assert!(merged.total().is_none());
    for index in 0..6 {
        let shard = Shard::new(index, 6).expect("in range");
        for unit in shard.ranges(merged.plan().units()).flatten() {
            let is_finished = merged.count(unit).is_some();
            assert_eq!(is_finished, [0, 1, 4].contains(&index), "unit {unit} of shard {index}");
        }
    }
    assert_eq!(counts(&merged).len(), merged.units_done());
}

/// A job file pastes the answer into `--array=`, so nothing else may be on stdout.
#[test]
fn the_missing_shards_are_printed_as_job_arrays_take_them() {
    let folder = fresh_folder("shards-as-arrays");
    // Nothing has begun.
    assert_eq!(missing(&folder, &["--shards", "10"]), lists("0-9", 3));
    assert_eq!(missing(&folder, &["--shards", "1"]), lists("0", 3));
    refused(&output(&["merge", "--missing", arg(&folder)]), 3, &["there is no journal in"]);
    // Neither has a journal that a process created just now.
    fs::write(folder.join("begun.journal"), "").expect("room");
    assert_eq!(missing(&folder, &["--shards", "10"]), lists("0-9", 3));
    refused(&output(&["merge", "--missing", arg(&folder)]), 3, &["holds a finished unit yet"]);

    count_shards(12, &[0, 1, 2, 4, 5, 6], 10, &folder);
    assert_eq!(missing(&folder, &[]), lists("3,7-9", 3));
    // The user may cut the rest into other shards: the journals hold some units of each.
    assert_eq!(missing(&folder, &["--shards", "2"]), lists("0-1", 3));
    count_shards(12, &[3, 7, 8], 10, &folder);
    assert_eq!(missing(&folder, &[]), lists("9", 3));
    count_shards(12, &[9], 10, &folder);
    for args in [&[][..], &["--shards", "10"], &["--shards", "7"]] {
        assert_eq!(missing(&folder, args), lists("", 0), "{args:?}");
    }
}

/// A process that counts a shard at this moment would be joined by a second one.
#[test]
fn shards_that_are_being_counted_are_not_listed() {
    for (running, listed, said) in
        [("1/4", "0,3\n", "shard 1/4"), ("0/1", "", "shards 0/4 to 1/4, 3/4")]
    {
        let folder = fresh_folder("missing-running");
        let (mut child, _) = start_endless(&["--shard", running], &folder);
        let path = folder.join("n16-0002-of-0004.other.1.journal");
        let plan = plan_of(size(16), Engine::Permutation, None);
        write_finished_shard(&path, &plan, Shard::new(2, 4).expect("in range"));
        let (code, answer, message) = missing(&folder, &["--shards", "4"]);
        assert_eq!((code, &*answer), (Some(3), listed), "{message}");
        let left_out = format!("nqueens: left out, because processes are counting them: {said}\n");
        assert_eq!(message, left_out);
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert_eq!(missing(&folder, &["--shards", "4"]), lists("0-1,3", 3));
    }
}

/// Writes a journal that holds counts of zero for all units of a shard.
fn write_finished_shard(path: &Path, plan: &Plan, shard: Shard) {
    let first = format!("nqueens-journal 2 version=0.1.0 {plan}");
    let first = first_line_with_check_digits(&first);
    let run = format!("run version=0.1.0 kernel=portable threads=1 shard={shard} machine=other");
    let mut text = first.clone() + &with_check_digits(&first, &run);
    for units in shard.ranges(plan.units()) {
        let counts = vec!["0"; units.len()].join(",");
        let line = format!(
            "done units={}..{} solutions=0 elapsed-ms=1 busy-us=1 counts={counts}",
            units.start, units.end
        );
        text += &with_check_digits(&first, &line);
    }
    fs::write(path, text).expect("room");
}

#[test]
fn missing_shards_need_one_number_of_shards() {
    let folder = fresh("mixed");
    count_shards(12, &[0], 2, &folder);
    count_shards(12, &[1], 3, &folder);
    let unknown = output(&["merge", "--missing", arg(&folder)]);
    refused(&unknown, 2, &["do not agree on the number of shards: name it with --shards K"]);
    assert_eq!(missing(&folder, &["--shards", "2"]), lists("1", 3));
    assert_eq!(missing(&folder, &["--shards", "3"]), lists("0,2", 3));
    // A whole count beside them leaves nothing to ask for.
    Count::new(size(12)).journal(&folder).run().expect("a count");
    assert_eq!(missing(&folder, &[]), lists("", 0));
}

/// The shards of a damaged line are to be run again, and that a machine made an error is said.
#[test]
fn missing_shards_are_those_of_damaged_lines_and_disputed_units_too() {
    let folder = fresh("missing-damage");
    count_shards(12, &[0, 1, 2], 3, &folder);
    let path = folder.join("1.journal");
    let good = fs::read_to_string(&path).expect("text");
    fs::write(&path, good.replacen("\ndone ", "\ndonE ", 1)).expect("room");
    let (code, answer, message) = missing(&folder, &[]);
    assert_eq!((code, &*answer), (Some(3), "1\n"), "{message}");
    assert!(message.starts_with("nqueens: warning: left out: "), "{message}");

    fs::write(&path, good).expect("room");
    let wrong = folder.join("wrong.journal");
    fs::copy(&path, &wrong).expect("room");
    raise_first_count(&wrong);
    let (code, answer, message) = missing(&folder, &[]);
    assert_eq!((code, &*answer), (Some(3), "1\n"), "{message}");
    assert!(message.contains("a machine made an error"), "{message}");
}
