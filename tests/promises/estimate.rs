//! Estimates cover the truth as often as they promise.

use std::time::Duration;

use nqueens::{Count, Engine};

use crate::common::size;

/// Their units take hours, so a sample that finished one would not end.
#[test]
fn the_largest_boards_are_estimated_by_every_engine() {
    // A unit of the others takes minutes.
    let engines = Engine::ALL.into_iter();
    for engine in engines.filter(|engine| ![Engine::Halves, Engine::Colours].contains(engine)) {
        let count = Count::new(size(32)).engine(engine).threads(2);
        let estimate = count.estimate(Duration::from_millis(20)).expect("a sample");
        assert!(estimate.parts >= 2, "{engine}: {estimate:?}");
        assert!(estimate.seconds.value > 1e12, "{engine}: {estimate:?}");
    }
}

#[test]
fn a_sample_of_all_units_is_the_total() {
    for n in 0..=12 {
        for engine in [Engine::Halves, Engine::Subtrees, Engine::Bitmask] {
            let count = Count::new(size(n)).engine(engine).threads(2);
            let estimate = count.estimate(Duration::from_secs(60)).expect("a sample");
            assert_eq!(estimate.units_sampled, estimate.units, "n = {n}, {engine}");
            let (estimated, counted) = (estimate.total, nqueens::count(n).expect("a count") as f64);
            assert!(
                (estimated.value - counted).abs() < 1e-6 * counted.max(1.0),
                "n = {n}, {engine}"
            );
            for error in [estimated, estimate.seconds, estimate.cpu_seconds] {
                assert_eq!(error.standard_error, 0.0, "n = {n}, {engine}: {estimate:?}");
            }
        }
    }
}
