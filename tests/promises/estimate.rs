//! Estimates cover the truth as often as they promise.

use std::time::Duration;

use nqueens::{Count, Engine, Error};

use crate::common::size;

/// A unit of theirs takes hours or more.
#[test]
fn an_estimate_without_a_unit_is_given_up() {
    for engine in Engine::ALL.into_iter().filter(|engine| *engine != Engine::Colours) {
        let count = Count::new(size(32)).engine(engine).threads(2);
        let given_up = count.estimate(Duration::from_millis(20));
        assert!(matches!(given_up, Err(Error::StoppedBefore { .. })), "{engine}: {given_up:?}");
    }
}

#[test]
fn a_sample_of_all_units_is_the_total() {
    for n in 0..=12 {
        for engine in [Engine::Colours, Engine::Subtrees, Engine::Bitmask] {
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
