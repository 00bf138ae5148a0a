//! Promise: journals of older builds are read and resumed, and stay as they are. docs/FORMAT.md makes this promise
//! under "Format 2".
//!
//! `tests/data/journals-a29a221` holds journals of the build with this commit, which had other commands, and the same
//! format 2. They were made by its `count N --engine NAME --journal FILE`, with and without `--second`. The shards were
//! made by its `shard 12 --index I --shards 3 --out shards`. `subtrees-packed` was written by its `merge --into` from
//! three shards. The files called `stopped` are from runs that SIGTERM ended, `bitmask-stopped` from two of them. Of
//! `subtrees-cut-off` the last 30 bytes were taken, as a kill during a write would do.
//!
//! `tests/data/journals-6d48474` and `journals-8781692` hold journals of the last builds that wrote to a named file:
//! finished, second, stopped by SIGTERM, killed by SIGKILL, stopped and resumed in one file, in shards, packed with
//! `cat`, and damaged in one line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use nqueens::journal::{Records, Run};
use nqueens::plan::Pass;
use nqueens::{Count, Engine, Shard};

use crate::common::{
    arg, contents, counts, fresh_folder, journal_in, journals_in, json, keep_lines, output,
    raise_counts, record_of, repeated, size, stderr, stdout, with_check_digits,
};

const FOLDER: &str = "tests/data/journals-a29a221";
/// The program that wrote all of the journals.
const BUILD: &str = "0.1.0+a29a221";

use Engine::{Bitmask, BoardScan, BoolArrays, Colours, Subtrees};
use Pass::{First, Second};

/// The finished journals: name, board, engine, first or second pass.
const FINISHED: [(&str, u32, Engine, Pass); 12] = [
    ("board-scan-first", 9, BoardScan, First),
    ("board-scan-second", 9, BoardScan, Second),
    ("bool-arrays-first", 9, BoolArrays, First),
    ("bool-arrays-second", 9, BoolArrays, Second),
    ("bitmask-first", 10, Bitmask, First),
    ("bitmask-second", 10, Bitmask, Second),
    ("subtrees-first", 11, Subtrees, First),
    ("subtrees-second", 11, Subtrees, Second),
    ("subtrees-split-rows-2", 10, Subtrees, First),
    ("subtrees-packed", 11, Subtrees, First),
    ("colours-first", 12, Colours, First),
    ("colours-second", 12, Colours, Second),
];

/// The journals of counts that have units left: name, board, first or second pass, finished units.
const UNFINISHED: [(&str, u32, Pass, usize); 3] = [
    ("bitmask-stopped", 15, First, 8),
    ("colours-stopped", 18, Second, 10_019),
    ("subtrees-cut-off", 11, Second, 28),
];

/// Copies a journal to a fresh folder.
fn copy(test: &str, name: &str) -> PathBuf {
    let path = fresh_folder(&format!("old-{test}-{name}")).join("q.journal");
    fs::copy(Path::new(FOLDER).join(format!("{name}.journal")), &path).expect("room");
    path
}

/// Copies the folder of shards, of which shard 1/3 is missing.
fn copy_shards(test: &str) -> PathBuf {
    let folder = fresh_folder(&format!("old-{test}"));
    for path in journals_in(&Path::new(FOLDER).join("shards")) {
        fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("room");
    }
    folder
}

fn total(n: u32) -> u128 {
    size(n).published().total.expect("a published board")
}

/// Counts in the folder of a journal whose units are not to be counted again. Nothing but the board is named, so the
/// engine is that of the journal.
fn resume(path: &Path, n: u32, pass: Pass) {
    let folder = path.parent().expect("a folder");
    let before = counts(&contents(path));
    let bytes = fs::read(path).expect("readable");
    let outcome = Count::new(size(n)).pass(pass).threads(2).journal(folder).run();
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((outcome.total, outcome.units_before), (Some(total(n)), before.len()), "{path:?}");
    assert_eq!((outcome.left_out, outcome.journal_fault), (Vec::new(), None), "{path:?}");
    assert_eq!(outcome.journal.is_some(), before.len() < outcome.units, "{path:?}");

    let after = contents(folder);
    assert_eq!((after.total(), repeated(&after)), (Some(total(n)), 0), "{path:?}");
    let counts: BTreeMap<_, _> = counts(&after);
    assert!(before.iter().all(|(unit, count)| counts.get(unit) == Some(count)), "{path:?}");
    assert_eq!(fs::read(path).expect("readable"), bytes, "{path:?}: it is only read");
}

