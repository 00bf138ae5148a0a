//! What lies in a folder beside good journals, and file systems that cannot do everything: no unit is lost, and what
//! cannot be read is not called damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use nqueens::record::{JournalError, Record, UnitSet};

use crate::common::processes::shim;
use crate::common::{
    arg, contents, count_into, count_shard, fresh_folder, journal_error, json, keep_lines, nqueens,
    output, refused, result, run, set_aside, stderr, stdout,
};

/// Q(12), and its text.
const N: u32 = 12;
const TOTAL: &str = "14200\n";

/// The harness hides what tests print, but not what is written to stderr itself.
fn skip(why: &str) {
    let _ =
        std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: {why}\n").as_bytes());
}

/// Two journals of one count: all of it, and the first lines or all of it again.
fn folder_with_two(name: &str, lines_of_first: usize) -> std::path::PathBuf {
    let folder = fresh_folder(name);
    for name in ["a.journal", "b.journal"] {
        let args = ["--engine", "subtrees", "--threads", "1"];
        assert!(run(&mut count_into("12", &folder.join(name), &args)).status.success());
    }
    keep_lines(&folder.join("a.journal"), lines_of_first);
    folder
}

/// Some systems put a file of their own beside each one on a share.
#[test]
fn names_that_begin_with_a_dot_are_no_journals() {
    let folder = fresh_folder("folders-companions");
    let shard = count_shard(N, 0, 1, &folder);
    set_aside(&shard, "n12-0000-of-0001.h.1");
    let companion = folder.join("._n12-0000-of-0001.h.1.journal");
    fs::write(&companion, b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ").expect("room");
    fs::write(folder.join(".journal"), "a letter\n").expect("room");
    for (command, answer) in [("merge", TOTAL), ("status", "100\n"), ("verify", "0\n")] {
        let read = output(&[command, "--quiet", arg(&folder)]);
        assert_eq!(result(&read), (Some(0), answer, ""), "{command}");
    }
    let again = count_shard(N, 0, 1, &folder);
    assert_eq!((again.units_before, again.left_out.len()), (shard.units, 0));
    // Who names it gets it, with the truth about it.
    let named = output(&["merge", arg(&companion)]);
    refused(&named, 2, &["is not a journal of nqueens"]);
}

fn with_fault(folder: &Path, args: &[&str], faults: &[(&str, &str)]) -> Output {
    let mut command = nqueens(args);
    run(command.arg(folder).env("LD_PRELOAD", shim()).envs(faults.iter().copied()))
}

const NOT_ALLOWED: [(&str, &str); 3] =
    [("SHIM_FAIL", "open"), ("SHIM_ERRNO", "13"), ("SHIM_PATH", "b.journal")];

/// As one of another user.
#[test]
fn a_journal_that_may_not_be_read_is_not_damaged() {
    let whole = folder_with_two("folders-denied", usize::MAX);
    let part = folder_with_two("folders-denied-part", 9);
    for (folder, code) in [(&whole, 0), (&part, 3)] {
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
    // A shard counts what it cannot read.
    let shard = ["shard", "12", "--index", "0", "--shards", "1", "--out"];
    let counted = with_fault(&part, &shard, &NOT_ALLOWED);
    assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    assert!(stderr(&counted).contains("Permission denied"), "{counted:?}");
    // Nothing can be said of a folder if no journal of it can be read.
    let all = [NOT_ALLOWED[0], NOT_ALLOWED[1], ("SHIM_PATH", ".journal")];
    refused(&with_fault(&whole, &["merge"], &all), 1, &["Permission denied", "permissions"]);
}

/// A disk that opens a file but does not give its bytes has lost them.
#[test]
fn a_journal_that_the_disk_does_not_give_is_damaged() {
    let whole = folder_with_two("folders-disk", usize::MAX);
    let faults = [("SHIM_FAIL", "read"), ("SHIM_ERRNO", "5"), ("SHIM_PATH", "b.journal")];
    let read = with_fault(&whole, &["merge", "--quiet"], &faults);
    assert_eq!((read.status.code(), stdout(&read)), (Some(1), TOTAL), "{read:?}");
    assert!(stderr(&read).contains("cannot read the journal: Input/output error"), "{read:?}");
    assert!(stderr(&read).contains("check the disk"), "{read:?}");
}

#[test]
fn folders_of_others_are_passed_over() {
    let folder = fresh_folder("folders-others");
    set_aside(&count_shard(N, 0, 1, &folder), "q");
    let secret = folder.join("secret");
    fs::create_dir(&secret).expect("room");
    let mode = |mode| fs::set_permissions(&secret, fs::Permissions::from_mode(mode));
    mode(0).expect("it is ours");
    let is_kept_out = secret.read_dir().is_err();
    let status = output(&["status", "--quiet", arg(&folder)]);
    mode(0o700).expect("it is ours");
    if !is_kept_out {
        skip("root may read every folder");
    }
    assert_eq!(result(&status), (Some(0), "100\n", ""));
}

/// Others may pack and remove journals while they are read.
#[test]
fn a_journal_that_changes_between_two_readings_is_told() {
    let changes: [fn(&Path); 2] =
        [|path| fs::remove_file(path).expect("there"), |path| keep_lines(path, 3)];
    for change in changes {
        let folder = folder_with_two("folders-changed", usize::MAX);
        let path = folder.join("b.journal");
        let record = Record::read(std::slice::from_ref(&path)).expect("readable").expect("units");
        change(&path);
        let counts = record.counts(&UnitSet::from_iter(0..3));
        assert_eq!(journal_error(counts), JournalError::Changed);
    }
}

/// As some network file systems, and those of memory cards.
#[test]
fn a_file_system_that_can_only_rename_is_enough_to_pack_journals() {
    let folder = folder_with_two("folders-names", usize::MAX);
    let new = folder.join("new.journal");
    let pack = |names| {
        let into = ["merge", "--quiet", "--into", arg(&new)];
        with_fault(&folder, &into, &[("SHIM_NAMES", names)])
    };
    let names = || {
        let entries = fs::read_dir(&folder).expect("there").map(|entry| entry.expect("there"));
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let refused_by_all = pack("none");
    if refused_by_all.status.code() == Some(77) {
        return skip("this system has no seccomp");
    }
    refused(&refused_by_all, 1, &["new.journal: cannot write the journal"]);
    assert_eq!(names(), before, "nothing is left of it");
    let packed = pack("only-rename");
    assert_eq!((packed.status.code(), stdout(&packed)), (Some(0), TOTAL), "{packed:?}");
    assert!(contents(&new).is_complete());
    assert_eq!(names().len(), before.len() + 1, "no other file");
    let bytes = fs::read(&new).expect("there");
    refused(&pack("only-rename"), 2, &["already exists", "name another file"]);
    assert_eq!(fs::read(&new).expect("there"), bytes);
}
