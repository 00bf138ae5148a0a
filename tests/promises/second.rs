//! Promise: the second pass finds the count of every unit on mirrored data, and `merge` compares the two counts
//! unit by unit. docs/CLUSTER.md and docs/COLOURS.md make this promise.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use nqueens::journal::Records;
use nqueens::plan::{Pass, Plan, Worker};
use nqueens::{Cancel, Count, Engine, Kernel, Shard, Solutions};
use serde_json::Value;

#[cfg(target_os = "linux")]
use crate::common::processes::shim;
use crate::common::{
    TEXTBOOK, arg, contents, fresh_folder, journal_in, json, kernels, nqueens, plan_of,
    raise_first_count, raised, record_of, refused, result, run, size, stderr, stdout,
};

/// Counts units twice, and compares.
fn check(plan: Plan, kernel: Kernel, units: impl IntoIterator<Item = usize>) {
    let name = plan.to_string();
    let cancel = Cancel::new();
    let n = plan.size();
    let engine = plan.engine();
    let split_rows = plan.split_rows();
    let second = plan_of(n, engine, split_rows).for_pass(Pass::Second);
    assert_eq!(plan.id(), second.id());
    let mut first_worker = plan.worker(kernel).expect("memory");
    let mut second_worker = second.worker(kernel).expect("memory");
    for unit in units {
        let first_count = first_worker.count(unit, &cancel).expect("a count");
        let second_count = second_worker.count(unit, &cancel).expect("a count");
        assert_eq!(first_count, second_count, "{name}, unit {unit}, kernel {kernel}");
    }
}

#[test]
fn all_units_of_colours_count_the_same() {
    for n in 0..=14 {
        for kernel in kernels() {
            let plan = plan_of(size(n), Engine::Colours, None);
            let units = plan.units();
            check(plan, kernel, 0..units);
        }
    }
}

/// The second pass of a textbook engine is that of the mirrored columns.
#[test]
fn all_units_of_textbook_engines_count_the_same() {
    for (engine, _) in TEXTBOOK {
        for n in 0..=7 {
            let plan = plan_of(size(n), engine, None);
            let units = plan.units();
            check(plan, Kernel::detect(), 0..units);
        }
    }
}

#[test]
fn all_units_of_subtrees_count_the_same() {
    for n in 0..=14 {
        let most_rows = if n <= 11 { 4 } else { 2 };
        for kernel in kernels() {
            for rows in 1..=most_rows {
                let plan = plan_of(size(n), Engine::Subtrees, Some(rows));
                let units = plan.units();
                check(plan, kernel, 0..units);
            }
        }
    }
    for n in 15..=16 {
        let plan = plan_of(size(n), Engine::Subtrees, Some(2));
        let units = plan.units();
        check(plan, Kernel::detect(), 0..units);
    }
}

/// Units chosen at random: the same ones each time.
#[test]
fn units_of_large_boards_count_the_same() {
    for (n, sample) in
        [(16, 40), (17, 40), (18, 40), (19, 30), (20, 20), (21, 20), (22, 10), (23, 6)]
    {
        let mut random = fastrand::Rng::with_seed(n.into());
        let plan = plan_of(size(n), Engine::Colours, None);
        let units = plan.units();
        let kernels = kernels();
        let kernel = kernels[n as usize % kernels.len()];
        check(plan, kernel, (0..sample).map(|_| random.usize(..units)));
    }
}

/// A unit as `nqueens unit --json` prints it.
struct Printed {
    columns: Vec<BTreeSet<u64>>,
    /// Only units of engine colours have them.
    white_rows: Option<BTreeSet<u64>>,
    unit_count: u64,
}

/// A set of rows or columns, ordered as the function `key` in scripts/check-unit.py orders them.
type Key = (usize, Vec<(Vec<bool>, Vec<bool>)>);

fn numbers(list: &Value) -> BTreeSet<u64> {
    let list = list.as_array().expect("a list");
    list.iter().map(|number| number.as_u64().expect("a number")).collect()
}

