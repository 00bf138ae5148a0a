//! Compares the first and the second count of a plan, unit by unit.

use super::{Record, RecordedCount};
use crate::engine::WhichCount;
use crate::error::Error;

/// The largest number of differing units that are named one by one.
const MAX_NAMED: usize = 100;

/// The result of comparing two counts of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
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
pub fn compare(first: &Record, second: &Record) -> Result<Comparison, Error> {
    let plans = [first.plan(), second.plan()];
    let counts = plans.map(|plan| plan.which_count());
    if plans[0].hash() != plans[1].hash() || counts != [WhichCount::First, WhichCount::Second] {
        let files = [first, second].map(|record| record.files[0].path.clone());
        return Err(Error::PlansDiffer { files, plans: plans.map(ToString::to_string) });
    }
    let (mut units, mut differing) = (0, Vec::new());
    for unit in 0..plans[0].units() {
        if let (Some(one), Some(other)) = (first.count(unit), second.count(unit)) {
            units += 1;
            if one != other {
                differing.push(unit);
            }
        }
    }
    let [of_first, of_second] = [first, second].map(|record| record.find(&differing));
    let mut disagreements = Vec::new();
    for unit in differing.iter().take(MAX_NAMED) {
        let line_of =
            |lines: &[RecordedCount]| lines.iter().find(|line| line.unit == *unit).cloned();
        // Both are there, unless a journal was changed after it was read.
        if let (Some(one), Some(other)) = (line_of(&of_first), line_of(&of_second)) {
            disagreements.push([one, other]);
        }
    }
    let (differing, lines) = (differing.len(), [of_first, of_second].concat());
    Ok(Comparison { units, differing, disagreements, lines })
}
