//! Journals: whatever happens to the file, the total is exact or there is a clear error.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use nqueens::journal::{self, JournalError};
use nqueens::{BoardSize, Cancel, Count, Engine, Error, Observer, Plan, SplitRows, UnitsDone};
use proptest::prelude::*;

mod common;
use common::kernels;

fn size(n: u32) -> BoardSize {
    BoardSize::new(n).expect("in range")
}

/// A path for one test, with nothing there.
fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.journal"));
    let _ = fs::remove_file(&path);
    path
}

/// A line with its CRC.
fn seal(text: &str) -> String {
    format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// The lines of a journal without their CRCs.
fn unsealed(journal: &str) -> Vec<&str> {
    journal.lines().map(|line| line.rsplit_once(' ').expect("a CRC").0).collect()
}

/// The bytes of a finished journal of a small board.
fn finished_journal(name: &str, n: u32, engine: Engine) -> Vec<u8> {
    let path = fresh(name);
    Count::new(size(n)).engine(engine).threads(1).journal(&path).run().expect("a count");
    fs::read(path).expect("it was written")
}

fn error_of(result: Result<nqueens::Outcome, Error>) -> JournalError {
    match result {
        Err(Error::Journal { error, .. }) => error,
        other => panic!("an error of the journal was expected, not {other:?}"),
    }
}

/// What reading a journal says of some bytes.
fn error_in(name: &str, bytes: impl AsRef<[u8]>) -> JournalError {
    let path = fresh(name);
    fs::write(&path, bytes).expect("the folder can be written");
    match journal::read(&path) {
        Err(Error::Journal { error, .. }) => error,
        other => panic!("an error was expected, not {other:?}"),
    }
}

/// A power cut may cut the file off anywhere: the count goes on from what is whole.
#[test]
fn a_journal_cut_off_at_any_byte_is_resumed() {
    let whole = finished_journal("cut-whole", 8, Engine::Halves);
    let path = fresh("cut");
    let mut resumed = 0;
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).expect("the folder can be written");
        let outcome = Count::new(size(8)).engine(Engine::Halves).threads(1).journal(&path).run();
        let outcome = outcome.unwrap_or_else(|error| panic!("{length} bytes: {error}"));
        assert_eq!(outcome.total, 92, "{length} bytes");
        resumed += usize::from((1..outcome.units).contains(&outcome.units_before));
        let contents = journal::read(&path).expect("readable").expect("a journal");
        assert!(contents.finished.is_complete() && contents.torn == 0, "{length} bytes");
        assert_eq!(contents.finished.solutions(), 92, "{length} bytes");
    }
    assert!(resumed > whole.len() / 2, "most cuts leave units to count");
}

#[test]
fn a_journal_with_any_bit_flipped_is_refused() {
    let whole = finished_journal("flip-whole", 8, Engine::Halves);
    let path = fresh("flip");
    let mut refused = 0;
    for place in 0..whole.len() {
        for mask in (0..8).map(|bit| 1 << bit).chain([0xff]) {
            let mut flipped = whole.clone();
            flipped[place] ^= mask;
            fs::write(&path, &flipped).expect("the folder can be written");
            let count = Count::new(size(8)).engine(Engine::Halves).threads(1).journal(&path);
            match count.run() {
                Ok(outcome) => assert_eq!(outcome.total, 92, "byte {place} ^ {mask}"),
                Err(Error::Journal { .. }) => {
                    refused += 1;
                    let left = fs::read(&path).expect("it is still there");
                    assert_eq!(left, flipped, "what is refused is left as it is");
                }
                Err(error) => panic!("byte {place} ^ {mask}: {error}"),
            }
        }
    }
    assert_eq!(refused, 9 * whole.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let path = fresh("arbitrary");
        fs::write(&path, &bytes)?;
        let _ = journal::read(&path);
    }

    /// Lines whose CRC is right, but that no program wrote.
    #[test]
    fn arbitrary_sealed_lines_never_panic(
        header in "nqueens-journal [0-9]{1,2} version=[a-z0-9.]{0,4} n=[0-9]{1,3} engine=(halves|subtrees|bitmask|x) split-rows=(none|[0-9]) plan=[0-9a-f]{8} units=[0-9]{1,20}",
        lines in prop::collection::vec("(run|done) (units|version)=[0-9.]{0,25}( [a-z-]{1,10}=[0-9,]{0,30}){0,5}", 0..5),
    ) {
        let path = fresh("sealed");
        let text: String = std::iter::once(&header).chain(&lines).map(|line| seal(line)).collect();
        fs::write(&path, text)?;
        let _ = journal::read(&path);
    }

    /// Lines of a good journal taken away, doubled and moved: never a wrong total.
    #[test]
    fn shuffled_and_doubled_lines_are_resumed(
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..25),
    ) {
        let path = fresh("shuffled");
        let whole = finished_journal("shuffled-whole", 9, Engine::Halves);
        let whole = String::from_utf8(whole).expect("text");
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let text: String =
            lines[..2].iter().copied().chain(order.iter().map(|index| *index.get(&lines[1..]))).collect();
        fs::write(&path, text)?;
        let outcome = Count::new(size(9)).engine(Engine::Halves).threads(2).journal(&path).run();
        prop_assert_eq!(outcome.expect("equal doubles cost nothing").total, 352);
    }
}