fn printed(n: u64, unit: usize, options: &[&str]) -> Printed {
    let mut command = nqueens(&["unit", &n.to_string(), &unit.to_string(), "--json"]);
    let object = json(&run(command.args(options)));
    let white_rows = &object["white_rows"];
    Printed {
        columns: object["columns"].as_array().expect("a list").iter().map(numbers).collect(),
        white_rows: if white_rows.is_null() { None } else { Some(numbers(white_rows)) },
        unit_count: object["unit_count"].as_str().and_then(|text| text.parse().ok()).expect("text"),
    }
}

fn key(n: u64, set: &BTreeSet<u64>) -> Key {
    let [even, mut odd] = [1, 2].map(|first: u64| {
        let numbers = (first..=n).step_by(2);
        numbers.map(|number| set.contains(&number)).collect::<Vec<bool>>()
    });
    let size = even.iter().filter(|is_in| **is_in).count();
    if n.is_multiple_of(2) {
        odd.reverse();
    }
    let mut parts = Vec::new();
    for mut part in [even, odd] {
        part.reverse();
        let centre = if part.len() > 6 { part[3..part.len() - 3].to_vec() } else { Vec::new() };
        parts.push((centre, part));
    }
    (size, parts)
}

/// The smallest key of a set and its images under flips.
fn least(n: u64, set: &BTreeSet<u64>) -> Key {
    let flipped: BTreeSet<u64> = set.iter().map(|number| n + 1 - number).collect();
    let mut images = vec![set.clone(), flipped];
    if n.is_multiple_of(2) {
        for place in 0..2 {
            let others = (1..=n).filter(|number| !images[place].contains(number)).collect();
            images.push(others);
        }
    }
    images.iter().map(|image| key(n, image)).min().expect("an image")
}

/// Counts a unit solution by solution, by the rules that docs/FORMAT.md names.
fn count_as_a_stranger(n: u64, unit: &Printed) -> u64 {
    let mut count = 0;
    for solution in Solutions::new(size(u32::try_from(n).expect("small"))) {
        let mut is_allowed = true;
        let mut white_columns = BTreeSet::new();
        for (place, column) in solution.columns().iter().enumerate() {
            let row = place as u64 + 1;
            let column = u64::from(*column) + 1;
            is_allowed &= unit.columns[place].contains(&column);
            if row % 2 == column % 2 {
                white_columns.insert(column);
            }
        }
        if !is_allowed {
            continue;
        }
        count += match &unit.white_rows {
            None => 1,
            Some(white_rows) => {
                let [of_rows, of_columns] = [white_rows, &white_columns].map(|set| least(n, set));
                u64::from(of_columns > of_rows) + u64::from(of_columns >= of_rows)
            }
        };
    }
    count
}

/// `unit --second` prints the image that the second pass counts, and a stranger's count of it agrees.
#[test]
fn a_stranger_can_count_the_units_of_both_counts() {
    let choices: [&[&str]; 4] = [
        &["--engine", "colours"],
        &["--engine", "bitmask"],
        &["--engine", "subtrees", "--split-rows", "1"],
        &["--engine", "subtrees", "--split-rows", "2"],
    ];
    for n in [0, 1, 3, 4, 6, 7, 8, 9] {
        for options in choices {
            let engine: Engine = options[1].parse().expect("an engine");
            let split_rows = options.get(3).map(|rows| rows.parse().expect("a number"));
            let units = plan_of(size(n), engine, split_rows).units();
            // An odd step, because units of one kind may come in pairs.
            for unit in (0..units).step_by((units / 12).max(1) | 1) {
                let n = u64::from(n);
                let first = printed(n, unit, options);
                let second = printed(n, unit, &[options, &["--second"]].concat());
                let mut image = first.columns.clone();
                if first.white_rows.is_some() {
                    image.reverse();
                } else {
                    for columns in &mut image {
                        *columns = columns.iter().map(|column| n + 1 - column).collect();
                    }
                }
                assert_eq!(second.columns, image, "n = {n}, {options:?}, unit {unit}");
                for printed in [first, second] {
                    let count = count_as_a_stranger(n, &printed);
                    assert_eq!(printed.unit_count, count, "n = {n}, {options:?}, unit {unit}");
                }
            }
        }
    }
}

