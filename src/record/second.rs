//! Compares the first and the second count of a plan, unit by unit.

use std::ops::Range;

use super::{Counts, Record, Units, Witness, half_open, len, units_of};
use crate::engine::Pass;
use crate::error::Error;
use crate::memory::Memory;

/// At least this many units are compared at once, however little memory there is.
const LEAST_UNITS: u64 = 1 << 20;

/// Of units with two different counts, at most this many are named one by one.
const NAMED: usize = 100;

/// What two counts of a plan say about each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// The number of units that both have finished.
    pub units: usize,
    /// The number of these with different counts.
    pub differing: usize,
    /// The first of these, with what the first and the second count say.
    pub disagreements: Vec<[Witness; 2]>,
    /// The units that only the first count has finished.
    pub only_first: Units,
    /// The units that only the second count has finished.
    pub only_second: Units,
}

/// Compares the first count of a plan with the second.
///
/// # Errors
///
/// [`Error::PlansDiffer`] if these are not the two counts of one plan, else as [`Record::counts`].
pub fn compare(first: &Record, second: &Record) -> Result<Comparison, Error> {
    let passes = (first.plan.pass(), second.plan.pass());
    if first.plan.hash() != second.plan.hash() || passes != (Pass::First, Pass::Second) {
        let path = |record: &Record| record.files.first().map(|file| file.path.clone());
        return Err(Error::PlansDiffer {
            first: path(first).unwrap_or_default(),
            first_plan: first.plan.to_string(),
            second: path(second).unwrap_or_default(),
            second_plan: second.plan.to_string(),
        });
    }
    let both = &first.finished & &second.finished;
    let mut comparison = Comparison {
        units: len(&both),
        only_first: &first.finished - &both,
        only_second: &second.finished - &both,
        ..Comparison::default()
    };
    // Two counts of these units, and some room for the lines that are being read.
    let at_once = Memory::detect().available / (4 * Counts::BYTES_A_UNIT);
    let at_once = usize::try_from(at_once.max(LEAST_UNITS)).unwrap_or(usize::MAX);
    let mut differing = Vec::new();
    for window in windows(&both, at_once) {
        let counts = [first.counts(&window)?, second.counts(&window)?];
        let differs = |(unit, count): &(usize, u64)| counts[1].get(*unit) != Some(*count);
        differing.extend(counts[0].iter().filter(differs).map(|(unit, _)| unit));
    }
    comparison.differing = differing.len();
    differing.truncate(NAMED);
    let units = Units::from_iter(&differing);
    let witnesses = [first.witnesses(&units)?, second.witnesses(&units)?];
    let of = |witnesses: &[Witness], unit| {
        witnesses.iter().find(|witness| witness.unit == unit).cloned().unwrap_or_default()
    };
    let each =
        differing.into_iter().map(|unit| [0, 1].map(|count: usize| of(&witnesses[count], unit)));
    comparison.disagreements = each.collect();
    Ok(comparison)
}

impl Comparison {
    /// Whether every unit of the plan was counted twice, with equal counts.
    #[must_use]
    pub fn is_proof(&self, first: &Record) -> bool {
        self.units == first.plan.units() && self.differing == 0
    }
}

/// Cuts a set into parts of at most this many units.
fn windows(units: &Units, most: usize) -> Vec<Units> {
    let (mut windows, mut window, mut room) = (Vec::new(), Vec::<Range<usize>>::new(), most);
    for mut rest in half_open(units) {
        while !rest.is_empty() {
            let end = rest.start + rest.len().min(room);
            window.push(rest.start..end);
            (room, rest.start) = (room - (end - rest.start), end);
            if room == 0 {
                windows.push(units_of(std::mem::take(&mut window)));
                room = most;
            }
        }
    }
    windows.push(units_of(window));
    windows.retain(|window| !window.is_empty());
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_the_units() {
        let units = units_of([0..5, 7..8, 10..20]);
        let cut: Vec<Vec<usize>> =
            windows(&units, 6).into_iter().map(|units| units.iter().collect()).collect();
        assert_eq!(cut, [&[0, 1, 2, 3, 4, 7][..], &[10, 11, 12, 13, 14, 15], &[16, 17, 18, 19]]);
        assert_eq!(windows(&units, 100), [units]);
        assert!(windows(&Units::new(), 3).is_empty());
    }
}
