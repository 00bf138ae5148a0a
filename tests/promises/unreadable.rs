//! Promise: a journal that cannot be read now is not called damaged, and a folder that cannot be seen is not taken for
//! missing. docs/JOURNAL.md makes this promise under "What is promised".

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::errno::{EACCES, EIO, EMFILE, ENOSPC, ESTALE};
use crate::common::processes::shim;
use crate::common::{
    NQUEENS, arg, count_into, fresh, fresh_folder, journal_in, journals_in, json, keep_lines,
    nqueens, refused, run, stderr, stdout,
};

/// A folder with two journals of n = 12: `b` holds all units, `a` all or those of the first lines.
fn folder_with_two(name: &str, lines_of_first: usize) -> PathBuf {
    let folder = fresh_folder(name);
    let args = ["--engine", "subtrees", "--threads", "1"];
    assert!(run(&mut count_into("12", &folder, &args)).status.success());
    let path = journal_in(&folder);
    fs::copy(&path, folder.join("a.journal")).expect("room");
    fs::rename(&path, folder.join("b.journal")).expect("it is there");
    keep_lines(&folder.join("a.journal"), lines_of_first);
    folder
}

fn number_of_journals(folder: &Path) -> usize {
    journals_in(folder).len()
}

fn with_fault(folder: &Path, args: &[&str], faults: &[(&str, &str)]) -> Output {
    let mut command = nqueens(args);
    run(command.arg(folder).env("LD_PRELOAD", shim()).envs(faults.iter().copied()))
}

/// As the journal of another user, with `ulimit -n 4`, on a file server that has forgotten a file, or on a disk that
/// has lost its bytes: the lines may be good, so the exit code is not that of a count that only lacks units.
#[test]
fn a_journal_that_cannot_be_read_is_not_damaged() {
    let whole = folder_with_two("unreadable-whole", usize::MAX);
    let part = folder_with_two("unreadable-part", 9);
    for (call, error, reason) in [
        ("open", EACCES, "cannot open the journal: Permission denied"),
        ("open", EMFILE, "cannot open the journal: Too many open files"),
        ("read", ESTALE, "cannot read the journal: Stale file handle"),
        ("read", EIO, "cannot read the journal: Input/output error"),
    ] {
        let faults = [("SHIM_FAIL", call), ("SHIM_ERRNO", error), ("SHIM_PATH", "b.journal")];
        for (folder, code, total) in [(&whole, 0, Some("14200")), (&part, 1, None)] {
            for args in [&["merge"][..], &["status"], &["verify", "--units", "3"]] {
                let read = with_fault(folder, &[args, &["--json"]].concat(), &faults);
                let message = stderr(&read);
                assert_eq!(read.status.code(), Some(code), "{args:?}: {message}");
                assert!(message.starts_with("nqueens: warning: left out: "), "{args:?}: {message}");
                assert!(message.contains(&format!("b.journal: {reason}")), "{args:?}: {message}");
                let report = json(&read);
                assert_eq!(report["damaged"], serde_json::json!([]), "{args:?}");
                assert_eq!(report["total"].as_str(), total, "{args:?}");
            }
        }
    }
}

/// That costs time, and no number is wrong.
#[test]
fn a_count_counts_what_it_cannot_read() {
    let part = folder_with_two("unreadable-counted", 9);
    let faults = [("SHIM_FAIL", "open"), ("SHIM_ERRNO", EACCES), ("SHIM_PATH", "b.journal")];
    let counted = with_fault(&part, &["count", "12", "--quiet", "--journal"], &faults);
    assert_eq!((counted.status.code(), stdout(&counted)), (Some(0), "14200\n"), "{counted:?}");
    assert!(stderr(&counted).contains("b.journal: cannot open the journal"), "{counted:?}");
    assert_eq!(number_of_journals(&part), 3);
    // Nothing can be said of a folder if no journal of it can be read.
    let all = [faults[0], faults[1], ("SHIM_PATH", ".journal")];
    refused(&with_fault(&part, &["merge"], &all), 1, &["Permission denied"]);
}

#[test]
fn a_journal_from_a_pipe_is_refused() {
    let folder = folder_with_two("unreadable-pipe", usize::MAX);
    let journal = folder.join("b.journal");
    let piped = format!("cat {} | {NQUEENS} merge /dev/stdin", journal.display());
    let read = run(Command::new("sh").args(["-c", &piped]));
    refused(&read, 2, &["/dev/stdin: is not a journal of nqueens"]);
}

#[test]
fn names_that_no_folder_can_have_get_words_that_fit() {
    let folder = fresh_folder("unreadable-names");
    let count = run(&mut count_into("12", &folder.join("x".repeat(300)), &[]));
    assert!(matches!(count.status.code(), Some(1 | 2)), "{count:?}");
    assert!(stderr(&count).contains("File name too long"), "{count:?}");
    let full = [("SHIM_FAIL", "open"), ("SHIM_ERRNO", ENOSPC)];
    let count = with_fault(&folder, &["count", "12", "--journal"], &full);
    refused(&count, 1, &["cannot create the journal: No space left", "make room"]);
    assert_eq!(number_of_journals(&folder), 0);
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
    for place in ["in/q", "q12", "q12/", "q"] {
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
        refused(output, 1, &[place, "cannot open the journal: Permission denied (os error 13)"]);
    }
    assert_eq!(number_of_journals(&closed.join("q12")), 2);
    refused(&drawn, 1, &["--svg: cannot write", "in/x.svg: Permission denied"]);
    refused(&compared, 1, &["--against", "report.json: Permission denied"]);
}

#[test]
fn a_folder_that_takes_no_files_is_named_as_the_reason() {
    let folder = fresh_folder("unreadable-read-only");
    let set_mode = |mode| {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("our own folder");
    };
    set_mode(0o555);
    let new = folder.join("new");
    let in_it = without_privileges(&["count", "12", "--journal", arg(&folder)]);
    let below = without_privileges(&["count", "12", "--journal", arg(&new)]);
    set_mode(0o755);
    let reason = "cannot create the journal: Permission denied";
    refused(&in_it, 1, &[arg(&folder), reason, "permissions"]);
    refused(&below, 1, &[arg(&new), reason, "permissions"]);
}

/// Other errors than a lack of rights, which root meets as well.
#[test]
fn a_path_that_cannot_be_followed_gets_the_words_of_the_system() {
    let folder = fresh_folder("unreadable-paths");
    let link = folder.join("loop");
    symlink(&link, &link).expect("room");
    for place in ["loop", "loop/", "loop/q", "loop/in/q"] {
        let count = run(&mut count_into("12", &folder.join(place), &[]));
        let reason = "Too many levels of symbolic links (os error 40)";
        refused(&count, 1, &[place, reason]);
    }
    let file = folder.join("file");
    fs::write(&file, "").expect("room");
    for place in ["file/q", "file/q/", "file/in/q"] {
        let count = run(&mut count_into("12", &folder.join(place), &[]));
        refused(&count, 2, &[place, "Not a directory (os error 20)"]);
    }
    let count = run(&mut count_into("12", &folder.join("file/"), &[]));
    refused(&count, 2, &["file/"]);
    assert_eq!(fs::read(&file).expect("still there"), b"");
}
