//! Promise: `scripts/check-unit.py`, a program in Python that knows only the pages and journals, makes the units of
//! every engine and finds the recorded counts. docs/FORMAT.md makes this promise under "Count a unit with your own
//! program".

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nqueens::Engine;

use crate::common::{
    count_into, engine_names, fresh, journal_in, journals_in, note_skipped, raise_counts,
    raise_first_count, result, run, size, stdout, with_check_digits, without_check_digits,
};

const SCRIPT: &str = "scripts/check-unit.py";

/// All units of small boards.
const ALL: &str = "1000000";

/// Returns whether Python can run a script. If it cannot, says that the test is skipped.
pub(crate) fn has_python(script: &str) -> bool {
    let asks = "import sys; sys.exit(sys.version_info < (3, 7))";
    let has_python =
        Command::new("python3").args(["-c", asks]).status().is_ok_and(|status| status.success());
    if !has_python {
        note_skipped(&format!("{script} needs Python 3.7 or later"));
    }
    has_python
}

/// Runs the script.
fn check(journal: &Path, options: &[&str]) -> Output {
    run(Command::new("python3").arg(SCRIPT).arg(journal).args(options))
}

/// The script finds no fault in a journal, and recounts this many units. Returns its output.
fn passes(journal: &Path, units: &str) -> String {
    let checked = check(journal, &["--units", units, "--seed", "1"]);
    let (code, found, messages) = result(&checked);
    assert_eq!((code, messages), (Some(0), ""), "{}: {found}", journal.display());
    assert!(found.ends_with("faults     none\n"), "{found}");
    found.to_owned()
}

/// A folder with a finished journal of the first or the second pass, with these options.
fn finished(name: &str, n: u32, options: &[&str], pass: &str) -> PathBuf {
    let path = fresh(&format!("check-unit-{name}"));
    let mut count = count_into(&n.to_string(), &path, options);
    if pass == "second" {
        count.arg("--second");
    }
    let counted = run(&mut count);
    assert!(counted.status.success(), "{counted:?}");
    path
}

/// Makes journals of both passes of a board. The script finds the counts of this many units of each, and the total.
fn both_counts_pass(n: u32, options: &[&str], units: &str) {
    for pass in ["first", "second"] {
        let name = format!("{n}-{}-{pass}", options.join("-"));
        let found = passes(&finished(&name, n, options, pass), units);
        let total = size(n).published().total.expect("published");
        assert!(found.contains(&format!("\ntotal      {total}\n")), "{found}");
        assert!(found.contains(&format!(" count={pass} ")), "{found}");
    }
}

#[test]
fn units_of_small_boards_are_recounted_for_every_engine_and_both_counts() {
    if !has_python(SCRIPT) {
        return;
    }
    for engine in engine_names() {
        for n in 8..=10 {
            both_counts_pass(n, &["--engine", engine], ALL);
        }
    }
    for n in [0, 1, 2, 3, 4, 5] {
        for engine in ["bitmask", "subtrees", "colours"] {
            both_counts_pass(n, &["--engine", engine], ALL);
        }
    }
    // The least boards on which even and odd sets both have several classes, so that the order of the units matters.
    for n in [14, 15] {
        both_counts_pass(n, &["--engine", "colours"], "100");
    }
    for split_rows in ["2", "3", "4"] {
        both_counts_pass(10, &["--engine", "subtrees", "--split-rows", split_rows], ALL);
    }
}

#[test]
#[ignore = "takes a minute"]
fn units_of_larger_boards_are_recounted() {
    if !has_python(SCRIPT) {
        return;
    }
    std::thread::scope(|scope| {
        scope.spawn(|| both_counts_pass(12, &["--engine", "colours"], ALL));
        scope.spawn(|| both_counts_pass(12, &["--engine", "subtrees"], ALL));
        scope.spawn(|| both_counts_pass(12, &["--engine", "bitmask"], ALL));
        scope.spawn(|| both_counts_pass(14, &["--engine", "colours"], ALL));
        scope.spawn(|| both_counts_pass(16, &["--engine", "subtrees", "--split-rows", "4"], "50"));
        for n in 16..=18 {
            scope.spawn(move || both_counts_pass(n, &["--engine", "colours"], "50"));
        }
    });
}

