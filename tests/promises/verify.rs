//! Promise: `verify` finds wrong counts as often as sampling can find them, and never says more than was checked.
//! docs/JOURNAL.md makes this promise under "What `verify` proves".

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use nqueens::journal::Verdict;

use nqueens::{Cancel, Count, Engine};

use crate::common::{
    OnePass, arg, contents, fresh, fresh_folder, journal_of, json, keep_lines, nqueens, output,
    raise_counts, run, size, stderr, stdout,
};

/// A finished journal of a small board, with one unit in each line.
fn finished(name: &str, engine: Engine) -> PathBuf {
    let folder = fresh_folder(&format!("verify-{name}"));
    // So many threads take one unit each time.
    let count = Count::new(size(10)).engine(engine).split_rows(2).threads(16);
    count.journal(&folder).run().expect("a count").journal.expect("a file")
}

/// Makes one count in every `step`-th line wrong, with the right sums and CRCs; returns the number of
/// wrong units.
fn falsify(path: &Path, step: usize) -> usize {
    raise_counts(path, 1, |number, _| number % step == 0).len()
}

fn verify(contents: &OnePass, units: usize, seed: u64, cancel: &Cancel) -> Verdict {
    contents.0.verify(units, seed, cancel).expect("a verdict")
}

fn verdict(contents: &OnePass, units: usize, seed: u64) -> Verdict {
    verify(contents, units, seed, &Cancel::new())
}

fn differences(contents: &OnePass, units: usize, seed: u64) -> usize {
    let verdict = verdict(contents, units, seed);
    assert_eq!(verdict.recounted, units.min(contents.units_done()));
    verdict.differences.len()
}

#[test]
fn a_true_journal_has_no_differences() {
    for engine in [Engine::Colours, Engine::Subtrees, Engine::BoolArrays] {
        let contents = contents(&finished(&format!("true-{engine}"), engine));
        assert_eq!(differences(&contents, usize::MAX, 1), 0, "{engine}");
        assert_eq!(verdict(&contents, 5, 2).recounted, 5);
    }
}

#[test]
fn every_falsified_unit_is_found_if_all_are_recounted() {
    for step in [1, 7, 50] {
        let path = finished("all", Engine::Subtrees);
        let changed = falsify(&path, step);
        assert!(changed > 0);
        assert_eq!(differences(&contents(&path), usize::MAX, 1), changed);
    }
}

/// With w of U units falsified, a sample of k misses them all with probability
/// (U - w)(U - w - 1).../(U (U - 1)...). Over many seeds, the share is within four standard errors.
#[test]
fn falsified_units_are_found_as_often_as_sampling_promises() {
    let path = finished("sampled", Engine::Subtrees);
    let wrong = falsify(&path, 20);
    let contents = contents(&path);
    let units = contents.units_done();
    for sample in [5, 20, 60] {
        let missed: f64 = (0..sample)
            .map(|taken| (units - wrong - taken) as f64 / (units - taken) as f64)
            .product();
        let trials = 400;
        let found = (0..trials).filter(|seed| differences(&contents, sample, *seed) > 0).count();
        let expected = trials as f64 * (1.0 - missed);
        let error = (trials as f64 * missed * (1.0 - missed)).sqrt();
        assert!(
            (found as f64 - expected).abs() <= 4.0 * error + 1.0,
            "{wrong} of {units} wrong, {sample} recounted: {found} of {trials}, expected {expected:.1}"
        );
    }
}

#[test]
fn the_same_seed_chooses_the_same_units() {
    let path = finished("seed", Engine::Subtrees);
    falsify(&path, 3);
    let contents = contents(&path);
    let of = |seed| verdict(&contents, 15, seed);
    assert_eq!(of(4), of(4));
    assert_ne!(of(4).differences, of(5).differences);
}

/// Which units a check recounts is seen where all of them are wrong.
#[test]
fn a_check_recounts_the_units_that_its_seed_chooses() {
    let path = finished("chosen", Engine::Subtrees);
    falsify(&path, 1);
    let contents = contents(&path);
    let wrong_units = |units, seed| -> Vec<usize> {
        let differences = verdict(&contents, units, seed).differences;
        differences.iter().map(|difference| difference.unit).collect()
    };
    // A seed chooses the units that it always chose.
    assert_eq!(contents.units_done(), 80);
    assert_eq!(wrong_units(10, 7), [1, 10, 18, 25, 27, 33, 36, 43, 65, 79]);
    assert_eq!(wrong_units(10, u64::MAX), [0, 16, 19, 31, 52, 60, 62, 63, 65, 72]);
    for number in [0, 1, 80, 90] {
        assert_eq!(wrong_units(number, 3).len(), number.min(80));
    }
}

