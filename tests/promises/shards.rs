//! Shards are counted separately, in any order, more than once, by several processes, and merged
//! exactly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use nqueens::record::{JournalError, Record, journals_in};
use nqueens::{Count, Engine, Error, Outcome, Shard};

use crate::common::processes::{send, wait_until};
use crate::common::{
    counts, finish, fresh_folder, json, nqueens, raise_counts, refused, result, size, stderr,
    stdout,
};

fn fresh(name: &str) -> PathBuf {
    crate::common::fresh(&format!("shards-{name}"))
}

fn count(n: u32, index: usize, shards: usize, folder: &Path) -> Result<Outcome, Error> {
    let shard = Shard::new(index, shards).expect("in range");
    Count::new(size(n)).threads(2).run_shard(shard, folder)
}

fn merge(paths: &[PathBuf]) -> Result<Option<Record>, Error> {
    Record::read(&journals_in(paths)?)?.map(Record::undamaged).transpose()
}

fn merged(folder: &Path) -> Record {
    merge(&[folder.to_owned()]).expect("journals of one plan").expect("lines")
}

/// Renames the journal of a shard: each process has one journal in a folder, and these tests are all one
/// process.
fn set_aside(outcome: &Outcome, name: &str) -> PathBuf {
    let path = outcome.journal.clone().expect("it was written");
    let aside = path.with_file_name(format!("{name}.journal"));
    fs::rename(path, &aside).expect("the folder can be written");
    aside
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
            let merged = merged(&folder);
            assert!(merged.is_complete(), "{engine}, {shards} shards");
            assert_eq!((merged.tally().solutions, merged.repeated()), (92, 0));
            assert_eq!(units, merged.plan().units());
            assert_eq!(merged.missing_shards(shards), Ok(Vec::new()));
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    let folder = fresh("missing");
    for index in [0, 1, 4] {
        set_aside(&count(12, index, 6, &folder).expect("a shard"), &index.to_string());
    }
    let merged = merged(&folder);
    assert_eq!(merged.shards(), Some(6));
    assert_eq!(merged.missing_shards(6), Ok(vec![2, 3, 5]));
    for shards in [0, Shard::MOST + 1, usize::MAX] {
        assert!(merged.missing_shards(shards).is_err(), "{shards} shards");
    }
    assert!(!merged.is_complete());
}

#[test]
fn what_a_folder_holds_is_not_counted_again() {
    let folder = fresh("again");
    let first = count(12, 1, 4, &folder).expect("a shard");
    set_aside(&first, "first");
    let again = count(12, 1, 4, &folder).expect("a shard");
    assert_eq!((again.units, again.units_before), (first.units, first.units));
    assert_eq!((again.total, again.journal), (first.total, None));
    // With another number of shards, the units are still known and only the others are counted.
    let other = count(12, 0, 2, &folder).expect("a shard");
    assert!(other.units_before > 0 && other.units_before < other.units);
}