/// The script visits whole solutions of the units of both passes, and says so.
#[test]
fn whole_solutions_are_visited() {
    if !has_python(SCRIPT) {
        return;
    }
    for pass in ["first", "second"] {
        for (n, engine, units) in
            [(9, "colours", ALL), (12, "colours", ALL), (14, "colours", "10"), (9, "subtrees", ALL)]
        {
            let options = ["--engine", engine];
            let path = finished(&format!("solutions-{n}-{engine}-{pass}"), n, &options, pass);
            let checked = check(&path, &["--units", units, "--seed", "1", "--solutions"]);
            let (code, found, messages) = result(&checked);
            assert_eq!((code, messages), (Some(0), ""), "{}: {found}", path.display());
            assert!(
                found.contains(" units, solution by solution, chosen with seed 1\n"),
                "{found}"
            );
        }
    }
}

/// Journals of older builds, of which some were stopped, cut off, joined, or are shards.
#[test]
fn journals_of_older_builds_are_recounted() {
    if !has_python(SCRIPT) {
        return;
    }
    let mut journals = 0;
    for folder in ["tests/data/journals-a29a221", "tests/data/journals-a29a221/shards"] {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.extension().is_some_and(|ending| ending == "journal") {
                // A unit of this journal takes Python ten seconds, so only its lines are checked.
                let units = if path.ends_with("bitmask-stopped.journal") { "0" } else { "10" };
                passes(&path, units);
                journals += 1;
            }
        }
    }
    assert!(journals > 10, "{journals} journals");
}

/// Lines that are cut off, damaged or of another count, and a journal without units.
#[test]
fn what_is_wrong_in_a_journal_is_named() {
    if !has_python(SCRIPT) {
        return;
    }
    let options = ["--engine", "subtrees", "--split-rows", "2", "--threads", "16"];
    let path = journal_in(&finished("wrong", 10, &options, "first"));
    let good = fs::read_to_string(&path).expect("text");
    let fails = |text: &str, reason: &str| {
        let wrong = fresh("check-unit-wrong-copy.journal");
        fs::write(&wrong, text).expect("room");
        let checked = check(&wrong, &["--units", ALL]);
        let found = format!("{}{}", stdout(&checked), crate::common::stderr(&checked));
        assert_eq!(checked.status.code(), Some(1), "{reason}: {found}");
        assert!(found.contains(reason), "no '{reason}' in: {found}");
    };
    fails("", "no line 1 is intact");
    fails(&good.replacen("n=10", "n=11", 1), "no line 1 is intact");
    fails(good.lines().next().map(|line| format!("{line}\n")).expect("a line").as_str(), "no unit");
    fails(&good.replacen("counts=", "counts=1", 1), "line 3 is damaged");
    let first = good.lines().next().expect("a line");
    let wrong_sum = first.to_owned()
        + "\n"
        + &with_check_digits(first, "done units=0..1 solutions=5 elapsed-ms=0 busy-us=1 counts=1");
    fails(&wrong_sum, "line 2 states 5 solutions, and its counts give 8");
    let other = finished("other", 9, &options, "first");
    let other = fs::read_to_string(journal_in(&other)).expect("text");
    let stray = other.lines().nth(2).expect("a line");
    fails(&format!("{good}{stray}\n"), "is damaged");

    // Joined with a journal of another count, it has no fault. A last line that was cut off is none either.
    let joined = fresh("check-unit-joined.journal");
    fs::write(&joined, format!("{good}{other}done units=0..1 sol")).expect("room");
    passes(&joined, ALL);
}

