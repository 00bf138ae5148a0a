//! Promise: `compare` measures engines, kernels and numbers of threads in turn, and reports medians with their errors.
//! docs/PERFORMANCE.md makes this promise, and docs/JSON.md describes the fields.

use std::process::{Command, Output};

use nqueens::{Engine, Kernel};
use serde_json::Value;

use crate::common::{
    WITH_KERNELS, finish, fresh, host_name, nqueens, refused, run, spawn, stderr, stdout, version,
};

const FIELDS: &str = "n,engine,kernel,threads,repeats,median_seconds,min_seconds,max_seconds,\
                      ratio,total,cpu,ratio_error,reference,speed_up,speed_up_error,efficiency,\
                      cpu_share,reference_kernel,version,date,host,logical_cpus";

fn command(args: &[&str]) -> Command {
    let mut command = nqueens(&["compare"]);
    command.args(args);
    command
}

pub(crate) fn compare(args: &[&str]) -> Output {
    run(&mut command(args))
}

pub(crate) fn rows(args: &[&str]) -> Vec<Value> {
    let output = compare(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = stdout(&output).lines();
    lines.map(|line| serde_json::from_str(line).expect("one JSON value a line")).collect()
}

/// Returns what a comparison says beside the warning of a busy machine.
pub(crate) fn beside_warning(output: &Output) -> String {
    let mut lines = String::new();
    for line in stderr(output).lines() {
        if !line.starts_with("nqueens: a thread had a CPU for only ") {
            lines += &format!("{line}\n");
        }
    }
    lines
}

/// Returns whether a row has a ratio with an error.
pub(crate) fn has_interval(row: &str) -> bool {
    row.contains(" ± ") || row.contains(" at most ")
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
        assert_eq!((fields[4], fields.len()), ("2", 22), "{line}");
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
        assert!(FIELDS.split(',').all(|name| !row[name].is_null()) && names == 23, "{row}");
        assert!((0.0..=1.0).contains(&row["cpu_share"].as_f64().expect("a share")), "{row}");
        assert_eq!(row["reference_kernel"], "portable", "that of bitmask: {row}");
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
    let title = format!("2 runs each of nqueens {} on {}, ", version(), host_name());
    assert!(lines[0].starts_with(&title), "{}", lines[0]);
    let kernel = Kernel::detect();
    let reference = format!(
        "ratio: speed relative to subtrees {kernel} on 1 thread, ± half of the 95% interval"
    );
    assert_eq!(lines[1], reference);
    assert_eq!(lines[2], "CPU: share of the time for which the threads ran");
    let rows = &lines[4..];
    assert_eq!(rows.len(), Engine::ALL.len());
    for (line, engine) in rows.iter().zip(Engine::ALL) {
        let name = if WITH_KERNELS.contains(engine) {
            format!("{engine} {kernel}")
        } else {
            engine.to_string()
        };
        assert!(line.starts_with(&format!("10 {name:<17}    1 ")), "{line}");
        match engine {
            Engine::Subtrees => assert!(line.ends_with("s 1.00"), "{line}"),
            _ => assert!(has_interval(line), "{line}"),
        }
    }
    assert!(rows.iter().all(|line| line.chars().count() <= 80), "{rows:?}");
    assert_eq!(beside_warning(&output), "");
}

#[test]
fn engines_that_are_too_slow_are_left_out() {
    let slow = ["20", "21", "--engines", "permutation", "--threads", "1,2"];
    let output = compare(&slow);
    assert_eq!(
        stderr(&output),
        "nqueens: left out from n = 20 on: permutation on 1 thread: a run takes longer than 1m00s (--seconds-limit)\n\
         nqueens: left out from n = 20 on: permutation on 2 threads: a run takes longer than 1m00s (--seconds-limit)\n\
         nqueens: nothing was measured, for the reasons above\n"
    );
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

/// An engine is also left out from the first board on that it does not count, and the message says so.
#[test]
fn engines_that_do_not_count_a_board_are_left_out() {
    for limit in ["60", "1000000"] {
        let args = ["31,32", "--engines", "colours", "--threads", "1", "--kernels", "portable"];
        let output = compare(&[&args[..], &["--seconds-limit", limit]].concat());
        assert_eq!(
            stderr(&output),
            "nqueens: left out from n = 31 on: colours portable on 1 thread: '31' is not a board of engine colours: \
             choose 0 to 30\nnqueens: nothing was measured, for the reasons above\n"
        );
        assert_eq!(output.status.code(), Some(1));
    }
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
        lines[3..5],
        [remark, " n engine             thr  CPU  median speed-up     efficiency   ratio"]
    );
    assert!(lines[6].contains("s 1.00         100%         "), "{}", lines[6]);
    // The first line has the name of the host, which may be long.
    assert!(lines[1..].iter().all(|line| line.chars().count() <= 80), "{lines:?}");
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

/// A name that is given twice is counted once, as a board is. So a report never holds two rows of one kind.
#[test]
fn what_is_named_twice_is_counted_once() {
    let engines = ["8,8", "--engines", "bitmask,all,bitmask", "--kernels", "portable,portable"];
    let rows = rows(&[&engines[..], &["--threads", "2,1,2", "--repeat", "1"]].concat());
    assert_eq!(rows.len(), 2 * Engine::ALL.len(), "{rows:?}");
    assert_eq!((&rows[0]["engine"], &rows[0]["threads"]), (&"bitmask".into(), &2.into()));
}

/// Compares two engines with these kernels. Returns the engine and the kernel of each row.
fn compared_engines_and_kernels(kernels: &str) -> Vec<String> {
    let args = ["9", "--threads", "1", "--repeat", "2", "--engines", "bitmask,colours"];
    let mut names = Vec::new();
    for row in rows(&[&args[..], &["--kernels", kernels]].concat()) {
        assert_eq!(row["reference"], "bitmask on 1 thread", "{row}");
        let engine = row["engine"].as_str().expect("text");
        let kernel = row["kernel"].as_str().expect("text");
        names.push(format!("{engine} {kernel}"));
    }
    names
}

#[test]
fn kernels_are_compared_like_engines() {
    let kernels: Vec<&str> = Kernel::available().iter().map(|kernel| kernel.name()).collect();
    // Bitmask has one kernel.
    let mut wanted = vec!["bitmask portable".to_owned()];
    wanted.extend(kernels.iter().map(|name| format!("colours {name}")));
    assert_eq!(compared_engines_and_kernels("all"), wanted);
    assert_eq!(compared_engines_and_kernels(&kernels.join(",")), wanted);
    assert_eq!(compared_engines_and_kernels("portable"), wanted[..2]);
}

#[test]
fn bad_input_gets_a_clear_message() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "not provided:\n  <N>"),
        (&["x"], "0 to 32"),
        (&["8", "33"], "0 to 32"),
        (&["9..=8"], "8-9"),
        (&["8", "--engines", "foo"], "[possible values: all, permutation"),
        (&["8", "--engines", ""], "--engines"),
        (&["8", "--threads", "0"], "choose 1 to "),
        (&["8", "--threads", "1,x"], "'x'"),
        (&["8", "--threads", "1,,2"], "''"),
        (&["8", "--repeat", "0"], "--repeat"),
        (&["8", "--repeat", "100001"], "100001 is not in 1..=100000"),
        (&["8", "--svg", "-"], "--svg"),
        (&["8", "--seconds-limit", "0"], "--seconds-limit"),
        (&["8", "--seconds-limit", "nan"], "--seconds-limit"),
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
    use std::io::{BufRead, BufReader};

    let path = fresh("interrupted.svg");
    let svg = path.to_str().expect("text");
    // Permutation is left out from n = 15 on, so the number of runs says which board is being measured.
    let engines = ["--engines", "subtrees,colours,permutation", "--repeat", "200"];
    let output = ["--csv", "--svg", svg, "--progress", "always"];
    let args = [&["8", "15", "--threads", "1"], &engines[..], &output[..]].concat();
    let mut child = spawn(&mut command(&args));
    let mut messages = BufReader::new(child.stderr.take().expect("piped")).lines();
    let all_runs = "/400 runs";
    let done = loop {
        let line = messages.next().expect("it measures").expect("text");
        let steps = line
            .trim_start_matches("nqueens: compare n = 15: ")
            .split(", ")
            .next()
            .expect("a part");
        if let Some(done) = steps.strip_suffix(all_runs) {
            let done: usize = done.parse().expect("a number");
            // From the second run on, both engines have a time.
            if done >= 2 {
                break done;
            }
        }
    };
    assert!(done < 400, "a line of progress comes each second, and the runs take many");
    crate::common::processes::send("INT", &child);
    let rest = messages.map(|line| line.expect("text") + "\n").collect::<String>();
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{rest}");
    assert!(rest.ends_with("nqueens: stopped at n = 15\n"), "{rest}");
    let rows: Vec<&str> = stdout(&output).lines().skip(1).collect();
    assert_eq!(rows.len(), 5, "{rows:?}");
    for (row, start) in rows.iter().zip(["8,subtrees,", "8,colours,", "8,permutation,"]) {
        assert!(row.starts_with(start) && row.contains(",200,"), "{rows:?}");
    }
    for (row, start) in rows[3..].iter().zip(["15,subtrees,", "15,colours,"]) {
        assert!(row.starts_with(start) && !row.contains(",200,"), "{rows:?}");
    }
    let picture = std::fs::read_to_string(&path).expect("the picture");
    assert!(roxmltree::Document::parse(&picture).is_ok());
}