/// Cancels a count after some reports.
struct StopAfter<'a> {
    reports: std::sync::atomic::AtomicUsize,
    cancel: &'a Cancel,
}

impl Observer for StopAfter<'_> {
    fn units_done(&self, _: &UnitsDone) {
        if self.reports.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) == 1 {
            self.cancel.cancel();
        }
    }
}

/// Panics after some reports, as a counting thread with a fault would.
struct PanicAfter(std::sync::atomic::AtomicUsize);

impl Observer for PanicAfter {
    fn units_done(&self, _: &UnitsDone) {
        let before = self.0.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        assert_ne!(before, 1, "this panic is part of a test");
    }
}

#[test]
fn a_panic_loses_no_finished_unit() {
    let path = fresh("panic");
    let observer = PanicAfter(20.into());
    // Seconds of work, so that the other thread is still at it.
    let count = Count::new(size(19)).threads(2).journal(&path).observer(&observer);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| count.run()));
    assert!(ended.is_err(), "the panic reaches the caller");
    let contents = journal::read(&path).expect("good").expect("lines");
    assert!(contents.finished.units_done() >= 20, "{:?}", contents.finished);
    assert!(!contents.finished.is_complete(), "the other thread stops");
}

/// A count that is stopped again and again and resumed with other threads and kernels.
#[test]
fn a_count_goes_on_with_other_threads_and_kernels() {
    let kernels = kernels();
    for engine in [Engine::Halves, Engine::Subtrees] {
        let path = fresh(&format!("goes-on-{engine}"));
        let (mut stops, mut before) = (0, 0);
        let outcome = loop {
            let cancel = Cancel::new();
            let stop = StopAfter { reports: 12.into(), cancel: &cancel };
            let count = Count::new(size(13)).kernel(kernels[stops % kernels.len()]);
            // Only the first run names the engine: the journal tells it to the others.
            let count = if stops == 0 { count.engine(engine) } else { count };
            let count = count.threads(1 + stops % 3).journal(&path).observer(&stop).cancel(&cancel);
            match count.run() {
                Ok(outcome) => break outcome,
                Err(Error::Stopped { done, units, solutions }) => {
                    assert!(before < done && done < units, "{done} of {units} units");
                    let contents = journal::read(&path).expect("readable").expect("a journal");
                    assert_eq!(contents.finished.units_done(), done, "nothing is lost");
                    assert_eq!(contents.finished.solutions(), solutions);
                    before = done;
                }
                Err(error) => panic!("{error}"),
            }
            stops += 1;
        };
        assert!(stops >= 2, "{stops}");
        assert_eq!((outcome.total, outcome.engine, outcome.units_before), (73_712, engine, before));
        let contents = journal::read(&path).expect("readable").expect("a journal");
        assert_eq!(contents.runs.len(), stops + 1);
        assert_eq!(contents.runs.iter().map(|run| run.units).sum::<usize>(), outcome.units);
    }
}

