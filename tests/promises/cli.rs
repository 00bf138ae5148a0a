//! Real runs of the command line: exact output, exit codes, bad input, closed and full outputs.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::common::{json, nqueens, output, refused, run, spawn, stderr, stdout, without_reader};

#[test]
fn the_help_is_as_recorded() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}

/// The README shows real output. Only times and the kernel's name differ from run to run.
#[test]
fn the_examples_in_the_readme_are_true() {
    let readme = std::fs::read_to_string("README.md").expect("the package has one");
    let examples: String = readme.lines().map(|line| with_wildcards(line) + "\n").collect();
    // trycmd wants an empty line after each output; readers of the README do not.
    let examples = examples
        .replace("\n```\n", "\n\n```\n")
        .replace("\n$ ", "\n\n$ ")
        .replace("```console\n\n$ ", "```console\n$ ");
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme.md");
    std::fs::write(&file, examples).expect("the target folder can be written");
    trycmd::TestCases::new().case(file);
}

/// Replaces times (numbers with a decimal point, and their unit) and kernels with trycmd's wildcard.
fn with_wildcards(line: &str) -> String {
    let mut text = line.to_owned();
    for name in nqueens::Kernel::NAMES {
        text = text.replace(&format!("kernel {name}"), "kernel [..]");
        text = text.replace(&format!("\"kernel\":\"{name}\""), "\"kernel\":\"[..]\"");
    }
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let numbers: Vec<&str> = text
        .split(|c: char| !is_number(c))
        .filter(|part| part.split('.').count() == 2 && part.parse::<f64>().is_ok())
        .collect();
    let replaced = numbers.iter().fold(text.clone(), |text, number| text.replace(number, "[..]"));
    let replaced = [" µs ", " ms ", " s "].iter().fold(replaced + " ", |text, unit| {
        match text.split_once(unit) {
            Some((time, rest)) => {
                let before = time.trim_end_matches("[..]").trim_end_matches(is_number).trim_end();
                format!("{before}[..] {rest}")
            }
            None => text,
        }
    });
    let replaced = replaced.trim_end().to_owned();
    if line.starts_with('$') { line.to_owned() } else { replaced }
}

#[test]
fn bad_input_gets_one_clear_line() {
    let cases: &[(&[&str], &str)] = &[
        (&["frobnicate"], "frobnicate"),
        (&["help", "frobnicate"], "frobnicate"),
        (&["8"], "'nqueens count 8'"),
        (&["count"], "required arguments were not provided: <N>;"),
        (&["count", "8", "--journal", "-"], "cannot write to standard output here"),
        (&["count", "8", "--journal", ""], "a value is required for '--journal <FILE>'"),
        (&["count", "8", "--journal", "nodir/x"], "make folder ./nodir first"),
        (&["merge", "Cargo.toml", "--into", "nodir/x"], "make folder ./nodir first"),
        (&["merge", "Cargo.toml", "--into", "/nodir/x"], "make folder /nodir first"),
        (&["compare", "8", "--svg", "/nodir/x.svg"], "make folder /nodir first"),
        (&["status", "src", "--html", "nodir/x.html"], "make folder ./nodir first"),
        (&["status", "nofile"], "name a file or folder that exists"),
        (&["merge", "src", "nofile"], "name a file or folder that exists"),
        (&["verify", "nofile"], "name a file or folder that exists"),
        (&["merge", "nofile", "--into", "x"], "name a file or folder that exists"),
        (&["merge", "some.journal", "--into", "-"], "--into"),
        (&["shard", "8", "--shards", "1", "--index", "0", "--out", "-"], "--out"),
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
        (&["count", "8", "--engine", "foo"], "[possible values: auto, permutation, "),
        (&["count", "8", "--kernel", "foo"], "[possible values: auto, portable, "),
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
    ];
    for (args, reason) in cases {
        refused(&output(args), 2, &[reason]);
    }
}

/// The system's folder of processes takes no file, not even from root.
#[cfg(target_os = "linux")]
#[test]
fn no_message_names_a_temporary_file() {
    let journal = crate::common::fresh("cli-temporary.journal");
    let path = journal.to_str().expect("text");
    assert_eq!(output(&["count", "8", "--journal", path]).status.code(), Some(0));
    for args in [
        &["merge", path, "--into", "/proc/new"][..],
        &["status", path, "--html", "/proc/new.html"],
        &["compare", "8", "--svg", "/proc/new.svg"],
    ] {
        let output = output(args);
        refused(&output, output.status.code().unwrap_or(0), &["/proc/new", "(os error"]);
        assert!(!stderr(&output).contains("/."), "{output:?}");
    }
}

