//! The counts of finished units.
//!
//! A journal may hold a hundred million counts, and most readers need none of them. So counts are read
//! when they are asked for, and only as many as are.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Units, half_open};
use crate::plan::Plan;

/// Marks a count that is not known. No count is this large: a unit that reaches it is an overflow.
const UNKNOWN: u64 = u64::MAX;

/// The counts of some units of a plan, each before its weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Counts of consecutive units, by the first of them.
    ranges: BTreeMap<usize, Vec<u64>>,
}

impl Counts {
    /// Room for the counts of these units; none is known yet.
    pub(super) fn of(units: &Units) -> Self {
        let room = |range: Range<usize>| (range.start, vec![UNKNOWN; range.len()]);
        Self { ranges: half_open(units).map(room).collect() }
    }

    /// The count of a unit; `None` if it is not known.
    #[must_use]
    pub fn get(&self, unit: usize) -> Option<u64> {
        let (first, counts) = self.ranges.range(..=unit).next_back()?;
        counts.get(unit - first).copied().filter(|count| *count != UNKNOWN)
    }

    /// The units and their counts, in increasing order of the units.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let all = self.ranges.iter().flat_map(|(first, counts)| (*first..).zip(counts));
        all.map(|(unit, count)| (unit, *count)).filter(|(_, count)| *count != UNKNOWN)
    }

    /// Adds consecutive units from `first` on, as far as there is room for them. Returns the weighted sum
    /// of the units that are known already, with the same count. Those known with another count are
    /// added to `conflicts`, and stay as they are.
    pub(super) fn add(
        &mut self,
        plan: &Plan,
        first: usize,
        counts: &[u64],
        conflicts: &mut Units,
    ) -> u128 {
        let (mut repeated, end) = (0, first + counts.len());
        let start = self.ranges.range(..=first).next_back().map_or(first, |(start, _)| *start);
        for (start, room) in self.ranges.range_mut(start..end) {
            for unit in first.max(*start)..end.min(start + room.len()) {
                let (count, known) = (counts[unit - first], &mut room[unit - start]);
                match *known {
                    UNKNOWN => *known = count,
                    known if known == count => repeated += weighted_sum(plan, unit, &[count]),
                    _ => drop(conflicts.insert(unit)),
                }
            }
        }
        repeated
    }
}

/// The weighted sum of the counts of consecutive units. It fits: weights and numbers of units are far
/// below 2^32.
pub(super) fn weighted_sum(plan: &Plan, first: usize, counts: &[u64]) -> u128 {
    let terms = (first..).zip(counts);
    terms.map(|(unit, count)| u128::from(*count) * u128::from(plan.weight(unit))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    #[test]
    fn counts_are_those_for_which_there_is_room() {
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let mut counts = Counts::of(&Units::from_iter([1..=3, 5..=6]));
        let mut conflicts = Units::new();
        let mut add = |first, each: &[u64]| counts.add(&plan, first, each, &mut conflicts);
        assert_eq!(add(0, &[4, 8, 16]), 0);
        assert_eq!(add(2, &[16, 18, 18, 16, 8]), 16, "unit 2 again");
        assert_eq!(add(5, &[16, 9]), 16, "unit 5 again");
        assert_eq!(conflicts, Units::from_iter([6]));
        let known: Vec<_> = counts.iter().collect();
        assert_eq!(known, [(1, 8), (2, 16), (3, 18), (5, 16), (6, 8)]);
        let each = [0, 1, 3, 4, 6, 7].map(|unit| counts.get(unit));
        assert_eq!(each, [None, Some(8), Some(18), None, Some(8), None]);
    }
}
