//! Promise: shards are counted in any order, by any number of processes, and sum to the exact total. docs/CLUSTER.md
//! makes this promise.

use std::fs;
use std::path::{Path, PathBuf};

use nqueens::journal::JournalErrorKind;
use nqueens::{Count, Engine, Shard};
use serde_json::Value;

use crate::common::processes::{send, wait_until};
use crate::common::{
    arg, as_folder, contents, count_shard, finish, fresh_folder, journal_error, json, nqueens,
    output, raise_first_count, read, record_of, refused, repeated, result, run, set_aside, size,
    spawn, stderr, stdout,
};

fn fresh(name: &str) -> PathBuf {
    crate::common::fresh(&format!("shards-{name}"))
}

/// Counts shards, and gives the journal of each the index of the shard as its name.
pub(crate) fn count_shards(n: u32, indices: &[usize], shards: usize, folder: &Path) {
    for index in indices {
        set_aside(&count_shard(n, *index, shards, folder), &index.to_string());
    }
}

#[test]
fn the_shards_of_every_engine_sum_to_the_total() {
    for &engine in Engine::ALL {
        for shards in [1, 3, 40] {
            let folder = fresh(&format!("sum-{engine}-{shards}"));
            let mut units = 0;
            for index in 0..shards {
                let shard = Shard::new(index, shards).expect("in range");
                let count = Count::new(size(8)).engine(engine).threads(1).shard(shard);
                let outcome = count.journal(as_folder(&folder)).run().expect("a shard");
                units += outcome.units;
                if outcome.journal.is_some() {
                    set_aside(&outcome, &index.to_string());
                }
            }
            let merged = contents(&folder);
            assert!(merged.total().is_some(), "{engine}, {shards} shards");
            assert_eq!((merged.solutions(), repeated(&merged)), (92, 0));
            assert_eq!(units, merged.plan().units());
            assert_eq!(merged.missing_shards(shards), Ok(Vec::new()));
        }
    }
}

/// Makes a folder with the shards of Q(11). Two journals, `first` and `second`, hold shard 0; returns the path of
/// `first`.
fn folder_with_shard_0_twice(folder: &Path) -> PathBuf {
    let first = set_aside(&count_shard(11, 0, 2, folder), "first");
    // A count that saw the first journal would have nothing to count.
    let hidden = first.with_extension("hidden");
    fs::rename(&first, &hidden).expect("the folder can be written");
    set_aside(&count_shard(11, 0, 2, folder), "second");
    fs::rename(&hidden, &first).expect("the folder can be written");
    count_shard(11, 1, 2, folder);
    first
}

#[test]
fn equal_counts_of_a_unit_are_used_once() {
    let folder = fresh("twice");
    let first = folder_with_shard_0_twice(&folder);
    let all = contents(&folder);
    assert_eq!(all.solutions(), 2680);
    assert_eq!(repeated(&all), contents(&first).units_done());
}

/// One of the two counts is wrong, in a line with the right sum and CRC.
#[test]
fn different_counts_of_a_unit_name_it_and_who_counted_it() {
    let folder = fresh("differ");
    let first = folder_with_shard_0_twice(&folder);
    let unit = raise_first_count(&first);
    let record = contents(&folder);
    let [difference] = record.differences() else { panic!("{:?}", record.differences()) };
    assert_eq!((difference.unit, difference.used, record.count(unit)), (unit, None, None));
    let counts: Vec<u64> = difference.counts().collect();
    let [right, wrong] = counts[..] else { panic!("{difference:?}") };
    assert_eq!(right + 1, wrong);
    assert!(difference.hosts(wrong).eq(["first.journal"]), "{difference}");
    assert!(difference.hosts(right).eq(["second.journal"]), "{difference}");
}

#[test]
fn journals_of_different_plans_are_not_merged() {
    let folder = fresh("plans");
    let first = set_aside(&count_shard(11, 0, 2, &folder), "first");
    let counted = Count::new(size(12)).journal(&folder).run().expect("a count");
    let second = counted.journal.expect("it was written");
    let refused = journal_error(read(&folder));
    assert_eq!(refused.kind(), JournalErrorKind::OtherPlan);
    let message = refused.to_string();
    for part in [first.to_str(), second.to_str(), Some("n=11"), Some("n=12")] {
        assert!(message.contains(part.expect("text")), "{message}");
    }
}

