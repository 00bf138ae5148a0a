//! Promise: wrong usage is exit code 2, and a message that says what is allowed. docs/JSON.md makes this promise under
//! "Exit codes".

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::common::{arg, fresh, fresh_folder, nqueens, output, refused, run, stderr};

#[test]
fn bad_input_gets_a_clear_message() {
    let cases: &[(&[&str], &str)] = &[
        (&["frobnicate"], "frobnicate"),
        (&["help", "frobnicate"], "frobnicate"),
        (&["8"], "'nqueens count 8'"),
        (&["count"], "arguments were not provided:\n  <N>\n"),
        (&["count", "8", "--journal", ""], "a value is required for '--journal <FOLDER>'"),
        (
            &["count", "8", "--journal", "Cargo.toml"],
            "move this file into one, and name the folder",
        ),
        (&["count", "8", "--shard", "0/2"], "were not provided:\n  --journal <FOLDER>\n"),
        (&["count", "8", "--shard", "2/2", "-j", "x/"], "'2/2' is not a shard: choose 0/2 to 1/2"),
        (&["count", "8", "--shard=-1/2", "-j", "x/"], "write INDEX/SHARDS, such as 3/12"),
        (&["count", "8", "--shard", "1", "-j", "x/"], "write INDEX/SHARDS, such as 3/12"),
        (&["count", "8", "--shard", "x/5", "-j", "x/"], "write INDEX/SHARDS, such as 3/12"),
        (
            &["count", "8", "--shard", "0/0", "-j", "x/"],
            "'0' is not a number of shards: choose 1 to 1000000",
        ),
        (&["merge"], "FILE|FOLDER"),
        (&["merge", "src", "--shards", "0"], "--shards"),
        (&["count", "8", "--shard", "0/1000001", "-j", "x/"], "choose 1 to 1000000"),
        (&["count", "8", "--shard", "0/2", "-j", "x/", "--fundamental"], "--fundamental"),
        (&["status", "nofile"], "name a file or folder that exists"),
        (&["merge", "src", "nofile"], "name a file or folder that exists"),
        (&["verify", "nofile"], "name a file or folder that exists"),
        (&["merge", "nofile", "--missing"], "name a file or folder that exists"),
        (&["merge", "nofile", "--missing", "--json"], "--json"),
        (&["estimate", "8", "--seconds", "0"], "choose 1ms to 1000000s"),
        (&["count", "8", "--json=1"], "unexpected value '1' for '--json'"),
        (&["count", "8", "-t"], "a value is required for '--threads <T>'"),
        (&["count", "x"], "0 to 32"),
        (&["count", "--", "-1"], "0 to 32"),
        (&["count", "33"], "0 to 32"),
        (&["count", "8.5"], "0 to 32"),
        (&["count", "99999999999999999999"], "0 to 32"),
        (&["count", "8", "--threads", "0"], "choose 1 to "),
        (&["count", "8", "--threads", "99999999"], "--threads"),
        (&["count", "8", "--engine", "foo"], "[possible values: permutation, "),
        (&["count", "8", "--kernel", "foo"], "[possible values: portable, "),
        (&["count", "8", "--split-rows", "9"], "9 is not in 1..=4"),
        (&["count", "8", "--split-rows", "0"], "--split-rows"),
        (&["count", "8", "--progress", "foo"], "never, auto, always"),
        (&["count", "8", "--json", "--quiet"], "--quiet"),
        (&["count", "8", "--frobnicate"], "--frobnicate"),
        (&["table", "9-3"], "3-9"),
        (&["table", "1..16"], "'1..16' is not a board size"),
        (&["table", "1..=33"], "0 to 32"),
        (&["table", "30-40"], "'30-40' for '[N]...': '40' is not a board size: choose 0 to 32"),
        (&["table", "--csv", "--json"], "--json"),
        (&["unit", "14", "890"], "unit 890: choose 0 to 889"),
        (&["unit", "1", "1"], "unit 1: choose 0\n"),
        (&["unit", "8", "0", "--split-rows", "5"], "5 is not in 1..=4"),
        (&["count", "8", "--shard", "1/1", "-j", "x/"], "'1/1' is not a shard: choose 0/1\n"),
        (
            &["count", "8", "--shard", "99999999999999999999/3", "-j", "x/"],
            "'99999999999999999999/3' is not a shard: choose 0/3 to 2/3\n",
        ),
        (
            &["count", "8", "--shard", "0/99999999999999999999", "-j", "x/"],
            "'99999999999999999999' is not a number of shards: choose 1 to 1000000\n",
        ),
        (&["list", "0", "--place", "a1"], "the board has no squares"),
        (&["list", "1", "--place", "b1"], "choose a1, the only one"),
        (
            &["count", "33"],
            "invalid value '33' for '<N>': '33' is not a board size: choose 0 to 32\n\n",
        ),
    ];
    for (args, reason) in cases {
        refused(&output(args), 2, &[reason]);
    }
}

