//! Compares the first and the second count of a plan, unit by unit.

use super::{Record, RecordedCount};
use crate::engine::WhichCount;
use crate::error::Error;

/// The largest number of differing units that are named one by one.
const MAX_NAMED: usize = 100;

/// The units of a plan that were counted twice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TwiceCounted {
    /// The number of units that both counts have finished.
    pub units: usize,
    /// The number of units whose two counts differ.
    pub differing: usize,
    /// The first differing units, at most 100, with a line of the first count and one of the second.
    pub disagreements: Vec<[RecordedCount; 2]>,
    /// All lines of both counts that hold a differing unit. A count may hold a unit in several lines.
    pub lines: Vec<RecordedCount>,
}

/// Compares the first count of a plan with the second one.
///
/// # Errors
///
/// [`Error::PlansDiffer`] unless the records are the first and the second count of one plan.
pub fn compare_counts(first: &Record, second: &Record) -> Result<TwiceCounted, Error> {
    let is_one_plan = first.plan().hash() == second.plan().hash();
    let are_first_and_second = first.plan().which_count() == WhichCount::First
        && second.plan().which_count() == WhichCount::Second;
    if !is_one_plan || !are_first_and_second {
        return Err(Error::PlansDiffer {
            files: [first.files[0].path.clone(), second.files[0].path.clone()],
            plans: [first.plan().to_string(), second.plan().to_string()],
        });
    }
    let mut units = 0;
    let mut differing = Vec::new();
    for unit in 0..first.plan().units() {
        if let (Some(one), Some(other)) = (first.count(unit), second.count(unit)) {
            units += 1;
            if one != other {
                differing.push(unit);
            }
        }
    }
    let lines_of_first = first.find(&differing);
    let lines_of_second = second.find(&differing);
    let mut disagreements = Vec::new();
    for &unit in differing.iter().take(MAX_NAMED) {
        let one = line_of(unit, &lines_of_first);
        let other = line_of(unit, &lines_of_second);
        // Both are there, unless a journal was changed after it was read.
        if let (Some(one), Some(other)) = (one, other) {
            disagreements.push([one.clone(), other.clone()]);
        }
    }
    let lines = [lines_of_first, lines_of_second].concat();
    Ok(TwiceCounted { units, differing: differing.len(), disagreements, lines })
}

/// Returns the first of the lines that holds a unit.
fn line_of(unit: usize, lines: &[RecordedCount]) -> Option<&RecordedCount> {
    lines.iter().find(|line| line.unit == unit)
}
