//! Promise: `cat` packs the journals of a count into one journal that can be used as any other. docs/JOURNAL.md makes
//! this promise under "Packing", and docs/FORMAT.md under "Joined journals".

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nqueens::Count;
use nqueens::record::{Record, journals_in};

use super::damage::{finished, resumes, write};
use super::missing::{lists, missing};
use super::shards::count_shards;
use crate::common::{
    arg, commands_after, contents, count_shard, counts, first_line_with_check_digits, fresh,
    fresh_folder, json, output, result, shell, size, stderr, stdout, without_check_digits,
};

/// The machines of all runs.
fn machines(record: &Record) -> Vec<String> {
    record.runs().map(|run| run.machine.to_string()).collect()
}

/// Packs the journals of a folder into one file, as the manual says.
fn pack(folder: &Path) {
    shell(folder, "cat *.journal > one.tmp && rm *.journal && mv one.tmp one.journal");
}

#[test]
fn joined_journals_hold_what_the_others_held() {
    let folder = fresh("packed");
    count_shards(12, &[2, 0], 4, &folder);
    // The same units again.
    fs::copy(folder.join("2.journal"), folder.join("3.journal")).expect("room");
    let before = contents(&folder);
    assert!(before.repeated() > 0);
    let merged = json(&output(&["merge", "--json", arg(&folder)]));

    pack(&folder);
    let packed = contents(&folder);
    assert_eq!(packed.files().len(), 1);
    assert!(counts(&packed).iter().eq(counts(&before).iter()));
    assert_eq!((packed.shards(), packed.missing_shards(4)), (Some(4), Ok(vec![1, 3])));
    assert_eq!((packed.repeated(), packed.cpu_time()), (before.repeated(), before.cpu_time()));
    assert_eq!(machines(&packed), machines(&before));
    // Nothing that `merge` prints is different, but the number of files.
    let mut of_one = json(&output(&["merge", "--json", arg(&folder)]));
    assert_eq!((&merged["files"], &of_one["files"]), (&3.into(), &1.into()));
    of_one["files"] = 3.into();
    assert_eq!(of_one, merged);
    assert_eq!(missing(&folder, &[]), lists("1,3", 3));

    // The shards find their units in the one journal.
    for index in [0, 2] {
        let again = count_shard(12, index, 4, &folder);
        assert_eq!((again.journal, again.units_before), (None, again.units));
    }
    count_shards(12, &[1, 3], 4, &folder);
    pack(&folder);
    let merge = ["merge", "--quiet", arg(&folder)];
    assert_eq!(result(&output(&merge)), (Some(0), "14200\n", ""));
    let one = folder.join("one.journal");
    let outcome = Count::new(size(12)).journal(&one).run().expect("a count");
    assert_eq!((outcome.total, outcome.units_before), (Some(14_200), outcome.units));
}

/// The counts of all units that the intact lines of a folder hold.
fn counts_in_intact_lines(folder: &Path) -> BTreeMap<usize, u64> {
    let journals = journals_in(&[folder]).expect("a folder");
    counts(&Record::read(&journals).expect("readable").expect("journals"))
}

/// Of a killed process half a line is left, which becomes a part of the first line of the next journal.
#[test]
fn joining_journals_of_killed_processes_loses_no_unit() {
    let folder = fresh("packed-killed");
    count_shards(12, &[0, 1, 2], 3, &folder);
    for name in ["0.journal", "2.journal"] {
        let path = folder.join(name);
        let text = fs::read_to_string(&path).expect("text");
        fs::write(&path, &text[..text.len() - 9]).expect("room");
    }
    let before = counts_in_intact_lines(&folder);
    pack(&folder);
    assert_eq!(counts_in_intact_lines(&folder), before);
    assert_eq!(missing(&folder, &[]).1, "0,2\n");
    let counted = output(&["count", "12", "--quiet", "--journal", arg(&folder)]);
    assert_eq!((counted.status.code(), stdout(&counted)), (Some(0), "14200\n"), "{counted:?}");
}

/// No line of them is damaged, so none is to be taken out, and the printed command makes a journal of each count.
#[test]
fn joined_journals_of_several_counts_are_taken_apart() {
    let folder = fresh_folder("packed-counts");
    let count = |n: &str, name: &str, more: &[&str]| {
        let path = folder.join(name);
        let counted = output(&[&["count", n, "--journal", arg(&path)], more].concat());
        assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    };
    count("12", "a.journal", &[]);
    count("12", "b.journal", &["--second"]);
    count("12", "c.journal", &["--engine", "bitmask"]);
    count("10", "d.journal", &[]);
    count("12", "e.journal", &["--second"]);
    let lines = |name: &str| fs::read_to_string(folder.join(name)).expect("text").lines().count();
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| lines(&format!("{name}.journal")));
    pack(&folder);
    let one = folder.join("one.journal");
    let bytes = fs::read(&one).expect("there");
    for command in ["merge", "verify", "status"] {
        let report = output(&[command, arg(&one)]);
        let message = stderr(&report);
        assert_eq!(report.status.code(), Some(1), "{command}: {message}");
        let second = format!(
            "one.journal: lines {}-{},{}-{} belong to another count (n=12 count=second engine=subtrees)\n",
            a + 1,
            a + b,
            a + b + c + d + 1,
            a + b + c + d + e
        );
        assert!(message.contains(&second), "{command}: no '{second}' in {message}");
        assert!(message.contains("(n=12 count=first engine=bitmask)"), "{command}: {message}");
        assert!(message.contains("(n=10 count=first engine=subtrees)"), "{command}: {message}");
        assert!(!message.contains("damaged") && !message.contains("sed -"), "{command}: {message}");
    }
    let writer = fs::File::options().append(true).open(&one).expect("there");
    writer.lock().expect("a local file system");
    let waits = output(&["merge", arg(&one)]);
    assert!(stderr(&waits).contains("wait until its process has ended"), "{waits:?}");
    assert!(!stderr(&waits).contains("awk"), "{waits:?}");
    drop(writer);
    // The first count is complete, so it goes on in this file, and is told what else is in it.
    let counted = output(&["count", "12", "--journal", arg(&one)]);
    assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    assert_eq!(stderr(&counted).matches("belong").count(), 3, "{counted:?}");
    let merged = output(&["merge", arg(&one)]);
    let commands = commands_after("to be used in its place: ", stderr(&merged));
    let [command] = &commands[..] else { panic!("{merged:?}") };
    let parts = one.with_extension("apart");
    assert!(shell(&folder, command).status.success());
    assert!(!shell(&folder, command).status.success(), "no file that exists is written");
    assert_eq!(fs::read(&one).expect("there"), bytes, "it is only read");
    let mut totals = Vec::new();
    for path in journals_in(&[parts]).expect("a folder") {
        let merged = output(&["merge", "--quiet", arg(&path)]);
        assert_eq!((merged.status.code(), stderr(&merged)), (Some(0), ""), "{path:?}");
        totals.push(stdout(&merged).to_owned());
    }
    totals.sort_unstable();
    assert_eq!(totals, ["14200\n", "14200\n", "14200\n", "724\n"]);
}

/// `cat` joins journals of one count. A journal that another version began keeps its first line.
#[test]
fn joined_journals_are_read_as_one() {
    let folder = fresh_folder("damage-joined");
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
    write(&path, joined);
    assert!(contents(&path).total().is_some());
    resumes(&path);
    assert!(fs::read_to_string(&path).expect("text").starts_with(&begun));
}
