//! Promise: `compare --against FILE` compares with the rows that `compare --json` printed on another machine or with
//! another version, and refuses every other file. docs/PERFORMANCE.md makes this promise under "Another machine or
//! version".

use std::process::Output;

use serde_json::Value;

use super::compare::{beside_warning, compare, has_interval};
use crate::common::{fresh, host_name, refused, stdout};

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
    assert_eq!((output.status.code(), beside_warning(&output).as_str()), (Some(0), ""));
    let rows: Vec<Value> = stdout(&output).lines().flat_map(serde_json::from_str).collect();
    let number = |name: &str| rows[0][name].as_f64().expect(name);
    assert!((number("ratio") * number("median_seconds") / 0.5 - 1.0).abs() < 1e-3, "{rows:?}");
    assert!(number("ratio_error") > 0.1 * number("ratio"), "the file scatters: {rows:?}");
    assert!(rows[0]["reference"].as_str().expect("text").ends_with("compare-earlier/earlier.json"));
    assert_eq!(rows[0]["reference_kernel"], "portable", "not the other one: {rows:?}");
    assert!(rows.len() == 2 && rows[1]["ratio"].is_null(), "the file has one thread: {rows:?}");
    assert!(rows[1]["reference_kernel"].is_null() && rows[1]["speed_up"].is_f64(), "{rows:?}");

    // What it prints can be read again.
    let output = against("compare-again", stdout(&output), &["--threads", "2,1"]);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert!(
        lines[1].ends_with("compare-again/earlier.json, ± half of the 95% interval"),
        "{lines:?}"
    );
    assert!(lines[5..].iter().all(|line| has_interval(line)), "{lines:?}");
    assert!(!stdout(&output).contains("is compared with kernel"), "{lines:?}");
}

/// As between a machine with AVX2 and one with AVX-512, whose default kernels differ.
#[test]
fn a_file_with_another_kernel_is_compared_by_engine_and_threads() {
    let file = EARLIER.replace("portable", "avx9000");
    let output = against("compare-kernel", &file, &["--threads", "1,2", "--json"]);
    assert_eq!((output.status.code(), beside_warning(&output).as_str()), (Some(0), ""));
    let rows: Vec<Value> = stdout(&output).lines().flat_map(serde_json::from_str).collect();
    assert!(rows[0]["ratio"].is_f64() && rows[0]["kernel"] == "portable", "{rows:?}");
    assert_eq!(rows[0]["reference_kernel"], "avx9000", "{rows:?}");
    assert!(rows[1]["ratio"].is_null(), "other threads: {rows:?}");

    let output = against("compare-kernel", &file, &["--threads", "1"]);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    let named = lines[2].strip_prefix("colours portable is compared with kernel avx9000 in ");
    assert!(named.is_some_and(|file| file.ends_with("compare-kernel/earlier.json")), "{lines:?}");
    assert!(has_interval(lines.last().expect("a row")), "{lines:?}");

    // The total counts whatever the kernel.
    let wrong = file.replace("\"92\"", "\"93\"");
    let output = against("compare-kernel", &wrong, &["--threads", "1"]);
    assert_eq!(output.status.code(), Some(1));

    // Nobody knows which of two other kernels is meant.
    let two = format!("{file}\n{}\n", EARLIER.replace("portable", "avx9001"));
    let output = against("compare-kernel", &two, &["--threads", "1"]);
    refused(&output, 2, &["it has no row for these boards, engines, kernels and threads"]);
}

#[test]
fn a_total_that_differs_from_an_earlier_file_fails() {
    let text =
        format!("{}\n{EARLIER}\n", EARLIER.replace("\"92\"", "\"93\"").replace(":1,", ":2,"));
    let output = against("compare-differs", &text, &["--threads", "1,2", "--csv"]);
    let host = host_name();
    let wanted = format!(
        "nqueens: Q(8) = 92 by colours portable on 2 threads of {host} differs from 93 in "
    );
    let message = beside_warning(&output);
    assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1));
    assert!(message.starts_with(&wanted), "{message}");
    assert!(message.ends_with("compare-differs/earlier.json: one of them is wrong\n"));
    assert_eq!(stdout(&output).lines().count(), 3, "both rows are there");
}

#[test]
fn a_file_that_is_no_earlier_comparison_is_wrong_usage() {
    let with_times =
        |times: &str| format!("{EARLIER}\n{}\n", EARLIER.replace("[0.6,0.4,0.5]", times));
    let counted = crate::common::output(&["count", "8", "--json"]);
    let tabled = crate::common::output(&["table", "8", "--json"]);
    for text in [
        "n,engine,kernel,threads\n",
        "{}",
        "[]",
        stdout(&counted),
        stdout(&tabled),
        &EARLIER[..90],
        &EARLIER.replace("\"n\":8", "\"n\":8.5"),
        &EARLIER.replace("\"threads\":1,", ""),
        &EARLIER.replace("\"total\":\"92\",", ""),
        // No ratio of such times is a number above 0.
        &with_times("[]"),
        &with_times("[0.6,0,0.5]"),
        &with_times("[0.6,-0.0,0.5]"),
        &with_times("[0.6,-0.4,0.5]"),
        &with_times("[0.6,1e300,0.5]"),
        &with_times("[0.6,1e999,0.5]"),
        &with_times("[0.6,NaN,0.5]"),
        &with_times("[0.6,null,0.5]"),
        &with_times("[0.6,\"\u{1b}\",0.5]"),
    ] {
        let output = against("compare-no-file", text, &["--threads", "1"]);
        let what = "compare-no-file/earlier.json: it is not what 'nqueens compare --json' prints: ";
        refused(&output, 2, &["--against ", what, " at line ", " column "]);
    }
    let none = "it has no row for these boards, engines, kernels and threads";
    for text in [String::new(), EARLIER.replace(":8,", ":9,"), EARLIER.replace("colours", "rows")] {
        refused(&against("compare-no-row", &text, &["--threads", "1"]), 2, &[none]);
    }
    let file = fresh("compare-no-text.json");
    std::fs::write(&file, [EARLIER.as_bytes(), b"\n\xff\n"].concat()).expect("room");
    let output = compare(&["8", "--against", crate::common::arg(&file)]);
    refused(&output, 2, &["at line 2 column 1"]);
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

/// Extreme times give extreme ratios, which are numbers nevertheless.
#[test]
fn every_ratio_is_a_number() {
    for times in ["[1e-9,1e9]", "[1e-9,1e-9,1e9]", "[1e9,1e9]"] {
        let text = EARLIER.replace("[0.6,0.4,0.5]", times);
        let output = against("compare-extreme", &text, &["--threads", "1", "--json"]);
        let row: Value = serde_json::from_str(stdout(&output)).expect("one row");
        for name in ["ratio", "ratio_error"] {
            assert!(row[name].as_f64().is_some_and(|number| number > 0.0), "{name}: {row}");
        }
    }
}

#[test]
fn the_last_of_two_rows_of_one_kind_holds() {
    let text = format!("{}\n{EARLIER}\n", EARLIER.replace("[0.6,0.4,0.5]", "[60,40,50]"));
    let output = against("compare-twice", &text, &["--threads", "1", "--json"]);
    let row: Value = serde_json::from_str(stdout(&output)).expect("one row");
    let number = |name: &str| row[name].as_f64().expect(name);
    assert!((number("ratio") * number("median_seconds") / 0.5 - 1.0).abs() < 1e-3, "{row}");
}