/// A unit that is not finished is never recounted, and a wish for more units than there are chooses each once.
#[test]
fn only_finished_units_are_evidence() {
    let path = finished("unfinished", Engine::Subtrees);
    keep_lines(&path, 20);
    let contents = contents(&path);
    let finished = contents.units_done();
    assert!((1..80).contains(&finished), "{finished}");
    let verdict = verdict(&contents, 1000, 1);
    assert_eq!((verdict.finished, verdict.recounted, verdict.remaining), (finished, finished, 0));
}

/// A recount may take hours, and somebody may pack and remove the journals in the meantime.
#[test]
fn a_wrong_unit_is_found_although_its_journal_is_gone() {
    let path = finished("gone", Engine::Subtrees);
    let wrong = raise_counts(&path, 1, |number, _| number == 5);
    let contents = contents(&path);
    let right = contents.count(wrong[0]).expect("finished") - 1;
    fs::remove_file(&path).expect("it is there");
    let verdict = verdict(&contents, usize::MAX, 1);
    assert_eq!((verdict.differences.len(), verdict.wrong_units_in_use()), (1, 1));
    let difference = &verdict.differences[0];
    assert_eq!((difference.unit, difference.recounted), (wrong[0], Some(right)));
    assert!(difference.counts().eq([right + 1]), "{difference}");
}

#[test]
fn the_strength_of_the_evidence_is_that_of_the_sample() {
    let contents = contents(&finished("strength", Engine::Subtrees));
    let units = contents.units_done();
    let part = |sample| verdict(&contents, sample, 1).undetected_part();
    assert_eq!(part(0), 1.0);
    assert!((part(59) - 0.0495).abs() < 1e-3, "three in sixty: {}", part(59));
    assert_eq!(part(units), 0.0);
}

#[test]
fn a_cancelled_check_reports_its_progress() {
    let contents = contents(&finished("cancelled", Engine::Subtrees));
    let cancel = Cancel::new();
    cancel.cancel();
    let verdict = verify(&contents, 9, 1, &cancel);
    assert_eq!((verdict.remaining, verdict.recounted), (9, 0));
    assert!(verdict.undetected_part() > 0.99, "nothing was shown");
}

/// The row of an answer with this label.
fn row<'a>(answer: &'a str, label: &str) -> &'a str {
    let row = answer.lines().find(|line| line.starts_with(label));
    row.unwrap_or_else(|| panic!("no {label} in {answer}"))
}

/// Whatever is left out, no answer says that the journals are as they were written.
#[test]
fn only_a_whole_journal_is_called_as_it_was_written() {
    let path = finished("whole", Engine::Subtrees);
    let journal = path.to_str().expect("text");
    let whole = fs::read_to_string(&path).expect("text");
    let finished_row = |code: i32| {
        let verified = output(&["verify", "--units", "3", "--seed", "1", journal]);
        assert_eq!(verified.status.code(), Some(code), "{verified:?}");
        row(stdout(&verified), "finished").to_owned()
    };
    let as_written = "as it was written";
    assert!(finished_row(0).ends_with("80 units, every line as it was written"));

    // A last line that was cut off is no line.
    fs::write(&path, &whole[..whole.len() - 2]).expect("room");
    assert!(finished_row(0).contains(" units, every line as it was written"));

    // A damaged line whose units stand in other lines fails nothing.
    let repeated = whole.lines().nth(3).expect("a line").replacen("done", "dome", 1);
    fs::write(&path, format!("{whole}{repeated}\n")).expect("room");
    assert!(!finished_row(0).contains(as_written));

    let damaged = whole.replacen("counts=", "counts=1", 1);
    fs::write(&path, damaged).expect("room");
    assert!(!finished_row(0).contains(as_written));
}

#[test]
fn the_answer_says_how_the_units_were_recounted() {
    for (engine, units, method) in
        [(Engine::Colours, 71, "a search of each colour"), (Engine::Subtrees, 80, "backtracking")]
    {
        let path = finished(&format!("method-{engine}"), engine);
        let verified = output(&["verify", "--units", "3", "--seed", "1", arg(&path)]);
        let expected =
            format!("recounted    3 of {units} units by {method}, seed 1: no difference");
        assert_eq!(row(stdout(&verified), "recounted"), expected);
    }
}

