//! Shards are counted separately, in any order, more than once, by several processes, and merged
//! exactly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use nqueens::{Count, Engine, Error, Shard};

use crate::common::processes::{send, wait_until};
use crate::common::{
    arg, contents, count_shard, counts, finish, fresh_folder, json, nqueens, raise_counts, read,
    refused, result, set_aside, size, spawn, stderr, stdout,
};

fn fresh(name: &str) -> PathBuf {
    crate::common::fresh(&format!("shards-{name}"))
}

#[test]
fn the_shards_of_every_engine_sum_to_the_total() {
    for engine in Engine::ALL {
        for shards in [1, 3, 40] {
            let folder = fresh(&format!("sum-{engine}-{shards}"));
            let mut units = 0;
            for index in 0..shards {
                let shard = Shard::new(index, shards).expect("in range");
                let count = Count::new(size(8)).engine(engine).threads(1);
                let outcome = count.run_shard(shard, &folder).expect("a shard");
                units += outcome.units;
                if outcome.journal.is_some() {
                    set_aside(&outcome, &index.to_string());
                }
            }
            let merged = contents(&folder);
            assert!(merged.total().is_some(), "{engine}, {shards} shards");
            assert_eq!((merged.tally().solutions, merged.repeated), (92, 0));
            assert_eq!(units, merged.plan().units());
            assert_eq!(merged.missing_shards(shards), Ok(Vec::new()));
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    let folder = fresh("missing");
    for index in [0, 1, 4] {
        set_aside(&count_shard(12, index, 6, &folder), &index.to_string());
    }
    let merged = contents(&folder);
    assert_eq!(merged.shards, Some(6));
    assert_eq!(merged.missing_shards(6), Ok(vec![2, 3, 5]));
    for shards in [0, Shard::MAX_SHARDS + 1, usize::MAX] {
        assert!(merged.missing_shards(shards).is_err(), "{shards} shards");
    }
    assert!(merged.total().is_none());
}

#[test]
fn what_a_folder_holds_is_not_counted_again() {
    let folder = fresh("again");
    let first = count_shard(12, 1, 4, &folder);
    set_aside(&first, "first");
    let again = count_shard(12, 1, 4, &folder);
    assert_eq!((again.units, again.units_before), (first.units, first.units));
    assert_eq!((again.total, again.journal), (first.total, None));
    // With another number of shards, the units are still known and only the others are counted.
    let other = count_shard(12, 0, 2, &folder);
    assert!(other.units_before > 0 && other.units_before < other.units);
}

#[test]
fn units_counted_twice_count_once_if_they_agree() {
    let folder = fresh("twice");
    let first = count_shard(11, 0, 2, &folder);
    let aside = set_aside(&first, "first");
    let hidden = aside.with_extension("hidden");
    fs::rename(&aside, &hidden).expect("the folder can be written");
    set_aside(&count_shard(11, 0, 2, &folder), "second");
    fs::rename(&hidden, &aside).expect("the folder can be written");
    count_shard(11, 1, 2, &folder);
    let both = contents(&folder);
    assert_eq!((both.tally().solutions, both.repeated), (2680, first.units));

    // One of the two counts is wrong, with the right sum and CRC.
    let mut is_first = true;
    let unit = raise_counts(&aside, 1, |_, _| std::mem::take(&mut is_first))[0];
    match read(&folder) {
        Err(Error::CountsDiffer { unit: named, files, .. }) => {
            assert_eq!(named, unit);
            let mut names = files.map(|path| path.file_name().map(std::ffi::OsStr::to_owned));
            names.sort();
            assert_eq!(names, [Some("first.journal".into()), Some("second.journal".into())]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn journals_of_different_plans_are_not_merged() {
    let folder = fresh("plans");
    let first = set_aside(&count_shard(11, 0, 2, &folder), "first");
    let second = folder.join("second.journal");
    Count::new(size(12)).journal(&second).run().expect("a count");
    let message = match read(&folder) {
        Err(error @ Error::PlansDiffer { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    for part in [first.to_str(), second.to_str(), Some("n=11"), Some("n=12")] {
        assert!(message.contains(part.expect("text")), "{message}");
    }
}

fn run(args: &[&str], variables: &[(&str, &str)]) -> Output {
    crate::common::run(nqueens(args).envs(variables.iter().copied()))
}

#[test]
fn processes_of_a_job_array_count_a_board_together() {
    let folder = fresh("array");
    let out = arg(&folder);
    let schedulers = ["SLURM_ARRAY_TASK_ID", "PBS_ARRAYID", "JOB_COMPLETION_INDEX"];
    for (index, variable) in schedulers.into_iter().enumerate() {
        let index = index.to_string();
        let shard =
            run(&["shard", "14", "--shards", "4", "--out", out, "--json"], &[(variable, &index)]);
        assert_eq!(shard.status.code(), Some(0), "{}", stderr(&shard));
        let object = json(&shard);
        assert_eq!(
            (&object["index"], &object["shards"]),
            (&serde_json::json!(index.parse::<u64>().ok()), &4.into())
        );
    }
    let missing = run(&["merge", out, "--json"], &[]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(stderr(&missing).contains("all in shard 3 of 0-3"), "{}", stderr(&missing));
    let object = json(&missing);
    assert_eq!(
        (&object["total"], &object["missing"]["indices"]),
        (&serde_json::Value::Null, &"3".into())
    );
    let bare = run(&["merge", out, "--quiet"], &[]);
    assert_eq!((bare.status.code(), stdout(&bare)), (Some(3), ""), "no total");

    // An array from 1 to 4 lacks shard 0; its last task says how it is submitted.
    let shard = ["shard", "14", "--shards", "4", "--out", out];
    let wrong = run(&shard, &[("SLURM_ARRAY_TASK_ID", "4")]);
    refused(&wrong, 2, &["SLURM_ARRAY_TASK_ID: '4'", "choose 0 to 3"]);
    // The last task of an array that counts from 1.
    let last = run(&["shard", "14", "--shards", "4", "--out", out], &[("SGE_TASK_ID", "4")]);
    assert_eq!(last.status.code(), Some(0), "{}", stderr(&last));
    let total = run(&["merge", out, "--quiet"], &[]);
    assert_eq!(result(&total), (Some(0), "365596\n", ""));
    let status = run(&["status", out, "--json"], &[]);
    let object = json(&status);
    assert_eq!((&object["missing"]["indices"], &object["running"]), (&"".into(), &0.into()));
    let verify = run(&["verify", out], &[]);
    assert_eq!(verify.status.code(), Some(0), "{}", stderr(&verify));
}

#[test]
fn the_shard_comes_from_the_flag_or_from_a_scheduler() {
    let folder = fresh("schedulers");
    let out = arg(&folder);
    let shard = |index: &[&str], variables: &[(&str, &str)]| {
        let args = ["shard", "4", "--shards", "12", "--json", "--out", out];
        let output = run(&[&args, index].concat(), variables);
        let object: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
        let index = object.and_then(|object| object["index"].as_u64());
        (index, stderr(&output).to_owned())
    };
    assert_eq!(shard(&["--index", "3"], &[("SLURM_ARRAY_TASK_ID", "5")]).0, Some(3));
    for name in [
        "SLURM_ARRAY_TASK_ID",
        "PBS_ARRAY_INDEX",
        "JOB_COMPLETION_INDEX",
        "AWS_BATCH_JOB_ARRAY_INDEX",
        "HQ_TASK_ID",
    ] {
        assert_eq!(shard(&[], &[(name, "5")]).0, Some(5), "{name}");
    }
    for name in ["SGE_TASK_ID", "LSB_JOBINDEX"] {
        assert_eq!(shard(&[], &[(name, "6")]).0, Some(5), "{name} counts from 1");
        let (none, reason) = shard(&[], &[(name, "13")]);
        assert!(none.is_none() && reason.contains(name) && reason.contains("1 to 12"), "{reason}");
    }
    let outside = [("SGE_TASK_ID", "undefined"), ("LSB_JOBINDEX", "0"), ("PBS_ARRAY_INDEX", "")];
    let (none, reason) = shard(&[], &outside);
    assert!(none.is_none() && reason.contains("--index is missing"), "{reason}");
}

#[test]
fn a_killed_shard_resumes_in_another_journal() {
    let folder = fresh("killed");
    let out = arg(&folder);
    let args =
        ["shard", "20", "--index", "2", "--shards", "5", "--out", out, "--kernel", "portable"];
    let mut child = spawn(&mut nqueens(&args));
    let done = |folder: &Path| read(folder).ok().flatten().map_or(0, |merged| merged.tally().units);
    wait_until("a finished unit", &mut child, || done(&folder) > 0);
    child.kill().expect("it runs");
    child.wait().expect("ended");
    let before = done(&folder);
    assert!(before > 0);
    let mut second = spawn(&mut nqueens(&args));
    wait_until("a unit of the second process", &mut second, || done(&folder) > before);
    send("TERM", &second);
    let output = finish(second);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("shard 2 of 0-4: stopped after "), "{message}");
    let merged = contents(&folder);
    assert_eq!((merged.files().len(), merged.repeated), (2, 0), "nothing was counted twice");
    assert!(merged.tally().units > before);
}

#[test]
fn bad_input_gets_one_clear_line() {
    let folder = fresh("bad");
    let out = arg(&folder);
    assert_eq!(
        run(&["shard", "9", "--index", "0", "--shards", "2", "--out", out], &[]).status.code(),
        Some(0)
    );
    let empty = fresh_folder("shards-empty");
    let empty = arg(&empty);
    let cases: &[(&[&str], i32, &str)] = &[
        (&["shard", "9", "--index", "5", "--shards", "5", "--out", out], 2, "--index: '5'"),
        (&["shard", "9", "--index", "-1", "--shards", "5", "--out", out], 2, "choose 0 to 4"),
        (&["shard", "9", "--index", "x", "--shards", "5", "--out", out], 2, "choose 0 to 4"),
        (
            &["shard", "9", "--index", "0", "--shards", "0", "--out", out],
            2,
            "invalid value '0' for '--shards <K>': choose 1 to 1000000",
        ),
        (&["shard", "9", "--index", "0", "--shards", "2000000", "--out", out], 2, "1 to 1000000"),
        (&["shard", "9", "--shards", "2", "--out", out], 2, "--index"),
        (&["shard", "9", "--index", "0", "--out", out], 2, "--shards"),
        (&["shard", "9", "--index", "0", "--shards", "2"], 2, "--out"),
        (&["shard", "10", "--index", "0", "--shards", "2", "--out", out], 2, "n = 9"),
        (
            &["shard", "9", "--index", "0", "--shards", "2", "--out", "/proc/nqueens"],
            2,
            "/proc/nqueens",
        ),
        (&["merge"], 2, "FILE|FOLDER"),
        (&["merge", empty], 3, "holds a finished unit yet"),
        (&["merge", "/no/such/place"], 2, "/no/such/place"),
        (&["merge", out], 3, "all in shard 1 of 0-1"),
        (&["merge", out, "--shards", "0"], 2, "--shards"),
        (&["status", empty], 3, "holds a finished unit yet"),
        (&["verify", empty], 3, "holds a finished unit yet"),
    ];
    for (args, code, reason) in cases {
        refused(&run(args, &[]), *code, &[reason]);
    }
}

/// Packs a folder. Returns the new journal and the exit code.
fn pack(folder: &Path, name: &str) -> (PathBuf, Option<i32>) {
    let new = folder.with_extension(name).with_extension("journal");
    let _ = fs::remove_file(&new);
    let (from, into) = (arg(folder), arg(&new));
    let output = run(&["merge", from, "--into", into, "--json"], &[]);
    let object = json(&output);
    let bytes = fs::metadata(&new).expect("it was written").len();
    assert_eq!(object["packed"]["bytes"], bytes, "{}", stderr(&output));
    let again = run(&["merge", from, "--into", into], &[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("already exists"), "{}", stderr(&again));
    (new, output.status.code())
}

#[test]
fn a_packed_journal_holds_what_the_others_held() {
    let folder = fresh("packed");
    set_aside(&count_shard(12, 2, 4, &folder), "b");
    // The same units again.
    let again = fs::read(folder.join("b.journal")).expect("readable");
    fs::write(folder.join("c.journal"), again).expect("the folder can be written");
    set_aside(&count_shard(12, 0, 4, &folder), "a");
    let before = contents(&folder);
    assert!(before.repeated > 0);

    let (new, code) = pack(&folder, "half");
    assert_eq!(code, Some(3), "the count is not finished");
    let packed = contents(&new);
    assert_eq!((&packed.finished(), packed.repeated), (&before.finished(), 0));
    // That of the process whose units were all recorded before is not kept.
    let repeated = before.files()[2].runs[0].cpu_time;
    assert_eq!(packed.cpu_time() + repeated, before.cpu_time());
    assert_eq!((packed.shards, packed.files()[0].runs.len()), (Some(4), 2));
    assert!(counts(&packed).iter().eq(counts(&before).iter()));

    // The old journals are removed, and the shards find their units in the new one.
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    fs::create_dir(&folder).expect("the folder can be made");
    fs::rename(&new, folder.join("packed.journal")).expect("the folder can be written");
    for index in [0, 2] {
        assert_eq!(count_shard(12, index, 4, &folder).journal, None);
    }
    for index in [1, 3] {
        set_aside(&count_shard(12, index, 4, &folder), &index.to_string());
    }
    let (whole, code) = pack(&folder, "whole");
    assert_eq!((code, contents(&folder).tally().solutions), (Some(0), 14_200));
    let outcome = Count::new(size(12)).journal(&whole).run().expect("a count");
    assert_eq!((outcome.total, outcome.units_before), (14_200, outcome.units));
}

/// It may be where a file system is not mounted.
#[test]
fn a_shard_makes_its_folder_but_no_other() {
    let parent = fresh("shard-parent");
    let shard = |out: &Path| {
        crate::common::run(
            nqueens(&["shard", "9", "--index", "0", "--shards", "2", "--out"]).arg(out),
        )
    };
    refused(&shard(&parent.join("q9")), 2, &["make folder", "first"]);
    fs::create_dir(&parent).expect("the folder can be made");
    assert!(shard(&parent.join("q9")).status.success());
    let again = shard(&parent.join("q9"));
    assert!(stdout(&again).contains("journal      none: all units were done before"), "{again:?}");
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
