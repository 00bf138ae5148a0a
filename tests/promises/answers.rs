//! Promise: the answer of a command is on stdout, everything else on stderr, as text for people or as JSON and CSV for
//! scripts. README.md makes this promise under "Use it", and docs/JSON.md describes every field.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

use nqueens::{Engine, Kernel};
use serde_json::Value;

use crate::common::{
    arg, as_folder, count_into, finish, first_line_with_check_digits, fresh, fresh_folder,
    journal_in, json, nqueens, output, plan_of, printed, refused, result, run, size, spawn, stderr,
    stdout, with_check_digits, without_reader,
};

/// The labels and texts of an answer. The text of `time`, which differs from run to run, is left out.
fn rows(answer: &str) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for line in answer.lines() {
        let (label, text) = line.split_at_checked(13).expect("a label and a text");
        let text = if label.trim_end() == "time" { "" } else { text };
        rows.push((label.trim_end().to_owned(), text.to_owned()));
    }
    rows
}

/// Rows of constant texts.
fn texts<const ROWS: usize>(rows: [(&str, &str); ROWS]) -> [(String, String); ROWS] {
    rows.map(|(label, text)| (label.to_owned(), text.to_owned()))
}

#[test]
fn the_answer_of_a_count_has_a_row_for_each_fact() {
    let fundamental = printed(&["count", "12", "--fundamental", "--threads", "2"]);
    let engine = format!("subtrees, kernel {}", Kernel::detect());
    let wanted = [
        ("n", "12"),
        ("total", "14200"),
        ("fundamental", "1787"),
        ("classes", "1765 of 8 solutions, 18 of 4, 4 of 2, 0 of 1"),
        ("published", "agrees"),
        ("engine", &engine),
        ("threads", "2"),
        ("time", ""),
    ];
    assert_eq!(rows(&fundamental), texts(wanted));
}

#[test]
fn the_answer_of_a_shard_has_its_units_and_its_journal() {
    let place = as_folder(&fresh("answers-shard"));
    let count = ["count", "12", "--shard", "1/3", "--threads", "1", "--journal", arg(&place)];
    let mut shard = rows(&printed(&count));
    let (label, journal) = shard.pop().expect("a row");
    assert_eq!(label, "journal");
    assert!(journal.ends_with(".journal: 0 units done before"), "{journal}");
    let engine = format!("subtrees, kernel {}", Kernel::detect());
    let wanted = [
        ("n", "12"),
        ("part", "shard 1/3: 48 units"),
        ("solutions", "5072 in this shard"),
        ("engine", &engine),
        ("threads", "1"),
        ("time", ""),
    ];
    assert_eq!(shard, texts(wanted));
}

#[test]
fn the_answer_of_a_unit_has_the_columns_of_each_row() {
    let unit = printed(&["unit", "8", "3", "--engine", "bitmask"]);
    let first_rows = [
        ("n", "8"),
        ("plan", "engine bitmask, hash 0a84c9f3, 8 units"),
        ("unit", "3"),
        ("weight", "1"),
        ("columns", "of row 1: 4"),
    ];
    let mut wanted = texts(first_rows).to_vec();
    for row in 2..=8 {
        wanted.push((String::new(), format!("of row {row}: 1 2 3 4 5 6 7 8")));
    }
    wanted.extend(texts([("count", "18")]));
    assert_eq!(rows(&unit), wanted);
}

#[test]
fn quiet_answers_are_bare_numbers() {
    assert_eq!(printed(&["count", "12", "--fundamental", "--quiet"]), "14200\n1787\n");
    assert_eq!(printed(&["unit", "14", "300", "--quiet"]), "326\n");
    let folder = as_folder(&fresh("cli-quiet"));
    let mut solutions = 0;
    for shard in ["0/3", "1/3", "2/3"] {
        let count = ["count", "12", "-q", "--shard", shard, "--journal", arg(&folder)];
        solutions += printed(&count).trim_end().parse::<u32>().expect("a bare number");
    }
    assert_eq!(solutions, 14_200);
    assert_eq!(printed(&["merge", "-q", arg(&folder)]), "14200\n");
}

