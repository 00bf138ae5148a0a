//! Promise: no failing call on a journal loses a finished unit or goes unreported, and counting does not wait for a
//! slow disk. docs/JOURNAL.md makes this promise under "A full or failing disk" and "Signals and faults of the
//! program". The tests run the program with a library that makes calls fail.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::errno::{
    EACCES, EBADF, EINVAL, EIO, ENOENT, ENOSPC, ENOSYS, ENOTSUP, ENOTTY, EROFS, ESTALE,
};
use crate::common::processes::{send, shim, wait_for_units, wait_until, wait_until_stopped};
use crate::common::{
    arg, as_folder, count_into, finish, fresh_folder, nqueens, raise_counts, refused, result, run,
    some_units, spawn, without_reader,
};

/// Q(17): a second of work for one thread and the portable kernel.
const N: &str = "17";
const TOTAL: &str = "95815104\n";

/// A count of some seconds.
fn slow_count(journal: &Path) -> Command {
    count_into(N, journal, &["--kernel", "portable", "--threads", "1"])
}

/// A finished journal whose total is wrong, although every CRC and sum is right.
fn falsified(folder: &Path) -> PathBuf {
    let path = folder.join("false.journal");
    let args = ["--engine", "bitmask", "--threads", "1"];
    assert_eq!(run(&mut count_into("10", &path, &args)).status.code(), Some(0));
    let raised = raise_counts(&path, 2, |_, line| line.contains("units=0..1 solutions=64 "));
    assert_eq!(raised, [0], "the first unit has a line of its own");
    path
}

#[test]
fn the_exit_code_does_not_depend_on_the_reader() {
    let folder = fresh_folder("record-exit");
    let wrong = falsified(&folder);
    let wrong = arg(&wrong);
    let right = folder.join("right.journal");
    assert!(run(&mut count_into("10", &right, &[])).status.success());
    let right = arg(&right);
    let missing = folder.join("missing.journal");
    let lines = fs::read_to_string(wrong).expect("text");
    let some: Vec<&str> = lines.split_inclusive('\n').take(4).collect();
    fs::write(&missing, some.concat()).expect("the folder can be written");
    let missing = arg(&missing);
    let cases: [(&[&str], i32, &str); 7] = [
        (&["count", "10", "--journal", wrong], 1, "differs from the published"),
        (&["verify", wrong], 1, "unit 0 is recorded with 66"),
        (&["merge", wrong], 1, "differs from the published 724"),
        (&["status", wrong], 1, "differs from the published 724"),
        (&["merge", missing], 3, "the journals lack "),
        (&["verify", "--units", "0", missing], 0, "not finished"),
        (&["merge", right], 0, ""),
    ];
    for (args, code, reason) in cases {
        for json in [&[][..], &["--json"]] {
            let command = || {
                let mut command = nqueens(args);
                command.args(json);
                command
            };
            let read = run(&mut command());
            assert_eq!(result(&read).0, Some(code), "{args:?}: {read:?}");
            assert!(result(&read).2.contains(reason), "{args:?}: {read:?}");
            let unread = without_reader(&mut command());
            let (ended, _, message) = result(&unread);
            assert_eq!((ended, message), (Some(code), result(&read).2), "{args:?} {json:?}");
        }
    }
    // Nor does a full disk change it.
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = run(nqueens(&["merge", missing, "--json"]).stdout(full));
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}

/// As on a file server that takes seconds to write a file to its disks.
#[test]
fn records_do_not_wait_for_the_disk() {
    let folder = fresh_folder("record-slow");
    let path = folder.join("q.journal");
    let log = folder.join("synced");
    let mut command = count_into("20", &path, &["--kernel", "portable", "--threads", "1"]);
    command.env("LD_PRELOAD", shim()).env("SHIM_SYNC_MS", "20000").env("SHIM_SYNC_LOG", &log);
    let mut child = spawn(&mut command);
    let logged = || fs::read_to_string(&log).unwrap_or_default();
    wait_until("a sync", &mut child, || logged() == "begun ");
    let before = some_units(&path).map_or(0, |record| record.sum().units);
    wait_for_units(&path, &mut child, before);
    assert_eq!(logged(), "begun ", "the first sync has not ended");
    // After the first signal it prints what it is waiting for; a second one ends it, and the records
    // stay.
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut said = || lines.next().expect("a line").expect("text");
    let wanted = "nqueens: waiting for the disk; ";
    send("TERM", &child);
    let at_the_end = said();
    assert!(at_the_end.starts_with(wanted), "{at_the_end}");
    let held = some_units(&path).expect("units").sum().units;
    // Signals shortly after the first one are the same.
    let status = loop {
        send("TERM", &child);
        if let Some(status) = child.try_wait().expect("it was started") {
            break status;
        }
    };
    assert_eq!(status.code(), None, "killed by the signal");
    assert!(some_units(&path).expect("units").sum().units >= held);
}

