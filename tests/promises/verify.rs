//! A wrong count is found as often as sampling can find it.

use std::path::{Path, PathBuf};

use nqueens::record::{Record, UnitSet};
use nqueens::verify::{self, Verdict, choose_units};
use nqueens::{Cancel, Count, Engine};

use crate::common::{contents, fresh, raise_counts, size};

/// A finished journal of a small board, with one unit in each line.
fn finished(name: &str, engine: Engine) -> PathBuf {
    let path = fresh(&format!("verify-{name}.journal"));
    let count = Count::new(size(10)).engine(engine).split_rows(2).threads(1);
    count.journal(&path).run().expect("a count");
    path
}

/// Makes one count in every `step`-th line wrong, with the right sums and CRCs; returns the number of
/// wrong units.
fn falsify(path: &Path, step: usize) -> usize {
    raise_counts(path, 1, |number, _| number % step == 0).len()
}

fn verify(contents: &Record, chosen: &UnitSet, cancel: &Cancel) -> Verdict {
    let chosen = contents.counts(chosen).expect("readable");
    verify::verify(contents.plan(), &chosen, &|| (), cancel).expect("a verdict")
}

fn verdict(contents: &Record, units: usize, seed: u64) -> Verdict {
    let chosen = choose_units(contents.finished(), units, seed);
    verify(contents, &chosen, &Cancel::new())
}

fn differences(contents: &Record, units: usize, seed: u64) -> usize {
    let verdict = verdict(contents, units, seed);
    assert_eq!(verdict.recounted, units.min(contents.tally().units));
    verdict.differences.len()
}

#[test]
fn a_true_journal_has_no_differences() {
    for engine in [Engine::Colours, Engine::Subtrees, Engine::BoolArrays] {
        let contents = contents(&finished(&format!("true-{engine}"), engine));
        assert_eq!(differences(&contents, usize::MAX, 1), 0, "{engine}");
        let chosen = choose_units(contents.finished(), 5, 2);
        let all = verify(&contents, &chosen, &Cancel::new());
        assert_eq!(all.recounted, 5);
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
    let units = contents.tally().units;
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

#[test]
fn the_strength_of_the_evidence_is_that_of_the_sample() {
    let contents = contents(&finished("strength", Engine::Subtrees));
    let units = contents.tally().units;
    let part = |sample| verdict(&contents, sample, 1).undetected_part(units);
    assert_eq!(part(0), 1.0);
    assert!((part(59) - 0.0495).abs() < 1e-3, "three in sixty: {}", part(59));
    assert_eq!(part(units), 0.0);
}

#[test]
fn a_cancelled_check_reports_its_progress() {
    let contents = contents(&finished("cancelled", Engine::Subtrees));
    let cancel = Cancel::new();
    cancel.cancel();
    let chosen = choose_units(contents.finished(), 9, 1);
    let verdict = verify(&contents, &chosen, &cancel);
    assert_eq!((chosen.len(), verdict.recounted), (9, 0));
    // Nothing was shown, also of a journal that has no finished unit.
    assert!(verdict.undetected_part(9) > 0.99 && verdict.undetected_part(0) > 0.99);
}