fn count(n: u32, pass: Pass) -> Count<'static> {
    Count::new(size(n)).pass(pass).threads(1)
}

/// Counts a shard of two into a folder. Returns the path of its journal.
fn count_shard_of_two(index: usize, pass: Pass, folder: &Path) -> PathBuf {
    let shard = Shard::new(index, 2).expect("in range");
    let count = count(12, pass).shard(shard).journal(folder);
    let outcome = count.run().expect("a shard");
    assert_eq!(outcome.units_before, 0, "the units of the other count are not its own");
    let again = count.run().expect("a shard");
    assert_eq!((again.units_before, again.journal), (outcome.units, None));
    outcome.journal.expect("it was written")
}

/// Counts both shards of two, both passes, into one folder. Returns the paths of the first pass, then of the second.
fn both_counts(folder: &Path) -> [Vec<PathBuf>; 2] {
    [Pass::First, Pass::Second]
        .map(|pass| (0..2).map(|index| count_shard_of_two(index, pass, folder)).collect())
}

#[test]
fn both_counts_can_share_a_folder() {
    let folder = fresh_folder("second-folder");
    let paths = both_counts(&folder);
    for (pass, paths) in [Pass::First, Pass::Second].into_iter().zip(&paths) {
        for path in paths {
            assert_eq!(contents(path).plan().pass(), pass);
            let name = path.file_name().and_then(std::ffi::OsStr::to_str).expect("text");
            assert_eq!(name.starts_with("n12-second-000"), pass == Pass::Second, "{name}");
        }
        let merged = record_of(paths);
        assert_eq!((merged.solutions(), merged.plan().pass()), (14_200, pass));
    }
    let [first, second] = &paths;
    let header = fs::read_to_string(&second[0]).expect("text").lines().next().map(str::to_owned);
    let header = header.expect("a line");
    assert!(header.starts_with("nqueens-journal 2 version="), "{header}");
    assert!(header.contains(" n=12 count=second engine="), "{header}");

    for paths in [[&first[0], &second[0]], [&second[0], &first[0]]] {
        let mixed = Records::read(&paths).expect("good");
        assert!(mixed.first().is_some() && mixed.second().is_some());
    }
    for command in ["merge", "status", "verify"] {
        let alone = run(nqueens(&[command]).args(second));
        assert!(alone.status.success(), "{alone:?}");
        assert!(stdout(&alone).contains(", second pass\n"), "{alone:?}");
        let whole = run(nqueens(&[command]).arg(&folder));
        assert_eq!((whole.status.code(), stderr(&whole)), (Some(0), ""), "{command}");
        // The plan of both, then the plan of each; `status` has only the latter.
        let plans = stdout(&whole).matches("plan         ").count();
        let seconds = stdout(&whole).matches(", second pass\n").count();
        assert_eq!((plans, seconds), (if command == "status" { 2 } else { 3 }, 1), "{whole:?}");
        let said = "144 of 144 units counted twice, all with equal counts\n";
        assert!(stdout(&whole).contains(said), "{whole:?}");
    }
    assert_eq!(stdout(&run(nqueens(&["merge", "--quiet"]).args(second))), "14200\n");
    let missing = run(nqueens(&["merge", "--missing"]).arg(&folder));
    refused(&missing, 2, &["these are journals of both passes", "in a folder of its own"]);
    for paths in paths {
        let missing = run(nqueens(&["merge", "--missing"]).args(paths));
        assert_eq!(result(&missing), (Some(0), "", ""));
    }
}

