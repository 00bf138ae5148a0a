//! Completions parse in real shells; the manual page names every command.

use std::io::Write;
use std::process::{Command, Stdio};

const NQUEENS: &str = env!("CARGO_BIN_EXE_nqueens");

const COMMANDS: [&str; 12] = [
    "count",
    "table",
    "estimate",
    "list",
    "shard",
    "merge",
    "status",
    "verify",
    "cpu",
    "completions",
    "man",
    "--journal",
];

fn output(args: &[&str]) -> String {
    let output = Command::new(NQUEENS).args(args).output().expect("the program starts");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{args:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = output(&["completions", shell]);
        for name in COMMANDS {
            assert!(script.contains(name.trim_start_matches('-')), "{shell}: {name} is missing");
        }
    }
    let unknown = Command::new(NQUEENS).args(["completions", "csh"]).output().expect("started");
    assert_eq!(unknown.status.code(), Some(2));
}

/// The shell reads its completions and finds nothing to complain about.
fn parses_in(shell: &str) {
    let script = output(&["completions", shell]);
    let parser = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut parser = parser.unwrap_or_else(|error| panic!("this test needs {shell}: {error}"));
    let mut pipe = parser.stdin.take().expect("piped");
    pipe.write_all(script.as_bytes()).expect("the shell reads");
    drop(pipe);
    let parsed = parser.wait_with_output().expect("ended");
    let complaint = String::from_utf8_lossy(&parsed.stderr);
    assert!(parsed.status.success() && complaint.is_empty(), "{shell}: {complaint}");
}

/// Tests that `cargo test` leaves out: each lies in a module that is named after what it needs, fails
/// without it, and runs by `cargo test -- --ignored`.
mod needs_bash {
    #[test]
    #[ignore = "needs bash"]
    fn completions_parse() {
        super::parses_in("bash");
    }
}

/// See `needs_bash`.
mod needs_zsh {
    #[test]
    #[ignore = "needs zsh"]
    fn completions_parse() {
        super::parses_in("zsh");
    }
}

/// See `needs_bash`.
mod needs_fish {
    #[test]
    #[ignore = "needs fish"]
    fn completions_parse() {
        super::parses_in("fish");
    }
}

#[test]
fn the_manual_page_names_every_command() {
    let page = output(&["man"]);
    assert!(page.contains(".TH nqueens 1"), "{page}");
    for name in COMMANDS {
        assert!(page.contains(&name.replace('-', "\\-")), "{name} is missing");
    }
}

#[test]
fn the_version_tells_where_it_comes_from() {
    assert_eq!(output(&["-V"]), format!("nqueens {}\n", env!("CARGO_PKG_VERSION")));
    let long = output(&["--version"]);
    for part in ["commit   ", "target   ", "kernels  portable"] {
        assert!(long.contains(part), "{long}");
    }
}
