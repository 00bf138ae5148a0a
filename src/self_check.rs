//! Recounts a few units while a count runs.
//!
//! A run of weeks may meet bad memory cells and CPU faults. So now and then a unit, chosen at
//! random among those just recorded, is counted again by [another method](Plan::recounter). A
//! difference ends the run.
//!
//! The CPU time for this is a fixed share of the time spent on units, over all threads: a unit is
//! recounted as soon as the share pays for an average recount. The choice of the unit does not
//! depend on its size. The price of a recount is first guessed, then measured. Short counts, whose
//! share does not pay for a recount, are not checked.
//!
//! Units from a journal are trusted no more than new ones. A resumed count first recounts some of
//! them, all if they are few, for a tenth of a second, charged to the share. Later about half of
//! the recounts are of such units.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::cpu_time;
use crate::engine::Kernel;
use crate::error::Error;
use crate::journal::{Counts, JournalError};
use crate::observe::UnitsDone;
use crate::plan::{Plan, UnitCounter};
use crate::shard::Shard;

/// The CPU time for recounts, as a share of the CPU time spent on units.
const SHARE: f64 = 1.0 / 125.0;

/// CPU seconds that a recount takes for each solution of the unit: a guess with the weight of one
/// measurement. Units of `halves` take 0.1 to 0.3 us for n = 20 to 23.
const FIRST_PRICE: f64 = 0.2e-6;

/// Seconds of counting before the first recount: the first units show little of the average size.
const FIRST_SECONDS: f64 = 1.0;

/// How long each thread recounts earlier records when a count is resumed.
const RESUME_TIME: Duration = Duration::from_millis(100);

/// The most units of a journal that are chosen for recounts.
const RECORDED: usize = 1 << 16;

/// The check of one count, shared by its threads.
#[derive(Debug)]
pub(crate) struct SelfCheck<'a> {
    plan: &'a Plan,
    kernel: Kernel,
    /// The journal, or the folder of journals, with the earlier records.
    source: PathBuf,
    account: Mutex<Account>,
}

/// A unit to be recounted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    unit: usize,
    counted: u64,
    /// Whether it comes from a journal.
    is_recorded: bool,
    /// Seconds set aside for it.
    price: f64,
}

/// The units, solutions and seconds counted and recounted so far.
#[derive(Debug, Default)]
struct Account {
    units: usize,
    solutions: f64,
    counting: f64,
    recounted: usize,
    recounting: f64,
    /// Seconds for recounts in progress.
    set_aside: f64,
    /// Units from a journal, in random order, with their counts.
    recorded: Vec<(usize, u64)>,
    random: fastrand::Rng,
}

impl<'a> SelfCheck<'a> {
    pub(crate) fn new(plan: &'a Plan, kernel: Kernel) -> Self {
        Self { plan, kernel, source: PathBuf::new(), account: Mutex::default() }
    }