/// Whatever of both passes is there is used, and a unit with different counts is never part of a total.
#[test]
fn both_passes_are_compared_unit_by_unit() {
    let folder = fresh_folder("second-twice");
    let [first, second] = both_counts(&folder);
    let merge = |paths: &[&PathBuf]| run(nqueens(&["merge"]).args(paths));
    let units = contents(&first[0]).plan().units();
    let half = contents(&first[0]).units_done();
    let cases: [(&[&PathBuf], usize); 3] = [
        (&[&folder], units),
        (&[&first[0], &first[1], &second[1]], units - half),
        // Each count has a half of the units.
        (&[&first[0], &second[1]], 0),
    ];
    for (paths, counted_twice) in cases {
        let merged = merge(paths);
        let code = if counted_twice == units { Some(0) } else { Some(3) };
        assert_eq!(merged.status.code(), code, "{paths:?}");
        assert_eq!(stderr(&merged).is_empty(), counted_twice == units, "{merged:?}");
        let text = stdout(&merged);
        let twice =
            format!("{counted_twice} of {units} units counted twice, all with equal counts\n");
        assert!(text.contains("\ntotal        14200\n") && text.contains(&twice), "{text}");
        let object = json(&run(nqueens(&["merge", "--json"]).args(paths)));
        assert_eq!((&object["total"], &object["pass"]), (&"14200".into(), &"both".into()));
        assert_eq!(object["counted_twice"], counted_twice, "{object}");
        assert_eq!(object["counted_once"], units - counted_twice, "{object}");
        let of_each = [&object["first"]["pass"], &object["second"]["pass"]];
        assert_eq!(of_each, ["first", "second"], "{object}");
        assert_eq!(stdout(&run(nqueens(&["merge", "-q"]).args(paths))), "14200\n");
    }
    let part = merge(&[&first[0], &second[0]]);
    assert_eq!((part.status.code(), stdout(&part)), (Some(3), ""));
    for pass in ["first", "second"] {
        let lack = format!("the {pass} pass lacks ");
        assert!(stderr(&part).contains(&lack), "{part:?}");
    }

    // One more solution in one unit of the second pass, and everything else as it would be written.
    let wrong_unit = raise_first_count(&second[0]);
    // A copy of the wrong line does not settle it.
    fs::copy(&second[0], folder.join("copy.journal")).expect("room");
    let differs = merge(&[&folder]);
    assert_eq!((differs.status.code(), stdout(&differs)), (Some(1), ""));
    let reason = stderr(&differs);
    let unit = format!("unit {wrong_unit} differs: first pass ");
    let parts =
        [&unit, "copy.journal", "the counts differ in 1 unit", "'nqueens verify' finds out"];
    assert!(parts.iter().all(|part| reason.contains(part)), "{reason}");
    let status = run(nqueens(&["status", "--json"]).arg(&folder));
    assert_eq!((status.status.code(), &json(&status)["differing"]), (Some(1), &1.into()));
    // The recount shows which count is wrong, even if it chooses no unit.
    let verified = run(nqueens(&["verify", "--units", "0"]).arg(&folder));
    assert_eq!(verified.status.code(), Some(1), "{verified:?}");
    let wrong = format!("unit {wrong_unit}: the second pass has ");
    assert!(stderr(&verified).contains(&wrong), "{verified:?}");
    assert!(!stderr(&verified).contains("the first pass has "), "{verified:?}");

    // As the message says: the files of the wrong host go, and the count is resumed.
    fs::remove_file(folder.join("copy.journal")).expect("it is there");
    fs::remove_file(&second[0]).expect("it is there");
    let once = merge(&[&folder]);
    assert_eq!(once.status.code(), Some(3), "{once:?}");
    assert!(stdout(&once).contains("\ntotal        14200\n"), "{once:?}");
    let again = count(12, Pass::Second).journal(&folder).run().expect("a count");
    assert!(again.units_before < again.units, "units are missing");
    assert_eq!(again.total, Some(14_200));
    assert!(merge(&[&folder]).status.success());
}

