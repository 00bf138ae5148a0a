//! Checks recorded counts by counting some of the units again by a simple search: [`Records::verify`].
//!
//! Reading a journal checks that it is as it was written: each line has its CRC, and each sum is the sum of its counts.
//! The check asks whether the counts are right. It [recounts](Plan::recount) finished units that it chooses at random.
//! It also recounts every unit for which the journals hold different counts, which shows which of them are wrong.
//!
//! **How strong is this check?** If a fraction f of the units is wrong, a check of k units misses all wrong ones with
//! a probability of at most (1 - f)^k. So if no difference is found, f is below 1 - 0.05^(1/k), about 3/k, with a
//! confidence of 95 %.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::machine::{cores, on_new_threads};
use crate::plan::Plan;
use crate::record::{Difference, Record, Records};

/// The result of a check.
///
/// If a fraction f of the finished units is wrong, a check of k units misses all wrong ones with a probability of at
/// most (1 - f)^k. [`Verdict::undetected_part`] is the largest f that a check without a difference leaves possible.
///
/// If a wrong count is used, move the journals of the [hosts](Difference::wrong_hosts) that recorded it to another
/// folder, and run the count again, which counts the units that are missing then.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it says whether recorded counts are wrong"]
#[non_exhaustive]
pub struct Verdict {
    /// The number of finished units, from which the check chose at random.
    pub finished: usize,
    /// The number of chosen units that were counted again: all of them, unless the check was cancelled.
    pub recounted: usize,
    /// The number of units with different counts that were counted again: all of them, unless the check was cancelled.
    pub disputed: usize,
    /// The number of units of both kinds that a cancelled check did not count again.
    pub remaining: usize,
    /// The recounted units for which the journals hold a wrong count, in increasing order. If both passes hold one, the
    /// unit is named twice.
    pub differences: Vec<Difference>,
}

/// Chooses this number of units at random, or all of them if there are fewer.
fn choose(finished: Vec<usize>, units: usize, seed: u64) -> Vec<usize> {
    if units >= finished.len() {
        return finished;
    }
    let mut chosen = Vec::new();
    for position in choose_positions(finished.len(), units, seed) {
        chosen.push(finished[position]);
    }
    chosen
}

/// Returns the units that at least one record holds, in increasing order. The records are of one plan. A unit is left
/// out if its counts differ in one of them and are not settled.
fn finished_units(records: &[&Record]) -> Vec<usize> {
    let Some(record) = records.first() else { return Vec::new() };
    let disputed: BTreeSet<usize> =
        records.iter().flat_map(|record| record.open_disputes()).collect();
    let is_finished = |unit: &usize| {
        records.iter().any(|record| record.count(*unit).is_some()) && !disputed.contains(unit)
    };
    (0..record.plan().units()).filter(is_finished).collect()
}

/// Returns the units with different counts in these records of one plan, or between them. Settled ones are among them.
/// `finished` are the finished units.
fn disputed_units(records: &[&Record], finished: &[usize]) -> BTreeSet<usize> {
    let mut disputed: BTreeSet<usize> =
        records.iter().flat_map(|record| record.differences()).map(|found| found.unit).collect();
    for &unit in finished {
        let mut counts = records.iter().filter_map(|record| record.count(unit));
        let first = counts.next();
        if counts.any(|count| Some(count) != first) {
            disputed.insert(unit);
        }
    }
    disputed
}

/// Chooses `number` different positions below `positions`. All sets of this size are equally likely.
///
/// This is Floyd's sampling (J. Bentley and B. Floyd, *A sample of brilliance*, Communications of the ACM 30, 1987).
/// Each step adds one position behind the others, and chooses one more: a random position, or the last one if the
/// random one is chosen already. So the last of j positions is chosen with probability i/j, as the i-th: the random
/// position is the last one with probability 1/j, and one of the i - 1 chosen ones with probability (i - 1)/j. All
/// other positions are alike.
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