#[test]
fn a_finished_journal_gives_its_total_at_once() {
    let path = fresh("finished");
    let count = Count::new(size(11)).engine(Engine::Subtrees).journal(&path);
    let first = count.run().expect("a count");
    assert_eq!((first.total, first.units_before), (2680, 0));
    let written = fs::read(&path).expect("it was written");
    let second = Count::new(size(11)).journal(&path).run().expect("a count");
    assert_eq!((second.total, second.units_before), (2680, second.units));
    assert_eq!(second.engine, Engine::Subtrees, "as the journal says");
    assert_eq!(fs::read(&path).expect("still there"), written, "nothing was written");
}

#[test]
fn another_count_is_refused_with_what_differs() {
    let path = fresh("another");
    let subtrees = |n| Count::new(size(n)).engine(Engine::Subtrees).journal(&path);
    subtrees(10).split_rows(SplitRows::TWO).run().expect("a count");
    let refusals = [
        (subtrees(11), "n = 10", "n = 11"),
        (subtrees(10).engine(Engine::Halves), "engine = subtrees", "engine = halves"),
        (
            subtrees(10).split_rows(SplitRows::new(3).expect("in range")),
            "split rows = 2",
            "split rows = 3",
        ),
    ];
    for (count, holds, asked) in refusals {
        let expected =
            JournalError::OtherCount { holds: holds.to_owned(), asked: asked.to_owned() };
        assert_eq!(error_of(count.run()), expected);
    }
}

#[test]
fn two_writers_are_kept_apart() {
    struct Second<'a>(&'a Path);
    impl Observer for Second<'_> {
        fn units_done(&self, _: &UnitsDone) {
            let second = Count::new(size(10)).engine(Engine::Bitmask).threads(1).journal(self.0);
            assert_eq!(error_of(second.run()), JournalError::InUse);
        }
    }
    let path = fresh("two-writers");
    let observer = Second(&path);
    let first = Count::new(size(10)).engine(Engine::Bitmask).threads(1).journal(&path);
    assert_eq!(first.observer(&observer).run().expect("a count").total, 724);
}

#[test]
fn what_is_not_as_it_was_written_is_named() {
    let whole = finished_journal("named-whole", 8, Engine::Bitmask);
    let whole = String::from_utf8(whole).expect("text");
    let lines = unsealed(&whole);
    let (header, run, done) = (lines[0], lines[1], &lines[2..]);
    let journal = |lines: &[&str]| lines.iter().map(|line| seal(line)).collect::<String>();
    let first = done.iter().find(|line| line.contains("units=0..1")).expect("the first unit");
    assert!(first.contains("solutions=4 ") && first.ends_with("counts=4"), "{first}");

    let other = first.replace("solutions=4", "solutions=5").replace("counts=4", "counts=5");
    let twice = journal(&[header, run, first, &other]);
    let expected = JournalError::TwoCounts { line: 4, unit: 0, first: 4, second: 5 };
    assert_eq!(error_in("named", twice), expected);

    let damages = [
        (journal(&[header, run, &first.replace("counts=4", "counts=5")]), "sum"),
        (journal(&[header, run, &first.replace("units=0..1", "units=8..9")]), "no such units"),
        (journal(&[header, run, &first.replace("units=0..1", "units=0..2")]), "fields"),
        (journal(&[header, run, &first.replace("solutions=4", "solutions=+4")]), "fields"),
        (
            journal(&[header, run, &first.replace("counts=4", "counts=18446744073709551615")]),
            "fields",
        ),
        (journal(&[header, run, "withdrawn units=5..5"]), "fields"),
        (journal(&[header, run, "withdrawn units=7..9"]), "no such units"),
        (journal(&[header, run, "done"]), "fields"),
        (journal(&[header, run, "note hello"]), "fields"),
        (journal(&[header, run]) + "\n", "no CRC"),
        (journal(&[header, run]) + first + "\n", "CRC differs"),
    ];
    for (bytes, reason) in damages {
        match error_in("named", &bytes) {
            JournalError::Damaged { line: 3, what } => assert!(what.contains(reason), "{what}"),
            other => panic!("{reason}: {other:?}"),
        }
    }
    let early = error_in("named", journal(&[header, first]));
    assert!(matches!(early, JournalError::Damaged { line: 2, .. }), "{early:?}");
}

