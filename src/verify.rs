//! Checks recorded counts by counting some of the units again with another method.
//!
//! Reading a journal checks that it is as it was written: each line has its CRC, each sum is the sum of its counts,
//! and no unit has two counts. This check asks whether the counts are right. [`choose_units`] picks finished units at
//! random, and [`verify`] counts them again with [a plain backtracker](crate::Plan::recount). It also counts every unit
//! that has two different counts, which shows which of them is wrong.
//!
//! **How strong is this check?** If a fraction f of the units is wrong, a check of k units misses all wrong ones with
//! a probability of at most (1 - f)^k. So if no difference is found, f is below 1 - 0.05^(1/k), about 3/k, with a
//! confidence of 95 %.
//!
//! ```
//! use nqueens::record::Record;
//! use nqueens::verify::{choose_units, verify};
//! use nqueens::{BoardSize, Cancel, Count};
//!
//! let folder = tempfile::tempdir()?;
//! let journal = folder.path().join("q10.journal");
//! Count::new(BoardSize::new(10)?).journal(&journal).run()?;
//!
//! let record = Record::read(&[journal])?.expect("all units are finished");
//! let records = [&record];
//! let units = choose_units(&records, 5, 1);
//! let verdict = verify(&records, &units, &|| (), &Cancel::new())?;
//! assert_eq!((verdict.recounted, verdict.differences.len()), (5, 0));
//! // Rounded up, because it is an upper limit.
//! let undetected = (100.0 * verdict.undetected_part(record.sum().units)).ceil();
//! println!("at most {undetected} % of the finished units can be wrong");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::plan::Plan;
use crate::record::Record;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The number of finished units that were counted again: all that were asked for, unless the check was cancelled.
    pub recounted: usize,
    /// The finished units whose counts differ, in increasing order.
    pub differences: Vec<Difference>,
    /// The units with two different counts, in increasing order: all of them, unless the check was cancelled.
    pub disputed: Vec<Recount>,
}

/// The count that the other method finds for a unit with two different counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recount {
    /// The number of the unit in its plan.
    pub unit: usize,
    /// The count that the other method finds.
    pub recounted: u64,
}

/// A unit whose recorded count differs from the count of the other method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of the unit in its plan.
    pub unit: usize,
    /// The count in the journals, not yet multiplied by the weight of the unit.
    pub recorded: u64,
    /// The count that the other method finds.
    pub recounted: u64,
}

/// Chooses this number of finished units at random, each at most once, and returns them in increasing order. If there
/// are fewer, chooses all. With equal finished units, equal seeds choose equal units.
///
/// The records are of one plan: its first count, its second one, or both. A unit is finished if one of them holds it.
pub fn choose_units(records: &[&Record], units: usize, seed: u64) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(seed);
    let finished = finished_units(records);
    let number = units.min(finished.len());
    let mut chosen = random.choose_multiple(finished, number);
    chosen.sort_unstable();
    chosen
}

/// Returns the units that at least one of these records of one plan holds, in increasing order.
pub fn finished_units(records: &[&Record]) -> Vec<usize> {
    let Some(record) = records.first() else { return Vec::new() };
    let is_finished = |unit: &usize| records.iter().any(|record| record.count(*unit).is_some());
    (0..record.plan().units()).filter(is_finished).collect()
}

/// Returns the units with two different counts in these records of one plan, or between them, in increasing order.
pub fn disputed_units(records: &[&Record]) -> Vec<usize> {
    let mut disputed: BTreeSet<usize> =
        records.iter().flat_map(|record| record.disputed()).collect();
    if let [one, other] = records {
        for unit in finished_units(records) {
            if let (Some(count), Some(other_count)) = (one.count(unit), other.count(unit))
                && count != other_count
            {
                disputed.insert(unit);
            }
        }
    }
    disputed.into_iter().collect()
}

/// Counts finished units again on the current rayon pool, and compares the counts with the recorded ones. The
/// [units with two different counts](disputed_units) are counted again, too.
///
/// The records are of one plan: its first count, its second one, or both. The counting threads call `recounted` after each unit of both kinds.
///
/// # Errors
///
/// [`Error::UnitOverflow`] if a count does not fit in a `u64`, and [`Error::LacksMemory`] if the threads need more
/// memory than there is. A cancellation is not an error: the verdict covers the units that were counted before.
///
/// # Panics
///
/// If there is no record.
pub fn verify(
    records: &[&Record],
    units: &[usize],
    recounted: &(dyn Fn() + Sync),
    cancel: &Cancel,
) -> Result<Verdict, Error> {
    let plan = records.first().expect("a record").plan();
    let disputed = disputed_units(records);
    let all_units = [&disputed, units].concat();
    let threads = rayon::current_num_threads().min(all_units.len());
    plan.check_recount_memory(threads)?;
    let counted: Vec<Option<u64>> = all_units
        .par_iter()
        .with_max_len(1)
        .map(|unit| recount(plan, *unit, recounted, cancel))
        .collect::<Result<_, _>>()?;
    let (counted_of_disputed, counted) = counted.split_at(disputed.len());
    let mut verdict = Verdict { recounted: 0, differences: Vec::new(), disputed: Vec::new() };
    for (&unit, counted) in disputed.iter().zip(counted_of_disputed) {
        if let Some(recounted) = *counted {
            verdict.disputed.push(Recount { unit, recounted });
        }
    }
    for (&unit, counted) in units.iter().zip(counted) {
        let Some(recounted) = *counted else { continue };
        verdict.recounted += 1;
        for record in records {
            if let Some(recorded) = record.count(unit)
                && recorded != recounted
            {
                verdict.differences.push(Difference { unit, recorded, recounted });
            }
        }
    }
    Ok(verdict)
}

/// Counts a unit again, and calls `recounted`. Returns `None` after a cancellation, because the unit has no count then.
fn recount(
    plan: &Plan,
    unit: usize,
    recounted: &(dyn Fn() + Sync),
    cancel: &Cancel,
) -> Result<Option<u64>, Error> {
    match plan.recount(unit, cancel) {
        Ok(count) => {
            recounted();
            Ok(Some(count))
        }
        Err(error) if error.is_cancelled() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Verdict {
    /// Returns the largest fraction of the `finished` units that may be wrong although the check found no difference,
    /// with a confidence of 95 %. It is 0 if all finished units were counted again, and 1 if none was.
    pub fn undetected_part(&self, finished: usize) -> f64 {
        if self.recounted >= finished && finished > 0 {
            return 0.0;
        }
        1.0 - 0.05f64.powf(1.0 / self.recounted as f64)
    }
}