/// No argument at all is wrong usage, answered by the short help.
#[test]
fn without_arguments_the_short_help_goes_to_stderr() {
    let output = output(&[]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), ""));
    let help = stderr(&output);
    assert!(help.lines().count() < 40, "{help}");
    let examples = help.split_once("Examples:\n").expect("examples").1;
    assert!(examples.matches("  nqueens ").count() >= 3, "{help}");
}

#[test]
fn the_readme_describes_every_engine_as_the_help_does() {
    let readme = std::fs::read_to_string("README.md").expect("the package has one");
    for engine in nqueens::Engine::ALL {
        let row = format!("| `{engine}` | {}", engine.summary());
        assert!(readme.contains(&row), "{row}");
    }
}

#[test]
fn a_bad_variable_is_named() {
    let most = (4 * nqueens::cores()).max(64);
    for (name, value, most) in [
        ("NQUEENS_THREADS", "many", most),
        ("NQUEENS_THREADS", "4097", most),
        ("SLURM_CPUS_PER_TASK", "4097", 4096),
        ("SLURM_CPUS_PER_TASK", "0", 4096),
        ("SLURM_CPUS_PER_TASK", "-1", 4096),
        ("SLURM_CPUS_PER_TASK", "99999999999999999999", 4096),
    ] {
        let output = run(nqueens(&["count", "8"]).env(name, value));
        let choose = format!("choose 1 to {most}");
        refused(&output, 2, &[&format!("{name}: '{value}'"), &choose]);
    }
}

#[test]
fn threads_come_from_the_flag_then_from_the_variables() {
    let threads = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = nqueens(&["count", "8", "--json"]);
        json(&run(command.args(args).envs(variables.iter().copied())))["threads"].as_u64()
    };
    let both = [("NQUEENS_THREADS", "5"), ("SLURM_CPUS_PER_TASK", "3")];
    assert_eq!(threads(&["--threads", "7"], &both), Some(7));
    assert_eq!(threads(&[], &both), Some(5));
    let cores = threads(&[], &[]);
    assert_eq!(threads(&[], &both[1..]), cores.min(Some(3)));
    assert_eq!(threads(&[], &[("NQUEENS_THREADS", "")]), cores);
}

/// Slurm's number is that of a task, of which this process may have a part.
#[test]
fn a_scheduler_does_not_give_more_threads_than_cores() {
    let of_task =
        |number: &str| run(nqueens(&["cpu", "--quiet"]).env("SLURM_CPUS_PER_TASK", number));
    let cores = stdout(&output(&["cpu", "--quiet"])).trim().to_owned();
    let more = (cores.parse::<usize>().expect("a number") + 1).to_string();
    let within = of_task(&cores);
    assert_eq!((stdout(&within).trim(), stderr(&within)), (&*cores, ""));
    // A node may have many times as many cores as a container on it.
    for number in [&more, "4096"] {
        let beyond = of_task(number);
        assert_eq!((beyond.status.code(), stdout(&beyond).trim()), (Some(0), &*cores));
        let message = stderr(&beyond);
        assert_eq!(message.lines().count(), 1, "{message}");
        for part in [format!("SLURM_CPUS_PER_TASK is {number}"), format!("only {cores} core")] {
            assert!(message.contains(&part), "{message}");
        }
    }
}

#[test]
fn json_has_the_promised_fields() {
    let whole = output(&["count", "10", "--json", "--fundamental", "--threads", "2"]);
    assert_eq!(whole.status.code(), Some(0));
    assert_eq!(stdout(&whole).lines().count(), 1);
    let object = json(&whole);
    assert_eq!(object["n"], 10);
    assert_eq!(object["total"], "724", "counts are strings");
    assert_eq!(object["fundamental"], "92");
    assert_eq!(object["threads"], 2);
    assert_eq!(object["published"], "agrees");
    assert!(
        nqueens::Engine::ALL
            .map(nqueens::Engine::name)
            .iter()
            .any(|name| object["engine"] == *name)
    );
    assert!(nqueens::Kernel::NAMES.iter().any(|name| object["kernel"] == *name));
    assert!(object["units"].is_u64() && object["seconds"].is_f64());

    let without = output(&["count", "10", "--json"]);
    assert!(json(&without)["fundamental"].is_null());

    let cpu = output(&["cpu", "--json"]);
    let object = json(&cpu);
    assert!(
        object["kernels"].as_array().is_some_and(|kernels| kernels.contains(&object["kernel"]))
    );
    assert!(object["memory_total"].as_u64() > object["memory_available"].as_u64());
}

/// The rest is in JSON.
#[test]
fn the_text_of_a_count_is_short() {
    let labels = |args: &[&str]| {
        let output = output(&[&["count", "16", "--engine", "colours"], args].concat());
        let labels = stdout(&output).lines().filter_map(|line| line.split(' ').next());
        labels.collect::<Vec<_>>().join(" ")
    };
    let labels = [labels(&[]), labels(&["--second"])];
    let first = "n total published engine threads time";
    assert_eq!(labels, [first.to_owned(), format!("{first} count")]);
}

