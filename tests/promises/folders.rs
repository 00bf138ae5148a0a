//! What lies in a folder beside good journals, and file systems that cannot do everything: no unit is lost, and what
//! cannot be read is not called damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use nqueens::record::{JournalError, Record, UnitSet};

use crate::common::processes::{send, shim, wait_until};
use crate::common::{
    NQUEENS, arg, contents, count_into, count_shard, finish, fresh, fresh_folder, journal_error,
    json, keep_lines, nqueens, output, refused, result, run, set_aside, spawn, stderr, stdout,
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
    // Who names it means it.
    let own = folder.join("n12-0000-of-0001.h.1.journal");
    let named = output(&["merge", "--quiet", arg(&companion), arg(&own)]);
    assert_eq!((named.status.code(), stdout(&named)), (Some(1), TOTAL), "{named:?}");
    assert!(stderr(&named).contains("left out: "), "{named:?}");
    assert_eq!(stderr(&named).lines().count(), 1, "{named:?}");
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
    for (folder, code) in [(&whole, 0), (&part, 4)] {
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
    refused(&with_fault(&whole, &["merge"], &all), 4, &["Permission denied", "permissions"]);
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
    let changes: [fn(&Path); 3] = [
        |path| fs::remove_file(path).expect("there"),
        |path| keep_lines(path, 3),
        // One bit of one count, on the way from the disk: a line less is good.
        |path| {
            let mut bytes = fs::read(path).expect("there");
            let at = bytes.len() - 12;
            bytes[at] ^= 1;
            fs::write(path, bytes).expect("room");
        },
    ];
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
    assert!(contents(&new).total().is_some());
    assert_eq!(names().len(), before.len() + 1, "no other file");
    let bytes = fs::read(&new).expect("there");
    refused(&pack("only-rename"), 2, &["already exists", "name another file"]);
    assert_eq!(fs::read(&new).expect("there"), bytes);
}

/// As with `ulimit -n 4`, on a machine without memory, or with a file server that has forgotten a file: the lines may
/// be good, so nobody may take the units for missing.
#[test]
fn a_journal_that_this_machine_cannot_read_is_neither_damaged_nor_missing() {
    let part = folder_with_two("folders-handles", 9);
    let (emfile, enomem, estale) = ("24", "12", "116");
    for (call, error) in [("open", emfile), ("open", enomem), ("read", estale), ("read", enomem)] {
        let faults = [("SHIM_FAIL", call), ("SHIM_ERRNO", error), ("SHIM_PATH", "b.journal")];
        for args in [&["merge"][..], &["status"], &["verify", "--units", "3"]] {
            let read = with_fault(&part, &[args, &["--json"]].concat(), &faults);
            assert_eq!(read.status.code(), Some(4), "{call} {error} {args:?}: {read:?}");
            assert!(stderr(&read).contains("ulimit -n"), "{read:?}");
            assert!(!stderr(&read).contains("prints the command"), "{read:?}");
            assert_eq!(json(&read)["damaged"], serde_json::json!([]), "{read:?}");
        }
        // Nor does a shard count them again.
        let shard = ["shard", "12", "--index", "0", "--shards", "1", "--out"];
        refused(&with_fault(&part, &shard, &faults), 4, &["b.journal: cannot", "ulimit -n"]);
    }
}

/// Text that went through Windows ends its lines with two bytes.
#[test]
fn line_ends_of_windows_change_nothing() {
    let folder = fresh_folder("folders-windows");
    let path = folder.join("q.journal");
    assert!(run(&mut count_into("12", &path, &[])).status.success());
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replace('\n', "\r\n")).expect("room");
    for args in [&["merge", "--quiet"][..], &["count", "12", "--quiet", "--journal"]] {
        assert_eq!(result(&run(nqueens(args).arg(&path))), (Some(0), TOTAL, ""));
    }
    // What is counted from now on stands behind it.
    fs::write(&path, text.lines().take(3).map(|line| line.to_owned() + "\r\n").collect::<String>())
        .expect("room");
    assert_eq!(result(&run(&mut count_into("12", &path, &[]))), (Some(0), TOTAL, ""));
    assert_eq!(result(&output(&["merge", "--quiet", arg(&path)])), (Some(0), TOTAL, ""));
}

