//! Promise: `compare --against FILE` compares with the rows that `compare --json` printed on another machine or with
//! another version, and refuses every other file with the reason. docs/PERFORMANCE.md makes this promise under "Another
//! machine or version".

use std::process::Output;

use serde_json::Value;

use super::compare::{beside_waiting, compare, has_interval};
use crate::common::{fresh, refused, stderr, stdout};

/// A row that an earlier version printed, on another machine.
const EARLIER: &str = r#"{"n":8,"engine":"colours","kernel":"portable","threads":1,"repeats":3,"median_seconds":0.5,"min_seconds":0.4,"max_seconds":0.6,"ratio":1.0,"total":"92","cpu":"Intel(R) Xeon(R) Processor","ratio_error":0.0,"reference":"colours portable on 1 thread","run_seconds":[0.6,0.4,0.5]}"#;

/// Compares engine colours with a file that has this text.
fn against(name: &str, text: &str, args: &[&str]) -> Output {
    let file = crate::common::fresh_folder(name).join("earlier.json");
    std::fs::write(&file, text).expect("room");
    let engine = ["8", "--engines", "colours", "--kernels", "portable", "--repeat", "2"];
    compare(&[&engine[..], &["--against", crate::common::arg(&file)], args].concat())
}

#[test]
fn ratios_are_to_the_same_rows_of_an_earlier_file() {
    // A newer version may have more fields, and another machine other rows: other kernels, more threads.
    let newer = EARLIER.replace("{\"n\"", "{\"clock\":{\"GHz\":[2.6]},\"n\"");
    let others = EARLIER.replace("portable\",", "avx9000\",") + &EARLIER.replace(":1,", ":512,");
    let text = format!("{others}\n{newer}\n");
    let output = against("compare-earlier", &text, &["--threads", "1,2", "--json"]);
    assert_eq!((output.status.code(), beside_waiting(&output).as_str()), (Some(0), ""));
    let rows: Vec<Value> = stdout(&output).lines().flat_map(serde_json::from_str).collect();
    let number = |name: &str| rows[0][name].as_f64().expect(name);
    assert!((number("ratio") * number("median_seconds") / 0.5 - 1.0).abs() < 1e-3, "{rows:?}");
    assert!(number("ratio_error") > 0.1 * number("ratio"), "the file scatters: {rows:?}");
    assert!(rows[0]["reference"].as_str().expect("text").ends_with("compare-earlier/earlier.json"));
    assert!(rows.len() == 2 && rows[1]["ratio"].is_null(), "the file has one thread: {rows:?}");
    assert!(rows[1]["speed_up"].is_f64(), "{rows:?}");

    // What it prints can be read again.
    let output = against("compare-again", stdout(&output), &["--threads", "2,1"]);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert!(lines[1].ends_with("compare-again/earlier.json, ± two standard errors"), "{lines:?}");
    assert!(lines[4..].iter().all(|line| has_interval(line)), "{lines:?}");
}

#[test]
fn a_total_that_differs_from_an_earlier_file_fails() {
    let text =
        format!("{}\n{EARLIER}\n", EARLIER.replace("\"92\"", "\"93\"").replace(":1,", ":2,"));
    let output = against("compare-differs", &text, &["--threads", "1,2", "--csv"]);
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    let wanted = format!(
        "nqueens: Q(8) = 92 by colours portable on 2 threads of {host} differs from 93 in "
    );
    let message = beside_waiting(&output);
    assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1));
    assert!(message.starts_with(&wanted), "{message}");
    assert!(message.ends_with("compare-differs/earlier.json: one of them is wrong\n"));
    assert_eq!(stdout(&output).lines().count(), 3, "both rows are there");
}

