//! Finished units and their sum: what a thread reports, what a line of a journal holds, and what an outcome adds up.

use std::iter;
use std::ops::{Add, AddAssign, Range};
use std::time::Duration;

/// A number of finished units of one plan, and the number of solutions in them.
///
/// It is not public, because sums of different plans must not be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    /// The number of units.
    pub(crate) units: usize,
    /// The number of solutions: the sum of the units' counts, each times the weight of its unit.
    pub(crate) solutions: u128,
}

impl Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { units: self.units + other.units, solutions: self.solutions + other.solutions }
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl iter::Sum for Sum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), Self::add)
    }
}

/// Consecutive finished units with their counts and the time that they took.
///
/// A line of a journal holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitsDone {
    /// The numbers of the units in the plan.
    pub(crate) units: Range<usize>,
    /// The count of each unit, not yet multiplied by the weight of the unit.
    pub(crate) counts: Vec<u64>,
    /// The number of solutions: the sum of the counts, each times the weight of its unit.
    pub(crate) solutions: u128,
    /// The wall time from the start of counting until the units were finished. Journals hold whole milliseconds.
    pub(crate) elapsed: Duration,
    /// The CPU time that the counting thread spent on the units. Journals hold whole microseconds.
    pub(crate) cpu_time: Duration,
}

impl UnitsDone {
    /// Makes an empty range of units, to be extended from this unit on.
    pub(crate) fn none_from(unit: usize) -> Self {
        Self { units: unit..unit, ..Self::default() }
    }

    /// Returns the number of units and of solutions.
    pub(crate) fn sum(&self) -> Sum {
        Sum { units: self.units.len(), solutions: self.solutions }
    }

    /// Adds the units that follow these.
    pub(crate) fn extend(&mut self, next: Self) {
        assert_eq!(self.units.end, next.units.start, "units are missing between the two");
        self.units.end = next.units.end;
        self.counts.extend(next.counts);
        self.solutions += next.solutions;
        self.elapsed = next.elapsed;
        self.cpu_time += next.cpu_time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_add_up() {
        let sums = [1, 2, 4].map(|units| Sum { units, solutions: 10 * units as u128 });
        assert_eq!(sums.into_iter().sum::<Sum>(), Sum { units: 7, solutions: 70 });
        let mut sum = sums[0];
        sum += sums[2];
        assert_eq!(sum, Sum { units: 5, solutions: 50 });
    }

    #[test]
    fn units_that_follow_add_their_counts_and_times() {
        let done = |units: Range<usize>, seconds| UnitsDone {
            counts: units.clone().map(|unit| unit as u64).collect(),
            solutions: units.len() as u128,
            units,
            elapsed: Duration::from_secs(seconds),
            cpu_time: Duration::from_secs(1),
        };
        let mut all = UnitsDone::none_from(3);
        all.extend(done(3..5, 10));
        all.extend(done(5..8, 20));
        let cpu_time = Duration::from_secs(2);
        assert_eq!(all, UnitsDone { cpu_time, ..done(3..8, 20) });
        assert_eq!(all.sum(), Sum { units: 5, solutions: 5 });
    }
}
