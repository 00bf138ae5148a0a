//! Sets of units.

use std::ops::Range;

use range_set_blaze::RangeSetBlaze;

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
