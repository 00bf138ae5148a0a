//! `status` tells which processes write now, what is finished, and how long the rest takes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;
use std::time::{Duration, SystemTime};

use nqueens::Kernel;
use nqueens::record::journals_in;
use serde_json::Value;

use crate::common::processes::send;
use crate::common::{
    NQUEENS, Running, arg, contents, count_shard, fresh_folder, json, keep_lines, nqueens, output,
    raise_counts, refused, run, set_aside, spawn, stderr, stdout,
};

const HOUR: Duration = Duration::from_secs(3600);

/// A shard with one unit that takes years.
pub(crate) const ENDLESS: &[&str] =
    &["shard", "16", "--engine", "permutation", "--index", "0", "--shards"];

/// Starts a shard, and waits for its journal to begin.
pub(crate) fn start(args: &[&str], out: &Path, variables: &[(&str, &str)]) -> (Running, PathBuf) {
    let args = [args, &["--threads", "1", "--out", arg(out)]].concat();
    let mut child = spawn(nqueens(&args).envs(variables.iter().copied()));
    let journal = || {
        let files = journals_in(&[out.to_owned()]).ok()?;
        let has_run = |path: &&PathBuf| {
            fs::read_to_string(path)
                .is_ok_and(|text| text.lines().any(|line| line.starts_with("run ")))
        };
        files.iter().find(has_run).cloned()
    };
    let path = crate::common::processes::wait_for("a journal", &mut child, journal);
    (child, path)
}

fn set_age(path: &Path, age: Duration) {
    let file = File::options().append(true).open(path).expect("it is there");
    file.set_modified(SystemTime::now() - age).expect("its owner");
}

fn running(path: &Path, variables: &[(&str, &str)]) -> Value {
    let status = ["status", arg(path), "--json"];
    json(&run(nqueens(&status).envs(variables.iter().copied())))["running"].clone()
}

#[test]
fn a_shard_is_running_until_its_process_ends() {
    for signal in ["TERM", "KILL"] {
        let folder = fresh_folder(&format!("status-{signal}"));
        let (mut child, path) = start(&[ENDLESS, &["1"]].concat(), &folder, &[]);
        // A stopped process holds its lock.
        send("STOP", &child);
        set_age(&path, HOUR);
        assert_eq!(running(&folder, &[]), 1, "its unit takes long");
        send("CONT", &child);
        send(signal, &child);
        child.wait().expect("it ends");
        set_age(&path, Duration::ZERO);
        assert_eq!(running(&folder, &[]), 0, "SIG{signal}");
    }
}

#[test]
fn a_count_that_was_named_is_running_until_its_process_ends() {
    let path = fresh_folder("status-named").join("q.journal");
    let (mut child, _) = start(&[ENDLESS, &["1"]].concat(), &path, &[]);
    assert_eq!(running(&path, &[]), 1);
    // What is packed is no process.
    let packed = path.with_file_name("packed.journal");
    let packing = output(&["merge", arg(&path), "--into", arg(&packed)]);
    assert_eq!(packing.status.code(), Some(3), "{}", stderr(&packing));
    set_age(&packed, Duration::ZERO);
    assert_eq!(running(&packed, &[]), 0);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(running(&path, &[]), 0);
}

#[test]
fn a_file_that_is_named_twice_counts_once() {
    let folder = fresh_folder("status-twice");
    let path = folder.join("q.journal");
    assert_eq!(output(&["count", "10", "--journal", arg(&path)]).status.code(), Some(0));
    let other = folder.join("..").join(folder.file_name().expect("a name")).join("q.journal");
    std::os::unix::fs::symlink(&path, folder.join("link.journal")).expect("room");
    for paths in [[&path, &path], [&path, &other], [&folder, &path], [&path, &folder]] {
        let merged = json(&output(&["merge", "--json", arg(paths[0]), arg(paths[1])]));
        assert_eq!((&merged["files"], &merged["twice"]), (&1.into(), &0.into()), "{paths:?}");
        assert_eq!(merged["total"], "724");
    }
    // An inode tells nothing: some file systems give all files the same. Twice does no harm.
    fs::hard_link(&path, folder.join("hard-link.journal")).expect("room");
    let merged = json(&output(&["merge", "--json", arg(&folder)]));
    assert_eq!((&merged["files"], &merged["twice"]), (&2.into(), &merged["units"]));
    assert_eq!(merged["total"], "724");
}

