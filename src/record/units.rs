//! Sets of units, and the counts of some of them.
//!
//! A journal may hold a hundred million counts, and most readers need none of them. So counts are read
//! when they are asked for, and only as many as are.

use std::collections::BTreeMap;
use std::ops::Range;

use range_set_blaze::RangeSetBlaze;

use crate::done::UnitsDone;
use crate::plan::Plan;

/// A set of unit numbers, kept as disjoint ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitSet(RangeSetBlaze<usize>);

impl UnitSet {
    /// How many units there are.
    pub fn len(&self) -> usize {
        self.0.len() as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this unit is one of them.
    pub fn contains(&self, unit: usize) -> bool {
        self.0.contains(unit)
    }

    /// Whether none of them is in another set.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }

    /// The units in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(&self.0 & &other.0)
    }

    /// The units that the other set does not have.
    pub fn difference(&self, other: &Self) -> Self {
        Self(&self.0 - &other.0)
    }

    /// Returns the units in any of these ranges, and those in several of them.
    pub(super) fn unite(mut ranges: Vec<Range<usize>>) -> (Self, Self) {
        ranges.sort_unstable_by_key(|range| range.start);
        let (mut repeated, mut end) = (Vec::new(), 0);
        for range in &ranges {
            if range.start < end {
                repeated.push(range.start..range.end.min(end));
            }
            end = end.max(range.end);
        }
        (ranges.into_iter().collect(), repeated.into_iter().collect())
    }

    /// The units in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter()
    }

    /// The ranges of consecutive units in increasing order, the ends excluded.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.ranges().map(|range| *range.start()..range.end() + 1)
    }
}

/// The units of some ranges, the ends excluded.
impl FromIterator<Range<usize>> for UnitSet {
    fn from_iter<I: IntoIterator<Item = Range<usize>>>(ranges: I) -> Self {
        let ranges = ranges.into_iter().filter(|range| !range.is_empty());
        Self(ranges.map(|range| range.start..=range.end - 1).collect())
    }
}

impl FromIterator<usize> for UnitSet {
    fn from_iter<I: IntoIterator<Item = usize>>(units: I) -> Self {
        Self(units.into_iter().collect())
    }
}

/// Marks a count that is not known. No count is this large: a unit that reaches it is an overflow.
const UNKNOWN: u64 = u64::MAX;

/// The counts of some units, each before its weight, as they are gathered from journals.
#[derive(Default)]
pub(super) struct Counts {
    /// Counts of consecutive units, by the first of them.
    ranges: BTreeMap<usize, Vec<u64>>,
    /// The solutions, with weights, in counts of units that were known before.
    pub(super) repeated: u128,
    /// The units with different counts, once or more often; the first count is kept.
    pub(super) disputed: Vec<usize>,
}

impl Counts {
    /// Room for the counts of these units; none is known yet.
    pub(super) fn of(units: &UnitSet) -> Self {
        let room = |range: Range<usize>| (range.start, vec![UNKNOWN; range.len()]);
        Self { ranges: units.ranges().map(room).collect(), ..Self::default() }
    }

    /// The units whose counts are known, in increasing order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let all = self.ranges.iter().flat_map(|(first, counts)| (*first..).zip(counts));
        all.map(|(unit, count)| (unit, *count)).filter(|(_, count)| *count != UNKNOWN)
    }

    /// Adds the counts of a line, as far as there is room for them.
    pub(super) fn add(&mut self, plan: &Plan, done: &UnitsDone) {
        let Range { start: first, end } = done.units;
        let start = self.ranges.range(..=first).next_back().map_or(first, |(start, _)| *start);
        for (start, room) in self.ranges.range_mut(start..end) {
            for unit in first.max(*start)..end.min(start + room.len()) {
                let (count, known) = (done.counts[unit - first], &mut room[unit - start]);
                if *known == UNKNOWN {
                    *known = count;
                    continue;
                }
                self.repeated += plan.solutions(unit, &[count]);
                if *known != count {
                    self.disputed.push(unit);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    #[test]
    fn united_ranges_and_repeated_units_are_those_of_a_count_by_unit() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1000 {
            let range = |random: &mut fastrand::Rng| {
                let start = random.usize(0..20);
                start..start + random.usize(1..6)
            };
            let ranges: Vec<_> = (0..random.usize(0..8)).map(|_| range(&mut random)).collect();
            let held = |unit| ranges.iter().filter(|range| range.contains(&unit)).count();
            let at_least = |times| UnitSet::from_iter((0..30).filter(|unit| held(*unit) >= times));
            assert_eq!(UnitSet::unite(ranges.clone()), (at_least(1), at_least(2)), "{ranges:?}");
        }
    }

    #[test]
    fn counts_are_those_for_which_there_is_room() {
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let mut counts = Counts::of(&UnitSet::from_iter([1..4, 5..7]));
        let lines = [(0, &[4, 8, 16][..]), (2, &[16, 18, 18, 16, 8]), (5, &[16, 9])];
        let repeated = lines.map(|(first, each)| {
            let mut done = UnitsDone::none_from(first);
            (done.units.end, done.counts) = (first + each.len(), each.to_vec());
            counts.add(&plan, &done);
            counts.repeated
        });
        assert_eq!(repeated, [0, 16, 16 + 16 + 9], "unit 2, then units 5 and 6 again");
        assert_eq!(counts.disputed, [6]);
        let known: Vec<_> = counts.iter().collect();
        assert_eq!(known, [(1, 8), (2, 16), (3, 18), (5, 16), (6, 8)]);
    }
}