/// Units that are not finished were not looked at, so nothing is said of them.
#[test]
fn the_evidence_is_of_the_finished_units() {
    let path = finished("evidence", Engine::Subtrees);
    let journal = path.to_str().expect("text");
    let evidence = |units: &str| {
        let verified = output(&["verify", "--units", units, "--seed", "1", journal]);
        assert_eq!(verified.status.code(), Some(0), "{verified:?}");
        row(stdout(&verified), "evidence").trim_start_matches("evidence").trim_start().to_owned()
    };
    // 1 - 0.05^(1/7) is 0.3481, so 65.18 % are right, and 65.19 would be too much.
    let sampled = "at least 65.18 % of the finished units are right, with 95 % confidence";
    assert_eq!(evidence("7"), sampled);
    assert_eq!(evidence("0"), "none: no unit was recounted");
    crate::common::keep_lines(&path, 20);
    let finished = contents(&path).units_done().to_string();
    assert_eq!(evidence(&finished), "every finished unit was recounted, with equal counts");
}

/// Where nothing is recorded yet, nothing can be checked, and nothing may look like a check that was passed.
#[test]
fn a_journal_without_units_passes_no_check() {
    let path = fresh("verify-nothing.journal");
    journal_of("12", &path, &[]);
    keep_lines(&path, 2);
    for args in [&["verify"][..], &["status"], &["merge"]] {
        for format in [&[][..], &["--json"]] {
            let read = output(&[args, format, &[arg(&path)]].concat());
            assert_eq!(read.status.code(), Some(3), "{args:?}: {read:?}");
            let said = [stdout(&read), stderr(&read)].concat();
            for word in ["no difference", "agrees", "as it was written"] {
                assert!(!said.contains(word), "{args:?}: {said}");
            }
        }
    }
    let verified = output(&["verify", arg(&path)]);
    assert!(stderr(&verified).contains("nothing was checked: no unit is finished"), "{verified:?}");
    assert!(!stdout(&verified).contains("no difference"), "{verified:?}");
}

/// Runs `verify` on a journal.
fn run_verify(path: &Path, args: &[&str]) -> Output {
    run(nqueens(&["verify"]).arg(path).args(args))
}

/// A finished journal of n = 12. It has 144 units, however many cores there are.
fn finished_12(name: &str) -> PathBuf {
    let path = fresh(&format!("verify-{name}.journal"));
    journal_of("12", &path, &["--engine", "subtrees", "--split-rows", "2"]);
    path
}

#[test]
fn the_json_of_a_check_says_what_was_checked() {
    let path = finished_12("json");
    let checked = run_verify(&path, &["--json", "--seed", "7", "--units", "50"]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
    let object = json(&checked);
    assert_eq!(object["total"], "14200");
    assert_eq!(object["published"], "agrees");
    assert_eq!(object["recounted"], 50);
    assert_eq!(object["seed"], "7");
    assert_eq!(object["differences"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_journal_without_its_last_line_is_not_finished_but_right() {
    let path = finished_12("part");
    let lines = fs::read_to_string(&path).expect("text").lines().count();
    keep_lines(&path, lines - 1);
    let checked = run_verify(&path, &[]);
    assert_eq!(checked.status.code(), Some(0));
    assert!(stderr(&checked).contains("not finished"), "{}", stderr(&checked));
}

/// The last count is wrong, in a line with the right sum and CRC.
#[test]
fn a_wrong_count_is_named_and_the_total_differs_from_the_published_one() {
    let path = finished_12("wrong");
    let last = fs::read_to_string(&path).expect("text").lines().count() - 1;
    let unit = raise_counts(&path, 2, |number, _| number == last)[0];
    let checked = run_verify(&path, &["--units", "1000000"]);
    assert_eq!(checked.status.code(), Some(1));
    let message = stderr(&checked);
    let wrong = format!("unit {unit}: the first pass has ");
    assert!(message.contains(&wrong) && message.contains(", the recount finds "), "{message}");
    assert!(message.contains("differs from the published 14200"), "{message}");
    assert!(stdout(&checked).contains("1 DIFFER"), "{}", stdout(&checked));
}