/// Nobody waits for the disk without knowing the result.
#[test]
fn the_total_is_told_before_the_disk_has_the_last_lines() {
    let path = fresh_folder("record-slow-end").join("q.journal");
    let mut command = count_into("12", &path, &[]);
    let output = run(command.env("LD_PRELOAD", shim()).env("SHIM_SYNC_MS", "1500"));
    let (code, answer, message) = result(&output);
    assert_eq!((code, answer), (Some(0), "14200\n"), "{message}");
    assert!(
        message.contains("all units are counted, 14200 solutions; waiting for the disk"),
        "{message}"
    );
}

/// After a sync that failed, the system takes what was lost for written, so it is cut off.
#[test]
fn what_a_failed_sync_lost_is_counted_again() {
    let path = fresh_folder("record-sync").join("q.journal");
    let mut command = count_into("13", &path, &["--threads", "2"]);
    command.env("LD_PRELOAD", shim()).env("SHIM_FAIL", "sync").env("SHIM_TIMES", "1");
    let output = run(&mut command);
    let (code, answer, message) = result(&output);
    assert_eq!((code, answer), (Some(1), "73712\n"), "all units are counted: {message}");
    let wanted = "the disk did not take the last lines of the journal";
    assert!(message.contains(wanted) && message.contains("cut back"), "{message}");
    assert_eq!(result(&run(&mut count_into("13", &path, &[]))), (Some(0), "73712\n", ""));
    assert!(some_units(&path).expect("all").total().is_some());
}

/// Nobody counts for hours what cannot be recorded.
#[test]
fn a_failed_write_ends_the_count() {
    let path = fresh_folder("record-write").join("q.journal");
    let args = ["--split-rows", "4", "--kernel", "portable", "--threads", "1"];
    let mut command = count_into("18", &path, &args);
    command.env("LD_PRELOAD", shim()).env("SHIM_FAIL", "write").env("SHIM_ERRNO", EIO);
    let output = run(command.env("SHIM_AT", "4"));
    refused(&output, 1, &["q.journal: ", "check the disk, then run the same command again"]);
    assert!(some_units(&path).is_some_and(|record| record.total().is_none()));
}

/// Many file systems (CIFS, FUSE, those of WSL) cannot sync folders, each with an error of its own. The file is on disk
/// all the same. Only an error that tells of a fault is worth a warning.
#[test]
fn a_folder_that_cannot_be_synced_is_a_warning_at_most() {
    let folder = fresh_folder("record-sync-folder");
    let silent = [EBADF, EACCES, EINVAL, ENOTTY, EROFS, ENOSYS, ENOTSUP];
    for error in [ENOENT, EIO, ESTALE].into_iter().chain(silent) {
        for place in [folder.join(format!("{error}.journal")), as_folder(&folder.join(error))] {
            let mut command = count_into("10", &place, &["--threads", "2"]);
            command.env("LD_PRELOAD", shim()).env("SHIM_FAIL", "folder").env("SHIM_ERRNO", error);
            let output = run(&mut command);
            let (code, answer, message) = result(&output);
            assert_eq!((code, answer), (Some(0), "724\n"), "{error}: {message}");
            if silent.contains(&error) {
                assert_eq!(message, "", "{error}");
            } else {
                let warning = "the journal is on disk, but its folder could not be synced";
                assert!(message.starts_with("nqueens: warning: "), "{error}: {message}");
                assert!(message.contains(warning), "{error}: {message}");
                assert_eq!(message.lines().count(), 1, "{error}: {message}");
            }
            assert!(some_units(&place).expect("all").total().is_some(), "{error}");
        }
    }
}

/// Each call on the journal fails in turn: the count is exact, or one line gives the reason, and the
/// records can be resumed.
#[test]
fn every_failing_call_is_reported_and_loses_no_record() {
    let folder = fresh_folder("record-io");
    let args = ["--threads", "2", "--engine", "subtrees", "--kernel", "portable"];
    let mut failures = 0;
    let calls = [
        ("open", 4),
        ("read", 4),
        ("write", 6),
        ("sync", 6),
        ("folder", 2),
        ("truncate", 2),
        ("lock", 2),
    ];
    for (call, most) in calls {
        for at in 1..=most {
            for error in [EIO, ENOSPC] {
                let path = folder.join(format!("{call}-{at}-{error}.journal"));
                let mut begin = count_into("13", &path, &args);
                begin.env("LD_PRELOAD", shim()).env("SHIM_FAIL", call).env("SHIM_ERRNO", error);
                let output = run(begin.env("SHIM_AT", at.to_string()));
                let (code, answer, message) = result(&output);
                let case = format!("{call} {at} {error}: {code:?} {answer:?} {message:?}");
                match code {
                    Some(0) if call == "folder" && !message.is_empty() => {
                        assert!(message.contains("its folder could not be synced"), "{case}");
                        assert_eq!(answer, "73712\n", "{case}");
                    }
                    Some(0) => assert_eq!((answer, message), ("73712\n", ""), "{case}"),
                    Some(1 | 2) => {
                        failures += 1;
                        assert!(answer.is_empty() || answer == "73712\n", "{case}");
                        assert_eq!(message.lines().count(), 1, "{case}");
                        assert!(message.contains(".journal: "), "{case}");
                        let no_room = error == ENOSPC && call != "lock";
                        assert_eq!(message.contains("make room"), no_room, "{case}");
                    }
                    _ => panic!("{case}"),
                }
                let before = some_units(&path).map_or(0, |contents| contents.sum().units);
                let again = run(&mut count_into("13", &path, &args));
                assert_eq!(result(&again), (Some(0), "73712\n", ""), "{case}");
                assert!(some_units(&path).expect("all").sum().units >= before, "{case}");
            }
        }
    }
    assert!(failures > 10, "{failures} of the calls were made");
}