#[test]
fn the_last_record_is_as_old_as_the_file() {
    let path = fresh_folder("status-age").join("q.journal");
    assert_eq!(output(&["count", "10", "--journal", arg(&path)]).status.code(), Some(0));
    set_age(&path, HOUR);
    let since = json(&output(&["status", "--json", arg(&path)]))["seconds_since_record"].as_f64();
    assert!(since.is_some_and(|since| (3599.0..3660.0).contains(&since)), "{since:?}");
    let shown = output(&["status", arg(&path)]);
    assert!(stdout(&shown).contains("last record  1h00m ago"), "{shown:?}");
}

/// Clocks differ by seconds. A file from the future says nothing of when it was written.
#[test]
fn a_record_that_is_to_come_has_no_age() {
    let folder = fresh_folder("status-future");
    let (path, page) = (folder.join("q.journal"), folder.join("page.html"));
    assert_eq!(output(&["count", "10", "--journal", arg(&path)]).status.code(), Some(0));
    let file = File::options().append(true).open(&path).expect("it is there");
    for (ahead, since) in [(Duration::from_secs(20), Some(0.0)), (HOUR, None)] {
        file.set_modified(SystemTime::now() + ahead).expect("its owner");
        let status = ["status", arg(&path), "--html", arg(&page)];
        let shown = output(&status);
        let is_told = stdout(&shown).contains("last record  0 s ago");
        assert_eq!(is_told, since.is_some(), "{shown:?}");
        let shown = fs::read_to_string(&page).expect("a page");
        assert_eq!(shown.contains("<dt>last record</dt><dd>0 s ago"), is_told, "{shown}");
        let told = json(&output(&[&status[..], &["--json"]].concat()));
        assert_eq!(told["seconds_since_record"].as_f64(), since);
    }
}

/// A plain journal is not called a shard, and the command that resumes it can be run as it is.
#[test]
fn the_text_has_the_command_that_resumes_the_count() {
    let folder = fresh_folder("status-resume").join("a 'b'");
    fs::create_dir(&folder).expect("room");
    let path = folder.join("q.journal");
    assert_eq!(output(&["count", "11", "--journal", arg(&path)]).status.code(), Some(0));
    keep_lines(&path, 3);
    let shown = output(&["status", arg(&path)]);
    let shown = stdout(&shown);
    assert!(!shown.contains("shard"), "{shown}");
    let command = shown.lines().find_map(|line| line.strip_prefix("resume       nqueens "));
    let command = format!("'{}' {}", env!("CARGO_BIN_EXE_nqueens"), command.expect("a command"));
    let resumed = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    assert!(stdout(&resumed).contains("total        2680\n"), "{resumed:?}");
    let shown = output(&["status", arg(&path)]);
    let shown = stdout(&shown);
    assert!(shown.contains("total        2680\n") && !shown.contains("resume"), "{shown}");
}

