//! Estimates cover the truth as often as they promise.

use std::time::Duration;

use nqueens::forecast::{Approximate, Effort};
use nqueens::{Count, Engine};

use crate::common::size;

fn total(n: u32, engine: Engine, units: usize, seed: u64) -> (Approximate, usize) {
    let effort = Effort { time: Duration::from_secs(60), units, seed };
    let count = Count::new(size(n)).engine(engine).threads(2);
    let estimate = count.estimate(effort).expect("a sample");
    assert!(estimate.units_sampled <= estimate.units);
    (estimate.total, estimate.units_sampled)
}

#[test]
fn the_interval_covers_the_published_total_in_90_of_100_cases() {
    for (engine, units) in [(Engine::Halves, 400), (Engine::Subtrees, 90)] {
        let covered = (0..100)
            .filter(|seed| {
                let (total, _) = total(14, engine, units, *seed);
                (total.value - 365_596.0).abs() <= 2.0 * total.standard_error
            })
            .count();
        assert!(covered >= 90, "{engine}: {covered} of 100");
    }
}

/// Their units take hours, so a sample that finished one would not end.
#[test]
fn the_largest_boards_are_estimated_by_every_engine() {
    for engine in Engine::ALL.into_iter().filter(|engine| *engine != Engine::Halves) {
        let effort = Effort { time: Duration::from_millis(20), ..Effort::default() };
        let count = Count::new(size(32)).engine(engine).threads(2);
        let estimate = count.estimate(effort).expect("a sample");
        assert!(estimate.parts >= 2, "{engine}: {estimate:?}");
        assert!(estimate.seconds.value > 1e12, "{engine}: {estimate:?}");
    }
}

#[test]
fn a_sample_of_all_units_is_the_total() {
    for n in 0..=12 {
        for engine in [Engine::Halves, Engine::Subtrees, Engine::Bitmask] {
            let (estimated, _) = total(n, engine, usize::MAX, 1);
            let counted = nqueens::count(n).expect("a count") as f64;
            assert!(
                (estimated.value - counted).abs() < 1e-6 * counted.max(1.0),
                "n = {n}, {engine}"
            );
            assert!(estimated.standard_error <= 1e-6 * counted, "n = {n}, {engine}: {estimated:?}");
        }
    }
}

#[test]
fn the_same_seed_draws_the_same_units() {
    assert_eq!(total(14, Engine::Subtrees, 40, 5), total(14, Engine::Subtrees, 40, 5));
    assert_ne!(total(14, Engine::Subtrees, 40, 5), total(14, Engine::Subtrees, 40, 6));
}
