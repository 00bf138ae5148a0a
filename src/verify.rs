//! Checks recorded counts by counting some of the units again by a simple search.
//!
//! Reading a journal checks that it is as it was written: each line has its CRC, and each sum is the sum of its counts.
//! This check asks whether the counts are right. [`choose_units`] picks finished units at random, and [`verify`]
//! [recounts](crate::Plan::recount) them. It also recounts every unit for which the journals hold different counts,
//! which shows which of them are wrong.
//!
//! **How strong is this check?** If a fraction f of the units is wrong, a check of k units misses all wrong ones with
//! a probability of at most (1 - f)^k. So if no difference is found, f is below 1 - 0.05^(1/k), about 3/k, with a
//! confidence of 95 %.
//!
//! ```
//! use nqueens::record::Records;
//! use nqueens::verify::{choose_units, verify};
//! use nqueens::{BoardSize, Cancel, Count};
//!
//! let folder = tempfile::tempdir()?;
//! Count::new(BoardSize::new(10)?).journal(folder.path()).run()?;
//!
//! let record = Records::read(&[folder.path()])?.first.expect("all units are finished");
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
use std::path::PathBuf;

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::plan::Plan;
use crate::record::Record;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The number of units that were counted again: all that were asked for, unless the check was cancelled.
    pub recounted: usize,
    /// The units whose counts differ, in the order in which they were asked for. With two records, a unit may occur
    /// twice.
    pub differences: Vec<Difference>,
    /// The units with different counts, in increasing order: all of them, unless the check was cancelled.
    pub disputed: Vec<Recount>,
}

/// The count that a recount finds for a unit with different counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recount {
    /// The number of the unit in its plan.
    pub unit: usize,
    /// The count that the recount finds.
    pub recounted: u64,
}

/// A unit whose recorded count differs from the one that a recount finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The number of the unit in its plan.
    pub unit: usize,
    /// The count in the journals, not yet multiplied by the weight of the unit.
    pub recorded: u64,
    /// The count that the recount finds.
    pub recounted: u64,
}

/// Chooses this number of finished units at random, each at most once, and returns them in increasing order. If there
/// are fewer, chooses all. With equal finished units, equal seeds choose equal units, in every version.
///
/// The records are of one plan: its first count, its second one, or both. A unit is finished if one of them holds it.
///
/// # Panics
///
/// If a record has fewer units than the first one, so that they are of different plans.
pub fn choose_units(records: &[&Record], units: usize, seed: u64) -> Vec<usize> {
    let finished = finished_units(records);
    if units >= finished.len() {
        return finished;
    }
    let mut chosen = Vec::new();
    for position in choose_positions(finished.len(), units, seed) {
        chosen.push(finished[position]);
    }
    chosen
}

/// Returns the units that at least one of these records of one plan holds, in increasing order, without those whose
/// counts differ in one of them and are not settled.
pub(crate) fn finished_units(records: &[&Record]) -> Vec<usize> {
    let Some(record) = records.first() else { return Vec::new() };
    let disputed: BTreeSet<usize> =
        records.iter().flat_map(|record| record.open_disputes()).collect();
    let is_finished = |unit: &usize| {
        records.iter().any(|record| record.count(*unit).is_some()) && !disputed.contains(unit)
    };
    (0..record.plan().units()).filter(is_finished).collect()
}