/// Without this, a second pass of which a shard was forgotten would pass for a whole one.
#[test]
fn what_was_counted_once_is_said_until_every_unit_was_counted_twice() {
    let folder = fresh_folder("second-once");
    let [first, second] = both_counts(&folder);
    let lacking = [&first[0], &first[1], &second[0]];
    let units = contents(&second[1]).units_done();
    let all = contents(&second[1]).plan().units();
    let lack = format!("nqueens: the second pass lacks {units} of {all} units, all in shard 1/2;");
    for (command, answer) in [("merge", "14200\n"), ("verify", "0\n")] {
        let checked = run(nqueens(&[command, "--quiet"]).args(lacking));
        assert_eq!((checked.status.code(), stdout(&checked)), (Some(3), answer), "{checked:?}");
        assert!(stderr(&checked).starts_with(&lack), "{checked:?}");
        let object = json(&run(nqueens(&[command, "--json"]).args(lacking)));
        assert_eq!(object["counted_once"], units, "{object}");
        let whole = run(nqueens(&[command, "--quiet"]).arg(&folder));
        assert_eq!(result(&whole), (Some(0), answer, ""));
        let object = json(&run(nqueens(&[command, "--json"]).arg(&folder)));
        assert_eq!(object["counted_once"], 0, "{object}");
    }
}

/// Appends lines with other counts of the unit that is the first in the first `done` line: for each number one line, in
/// which the count is raised by it. Returns the unit.
fn dispute(path: &Path, raised_by: &[u64]) -> usize {
    let plan = plan_of(size(8), Engine::Bitmask, None);
    let mut text = fs::read_to_string(path).expect("text");
    let line = text.lines().find(|line| line.starts_with("done ")).expect("a line").to_owned();
    let mut unit = 0;
    for (number, by) in raised_by.iter().enumerate() {
        let other = line.replace("busy-us=", &format!("busy-us={}", number + 1));
        let (raised_unit, raised_line) = raised(&plan, &text, &other, *by);
        unit = raised_unit;
        text += &raised_line;
    }
    fs::write(path, text).expect("room");
    unit
}

/// No count of a machine that made an error is part of a total, whatever the other count holds. More lines settle it.
#[test]
fn a_unit_that_one_of_the_counts_disputes_is_settled_by_no_other_count() {
    // The lines that unit 0 gets, each with what its count is raised by, in the first and in the second pass; and the
    // exit code of `merge`.
    let cases: [(&[u64], &[u64], i32); 9] = [
        (&[1], &[], 3),
        (&[], &[1], 3),
        (&[1], &[2], 3),
        (&[1, 2], &[], 3),
        (&[1, 1, 0], &[], 3),
        // Settled.
        (&[1, 0], &[], 0),
        (&[1, 0, 0, 1], &[], 0),
        (&[2, 1, 0], &[1, 0], 0),
        // Settled as another number than that of the second pass.
        (&[1, 1], &[], 1),
    ];
    for (of_first, of_second, code) in cases {
        let folder = fresh_folder("second-disputed");
        for (pass, lines) in [(Pass::First, of_first), (Pass::Second, of_second)] {
            let made = count(8, pass).engine(Engine::Bitmask).journal(&folder).run();
            let path = folder.join(format!("{pass}.journal"));
            fs::rename(made.expect("a count").journal.expect("a file"), &path).expect("room");
            // The one thread began with the first unit.
            assert_eq!(dispute(&path, lines), 0);
        }
        let case = format!("{of_first:?} {of_second:?}");
        let total: Value = if code == 0 { "92".into() } else { Value::Null };
        for command in ["merge", "verify"] {
            let quiet = run(nqueens(&[command, "--quiet"]).arg(&folder));
            assert_eq!(quiet.status.code(), Some(code), "{case}: {quiet:?}");
            if command == "merge" {
                assert_eq!(stdout(&quiet), if code == 0 { "92\n" } else { "" }, "{case}");
            }
        }
        for command in ["merge", "status", "verify"] {
            let said = run(nqueens(&[command, "--json"]).arg(&folder));
            assert!(stderr(&said).contains("unit 0 was counted as "), "{case}: {said:?}");
            let object = json(&said);
            assert_eq!(object["total"], total, "{case}, {command}: {object}");
            for pass in ["first", "second"] {
                if let Some(alone) = object[pass].get("total") {
                    assert_eq!(*alone, total, "{case}, {command}, {pass}: {object}");
                }
            }
        }
        let records = Records::read(&[&folder]).expect("readable");
        let both = records.compare().expect("two counts");
        let expected = (usize::from(code == 3), usize::from(code == 1));
        assert_eq!((both.disputed.len(), both.differing.len()), expected, "{case}");
        assert_eq!(records.total(), (code == 0).then_some(92), "{case}");
        let verdict = records.verify(8, 1, &Cancel::new()).expect("a verdict");
        assert_eq!(verdict.finished, if code == 3 { 7 } else { 8 }, "{case}");
    }
}

