//! The counts of finished units.
//!
//! Counts are kept in pages, made when the first of their units is added. So the counts of a few
//! units take little memory, and those of a whole plan about nine bytes a unit.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Finished;
use super::finished::{gaps, push};
use crate::plan::Plan;

/// Units of a page.
const PAGE: usize = 64;
/// Marks an unfinished unit. No count is this large: a unit that reaches it is an overflow.
const UNFINISHED: u64 = u64::MAX;

/// The counts of finished units of a plan, each before its weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pages: BTreeMap<usize, Box<[u64; PAGE]>>,
}

impl Counts {
    /// Bytes for each unit of a plan whose units are all finished, at most.
    pub(crate) const BYTES_A_UNIT: u64 = 10;

    /// The count of a unit; `None` if it is not finished, or not among those that were read.
    #[must_use]
    pub fn get(&self, unit: usize) -> Option<u64> {
        let count = self.pages.get(&(unit / PAGE))?[unit % PAGE];
        (count != UNFINISHED).then_some(count)
    }

    /// The units and their counts, in increasing order of the units.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        self.within(0..usize::MAX)
    }

    /// The counts of some units only.
    #[must_use]
    pub fn among(&self, units: &[Range<usize>]) -> Self {
        let mut some = Self::default();
        for (unit, count) in units.iter().flat_map(|units| self.within(units.clone())) {
            // Nothing was there, so nothing can differ.
            let _ = some.add(unit, &[count]);
        }
        some
    }

    /// The finished units of a range, and their counts.
    pub(crate) fn within(&self, units: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        let pages = self.pages.range(units.start / PAGE..units.end.div_ceil(PAGE));
        let all = pages.flat_map(|(page, counts)| (page * PAGE..).zip(counts.iter().copied()));
        all.filter(move |(unit, count)| *count != UNFINISHED && units.contains(unit))
    }

    /// The units, as ranges in increasing order with gaps between them.
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        self.iter().for_each(|(unit, _)| push(&mut ranges, unit..unit + 1));
        ranges
    }

    /// The units without their counts.
    pub(crate) fn finished(&self, plan: &Plan) -> Finished {
        let (_, solutions) = self.tally(0..plan.units(), plan);
        Finished::new(self.ranges(), plan.units(), solutions)
    }

    /// The parts of a range of units that are unfinished.
    pub(crate) fn unfinished(&self, units: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        gaps(units.clone(), self.within(units).map(|(unit, _)| unit..unit + 1))
    }

    /// The number of finished units in a range, and the weighted sum of their solutions.
    pub(crate) fn tally(&self, units: Range<usize>, plan: &Plan) -> (usize, u128) {
        self.within(units).fold((0, 0), |(done, solutions), (unit, count)| {
            (done + 1, solutions + u128::from(count) * u128::from(plan.weight(unit)))
        })
    }

    /// Adds consecutive units from `first` on. Units already finished with the same count stay as
    /// they are. Returns how many were added. The error is the first unit already finished with a
    /// different count; then nothing is added.
    pub(crate) fn add(&mut self, first: usize, counts: &[u64]) -> Result<usize, usize> {
        let mut held = 0;
        for (unit, counts) in by_page(first, counts) {
            let Some(page) = self.pages.get(&(unit / PAGE)) else { continue };
            for ((unit, count), there) in (unit..).zip(counts).zip(&page[unit % PAGE..]) {
                match *there {
                    UNFINISHED => {}
                    there if there == *count => held += 1,
                    _ => return Err(unit),
                }
            }
        }
        for (unit, counts) in by_page(first, counts) {
            let page =
                self.pages.entry(unit / PAGE).or_insert_with(|| Box::new([UNFINISHED; PAGE]));
            page[unit % PAGE..][..counts.len()].copy_from_slice(counts);
        }
        Ok(counts.len() - held)
    }

    /// Makes units unfinished. Returns how many of them were finished.
    pub(crate) fn withdraw(&mut self, units: Range<usize>) -> usize {
        let pages = self.pages.range_mut(units.start / PAGE..units.end.div_ceil(PAGE));
        let mut withdrawn = 0;
        for (page, counts) in pages {
            let all = (page * PAGE..).zip(counts.iter_mut());
            let inside = all.filter(|(unit, count)| units.contains(unit) && **count != UNFINISHED);
            inside.for_each(|(_, count)| {
                *count = UNFINISHED;
                withdrawn += 1;
            });
        }
        withdrawn
    }
}

/// Cuts the counts of consecutive units at the ends of pages. Each part comes with its first unit.
fn by_page(first: usize, counts: &[u64]) -> impl Iterator<Item = (usize, &[u64])> {
    let (mut unit, mut rest) = (first, counts);
    std::iter::from_fn(move || {
        let (part, others) = rest.split_at(rest.len().min(PAGE - unit % PAGE));
        let first = unit;
        (unit, rest) = (unit + part.len(), others);
        (!part.is_empty()).then_some((first, part))
    })
}

/// The weighted sum of the counts of consecutive units; `None` if it does not fit.
pub(crate) fn weighted_sum(plan: &Plan, first: usize, counts: &[u64]) -> Option<u128> {
    (first..).zip(counts).try_fold(0u128, |sum, (unit, count)| {
        sum.checked_add(u128::from(*count) * u128::from(plan.weight(unit)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::size::BoardSize;

    #[test]
    fn the_units_not_added_are_unfinished() {
        let mut counts = Counts::default();
        let gaps = |counts: &Counts, units| counts.unfinished(units).collect::<Vec<_>>();
        assert_eq!(gaps(&counts, 0..120), vec![0..120]);
        assert_eq!(counts.add(3, &[7, 8]), Ok(2));
        assert_eq!(counts.add(62, &[1; 70]), Ok(70), "three pages");
        assert_eq!(gaps(&counts, 0..140), vec![0..3, 5..62, 132..140]);
        assert_eq!(gaps(&counts, 4..7), vec![5..7]);
        assert_eq!(counts.unfinished(62..132).count(), 0);
        assert_eq!((counts.get(4), counts.get(5)), (Some(8), None));

        assert_eq!(counts.add(0, &[1, 1, 1, 1]), Err(3));
        assert_eq!(counts.ranges(), [3..5, 62..132], "nothing was added");
        assert_eq!(counts.add(2, &[1, 7, 8]), Ok(1), "equal counts do no harm");

        assert_eq!(counts.withdraw(1..4), 2);
        assert_eq!(counts.withdraw(60..130), 68);
        assert_eq!(counts.ranges(), [4..5, 130..132]);
    }

    #[test]
    fn sums_are_those_of_the_finished_units() {
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let mut counts = Counts::default();
        counts.add(0, &[4, 8, 16, 18, 18, 16, 8, 4]).expect("nothing was there");
        assert!(counts.finished(&plan).is_complete());
        assert_eq!(counts.finished(&plan).solutions(), 92);
        assert_eq!(counts.tally(1..4, &plan), (3, 42));
        counts.withdraw(0..1);
        assert_eq!((counts.finished(&plan).solutions(), counts.iter().count()), (88, 7));
    }
}