#[test]
fn processes_of_a_job_array_count_a_board_together() {
    let folder = fresh("array");
    let place = as_folder(&folder);
    let place = arg(&place);
    let out = arg(&folder);
    let mut solutions = 0;
    for index in 0..3 {
        let part = format!("{index}/4");
        let shard = output(&["count", "14", "--shard", &part, "--journal", place, "--json"]);
        assert_eq!(shard.status.code(), Some(0), "{}", stderr(&shard));
        let object = json(&shard);
        assert_eq!((&object["shard"], &object["total"]), (&part.into(), &Value::Null));
        assert_eq!(object["published"], "unknown", "a part has no published number");
        let own = Path::new(object["journal"]["file"].as_str().expect("a path"));
        assert!(own.starts_with(&folder) && own.is_file(), "{object}");
        solutions += object["solutions"].as_str().expect("text").parse::<u64>().expect("a number");
    }
    let missing = output(&["merge", out, "--json"]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(stderr(&missing).contains("all in shard 3/4"), "{}", stderr(&missing));
    let object = json(&missing);
    assert_eq!((&object["total"], &object["missing"]["indices"]), (&Value::Null, &"3".into()));
    assert_eq!(object["solutions"], solutions.to_string());
    let bare = output(&["merge", out, "--quiet"]);
    assert_eq!((bare.status.code(), stdout(&bare)), (Some(3), ""), "no total");

    // The last task of an array that runs from 1 to 4 is told what is wrong with it.
    let wrong = output(&["count", "14", "--shard", "4/4", "--journal", place]);
    refused(&wrong, 2, &["'--shard <I/K>'", "'4/4' is not a shard: choose 0/4 to 3/4"]);
    let last = output(&["count", "14", "--shard", "3/4", "--journal", place, "--quiet"]);
    let part: u64 = stdout(&last).trim_end().parse().expect("a bare number");
    assert_eq!((last.status.code(), solutions + part), (Some(0), 365_596), "{last:?}");
    assert_eq!(result(&output(&["merge", out, "--quiet"])), (Some(0), "365596\n", ""));
    let object = json(&output(&["status", out, "--json"]));
    assert_eq!((&object["missing"]["indices"], &object["running"]), (&"".into(), &0.into()));
    let verify = output(&["verify", out]);
    assert_eq!(verify.status.code(), Some(0), "{}", stderr(&verify));
}

#[test]
fn a_killed_shard_resumes_in_another_journal() {
    let folder = fresh("killed");
    let place = as_folder(&folder);
    let args = ["count", "20", "--shard", "2/5", "--journal", arg(&place), "--kernel", "portable"];
    let mut child = spawn(&mut nqueens(&args));
    let done = |folder: &Path| read(folder).ok().flatten().map_or(0, |merged| merged.units_done());
    wait_until("a finished unit", &mut child, || done(&folder) > 0);
    child.kill().expect("it runs");
    child.wait().expect("ended");
    let before = done(&folder);
    assert!(before > 0);
    let mut second = spawn(&mut nqueens(&args));
    wait_until("a unit of the second process", &mut second, || done(&folder) > before);
    send("TERM", &second);
    let stopped = finish(second);
    let message = stderr(&stopped);
    assert_eq!(stopped.status.code(), Some(3), "{message}");
    // Line by line, because the first process may have left half a line.
    let merged = record_of(&[folder]);
    assert_eq!((merged.runs().count(), repeated(&merged)), (2, 0), "nothing was counted twice");
    assert!(merged.units_done() > before);
    let said = format!("stopped after {} of ", merged.units_done());
    assert!(message.contains(&said), "{said:?} in {message:?}");
    assert!(message.contains("; the same command resumes the count"), "{message}");
}

#[test]
fn a_folder_without_a_finished_unit_is_not_complete() {
    let empty = fresh_folder("shards-empty");
    for command in ["merge", "status", "verify"] {
        refused(&output(&[command, arg(&empty)]), 3, &["there is no journal in"]);
    }
    fs::write(empty.join("begun.journal"), "").expect("room");
    for command in ["merge", "status", "verify"] {
        refused(&output(&[command, arg(&empty)]), 3, &["holds a finished unit yet"]);
    }
}

/// It may be where a file system is not mounted.
#[test]
fn a_shard_makes_its_folder_but_no_other() {
    let parent = fresh("shard-parent");
    let shard =
        |place: &str| run(nqueens(&["count", "9", "--shard", "0/2", "--journal"]).arg(place));
    let place = as_folder(&parent.join("q9"));
    refused(&shard(arg(&place)), 1, &["cannot create the journal: No such file"]);
    assert!(!parent.exists());
    fs::create_dir(&parent).expect("the folder can be made");
    let unclear = parent.join("q9");
    let first = shard(arg(&place));
    assert!(first.status.success(), "{first:?}");
    let again = shard(arg(&unclear));
    let units = json(&output(&["merge", "--json", arg(&unclear)]))["finished"].clone();
    let row = format!("journal      {}: {units} units done before\n", unclear.display());
    assert!(stdout(&again).contains(&row), "{row} in {again:?}");
    assert_eq!(fs::read_dir(&unclear).expect("there").count(), 1, "nothing was left to write");
}

/// Other shards may leave what they like: only names that may hold the shard's units are read.
#[test]
fn journals_of_other_shards_are_not_read() {
    let folder = fresh("others");
    let other = count_shard(12, 1, 4, &folder).journal.expect("written");
    let first = count_shard(12, 0, 4, &folder).journal.expect("written");
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let copies = fs::read(&first).expect("readable");
    for number in 0..2000 {
        let name = name(&other).expect("text").replace("journal", &format!("{number}.journal"));
        let damaged = if number % 2 == 0 { &b"damaged\n"[..] } else { &copies };
        fs::write(folder.join(name), damaged).expect("the folder can be written");
    }
    let again = count_shard(12, 0, 4, &folder);
    assert_eq!((again.units_before, again.left_out.len()), (again.units, 0));
    // Another number of shards: only those with common units matter.
    let unnamed = folder.join("damaged.journal");
    fs::write(&unnamed, "damaged\n").expect("the folder can be written");
    let third = count_shard(12, 0, 3, &folder);
    assert!(third.units_before > 0 && third.left_out.len() > 1, "{third:?}");
}
