//! Real runs of `nqueens compare`: rows, ratios, the picture, exit codes.

use std::process::{Command, Output};

use nqueens::{Engine, Kernel};
use serde_json::Value;

use crate::common::{finish, fresh, nqueens, refused, run, spawn, stderr, stdout};

const FIELDS: &str = "n,engine,kernel,threads,repeats,median_seconds,min_seconds,max_seconds,\
                      ratio,total,cpu,ratio_error,reference,speed_up,speed_up_error,efficiency";

fn command(args: &[&str]) -> Command {
    let mut command = nqueens(&["compare"]);
    command.args(args);
    command
}

fn compare(args: &[&str]) -> Output {
    run(&mut command(args))
}

fn rows(args: &[&str]) -> Vec<Value> {
    let output = compare(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = stdout(&output).lines();
    lines.map(|line| serde_json::from_str(line).expect("one JSON value a line")).collect()
}

#[test]
fn csv_has_the_promised_columns() {
    let output = compare(&["8", "6..=7", "--threads", "1,2", "--repeat", "2", "--csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert_eq!(lines[0], FIELDS);
    let mut boards = Vec::new();
    for line in &lines[1..] {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |field: &&str| field.parse::<f64>().expect("a number");
        assert!(fields[3..10].iter().map(number).all(|number| number > 0.0), "{line}");
        assert_eq!((fields[4], fields.len()), ("2", 16), "{line}");
        assert_eq!(fields[12], format!("subtrees {} on 1 thread", Kernel::detect()), "{line}");
        boards.push(format!("Q({}) = {}", fields[0], fields[9]));
    }
    let wanted = ["Q(6) = 4"; 4].into_iter().chain(["Q(7) = 40"; 4]).chain(["Q(8) = 92"; 4]);
    assert_eq!(boards, wanted.collect::<Vec<_>>());
}

#[test]
fn json_rows_have_consistent_figures() {
    let rows = rows(&["13", "--engines", "bitmask,colours,subtrees", "--threads", "2,1"]);
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    let engines = ["bitmask", "bitmask", "colours", "colours", "subtrees", "subtrees"];
    assert_eq!(column("engine"), engines);
    assert_eq!(column("threads"), [2, 1, 2, 1, 2, 1]);
    assert_eq!(column("total"), ["73712"; 6], "counts are strings");
    assert_eq!(rows[0]["ratio"], 1.0);
    assert_eq!(rows[0]["kernel"], "portable", "bitmask has no other");
    for row in &rows {
        let names = row.as_object().expect("an object").len();
        assert!(FIELDS.split(',').all(|name| !row[name].is_null()) && names == 17, "{row}");
        let mut runs: Vec<f64> = row["run_seconds"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|seconds| seconds.as_f64().expect("seconds"))
            .collect();
        runs.sort_unstable_by(f64::total_cmp);
        assert_eq!((runs.len(), Some(runs[2])), (5, row["median_seconds"].as_f64()), "{row}");
        let number = |name: &str| row[name].as_f64().expect(name);
        let median = number("median_seconds");
        assert!((number("min_seconds")..=number("max_seconds")).contains(&median), "{row}");
        assert_eq!(row["repeats"], 5);
    }
}

#[test]
fn the_text_table_has_a_row_for_each_and_names_the_reference() {
    let output = compare(&["10", "--engines", "all", "--threads", "1", "--repeat", "2"]);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert!(lines[0].starts_with("2 runs each on "), "{}", lines[0]);
    let kernel = Kernel::detect();
    let reference =
        format!("ratio: speed relative to subtrees {kernel} on 1 thread, ± two standard errors");
    assert_eq!(lines[1], reference);
    let rows = &lines[3..];
    assert_eq!(rows.len(), Engine::ALL.len());
    for (line, engine) in rows.iter().zip(Engine::ALL) {
        let name =
            if engine.has_kernels() { format!("{engine} {kernel}") } else { engine.to_string() };
        assert!(line.starts_with(&format!("10 {name:<17}    1 ")), "{line}");
        match engine {
            Engine::Subtrees => assert!(line.ends_with("s 1.00"), "{line}"),
            _ => assert!(line.contains(" ± "), "{line}"),
        }
    }
    assert!(rows.iter().all(|line| line.chars().count() <= 80), "{rows:?}");
    assert_eq!(stderr(&output), "");
}

#[test]
fn engines_that_are_too_slow_are_left_out() {
    let slow = ["20", "21", "--engines", "permutation", "--threads", "1,2"];
    let output = compare(&slow);
    let left_out = |threads| {
        format!(
            "nqueens: left out from n = 20 on: permutation on {threads}: a run takes longer than 1m00s \
             (--seconds-limit)\n"
        )
    };
    let nothing = "nqueens: nothing was measured, for the reasons above\n";
    assert_eq!(stderr(&output), left_out("1 thread") + &left_out("2 threads") + nothing);
    assert_eq!(output.status.code(), Some(1));

    // Found by a trial.
    let large = ["15", "16", "--engines", "subtrees", "--kernels", "portable", "--threads", "1"];
    let output = compare(&[&large[..], &["--seconds-limit", "0.03", "--csv"]].concat());
    assert_eq!(
        stderr(&output),
        "nqueens: left out from n = 15 on: subtrees portable on 1 thread: a run takes longer than 30.0 ms \
         (--seconds-limit)\nnqueens: nothing was measured, for the reasons above\n"
    );
}

#[test]
fn ratios_are_to_one_engine_even_where_it_is_left_out() {
    let engines = ["--engines", "permutation,colours", "--threads", "1", "--repeat", "1"];
    let rows = rows(&[&["6", "14"], &engines[..]].concat());
    let last = rows.last().expect("colours on the larger board");
    assert_eq!((&last["n"], &last["engine"]), (&14.into(), &"colours".into()));
    assert!(last["ratio"].is_null() && last["reference"] == "permutation on 1 thread", "{last}");
    assert!(rows.iter().filter(|row| row["n"] == 6).all(|row| row["ratio"].is_f64()), "{rows:?}");
}

#[test]
fn speed_up_and_efficiency_are_to_the_fewest_threads() {
    let args = ["9", "--engines", "bitmask", "--threads", "3,2", "--repeat", "2"];
    let both = rows(&args);
    let [three, two] = &both[..] else { panic!("{both:?}") };
    assert_eq!((&two["speed_up"], &two["efficiency"]), (&1.0.into(), &1.0.into()), "{two}");
    let number = |name: &str| three[name].as_f64().expect(name);
    assert!(
        (number("efficiency") - number("speed_up") * 2.0 / 3.0).abs() < 1e-3 * number("speed_up"),
        "{three}"
    );
    let alone = rows(&["9", "--engines", "bitmask", "--threads", "2", "--repeat", "2"]);
    assert!(alone[0]["speed_up"].is_null() && alone[0]["efficiency"].is_null(), "{alone:?}");

    let output = compare(&args);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    let remark = "speed-up: over the fewest threads; efficiency: share of perfect scaling";
    assert_eq!(
        lines[2..4],
        [remark, " n engine             thr  median   least speed-up efficiency ratio"]
    );
    assert!(lines[5].contains("     1.00      100 % "), "{}", lines[5]);
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:?}");
}

#[test]
fn all_threads_are_powers_of_two_and_the_default() {
    for (default, wanted) in [("6", "1,2,4,6"), ("4", "1,2,4"), ("1", "1")] {
        let mut command = command(&["6", "--engines", "bitmask", "--repeat", "1", "--csv"]);
        let output = run(command.args(["--threads", "all"]).env("NQUEENS_THREADS", default));
        let threads = stdout(&output).lines().skip(1).filter_map(|line| line.split(',').nth(3));
        assert_eq!(threads.collect::<Vec<_>>().join(","), wanted, "{}", stderr(&output));
    }
    let mut command = command(&["6", "--threads", "all"]);
    refused(&run(command.env("NQUEENS_THREADS", "many")), 2, &["NQUEENS_THREADS: 'many'"]);
}

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
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
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
    assert!(lines[4..].iter().all(|line| line.contains(" ± ")), "{lines:?}");
}

#[test]
fn a_total_that_differs_from_an_earlier_file_fails() {
    let text =
        format!("{}\n{EARLIER}\n", EARLIER.replace("\"92\"", "\"93\"").replace(":1,", ":2,"));
    let output = against("compare-differs", &text, &["--threads", "1,2", "--csv"]);
    let host = sysinfo::System::host_name().expect("a name");
    let wanted = format!(
        "nqueens: Q(8) = 92 by colours portable on 2 threads of {host} differs from 93 in "
    );
    assert_eq!((output.status.code(), stderr(&output).lines().count()), (Some(1), 1));
    assert!(stderr(&output).starts_with(&wanted), "{}", stderr(&output));
    assert!(stderr(&output).ends_with("compare-differs/earlier.json: one of them is wrong\n"));
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

/// A name that is given twice is counted once, as a board is. So a report never holds two rows of one kind, which
/// `--against` would refuse.
#[test]
fn what_is_named_twice_is_counted_once() {
    let engines = ["8,8", "--engines", "bitmask,all,bitmask", "--kernels", "portable,portable"];
    let rows = rows(&[&engines[..], &["--threads", "2,1,2", "--repeat", "1"]].concat());
    assert_eq!(rows.len(), 2 * Engine::ALL.len(), "{rows:?}");
    assert_eq!((&rows[0]["engine"], &rows[0]["threads"]), (&"bitmask".into(), &2.into()));
}

#[test]
fn kernels_are_compared_like_engines() {
    let names: Vec<&str> = Kernel::available().iter().map(|kernel| kernel.name()).collect();
    let of_rows = |kernels: &str| {
        let args = ["9", "--threads", "1", "--repeat", "2", "--engines", "bitmask,colours"];
        let rows = rows(&[&args[..], &["--kernels", kernels]].concat());
        let text = |row: &Value, name: &str| row[name].as_str().expect("text").to_owned();
        assert!(rows.iter().all(|row| text(row, "reference") == "bitmask on 1 thread"), "{rows:?}");
        let names = rows.iter().map(|row| text(row, "engine") + " " + &text(row, "kernel"));
        names.collect::<Vec<_>>()
    };
    let colours = names.iter().map(|name| format!("colours {name}"));
    let wanted: Vec<String> = ["bitmask portable".to_owned()].into_iter().chain(colours).collect();
    assert_eq!(of_rows("all"), wanted, "bitmask has one kernel");
    assert_eq!(of_rows(&names.join(",")), wanted);
    assert_eq!(of_rows("portable"), wanted[..2]);
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error_before_the_runs() {
    let output = compare(&["16", "--svg", "/nowhere/picture.svg"]);
    refused(&output, 2, &["'/nowhere/picture.svg' for '--svg <FILE>': make folder /nowhere first"]);
}

#[cfg(unix)]
#[test]
fn a_picture_replaces_what_is_named_svg_and_nothing_else() {
    let folder = crate::common::fresh_folder("compare-picture");
    let in_folder = |name: &str| folder.join(name).to_str().expect("text").to_owned();
    let [picture, link, target, journal] =
        ["p.svg", "link.svg", "mine", "q.journal"].map(in_folder);
    let draw = |path: &str| compare(&["6", "--repeat", "1", "--threads", "1", "--svg", path]);
    std::fs::write(&target, "mine").expect("room");
    std::os::unix::fs::symlink(&target, &link).expect("room");
    for path in [&picture, &picture, &link] {
        assert_eq!(draw(path).status.code(), Some(0));
        assert!(std::fs::read_to_string(path).expect("a picture").starts_with("<svg "));
    }
    assert_eq!(std::fs::read_to_string(&target).expect("a file"), "mine", "links are not followed");
    assert!(crate::common::output(&["count", "8", "--journal", &journal]).status.success());
    let before = std::fs::read(&journal).expect("a file");
    for path in [&journal, "src", "/dev/null"] {
        refused(&draw(path), 2, &["--svg <FILE>", path, "name a file that ends in .svg"]);
    }
    assert_eq!(std::fs::read(&journal).expect("a file"), before);
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 4, "nothing temporary");
}

#[test]
fn a_command_that_measures_nothing_leaves_no_picture() {
    let svg = fresh("failed.svg");
    let path = svg.to_str().expect("text");
    let left_out = compare(&["24", "--engines", "permutation", "--svg", path]);
    assert_eq!(left_out.status.code(), Some(1));
    assert!(!svg.exists(), "nothing was measured");
}

#[test]
fn bad_input_gets_one_clear_line() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "not provided: <N>"),
        (&["x"], "0 to 32"),
        (&["8", "33"], "0 to 32"),
        (&["-1"], "0 to 32"),
        (&["9..=8"], "8-9"),
        (&["8", "--engines", "foo"], "[possible values: all, permutation"),
        (&["8", "--engines", ""], "--engines"),
        (&["8", "--threads", "0"], "choose 1 to "),
        (&["8", "--threads", "1,x"], "'x'"),
        (&["8", "--threads", "1,,2"], "''"),
        (&["8", "--repeat", "0"], "--repeat"),
        (&["8", "--repeat", "-1"], "--repeat"),
        (&["8", "--repeat", "100001"], "choose 1 to 100000"),
        (&["8", "--svg", "-"], "--svg"),
        (&["8", "--seconds-limit", "0"], "--seconds-limit"),
        (&["8", "--seconds-limit", "nan"], "--seconds-limit"),
        (&["8", "--seconds-limit", "-5"], "--seconds-limit"),
        (&["8", "--kernels", "foo"], "[possible values: all, portable, "),
        (&["8", "--kernel", "portable"], "'--kernels'"),
        (&["8", "--csv", "--json"], "--json"),
    ];
    for (args, reason) in cases {
        refused(&compare(args), 2, &[reason]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_what_was_measured() {
    use std::io::{BufRead, BufReader, Read};

    let path = fresh("interrupted.svg");
    let svg = path.to_str().expect("text");
    let args = ["8", "15", "--threads", "1", "--repeat", "2000", "--csv", "--svg", svg];
    let mut child = spawn(&mut command(&args));
    // After the header, two rows come when n = 8 is done. Of the 2000 rounds for n = 15 that follow, a
    // second of work is enough for some, but not for all.
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    out.read_line(&mut String::new()).expect("the header");
    let mut rest = String::new();
    for _ in 0..2 {
        out.read_line(&mut rest).expect("a row");
    }
    crate::common::processes::wait_for_work(&mut child, std::time::Duration::from_secs(1));
    crate::common::processes::send("INT", &child);
    out.read_to_string(&mut rest).expect("the rows");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let message = stderr(&output);
    assert_eq!(message, "nqueens: stopped at n = 15\n");
    let rows: Vec<&str> = rest.lines().collect();
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows[3].starts_with("15,colours,") && !rows[3].contains(",2000,"), "{rows:?}");
    let picture = std::fs::read_to_string(&path).expect("the picture");
    assert!(roxmltree::Document::parse(&picture).is_ok());
}

#[test]
fn the_picture_names_what_it_shows() {
    let svg = fresh("drawn.svg");
    let engines = ["8..=10", "--engines", "bitmask,board-scan", "--threads", "1,2"];
    let options = ["--repeat", "2", "--svg", svg.to_str().expect("text")];
    let rows = rows(&[&engines[..], &options].concat());
    let cpu = rows[0]["cpu"].as_str().expect("a name");
    assert!(!cpu.trim().is_empty(), "{rows:?}");
    let picture = std::fs::read_to_string(&svg).expect("it was written");
    let document =
        roxmltree::Document::parse(&picture).expect("well-formed, with nothing after it");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let texts: Vec<&str> = texts.filter_map(|node| node.text()).map(str::trim).collect();
    for wanted in ["n", "seconds", "board-scan", "bitmask"] {
        assert!(texts.contains(&wanted), "{wanted} is missing in {texts:?}");
    }
    // A caption that would leave the picture is cut.
    let caption = format!("median of 2 runs; bars: least to greatest; 1 thread, {cpu}");
    let caption: String = caption.chars().take(105).collect();
    assert!(texts.contains(&caption.trim_end()), "no '{caption}' in {texts:?}");
}

#[test]
fn several_numbers_of_threads_on_one_board_are_drawn_as_speed_up() {
    let svg = fresh("speed-up.svg");
    let args = ["9", "--engines", "bitmask", "--threads", "1,2", "--repeat", "2", "--svg"];
    let measured = compare(&[&args[..], &[crate::common::arg(&svg)]].concat());
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    let picture = std::fs::read_to_string(&svg).expect("it was written");
    for wanted in [">speed-up (grey: perfect scaling)<", ">threads<", ">bitmask, n = 9<"] {
        assert!(picture.contains(wanted), "{wanted} is missing in {picture}");
    }
}