#[test]
fn solutions_are_listed_as_columns_and_as_boards() {
    let two = printed(&["list", "10", "--place", "a1,c2", "--limit", "2"]);
    assert_eq!(two, "1 3 6 8 10 5 9 2 4 7\n1 3 6 9 7 10 4 2 5 8\n");
    let board = "\
class of 4
6 ####Q#
5 ##Q###
4 Q#####
3 #####Q
2 ###Q##
1 #Q####
  abcdef
";
    assert_eq!(printed(&["list", "6", "--fundamental", "--style", "board"]), board);
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
    assert!(crate::common::engine_names().iter().any(|name| object["engine"] == *name));
    assert!(crate::common::KERNELS.iter().any(|name| object["kernel"] == *name));
    assert!(object["units"].is_u64() && object["seconds"].is_f64());

    let classes = serde_json::json!({ "8": "89", "4": "3", "2": "0", "1": "0" });
    assert_eq!((&object["shard"], &object["solutions"]), (&Value::Null, &"724".into()));
    assert_eq!((&object["journal"], &object["pass"]), (&Value::Null, &"first".into()));
    assert_eq!(object["classes"], classes);

    let without = json(&output(&["count", "10", "--json"]));
    assert!(without["fundamental"].is_null() && without["classes"].is_null(), "{without}");
    assert_eq!(json(&output(&["count", "10", "--second", "--json"]))["pass"], "second");

    let cpu = output(&["cpu", "--json"]);
    let object = json(&cpu);
    assert!(
        object["kernels"].as_array().is_some_and(|kernels| kernels.contains(&object["kernel"]))
    );
    assert!(object["memory_total"].as_u64() > object["memory_available"].as_u64());
}

/// A part has no total, and nothing published to compare with.
#[test]
fn json_of_a_part_has_its_shard_and_no_total() {
    let folder = fresh("cli-json-shard");
    let place = as_folder(&folder);
    let count = ["count", "12", "--shard", "1/3", "--json", "--journal", arg(&place)];
    let part = json(&output(&count));
    assert_eq!((&part["shard"], &part["solutions"]), (&"1/3".into(), &"5072".into()), "{part}");
    assert!(part["total"].is_null() && part["fundamental"].is_null(), "{part}");
    assert_eq!((&part["published"], &part["units"]), (&"unknown".into(), &48.into()), "{part}");
    let journal = &part["journal"];
    let file = journal["file"].as_str().expect("a path");
    assert!(Path::new(file).is_file() && file.contains("/n12-0001-of-0003."), "{part}");
    assert_eq!(journal["units_before"], 0, "{part}");
    assert!(journal["seconds"].is_f64() && journal["cpu_seconds"].is_f64(), "{part}");

    // Nothing is left to count, so no file is written.
    let again = json(&output(&count));
    assert_eq!((&again["solutions"], &again["units"]), (&"5072".into(), &48.into()), "{again}");
    assert_eq!(again["journal"]["units_before"], 48, "{again}");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1);

    let folder = fresh("cli-json");
    let whole = json(&output(&["count", "12", "--json", "--journal", arg(&folder)]));
    assert_eq!((&whole["total"], &whole["shard"]), (&"14200".into(), &Value::Null), "{whole}");
    let journal = &whole["journal"];
    let file = journal_in(&folder);
    assert_eq!((&journal["file"], &journal["units_before"]), (&arg(&file).into(), &0.into()));
}

/// The first word of each line.
fn labels_of(answer: &str) -> Vec<&str> {
    answer.lines().filter_map(|line| line.split(' ').next()).collect()
}

/// The rest is in JSON.
#[test]
fn the_text_of_a_count_is_short() {
    let labels = ["n", "total", "published", "engine", "threads", "time"];
    let count = ["count", "16", "--engine", "colours"];
    assert_eq!(labels_of(&printed(&count)), labels);
    let second = printed(&[&count[..], &["--second"]].concat());
    assert_eq!(labels_of(&second), [&labels[..], &["pass"]].concat());
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
    assert!(text[0].split_whitespace().eq(["n", "total", "fundamental", "time", "published"]));
    // Numbers end below the ends of their headings.
    let end_of = |line: &str, word: &str| line.find(word).map(|start| start + word.len());
    assert_eq!(end_of(&text[0], "total"), end_of(&text[10], "352"));
    assert_eq!(end_of(&text[0], "fundamental"), end_of(&text[10], " 46"));
    assert!(text[10].split_whitespace().take(3).eq(["9", "352", "46"]), "{}", text[10]);
    assert!(text.iter().skip(2).all(|row| row.ends_with("agrees")));

    let csv = rows(&["--csv"]);
    assert_eq!(csv[0], "n,total,fundamental,seconds,published,version,date,host,cpu,logical_cpus");
    assert!(csv[9].starts_with("8,92,12,") && csv[9].contains(",agrees,"), "{}", csv[9]);
    assert_eq!(csv.len(), 11);

    let json_rows = rows(&["--json"]);
    let last: serde_json::Value = serde_json::from_str(&json_rows[9]).expect("JSON");
    assert_eq!((last["n"].as_u64(), last["total"].as_str()), (Some(9), Some("352")));
}