#[test]
fn a_journal_from_a_pipe_is_refused_with_the_reason() {
    let folder = folder_with_two("folders-pipe", usize::MAX);
    let journal = folder.join("b.journal");
    let piped = format!("cat {} | {NQUEENS} merge /dev/stdin", journal.display());
    let read = run(Command::new("sh").args(["-c", &piped]));
    refused(&read, 2, &["is not a regular file: a folder, pipe or device cannot be a journal"]);
}

/// Snapshots and the like are in both or in none.
#[test]
fn hidden_folders_are_passed_over_and_others_are_read() {
    let folder = fresh_folder("folders-hidden");
    set_aside(&count_shard(N, 0, 2, &folder), "q");
    let [hidden, inner] = [".snapshot", "inner"].map(|name| folder.join(name));
    fs::create_dir(&hidden).expect("room");
    set_aside(&count_shard(N, 1, 2, &hidden), "r");
    for command in ["merge", "status"] {
        let read = output(&[command, "--json", arg(&folder)]);
        assert!(json(&read)["total"].is_null(), "{command}: {read:?}");
    }
    fs::rename(&hidden, &inner).expect("room");
    let status = output(&["status", "--json", arg(&folder)]);
    assert_eq!(json(&status)["files"], 2, "{status:?}");
}

/// A file with the name of a folder, one that is too long, and a disk without inodes: what to do is said.
#[test]
fn names_that_no_file_can_have_get_words_that_fit() {
    let folder = folder_with_two("folders-into", usize::MAX);
    let into = |name: &str, faults: &[(&str, &str)]| {
        let name = folder.join(name);
        with_fault(&folder, &["merge", "--into", arg(&name)], faults)
    };
    for name in [".", "new/"] {
        refused(&into(name, &[]), 2, &["name another file"]);
    }
    let long = "x".repeat(300) + ".journal";
    refused(&into(&long, &[]), 2, &["File name too long", "name another file"]);
    let count = run(&mut count_into("12", &folder.join(&long), &[]));
    refused(&count, 2, &["File name too long", "name another file"]);
    let full = [("SHIM_FAIL", "open"), ("SHIM_ERRNO", "28"), ("SHIM_PATH", ".nqueens-")];
    refused(&into("new.journal", &full), 1, &["make room (bytes or inodes)"]);
}

#[test]
fn a_stopped_packing_leaves_no_file() {
    let folder = folder_with_two("folders-stopped", usize::MAX);
    let names = || fs::read_dir(&folder).expect("there").count();
    let (before, log) = (names(), fresh("folders-stopped-syncs"));
    let mut pack = nqueens(&["merge", arg(&folder), "--into", arg(&folder.join("new.journal"))]);
    pack.env("LD_PRELOAD", shim()).env("SHIM_SYNC_MS", "1000").env("SHIM_SYNC_LOG", &log);
    let mut pack = spawn(pack.env("SHIM_PATH", ".nqueens-"));
    wait_until("a sync", &mut pack, || fs::read_to_string(&log).is_ok());
    assert_eq!(names(), before + 1, "its temporary file is there");
    send("TERM", &pack);
    let stopped = finish(pack);
    refused(&stopped, 3, &["stopped before the new journal was whole"]);
    assert_eq!(names(), before);
}

/// A new journal is read back from the disk before it is called good, not from the cache: what the cache holds is
/// dropped first.
#[test]
fn a_packed_journal_is_read_from_the_disk() {
    let folder = folder_with_two("folders-cache", usize::MAX);
    let into = folder.join("new.journal");
    let pack = |faults: &[(&str, &str)]| {
        with_fault(&folder, &["merge", "--quiet", "--into", arg(&into)], faults)
    };
    let killed = pack(&[("SHIM_FADVISE", "dies")]);
    if killed.status.code() == Some(77) {
        return skip("this system has no seccomp");
    }
    assert_eq!(killed.status.signal(), Some(signal_hook::consts::SIGSYS), "{killed:?}");
    assert!(!into.exists(), "it has no name before it was read back");
}