    /// A recounter for one thread.
    pub(crate) fn recounter(&self) -> UnitCounter<'a> {
        self.plan.recounter(self.kernel)
    }

    /// Recounts some units that a journal holds of a shard, on the current rayon pool, and keeps
    /// more of them for later.
    pub(crate) fn resume(
        &mut self,
        source: PathBuf,
        counts: &Counts,
        shard: Shard,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        self.source = source;
        self.with_account(|account| {
            let ranges = shard.ranges(self.plan.units());
            let recorded = ranges.flat_map(|units| counts.within(units));
            account.recorded = account.random.choose_multiple(recorded, RECORDED);
            account.random.shuffle(&mut account.recorded);
        });
        let begun = Instant::now();
        let recount_some = |_: rayon::BroadcastContext<'_>| {
            let mut recounter = self.recounter();
            loop {
                let left = RESUME_TIME.saturating_sub(begun.elapsed()).as_secs_f64();
                let Some(chosen) = self.with_account(|account| account.choose_cheap(left)) else {
                    return Ok(());
                };
                self.recount(&mut recounter, chosen, cancel)?;
            }
        };
        rayon::broadcast(recount_some).into_iter().collect()
    }

    /// Takes note of finished units, and chooses one to be recounted if the share pays for it.
    pub(crate) fn choose(&self, done: &UnitsDone) -> Option<Chosen> {
        self.with_account(|account| account.choose(done))
    }

    /// Recounts a unit.
    pub(crate) fn recount(
        &self,
        recounter: &mut UnitCounter<'_>,
        chosen: Chosen,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let Chosen { unit, counted, is_recorded, price } = chosen;
        let begun = cpu_time::of_this_thread();
        let recounted = match recounter.count(unit, cancel) {
            Ok(count) => count,
            Err(Error::UnitStopped { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        self.with_account(|account| account.pay(price, cpu_time::of_this_thread() - begun));
        if recounted == counted {
            return Ok(());
        }
        let (engine, recounted_by) = (self.plan.engine().name(), recounter.method());
        Err(if is_recorded {
            JournalError::RecountDiffers { unit, recorded: counted, recounted_by, recounted }
                .at(&self.source)
        } else {
            Error::UnitsDiffer { unit, engine, counted, recounted_by, recounted }
        })
    }

    /// The state after this many seconds of counting, without a recount.
    #[cfg(test)]
    pub(crate) fn after(self, seconds: f64) -> Self {
        self.with_account(|account| account.counting = seconds);
        self
    }

    /// How many units were recounted.
    pub(crate) fn recounted(&self) -> usize {
        self.with_account(|account| account.recounted)
    }

    fn with_account<T>(&self, change: impl FnOnce(&mut Account) -> T) -> T {
        change(&mut self.account.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[expect(clippy::cast_precision_loss, reason = "prices and means")]
impl Account {
    /// A unit to be recounted now: one of those just finished or, half of the time, one from a
    /// journal.
    fn choose(&mut self, done: &UnitsDone) -> Option<Chosen> {
        self.units += done.counts.len();
        self.solutions += done.counts.iter().map(|count| *count as f64).sum::<f64>();
        self.counting += done.cpu_time.as_secs_f64();
        let expected = FIRST_PRICE * self.solutions / self.units as f64;
        let price = (expected + self.recounting) / (self.recounted + 1) as f64;
        if self.counting < FIRST_SECONDS
            || self.recounting + self.set_aside + price > SHARE * self.counting
        {
            return None;
        }
        self.set_aside += price;
        let recorded = if self.random.bool() { self.recorded.pop() } else { None };
        let is_recorded = recorded.is_some();
        let (unit, counted) = recorded.unwrap_or_else(|| {
            let place = self.random.usize(0..done.counts.len());
            (done.units.start + place, done.counts[place])
        });
        Some(Chosen { unit, counted, is_recorded, price })
    }

    /// The next unit from a journal, if its recount should take less than this many seconds.
    fn choose_cheap(&mut self, seconds: f64) -> Option<Chosen> {
        let price = FIRST_PRICE * self.recorded.last()?.1 as f64;
        if price >= seconds {
            return None;
        }
        let (unit, counted) = self.recorded.pop()?;
        self.set_aside += price;
        Some(Chosen { unit, counted, is_recorded: true, price })
    }

    /// Replaces the time set aside by the time spent.
    fn pay(&mut self, price: f64, spent: Duration) {
        self.set_aside -= price;
        self.recounting += spent.as_secs_f64();
        self.recounted += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::size::BoardSize;

    fn done(units: std::ops::Range<usize>, counts: Vec<u64>, busy: Duration) -> UnitsDone {
        let none = UnitsDone::none_from(units.start, 0);
        UnitsDone { units, counts, busy, cpu_time: busy, ..none }
    }

    /// The first column's units of a board of eight columns.
    const COUNTS: [u64; 8] = [4, 8, 16, 18, 18, 16, 8, 4];

    #[test]
    fn a_wrong_count_is_found_when_its_unit_is_recounted() {
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let check = SelfCheck::new(&plan, Kernel::Portable);
        let (mut recounter, cancel) = (check.recounter(), Cancel::new());
        let hour = Duration::from_secs(3600);
        for (unit, count) in COUNTS.into_iter().enumerate() {
            let mut recount = |count| {
                let done = done(unit..unit + 1, vec![count], hour);
                check.recount(&mut recounter, check.choose(&done).expect("time for it"), &cancel)
            };
            assert_eq!(recount(count), Ok(()));
            assert_eq!(
                recount(count + 1),
                Err(Error::UnitsDiffer {
                    unit,
                    engine: "bitmask",
                    counted: count + 1,
                    recounted_by: "subtrees",
                    recounted: count,
                })
            );
        }
        assert_eq!(check.recounted(), 16);
    }

    /// The units of a board of eight columns as a journal holds them, `wrong` of them by one.
    fn recorded(wrong: Option<usize>) -> Counts {
        let mut counts = COUNTS;
        if let Some(unit) = wrong {
            counts[unit] += 1;
        }
        let mut recorded = Counts::default();
        recorded.add(0, &counts).expect("nothing was there");
        recorded
    }

    #[test]
    fn all_of_a_small_journal_is_recounted_when_it_is_resumed() {
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let source = PathBuf::from("q8.journal");
        for wrong in (0..COUNTS.len()).map(Some).chain([None]) {
            let mut check = SelfCheck::new(&plan, Kernel::Portable);
            let counts = recorded(wrong);
            let resumed = check.resume(source.clone(), &counts, Shard::WHOLE, &Cancel::new());
            let Some(wrong) = wrong else {
                assert_eq!((resumed, check.recounted()), (Ok(()), COUNTS.len()));
                continue;
            };
            let Err(Error::Journal { path, error: JournalError::RecountDiffers { unit, .. } }) =
                resumed
            else {
                panic!("unit {wrong}: {resumed:?}");
            };
            assert_eq!((path, unit), (source.clone(), wrong));
        }
    }

    #[test]
    fn units_too_expensive_at_first_are_recounted_later() {
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let check = SelfCheck::new(&plan, Kernel::Portable);
        check.with_account(|account| account.recorded = vec![(3, u64::MAX / 2); 20]);
        assert!(check.with_account(|account| account.choose_cheap(0.1)).is_none());
        let hour = Duration::from_secs(3600);
        let chosen = (0..80).filter_map(|_| check.choose(&done(0..1, vec![4], hour)));
        assert_eq!(chosen.filter(|chosen| chosen.is_recorded).count(), 20);
    }

    #[test]
    fn recounts_take_their_share_of_the_time_and_no_more() {
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let check = SelfCheck::new(&plan, Kernel::Portable);
        let mut recounts = 0;
        let second = Duration::from_secs(1);
        for turn in 0..1000 {
            // Units of a hundred million solutions each: a recount is expected to take 20 s.
            let units = done(turn..turn + 1, vec![100_000_000], second);
            if let Some(Chosen { price, .. }) = check.choose(&units) {
                recounts += 1;
                check.with_account(|account| account.pay(price, Duration::from_millis(500)));
            }
        }
        assert_eq!(recounts, 0, "the first is not paid for within 1000 s");
        for turn in 0..100_000 {
            let units = done(turn..turn + 1, vec![100_000_000], second);
            if let Some(Chosen { price, .. }) = check.choose(&units) {
                recounts += 1;
                check.with_account(|account| account.pay(price, Duration::from_millis(500)));
            }
        }
        // 101 000 s / 125 / 0.5 s, less what the guess of 20 s for the first one holds back
        assert!((1400..=1616).contains(&recounts), "{recounts}");
    }
}
