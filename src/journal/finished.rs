//! Which units of a plan are finished.
//!
//! A plan may have a hundred million units, and thousands of journals may be read together. So this
//! record has no counts, only ranges of units and the sum of their solutions. Whoever needs counts
//! reads those that it needs: see [`Counts`](super::Counts).

use std::iter::once;
use std::ops::Range;

/// Finished units of a plan, and the sum of their solutions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// In increasing order, with gaps between them.
    ranges: Vec<Range<usize>>,
    /// The number of units of the plan.
    units: usize,
    units_done: usize,
    solutions: u128,
}

impl Finished {
    /// These units of a plan of `units` units. The ranges are in increasing order, with gaps
    /// between them.
    pub(crate) fn new(ranges: Vec<Range<usize>>, units: usize, solutions: u128) -> Self {
        debug_assert!(
            ranges.windows(2).all(|pair| pair[0].end < pair[1].start),
            "ranges touch or are out of order"
        );
        let units_done = ranges.iter().map(Range::len).sum();
        Self { ranges, units, units_done, solutions }
    }

    /// The number of finished units.
    #[must_use]
    pub fn units_done(&self) -> usize {
        self.units_done
    }

    /// The weighted sum of the solutions in the finished units.
    #[must_use]
    pub fn solutions(&self) -> u128 {
        self.solutions
    }

    /// Whether all units are finished.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.units_done == self.units
    }

    /// Whether a unit is finished.
    #[must_use]
    pub fn contains(&self, unit: usize) -> bool {
        self.from(unit).next().is_some_and(|range| range.contains(&unit))
    }

    /// The finished units, as ranges in increasing order with gaps between them.
    #[must_use]
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// The ranges that end after a unit.
    fn from(&self, unit: usize) -> impl Iterator<Item = &Range<usize>> {
        self.ranges[self.ranges.partition_point(|range| range.end <= unit)..].iter()
    }

    /// Whether any of these units, in increasing order, is finished.
    pub(crate) fn holds_any_of(&self, units: &[Range<usize>]) -> bool {
        let (few, many) = match units.len() < self.ranges.len() {
            true => (units, &self.ranges[..]),
            false => (&self.ranges[..], units),
        };
        few.iter().any(|range| common(range, many).next().is_some())
    }

    /// The parts of a range of units that are unfinished.
    pub(crate) fn unfinished(&self, units: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let end = units.end;
        let inside = self.from(units.start).take_while(move |range| range.start < end).cloned();
        gaps(units, inside)
    }
}

/// The parts of a range of units that lie outside of other ranges, which are in increasing order.
pub(crate) fn gaps(
    units: Range<usize>,
    others: impl IntoIterator<Item = Range<usize>>,
) -> impl Iterator<Item = Range<usize>> {
    let (mut next, end) = (units.start, units.end);
    others.into_iter().chain(once(end..end)).filter_map(move |other| {
        let gap = next..other.start.min(end);
        next = next.max(other.end);
        (!gap.is_empty()).then_some(gap)
    })
}

/// The parts of a range of units that lie in other ranges, which are in increasing order.
pub(crate) fn common<'a>(
    units: &Range<usize>,
    others: &'a [Range<usize>],
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let Range { start, end } = *units;
    let first = others.partition_point(|other| other.end <= start);
    let inside = others[first..].iter().take_while(move |other| other.start < end);
    inside.map(move |other| other.start.max(start)..other.end.min(end))
}

/// Adds a range to others. It joins the last one if it follows it.
pub(crate) fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut().filter(|last| last.end == range.start) {
        Some(last) => last.end = range.end,
        None => ranges.push(range),
    }
}

/// The units in any of these ranges, and those in several of them: both in increasing order, with
/// gaps between them.
pub(crate) fn unite(mut ranges: Vec<Range<usize>>) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut united, mut shared) = (Vec::<Range<usize>>::new(), Vec::<Range<usize>>::new());
    for mut range in ranges {
        if let Some(last) = united.last().filter(|last| range.start < last.end) {
            let mut twice = range.start..range.end.min(last.end);
            range.start = twice.end;
            // Three ranges may share the same units.
            twice.start = twice.start.max(shared.last().map_or(0, |last| last.end));
            if !twice.is_empty() {
                push(&mut shared, twice);
            }
        }
        if !range.is_empty() {
            push(&mut united, range);
        }
    }
    (united, shared)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    #[test]
    fn the_units_between_the_ranges_are_unfinished() {
        let finished = Finished::new(vec![3..5, 9..12], 12, 18);
        let gaps = |units| finished.unfinished(units).collect::<Vec<_>>();
        assert_eq!(gaps(0..12), [0..3, 5..9]);
        assert_eq!(gaps(4..7), from_ref(&(5..7)));
        assert_eq!(gaps(6..8), from_ref(&(6..8)));
        assert_eq!(finished.unfinished(9..12).count(), 0);
        assert_eq!((finished.units_done(), finished.is_complete()), (5, false));
        let contained: Vec<usize> = (0..13).filter(|unit| finished.contains(*unit)).collect();
        assert_eq!(contained, [3, 4, 9, 10, 11]);
    }

    #[test]
    fn united_ranges_and_shared_units_are_those_of_a_count_by_unit() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1000 {
            let range = |random: &mut fastrand::Rng| {
                let start = random.usize(0..20);
                start..start + random.usize(1..6)
            };
            let ranges: Vec<_> = (0..random.usize(0..8)).map(|_| range(&mut random)).collect();
            let held = |unit| ranges.iter().filter(|range| range.contains(&unit)).count();
            let at_least = |times| {
                let mut expected = Vec::new();
                let units = (0..30).filter(|unit| held(*unit) >= times);
                units.for_each(|unit| push(&mut expected, unit..unit + 1));
                expected
            };
            assert_eq!(unite(ranges.clone()), (at_least(1), at_least(2)), "{ranges:?}");
        }
    }
}
