//! Promise: a journal that cannot be read now is neither called damaged nor counted as missing. docs/JOURNAL.md makes
//! this promise under "The journal cannot be read". Nor is a folder that cannot be seen taken for missing.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use super::folders::{TOTAL, folder_with_two, names};
use crate::common::errno::{EACCES, EIO, EMFILE, ENFILE, ENOMEM, ENOSPC, ESTALE};
use crate::common::processes::shim;
use crate::common::{
    NQUEENS, arg, count_into, fresh, fresh_folder, json, nqueens, refused, run, stderr, stdout,
};

pub(crate) fn with_fault(folder: &Path, args: &[&str], faults: &[(&str, &str)]) -> Output {
    let mut command = nqueens(args);
    run(command.arg(folder).env("LD_PRELOAD", shim()).envs(faults.iter().copied()))
}

const NOT_ALLOWED: [(&str, &str); 3] =
    [("SHIM_FAIL", "open"), ("SHIM_ERRNO", EACCES), ("SHIM_PATH", "b.journal")];

/// As one of another user.
#[test]
fn a_journal_that_may_not_be_read_is_not_damaged() {
    let whole = folder_with_two("folders-denied", usize::MAX);
    let part = folder_with_two("folders-denied-part", 9);
    for (folder, code) in [(&whole, 0), (&part, 1)] {
        for args in [&["merge"][..], &["status"], &["verify", "--units", "3"]] {
            let read = with_fault(folder, &[args, &["--json"]].concat(), &NOT_ALLOWED);
            let message = stderr(&read);
            assert_eq!(read.status.code(), Some(code), "{args:?}: {message}");
            let warning = "b.journal: cannot open the journal: Permission denied";
            assert!(message.starts_with("nqueens: warning: left out: "), "{args:?}: {message}");
            assert!(message.contains(warning), "{args:?}: {message}");
            let report = json(&read);
            assert_eq!(report["damaged"], serde_json::json!([]), "{args:?}");
            assert_eq!(report["total"].as_str(), (code == 0).then_some("14200"), "{args:?}");
        }
    }
    // A count counts what it cannot read.
    let counted = with_fault(&part, &["count", "12", "--quiet", "--journal"], &NOT_ALLOWED);
    assert_eq!((counted.status.code(), stdout(&counted)), (Some(0), TOTAL), "{counted:?}");
    assert!(stderr(&counted).contains("Permission denied"), "{counted:?}");
    // Nothing can be said of a folder if no journal of it can be read.
    let all = [NOT_ALLOWED[0], NOT_ALLOWED[1], ("SHIM_PATH", ".journal")];
    refused(&with_fault(&whole, &["merge"], &all), 1, &["Permission denied", "permissions"]);
}

/// A disk that opens a file but does not give its bytes has lost them.
#[test]
fn a_journal_that_the_disk_does_not_give_is_damaged() {
    let whole = folder_with_two("folders-disk", usize::MAX);
    let part = folder_with_two("folders-disk-part", 9);
    let faults = [("SHIM_FAIL", "read"), ("SHIM_ERRNO", EIO), ("SHIM_PATH", "b.journal")];
    for (folder, code, total) in [(&whole, 0, Some("14200")), (&part, 1, None)] {
        let read = with_fault(folder, &["merge", "--json"], &faults);
        let message = stderr(&read);
        assert_eq!(read.status.code(), Some(code), "{message}");
        assert_eq!(json(&read)["total"].as_str(), total, "{message}");
        assert_eq!(json(&read)["damaged"], serde_json::json!([arg(&folder.join("b.journal"))]));
        assert!(message.contains("cannot read the journal: Input/output error"), "{message}");
        assert!(message.contains("check the disk"), "{message}");
    }
}

/// As with `ulimit -n 4`, on a machine without memory, or with a file server that has forgotten a file: the lines may
/// be good, so nobody may take the units for missing.
#[test]
fn a_journal_that_this_machine_cannot_read_is_neither_damaged_nor_missing() {
    let part = folder_with_two("folders-handles", 9);
    let alone = folder_with_two("folders-handles-alone", 0);
    fs::remove_file(alone.join("a.journal")).expect("there");
    // The limit of a process does not rise by waiting.
    for (call, error, code, way_out) in [
        ("open", EMFILE, 1, "raise the limit (ulimit -n)"),
        ("open", ENFILE, 4, "try later, when other programs have closed files"),
        ("open", ENOMEM, 4, "try later, when other programs have given memory back"),
        ("read", ESTALE, 4, "the file server has changed, so try again"),
        ("read", ENOMEM, 4, "try later, when other programs have given memory back"),
    ] {
        let faults = [("SHIM_FAIL", call), ("SHIM_ERRNO", error), ("SHIM_PATH", "b.journal")];
        for args in [&["merge"][..], &["status"], &["verify", "--units", "3"]] {
            let read = with_fault(&part, &[args, &["--json"]].concat(), &faults);
            assert_eq!(read.status.code(), Some(code), "{call} {error} {args:?}: {read:?}");
            assert!(stderr(&read).contains(way_out), "{read:?}");
            assert!(!stderr(&read).contains("how to count them"), "{read:?}");
            assert_eq!(json(&read)["damaged"], serde_json::json!([]), "{read:?}");
        }
        // Nor does a count or a shard count them again, with another journal beside it or without.
        for folder in [&part, &alone] {
            let before = names(folder);
            for args in [
                &["count", "12", "--journal"][..],
                &["count", "12", "--shard", "0/1000000", "--journal"],
            ] {
                let counted = with_fault(folder, args, &faults);
                refused(&counted, code, &["b.journal: cannot", way_out]);
            }
            assert_eq!(names(folder), before);
        }
    }
}

