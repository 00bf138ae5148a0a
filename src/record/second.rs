//! Compares the first and the second count of a plan, unit by unit.

use super::union::{Record, Witness};
use super::units::UnitSet;
use crate::engine::WhichCount;
use crate::error::Error;

/// Of units with two different counts, at most this many are named one by one.
const MAX_NAMED: usize = 100;

/// What two counts of a plan say about each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// The number of units that both have finished.
    pub units: usize,
    /// The number of these with different counts.
    pub differing: usize,
    /// The first of these, with what the first and the second count say.
    pub disagreements: Vec<[Witness; 2]>,
}

/// Compares the first count of a plan with the second.
///
/// # Errors
///
/// [`Error::PlansDiffer`] if these are not the two counts of one plan, else as [`Record::counts`].
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
