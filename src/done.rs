//! Finished units, and their sum: what a thread reports, a line of a journal holds, and an outcome adds up.

use std::ops::{Add, Range};
use std::time::Duration;

/// How many units are finished, and the solutions in them, with their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of units.
    pub units: usize,
    /// The sum of their counts times their weights.
    pub solutions: u128,
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { units: self.units + other.units, solutions: self.solutions + other.solutions }
    }
}

/// Finished units: their counts, and what they took. This is what a thread reports, and what a line of a
/// journal holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnitsDone {
    /// Their numbers in the plan.
    pub units: Range<usize>,
    /// The count of each, before its weight.
    pub counts: Vec<u64>,
    /// Their solutions, with weights.
    pub solutions: u128,
    /// Wall time from the start of the counting until they were finished; in journals in whole milliseconds.
    pub elapsed: Duration,
    /// CPU time of the thread that counted them; in journals in whole microseconds.
    pub cpu_time: Duration,
}

impl UnitsDone {
    /// No units yet; the first one will be this.
    pub(crate) fn none_from(unit: usize) -> Self {
        Self { units: unit..unit, ..Self::default() }
    }

    /// How many they are, and their solutions.
    pub fn tally(&self) -> Tally {
        Tally { units: self.units.len(), solutions: self.solutions }
    }

    /// Adds the units that follow.
    pub(crate) fn extend(&mut self, next: Self) {
        assert_eq!(self.units.end, next.units.start, "units are missing between the two");
        self.units.end = next.units.end;
        self.counts.extend(next.counts);
        self.solutions += next.solutions;
        self.elapsed = next.elapsed;
        self.cpu_time += next.cpu_time;
    }
}
