//! Compares the first and the second count of a plan, unit by unit.

use std::ops::Range;
use std::path::PathBuf;
use std::slice::from_ref;

use rayon::prelude::*;

use super::{Member, Merged};
use crate::engine::Pass;
use crate::error::Error;
use crate::journal::{Counts, common, gaps, pass_of, push, read_counts};
use crate::memory::Memory;

/// At least this many units are compared at once, however little memory there is.
const LEAST_UNITS: u64 = 1 << 20;

/// Of units with two different counts, at most this many are told one by one.
const TOLD: usize = 100;

/// What two counts of a plan say about each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// The number of units that both have finished.
    pub units: usize,
    /// The number of these with different counts.
    pub differing: usize,
    /// The first of these, in increasing order.
    pub disagreements: Vec<Disagreement>,
    /// The units that only the first count has finished, in increasing order.
    pub only_first: Vec<Range<usize>>,
    /// The units that only the second count has finished, in increasing order.
    pub only_second: Vec<Range<usize>>,
}

/// A unit whose two counts differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// The unit's number in its plan.
    pub unit: usize,
    /// Who says what in the first count.
    pub first: Witness,
    /// Who says what in the second count.
    pub second: Witness,
}

/// A count of a unit, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Witness {
    /// The count, before its weight.
    pub count: u64,
    /// The journal; of several that hold the unit, the first one.
    pub path: PathBuf,
    /// The machine that counted it.
    pub machine: String,
}

/// Parts journals into those of first counts and those of second counts. A file that does not say
/// which it is stays with the first counts.
#[must_use]
pub fn split_by_pass(files: Vec<PathBuf>) -> [Vec<PathBuf>; 2] {
    let is_first = |path: &PathBuf| !matches!(pass_of(path), Ok(Some(Pass::Second)));
    let (first, second) = files.into_par_iter().partition(is_first);
    [first, second]
}

/// Compares the first count of a plan with the second.
///
/// # Errors
///
/// [`Error::PlansDiffer`] if these are not the two counts of one plan, else as [`Merged::counts`].
pub fn compare(first: &Merged, second: &Merged) -> Result<Comparison, Error> {
    let passes = (first.plan.pass(), second.plan.pass());
    if first.plan.hash() != second.plan.hash() || passes != (Pass::First, Pass::Second) {
        return Err(Error::PlansDiffer {
            first: first.named.path.clone(),
            first_plan: first.plan.to_string(),
            second: second.named.path.clone(),
            second_plan: second.plan.to_string(),
        });
    }
    let (ours, theirs) = (first.finished.ranges(), second.finished.ranges());
    let both: Vec<Range<usize>> = ours.iter().flat_map(|units| common(units, theirs)).collect();
    let mut comparison = Comparison {
        units: both.iter().map(Range::len).sum(),
        only_first: outside(ours, &both),
        only_second: outside(theirs, &both),
        ..Comparison::default()
    };
    // Two counts of these units, and a second journal that is being read.
    let at_once = Memory::detect().available / (4 * Counts::BYTES_A_UNIT);
    let at_once = usize::try_from(at_once.max(LEAST_UNITS)).unwrap_or(usize::MAX);
    for window in windows(&both, at_once) {
        let counts = [first.counts(&window)?, second.counts(&window)?];
        for (unit, count) in counts[0].iter() {
            if counts[1].get(unit) == Some(count) {
                continue;
            }
            comparison.differing += 1;
            if comparison.disagreements.len() < TOLD {
                let (first, second) = (first.witness(unit)?, second.witness(unit)?);
                comparison.disagreements.push(Disagreement { unit, first, second });
            }
        }
    }
    Ok(comparison)
}

impl Comparison {
    /// Whether every unit of the plan was counted twice, with equal counts.
    #[must_use]
    pub fn is_proof(&self, first: &Merged) -> bool {
        self.units == first.plan.units() && self.differing == 0
    }
}

impl Merged {
    /// Who counted a unit that is finished.
    fn witness(&self, unit: usize) -> Result<Witness, Error> {
        let holds = |member: &&Member| member.finished.contains(unit);
        let Some(Member { path, length, .. }) = self.files.iter().find(holds) else {
            return Ok(Witness::default());
        };
        let some = read_counts(path, &self.named, Some(*length), from_ref(&(unit..unit + 1)))?;
        let some = some.unwrap_or_default();
        let run = some.recorded.iter().rev().find(|(_, units)| units.contains(&unit));
        let machine = run.and_then(|(run, _)| some.runs.get(*run)).map(|run| run.machine.clone());
        Ok(Witness {
            count: some.counts.get(unit).unwrap_or_default(),
            path: path.to_owned(),
            machine: machine.unwrap_or_default(),
        })
    }
}

/// The parts of some ranges that lie outside of others. Both are in increasing order.
fn outside(ranges: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    ranges.iter().flat_map(|units| gaps(units.clone(), common(units, others))).collect()
}

/// Cuts ranges into parts of at most this many units.
fn windows(ranges: &[Range<usize>], most: usize) -> Vec<Vec<Range<usize>>> {
    let (mut windows, mut window, mut room) = (Vec::new(), Vec::new(), most);
    for range in ranges {
        let mut rest = range.clone();
        while !rest.is_empty() {
            let end = rest.start + rest.len().min(room);
            push(&mut window, rest.start..end);
            (room, rest.start) = (room - (end - rest.start), end);
            if room == 0 {
                windows.push(std::mem::take(&mut window));
                room = most;
            }
        }
    }
    if !window.is_empty() {
        windows.push(window);
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(ranges: Vec<Range<usize>>) -> Vec<usize> {
        ranges.into_iter().flatten().collect()
    }

    #[test]
    fn windows_cover_the_ranges() {
        let ranges = [0..5, 7..8, 10..20];
        let cut: Vec<Vec<usize>> = windows(&ranges, 6).into_iter().map(units).collect();
        assert_eq!(cut, [&[0, 1, 2, 3, 4, 7][..], &[10, 11, 12, 13, 14, 15], &[16, 17, 18, 19]]);
        assert_eq!(windows(&ranges, 100), [ranges.to_vec()]);
        assert!(windows(&[], 3).is_empty());
    }

    #[test]
    fn what_lies_outside_is_what_is_left() {
        assert_eq!(outside(&[0..5, 7..9], &[2..3, 7..9]), [0..2, 3..5]);
    }
}
