//! The first and the second count of a plan, compared unit by unit.

use std::collections::BTreeSet;

use super::{Record, RecordedCount};
use crate::engine::WhichCount;
use crate::error::Error;
#[cfg(feature = "cli")]
use crate::plan::Plan;
use crate::plan::done::Sum;

/// The largest number of differing units that are named one by one.
const MAX_NAMED: usize = 100;

/// What the first and the second count of a plan hold together.
///
/// ```
/// use nqueens::record::{BothCounts, Record};
/// use nqueens::{BoardSize, Count, WhichCount};
///
/// let folder = tempfile::tempdir()?;
/// let count = Count::new(BoardSize::new(10)?);
/// let mut records = Vec::new();
/// for which in [WhichCount::First, WhichCount::Second] {
///     let journal = folder.path().join(format!("{which}.journal"));
///     count.clone().which_count(which).journal(&journal).run()?;
///     records.extend(Record::read(&[journal])?);
/// }
/// let both = BothCounts::compare(&records[0], &records[1])?;
/// assert!(both.differing.is_empty());
/// assert_eq!(both.counted_twice, records[0].plan().units());
/// assert_eq!(both.done.solutions, 724);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BothCounts {
    /// The settled units: at least one of the counts has finished the unit, neither holds it with two different counts,
    /// and they agree if both have finished it.
    pub done: Sum,
    /// The number of units that both counts have finished.
    pub counted_twice: usize,
    /// The units whose two counts differ, in increasing order.
    pub differing: Vec<usize>,
    /// The units that at least one of the counts holds with two different counts, in increasing order. What the other
    /// count holds does not settle them.
    pub disputed: Vec<usize>,
    /// The first differing units, at most 100, with a line of the first count and one of the second.
    pub disagreements: Vec<[RecordedCount; 2]>,
    /// The lines of both counts that hold a differing unit, for the first 10 000 of these units. A count may hold a unit
    /// in several lines.
    pub lines: Vec<RecordedCount>,
}

impl BothCounts {
    /// Compares the first count of a plan with the second one.
    ///
    /// # Errors
    ///
    /// [`Error::PlansDiffer`] unless the records are the first and the second count of one plan.
    pub fn compare(first: &Record, second: &Record) -> Result<Self, Error> {
        let plan = first.plan();
        let is_one_plan = plan.hash() == second.plan().hash();
        let are_first_and_second = plan.which_count() == WhichCount::First
            && second.plan().which_count() == WhichCount::Second;
        if !is_one_plan || !are_first_and_second {
            return Err(first.differs_in_plan(second));
        }
        let disputed: BTreeSet<usize> =
            first.disputed().iter().chain(second.disputed()).copied().collect();
        let mut done = Sum::default();
        let mut counted_twice = 0;
        let mut differing = Vec::new();
        for unit in 0..plan.units() {
            if disputed.contains(&unit) {
                continue;
            }
            let one = first.count(unit);
            let other = second.count(unit);
            if one.is_some() && other.is_some() {
                counted_twice += 1;
                if one != other {
                    differing.push(unit);
                    continue;
                }
            }
            if let Some(count) = one.or(other) {
                done.units += 1;
                done.solutions += plan.solutions(unit, &[count]);
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
        let disputed = disputed.into_iter().collect();
        Ok(Self { done, counted_twice, differing, disputed, disagreements, lines })
    }

    /// Returns whether both counts have finished every unit, and agree in all of them.
    #[cfg(feature = "cli")]
    pub(crate) fn is_complete(&self, plan: &Plan) -> bool {
        self.counted_twice == plan.units() && self.differing.is_empty()
    }

    /// Returns whether a unit has two different counts, in one of the counts or between them.
    #[cfg(feature = "cli")]
    pub(crate) fn has_dispute(&self) -> bool {
        !self.differing.is_empty() || !self.disputed.is_empty()
    }
}

/// Returns the first of the lines that holds a unit.
fn line_of(unit: usize, lines: &[RecordedCount]) -> Option<&RecordedCount> {
    lines.iter().find(|line| line.unit == unit)
}