/// Every option and argument that takes a number, with the words for a number that is out of range.
#[test]
fn refused_numbers_come_with_the_numbers_that_are_allowed() {
    let numbers: &[(&[&str], &[&str], &str)] = &[
        (&["count"], &["33"], "choose 0 to 32\n"),
        (&["table"], &["33"], "choose 0 to 32\n"),
        (&["list"], &["33"], "choose 0 to 32\n"),
        (&["compare"], &["33"], "choose 0 to 32\n"),
        (&["estimate"], &["33"], "choose 0 to 32\n"),
        (&["unit"], &["33"], "choose 0 to 32\n"),
        (&["unit", "8"], &[], ""),
        (&["count", "8", "--split-rows"], &["0", "5"], "is not in 1..=4\n"),
        (&["unit", "8", "0", "--split-rows"], &["0", "5"], "is not in 1..=4\n"),
        (&["count", "8", "--threads"], &["0", "100000"], "choose 1 to "),
        (&["compare", "8", "--threads"], &["0", "100000"], "choose 1 to "),
        (&["compare", "8", "--repeat"], &["0", "100001"], "is not in 1..=100000\n"),
        (&["compare", "8", "--seconds-limit"], &["0", "1000001"], "choose 1ms to 1000000s\n"),
        (&["estimate", "8", "--seconds"], &["0s", "12d"], "choose 1ms to 1000000s\n"),
        (&["estimate", "8", "--cores"], &["0", "100000001"], "is not in 1..=100000000\n"),
        (&["list", "8", "--limit"], &[], ""),
        (&["verify", "x", "--units"], &[], ""),
        (&["verify", "x", "--seed"], &[], ""),
        (&["merge", "x", "--shards"], &["0", "1000001"], "is not in 1..=1000000\n"),
    ];
    for (args, outside, allowed) in numbers {
        for number in *outside {
            let reason = format!("invalid value '{number}' for ");
            refused(&output(&[*args, &[number]].concat()), 2, &[&reason, allowed]);
        }
        for bad in ["x", "99999999999999999999999"] {
            let reason = format!("invalid value '{bad}' for ");
            refused(&output(&[*args, &[bad]].concat()), 2, &[&reason]);
        }
    }
}