#[test]
fn table_rows_come_as_text_csv_and_json() {
    let rows = |flags: &[&str]| {
        let output = output(&[&["table", "0..=9", "--threads", "2"], flags].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let text = rows(&[]);
    assert_eq!(text.len(), 11);
    assert!(text[10].split_whitespace().take(3).eq(["9", "352", "46"]), "{}", text[10]);
    assert!(text.iter().skip(2).all(|row| row.ends_with("agrees")));

    let csv = rows(&["--csv"]);
    assert_eq!(csv[0], "n,total,fundamental,seconds,published");
    assert!(csv[9].starts_with("8,92,12,") && csv[9].ends_with(",agrees"), "{}", csv[9]);
    assert_eq!(csv.len(), 11);

    let json_rows = rows(&["--json"]);
    let last: serde_json::Value = serde_json::from_str(&json_rows[9]).expect("JSON");
    assert_eq!((last["n"].as_u64(), last["total"].as_str()), (Some(9), Some("352")));
}

#[test]
fn every_engine_counts_from_the_command_line() {
    for engine in nqueens::Engine::ALL.map(nqueens::Engine::name) {
        let output = output(&["count", "8", "--quiet", "--engine", engine]);
        assert_eq!((stdout(&output), stderr(&output)), ("92\n", ""), "{engine}");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn split_rows_choose_their_engine_and_other_options_without_effect_only_warn() {
    let split = ["count", "14", "--json", "--split-rows", "2"];
    assert_eq!(json(&output(&split))["engine"], "subtrees");
    refused(
        &output(&[&split[..], &["--engine", "colours"]].concat()),
        2,
        &["--split-rows", "colours"],
    );
    let placed = output(&["count", "17", "--quiet", "--split-rows", "2", "--place", "a1,b3,c5,d2"]);
    assert_eq!((stderr(&placed), placed.status.code()), ("", Some(0)));
    let bitmask = output(&["count", "6", "-q", "--engine", "bitmask", "--kernel", "portable"]);
    assert_eq!((stdout(&bitmask), bitmask.status.code()), ("4\n", Some(0)));
    assert!(stderr(&bitmask).contains("warning: --kernel"), "{bitmask:?}");
}

#[test]
fn an_option_of_another_command_is_refused() {
    refused(&output(&["verify", "x", "--kernel", "portable"]), 2, &["unexpected argument"]);
}

#[test]
fn a_reader_that_leaves_is_not_an_error() {
    let output = without_reader(&mut nqueens(&["table", "1,3-12"]));
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    for args in [&["count", "8"][..], &["table", "1..=8"], &["table", "--csv"], &["cpu"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = run(nqueens(args).stdout(full));
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let message = stderr(&output);
        assert!(message.contains("cannot write to standard output"), "{args:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{args:?}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stderr_only_loses_messages() {
    for (args, code) in [(&["count", "x"][..], 2), (&["count", "15", "--progress", "always"], 0)] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = run(nqueens(args).stderr(full));
        assert_eq!(output.status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn without_a_terminal_progress_is_lines_and_only_on_request() {
    let silent = output(&["count", "15", "--quiet"]);
    assert_eq!((stdout(&silent), stderr(&silent)), ("2279184\n", ""));
    let wanted = output(&["count", "16", "--quiet", "--progress", "always", "--engine", "bitmask"]);
    assert_eq!(stdout(&wanted), "14772512\n");
    assert!(stderr(&wanted).contains("/16 units"), "{}", stderr(&wanted));
}

/// Engine `colours` ends at n = 30; other engines and `list` take two boards more.
#[test]
fn boards_beyond_the_fastest_engine_say_what_they_take() {
    for args in [&["count", "31"][..], &["estimate", "32"]] {
        let mut child = spawn(nqueens(args).stdout(Stdio::null()));
        let mut said = String::new();
        let mut messages = BufReader::new(child.stderr.take().expect("piped"));
        messages.read_line(&mut said).expect("a line");
        child.kill().expect("it runs");
        child.wait().expect("ended");
        assert!(said.contains(" years or more here with engine subtrees: "), "{said}");
    }
    let limit = ["'31' is not a board of engine colours", "choose 0 to 30"];
    for command in [
        &["count", "31"][..],
        &["estimate", "31"],
        &["shard", "31", "--index", "0", "--shards", "2", "--out", "q31.journal"],
    ] {
        refused(&output(&[command, &["--engine", "colours"]].concat()), 2, &limit);
    }
    let listed = output(&["list", "31", "--limit", "1"]);
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
}
