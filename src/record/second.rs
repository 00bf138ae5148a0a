//! Compares the first and the second count of a plan, unit by unit.

use super::union::{Record, Witness};
use super::units::UnitSet;
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
    /// The first differing units, at most 100, with the witness of the first count and of the second.
    pub disagreements: Vec<[Witness; 2]>,
}

/// Compares the first count of a plan with the second one.
///
/// # Errors
///
/// [`Error::PlansDiffer`] unless the records are the first and the second count of one plan. Also the errors of
/// [`Record::counts`].
pub fn compare(first: &Record, second: &Record) -> Result<Comparison, Error> {
    let plans = [first.plan(), second.plan()];
    let counts = plans.map(|plan| plan.which_count());
    if plans[0].hash() != plans[1].hash() || counts != [WhichCount::First, WhichCount::Second] {
        let files = [first, second].map(|record| record.files[0].path.clone());
        return Err(Error::PlansDiffer { files, plans: plans.map(ToString::to_string) });
    }
    let both = first.finished().intersection(second.finished());
    let mut differing = Vec::new();
    for units in both.parts() {
        let counts = [first.counts(&units)?, second.counts(&units)?];
        assert_eq!(counts[0].len(), counts[1].len(), "both have counted these units");
        let pairs = counts[0].iter().zip(&counts[1]);
        differing.extend(pairs.filter(|(one, other)| one != other).map(|(one, _)| one.0));
    }
    let named = UnitSet::from_iter(differing.iter().copied().take(MAX_NAMED));
    let [mut of_first, mut of_second] = [first.witnesses(&named)?, second.witnesses(&named)?];
    of_first.dedup_by_key(|witness| witness.unit);
    of_second.dedup_by_key(|witness| witness.unit);
    Ok(Comparison {
        units: both.len(),
        differing: differing.len(),
        disagreements: of_first.into_iter().zip(of_second).map(<[_; 2]>::from).collect(),
    })
}