#[test]
fn foreign_files_are_refused_and_left_as_they_are() {
    for text in ["a letter\n", "x", "nqueens\n", "nqueens-journalist 1 n=8\n"] {
        let path = fresh("foreign");
        fs::write(&path, text).expect("the folder can be written");
        let refused = Count::new(size(8)).journal(&path).run();
        assert_eq!(error_of(refused), JournalError::NotAJournal, "{text:?}");
        assert_eq!(fs::read_to_string(&path).expect("still there"), text);
    }
    let folder = Count::new(size(8)).journal(env!("CARGO_TARGET_TMPDIR")).run();
    assert_eq!(error_of(folder), JournalError::NotAFile);
    let nowhere = Count::new(size(8)).journal(fresh("no-such-folder").join("x")).run();
    assert!(matches!(error_of(nowhere), JournalError::CannotOpen { .. }));
}

/// Damage that leaves no line feed in the first block: such a file may hold weeks of work.
#[test]
fn a_file_whose_first_line_has_no_end_is_refused_and_left_as_it_is() {
    let whole = finished_journal("no-end-whole", 11, Engine::Halves);
    assert!(whole.len() > 8192);
    let header = whole.iter().position(|byte| *byte == b'\n').expect("a line");
    let damaged = |damage: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        bytes
    };
    let carriage_returns = |bytes: &mut [u8]| {
        bytes.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r');
    };
    let files = [
        ("zeros over the first block", damaged(&|bytes| bytes[..4096].fill(0))),
        ("zeros behind the first line", damaged(&|bytes| bytes[header..5000].fill(0))),
        ("other line ends", damaged(&|bytes| carriage_returns(bytes))),
        (
            "other line ends in a short file",
            damaged(&|bytes| {
                carriage_returns(bytes);
                bytes.truncate(300);
            }),
        ),
        (
            "the beginning of a header of another count",
            b"nqueens-journal 1 version=0.1.0 n=12".to_vec(),
        ),
        ("a line of another kind", b"nqueens-journal 1 once upon a time".to_vec()),
        ("only zeros", vec![0; 100]),
    ];
    let path = fresh("no-end");
    for (damage, bytes) in files {
        fs::write(&path, &bytes).expect("the folder can be written");
        let refused = Count::new(size(11)).engine(Engine::Halves).journal(&path).run();
        let error = error_of(refused);
        assert!(
            matches!(
                error,
                JournalError::NotAJournal
                    | JournalError::DamagedHeader { .. }
                    | JournalError::HeaderCutOff { .. }
            ),
            "{damage}: {error:?}"
        );
        assert_eq!(fs::read(&path).expect("still there"), bytes, "{damage}");
        let merged = nqueens::merge::merge(std::slice::from_ref(&path));
        assert!(matches!(merged, Err(Error::Journal { .. })), "{damage}: merge");
    }
}

/// The last line lost its end to more than a cut: what stands there is not thrown away.
#[test]
fn only_a_line_that_was_cut_off_is_dropped() {
    let whole = finished_journal("tail-whole", 9, Engine::Halves);
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let last = lines[lines.len() - 2] + 1;
    let path = fresh("tail");
    let mut zeros = whole[..last + 10].to_vec();
    zeros.resize(last + 5000, 0);
    fs::write(&path, &zeros).expect("the folder can be written");
    let outcome = Count::new(size(9)).journal(&path).run().expect("zeros after a power cut");
    assert_eq!(outcome.total, 352);

    let mut other_ends = whole.clone();
    other_ends[lines[lines.len() / 2]..]
        .iter_mut()
        .filter(|byte| **byte == b'\n')
        .for_each(|byte| *byte = b'\r');
    let error = error_in("tail", &other_ends);
    assert!(matches!(error, JournalError::Damaged { .. }), "{error:?}");
    let mut appended = whole.clone();
    appended.extend_from_slice(b"A LETTER");
    let error = error_in("tail", &appended);
    assert!(matches!(error, JournalError::Damaged { .. }), "{error:?}");
}

