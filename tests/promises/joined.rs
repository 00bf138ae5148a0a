//! Promise: `cat` packs the journals of a count into one journal that can be used as any other, also while the old ones
//! are still there. docs/JOURNAL.md makes this promise under "Packing", and docs/FORMAT.md under "The CRC".

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nqueens::journal::Record;
use nqueens::{Count, Shard};

use super::damage::{finished, resumes, write};
use crate::common::{
    arg, contents, count_shard, counts, cpu_time, first_line_with_check_digits, fresh_folder,
    journal_in, journals_in, json, output, record_of, repeated, result, shell, size, stdout,
    without_check_digits,
};

/// The machines of all runs.
fn machines(record: &Record) -> Vec<String> {
    record.runs().map(|run| run.machine().to_owned()).collect()
}

/// Packs the journals of a folder into one file, as the manual says.
fn pack(folder: &Path) {
    shell(folder, "cat *.journal > one.tmp && rm *.journal && mv one.tmp one.journal");
}

/// What `merge --missing` prints with exit code 3.
fn missing(folder: &Path) -> String {
    let missing = output(&["merge", "--missing", arg(folder)]);
    assert_eq!(missing.status.code(), Some(3), "{missing:?}");
    stdout(&missing).to_owned()
}

#[test]
fn joined_journals_hold_what_the_others_held() {
    let folder = fresh_folder("packed");
    for index in [2, 0] {
        count_shard(12, index, 4, &folder);
    }
    let before = contents(&folder);
    let merged = json(&output(&["merge", "--json", arg(&folder)]));

    pack(&folder);
    let packed = contents(&folder);
    journal_in(&folder);
    assert_eq!(counts(&packed), counts(&before));
    assert_eq!(before.missing_shards(4), Ok(vec![1, 3]));
    assert_eq!(packed.missing_shards(4), Ok(vec![1, 3]));
    assert_eq!((repeated(&packed), cpu_time(&packed)), (0, cpu_time(&before)));
    assert_eq!(machines(&packed), machines(&before));
    // Nothing that `merge` prints is different, but the number of files.
    let mut of_one = json(&output(&["merge", "--json", arg(&folder)]));
    assert_eq!((&merged["files"], &of_one["files"]), (&2.into(), &1.into()));
    of_one["files"] = 2.into();
    assert_eq!(of_one, merged);
    assert_eq!(missing(&folder), "1,3\n");

    // The shards find their units in the one journal.
    for index in [0, 2] {
        let again = count_shard(12, index, 4, &folder);
        assert_eq!((again.journal, again.units_before), (None, again.units));
    }
    for index in [1, 3] {
        count_shard(12, index, 4, &folder);
    }
    pack(&folder);
    let merge = ["merge", "--quiet", arg(&folder)];
    assert_eq!(result(&output(&merge)), (Some(0), "14200\n", ""));
    let outcome = Count::new(size(12)).journal(&folder).run().expect("a count");
    assert_eq!((outcome.total, outcome.units_before), (Some(14_200), outcome.units));
    journal_in(&folder);
}

/// A copied line is no second count, so all lines may be there twice, in any order.
#[test]
fn a_packed_journal_beside_its_parts_changes_nothing() {
    let folder = fresh_folder("packed-beside");
    for index in [1, 0] {
        count_shard(12, index, 3, &folder);
    }
    let before = contents(&folder);
    shell(&folder, "cat *.journal > packed.tmp && mv packed.tmp packed.journal");
    // Another one went through Windows, and lost its order.
    shell(
        &folder,
        "sort -r packed.journal | sed 's/$/\\r/' > other.tmp && mv other.tmp other.journal",
    );
    let both = contents(&folder);
    assert_eq!((journals_in(&folder).len(), both.differences()), (4, &[][..]));
    assert_eq!((counts(&both), both.solutions()), (counts(&before), before.solutions()));
    assert_eq!(repeated(&both), 2 * before.units_done());
    assert_eq!(missing(&folder), "2\n");
    count_shard(12, 2, 3, &folder);
    let merge = ["merge", "--quiet", arg(&folder)];
    assert_eq!(result(&output(&merge)), (Some(0), "14200\n", ""));
}

/// Of a killed process half a line is left, which becomes a part of the first line of the next journal.
#[test]
fn joining_journals_of_killed_processes_loses_no_unit() {
    let folder = fresh_folder("packed-killed");
    for index in [0, 1, 2] {
        let path = count_shard(12, index, 3, &folder).journal.expect("it was written");
        if index != 1 {
            let text = fs::read_to_string(&path).expect("text");
            fs::write(&path, &text[..text.len() - 9]).expect("room");
        }
    }
    let before: BTreeMap<_, _> = counts(&record_of(&[&folder]));
    pack(&folder);
    assert_eq!(counts(&record_of(&[&folder])), before);
    assert_eq!(missing(&folder), "0,2\n");
    let counted = output(&["count", "12", "--quiet", "--journal", arg(&folder)]);
    assert_eq!((counted.status.code(), stdout(&counted)), (Some(0), "14200\n"), "{counted:?}");
}

/// Each line says by its CRC to which of the two counts it belongs.
#[test]
fn both_counts_of_a_board_may_be_in_one_file() {
    let folder = fresh_folder("packed-counts");
    let shard = |index| Shard::new(index, 2).expect("in range").to_string();
    for args in [&["--shard", &shard(0)][..], &["--shard", &shard(1)], &["--second"]] {
        let counted = output(&[&["count", "12", "--journal", arg(&folder)], args].concat());
        assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    }
    let before = json(&output(&["merge", "--json", arg(&folder)]));
    pack(&folder);
    let merged = output(&["merge", arg(&folder)]);
    assert_eq!(merged.status.code(), Some(0), "{merged:?}");
    assert!(stdout(&merged).contains(" counted twice, all with equal counts\n"), "{merged:?}");
    let packed = json(&output(&["merge", "--json", arg(&folder)]));
    assert_eq!(
        (&packed["total"], &packed["counted_twice"]),
        (&"14200".into(), &before["counted_twice"])
    );
    for second in [&[][..], &["--second"]] {
        let again =
            output(&[&["count", "12", "--quiet", "--journal", arg(&folder)], second].concat());
        assert_eq!(result(&again), (Some(0), "14200\n", ""));
    }
    journal_in(&folder);
}

/// A journal that another version began keeps its first line, and first lines may stand anywhere.
#[test]
fn first_lines_of_other_versions_may_stand_between_the_lines() {
    let folder = fresh_folder("packed-versions");
    let (path, text) = finished(&folder);
    let first = text.lines().next().expect("a line");
    let own_version = concat!("version=", env!("CARGO_PKG_VERSION"));
    assert!(first.contains(own_version), "{first}");
    let begun = first_line_with_check_digits(
        &without_check_digits(first).replace(own_version, "version=0.0.9"),
    );
    let half = text.lines().count() / 2;
    let mut joined = begun.clone();
    for (number, line) in text.split_inclusive('\n').skip(1).enumerate() {
        if number == half {
            joined += &begun;
        }
        joined += line;
    }
    write(&path, &joined);
    assert!(contents(&path).total().is_some());
    resumes(&folder);
    assert_eq!(fs::read_to_string(journal_in(&folder)).expect("text"), joined);
}