/// Shells replace `~` only at the beginning of a word, so the program would make a folder of that name, and whoever
/// removes it by that name loses the home folder.
#[test]
fn a_path_that_begins_with_a_tilde_is_refused() {
    let folder = fresh_folder("usage-tilde");
    let in_it = |args: &[&str]| run(nqueens(args).current_dir(&folder));
    let options: &[(&[&str], &str)] = &[
        (&["count", "8", "--journal"], "--journal <FOLDER>"),
        (&["status", ".", "--html"], "--html <FILE>"),
        (&["compare", "8", "--svg"], "--svg <FILE>"),
        (&["compare", "8", "--against"], "--against <FILE>"),
        (&["man", "--out"], "--out <FOLDER>"),
        (&["merge"], "<FILE|FOLDER>..."),
        (&["status"], "<FILE|FOLDER>..."),
        (&["verify"], "<FILE|FOLDER>..."),
    ];
    for (args, option) in options {
        for path in ["~", "~/", "~/q.svg", "~/q.html", "~user/q"] {
            let reason = format!(
                "invalid value '{path}' for '{option}': the shell did not expand ~: write $HOME/... or put a space in \
                 place of =\n"
            );
            refused(&in_it(&[*args, &[path]].concat()), 2, &[&reason]);
        }
        refused(&in_it(&[*args, &[""]].concat()), 2, &["a value is required for"]);
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
    // A folder may have such a name all the same.
    assert_eq!(in_it(&["count", "8", "--journal=./~q"]).status.code(), Some(0));
    assert_eq!(in_it(&["merge", "./~q"]).status.code(), Some(0));
}

/// Boards of this size take hours.
#[test]
fn a_file_or_folder_that_cannot_be_made_is_refused_before_the_count() {
    for args in [
        &["count", "24", "--journal", "nodir/x"][..],
        &["count", "24", "--journal", "nodir/x/"],
        &["count", "24", "--journal", "Cargo.toml/x"],
        &["compare", "24", "--svg", "nodir/x.svg"],
    ] {
        let output = output(args);
        assert_ne!(output.status.code(), Some(0), "{output:?}");
        refused(&output, output.status.code().unwrap_or(0), &[args[3].trim_end_matches('/')]);
    }
}

/// The parser leaves escape sequences out, and the rest is escaped. No colours are printed, even if they are wanted.
#[test]
fn what_a_terminal_would_obey_in_an_argument_is_not_printed() {
    let cases: &[(&[&[u8]], &str)] = &[
        (&[b"a\x1b[2Jb\x07"], "unrecognized subcommand 'ab'\n"),
        (&[b"count", b"a\x1b[2J\nb\rc"], "b\\u{d}c' for '<N>'"),
        (&[b"count", b"\xff\r"], "invalid UTF-8"),
        (&[b"count", "\u{9b}2J".as_bytes()], "'\\u{9b}2J'"),
        (&[b"count", b"8", b"--\x1b]0;title\x07"], "unexpected argument '--"),
        (&[b"count", b"8", b"--engine", "\u{202e}".as_bytes()], "\\u{202e}"),
        (&[b"count", b"8", b"--journal", b"~\x1b[2Jd/x"], "'~d/x' for '--journal <FOLDER>'"),
    ];
    for (args, shown) in cases {
        let mut command = nqueens(&[]);
        command.args(args.iter().map(|arg| OsStr::from_bytes(arg)));
        let output = run(command.env("CLICOLOR_FORCE", "1"));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let message = stderr(&output);
        assert!(message.contains(shown), "no '{shown}' in: {message:?}");
        assert!(!message.replace('\n', "").contains(char::is_control), "{message:?}");
    }
}

#[test]
fn an_option_of_another_command_is_refused() {
    for args in [
        &["verify", "x", "--kernel", "portable"][..],
        &["table", "8", "--place", "a1"],
        &["count", "8", "--shards", "2"],
        &["merge", "x", "--into", "y.journal"],
        &["estimate", "8", "--shard", "0/2"],
    ] {
        refused(&output(args), 2, &["unexpected argument"]);
    }
}

/// The system's folder of processes takes no file, not even from root.
#[cfg(target_os = "linux")]
#[test]
fn no_message_names_a_temporary_file() {
    let journal = fresh("cli-temporary.journal");
    let path = arg(&journal);
    assert_eq!(output(&["count", "8", "--journal", path]).status.code(), Some(0));
    for args in [
        &["status", path, "--html", "/proc/new.html"][..],
        &["compare", "8", "--svg", "/proc/new.svg"],
    ] {
        let output = output(args);
        refused(&output, output.status.code().unwrap_or(0), &["/proc/new", "(os error"]);
        assert!(!stderr(&output).contains("/."), "{output:?}");
    }
}
