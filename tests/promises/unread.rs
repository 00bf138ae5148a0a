//! Promise: a board that is being counted does not wait while nobody takes the output: a terminal that Ctrl-S has
//! stopped, a connection that stalls, a full pipe. An answer waits for its reader, and a second signal ends the
//! program. docs/STABLE.md makes this promise under "The command line".

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use signal_hook::consts::SIGTERM;

use crate::common::processes::{
    send, send_in_vain, shim, wait_for_exit, wait_for_units, wait_for_work, wait_until_blocked,
};
use crate::common::{
    Running, arg, contents, count_into, finish, fresh_folder, journal_in, json, nqueens, run,
    spawn, stderr,
};

/// A pipe that takes nothing more, because nobody reads from it.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().expect("a pipe");
    let flags = fcntl_getfl(&writer).expect("flags");
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).expect("flags");
    for length in [4096, 1] {
        while writer.write(&vec![b'x'; length]).is_ok() {}
    }
    assert_eq!(writer.write(b"x").expect_err("it is full").kind(), ErrorKind::WouldBlock);
    fcntl_setfl(&writer, flags).expect("flags");
    (reader, writer)
}

/// Commands that count on one thread for longer than any test waits, and show their progress.
const ONE_BOARD: [&[&str]; 4] = [
    &["count", "26", "--threads", "1", "--progress", "always"],
    &["table", "26", "--threads", "1", "--json", "--progress", "always"],
    &["estimate", "24", "--seconds", "600", "--threads", "1", "--progress", "always"],
    &["unit", "30", "5000"],
];

/// The first signal asks the program to stop, but it waits for its reader. The second ends it.
fn ends_by_the_second_signal(mut child: Running, args: &[&str]) {
    let pid = child.id();
    send_in_vain("TERM", &mut child, pid);
    send("TERM", &child);
    let status = wait_for_exit(&mut child);
    assert_eq!((status.code(), status.signal()), (None, Some(SIGTERM)), "{args:?}");
}

/// The first lines of progress come after a second. A thread that waited for their reader would never use more CPU time
/// than that.
#[test]
fn counting_does_not_depend_on_readers_and_a_second_signal_ends_it() {
    let folder = fresh_folder("unread-verify");
    assert!(run(&mut count_into("18", &folder, &[])).status.success());
    let verify = ["verify", arg(&folder), "--units", "20000", "-t", "1", "--progress", "always"];
    for args in ONE_BOARD.into_iter().chain([&verify[..]]) {
        for is_answer_read in [true, false] {
            let (reader, writer) = full_pipe();
            let mut command = nqueens(args);
            command.stdout(Stdio::null()).stderr(writer.try_clone().expect("a handle"));
            if !is_answer_read {
                command.stdout(writer);
            }
            let mut child = spawn(&mut command);
            drop(command);
            wait_for_work(&mut child, Duration::from_millis(1250));
            ends_by_the_second_signal(child, args);
            drop(reader);
        }
    }
}

/// Linux makes room in a pipe only when a whole page of it was read, which takes this reader four seconds.
#[test]
fn a_slow_reader_gets_its_answer_after_a_signal() {
    let (mut reader, writer) = full_pipe();
    let mut command = nqueens(&["count", "24", "--threads", "1", "--json"]);
    let mut child = spawn(command.stdout(writer));
    drop(command);
    wait_for_work(&mut child, Duration::from_millis(300));
    send("TERM", &child);
    let mut text = Vec::new();
    let mut bytes = [0; 500];
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(400));
        let read = reader.read(&mut bytes).expect("bytes");
        text.extend_from_slice(&bytes[..read]);
    }
    reader.read_to_end(&mut text).expect("the rest");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8(text).expect("text");
    assert!(text.trim_start_matches('x').starts_with("{\"n\":24,"), "{}", &text[text.len() - 50..]);
}