#[test]
fn units_counted_twice_count_once_if_they_agree() {
    let folder = fresh("twice");
    let first = count(11, 0, 2, &folder).expect("a shard");
    let aside = set_aside(&first, "first");
    let hidden = aside.with_extension("hidden");
    fs::rename(&aside, &hidden).expect("the folder can be written");
    set_aside(&count(11, 0, 2, &folder).expect("a shard"), "second");
    fs::rename(&hidden, &aside).expect("the folder can be written");
    count(11, 1, 2, &folder).expect("a shard");
    let both = merged(&folder);
    assert_eq!((both.tally().solutions, both.repeated()), (2680, first.units));

    // One of the two counts is wrong, with the right sum and CRC.
    let mut is_first = true;
    let unit = raise_counts(&aside, 1, |_, _| std::mem::take(&mut is_first))[0];
    match merge(&[folder]) {
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
    let first = set_aside(&count(11, 0, 2, &folder).expect("a shard"), "first");
    let second = folder.join("second.journal");
    Count::new(size(12)).journal(&second).run().expect("a count");
    let message = match merge(&[folder]) {
        Err(error @ Error::PlansDiffer { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    for part in [first.to_str(), second.to_str(), Some("n=11"), Some("n=12")] {
        assert!(message.contains(part.expect("text")), "{message}");
    }
}

/// A failed machine may leave a damaged file. Other processes continue without it, and all that is good
/// is shown, with a warning and exit code 1 until a user has dealt with the file.
#[test]
fn a_damaged_journal_hides_nothing_else() {
    let folder = fresh("damaged");
    let path = set_aside(&count(12, 0, 3, &folder).expect("a shard"), "damaged");
    let mut bytes = fs::read(&path).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("the folder can be written");
    let again = count(12, 0, 3, &folder).expect("a shard");
    let kept = again.units - again.units_before;
    assert!(kept > 0 && kept < again.units / 2, "{kept} of {} units", again.units);
    assert_eq!(again.left_out.len(), 1, "one line");
    let refused = merge(std::slice::from_ref(&folder));
    let Err(Error::Journal { path: named, error: JournalError::Damaged { .. } }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(named, path);

    let (out, page) = (folder.to_str().expect("text"), folder.join("page.html"));
    let named = path.to_str().expect("text");
    let warned = |args: &[&str]| {
        let output = run(&[args, &[out]].concat(), &[]);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
        let remedy = format!("'nqueens merge {named} --into NEW' keeps its good lines; then move");
        assert!(stderr(&output).contains(&remedy), "{args:?}: {output:?}");
        stdout(&output).to_owned()
    };
    assert_eq!(warned(&["merge"]), "", "two shards are missing");
    let html = ["status", "--html", page.to_str().expect("text")];
    assert!(warned(&html).contains(&format!("damaged      1 journal in part, the first {named}")));
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("1 complete</li>") && page.contains(named), "{page}");
    for index in [1, 2] {
        set_aside(&count(12, index, 3, &folder).expect("a shard"), &index.to_string());
    }
    assert_eq!(warned(&["merge", "--quiet"]), "14200\n");
    assert!(warned(&["verify", "--units", "3"]).contains("damaged      1 journal in part"));
    let new = folder.join("new.journal");
    let saved = run(&["merge", named, "--into", new.to_str().expect("text")], &[]);
    assert_eq!(saved.status.code(), Some(1), "it is damaged: {saved:?}");
    fs::rename(&path, path.with_extension("old")).expect("the folder can be written");
    assert_eq!(result(&run(&["merge", "--quiet", out], &[])), (Some(0), "14200\n", ""));
}

/// Damage to the line of a run does not make it doubtful how many shards there are.
#[test]
fn a_run_whose_line_is_damaged_has_no_say_in_the_number_of_shards() {
    let folder = fresh("run-line");
    for index in 0..2 {
        set_aside(&count(12, index, 3, &folder).expect("a shard"), &index.to_string());
    }
    let path = folder.join("1.journal");
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replacen("\nrun ", "\nruN ", 1)).expect("the folder can be written");
    let status = run(&["status", "--json", folder.to_str().expect("text")], &[]);
    assert_eq!(status.status.code(), Some(1), "{status:?}");
    let (status, named) = (json(&status), path.to_str().expect("text"));
    assert_eq!(status["missing"]["indices"], "2", "{status}");
    assert_eq!(status["damaged"], serde_json::json!([named]), "{status}");
}

fn run(args: &[&str], variables: &[(&str, &str)]) -> Output {
    crate::common::run(nqueens(args).envs(variables.iter().copied()))
}

#[test]
fn processes_of_a_job_array_count_a_board_together() {
    let folder = fresh("array");
    let out = folder.to_str().expect("text");
    let schedulers = ["SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "JOB_COMPLETION_INDEX"];
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
    assert!(stderr(&missing).contains("in shard 3 (of 0 to 3)"), "{}", stderr(&missing));
    let object = json(&missing);
    assert_eq!(
        (&object["total"], &object["missing"]["indices"]),
        (&serde_json::Value::Null, &"3".into())
    );
    let bare = run(&["merge", out, "--quiet"], &[]);
    assert_eq!((bare.status.code(), stdout(&bare)), (Some(3), ""), "no total");

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
    let out = folder.to_str().expect("text");
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
    assert!(none.is_none() && reason.contains("--index: which shard?"), "{reason}");
}

#[test]
fn a_killed_shard_resumes_in_another_journal() {
    let folder = fresh("killed");
    let out = folder.to_str().expect("text");
    let args =
        ["shard", "20", "--index", "2", "--shards", "5", "--out", out, "--kernel", "portable"];
    let mut child = nqueens(&args).spawn().expect("the program starts");
    let done = |folder: &Path| {
        merge(&[folder.to_owned()]).ok().flatten().map_or(0, |merged| merged.tally().units)
    };
    wait_until("a finished unit", &mut child, || done(&folder) > 0);
    child.kill().expect("it runs");
    child.wait().expect("ended");
    let before = done(&folder);
    assert!(before > 0);
    let mut second = nqueens(&args).spawn().expect("the program starts");
    wait_until("a unit of the second process", &mut second, || done(&folder) > before);
    send("TERM", &second);
    let output = finish(second);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("shard 2 (of 0 to 4): stopped after "), "{message}");
    let merged = merged(&folder);
    assert_eq!((merged.files().len(), merged.repeated()), (2, 0), "nothing was counted twice");
    assert!(merged.tally().units > before);
}

#[test]
fn bad_input_gets_one_clear_line() {
    let folder = fresh("bad");
    let out = folder.to_str().expect("text");
    assert_eq!(
        run(&["shard", "9", "--index", "0", "--shards", "2", "--out", out], &[]).status.code(),
        Some(0)
    );
    let empty = fresh_folder("shards-empty");
    let empty = empty.to_str().expect("text");
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
        (&["merge", empty], 2, "no journals"),
        (&["merge", "/no/such/place"], 2, "/no/such/place"),
        (&["merge", out], 3, "in shard 1 (of 0 to 1)"),
        (&["merge", out, "--shards", "0"], 2, "--shards"),
        (&["status", empty], 2, "no journals"),
        (&["verify", empty], 2, "no journals"),
    ];
    for (args, code, reason) in cases {
        refused(&run(args, &[]), *code, &[reason]);
    }
}

/// Packs a folder. Returns the new journal and the exit code.
fn pack(folder: &Path, name: &str) -> (PathBuf, Option<i32>) {
    let new = folder.with_extension(name).with_extension("journal");
    let _ = fs::remove_file(&new);
    let (from, into) = (folder.to_str().expect("text"), new.to_str().expect("text"));
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
    set_aside(&count(12, 2, 4, &folder).expect("a shard"), "b");
    // The same units again.
    let again = fs::read(folder.join("b.journal")).expect("readable");
    fs::write(folder.join("c.journal"), again).expect("the folder can be written");
    set_aside(&count(12, 0, 4, &folder).expect("a shard"), "a");
    let before = merged(&folder);
    assert!(before.repeated() > 0);

    let (new, code) = pack(&folder, "half");
    assert_eq!(code, Some(3), "the count is not finished");
    let packed = merge(std::slice::from_ref(&new)).expect("good").expect("lines");
    assert_eq!((&packed.finished(), packed.repeated()), (&before.finished(), 0));
    // That of the process whose units were all recorded before is not kept.
    let repeated = before.files()[2].runs[0].cpu_time;
    assert_eq!(packed.cpu_time() + repeated, before.cpu_time());
    assert_eq!((packed.shards(), packed.files()[0].runs.len()), (Some(4), 2));
    assert!(counts(&packed).iter().eq(counts(&before).iter()));

    // The old journals are removed, and the shards find their units in the new one.
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    fs::create_dir(&folder).expect("the folder can be made");
    fs::rename(&new, folder.join("packed.journal")).expect("the folder can be written");
    for index in [0, 2] {
        assert_eq!(count(12, index, 4, &folder).expect("a shard").journal, None);
    }
    for index in [1, 3] {
        set_aside(&count(12, index, 4, &folder).expect("a shard"), &index.to_string());
    }
    let (whole, code) = pack(&folder, "whole");
    assert_eq!((code, merged(&folder).tally().solutions), (Some(0), 14_200));
    let outcome = Count::new(size(12)).journal(&whole).run().expect("a count");
    assert_eq!((outcome.total, outcome.units_before), (14_200, outcome.units));
}

/// The plan is that of another journal; no line of another plan has the right CRC.
#[test]
fn a_shard_finds_its_units_in_a_journal_whose_first_line_is_damaged() {
    let folder = fresh("first-line");
    let outcome = count(12, 0, 2, &folder).expect("a shard");
    count(12, 1, 2, &folder).expect("a shard");
    let path = outcome.journal.expect("written");
    let mut bytes = fs::read(&path).expect("readable");
    bytes[20] ^= 1;
    fs::write(&path, &bytes).expect("the folder can be written");
    let again = count(12, 0, 2, &folder).expect("a shard");
    assert_eq!((again.units_before, again.total), (outcome.units, outcome.total));
    assert!(again.left_out[0].to_string().contains("line 1 is damaged"), "{:?}", again.left_out);
}

/// Other shards may leave what they like: only names that may hold the shard's units are read.
#[test]
fn journals_of_other_shards_are_not_read() {
    let folder = fresh("others");
    let other = count(12, 1, 4, &folder).expect("a shard").journal.expect("written");
    let first = count(12, 0, 4, &folder).expect("a shard").journal.expect("written");
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let copies = fs::read(&first).expect("readable");
    for number in 0..2000 {
        let name = name(&other).expect("text").replace("journal", &format!("{number}.journal"));
        let damaged = if number % 2 == 0 { &b"damaged\n"[..] } else { &copies };
        fs::write(folder.join(name), damaged).expect("the folder can be written");
    }
    let again = count(12, 0, 4, &folder).expect("a shard");
    assert_eq!((again.units_before, again.left_out.len()), (again.units, 0));
    // Another number of shards: only those with common units matter.
    let unnamed = folder.join("damaged.journal");
    fs::write(&unnamed, "damaged\n").expect("the folder can be written");
    let third = count(12, 0, 3, &folder).expect("a shard");
    assert!(third.units_before > 0 && third.left_out.len() > 1, "{third:?}");
}
