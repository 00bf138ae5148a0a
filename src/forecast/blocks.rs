//! What is finished of a plan, in 1024 blocks of neighbouring units, and what the rest will take.
//!
//! Neighbouring units are alike, so what is finished of a block is one cluster of the ratio estimator,
//! however many lines or reports told of it. The rest of the plan takes, for each unit or for each solution
//! that it has, as much as what is finished. A count takes the first units from all over the plan
//! (`count::ranges`), so after seconds there are dozens of blocks.
//!
//! If the total is published, the solutions are the better measure: CPU time follows them closely. At n = 23
//! the interval is half as wide, and cheap units, which are finished first, have few solutions too.

use std::collections::BTreeMap;
use std::time::Duration;

use super::ratio::{Approximate, RatioEstimator};
use crate::done::Tally;

/// Blocks of a plan. The sample is no larger, and the memory for it.
const BLOCKS: usize = 1024;

/// The finished units of a plan: a fair sample of all, unless they are few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// Units of a block.
    length: usize,
    blocks: BTreeMap<usize, Block>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    units: f64,
    solutions: f64,
    cpu_seconds: f64,
}

/// What is not finished.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    pub(crate) units: usize,
    /// `None` if the total is not published.
    pub(crate) solutions: Option<f64>,
}

impl Blocks {
    /// Nothing is finished of a plan with so many units.
    pub(crate) fn new(units: usize) -> Self {
        Self { length: units.div_ceil(BLOCKS).max(1), blocks: BTreeMap::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds neighbouring units.
    pub(crate) fn add(&mut self, first: usize, done: Tally, cpu_time: Duration) {
        let block = self.blocks.entry(first / self.length.max(1)).or_default();
        block.units += done.units as f64;
        block.solutions += done.solutions as f64;
        block.cpu_seconds += cpu_time.as_secs_f64();
    }

    /// Adds what others finished of the same plan.
    pub(crate) fn merge(&mut self, others: &Self) {
        for (number, other) in &others.blocks {
            let block = self.blocks.entry(*number).or_default();
            block.units += other.units;
            block.solutions += other.solutions;
            block.cpu_seconds += other.cpu_seconds;
        }
    }

    /// The solutions of the whole.
    pub(crate) fn total(&self, rest: Rest) -> Approximate {
        let (mut solutions, mut units) = (RatioEstimator::default(), rest.units as f64);
        for block in self.blocks.values() {
            solutions.record(block.units, block.solutions);
            units += block.units;
        }
        solutions.sum_over(units)
    }

    /// The CPU seconds that the rest takes. `None` while nothing is finished.
    pub(crate) fn cpu_seconds(&self, rest: Rest) -> Option<Approximate> {
        let [mut by_units, mut by_solutions] = [RatioEstimator::default(); 2];
        for block in self.blocks.values() {
            by_units.record(block.units, block.cpu_seconds);
            by_solutions.record(block.solutions, block.cpu_seconds);
        }
        let by_units = by_units.sum_over_rest(rest.units as f64);
        let by_solutions = rest.solutions.map(|left| by_solutions.sum_over_rest(left.max(0.0)));
        (!self.is_empty()).then(|| by_units.or_closer(by_solutions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units whose time follows their solutions, of which mostly cheap ones are finished.
    #[test]
    fn solutions_tell_what_cheap_units_hide() {
        let mut blocks = Blocks::new(100_000);
        for first in (0..100_000).step_by(2000) {
            let units = 100 + first / 5000;
            let done = Tally { units, solutions: 10_000 };
            blocks.add(first, done, Duration::from_millis(10));
        }
        let rest = Rest { units: 94_500, solutions: None };
        let left = |rest| blocks.cpu_seconds(rest).expect("fifty blocks").value;
        assert!((8.0..10.0).contains(&left(rest)), "as many CPU seconds for each unit");
        let rest = Rest { solutions: Some(9.5e7), ..rest };
        assert!((left(rest) - 95.0).abs() < 1e-6, "as many for each solution");
    }

    #[test]
    fn others_add_up_and_nothing_says_nothing() {
        let [mut all, mut other] = [Blocks::new(5000), Blocks::new(5000)];
        let rest = Rest { units: 10, solutions: None };
        assert!(all.cpu_seconds(rest).is_none() && all.is_empty());
        for first in 0..30 {
            let blocks = if first % 2 == 0 { &mut all } else { &mut other };
            blocks.add(100 * first, Tally { units: 2, solutions: 7 }, Duration::from_secs(4));
        }
        let error = |blocks: &Blocks| blocks.cpu_seconds(rest).expect("some").standard_error;
        assert!(error(&all).is_infinite(), "fifteen blocks are too few");
        all.merge(&other);
        let left = all.cpu_seconds(rest).expect("thirty blocks");
        assert!(left.value == 20.0 && left.standard_error.is_finite(), "{left:?}");
        let total = all.total(rest).value;
        assert!(
            (total - 245.0).abs() < 1e-9,
            "sixty units have 210 solutions, seventy have {total}"
        );
    }
}
