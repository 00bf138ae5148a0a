//! Recounts a few units while a count runs.
//!
//! A run of weeks outlives bad memory cells and CPU faults. So now and then a unit, chosen at
//! random among those just finished, is counted again by [another method](Plan::recounter), before
//! it is reported. A difference ends the run.
//!
//! The time for this is a fixed share of the time spent on units, all threads together: a unit is
//! recounted as soon as the share pays for an average one. Which unit it is does not depend on its
//! size. The price of a recount is guessed first, then measured. Short counts, whose share pays
//! for no recount, are not checked.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::engine::Kernel;
use crate::error::Error;
use crate::observe::UnitsDone;
use crate::plan::{Plan, UnitRecounter};

/// Of the time spent on units: one part in this many.
const SHARE: f64 = 1.0 / 125.0;

/// Seconds that a recount takes for each solution of the unit: a guess that counts as much as one
/// measurement. Units of `halves` take 0.1 to 0.3 us at n = 20 to 23.
const FIRST_PRICE: f64 = 0.2e-6;

/// Seconds of counting before the first recount: the first units say little about the size of all.
const FIRST_SECONDS: f64 = 1.0;

/// The check of one count, shared by its threads.
#[derive(Debug)]
pub(crate) struct SelfCheck<'a> {
    plan: &'a Plan,
    kernel: Kernel,
    account: Mutex<Account>,
}

/// What was counted and recounted so far, in units, solutions and seconds.
#[derive(Debug, Default)]
struct Account {
    units: usize,
    solutions: f64,
    counting: f64,
    recounted: usize,
    recounting: f64,
    /// For recounts that are under way.
    set_aside: f64,
    random: fastrand::Rng,
}

impl<'a> SelfCheck<'a> {
    pub(crate) fn new(plan: &'a Plan, kernel: Kernel) -> Self {
        Self { plan, kernel, account: Mutex::default() }
    }

    /// A recounter for one thread.
    pub(crate) fn recounter(&self) -> UnitRecounter<'a> {
        self.plan.recounter(self.kernel)
    }

    /// Takes units into account, and recounts one of them if there is time to spare.
    pub(crate) fn check(
        &self,
        recounter: &mut UnitRecounter<'_>,
        done: &UnitsDone,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let chosen = self.with_account(|account| account.choose(done));
        let Some((place, price)) = chosen else { return Ok(()) };
        let (unit, counted) = (done.units.start + place, done.counts[place]);
        let begun = Instant::now();
        let recounted = match recounter.count(unit, cancel) {
            Ok(count) => count,
            Err(Error::UnitStopped { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        self.with_account(|account| account.pay(price, begun.elapsed()));
        if recounted == counted {
            return Ok(());
        }
        let (engine, recounted_by) = (self.plan.engine().name(), recounter.method());
        Err(Error::UnitsDiffer { unit, engine, counted, recounted_by, recounted })
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
    /// The place of a unit that is to be recounted now, and the time set aside for it.
    fn choose(&mut self, done: &UnitsDone) -> Option<(usize, f64)> {
        self.units += done.counts.len();
        self.solutions += done.counts.iter().map(|count| *count as f64).sum::<f64>();
        self.counting += done.busy.as_secs_f64();
        let expected = FIRST_PRICE * self.solutions / self.units as f64;
        let price = (expected + self.recounting) / (self.recounted + 1) as f64;
        if self.counting < FIRST_SECONDS
            || self.recounting + self.set_aside + price > SHARE * self.counting
        {
            return None;
        }
        self.set_aside += price;
        Some((self.random.usize(0..done.counts.len()), price))
    }

    /// Replaces what was set aside by what was spent.
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
        UnitsDone { units, counts, solutions: 0, busy }
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
            let right = done(unit..unit + 1, vec![count], hour);
            assert_eq!(check.check(&mut recounter, &right, &cancel), Ok(()));
            let wrong = done(unit..unit + 1, vec![count + 1], hour);
            assert_eq!(
                check.check(&mut recounter, &wrong, &cancel),
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

    #[test]
    fn recounts_take_their_share_of_the_time_and_no_more() {
        let plan = Plan::new(BoardSize::new(8).expect("in range"), Engine::Bitmask, None);
        let check = SelfCheck::new(&plan, Kernel::Portable);
        let mut recounts = 0;
        let second = Duration::from_secs(1);
        for turn in 0..1000 {
            // Units of a hundred million solutions each: a recount is expected to take 20 s.
            let units = done(turn..turn + 1, vec![100_000_000], second);
            if let Some((_, price)) = check.with_account(|account| account.choose(&units)) {
                recounts += 1;
                check.with_account(|account| account.pay(price, Duration::from_millis(500)));
            }
        }
        assert_eq!(recounts, 0, "the first is not paid for within 1000 s");
        for turn in 0..100_000 {
            let units = done(turn..turn + 1, vec![100_000_000], second);
            if let Some((_, price)) = check.with_account(|account| account.choose(&units)) {
                recounts += 1;
                check.with_account(|account| account.pay(price, Duration::from_millis(500)));
            }
        }
        // 101 000 s / 125 / 0.5 s, less what the guess of 20 s for the first one holds back
        assert!((1400..=1616).contains(&recounts), "{recounts}");
    }
}