#[test]
fn finished_journals_give_their_totals() {
    for (name, n, engine, pass) in FINISHED {
        let path = copy("finished", name);
        let held = contents(&path);
        let plan = held.plan();
        assert_eq!((plan.size(), plan.engine(), plan.pass()), (size(n), engine, pass));
        assert_eq!(held.total(), Some(total(n)), "{name}");
        let builds: BTreeSet<&str> = held.runs().map(Run::version).collect();
        assert!(builds.into_iter().eq([BUILD]), "{name}");

        resume(&path, n, pass);
        for command in ["merge", "status", "verify"] {
            let answer = output(&[command, "--json", arg(&path)]);
            assert_eq!(answer.status.code(), Some(0), "{command} {name}: {answer:?}");
            let answer = json(&answer);
            assert_eq!(answer["total"], total(n).to_string(), "{command} {name}");
            assert_eq!(answer["builds"], serde_json::json!([BUILD]), "{command} {name}");
        }
    }
}

/// What builds wrote to one file, which they resumed in place, is read from a folder.
#[test]
fn journals_of_builds_that_resumed_in_place_give_their_totals() {
    for build in ["6d48474", "8781692"] {
        let from = Path::new("tests/data").join(format!("journals-{build}"));
        for (name, n, pass, is_finished) in [
            ("finished", 10, First, true),
            ("second", 10, Second, true),
            ("stopped", 16, First, false),
            ("killed", 16, First, false),
            ("resumed", 16, First, true),
            ("packed", 9, First, true),
            ("damaged", 10, First, false),
        ] {
            let folder = fresh_folder(&format!("old-{build}-{name}"));
            let path = folder.join("q.journal");
            fs::copy(from.join(format!("{name}.journal")), &path).expect("room");
            let held = record_of(&[&path]);
            assert_eq!(held.total(), is_finished.then_some(total(n)), "{build}, {name}");
            assert!(held.runs().all(|run| run.version().ends_with(build)), "{build}, {name}");
            assert!(held.units_done() > 0, "{build}, {name}");
            let mut count = Count::new(size(n)).pass(pass).threads(2).journal(&folder);
            if n == 16 {
                // All units of this slow engine would take half a minute.
                count = count.shard(Shard::new(0, 4).expect("in range"));
            }
            let outcome = count.run().expect("a count");
            let merged = record_of(&[&folder]);
            let new = outcome.units_done - outcome.units_before;
            assert_eq!(merged.units_done(), held.units_done() + new, "{build}, {name}");
            assert_eq!(repeated(&merged), 0, "{build}, {name}");
            if n == 16 {
                let finished = counts(&record_of(&[&from.join("resumed.journal")]));
                assert!(counts(&merged).iter().all(|(unit, count)| finished[unit] == *count));
            } else {
                assert_eq!(merged.total(), Some(total(n)), "{build}, {name}");
            }
        }
        let shards = contents(&from.join("shards"));
        assert_eq!((shards.total(), shards.runs().count()), (Some(total(9)), 3), "{build}");
    }
}

/// An error of one build may be the reason why a total is wrong, so the text names them, too.
#[test]
fn all_builds_are_named_if_there_are_several() {
    let folder = fresh_folder("old-and-new");
    let counted = output(&["count", "10", "--journal", arg(&folder)]);
    assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    let path = journal_in(&folder);
    let one = output(&["merge", arg(&path)]);
    assert!(!stdout(&one).contains("builds"), "{one:?}");
    // Another build went on with the journal.
    let text = fs::read_to_string(&path).expect("text");
    let first = text.lines().next().expect("a line");
    let run = "run version=0.0.9 kernel=portable threads=1 shard=0/1 machine=other";
    fs::write(&path, text.clone() + &with_check_digits(first, run)).expect("room");
    let two = output(&["merge", arg(&path)]);
    let builds = concat!("\nbuilds       2: 0.0.9, ", env!("CARGO_PKG_VERSION"));
    assert!(stdout(&two).contains(builds), "{two:?}");
}

#[test]
fn the_first_half_of_a_journal_is_resumed() {
    for (name, n, _, pass) in FINISHED {
        let path = copy("half", name);
        let lines = fs::read_to_string(&path).expect("text").lines().count();
        keep_lines(&path, lines / 2);
        let held = contents(&path).units_done();
        assert!(0 < held && held < contents(&path).plan().units(), "{name}: {held} units");
        resume(&path, n, pass);
    }
}

#[test]
fn stopped_and_cut_off_counts_are_resumed() {
    for (name, n, pass, units) in UNFINISHED {
        let path = copy("unfinished", name);
        let held = contents(&path);
        assert_eq!((held.units_done(), held.total()), (units, None), "{name}");
        assert_eq!(output(&["merge", arg(&path)]).status.code(), Some(3), "{name}");
        resume(&path, n, pass);
    }
}

#[test]
fn both_counts_of_a_board_prove_its_total() {
    for engine in ["board-scan", "bool-arrays", "bitmask", "subtrees", "colours"] {
        let first = copy("twice", &format!("{engine}-first"));
        let second = copy("twice", &format!("{engine}-second"));
        let records = Records::read(&[&first, &second]).expect("one plan");
        let comparison = records.compare().expect("both passes");
        let units = contents(&first).plan().units();
        assert_eq!((comparison.counted_twice, comparison.differing.len()), (units, 0));
        let merged = output(&["merge", "--quiet", arg(&first), arg(&second)]);
        let total = contents(&first).total().expect("finished");
        assert_eq!(stdout(&merged), format!("{total}\n"), "{engine}: {merged:?}");
    }
}

