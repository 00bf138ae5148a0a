//! Promise: the numbers of symmetric and of fundamental solutions are those of the published sequences, and of an
//! enumeration. README.md makes this promise under "How we know that it is right".

use std::collections::BTreeSet;

use nqueens::{BoardSize, Cancel, Classes, Error, PublishedCounts, Solution, Solutions};

use crate::common::size;

/// Counts the classes of a board with this number of solutions.
fn classes(size: BoardSize, total: u128) -> Classes {
    Classes::count(size, total, &Cancel::new()).expect("the total fits")
}

/// The number of solutions that a half-turn leaves unchanged, on a board with more than one square.
fn half_turn(classes: &Classes) -> u128 {
    4 * classes.of_four + 2 * classes.of_two
}

/// The number of solutions that a quarter-turn leaves unchanged, on a board with more than one square.
fn quarter_turn(classes: &Classes) -> u128 {
    2 * classes.of_two
}

/// The number of classes of eight solutions, A260320, by the published numbers of all and of symmetric solutions.
fn asymmetric(known: &PublishedCounts) -> Option<u128> {
    Some((known.total? - known.half_turn?) / 8)
}

/// Quarter-turns on larger boards are counted in a test of `board/symmetry.rs`.
#[test]
fn symmetric_counts_are_the_published_ones() {
    for n in 2..=22 {
        let known = size(n).published();
        let classes = classes(size(n), known.total.expect("published"));
        assert_eq!(Some(half_turn(&classes)), known.half_turn, "A032522, n = {n}");
        assert_eq!(Some(quarter_turn(&classes)), known.quarter_turn, "A033148, n = {n}");
    }
}

#[test]
fn fundamental_counts_are_the_published_ones() {
    for n in 1..=20 {
        let known = size(n).published();
        let classes = classes(size(n), known.total.expect("published"));
        assert_eq!(Some(classes.fundamental()), known.fundamental, "A002562, n = {n}");
        assert_eq!(Some(classes.of_eight), asymmetric(&known), "A260320, n = {n}");
    }
    assert_eq!(numbers(&classes(size(0), 1)), [0, 0, 0, 1]);
}

/// The numbers of classes of eight, four, two and one solutions.
fn numbers(classes: &Classes) -> [u128; 4] {
    [classes.of_eight, classes.of_four, classes.of_two, classes.of_one]
}

#[test]
fn a_total_that_cannot_be_right_is_refused() {
    let refused = Classes::count(size(8), 91, &Cancel::new());
    assert!(matches!(refused, Err(Error::Inconsistent { n: 8, total: 91, .. })), "{refused:?}");
    for n in [0, 1] {
        let refused = Classes::count(size(n), 2, &Cancel::new());
        assert!(matches!(refused, Err(Error::Inconsistent { .. })), "{refused:?}");
    }
}

#[test]
fn a_cancelled_search_is_an_error() {
    let cancel = Cancel::new();
    cancel.cancel();
    let cancelled = Classes::count(size(12), 14_200, &cancel);
    assert!(cancelled.is_err_and(|error| error.is_cancelled()));
}

#[test]
fn counts_agree_with_the_images_of_all_solutions() {
    for n in 1..=10 {
        let size = size(n);
        let known = size.published();
        let solutions: Vec<Solution> = Solutions::new(size).collect();
        let unchanged_by = |image: usize| {
            solutions.iter().filter(|solution| solution.images()[image] == **solution).count()
        };
        let total = solutions.len() as u128;
        let classes = classes(size, total);
        assert_eq!(known.half_turn, Some(unchanged_by(2) as u128), "n = {n}");
        assert_eq!(known.quarter_turn, Some(unchanged_by(1) as u128), "n = {n}");
        assert_eq!(unchanged_by(1), unchanged_by(3), "n = {n}");
        if n > 1 {
            assert_eq!(half_turn(&classes), unchanged_by(2) as u128, "n = {n}");
            assert_eq!(quarter_turn(&classes), unchanged_by(1) as u128, "n = {n}");
            for reflection in 4..8 {
                assert_eq!(unchanged_by(reflection), 0, "n = {n}");
            }
        }
        let orbits: BTreeSet<BTreeSet<_>> =
            solutions.iter().map(|solution| solution.images().into_iter().collect()).collect();
        let of = |images| orbits.iter().filter(|orbit| orbit.len() == images).count() as u128;
        assert_eq!(numbers(&classes), [of(8), of(4), of(2), of(1)], "n = {n}");
        assert_eq!(known.total, Some(total), "n = {n}");
        assert_eq!(known.fundamental, Some(orbits.len() as u128), "n = {n}");
        assert_eq!(asymmetric(&known), Some(of(8)), "n = {n}");
    }
}