/// A recount differed: the unit was taken back, and is counted again.
#[test]
fn withdrawn_units_are_counted_again() {
    let whole = finished_journal("withdrawn-whole", 8, Engine::Bitmask);
    let whole = String::from_utf8(whole).expect("text");
    let path = fresh("withdrawn");
    fs::write(&path, whole + &seal("withdrawn units=3..5")).expect("the folder can be written");
    let contents = journal::read(&path).expect("good").expect("lines");
    assert_eq!((contents.withdrawn, contents.finished.units_done()), (2, 6));
    assert_eq!((contents.finished.count(3), contents.finished.solutions()), (None, 56));
    let outcome = Count::new(size(8)).journal(&path).run().expect("a count");
    assert_eq!((outcome.total, outcome.units_before), (92, 6));
}

#[test]
fn journals_of_other_formats_and_plans_are_refused() {
    let whole = String::from_utf8(finished_journal("formats", 8, Engine::Halves)).expect("text");
    let header = unsealed(&whole)[0];
    let newer = header.replace("nqueens-journal 1", "nqueens-journal 2");
    let expected = JournalError::UnknownFormat { format: "2".to_owned(), known: 1 };
    assert_eq!(error_in("formats", seal(&newer)), expected);

    let plan = Plan::new(size(8), Engine::Halves, None);
    let hash = format!("plan={:08x}", plan.hash());
    assert!(header.contains(&hash), "{header}");
    let expected = JournalError::OtherPlan {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        holds: 7,
        units: plan.units(),
        makes: plan.hash(),
    };
    assert_eq!(error_in("formats", seal(&header.replace(&hash, "plan=00000007"))), expected);
    for (field, bad) in
        [("n=8", "n=33"), ("engine=halves", "engine=x"), ("split-rows=none", "split-rows=2")]
    {
        let error = error_in("formats", seal(&header.replace(field, bad)));
        assert!(matches!(error, JournalError::DamagedHeader { .. }), "{bad}: {error:?}");
    }
}

/// Plans are promises: journals of older versions stay readable. If this test fails, units have
/// changed; a new order or meaning of units must be intended, and told in the changelog.
#[test]
fn plan_hashes_stay_what_they_were() {
    let hash = |n, engine, rows| {
        let plan = Plan::new(size(n), engine, SplitRows::new(rows).ok());
        (plan.units(), plan.hash())
    };
    let mut text = String::new();
    for n in [0, 1, 3, 4, 8, 13, 20, 25, 27] {
        for engine in [Engine::Halves, Engine::Bitmask] {
            let (units, hash) = hash(n, engine, 2);
            writeln!(text, "{n} {engine}: {units} units, {hash:08x}").expect("a string");
        }
    }
    for (n, rows) in [(8, 1), (8, 3), (18, 2), (22, 4)] {
        let (units, hash) = hash(n, Engine::Subtrees, rows);
        writeln!(text, "{n} subtrees {rows}: {units} units, {hash:08x}").expect("a string");
    }
    assert_eq!(text, include_str!("data/plan-hashes.txt"));
}

/// The list of units does not depend on what the machine can do.
#[test]
fn a_plan_hash_tells_plans_apart() {
    let mut hashes = Vec::new();
    for n in 0..=20 {
        for engine in Engine::ALL {
            let rows = if engine == Engine::Subtrees { 1..=3 } else { 2..=2 };
            for rows in rows {
                hashes.push(Plan::new(size(n), engine, SplitRows::new(rows).ok()).hash());
            }
        }
    }
    let all = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), all);
}

/// The format is documented in two places, with one example.
#[test]
fn the_documented_example_is_a_journal() {
    for document in [include_str!("../docs/JOURNAL.md"), include_str!("../src/journal.rs")] {
        let lines = document.lines().map(|line| line.trim_start_matches("//! "));
        let example = lines.skip_while(|line| !line.starts_with("nqueens-journal 1 version="));
        let example: String =
            example.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        let path = fresh("documented");
        fs::write(&path, &example).expect("the folder can be written");
        let contents = journal::read(&path).expect("a good journal").expect("lines");
        assert_eq!((contents.finished.units_done(), contents.torn), (4, 0));
        let outcome = Count::new(size(8)).journal(&path).run().expect("a count");
        assert_eq!((outcome.total, outcome.engine), (92, Engine::Bitmask));
    }
}