#[test]
fn the_missing_shard_of_a_folder_is_counted() {
    let folder = copy_shards("shards");
    let missing = output(&["merge", "--missing", arg(&folder)]);
    assert_eq!((missing.status.code(), stdout(&missing)), (Some(3), "1\n"), "{missing:?}");

    for index in [0, 1, 2] {
        let shard = Shard::new(index, 3).expect("in range");
        let outcome = Count::new(size(12)).shard(shard).threads(2).journal(&folder).run();
        let outcome = outcome.expect("a shard");
        let before = if index == 1 { 0 } else { outcome.units };
        assert_eq!(outcome.units_before, before, "shard {index}");
    }
    let merged = contents(&folder);
    assert_eq!((merged.total(), repeated(&merged)), (Some(14_200), 0));
    assert_eq!(journals_in(&folder).len(), 3);
    assert_eq!(stdout(&output(&["merge", "--quiet", arg(&folder)])), "14200\n");
}

#[test]
fn a_whole_count_skips_the_shards_of_a_folder() {
    let folder = copy_shards("whole");
    let held = contents(&folder).units_done();
    let outcome = Count::new(size(12)).threads(2).journal(&folder).run().expect("a count");
    assert_eq!((outcome.total, outcome.units_before), (Some(14_200), held));
    assert!(held > 0);
    let merged = contents(&folder);
    assert_eq!((merged.total(), repeated(&merged)), (Some(14_200), 0));
}

/// What `cat` makes of the shards is a journal, too.
#[test]
fn joined_shards_are_one_journal() {
    let folder = copy_shards("joined");
    let mut joined = Vec::new();
    for path in journals_in(&folder) {
        joined.extend(fs::read(&path).expect("readable"));
    }
    let path = fresh_folder("old-joined-one").join("joined.journal");
    fs::write(&path, joined).expect("room");
    resume(&path, 12, First);
}

/// Raises the count in the line that begins with unit 1.
fn raise_unit_1(path: &Path) -> [usize; 1] {
    let raised = raise_counts(path, 1, |_, line| line.starts_with("done units=1.."));
    raised.try_into().expect("one line")
}

/// Lines settle a unit whatever build wrote them: those of two older processes against a line of this build, and a line
/// of this build against that of an older process. Both older processes counted some of these tiny units in the same
/// microseconds, so their lines have the same text, and are one line. Unit 1 has two lines.
#[test]
fn lines_of_older_builds_settle_a_unit() {
    let old = copy("votes", "subtrees-first");
    let folder = old.parent().expect("a folder");
    let packed = copy("votes", "subtrees-packed");
    assert_eq!(contents(&old).plan().to_string(), contents(&packed).plan().to_string());
    let [unit] = raise_unit_1(&old);
    let right = contents(&packed).count(unit);

    // The old build counted the unit wrong, and then this one counts it.
    let merge = ["merge", "--quiet", arg(folder)];
    assert_ne!(output(&merge).status.code(), Some(0), "the total is not the published one");
    fs::copy(&packed, folder.join("packed.journal")).expect("room");
    assert_eq!(contents(folder).count(unit), None);
    assert_eq!(output(&merge).status.code(), Some(3));
    let counted = output(&["count", "11", "--quiet", "--journal", arg(folder)]);
    assert_eq!((counted.status.code(), stdout(&counted)), (Some(0), "2680\n"), "{counted:?}");
    assert_eq!(stderr(&counted).lines().count(), 1, "{counted:?}");
    assert_eq!(contents(folder).count(unit), right);

    // This build counted the unit wrong, after two old processes.
    let folder = fresh_folder("old-votes-new");
    let counted = output(&[
        "count",
        "11",
        "--engine",
        "subtrees",
        "--threads",
        "29",
        "--journal",
        arg(&folder),
    ]);
    assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    let [unit] = raise_unit_1(&journal_in(&folder));
    for name in ["subtrees-first", "subtrees-packed"] {
        let old = Path::new(FOLDER).join(format!("{name}.journal"));
        fs::copy(old, folder.join(format!("{name}.journal"))).expect("room");
    }
    let record = record_of(&[&folder]);
    let [dispute] = record.differences() else { panic!("{:?}", record.differences()) };
    assert_eq!((dispute.unit, record.total()), (unit, Some(2680)));
    let merged = output(&["merge", "--quiet", arg(&folder)]);
    assert_eq!((merged.status.code(), stdout(&merged)), (Some(0), "2680\n"), "{merged:?}");
    assert!(stderr(&merged).contains(" and ") && stderr(&merged).contains("settle it"));
}
