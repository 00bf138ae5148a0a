//! Promise: no failing call on a journal loses a finished unit or goes unreported, what was counted is synced each
//! second and at the end, and counting does not wait for a slow disk. docs/JOURNAL.md makes this promise under "What is
//! promised". The tests run the program with a library that makes calls fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::errno::{EIO, ENOSPC, ENOSYS};
use crate::common::processes::{
    send, shim, units_found_by_resuming, wait_for_units, wait_until, wait_until_stopped,
};
use crate::common::{
    arg, contents, count_into, finish, fresh_folder, journal_in, keep_lines, nqueens, raise_counts,
    refused, result, run, some_units, spawn, stderr, without_reader,
};

/// Q(17): a second of work for one thread and the portable kernel.
const N: &str = "17";
const TOTAL: &str = "95815104\n";

/// A count that takes at least a second.
fn slow_count(folder: &Path) -> Command {
    count_into(N, folder, &["--kernel", "portable", "--threads", "1"])
}

/// The units in a folder, 0 if there are none.
fn units_in(folder: &Path) -> usize {
    some_units(folder).map_or(0, |record| record.units_done())
}

/// The folder of a finished count whose total is wrong, although every CRC and sum is right.
fn falsified(folder: &Path) -> PathBuf {
    let folder = folder.join("false");
    let args = ["--engine", "bitmask", "--threads", "1"];
    assert_eq!(run(&mut count_into("10", &folder, &args)).status.code(), Some(0));
    let raised =
        raise_counts(&journal_in(&folder), 2, |_, line| line.contains("units=0..1 solutions=64 "));
    assert_eq!(raised, [0], "the first unit has a line of its own");
    folder
}