#[test]
fn a_journal_from_a_pipe_is_refused_with_the_reason() {
    let folder = folder_with_two("folders-pipe", usize::MAX);
    let journal = folder.join("b.journal");
    let piped = format!("cat {} | {NQUEENS} merge /dev/stdin", journal.display());
    let read = run(Command::new("sh").args(["-c", &piped]));
    refused(&read, 2, &["is not a regular file: a folder, pipe or device cannot be a journal"]);
}

/// A name that is too long, and a disk without inodes: what to do is said.
#[test]
fn names_that_no_file_can_have_get_words_that_fit() {
    let folder = fresh_folder("folders-names");
    let long = "x".repeat(300);
    for name in [long.clone() + ".journal", long + "/"] {
        let count = run(&mut count_into("12", &folder.join(&name), &[]));
        refused(&count, 2, &["File name too long", "name another one"]);
    }
    let full = [("SHIM_FAIL", "open"), ("SHIM_ERRNO", ENOSPC)];
    let count = with_fault(&folder, &["count", "12", "--journal"], &full);
    refused(&count, 1, &["make room (bytes or inodes)"]);
    assert_eq!(names(&folder).len(), 0);
}

/// Runs the program without the rights of root, which may enter every folder.
fn without_privileges(args: &[&str]) -> Output {
    let is_root = fs::metadata("/proc/self").expect("Linux has it").uid() == 0;
    if !is_root {
        return run(&mut nqueens(args));
    }
    let mut setpriv = Command::new("setpriv");
    setpriv.args(["--bounding-set=-all", "--inh-caps=-all", NQUEENS]).args(args);
    run(setpriv.env_remove("NQUEENS_THREADS"))
}

/// The units there may be finished, so nothing is counted, and nobody is told to make the folder.
#[test]
fn a_folder_that_cannot_be_entered_is_not_taken_for_missing() {
    let journals = folder_with_two("unreadable-journals", usize::MAX);
    let closed = fresh("unreadable-closed");
    fs::create_dir_all(closed.join("in")).expect("room");
    fs::rename(&journals, closed.join("q12")).expect("the same file system");
    fs::write(closed.join("report.json"), "").expect("room");
    let allow = |mode| {
        fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).expect("our own folder");
    };
    allow(0o000);
    let mut outputs = Vec::new();
    for place in ["in/q.journal", "in/q/", "in/other", "q12", "q12/", "q.journal"] {
        let path = closed.join(place);
        outputs.push((place, without_privileges(&["count", "12", "--journal", arg(&path)])));
    }
    let picture = closed.join("in/x.svg");
    let drawn = without_privileges(&["compare", "8", "--svg", arg(&picture)]);
    let report = closed.join("report.json");
    let compared = without_privileges(&["compare", "8", "--against", arg(&report)]);
    // So that the next run of the test can remove it.
    allow(0o755);
    for (place, output) in &outputs {
        let reason =
            "cannot open the journal: Permission denied (os error 13): change its permissions";
        refused(output, 1, &[place, reason]);
    }
    assert_eq!(names(&closed.join("q12")), ["a.journal", "b.journal"]);
    refused(&drawn, 1, &["--svg: cannot write", "in/x.svg: Permission denied"]);
    refused(
        &compared,
        1,
        &["--against", "report.json: Permission denied", "change its permissions"],
    );
}

/// There is no file yet whose permissions could be changed.
#[test]
fn a_folder_that_takes_no_files_is_named_as_the_reason() {
    let folder = fresh_folder("unreadable-read-only");
    let set_mode = |mode| {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("our own folder");
    };
    set_mode(0o555);
    let new = folder.join("new.journal");
    let refused_new = without_privileges(&["count", "12", "--journal", arg(&new)]);
    set_mode(0o755);
    refused(&refused_new, 1, &["Permission denied", ": change the permissions of its folder"]);
}

/// Other errors than a lack of rights, which root meets, too.
#[test]
fn a_path_that_cannot_be_followed_gets_the_words_of_the_system() {
    let folder = fresh_folder("unreadable-paths");
    let link = folder.join("loop");
    symlink(&link, &link).expect("room");
    for place in ["loop", "loop/", "loop/q.journal", "loop/in/q.journal", "loop/in/q/"] {
        let count = run(&mut count_into("12", &folder.join(place), &[]));
        let reason = "cannot open the journal: Too many levels of symbolic links (os error 40): check the path";
        refused(&count, 1, &[place, reason]);
    }
    let file = folder.join("file");
    fs::write(&file, "").expect("room");
    let no_folder = format!("{} is not a folder: name another one", arg(&file));
    for place in ["file/q.journal", "file/q/", "file/in/q.journal"] {
        let count = run(&mut count_into("12", &folder.join(place), &[]));
        refused(&count, 2, &["--journal", &no_folder]);
    }
    let count = run(&mut count_into("12", &folder.join("file/"), &[]));
    refused(&count, 2, &["file/: cannot open the journal: Not a directory", "name another one"]);
    assert_eq!(fs::read(&file).expect("still there"), b"");
}
