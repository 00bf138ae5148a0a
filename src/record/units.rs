//! Sets of units.

use std::ops::Range;

use range_set_blaze::RangeSetBlaze;

/// The largest number of units whose counts are in memory at once, where the counts of all units are compared. They
/// take a third of a gigabyte.
const MAX_UNITS_AT_ONCE: usize = 1 << 23;

/// A set of unit numbers, stored as disjoint ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitSet(RangeSetBlaze<usize>);

impl UnitSet {
    /// Returns the number of units.
    pub fn len(&self) -> usize {
        self.0.len() as usize
    }

    /// Returns whether the set has no unit.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the set has this unit.
    pub fn contains(&self, unit: usize) -> bool {
        self.0.contains(unit)
    }

    /// Returns the units in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(&self.0 & &other.0)
    }

    /// Returns the units that the other set does not have.
    pub fn difference(&self, other: &Self) -> Self {
        Self(&self.0 - &other.0)
    }

    /// Returns the units in any of these ranges, and the units in more than one of them.
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

    /// Cuts the set into smaller sets of neighbouring units.
    pub(super) fn parts(&self) -> impl Iterator<Item = Self> {
        let end = self.0.last().map_or(0, |last| last + 1);
        let starts = (0..end).step_by(MAX_UNITS_AT_ONCE);
        starts.map(|start| {
            self.intersection(&Self::from_iter(Some(start..start + MAX_UNITS_AT_ONCE)))
        })
    }

    /// Returns the units in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter()
    }

    /// Returns the ranges of consecutive units in increasing order. The end of a range is excluded.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.ranges().map(|range| *range.start()..range.end() + 1)
    }
}

/// Collects the units of ranges, with the ends excluded.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