#[test]
fn a_named_journal_needs_locks_and_a_folder_does_not() {
    let folder = fresh_folder("record-locks");
    let path = folder.join("q.journal");
    let without_locks = |command: &mut Command| {
        run(command.env("LD_PRELOAD", shim()).env("SHIM_FAIL", "lock").env("SHIM_ERRNO", ENOSYS))
    };
    let words = ["cannot lock the journal", "name a folder (with a slash behind it)"];
    refused(&without_locks(&mut count_into("12", &path, &[])), 2, &words);
    let place = as_folder(&folder.join("q12"));
    for args in [&["--shard", "0/2"][..], &[]] {
        let counted = without_locks(&mut count_into("12", &place, args));
        assert_eq!((counted.status.code(), result(&counted).2), (Some(0), ""), "{args:?}");
    }
    // Reading asks for no lock at all. Only `status` looks for the processes that write.
    for args in [&["merge", "--quiet"][..], &["merge", "--missing"], &["verify", "--units", "3"]] {
        let mut command = nqueens(args);
        command.arg(&place).env("LD_PRELOAD", shim()).env("SHIM_LOCKS", "die");
        assert_eq!(run(&mut command).status.code(), Some(0), "{args:?}");
    }
    let status = without_locks(nqueens(&["status", "--quiet"]).arg(&place));
    assert_eq!(result(&status), (Some(0), "100\n", ""));
}

/// A stopped process takes wall time, but no CPU time.
#[test]
fn cpu_time_does_not_pass_while_a_process_is_stopped() {
    let path = fresh_folder("record-stopped").join("q.journal");
    let mut child = spawn(&mut slow_count(&path));
    wait_for_units(&path, &mut child, 0);
    let stopped = std::time::Instant::now();
    send("STOP", &child);
    wait_until_stopped(&mut child);
    let pause = Duration::from_millis(500);
    std::thread::sleep(pause.saturating_sub(stopped.elapsed()));
    send("CONT", &child);
    let output = finish(child);
    assert_eq!(result(&output), (Some(0), TOTAL, ""));
    let run = some_units(&path).expect("units").files()[0].runs[0].clone();
    // One thread counts, and it cannot use more than the time in which the process was not stopped.
    assert!(run.elapsed >= run.cpu_time + pause / 2, "{run:?}");
}

#[test]
fn escape_sequences_in_names_and_files_never_reach_the_terminal() {
    let folder = fresh_folder("record-escape");
    let named = folder.join("a\u{1b}[2Jb.journal");
    let output = run(&mut count_into("8", &named, &["--json"]));
    assert_eq!(output.status.code(), Some(2), "--json and --quiet: {output:?}");
    assert!(run(&mut count_into("8", &named, &[])).status.success());
    for args in [&["count", "8", "--journal"][..], &["verify"], &["merge"], &["status"]] {
        let first = fs::read_to_string(&named).expect("text");
        let first = first.split_inclusive('\n').next().expect("a line");
        let behind = format!("{first}run machine=\u{1b}[2J\n\u{1b}]0;title\u{7}\n");
        let damages = [None, Some("nqueens-journal \u{1b}[2J x\n"), Some("\u{1b}]0;title\u{7}")];
        for damage in damages.into_iter().chain([Some(&*behind)]) {
            if let Some(damage) = damage {
                fs::write(&named, damage).expect("the folder can be written");
            }
            let output = run(nqueens(args).arg(&named));
            let (_, answer, message) = result(&output);
            let escapes = |text: &str| text.contains(['\u{1b}', '\u{7}']);
            assert!(!escapes(answer) && !escapes(message), "{args:?}: {answer:?} {message:?}");
        }
        let _ = fs::remove_file(&named);
        assert!(run(&mut count_into("8", &named, &[])).status.success());
    }
}