/// Returns the units with different counts in these records of one plan, or between them, in increasing order. Settled
/// ones are among them.
pub(crate) fn disputed_units(records: &[&Record]) -> Vec<usize> {
    let mut disputed: BTreeSet<usize> =
        records.iter().flat_map(|record| record.disputes()).map(|dispute| dispute.unit).collect();
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

/// Chooses `number` different positions below `positions`. All sets of this size are equally likely.
///
/// This is Floyd's sampling (J. Bentley and B. Floyd, *A sample of brilliance*, Communications of the ACM 30, 1987).
/// Each step adds one position behind the others, and chooses one more: a random position, or the last one if the random
/// one is chosen already. So the last of j positions is chosen with probability i/j, as the i-th: the random position is
/// the last one with probability 1/j, and one of the i - 1 chosen ones with probability (i - 1)/j. All other positions
/// are alike.
fn choose_positions(positions: usize, number: usize, seed: u64) -> BTreeSet<usize> {
    let mut state = seed;
    let mut chosen = BTreeSet::new();
    for last in positions - number..positions {
        let position = random_up_to(last, &mut state);
        if !chosen.insert(position) {
            chosen.insert(last);
        }
    }
    chosen
}

/// Returns a random position from 0 to `last`, which is a random fraction of the number of these positions. Their
/// probabilities differ by at most 2^-64.
#[expect(clippy::cast_possible_truncation, reason = "it is at most last")]
fn random_up_to(last: usize, state: &mut u64) -> usize {
    let positions = last as u128 + 1;
    ((u128::from(split_mix(state)) * positions) >> 64) as usize
}

/// Returns the next random number of SplitMix64 (G. Steele, D. Lea and C. Flood, *Fast splittable pseudorandom number
/// generators*, OOPSLA 2014, with the constants of S. Vigna's `splitmix64.c`). The state counts in steps of an odd
/// number, 2^64 over the golden ratio, and each number is a state whose bits are mixed.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Counts finished units again on the current rayon pool, and compares the counts with the recorded ones. The units with
/// different counts are counted again, too.
///
/// The records are of one plan: its first count, its second one, or both. `units` are finished units, each once, such as
/// [`choose_units`] returns. The counting threads call `recounted` after each unit of both kinds.
///
/// # Errors
///
/// [`Error::PlansDiffer`] if the records are of different plans, [`Error::UnitOverflow`] if a count does not fit in a
/// `u64`, and [`Error::LacksMemory`] if the threads need more
/// memory than there is. A cancellation is not an error: the verdict covers the units that were counted before.
///
/// # Panics
///
/// If there is no record, or if the plan has no unit with one of these numbers. Outside of a pool, if rayon cannot start
/// its global pool.
pub fn verify(
    records: &[&Record],
    units: &[usize],
    recounted: &(dyn Fn() + Sync),
    cancel: &Cancel,
) -> Result<Verdict, Error> {
    let plan = records.first().expect("a record").plan();
    if let Some(other) = records.iter().find(|record| record.plan().hash() != plan.hash()) {
        let plans = [records[0], other].map(|record| record.plan().to_string());
        return Err(Error::PlansDiffer { files: [records[0], other].map(first_path), plans });
    }
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

/// Returns the path of the first journal of a record.
fn first_path(record: &Record) -> PathBuf {
    record.files().first().map_or_else(PathBuf::new, |file| file.path.clone())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that `splitmix64.c` returns.
    #[test]
    fn random_numbers_are_those_of_split_mix() {
        let mut state = 0;
        for number in [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f] {
            assert_eq!(split_mix(&mut state), number);
        }
        let mut state = 1_234_567;
        for number in [6_457_827_717_110_365_317, 3_203_168_211_198_807_973] {
            assert_eq!(split_mix(&mut state), number);
        }
    }

    #[test]
    fn a_check_of_nothing_proves_nothing_and_one_of_all_everything() {
        let undetected = |recounted, finished| {
            Verdict { recounted, differences: Vec::new(), disputed: Vec::new() }
                .undetected_part(finished)
        };
        assert_eq!([undetected(0, 0), undetected(0, 9), undetected(9, 9)], [1.0, 1.0, 0.0]);
        // 200 units of which 1.5 % are wrong show no difference in a twentieth of the cases.
        let part = undetected(200, 1_000_000);
        assert!(((1.0 - part).powi(200) - 0.05).abs() < 1e-9, "{part}");
    }

    /// Seeds are published, so these choices never change. They are from a program in Python.
    #[test]
    fn a_seed_chooses_the_same_positions_forever() {
        let choices: [(usize, u64, &[usize]); 6] = [
            (80, 7, &[1, 10, 18, 25, 27, 33, 36, 43, 65, 79]),
            (80, u64::MAX, &[0, 16, 19, 31, 52, 60, 62, 63, 65, 72]),
            (2_600_612, 24, &[72_569, 1_471_677, 1_680_398, 1_734_932, 2_199_566]),
            (1_000_000_000, 1, &[444_359_217, 566_561_573, 745_781_755, 971_002_752]),
            (1, 0, &[0]),
            (5, 9, &[0, 1, 2, 3, 4]),
        ];
        for (positions, seed, chosen) in choices {
            let positions: Vec<usize> =
                choose_positions(positions, chosen.len(), seed).into_iter().collect();
            assert_eq!(positions, chosen, "{seed}");
        }
    }

    /// Each of the ten sets of two positions among five is expected 2000 times, with a standard deviation of 42.
    #[test]
    fn every_set_of_positions_is_equally_likely() {
        let mut times = std::collections::BTreeMap::new();
        for seed in 0..20_000 {
            *times.entry(choose_positions(5, 2, seed)).or_insert(0) += 1;
        }
        assert_eq!(times.len(), 10);
        assert!(times.values().all(|times| (1800..2200).contains(times)), "{times:?}");
    }
}
