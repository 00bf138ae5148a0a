//! Promise: `status` estimates the time that is left from the lines of the runs that are like the one that counts, and
//! a long count without a journal warns of what a stop would cost. docs/JOURNAL.md makes the first promise under
//! "Forecasts".

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use nqueens::Kernel;

use crate::common::processes::{cpu_time, send, wait_for, wait_for_units, wait_until_stopped};
use crate::common::{
    arg, contents, count_into, finish, fresh_folder, journal_in, json, keep_lines, nqueens, output,
    record_of, spawn, stderr, stdout,
};

/// The warning comes before the first unit, which may take minutes, also where no bar is drawn. With a journal there is
/// none.
#[test]
fn a_long_count_without_a_journal_says_so_once() {
    for command in ["count", "table"] {
        let args = [command, "24", "--threads", "2", "--progress", "never"];
        let mut child = spawn(&mut nqueens(&args));
        let mut messages = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let warning = messages.next().expect("a line").expect("text");
        assert!(warning.starts_with("nqueens: n = 24 takes roughly "), "{warning}");
        let advice =
            "a stop would lose all of it; this can be resumed: nqueens count 24 --journal FOLDER";
        assert!(warning.ends_with(advice), "{warning}");
        send("TERM", &child);
        let last = messages.next().expect("a line").expect("text");
        assert!(last.contains("stopped after "), "{last}");
        assert_eq!(finish(child).status.code(), Some(3));
    }
    let path = fresh_folder("long-count");
    let mut child = spawn(&mut count_into("24", &path, &["--threads", "2"]));
    wait_for_units(&path, &mut child, 50);
    send("TERM", &child);
    let stopped = finish(child);
    assert_eq!(stderr(&stopped).lines().count(), 1, "{stopped:?}");
}

/// Shards that nobody counts are not part of the time, because nobody knows who will count them.
#[test]
fn the_time_left_is_that_of_the_running_shards() {
    let folder = fresh_folder("status-running-shard");
    let mut child = spawn(&mut count_into(
        "22",
        &folder.join(""),
        &["--shard", "3/30", "--threads", "1", "--kernel", "portable"],
    ));
    let known = wait_for("a forecast", &mut child, || {
        let shown = output(&["status", arg(&folder)]);
        let shown = stdout(&shown).to_owned();
        shown.contains("time left").then_some(shown).filter(|shown| !shown.contains("too early"))
    });
    assert!(known.contains(" for the running shards, then 29 shards to go\n"), "{known}");
    let status = json(&output(&["status", "--json", arg(&folder)]));
    let number = |name: &str| status[name].as_f64().expect("a number");
    let cpu_seconds = number("seconds_left") * number("cores");
    assert!(cpu_seconds < number("cpu_seconds_left") / 5.0, "{status}");
    child.kill().expect("it runs");
    child.wait().expect("ended");
}

/// Each thread gets half a core.
#[cfg(target_os = "linux")]
#[test]
fn the_cores_are_those_that_the_process_got() {
    let folder = fresh_folder("status-cores");
    let threads = (2 * crate::common::cores()).to_string();
    let how = ["--engine", "subtrees", "--split-rows", "4", "--threads", &threads];
    let mut child = spawn(&mut count_into("20", &folder, &how));
    wait_for_units(&folder, &mut child, 0);
    let before = cpu_time(child.id());
    let begun = Instant::now();
    let pid = child.id();
    wait_for("a forecast", &mut child, || {
        let status = json(&output(&["status", "--json", arg(&folder)]));
        let cores = status["cores"].as_f64()?;
        let expected = (cpu_time(pid) - before).as_secs_f64() / begun.elapsed().as_secs_f64();
        let number = |name: &str| status[name].as_f64().expect(name);
        let ratio = number("seconds_left") * cores / number("cpu_seconds_left");
        assert!((ratio - 1.0).abs() < 0.1, "{ratio}: {status}");
        // Some work is in no line yet, and the two times are not the same.
        assert!((0.6..1.6).contains(&(cores / expected)), "{cores} and {expected}: {status}");
        Some(())
    });
    child.kill().expect("it runs");
    child.wait().expect("ended");
}

/// A process that is stopped holds its lock, and a forecast from what it did before would be wrong.
#[test]
fn a_process_that_records_nothing_has_no_forecast() {
    let folder = fresh_folder("status-silent");
    let mut child =
        spawn(&mut count_into("22", &folder, &["--threads", "1", "--kernel", "portable"]));
    wait_for_units(&folder, &mut child, 0);
    let path = journal_in(&folder);
    wait_for("a forecast", &mut child, || {
        let status = json(&output(&["status", "--json", arg(&path)]));
        status["seconds_left"].as_f64()
    });
    send("STOP", &child);
    wait_until_stopped(&mut child);
    let file = File::options().append(true).open(&path).expect("it is there");
    file.set_modified(SystemTime::now() - Duration::from_secs(75)).expect("its owner");
    let shown = output(&["status", arg(&path)]);
    let shown = stdout(&shown);
    assert!(shown.contains(" 1 thread, nothing recorded for 1m15s\n"), "{shown}");
    assert!(
        shown.contains("time left    not known, because a process records nothing\n"),
        "{shown}"
    );
    assert!(json(&output(&["status", "--json", arg(&path)]))["seconds_left"].is_null());
    child.kill().expect("it runs");
    child.wait().expect("ended");
}