/// These commands wait for the reader of their answer or of a row, as every program does.
#[test]
fn a_second_signal_ends_commands_that_wait_for_the_reader_of_an_answer() {
    let commands: [&[&str]; 3] = [
        &["count", "10", "--quiet"],
        &["table", "2-26", "--threads", "1"],
        &["compare", "12-26", "--threads", "1", "--repeat", "1"],
    ];
    for args in commands {
        for is_stderr_read in [true, false] {
            let (reader, writer) = full_pipe();
            let mut command = nqueens(args);
            command.stdout(writer.try_clone().expect("a handle")).stderr(Stdio::null());
            if !is_stderr_read {
                command.stderr(writer);
            }
            let mut child = spawn(&mut command);
            drop(command);
            wait_until_blocked(&mut child);
            ends_by_the_second_signal(child, args);
            drop(reader);
        }
    }
}

/// The last lines of the journal take the disk two seconds.
#[test]
fn a_slow_disk_costs_no_answer() {
    let folder = fresh_folder("unread-slow-answer");
    let answer = folder.join("answer.json");
    let file = fs::File::create(&answer).expect("room");
    let mut command =
        nqueens(&["count", "22", "--threads", "1", "--json", "--journal", arg(&folder)]);
    command.stdout(file).env("LD_PRELOAD", shim()).env("SHIM_SYNC_MS", "2000");
    let mut child = spawn(&mut command);
    wait_for_units(&folder, &mut child, 0);
    send("TERM", &child);
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(stderr(&output).ends_with("; the same command resumes the count\n"), "{output:?}");
    let object: serde_json::Value =
        serde_json::from_slice(&fs::read(&answer).expect("a file")).expect("an object");
    assert_eq!(object["units"], 176_870);
}

#[test]
fn an_answer_waits_for_its_reader() {
    let (mut reader, writer) = full_pipe();
    let mut command = nqueens(&["count", "10", "--quiet"]);
    let mut child = spawn(command.stdout(writer));
    drop(command);
    wait_until_blocked(&mut child);
    assert_eq!(child.try_wait().expect("a status"), None, "it waits for its reader");
    let mut answer = String::new();
    reader.read_to_string(&mut answer).expect("text");
    assert!(answer.ends_with("x724\n"), "{answer}");
    assert_eq!(finish(child).status.code(), Some(0));
}

#[test]
fn rows_wait_for_their_reader_in_order() {
    let (mut reader, writer) = full_pipe();
    let mut command = nqueens(&["table", "4-12", "--csv"]);
    let mut child = spawn(command.stdout(writer));
    drop(command);
    wait_until_blocked(&mut child);
    let mut rows = String::new();
    reader.read_to_string(&mut rows).expect("text");
    assert_eq!(finish(child).status.code(), Some(0));
    let boards: Vec<&str> = rows.lines().filter_map(|row| row.split(',').next()).skip(1).collect();
    assert_eq!(boards, ["4", "5", "6", "7", "8", "9", "10", "11", "12"], "{rows}");
}

/// The object says how far the count came, and holds what the journal holds.
#[test]
fn a_stopped_count_prints_an_object() {
    let folder = fresh_folder("unread-stopped");
    let args = ["count", "24", "--json", "--journal", arg(&folder)];
    let mut child = spawn(&mut nqueens(&args));
    wait_for_units(&folder, &mut child, 0);
    send("TERM", &child);
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(stderr(&output).contains("stopped after "), "{output:?}");
    let object = json(&output);
    let record = contents(&folder);
    assert!(object["total"].is_null() && object["published"] == "unknown", "{object}");
    assert_eq!(object["units_done"], record.units_done());
    assert_eq!(object["solutions"], record.solutions().to_string());
    assert_eq!(object["units"], record.plan().units());
    assert_eq!(object["journal"]["file"], arg(&journal_in(&folder)));
    fs::remove_dir_all(folder).expect("it is there");
}

/// Solutions of large boards are rare, so these ten do not fill any buffer.
#[test]
fn whoever_reads_along_sees_every_solution_at_once() {
    let mut child = spawn(&mut nqueens(&["list", "32"]));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for _ in 0..10 {
        let line = lines.next().expect("a line").expect("text");
        assert_eq!(line.split(' ').count(), 32, "{line}");
    }
    assert_eq!(child.try_wait().expect("a status"), None, "more solutions are looked for");
}