/// Damage, a number of shards that changed, and journals of other boards beside them.
#[test]
fn the_command_that_resumes_works_whatever_is_wrong() {
    // Of what the command leaves in a file or a folder.
    let total = |paths: &[PathBuf], left: &Path| {
        let paths: Vec<&str> = paths.iter().map(|path| arg(path)).collect();
        let status = json(&output(&[&["status", "--json"], &paths[..]].concat()));
        let command = status["resume"].as_str().unwrap_or_else(|| panic!("none: {status}"));
        let command = format!("nqueens() {{ '{NQUEENS}' \"$@\"; }}; {command}");
        let resumed = Command::new("sh").args(["-c", &command]).output().expect("a shell");
        assert_eq!(resumed.status.code(), Some(0), "{command}: {resumed:?}");
        stdout(&output(&["merge", "--quiet", arg(left)])).to_owned()
    };
    let shards = |folder: &Path, shards: &[(usize, usize)]| {
        let names = shards.iter().map(|(index, of)| {
            set_aside(&count_shard(12, *index, *of, folder), &format!("{index}-of-{of}"))
        });
        names.collect::<Vec<_>>()
    };
    let good = |path: &PathBuf| path.with_extension("good.journal");
    let path = fresh_folder("resume-plain").join("q.journal");
    assert_eq!(output(&["count", "12", "--journal", arg(&path)]).status.code(), Some(0));
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replacen("done ", "gone ", 1)).expect("room");
    assert_eq!(total(slice::from_ref(&path), &good(&path)), "14200\n", "a damaged journal");

    let folder = fresh_folder("resume-mixed");
    shards(&folder, &[(0, 3), (1, 3), (3, 4)]);
    assert_eq!(total(slice::from_ref(&folder), &folder), "14200\n", "shards of 3 and of 4");

    let folder = fresh_folder("resume-disputed");
    let mut paths = shards(&folder, &[(0, 3), (1, 3)]);
    paths.push(folder.join("wrong.journal"));
    fs::copy(&paths[0], &paths[2]).expect("room");
    assert_eq!(raise_counts(&paths[2], 1, |line, _| line == 2).len(), 1);
    assert_eq!(total(&paths, &good(&paths[0])), "14200\n", "two counts of one unit");

    let folder = fresh_folder("resume-beside");
    let paths = shards(&folder, &[(0, 3), (1, 3)]);
    let other = folder.join("q10.journal");
    assert_eq!(output(&["count", "10", "--journal", arg(&other)]).status.code(), Some(0));
    assert_eq!(total(&paths, &good(&paths[0])), "14200\n", "another board");
    assert_eq!(total(&paths[1..], &paths[1]), "14200\n", "one of them, in its own file");
}

#[test]
fn a_folder_of_several_counts_is_a_list() {
    let folder = fresh_folder("status-list");
    let path = |name: &str| folder.join(name);
    let whole = path("q10.journal");
    assert_eq!(output(&["count", "10", "--journal", arg(&whole)]).status.code(), Some(0));
    for index in ["0", "1"] {
        let args = ["shard", "12", "--index", index, "--shards", "3", "--out"];
        let shards = path("shards");
        assert_eq!(output(&[&args[..], &[arg(&shards)]].concat()).status.code(), Some(0));
    }
    let listed = output(&["status", arg(&folder)]);
    assert_eq!(listed.status.code(), Some(0));
    let list = stdout(&listed);
    let (whole_text, shards_text) = list.split_once("\n\n").expect("two reports");
    assert!(whole_text.starts_with("n            10\n"), "{list}");
    assert!(whole_text.contains("\ntotal        724\n"), "{list}");
    assert!(shards_text.starts_with("n            12\n"), "{list}");
    assert!(shards_text.contains("\nresume       nqueens shard 12 --index 2 --shards 3"), "{list}");
    let counts = json(&output(&["status", arg(&folder), "--json"]))["counts"].clone();
    assert_eq!((&counts[0]["n"], &counts[1]["n"]), (&10.into(), &12.into()));
    let html = output(&["status", arg(&folder), "--html", arg(&path("page.html"))]);
    assert_eq!(html.status.code(), Some(0), "{html:?}");
    let page = fs::read_to_string(path("page.html")).expect("a page");
    assert!(page.contains("<h2>10 queens</h2>") && page.contains("<h2>12 queens</h2>"), "{page}");
    let shards = path("shards");
    let both = [arg(&whole), arg(&shards)];
    for command in ["verify", "merge"] {
        let several = output(&[&[command], &both[..]].concat());
        refused(&several, 2, &["n=10 ", "n=12 ", "name the files or folders of one of them"]);
    }
    // What cannot be read hides nothing else.
    fs::write(path("z.journal"), "no journal").expect("room");
    let list = output(&["status", arg(&folder)]);
    assert_eq!((list.status.code(), stdout(&list).split("\n\n").count()), (Some(1), 2), "{list:?}");
    assert!(stderr(&list).contains("z.journal: is not a journal"), "{list:?}");
}

