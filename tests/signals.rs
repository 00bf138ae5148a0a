//! Real signals sent to the real program.

#![cfg(unix)]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// A count of hours, some way into its work.
fn long_count(args: &[&str]) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_nqueens"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    sleep(Duration::from_millis(700));
    child
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status();
    assert!(sent.expect("kill is installed").success(), "the program runs");
}

fn end_of(child: Child) -> Output {
    child.wait_with_output().expect("the program ends")
}

#[test]
fn the_first_signal_stops_the_count_and_says_how_far_it_came() {
    let commands: [&[&str]; 5] = [
        &["count", "24"],
        &["count", "20", "--kernel", "portable"],
        &["count", "24", "--engine", "subtrees", "--split-rows", "1"],
        &["count", "20", "--engine", "permutation"],
        &["table", "24..=25"],
    ];
    for args in commands {
        for signal in ["INT", "TERM"] {
            let child = long_count(args);
            send(signal, &child);
            let output = end_of(child);
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{args:?}, SIG{signal}: {message}");
            assert!(message.contains("stopped after "), "{args:?}, SIG{signal}: {message}");
            assert!(message.contains(" units, "), "{args:?}, SIG{signal}: {message}");
        }
    }
}

/// The program cannot end after the first signal because nobody reads what it has to say.
#[test]
fn a_second_signal_kills() {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let full = writer.try_clone().expect("a second handle");
    spawn(move || writer.write_all(&[0; 1 << 20])); // fills the pipe and waits
    sleep(Duration::from_millis(300));
    let mut child = Command::new(env!("CARGO_BIN_EXE_nqueens"))
        .args(["table", "1..=8"])
        .stdout(full)
        .spawn()
        .expect("the program starts");
    sleep(Duration::from_millis(300));
    send("INT", &child);
    sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().expect("a status"), None, "it waits to write");
    send("INT", &child);
    let status = child.wait().expect("ended");
    assert_eq!((status.code(), status.signal()), (None, Some(2)));
    drop(reader);
}
