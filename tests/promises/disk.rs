//! Promise: a journal is synced to the disk, and read back from the disk and not from the cache, before it is called
//! complete. docs/JOURNAL.md makes this promise under "A power cut" and "A full or failing disk". A power cut cannot be
//! tested, so these tests check the calls that the program makes on journals, in their order.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

use super::unreadable::with_fault;
use crate::common::processes::shim;
use crate::common::{
    as_folder, contents, count_into, fresh_folder, keep_lines, note_skipped, nqueens, result, run,
    stdout,
};

/// Runs a count of n = 12 and returns its calls, each with the path of the file or folder. Returns `None` if this
/// system cannot show them. The folder takes the list of the calls.
fn calls(folder: &Path, count: &mut Command) -> Option<Vec<(String, PathBuf)>> {
    let log = folder.join("calls");
    let _ = fs::remove_file(&log);
    let counted = run(count.env("LD_PRELOAD", shim()).env("SHIM_CALLS", &log));
    if counted.status.code() == Some(77) {
        note_skipped("this system has no seccomp");
        return None;
    }
    assert_eq!(result(&counted), (Some(0), "14200\n", ""));
    let log = fs::read_to_string(log).expect("calls");
    let call = |line: &str| {
        let (call, path) = line.split_once(' ').expect("a call and a path");
        (call.to_owned(), PathBuf::from(path))
    };
    Some(log.lines().map(call).collect())
}

/// The names of the calls on journals. Several calls of one name in a row are one.
fn on_journals(calls: Vec<(String, PathBuf)>) -> Vec<String> {
    let on_journals = calls.into_iter().filter(|(call, _)| call != "folder");
    let mut names: Vec<String> = on_journals.map(|(call, _)| call).collect();
    names.dedup();
    names
}

/// The folders that were synced.
fn synced_folders(calls: Vec<(String, PathBuf)>) -> Vec<PathBuf> {
    let folders = calls.into_iter().filter(|(call, _)| call == "folder");
    folders.map(|(_, path)| path).collect()
}

/// The cache may hold lines that a failed sync has lost, and it keeps lines that are not yet on disk. So the file is
/// synced, then dropped from the cache, then read.
#[test]
fn a_journal_is_synced_and_dropped_from_the_cache_before_it_is_read() {
    let folder = fresh_folder("disk-order");
    let path = folder.join("q.journal");
    for place in [&path, &as_folder(&folder.join("q12"))] {
        let Some(calls) = calls(&folder, &mut count_into("12", place, &[])) else { return };
        assert_eq!(on_journals(calls), ["sync", "drop", "read"], "a new journal, at the end");
    }
    let resumed = calls(&folder, &mut count_into("12", &path, &[])).expect("seccomp");
    assert_eq!(on_journals(resumed), ["sync", "drop", "read"], "a journal with all units");
    keep_lines(&path, 9);
    let resumed = calls(&folder, &mut count_into("12", &path, &[])).expect("seccomp");
    let twice = ["sync", "drop", "read", "sync", "drop", "read"];
    assert_eq!(on_journals(resumed), twice, "a journal that is resumed, and its end");
}

/// Without that, the name of a new file, or of a new folder, may not survive a power cut.
#[test]
fn the_folders_of_new_names_are_synced() {
    let folder = fresh_folder("disk-folder").canonicalize().expect("it is there");
    let path = folder.join("q.journal");
    let synced = |count: &mut Command| Some(synced_folders(calls(&folder, count)?));
    let Some(of_file) = synced(&mut count_into("12", &path, &[])) else { return };
    assert_eq!(of_file, slice::from_ref(&folder), "a file");
    keep_lines(&path, 9);
    let of_resumed = synced(&mut count_into("12", &path, &[])).expect("seccomp");
    assert!(of_resumed.is_empty(), "its name was there before: {of_resumed:?}");
    let mut relative = nqueens(&["count", "12", "--quiet", "--journal", "relative.journal"]);
    let of_name = synced(relative.current_dir(&folder)).expect("seccomp");
    assert_eq!(of_name, slice::from_ref(&folder), "a name alone");

    let inner = folder.join("q12");
    let shared = as_folder(&inner);
    let of_new_folder = synced(&mut count_into("12", &shared, &[])).expect("seccomp");
    assert_eq!(of_new_folder, [inner.clone(), folder.clone()], "a new folder");
    let journal = fs::read_dir(&inner).expect("there").next().expect("one").expect("there").path();
    keep_lines(&journal, 9);
    let of_folder = synced(&mut count_into("12", &shared, &[])).expect("seccomp");
    assert_eq!(of_folder, [inner], "a folder with another journal");
}

/// A journal is read back from the disk before it is called complete, not from the cache: what the cache holds is
/// dropped first.
#[test]
fn a_journal_is_read_from_the_disk_before_and_after_a_count() {
    let folder = fresh_folder("folders-cache");
    let path = folder.join("q.journal");
    let count = |place: &Path| {
        with_fault(place, &["count", "12", "--quiet", "--journal"], &[("SHIM_FADVISE", "dies")])
    };
    let dies = |place: &Path| {
        let killed = count(place);
        assert_eq!(killed.status.signal(), Some(signal_hook::consts::SIGSYS), "{killed:?}");
        assert_eq!(stdout(&killed), "", "nothing was called complete");
    };
    if count(&path).status.code() == Some(77) {
        return note_skipped("this system has no seccomp");
    }
    let text = || fs::read_to_string(&path).expect("text");
    assert_eq!(contents(&path).total(), Some(14_200), "all units were counted before");
    fs::remove_file(&path).expect("there");
    dies(&path);
    assert_eq!(contents(&path).total(), Some(14_200));
    keep_lines(&path, 9);
    let before = text();
    dies(&path);
    assert_eq!(text(), before, "it is read before anything is written");
    dies(&as_folder(&folder.join("new")));
}