/// A line with finished units that is damaged does not begin a run.
#[test]
fn a_damaged_line_costs_no_forecast() {
    let folder = fresh_folder("status-damaged");
    let count = ["count", "16", "--engine", "subtrees", "--journal", arg(&folder)];
    assert_eq!(output(&count).status.code(), Some(0));
    let path = journal_in(&folder);
    let text = fs::read_to_string(&path).expect("text");
    let lines = text.lines().count();
    for byte in [0, 3, 8, 20, 60] {
        let mut bytes = text.clone().into_bytes();
        let line: usize = text.split_inclusive('\n').take(lines / 3).map(str::len).sum();
        bytes[line + byte] ^= 1;
        fs::write(&path, bytes).expect("room");
        let record = record_of(&[&path]);
        assert_eq!(record.runs().count(), 1, "byte {byte}");
        let left = record.time_left().expect("a forecast").cpu_seconds;
        assert!(left.standard_error.is_finite(), "byte {byte}");
    }
}

/// Every line of a journal is part of the sample, whichever run wrote it.
#[test]
fn the_time_left_is_that_of_the_lines() {
    let folder = fresh_folder("status-forecast");
    let count = ["count", "16", "--engine", "subtrees", "--journal", arg(&folder)];
    assert_eq!(output(&count).status.code(), Some(0));
    let path = journal_in(&folder);
    let whole = contents(&path);
    let cpu: f64 = whole.runs().map(|run| run.cpu_time().as_secs_f64()).sum();
    let lines = fs::read_to_string(&path).expect("text").lines().count();
    keep_lines(&path, lines / 2);
    let status = json(&output(&["status", "--json", arg(&path)]));
    let number = |name: &str| status[name].as_f64().expect("a number");
    let left = number("cpu_seconds_left");
    let error = number("cpu_seconds_left_error");
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
    let folder = fresh_folder("status-other");
    let count = |more: &[&str]| {
        let args = ["count", "16", "--engine", "subtrees", "--json", "--journal", arg(&folder)];
        let counted = output(&[&args[..], more].concat());
        PathBuf::from(json(&counted)["journal"]["file"].as_str().expect("a path"))
    };
    let path = count(&["--threads", "16"]);
    let lines = fs::read_to_string(&path).expect("text").lines().count() / 2;
    let left = || {
        let status = json(&output(&["status", "--json", arg(&folder)]));
        ["cpu_seconds_left", "cpu_seconds_left_error"].map(|name| status[name].as_f64())
    };
    keep_lines(&path, lines);
    let [before, error] = left();
    assert!(before.is_some() && error.is_some(), "half of it tells");
    for kernel in [&[][..], &["--kernel", "portable"]] {
        let second = count(&[&["--threads", "2"], kernel].concat());
        // The second run has finished no unit. As long as it holds its lock, it is the one that counts.
        keep_lines(&second, 2);
        let writer = File::options().append(true).open(&second).expect("it is there");
        writer.lock().expect("a local file system");
        assert_eq!(contents(&folder).runs().count(), 2);
        assert_eq!(left(), [before, None], "{kernel:?}");
        fs::remove_file(second).expect("it is there");
    }
}

/// Two shards, counted by different kernels where the CPU has some, else on other threads: the forecast is made from
/// the one that is being counted.
#[test]
fn a_forecast_rests_on_runs_like_the_one_that_counts() {
    let folder = fresh_folder("status-kinds");
    let shard = |shard: &str, kernel: Kernel, threads: &str| {
        let count = ["count", "16", "--shard", shard, "--engine", "subtrees", "--json"];
        let how = ["--kernel", kernel.name(), "--threads", threads, "--journal", arg(&folder)];
        let done = json(&output(&[&count[..], &how].concat()));
        PathBuf::from(done["journal"]["file"].as_str().expect("a path"))
    };
    let whole = shard("0/2", Kernel::PORTABLE, "1");
    let other = shard("1/2", Kernel::detect(), "2");
    let seconds = |path: &Path| crate::common::cpu_time(&contents(path)).as_secs_f64();
    let lines = fs::read_to_string(&other).expect("text").lines().count();
    let truth = seconds(&other);
    keep_lines(&other, lines / 2);
    let truth = truth - seconds(&other);
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
    assert!(is_covered, "{value} ± {error}, not {truth}; the other shard took {}", seconds(&whole));
}
