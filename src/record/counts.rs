//! The counts of the finished units of a plan, in memory.

use std::collections::BTreeSet;
use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::error::{Error, MemoryUser};
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};

/// The counts of the finished units of a plan.
pub(super) struct Counts {
    pub(super) plan: Arc<Plan>,
    /// For each unit its count + 1, or 0 if it is not finished. The operating system hands out zeros, so pages in which
    /// no unit is finished take no memory.
    counts: Vec<u64>,
    pub(super) sum: Sum,
    /// The number of counts beyond the first one of each unit.
    pub(super) repeated: usize,
    /// The units with two different counts. While journals are read, they keep their first count.
    disputed: BTreeSet<usize>,
}

impl Counts {
    /// Makes counts of which none is known yet.
    ///
    /// # Errors
    ///
    /// [`Error::LacksMemory`] if the counts of all units do not fit into memory.
    pub(super) fn new(plan: Arc<Plan>) -> Result<Self, Error> {
        let bytes = plan.units() as u64 * size_of::<u64>() as u64;
        plan.check_memory_of(MemoryUser::RecordOfUnits, bytes)?;
        let counts = vec![0; plan.units()];
        Ok(Self { plan, counts, sum: Sum::default(), repeated: 0, disputed: BTreeSet::new() })
    }

    /// Returns the count of a unit, or `None` if the unit is not finished.
    pub(super) fn get(&self, unit: usize) -> Option<u64> {
        self.counts[unit].checked_sub(1)
    }

    /// Puts the counts of a line in their places. A line holds no count of `u64::MAX`, and no unit beyond the plan.
    pub(super) fn put(&mut self, done: &UnitsDone) {
        let places = &mut self.counts[done.units.clone()];
        // Almost all lines hold only new units, and then the sum of the line, which was checked, is that of its units.
        if places.iter().all(|place| *place == 0) {
            for (place, count) in places.iter_mut().zip(&done.counts) {
                *place = count + 1;
            }
            self.sum += done.sum();
            return;
        }
        for (unit, count) in done.units.clone().zip(&done.counts) {
            match self.get(unit) {
                None => {
                    self.counts[unit] = count + 1;
                    let solutions = self.plan.solutions(unit, &[*count]);
                    self.sum += Sum { units: 1, solutions };
                }
                Some(held) => {
                    self.repeated += 1;
                    if held != *count {
                        self.disputed.insert(unit);
                    }
                }
            }
        }
    }

    /// Puts the counts of some lines in their places, and leaves no line.
    pub(super) fn put_all(&mut self, lines: &mut Vec<UnitsDone>) {
        for done in lines.drain(..) {
            self.put(&done);
        }
    }

    /// Leaves out the units with two different counts, so that they are not finished. Returns these units in
    /// increasing order.
    pub(super) fn leave_out_disputed(&mut self) -> Vec<usize> {
        for unit in &self.disputed {
            let count = self.counts[*unit] - 1;
            self.counts[*unit] = 0;
            self.sum.units -= 1;
            self.sum.solutions -= self.plan.solutions(*unit, &[count]);
        }
        mem::take(&mut self.disputed).into_iter().collect()
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
        let mut counts = Counts::new(Arc::clone(&plan)).expect("memory");
        counts.put(&line(0, &[5, 6]));
        counts.put(&line(1, &[6, 7]));
        assert_eq!([0, 1, 2, 3].map(|unit| counts.get(unit)), [Some(5), Some(6), Some(7), None]);
        let sum = Sum { units: 3, solutions: plan.solutions(0, &[5, 6, 7]) };
        assert_eq!((counts.sum, counts.repeated), (sum, 1));
        counts.put(&line(2, &[9]));
        assert_eq!(counts.leave_out_disputed(), [2]);
        let sum = Sum { units: 2, solutions: plan.solutions(0, &[5, 6]) };
        assert_eq!((counts.get(2), counts.sum, counts.repeated), (None, sum, 2));
    }
}