#[test]
fn the_exit_code_does_not_depend_on_the_reader() {
    let folder = fresh_folder("record-exit");
    let wrong = falsified(&folder);
    let missing = folder.join("missing");
    fs::create_dir(&missing).expect("room");
    let part = missing.join("part.journal");
    fs::copy(journal_in(&wrong), &part).expect("room");
    keep_lines(&part, 4);
    let right = folder.join("right");
    assert!(run(&mut count_into("10", &right, &[])).status.success());
    let [wrong, missing, right] = [&wrong, &missing, &right].map(|path| arg(path));
    let cases: [(&[&str], i32, &str); 7] = [
        (&["count", "10", "--journal", wrong], 1, "differs from the published"),
        (&["verify", wrong], 1, "unit 0: "),
        (&["merge", wrong], 1, "differs from the published 724"),
        (&["status", wrong], 1, "differs from the published 724"),
        (&["merge", missing], 3, "lack"),
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

/// A power cut cannot be tested, so this looks at the calls.
#[test]
fn every_line_is_synced_and_so_is_the_name_of_the_journal() {
    let folder = fresh_folder("record-synced");
    let log = folder.join("log");
    let calls = || fs::read_to_string(&log).unwrap_or_default();
    let mut command = count_into("20", &folder.join("count"), &["-t", "1", "--kernel", "portable"]);
    let mut child = spawn(command.env("LD_PRELOAD", shim()).env("SHIM_LOG", &log));
    wait_until("three syncs", &mut child, || calls().matches("synced\n").count() >= 3);
    send("TERM", &child);
    assert_eq!(finish(child).status.code(), Some(3));
    let calls = calls();
    assert_eq!(calls.matches("folder\n").count(), 2, "the folder, and the one above: {calls}");
    let (_, after_last_write) = calls.rsplit_once("write\n").expect("lines were written");
    assert!(after_last_write.ends_with("sync\nsynced\n"), "{calls}");
}

/// As on a file server that takes minutes to write a file to its disks. Two signals end the program even so.
#[test]
fn records_do_not_wait_for_the_disk_and_survive_two_signals() {
    let folder = fresh_folder("record-slow");
    let journals = folder.join("count");
    let log = folder.join("log");
    let mut command = count_into("20", &journals, &["--kernel", "portable", "--threads", "1"]);
    command.env("LD_PRELOAD", shim()).env("SHIM_SYNC_MS", "600000").env("SHIM_LOG", &log);
    let mut child = spawn(&mut command);
    let syncs = || fs::read_to_string(&log).unwrap_or_default().replace("write\n", "");
    wait_until("a sync", &mut child, || syncs() == "sync\n");
    let before = units_in(&journals);
    let held = wait_for_units(&journals, &mut child, before);
    assert_eq!(syncs(), "sync\n", "the first sync has not ended");
    // Signals shortly after the first one are the same signal.
    let status = loop {
        send("TERM", &child);
        if let Some(status) = child.try_wait().expect("it was started") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), None, "killed by the signal");
    assert!(units_in(&journals) >= held);
    assert!(units_found_by_resuming("20", &journals) >= held);
}

#[test]
fn a_failed_sync_costs_no_total_and_no_line() {
    let folder = fresh_folder("record-sync").join("count");
    let mut command = count_into("13", &folder, &["--threads", "2"]);
    let output = run(command.env("LD_PRELOAD", shim()).env("SHIM_FAIL", "sync"));
    let (code, answer, message) = result(&output);
    assert_eq!((code, answer), (Some(1), "73712\n"), "all units are counted: {message}");
    let reason = "nqueens: Q(13) = 73712 is counted, but its journal is not complete: ";
    assert!(message.starts_with(reason), "{message}");
    assert!(message.contains("cannot sync the journal: Input/output error"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert_eq!(contents(&folder).total(), Some(73_712));
}

/// Nobody counts for hours what cannot be recorded.
#[test]
fn a_failed_write_or_sync_ends_the_count() {
    for (call, at) in [("write", "4"), ("sync", "2")] {
        let folder = fresh_folder(&format!("record-{call}-ends")).join("count");
        let args = ["--split-rows", "4", "--kernel", "portable", "--threads", "1"];
        let mut command = count_into("20", &folder, &args);
        command.env("LD_PRELOAD", shim()).env("SHIM_FAIL", call).env("SHIM_AT", at);
        let reason = format!("cannot {call} the journal: Input/output error");
        refused(&run(&mut command), 1, &[arg(&folder), &reason]);
        assert!(contents(&folder).units_done() > 0, "what was written before is good");
    }
}

/// Each call on the journal fails in turn: the count is exact, or one line gives the reason, and what was written
/// before is used by the same command. Locks and the syncs of folders may fail, because nothing relies on them.
#[test]
fn every_failing_call_is_reported_and_loses_no_record() {
    let folder = fresh_folder("record-io");
    let args = ["--threads", "2", "--engine", "subtrees", "--kernel", "portable"];
    let mut failures = 0;
    let needed = [("open", 1), ("write", 4), ("sync", 1)];
    let not_needed = [("lock", 1), ("folder", 1)];
    for (call, most) in needed.into_iter().chain(not_needed) {
        for (at, error) in (1..=most).flat_map(|at| [(at, EIO), (at, ENOSPC), (at, ENOSYS)]) {
            let journals = folder.join(format!("{call}-{at}-{error}"));
            let mut begin = count_into("13", &journals, &args);
            begin.env("LD_PRELOAD", shim()).env("SHIM_FAIL", call).env("SHIM_ERRNO", error);
            let output = run(begin.env("SHIM_AT", at.to_string()));
            let (code, answer, message) = result(&output);
            let case = format!("{call} {at} {error}: {code:?} {answer:?} {message:?}");
            match code {
                Some(0) => assert_eq!((answer, message), ("73712\n", ""), "{case}"),
                Some(1) => {
                    failures += 1;
                    assert!(!not_needed.contains(&(call, most)), "{case}");
                    assert!(answer.is_empty() || answer == "73712\n", "{case}");
                    assert_eq!(message.lines().count(), 1, "{case}");
                    assert!(message.contains(".journal: cannot "), "{case}");
                    assert_eq!(message.contains("make room"), error == ENOSPC, "{case}");
                }
                _ => panic!("{case}"),
            }
            let before = units_in(&journals);
            let again = run(&mut count_into("13", &journals, &args));
            assert_eq!(result(&again), (Some(0), "73712\n", ""), "{case}");
            assert!(units_in(&journals) >= before, "{case}");
        }
    }
    assert!(failures >= 9, "{failures} of the calls failed");
}

/// A stopped process takes wall time, but no CPU time.
#[test]
fn cpu_time_does_not_pass_while_a_process_is_stopped() {
    let folder = fresh_folder("record-stopped").join("count");
    let mut child = spawn(&mut slow_count(&folder));
    wait_for_units(&folder, &mut child, 0);
    send("STOP", &child);
    wait_until_stopped(&mut child);
    let pause = Duration::from_millis(500);
    std::thread::sleep(pause);
    send("CONT", &child);
    let output = finish(child);
    assert_eq!(result(&output), (Some(0), TOTAL, ""));
    let run = contents(&folder).runs().next().expect("a run").clone();
    // One thread counts, and it cannot use more than the time in which the process was not stopped.
    assert!(run.elapsed() >= run.cpu_time() + pause / 2, "{run:?}");
}

#[test]
fn escape_sequences_in_names_and_files_never_reach_the_terminal() {
    let folder = fresh_folder("record-escape");
    let named = folder.join("a\u{1b}[2Jb");
    let refused = run(&mut count_into("8", &named, &["--json", "--csv"]));
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(run(&mut count_into("8", &named, &[])).status.success());
    let journal = journal_in(&named);
    let good = fs::read_to_string(&journal).expect("text");
    let first = good.split_inclusive('\n').next().expect("a line");
    let behind = format!("{first}run machine=\u{1b}[2J\n\u{1b}]0;title\u{7}\n");
    let damages = [&good, "nqueens-journal \u{1b}[2J x\n", "\u{1b}]0;title\u{7}\n", &behind];
    for args in [&["count", "8", "--journal"][..], &["verify"], &["merge"], &["status"]] {
        for damage in damages {
            // A count makes a journal of its own.
            fs::remove_dir_all(&named).expect("it is there");
            fs::create_dir(&named).expect("room");
            fs::write(&journal, damage).expect("room");
            let output = run(nqueens(args).arg(&named));
            let escapes = |text: &str| text.contains(['\u{1b}', '\u{7}']);
            let (_, answer, message) = result(&output);
            assert!(!escapes(answer) && !escapes(stderr(&output)), "{answer:?} {message:?}");
        }
    }
}
