//! Completions parse in real shells; the manual page names every command.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{output, result};

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

/// What the program prints if it has no messages.
fn printed(args: &[&str]) -> String {
    let output = output(args);
    let (code, printed, messages) = result(&output);
    assert_eq!((code, messages), (Some(0), ""), "{args:?}");
    printed.to_owned()
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        for name in COMMANDS {
            assert!(script.contains(name.trim_start_matches('-')), "{shell}: {name} is missing");
        }
    }
    assert_eq!(output(&["completions", "csh"]).status.code(), Some(2));
}

/// The shell reads its completions without an error.
fn parses_in(shell: &str) {
    let script = printed(&["completions", shell]);
    let parser = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut parser = parser.unwrap_or_else(|error| panic!("this test needs {shell}: {error}"));
    let mut pipe = parser.stdin.take().expect("piped");
    pipe.write_all(script.as_bytes()).expect("the shell reads");
    drop(pipe);
    let parsed = parser.wait_with_output().expect("ended");
    let complaint = String::from_utf8_lossy(&parsed.stderr);
    assert!(parsed.status.success() && complaint.is_empty(), "{shell}: {complaint}");
}

/// Tests that `cargo test` skips and `cargo test -- --ignored` runs. Each is in a module named after
/// what it needs, and fails without it.
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
    let page = printed(&["man"]);
    assert!(page.contains(".TH nqueens 1"), "{page}");
    for name in COMMANDS {
        assert!(page.contains(&name.replace('-', "\\-")), "{name} is missing");
    }
    for section in ["\"EXIT STATUS\"", "ENVIRONMENT", "EXAMPLES\n.nf\n  nqueens count 18 "] {
        assert!(page.contains(&format!(".SH {section}")), "{section}: {page}");
    }
}

#[test]
fn the_page_of_a_command_explains_its_options() {
    let page = printed(&["man", "count"]);
    for text in [
        ".SH SYNOPSIS\n",
        "this many rows in a prefix",
        "Engine that counts",
        concat!("\"nqueens ", env!("CARGO_PKG_VERSION"), "\""),
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

/// The short help has what most need, the long one everything.
#[test]
fn options_for_experts_are_in_the_long_help() {
    for command in ["count", "table", "estimate", "shard", "verify"] {
        let [short, long] = ["-h", "--help"].map(|help| printed(&[command, help]));
        let (_, experts) = long.split_once("Engine and machine:\n").expect("a heading");
        assert!(experts.contains("--kernel") && !short.contains("--kernel"), "{short}");
        assert!(short.contains("--threads") && !experts.contains("--threads"), "{long}");
    }
}

#[test]
fn the_long_version_names_the_build() {
    assert_eq!(printed(&["-V"]), format!("nqueens {}\n", env!("CARGO_PKG_VERSION")));
    let long = printed(&["--version"]);
    assert!(long.contains(", commit "), "{long}");
}
