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
        (&["count", "8", "--journal", "-"], "cannot write to standard output here"),
        (&["count", "8", "--journal", ""], "a value is required for '--journal <FOLDER>'"),
        (&["count", "8", "--journal", "nodir/x.journal"], "make folder ./nodir first"),
        (&["count", "8", "--journal", "nodir/x/"], "make folder ./nodir first"),
        (&["count", "8", "--journal=~/x.journal"], "the shell has not replaced ~"),
        (
            &["count", "8", "--journal", "Cargo.toml"],
            "move this file into one, and name the folder",
        ),
        (&["count", "8", "--shard", "0/2"], "were not provided:\n  --journal <FOLDER>\n"),
        (&["count", "8", "--shard", "2/2", "-j", "x/"], "'2/2' is not a shard: choose 0/2 to 1/2"),
        (&["count", "8", "--shard", "-1/2", "-j", "x/"], "write INDEX/SHARDS, such as 3/12"),
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
        (&["compare", "8", "--svg", "/nodir/x.svg"], "make folder /nodir first"),
        (&["status", "src", "--html", "nodir/x.html"], "make folder ./nodir first"),
        (&["status", "nofile"], "name a file or folder that exists"),
        (&["merge", "src", "nofile"], "name a file or folder that exists"),
        (&["verify", "nofile"], "name a file or folder that exists"),
        (&["merge", "nofile", "--missing"], "name a file or folder that exists"),
        (&["merge", "nofile", "--missing", "--json"], "--json"),
        (&["estimate", "8", "--seconds", "0"], "a time like 1m30s"),
        (&["count", "8", "--json=1"], "unexpected value '1' for '--json'"),
        (&["count", "8", "-t"], "a value is required for '--threads <T>'"),
        (&["count", "x"], "0 to 32"),
        (&["count", "-1"], "0 to 32"),
        (&["count", "33"], "0 to 32"),
        (&["count", "8.5"], "0 to 32"),
        (&["count", "99999999999999999999"], "0 to 32"),
        (&["count", "8", "9"], "'9'"),
        (&["count", "8", "--threads", "0"], "choose 1 to "),
        (&["count", "8", "--threads", "-3"], "choose 1 to "),
        (&["count", "8", "--threads", "99999999"], "--threads"),
        (&["count", "8", "--engine", "foo"], "[possible values: permutation, "),
        (&["count", "8", "--kernel", "foo"], "[possible values: portable, "),
        (&["count", "8", "--split-rows", "9"], "1 to 4"),
        (&["count", "8", "--split-rows", "0"], "--split-rows"),
        (&["count", "8", "--progress", "foo"], "never, auto, always"),
        (&["count", "8", "--json", "--quiet"], "--quiet"),
        (&["count", "8", "--frobnicate"], "--frobnicate"),
        (&["table", "9-3"], "3-9"),
        (&["table", "1..16"], "write 1-16"),
        (&["table", "1..=33"], "0 to 32"),
        (&["table", "30-40"], "'30-40' for '[N]...': '40' is not a board size: choose 0 to 32"),
        (&["table", "--csv", "--json"], "--json"),
        (&["unit", "14", "890"], "unit 890: choose 0 to 889"),
        (&["unit", "1", "1"], "unit 1: choose 0\n"),
        (&["unit", "8", "0", "--split-rows", "5"], "choose 1 to 4"),
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

/// Every option and argument that takes a number, on the way to a value that is none.
#[test]
fn refused_numbers_come_with_the_numbers_that_are_allowed() {
    let any = "choose a whole number from 0 on\n";
    let numbers: &[(&[&str], &str)] = &[
        (&["count"], "choose 0 to 32\n"),
        (&["table"], "choose 0 to 32\n"),
        (&["list"], "choose 0 to 32\n"),
        (&["compare"], "choose 0 to 32\n"),
        (&["estimate"], "choose 0 to 32\n"),
        (&["unit"], "choose 0 to 32\n"),
        (&["unit", "8"], any),
        (&["unit", "8", "0", "--split-rows"], "choose 1 to 4\n"),
        (&["count", "8", "--split-rows"], "choose 1 to 4\n"),
        (&["count", "8", "--threads"], "choose 1 to "),
        (&["compare", "8", "--threads"], "choose 1 to "),
        (&["compare", "8", "--repeat"], "choose 1 to 100000\n"),
        (&["compare", "8", "--seconds-limit"], "choose 0.001 to 1000000 seconds"),
        (&["estimate", "8", "--seconds"], "choose 0.001 to 1000000 seconds"),
        (&["list", "8", "--limit"], any),
        (&["verify", "x", "--units"], any),
        (&["verify", "x", "--seed"], "choose 0 to 18446744073709551615\n"),
        (&["merge", "x", "--shards"], "choose 1 to 1000000\n"),
    ];
    for (args, allowed) in numbers {
        for bad in ["x", "-1", "1,5x", "99999999999999999999"] {
            let refusal = output(&[*args, &[bad]].concat());
            refused(&refusal, 2, &[bad.split(',').next_back().expect("a word"), allowed]);
            for jargon in ["digit", "too large", "integer", "fit in"] {
                assert!(!stderr(&refusal).contains(jargon), "{refusal:?}");
            }
        }
    }
}

/// Even if colours are wanted, because these are escape sequences of the parser.
#[test]
fn what_a_terminal_would_obey_in_an_argument_is_escaped() {
    let folder = fresh_folder("usage-control");
    fs::create_dir(folder.join("a\\u{1b}[2Jb")).expect("the folder can be written");
    let cases: &[(&[&[u8]], &str)] = &[
        (&[b"a\x1b[2J\nb"], "'a\\u{1b}[2J\\u{a}b'"),
        (&[b"count", b"a\x1b[2J\nb"], "'a\\u{1b}[2J\\u{a}b' is not a board size"),
        (&[b"count", b"\xff\r"], "'\u{fffd}\\u{d}' is not a board size"),
        (&[b"count", b"8", b"--\x1b]0;title\x07"], "--\\u{1b}]0;title\\u{7}"),
        (&[b"count", b"8", b"--engine", "\u{202e}".as_bytes()], "\\u{202e}"),
        // With everything escaped, the first path leads into a folder that exists.
        (&[b"count", b"0", b"--journal", b"a\x1b[2Jb/x.journal"], "make folder ./a"),
        (
            &[b"count", b"0", b"--journal", b"c\x1b[2Jd/x.journal"],
            "make folder ./c\\u{1b}[2Jd first",
        ),
    ];
    for variable in ["NO_COLOR", "CLICOLOR_FORCE"] {
        for (args, shown) in cases {
            let mut command = nqueens(&[]);
            command.args(args.iter().map(|arg| OsStr::from_bytes(arg))).current_dir(&folder);
            let output = run(command.env(variable, "1"));
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            let message = stderr(&output);
            let mut plain = message.to_owned();
            for colour in ["0", "1", "4", "31", "32", "33"] {
                plain = plain.replace(&format!("\u{1b}[{colour}m"), "");
            }
            assert!(plain.contains(shown), "no '{shown}' in: {plain:?}");
            assert!(!plain.replace('\n', "").contains(char::is_control), "{plain:?}");
            assert_eq!(message == plain, variable == "NO_COLOR", "{message:?}");
        }
    }
}

#[test]
fn an_option_of_another_command_is_refused() {
    for args in [
        &["verify", "x", "--kernel", "portable"][..],
        &["count", "8", "--place", "a1"],
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
