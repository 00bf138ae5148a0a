//! Promise: the numbers of symmetric and of fundamental solutions are those of the published sequences, and of an
//! enumeration. README.md makes this promise under "How we know that it is right".

use std::collections::BTreeSet;

use nqueens::symmetry::{Classes, half_turn, quarter_turn};
use nqueens::{Cancel, Error, Solution, Solutions};

use crate::common::size;

#[test]
fn symmetric_counts_are_the_published_ones() {
    let cancel = Cancel::new();
    for n in 1..=22 {
        let known = size(n).published();
        assert_eq!(half_turn(size(n), &cancel).ok(), known.half_turn, "A032522, n = {n}");
    }
    for n in 1..=27 {
        let known = size(n).published();
        assert_eq!(quarter_turn(size(n), &cancel).ok(), known.quarter_turn, "A033148, n = {n}");
    }
}

#[test]
fn fundamental_counts_are_the_published_ones() {
    for n in 1..=20 {
        let known = size(n).published();
        let total = known.total.expect("published");
        let classes = Classes::count(size(n), total, &Cancel::new()).expect("consistent");
        assert_eq!(Some(classes.fundamental()), known.fundamental, "A002562, n = {n}");
        assert_eq!(Some(classes.of_eight), known.asymmetric, "A260320, n = {n}");
    }
    let empty = Classes { of_eight: 0, of_four: 0, of_two: 0, of_one: 1 };
    assert_eq!(Classes::count(size(0), 1, &Cancel::new()), Ok(empty));
}

#[test]
fn a_total_that_cannot_be_right_is_refused() {
    let refused = Classes::count(size(8), 91, &Cancel::new());
    assert!(matches!(refused, Err(Error::Inconsistent { n: 8, total: 91, .. })), "{refused:?}");
}

#[test]
fn a_cancelled_search_is_an_error() {
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(half_turn(size(12), &cancel).is_err_and(|error| error.is_cancelled()));
    assert!(quarter_turn(size(12), &cancel).is_err_and(|error| error.is_cancelled()));
}

#[test]
fn counts_agree_with_the_images_of_all_solutions() {
    let cancel = Cancel::new();
    for n in 1..=10 {
        let size = size(n);
        let known = size.published();
        let solutions: Vec<Solution> = Solutions::new(size).collect();
        let unchanged_by = |image: usize| {
            solutions.iter().filter(|solution| solution.images()[image] == **solution).count()
        };
        assert_eq!(half_turn(size, &cancel), Ok(unchanged_by(2) as u128), "n = {n}");
        assert_eq!(quarter_turn(size, &cancel), Ok(unchanged_by(1) as u128), "n = {n}");
        assert_eq!(known.half_turn, Some(unchanged_by(2) as u128), "n = {n}");
        assert_eq!(known.quarter_turn, Some(unchanged_by(1) as u128), "n = {n}");
        assert_eq!(unchanged_by(1), unchanged_by(3), "n = {n}");
        if n > 1 {
            for reflection in 4..8 {
                assert_eq!(unchanged_by(reflection), 0, "n = {n}");
            }
        }
        let orbits: BTreeSet<BTreeSet<_>> =
            solutions.iter().map(|solution| solution.images().into_iter().collect()).collect();
        let of = |images| orbits.iter().filter(|orbit| orbit.len() == images).count() as u128;
        let classes = Classes { of_eight: of(8), of_four: of(4), of_two: of(2), of_one: of(1) };
        let total = solutions.len() as u128;
        assert_eq!(Classes::count(size, total, &cancel), Ok(classes), "n = {n}");
        assert_eq!(known.total, Some(total), "n = {n}");
        assert_eq!(known.fundamental, Some(orbits.len() as u128), "n = {n}");
        assert_eq!(known.asymmetric, Some(of(8)), "n = {n}");
    }
}