/// Every line of a journal is part of the sample, whichever run wrote it.
#[test]
fn the_time_left_is_that_of_the_lines() {
    let path = fresh_folder("status-forecast").join("q.journal");
    let count = ["count", "16", "--engine", "subtrees", "--journal", arg(&path)];
    assert_eq!(output(&count).status.code(), Some(0));
    let whole = contents(&path);
    let cpu: f64 = whole.runs().map(|run| run.cpu_time.as_secs_f64()).sum();
    let lines = fs::read_to_string(&path).expect("text").lines().count();
    keep_lines(&path, lines / 2);
    let status = json(&output(&["status", "--json", arg(&path)]));
    let number = |name: &str| status[name].as_f64().expect("a number");
    let (left, error) = (number("cpu_seconds_left"), number("cpu_seconds_left_error"));
    let truth = cpu - number("cpu_seconds");
    // The interval covers 19 of 20 truths, and nearly all within twice its width; one beside other tests is off
    // by more than the interval now and then.
    assert!((left - truth).abs() <= 2.0 * error.max(0.15 * truth), "{left} ± {error}, not {truth}");
    assert!(status["seconds_left"].is_null());
    // A few lines say nothing of the others.
    keep_lines(&path, 6);
    let status = json(&output(&["status", "--json", arg(&path)]));
    assert!(status["cpu_seconds_left"].is_f64() && status["cpu_seconds_left_error"].is_null());
    let shown = output(&["status", arg(&path)]);
    let shown = stdout(&shown);
    assert!(shown.contains(" measured, roughly "), "{shown}");
}

/// What a run took says little of one with another kernel, or another number of threads on the same cores.
#[test]
fn the_times_of_other_runs_are_rough() {
    let path = fresh_folder("status-other").join("q.journal");
    let count = |more: &[&str]| {
        let args = ["count", "16", "--engine", "subtrees", "--journal", arg(&path)];
        assert_eq!(output(&[&args[..], more].concat()).status.code(), Some(0), "{more:?}");
    };
    count(&["--threads", "1"]);
    let lines = fs::read_to_string(&path).expect("text").lines().count() / 2;
    let left = || {
        let status = json(&output(&["status", "--json", arg(&path)]));
        ["cpu_seconds_left", "cpu_seconds_left_error"].map(|name| status[name].as_f64())
    };
    keep_lines(&path, lines);
    let [before, error] = left();
    assert!(before.is_some() && error.is_some(), "half of it tells");
    for kernel in [&[][..], &["--kernel", "portable"]] {
        keep_lines(&path, lines);
        count(&[&["--threads", "2"], kernel].concat());
        // Of the second run only its first line is left.
        keep_lines(&path, lines + 1);
        assert_eq!(contents(&path).runs().count(), 2);
        assert_eq!(left(), [before, None], "{kernel:?}");
    }
}

/// Two shards, counted by different kernels where the CPU has some, else on other threads: the forecast is made from
/// the one that is being counted.
#[test]
fn a_forecast_rests_on_runs_like_the_one_that_counts() {
    let folder = fresh_folder("status-kinds");
    let shard = |index: &str, kernel: Kernel, threads: &str| {
        let shard = ["shard", "16", "--index", index, "--shards", "2", "--engine", "subtrees"];
        let how = ["--kernel", kernel.name(), "--threads", threads, "--out", arg(&folder)];
        let done = json(&output(&[&shard[..], &how, &["--json"]].concat()));
        PathBuf::from(done["journal"].as_str().expect("a path"))
    };
    let whole = shard("0", Kernel::Portable, "1");
    let other = shard("1", Kernel::detect(), "2");
    let cpu_time = |path: &Path| contents(path).cpu_time().as_secs_f64();
    let lines = fs::read_to_string(&other).expect("text").lines().count();
    let truth = cpu_time(&other);
    keep_lines(&other, lines / 2);
    let truth = truth - cpu_time(&other);
    let left = || {
        let status = json(&output(&["status", "--json", arg(&folder)]));
        ["cpu_seconds_left", "cpu_seconds_left_error"].map(|name| status[name].as_f64())
    };
    assert!(matches!(left(), [Some(_), None]), "nobody knows who counts the rest: {:?}", left());
    let writer = File::options().append(true).open(&other).expect("it is there");
    writer.lock().expect("a local file system");
    let [value, error] = left().map(|number| number.expect("half of the shard tells"));
    // Nearly all truths lie within twice the width of the interval, also beside other tests.
    let is_covered = (value - truth).abs() <= 2.0 * error.max(0.15 * truth);
    assert!(
        is_covered,
        "{value} ± {error}, not {truth}; the other shard took {}",
        cpu_time(&whole)
    );
}