#[test]
fn a_file_that_is_no_earlier_comparison_is_wrong_usage() {
    let none = "it has no row for these boards, engines, kernels and threads";
    let empty = "the file is empty: name one that 'nqueens compare --json' has printed";
    let bad = |line: usize, why: &str| {
        format!("line {line} is not a row of 'nqueens compare --json': {why}")
    };
    // The row that is wrong comes after a good one.
    let behind = |row: String| format!("{}\n\n{row}\n", EARLIER.replace(":1,", ":512,"));
    let with_times = |times: &str| behind(EARLIER.replace("[0.6,0.4,0.5]", times));
    let with_total = |total: &str| behind(EARLIER.replace("\"92\"", total));
    let no_time =
        |time: &str| bad(3, &format!("its run_seconds hold {time}, which is not the time"));
    let counted = crate::common::output(&["count", "8", "--json"]);
    let tabled = crate::common::output(&["table", "8", "--json"]);
    for (text, reason) in [
        (String::new(), empty.to_owned()),
        (" \n\n".to_owned(), empty.to_owned()),
        (EARLIER.replace(":8,", ":9,"), none.to_owned()),
        (EARLIER.replace(":8,", ":4294967304,"), none.to_owned()),
        ("n,engine,kernel,threads\n".to_owned(), bad(1, "it cannot be read from column 2 on")),
        ("{}".to_owned(), bad(1, "it has no total")),
        ("[]".to_owned(), bad(1, "it is not a JSON object")),
        (stdout(&counted).to_owned(), bad(1, "it has no run_seconds")),
        (stdout(&tabled).to_owned(), bad(1, "it has no run_seconds")),
        (with_total("\"ninety\""), bad(3, "its total is 'ninety', which is no number")),
        (with_total("\"-92\""), bad(3, "its total is '-92', which is no number")),
        (with_total("92"), bad(3, "its total is 92, which is no text in quotes")),
        (
            behind(EARLIER.replace("\"n\":8", "\"n\":8.5")),
            bad(3, "its n is 8.5, which is no whole"),
        ),
        (behind(EARLIER.replace("\"threads\":1,", "")), bad(3, "it has no threads")),
        (with_times("[]"), bad(3, "its run_seconds hold no time")),
        (with_times("0.6"), bad(3, "its run_seconds are not a list")),
        (with_times("[0.6,0,0.5]"), no_time("0")),
        (with_times("[0.6,-0.0,0.5]"), no_time("-0.0")),
        (with_times("[0.6,-0.4,0.5]"), no_time("-0.4")),
        (with_times("[0.6,1e300,0.5]"), no_time("1e+300")),
        (with_times("[0.6,null,0.5]"), no_time("null")),
        (with_times("[0.6,\"0.4\",0.5]"), no_time("\"0.4\"")),
        (with_times("[0.6,1e999,0.5]"), bad(3, "it cannot be read from column ")),
        (with_times("[0.6,NaN,0.5]"), bad(3, "it cannot be read from column ")),
        (with_times("[0.6,\"\u{1b}\",0.5]"), bad(3, "it cannot be read from column ")),
        (behind(EARLIER[..90].to_owned()), bad(3, "it is cut off")),
    ] {
        let output = against("compare-no-file", &text, &["--threads", "1"]);
        refused(&output, 2, &["--against ", "compare-no-file/earlier.json: ", &reason]);
        for jargon in ["expected ", "invalid", "at line", "`"] {
            assert!(!stderr(&output).contains(jargon), "{output:?}");
        }
    }
    let file = fresh("compare-no-text.json");
    std::fs::write(&file, [EARLIER.as_bytes(), b"\n\xff\n"].concat()).expect("room");
    let output = compare(&["8", "--against", crate::common::arg(&file)]);
    refused(&output, 2, &[&bad(2, "it is not text")]);
    refused(
        &compare(&["8", "--against", "/nowhere/e.json"]),
        2,
        &["--against /nowhere/e.json: No such file"],
    );
    // A file that is there but cannot be read is no wrong usage. Nobody can follow a link to itself.
    let link = fresh("compare-loop.json");
    std::os::unix::fs::symlink(&link, &link).expect("room");
    let output = compare(&["8", "--against", crate::common::arg(&link)]);
    refused(&output, 1, &["Too many levels of symbolic links", "check the disk"]);
}

/// Of two rows the first would be taken without a word, although the second may be newer.
#[test]
fn two_reports_in_one_file_are_wrong_usage() {
    let newer = EARLIER.replace("0.6,", "0.7,");
    let twice = format!("{EARLIER}\n{}\n{newer}\n", EARLIER.replace(":1,", ":2,"));
    let output = against("compare-twice", &twice, &["--threads", "1"]);
    let reason = "lines 1 and 3 are both of n = 8, colours portable on 1 thread: keep one report in the file";
    refused(&output, 2, &["--against ", reason]);
    // Rows of other boards, kernels and threads are no repetition, and neither is a row for each of these here.
    let others = format!(
        "{EARLIER}\n{}\n{}\n",
        EARLIER.replace(":8,", ":9,"),
        EARLIER.replace(":1,", ":2,")
    );
    assert_eq!(against("compare-once", &others, &["--threads", "1"]).status.code(), Some(0));
}
