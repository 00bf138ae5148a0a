//! Real signals sent to the real program.

#![cfg(unix)]

#[path = "common/processes.rs"]
mod processes;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use processes::send;

fn start(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_nqueens"))
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Sends a signal to a count that is under way; it must say how far it came.
fn stops(mut child: Child, mut talk: impl BufRead, signal: &str, args: &[&str]) {
    send(signal, &child);
    let mut message = String::new();
    talk.read_to_string(&mut message).expect("text");
    let status = child.wait().expect("ended");
    assert_eq!(status.code(), Some(3), "{args:?}, SIG{signal}: {message}");
    assert!(message.contains("stopped after "), "{args:?}, SIG{signal}: {message}");
    assert!(message.contains(" units, "), "{args:?}, SIG{signal}: {message}");
}

fn talk_of(child: &mut Child) -> BufReader<impl Read + use<>> {
    BufReader::new(child.stderr.take().expect("piped"))
}

/// Counts of hours. Their first line of progress tells that units have been finished.
#[test]
fn the_first_signal_stops_the_count_and_says_how_far_it_came() {
    let commands: [&[&str]; 3] = [
        &["count", "24", "--progress", "always"],
        &["count", "24", "--kernel", "portable", "--progress", "always"],
        &["table", "24..=25", "--progress", "always"],
    ];
    for args in commands {
        for signal in ["INT", "TERM"] {
            let mut child = start(args);
            let mut talk = talk_of(&mut child);
            let mut line = String::new();
            while !line.contains(" units, ") {
                line.clear();
                assert_ne!(talk.read_line(&mut line).expect("text"), 0, "{args:?} ended");
            }
            stops(child, talk, signal, args);
        }
    }
}

/// Units of hours do not end first. Nothing that comes before them takes a noticeable time, so a
/// program that has worked for a while is at work on them.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_stops_a_count_within_a_unit() {
    let commands: [&[&str]; 2] = [
        &["count", "24", "--engine", "subtrees", "--split-rows", "1"],
        &["count", "20", "--engine", "permutation"],
    ];
    for args in commands {
        for signal in ["INT", "TERM"] {
            let mut child = start(args);
            let talk = talk_of(&mut child);
            processes::wait_for_work(&child, std::time::Duration::from_millis(500));
            stops(child, talk, signal, args);
        }
    }
}

/// The program cannot end after the first signal because nobody reads what it has to say, which is
/// more than a pipe holds.
#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_kills() {
    use std::os::unix::process::ExitStatusExt;

    let mut child = Command::new(env!("CARGO_BIN_EXE_nqueens"))
        .args(["list", "13"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    processes::wait_until_blocked(&child);
    send("INT", &child);
    processes::wait_until_interrupt_is_delivered(&child);
    processes::wait_until_blocked(&child);
    assert_eq!(child.try_wait().expect("a status"), None, "it waits to write");
    send("INT", &child);
    let pipe = child.stdout.take(); // `wait` would close it, and so end the program's wait
    let status = child.wait().expect("ended");
    assert_eq!((status.code(), status.signal()), (None, Some(2)));
    drop(pipe);
}