impl Records {
    /// Counts some finished units again by a simple search, and compares the counts with the recorded ones. Every unit
    /// with different counts is counted again, too, which shows which of them are wrong.
    ///
    /// `sample` is the number of finished units to choose at random, each at most once. If there are fewer, all are
    /// chosen. `seed` chooses them: with equal finished units, equal seeds choose equal units, in every version. Any
    /// number will do, and another one for each check, such as the time, checks other units. Units of engine `colours`
    /// are counted by a short search of each colour, and units of other engines by plain backtracking.
    /// [`Plan::recount`] says how.
    ///
    /// ```
    /// use nqueens::journal::Records;
    /// use nqueens::{BoardSize, Cancel, Count};
    ///
    /// let folder = tempfile::tempdir()?;
    /// Count::new(BoardSize::new(10)?).journal(folder.path()).run()?;
    ///
    /// let seed = 1;
    /// let verdict = Records::read(&[folder.path()])?.verify(5, seed, &Cancel::new())?;
    /// assert_eq!((verdict.recounted, verdict.differences.len()), (5, 0));
    /// // Rounded up, because it is an upper limit.
    /// let undetected = (100.0 * verdict.undetected_part()).ceil();
    /// println!("at most {undetected} % of the finished units can be wrong");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if a count does not fit in a `u64`, [`Error::LacksMemory`] if the threads need more memory
    /// than there is, and [`Error::ThreadsNotStarted`] if they cannot be started. A cancellation is not an error: the
    /// verdict covers the units that were counted before.
    pub fn verify(&self, sample: usize, seed: u64, cancel: &Cancel) -> Result<Verdict, Error> {
        on_new_threads(cores(), || self.verify_here(sample, seed, &|_, _| (), cancel))?
    }

    /// Counts finished units again on the current rayon pool. `progress` hears how many units were counted again, and
    /// how many will be: first 0, then from the counting threads after each unit.
    pub(crate) fn verify_here(
        &self,
        sample: usize,
        seed: u64,
        progress: &(dyn Fn(usize, usize) + Sync),
        cancel: &Cancel,
    ) -> Result<Verdict, Error> {
        let records = self.all();
        let finished_units = finished_units(&records);
        let finished = finished_units.len();
        let disputed = disputed_units(&records, &finished_units);
        let chosen = choose(finished_units, sample, seed);
        let mut units: Vec<usize> = disputed.iter().copied().collect();
        units.extend(chosen.iter().filter(|unit| !disputed.contains(unit)));
        let mut recounts = BTreeMap::new();
        if let Some(record) = records.first() {
            let plan = record.plan();
            plan.check_recount_memory(rayon::current_num_threads().min(units.len()))?;
            recounts = recount_all(plan, &units, progress, cancel)?;
        }
        Ok(Verdict {
            finished,
            recounted: chosen.iter().filter(|unit| recounts.contains_key(unit)).count(),
            disputed: disputed.iter().filter(|unit| recounts.contains_key(unit)).count(),
            remaining: units.len() - recounts.len(),
            differences: differences(&records, &disputed, &recounts),
        })
    }
}

/// Counts units again, each once. Returns the counts of those that were counted before a cancellation.
fn recount_all(
    plan: &Plan,
    units: &[usize],
    progress: &(dyn Fn(usize, usize) + Sync),
    cancel: &Cancel,
) -> Result<BTreeMap<usize, u64>, Error> {
    let recounted = AtomicUsize::new(0);
    progress(0, units.len());
    let recount = |unit: &usize| match plan.recount_unit(*unit, cancel) {
        Ok(count) => {
            progress(recounted.fetch_add(1, Ordering::Relaxed) + 1, units.len());
            Ok(Some((*unit, count)))
        }
        Err(error) if error.is_cancelled() => Ok(None),
        Err(error) => Err(error),
    };
    let counts: Vec<Option<(usize, u64)>> =
        units.par_iter().with_max_len(1).map(recount).collect::<Result<_, _>>()?;
    Ok(counts.into_iter().flatten().collect())
}

