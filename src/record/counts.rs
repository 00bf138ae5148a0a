//! The counts of the finished units of a plan, in memory.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};

/// The counts of the finished units of a plan.
pub(super) struct Counts {
    pub(super) plan: Arc<Plan>,
    /// For each unit its count + 1, or 0 if it is not finished. It is empty until the first unit is finished. The
    /// operating system hands out zeros, so pages in which no unit is finished take no memory.
    counts: Vec<u64>,
    pub(super) sum: Sum,
    /// The number of counts beyond the first one of each unit.
    pub(super) repeated: usize,
    /// The units with different counts. While journals are read, they keep their first count.
    pub(super) disputed: BTreeSet<usize>,
}

impl Counts {
    /// Makes counts of which none is known yet.
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        let disputed = BTreeSet::new();
        Self { plan, counts: Vec::new(), sum: Sum::default(), repeated: 0, disputed }
    }

    /// Returns the count of a unit, or `None` if the unit is not finished.
    pub(super) fn get(&self, unit: usize) -> Option<u64> {
        self.counts.get(unit)?.checked_sub(1)
    }

    /// Puts the counts of a line in their places. A line holds no count of `u64::MAX`, and no unit beyond the plan.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if the counts of all units do not fit into memory.
    pub(super) fn put(&mut self, done: &UnitsDone) -> Result<(), Error> {
        if self.counts.is_empty() {
            let bytes = self.plan.units() as u64 * size_of::<u64>() as u64;
            self.plan.check_memory_of("the record of all units", bytes)?;
            self.counts = vec![0; self.plan.units()];
        }
        let places = &mut self.counts[done.units.clone()];
        // Almost all lines hold only new units, and then the sum of the line, which was checked, is that of its units.
        if places.iter().all(|place| *place == 0) {
            for (place, count) in places.iter_mut().zip(&done.counts) {
                *place = count + 1;
            }
            self.sum += done.sum();
            return Ok(());
        }
        for (unit, count) in done.units.clone().zip(&done.counts) {
            match self.get(unit) {
                None => self.set(unit, Some(*count)),
                Some(held) => {
                    self.repeated += 1;
                    if held != *count {
                        self.disputed.insert(unit);
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives a unit another count, or none.
    pub(super) fn set(&mut self, unit: usize, count: Option<u64>) {
        if let Some(held) = self.get(unit) {
            self.sum.units -= 1;
            self.sum.solutions -= self.plan.solutions(unit, &[held]);
        }
        if let Some(count) = count {
            self.sum.units += 1;
            self.sum.solutions += self.plan.solutions(unit, &[count]);
        }
        self.counts[unit] = count.map_or(0, |count| count + 1);
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, sum, repeated, .. } = self;
        write!(f, "Counts({plan}, {sum:?}, {repeated} repeated)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    #[test]
    fn a_line_that_overlaps_another_adds_its_new_units() {
        let size = BoardSize::new(8).expect("in range");
        let plan = Arc::new(Plan::new(size, Engine::Bitmask, None).expect("a plan"));
        let line = |first: usize, counts: &[u64]| UnitsDone {
            units: first..first + counts.len(),
            counts: counts.to_vec(),
            solutions: plan.solutions(first, counts),
            ..UnitsDone::default()
        };
        let mut counts = Counts::new(Arc::clone(&plan));
        assert_eq!(counts.get(0), None);
        counts.put(&line(0, &[5, 6])).expect("memory");
        counts.put(&line(1, &[6, 7])).expect("memory");
        assert_eq!([0, 1, 2, 3].map(|unit| counts.get(unit)), [Some(5), Some(6), Some(7), None]);
        let sum = Sum { units: 3, solutions: plan.solutions(0, &[5, 6, 7]) };
        assert_eq!((counts.sum, counts.repeated), (sum, 1));
        counts.put(&line(2, &[9])).expect("memory");
        assert_eq!(counts.disputed, BTreeSet::from([2]));
        counts.set(2, None);
        let sum = Sum { units: 2, solutions: plan.solutions(0, &[5, 6]) };
        assert_eq!((counts.get(2), counts.sum, counts.repeated), (None, sum, 2));
        counts.set(2, Some(9));
        let sum = Sum { units: 3, solutions: plan.solutions(0, &[5, 6, 9]) };
        assert_eq!((counts.get(2), counts.sum), (Some(9), sum));
    }
}