/// Otherwise nobody could tell where a result in a file came from.
#[test]
fn results_name_their_build_their_date_and_their_machine() {
    let machine = json(&output(&["cpu", "--json"]));
    let version = crate::common::version();
    let host = crate::common::host_name();
    let commands: [&[&str]; 5] = [
        &["count", "8"],
        &["count", "8", "--place", "a1"],
        &["table", "8"],
        &["estimate", "8", "--seconds", "0.1"],
        &["compare", "8", "--engines", "bitmask", "--threads", "1", "--repeat", "1"],
    ];
    for command in commands {
        let before = SystemTime::now() - Duration::from_secs(1);
        let object = json(&output(&[command, &["--json"]].concat()));
        assert_eq!(
            (&object["version"], &object["host"]),
            (&version.as_str().into(), &host.as_str().into())
        );
        assert_eq!(object["cpu"], machine["cpu"], "{object}");
        assert_eq!(object["logical_cpus"], machine["logical_cpus"], "{object}");
        let date = object["date"].as_str().expect("a date");
        let date = humantime::parse_rfc3339(date).expect("a date and a time in UTC");
        assert!((before..=SystemTime::now()).contains(&date), "{object}");
    }
}

#[test]
fn every_engine_counts_from_the_command_line() {
    for engine in crate::common::engine_names() {
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
    let bitmask = output(&["count", "6", "-q", "--engine", "bitmask", "--kernel", "portable"]);
    assert_eq!((stdout(&bitmask), bitmask.status.code()), ("4\n", Some(0)));
    assert!(stderr(&bitmask).contains("warning: --kernel"), "{bitmask:?}");
}

/// The help text of `--split-rows` among the options for experts.
fn help_of_split_rows(command: &str) -> String {
    let help = printed(&[command, "--help"]);
    let (_, experts) = help.split_once("Engine and machine:").expect("a heading");
    let (_, option) = experts.split_once("--split-rows").expect("an option");
    option.split("\n\n").next().expect("a help text").to_owned()
}

/// A unit has another meaning in a plan with other split rows, so `unit` takes the option as `count` does.
#[test]
fn a_unit_of_a_count_with_split_rows_is_the_one_in_its_journal() {
    for rows in ["1", "3"] {
        let journal = crate::common::fresh_folder("cli-split-rows");
        let path = arg(&journal);
        let count = ["count", "14", "-q", "--split-rows", rows, "--journal", path];
        assert_eq!(printed(&count), "365596\n");
        let recorded = crate::common::contents(&journal);
        let last = recorded.plan().units() - 1;
        for unit in [0, last / 2, last] {
            let number = unit.to_string();
            let shown = json(&output(&["unit", "14", &number, "--json", "--split-rows", rows]));
            let count = recorded.count(unit).expect("it is finished").to_string();
            assert_eq!(
                (&shown["unit_count"], &shown["engine"]),
                (&count.into(), &"subtrees".into())
            );
            let hash = format!("{:08x}", recorded.plan().id());
            assert_eq!(shown["plan"], hash, "{shown}");
        }
    }
    let named = ["unit", "14", "0", "--split-rows", "3", "--engine"];
    let refusal = output(&[&named[..], &["colours"]].concat());
    refused(&refusal, 2, &["--split-rows needs engine subtrees, not colours: leave out one"]);
    assert_eq!(output(&[&named[..], &["subtrees"]].concat()).status.code(), Some(0));
    // It is in the help under the heading that `count` has.
    assert_eq!(help_of_split_rows("unit"), help_of_split_rows("count"));
    assert!(!printed(&["unit", "-h"]).contains("--split-rows"));
}

#[test]
fn a_reader_that_leaves_is_not_an_error() {
    let output = without_reader(&mut nqueens(&["table", "1,3-12"]));
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let answers =
        [&["count", "8"][..], &["table", "1..=8"], &["table", "--csv"], &["cpu"], &["-V"]];
    let lists = [&["list", "8"][..], &["list", "8", "--limit", "9", "--style", "svg"]];
    for args in answers.into_iter().chain(lists) {
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
    // No unit of this count ends before its first line of progress. Without a journal, a warning would come before it.
    let path = fresh("answers-lines.journal");
    let wanted = ["--engine", "bitmask", "--threads", "1", "--progress", "always"];
    let mut child = spawn(&mut count_into("20", &path, &wanted));
    let line = first_line_of_stderr(&mut child);
    assert!(line.starts_with("nqueens: n = 20: 0.0%, "), "{line}");
    // On a busy machine the line comes later, but it never comes in the first second.
    let (_, elapsed) = line.split_once("elapsed ").expect("a time");
    assert!(!elapsed.starts_with("0.") && !elapsed.contains(" ms"), "{line}");
    assert!(line.contains(" 0/20 units"), "{line}");
    child.kill().expect("it runs");
    assert_eq!(stdout(&finish(child)), "");
}

/// The journal of this count is complete, with wrong numbers. The search for symmetric solutions takes minutes.
#[test]
fn the_search_for_symmetric_solutions_shows_its_progress() {
    let folder = fresh_folder("answers-fundamental");
    let plan = plan_of(size(26), Engine::Bitmask, None);
    let first = first_line_with_check_digits(&format!("nqueens-journal 2 version=0.1.0 {plan}"));
    let counts = ["0"; 26].join(",");
    let done = format!("done units=0..26 solutions=0 elapsed-ms=1 busy-us=1 counts={counts}");
    let text = format!("{first}{}", with_check_digits(&first, &done));
    std::fs::write(folder.join("n26.journal"), text).expect("room");
    let options = ["--engine", "bitmask", "--fundamental", "--progress", "always"];
    let mut child = spawn(&mut count_into("26", &folder, &options));
    let line = first_line_of_stderr(&mut child);
    child.kill().expect("it runs");
    assert!(line.starts_with("nqueens: fundamental n = 26: "), "{line}");
    assert!(line.contains(" steps, ") && line.contains("elapsed "), "{line}");
    finish(child);
}

/// Returns the first line that a process prints on stderr.
fn first_line_of_stderr(child: &mut Child) -> String {
    let mut messages = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    messages.read_line(&mut line).expect("a line");
    line
}

/// Engine `colours` ends at n = 30; other engines and `list` take two boards more.
#[test]
fn boards_beyond_the_fastest_engine_say_what_they_take() {
    for args in [&["count", "31"][..], &["estimate", "32"]] {
        let mut child = spawn(nqueens(args).stdout(Stdio::null()));
        let said = first_line_of_stderr(&mut child);
        child.kill().expect("it runs");
        child.wait().expect("ended");
        assert!(said.contains(" years or more here with engine subtrees: "), "{said}");
    }
    let limit = ["'31' is not a board of engine colours", "choose 0 to 30"];
    for command in [
        &["count", "31"][..],
        &["estimate", "31"],
        &["count", "31", "--shard", "0/2", "--journal", "q31.journal"],
    ] {
        refused(&output(&[command, &["--engine", "colours"]].concat()), 2, &limit);
    }
    let listed = output(&["list", "31", "--limit", "1"]);
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
}

/// Aliases and wrapper scripts set options that a user then sets again.
#[test]
fn the_last_of_two_equal_options_wins() {
    let args = ["count", "8", "--threads", "1", "--engine", "bitmask", "--progress", "always"];
    let again =
        ["--json", "--json", "--threads", "2", "--engine", "subtrees", "--progress", "never"];
    let counted = output(&[&args[..], &again].concat());
    assert_eq!((counted.status.code(), stderr(&counted)), (Some(0), ""), "{counted:?}");
    let object = json(&counted);
    assert_eq!((&object["threads"], &object["engine"]), (&2.into(), &"subtrees".into()));
    // Options that take a list add up.
    let listed = output(&["list", "8", "--place", "a1", "--place", "c2", "--limit", "1"]);
    let both = output(&["list", "8", "--place", "a1,c2", "--limit", "1"]);
    assert_eq!(result(&listed), result(&both));
}

/// Names are data in JSON, whatever they hold. Only texts for eyes are escaped.
#[test]
fn json_holds_names_as_they_are() {
    let folder = crate::common::fresh_folder("cli-names");
    let place = folder.join("zero\u{200c}width\u{202e}tab\there");
    let counted = output(&["count", "12", "--json", "--journal", arg(&place)]);
    let path = journal_in(&place);
    assert_eq!(json(&counted)["journal"]["file"], arg(&path));
    let text = std::fs::read_to_string(&path).expect("text").replacen("done ", "gone ", 1);
    std::fs::write(&path, text).expect("room");
    let merged = output(&["merge", "--json", arg(&path)]);
    assert_eq!(json(&merged)["damaged"], serde_json::json!([arg(&path)]));
    for text in [stderr(&merged), stdout(&output(&["status", arg(&path)]))] {
        assert!(!text.contains(['\u{200c}', '\u{202e}', '\t']), "{text:?}");
    }
    // The command that is printed works all the same.
    let resume = json(&output(&["status", "--json", arg(&path)]))["resume"].clone();
    crate::common::run_in_shell(resume.as_str().expect("units are missing"));
    let merged = output(&["merge", "--quiet", arg(&place)]);
    assert_eq!((merged.status.code(), stdout(&merged)), (Some(0), "14200\n"), "{merged:?}");
}
