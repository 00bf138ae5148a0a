//! Promise: `status` knows which processes are counting, what is finished, and how old the last record is.
//! docs/JOURNAL.md makes this promise under "What runs".

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::common::processes::send;
use crate::common::{
    Running, arg, fresh_folder, journal_in, journals_in, json, nqueens, output, refused, spawn,
    stdout,
};

const HOUR: Duration = Duration::from_secs(3600);

/// Starts a count with units that take years, and waits for its journal to begin.
pub(crate) fn start_endless(options: &[&str], place: &Path) -> (Running, PathBuf) {
    let count = ["count", "16", "--engine", "permutation", "--threads", "1", "--journal"];
    let mut child = spawn(nqueens(&count).arg(place).args(options));
    let journal = || {
        let files = journals_in(place);
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

fn running(path: &Path) -> Value {
    json(&output(&["status", arg(path), "--json"]))["running"].clone()
}

#[test]
fn a_count_in_a_folder_is_running_until_its_process_ends() {
    for signal in ["TERM", "KILL"] {
        let folder = fresh_folder(&format!("status-{signal}"));
        let (mut child, path) = start_endless(&[], &folder);
        // A stopped process holds its lock.
        send("STOP", &child);
        set_age(&path, HOUR);
        assert_eq!(running(&folder), 1, "its unit takes long");
        send("CONT", &child);
        send(signal, &child);
        child.wait().expect("it ends");
        set_age(&path, Duration::ZERO);
        assert_eq!(running(&folder), 0, "SIG{signal}");
    }
}

#[test]
fn a_journal_that_was_named_is_running_until_its_process_ends() {
    let folder = fresh_folder("status-named");
    let (mut child, path) = start_endless(&[], &folder);
    assert_eq!(running(&path), 1);
    // What was joined with `cat` is no process.
    let packed = path.with_file_name("packed.journal");
    fs::write(&packed, fs::read(&path).expect("text")).expect("room");
    assert_eq!(running(&packed), 0);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(running(&path), 0);
}

/// Makes a journal with all units of n = 10 in a folder.
fn journal_of_10(folder: &Path) -> PathBuf {
    assert_eq!(output(&["count", "10", "--journal", arg(folder)]).status.code(), Some(0));
    let path = folder.join("q.journal");
    fs::rename(journal_in(folder), &path).expect("it is there");
    path
}

#[test]
fn a_file_that_is_named_twice_counts_once() {
    let folder = fresh_folder("status-twice");
    let path = journal_of_10(&folder);
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
    let path = journal_of_10(&fresh_folder("status-age"));
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
    let path = journal_of_10(&folder);
    let page = folder.join("page.html");
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

/// The user meant shard 1/4 of n = 12, and typed n = 4 in 12 shards.
#[test]
fn a_journal_that_is_there_by_mistake_is_named() {
    let folder = fresh_folder("status-exchanged");
    let place = format!("{}/", arg(&folder));
    for (n, shard) in [("12", "0/4"), ("4", "1/12")] {
        let counted = output(&["count", n, "--shard", shard, "--journal", &place]);
        assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    }
    for command in ["merge", "verify", "status"] {
        let refused_both = output(&[command, arg(&folder)]);
        let parts = [
            "n4-0001-of-0012.",
            " holds 'n=4 ",
            " holds 'n=12 ",
            "name the files or folders of one of them",
            "if one is there by mistake, move it to another folder",
        ];
        refused(&refused_both, 2, &parts);
    }
    // One of them can be named.
    let files = journals_in(&folder);
    for path in &files {
        assert_eq!(output(&["status", arg(path)]).status.code(), Some(0));
    }
    // Also if both are in one file.
    let packed = folder.join("packed");
    let texts: Vec<String> =
        files.iter().map(|path| fs::read_to_string(path).expect("text")).collect();
    fs::write(&packed, texts.concat()).expect("room");
    refused(&output(&["merge", arg(&packed)]), 2, &["n=4 ", "n=12 "]);
}
