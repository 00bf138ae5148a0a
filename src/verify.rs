//! Checks journals by counting some of their units again.
//!
//! Reading a journal makes sure that it is as it was written: each line has its CRC, each sum is
//! the sum of its counts, and no unit has two counts. It remains to check that the counts are
//! right. So units are chosen at random among the finished ones, without repetition, and counted by
//! [another method](crate::Plan::recount).
//!
//! **How strong is this check?** If a fraction f of the units is wrong, a check of k units misses
//! all of them with a probability of at most (1 - f)^k. So if no difference is found, f is below
//! 1 - 0.05^(1/k), about 3/k, with a confidence of 95 %.

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::plan::Plan;
use crate::record::UnitSet;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The number of units recounted: all, unless the check was cancelled.
    pub recounted: usize,
    /// The units whose counts differ, in increasing order.
    pub differences: Vec<Difference>,
}

/// A unit whose recorded count differs from the count of the other method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The unit's number in its plan.
    pub unit: usize,
    /// The count in the journals, before its weight.
    pub recorded: u64,
    /// The count that the other method finds.
    pub recounted: u64,
}

/// Chooses this many of the finished units, or all if they are fewer, without repetition. A seed chooses the same units
/// again, if the same units are finished.
pub fn choose_units(finished: &UnitSet, units: usize, seed: u64) -> UnitSet {
    let mut random = fastrand::Rng::with_seed(seed);
    random.choose_multiple(finished.iter(), units.min(finished.len())).into_iter().collect()
}

/// Recounts units with their recorded counts on the current rayon pool, and compares the counts. The counting threads
/// call `recounted` after each unit.
///
/// # Errors
///
/// [`Error::UnitOverflow`] if a count does not fit, [`Error::LacksMemory`] if the threads need more memory than there
/// is.
pub fn verify(
    plan: &Plan,
    counts: &[(usize, u64)],
    recounted: &(dyn Fn() + Sync),
    cancel: &Cancel,
) -> Result<Verdict, Error> {
    plan.check_recount(rayon::current_num_threads().min(counts.len()))?;
    let recount = |&(unit, recorded)| match plan.recount(unit, cancel) {
        Ok(count) => {
            recounted();
            Some(Ok(Difference { unit, recorded, recounted: count }))
        }
        // The unit was stopped.
        Err(error) if error.is_cancelled() => None,
        Err(error) => Some(Err(error)),
    };
    let units = counts.par_iter().with_max_len(1).filter_map(recount);
    let mut differences = units.collect::<Result<Vec<_>, _>>()?;
    let recounted = differences.len();
    differences.retain(|unit| unit.recorded != unit.recounted);
    Ok(Verdict { recounted, differences })
}

impl Verdict {
    /// The fraction of the units that may be wrong although no difference was found, with a
    /// confidence of 95 %. 0 if all `finished` units were recounted, 1 if none was.
    pub fn undetected_part(&self, finished: usize) -> f64 {
        if self.recounted >= finished && finished > 0 {
            return 0.0;
        }
        1.0 - 0.05f64.powf(1.0 / self.recounted as f64)
    }
}