/// Journals of shards in a folder, of which one lacks its first line. A file that no process has ended may be there.
#[test]
fn journals_in_a_folder_are_read_together() {
    if !has_python(SCRIPT) {
        return;
    }
    let folder = fresh("check-unit-folder");
    for shard in ["0/2", "1/2"] {
        let counted = run(&mut count_into("10", &folder, &["--shard", shard]));
        assert!(counted.status.success(), "{counted:?}");
    }
    fs::write(folder.join("new.journal"), "nqueens-journal 2 vers").expect("room");
    fs::write(folder.join(".hidden.journal"), "no journal\n").expect("room");
    assert!(passes(&folder, ALL).contains("\ntotal      724\n"));

    let journals = journals_in(&folder);
    let damaged = journals.iter().find(|path| !path.ends_with("new.journal")).expect("a journal");
    let text = fs::read_to_string(damaged).expect("text");
    fs::write(damaged, text.replacen("n=10", "n=11", 1)).expect("room");
    let checked = check(&folder, &["--units", ALL]);
    let found = stdout(&checked);
    assert_eq!(checked.status.code(), Some(1), "{found}");
    assert!(found.contains("\ntotal      724\n") && found.contains("line 1 is damaged"), "{found}");
}

/// A unit with different counts is not finished until one of them has two lines, and more than any other.
#[test]
fn more_lines_settle_a_unit() {
    if !has_python(SCRIPT) {
        return;
    }
    let options = ["--engine", "subtrees", "--split-rows", "2"];
    let folder = finished("settled", 10, &options, "first");
    let good = journal_in(&folder);
    let wrong = folder.join("wrong.journal");
    fs::copy(&good, &wrong).expect("room");
    let unit = raise_first_count(&wrong);
    let checked = check(&folder, &["--units", "0"]);
    let found = stdout(&checked);
    assert_eq!(checked.status.code(), Some(1), "{found}");
    assert!(found.contains(&format!("fault      unit {unit} was counted as ")), "{found}");
    assert!(!found.contains("\ntotal "), "{found}");

    // Another process has counted all units, and taken longer.
    let text = fs::read_to_string(&good).expect("text");
    let first = text.lines().next().expect("a line");
    let mut again = format!("{first}\n");
    for line in text.lines().filter(|line| line.starts_with("done ")) {
        let line = without_check_digits(line).replace(" busy-us=", " busy-us=9");
        again += &with_check_digits(first, &line);
    }
    fs::write(folder.join("again.journal"), again).expect("room");
    let found = passes(&folder, ALL);
    assert!(found.contains(&format!("settled    unit {unit} was counted as ")), "{found}");
    assert!(found.contains("\ntotal      724\n"), "{found}");
}

/// Every count is wrong, so the units that the script names are the ones that it chose.
#[test]
fn a_seed_chooses_the_units_that_verify_chooses() {
    if !has_python(SCRIPT) {
        return;
    }
    let options = ["--engine", "subtrees", "--split-rows", "2", "--threads", "16"];
    let path = journal_in(&finished("seed", 10, &options, "first"));
    let raised = raise_counts(&path, 1, |_, _| true);
    let all: Vec<usize> = (0..80).collect();
    let mut sorted = raised;
    sorted.sort_unstable();
    assert_eq!(sorted, all, "each line has one unit, because so many threads take one each time");
    let seeds: [(&str, [usize; 10]); 2] = [
        ("7", [1, 10, 18, 25, 27, 33, 36, 43, 65, 79]),
        ("18446744073709551615", [0, 16, 19, 31, 52, 60, 62, 63, 65, 72]),
    ];
    for (seed, chosen) in seeds {
        let checked = check(&path, &["--units", "10", "--seed", seed]);
        assert_eq!(checked.status.code(), Some(1), "{checked:?}");
        let mut named = Vec::new();
        for line in stdout(&checked).lines() {
            if let Some(text) = line.strip_prefix("fault      unit ") {
                let unit = text.split(' ').next().expect("a number");
                named.push(unit.parse::<usize>().expect("a number"));
            }
        }
        assert_eq!(named, chosen, "{seed}");
    }
}

/// The script is for journals of every engine, so it must know their names.
#[test]
fn the_script_knows_every_engine() {
    let script = fs::read_to_string("scripts/check-unit.py").expect("a script");
    for engine in Engine::ALL {
        assert!(script.contains(engine.name()), "{engine}");
    }
}
