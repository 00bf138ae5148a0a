//! Promise: the four programs in `examples/` show how the library is used, and work. The documentation of the library
//! names them.
//!
//! `cargo test` builds them before it runs the tests. Whoever runs only this test has to build them first:
//! `cargo build --examples`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::{arg, fresh, run, stdout};

/// Returns the command that runs an example.
fn example(name: &str, args: &[&str]) -> Command {
    let tests = std::env::current_exe().expect("this test");
    let folder: PathBuf = tests.ancestors().nth(2).expect("a folder").join("examples");
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "{}: run cargo build --examples first", program.display());
    let mut command = Command::new(program);
    command.args(args);
    command
}

#[test]
fn a_count_shows_its_progress_and_is_cancelled() {
    let counted = run(&mut example("progress", &["15", "600"]));
    let said = "Q(15) = 2279184, compared with the published number: agrees\n";
    assert_eq!(stdout(&counted), said, "{counted:?}");
    let stopped = run(&mut example("progress", &["25", "0.2"]));
    assert!(stdout(&stopped).contains(" units after 0.2 s\n"), "{stopped:?}");
}

#[test]
fn a_count_is_forecast_stopped_resumed_and_verified() {
    let folder = fresh("programs-journal");
    let answer = run(&mut example("journal", &["14", arg(&folder)]));
    let lines: Vec<&str> = stdout(&answer).lines().collect();
    let [expected, stopped, left, resumed, verified] = lines[..] else { panic!("{answer:?}") };
    assert!(
        expected.starts_with("expected: ") && expected.ends_with(" s on 16 CPUs"),
        "{expected}"
    );
    assert!(stopped.starts_with("stopped after ") && left.starts_with("left: "), "{lines:?}");
    assert!(resumed.ends_with(" units: Q(14) = Some(365596)"), "{resumed}");
    assert_eq!(verified, "recounted 50 units, 0 differ");
}

#[test]
fn shards_are_processes_and_two_passes_agree() {
    let folder = fresh("programs-shards");
    let answer = run(&mut example("shards", &["8", arg(&folder)]));
    let text = stdout(&answer);
    assert_eq!(text.matches(" pass: ").count(), 4, "{text}");
    assert!(text.contains(" units counted twice, 0 differ\nQ(8) = Some(92), compared with the published number: agrees\n"), "{text}");
    assert_eq!(text.matches('♛').count() + text.matches('♕').count(), 16, "{text}");
}

#[test]
fn a_server_says_how_far_a_count_is() {
    // The count takes a second, so that it is not over before this thread asks, also on a busy machine.
    let mut server =
        example("server", &["19", "0"]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(server.stdout.take().expect("piped")).lines();
    let address = lines.next().expect("a line").expect("text");
    let address = address.strip_prefix("http://").expect("an address");
    let mut answers = Vec::new();
    // It ends with the count.
    while let Ok(mut stream) = TcpStream::connect(address) {
        let mut answer = String::new();
        if stream.write_all(b"GET / HTTP/1.0\r\n\r\n").is_ok()
            && stream.read_to_string(&mut answer).is_ok()
        {
            answers.push(answer);
        }
    }
    let is_percentage =
        |answer: &String| answer.starts_with("HTTP/1.0 200 OK\r\n") && answer.contains(" %");
    assert!(answers.iter().any(is_percentage), "{answers:?}");
    assert_eq!(lines.next().expect("a line").expect("text"), "Q(19) = Some(4968057848)");
    assert!(server.wait().expect("it ends").success());
}