/// Returns the recounted units for which journals hold a wrong count. Only a disputed unit has counts that are not
/// used.
fn differences(
    records: &[&Record],
    disputed: &BTreeSet<usize>,
    recounts: &BTreeMap<usize, u64>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    for record in records {
        let mut looked_up = BTreeSet::new();
        for (&unit, &recounted) in recounts {
            let is_used = record.count(unit).is_some_and(|count| count != recounted);
            if is_used || disputed.contains(&unit) {
                looked_up.insert(unit);
            }
        }
        let mut lines = record.votes_of(&looked_up);
        for unit in looked_up {
            let difference = Difference {
                unit,
                pass: record.plan().pass(),
                used: record.count(unit),
                recounted: Some(recounts[&unit]),
                votes: lines.remove(&unit).unwrap_or_default(),
            };
            let is_wrong = |count| Some(count) != difference.recounted;
            if difference.is_wrong_count_used() || difference.counts().any(is_wrong) {
                differences.push(difference);
            }
        }
    }
    differences.sort_by_key(|difference| difference.unit);
    differences
}

impl Verdict {
    /// Returns the number of recounted units whose wrong count is used. A wrong count is not used if more lines hold
    /// the right one, or if the unit is missing.
    pub fn wrong_units_in_use(&self) -> usize {
        let wrong = self.differences.iter().filter(|difference| difference.is_wrong_count_used());
        wrong.map(|difference| difference.unit).collect::<BTreeSet<_>>().len()
    }

    /// Returns the largest fraction of the finished units that may be wrong although the check found no difference,
    /// with a confidence of 95 %. It is 0 if all finished units were counted again, and 1 if none was.
    pub fn undetected_part(&self) -> f64 {
        if self.recounted >= self.finished && self.finished > 0 {
            return 0.0;
        }
        1.0 - 0.05f64.powf(1.0 / self.recounted as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::board::size::BoardSize;
    use crate::count::Count;

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
            let differences = Vec::new();
            Verdict { finished, recounted, disputed: 0, remaining: 0, differences }
                .undetected_part()
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

    /// Totals are published with seeds, as in docs/RESULTS.md. Seeds choose these units, which are from `choose` in
    /// scripts/check-unit.py, of n = 24 and of a part of n = 24 that two passes hold together.
    #[test]
    fn published_seeds_choose_the_units_that_another_program_chooses() {
        let whole: Vec<usize> = (0..677_294).collect();
        for (seed, chosen) in [
            (24, [18_899, 341_579, 383_277, 437_634, 451_836, 572_846]),
            (25, [23_899, 88_176, 133_945, 311_709, 428_687, 666_338]),
            (2511, [399_575, 460_775, 497_104, 587_761, 633_403, 635_155]),
        ] {
            assert_eq!(choose(whole.clone(), 6, seed), chosen, "{seed}");
        }
        let chosen = choose(whole, 200, 24);
        assert_eq!(
            (chosen.len(), chosen[0], chosen.iter().sum::<usize>()),
            (200, 7254, 65_386_993)
        );

        let of_both: Vec<usize> = (0..300_000).chain(600_000..677_294).collect();
        for (seed, chosen) in [
            (24, [10_528, 190_280, 213_508, 243_788, 251_699, 619_109]),
            (2514, [4995, 27_525, 33_623, 104_173, 164_052, 230_445]),
        ] {
            assert_eq!(choose(of_both.clone(), 6, seed), chosen, "{seed}");
        }
    }

    /// A bar shows how many units there are, and each one that is recounted.
    #[test]
    fn a_check_reports_each_unit() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let count = Count::new(BoardSize::new(9).expect("in range")).journal(folder.path());
        count.run().expect("a count");
        let records = Records::read(&[folder.path()]).expect("good journals");
        let reports = Mutex::new(Vec::new());
        let note = |recounted, all| reports.lock().expect("no panic").push((recounted, all));
        let verdict = records.verify_here(5, 1, &note, &Cancel::new()).expect("a verdict");
        assert_eq!(verdict.recounted, 5);
        let mut reports = reports.into_inner().expect("no panic");
        reports.sort_unstable();
        assert_eq!(reports, [0, 1, 2, 3, 4, 5].map(|recounted| (recounted, 5)));
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