/// A journal whose disk fails between the two readings settles nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_unit_stays_disputed_if_its_lines_cannot_be_read_again() {
    let folder = fresh_folder("second-disputed-unreadable");
    count(8, Pass::First).engine(Engine::Bitmask).journal(&folder).run().expect("a count");
    let journal = journal_in(&folder);
    // One more line settles it, if all lines are read.
    dispute(&journal, &[1, 0]);
    let path = arg(&journal);
    let mut failures_after_the_first_reading = 0;
    for at in 1..20 {
        let mut command = nqueens(&["merge", "--json", path]);
        command.env("LD_PRELOAD", shim()).env("SHIM_FAIL", "read").env("SHIM_ERRNO", "5");
        let merged = run(command.env("SHIM_AT", at.to_string()));
        if stdout(&merged).is_empty() || merged.status.code() == Some(0) {
            // The first reading has failed, or none.
            continue;
        }
        let object = json(&merged);
        assert_eq!(object["total"], Value::Null, "{merged:?}");
        if object["finished"] == 7 {
            assert_eq!(object["disputed"], 1, "{merged:?}");
            assert!(stderr(&merged).contains("unit 0 was counted as different numbers"));
            failures_after_the_first_reading += 1;
        }
    }
    assert!(failures_after_the_first_reading > 0);
}

/// A counter of units, and what it counts with.
struct NamedWorker<'a> {
    name: String,
    worker: Worker<'a>,
}

/// Units of boards that no test can count: every kernel and both passes agree, for a worker that begins and for one
/// that has counted other units, and two units agree with a recount.
#[test]
#[ignore = "takes 20 s"]
fn units_of_the_largest_boards_count_the_same() {
    for (n, sample) in [(24, 4), (25, 2), (26, 1)] {
        let mut random = fastrand::Rng::with_seed(n.into());
        let cancel = Cancel::new();
        let plans = [Pass::First, Pass::Second]
            .map(|pass| plan_of(size(n), Engine::Colours, None).for_pass(pass));
        let mut workers = Vec::new();
        for plan in &plans {
            for kernel in kernels() {
                let name = format!("{kernel}, {} count", plan.pass());
                workers.push(NamedWorker { name, worker: plan.worker(kernel).expect("memory") });
            }
        }
        for number in 0..sample {
            let unit = random.usize(..plans[0].units());
            let count = plans[0]
                .worker(Kernel::detect())
                .expect("memory")
                .count(unit, &cancel)
                .expect("a count");
            for NamedWorker { name, worker } in &mut workers {
                let again = worker.count(unit, &cancel).expect("a count");
                assert_eq!(again, count, "n = {n}, unit {unit}, {name}");
            }
            if n == 24 && number < 2 {
                assert_eq!(plans[0].recount(unit, &cancel), Ok(count), "unit {unit}");
            }
        }
    }
}
