//! Which units of a plan are finished, and their counts.

use std::ops::Range;

use crate::plan::Plan;

/// Marks an unfinished unit. No count is this large: a unit that reaches it is an overflow.
const UNFINISHED: u64 = u64::MAX;

/// The finished units of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    counts: Vec<u64>,
    units_done: usize,
    solutions: u128,
}

impl Finished {
    /// A record in which none of a plan's units is finished.
    #[must_use]
    pub fn none_of(plan: &Plan) -> Self {
        Self { counts: vec![UNFINISHED; plan.units()], units_done: 0, solutions: 0 }
    }

    /// The number of finished units.
    #[must_use]
    pub fn units_done(&self) -> usize {
        self.units_done
    }

    /// The weighted sum of the solutions in the finished units.
    #[must_use]
    pub fn solutions(&self) -> u128 {
        self.solutions
    }

    /// Whether all units are finished.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.units_done == self.counts.len()
    }

    /// The count of a unit, before its weight; `None` if it is not finished.
    #[must_use]
    pub fn count(&self, unit: usize) -> Option<u64> {
        self.counts.get(unit).copied().filter(|count| *count != UNFINISHED)
    }

    /// The parts of a range of units that are unfinished.
    pub(crate) fn unfinished(&self, units: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut next = units.start;
        std::iter::from_fn(move || {
            let rest = &self.counts[next..units.end];
            next += rest.iter().position(|count| *count == UNFINISHED)?;
            let start = next;
            let rest = &self.counts[next..units.end];
            let length = rest.iter().position(|count| *count != UNFINISHED);
            next += length.unwrap_or(rest.len());
            Some(start..next)
        })
    }

    /// Adds the units of another record of the same plan. Returns how many units both held. The
    /// error is the first unit for which they hold different counts.
    pub(crate) fn merge(&mut self, other: &Self, plan: &Plan) -> Result<usize, usize> {
        let mut added = 0;
        for (unit, count) in other.counts.iter().enumerate() {
            if *count != UNFINISHED {
                added += self.add(unit, &[*count], plan)?;
            }
        }
        Ok(other.units_done - added)
    }

    /// The number of finished units in a range, and the weighted sum of their solutions.
    pub(crate) fn tally(&self, units: Range<usize>, plan: &Plan) -> (usize, u128) {
        units.filter_map(|unit| Some((unit, self.count(unit)?))).fold(
            (0, 0),
            |(done, solutions), (unit, count)| {
                (done + 1, solutions + u128::from(count) * u128::from(plan.weight(unit)))
            },
        )
    }

    /// Adds consecutive units from `first` on. Units already finished with the same count stay as
    /// they are. Returns how many were added. The error is the first unit already finished with a
    /// different count; then nothing is added.
    ///
    /// # Panics
    ///
    /// If the plan has no such units.
    pub(crate) fn add(
        &mut self,
        first: usize,
        counts: &[u64],
        plan: &Plan,
    ) -> Result<usize, usize> {
        let places = &mut self.counts[first..first + counts.len()];
        let clash = |(held, count): (&u64, &u64)| *held != UNFINISHED && held != count;
        if let Some(place) = places.iter().zip(counts).position(clash) {
            return Err(first + place);
        }
        let mut added = 0;
        for (place, (held, count)) in places.iter_mut().zip(counts).enumerate() {
            if *held == UNFINISHED {
                *held = *count;
                added += 1;
                self.solutions += u128::from(*count) * u128::from(plan.weight(first + place));
            }
        }
        self.units_done += added;
        Ok(added)
    }

    /// Makes units unfinished. Returns how many of them were finished.
    ///
    /// # Panics
    ///
    /// If the plan has no such units.
    pub(crate) fn withdraw(&mut self, units: Range<usize>, plan: &Plan) -> usize {
        let (done, solutions) = self.tally(units.clone(), plan);
        self.counts[units].fill(UNFINISHED);
        self.units_done -= done;
        self.solutions -= solutions;
        done
    }
}

/// The weighted sum of the counts of consecutive units; `None` if it does not fit.
pub(crate) fn weighted_sum(plan: &Plan, first: usize, counts: &[u64]) -> Option<u128> {
    (first..).zip(counts).try_fold(0u128, |sum, (unit, count)| {
        sum.checked_add(u128::from(*count) * u128::from(plan.weight(unit)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::size::BoardSize;

    #[test]
    fn the_units_not_added_are_unfinished() {
        let plan = Plan::new(BoardSize::new(12).expect("in range"), Engine::Bitmask, None);
        let mut finished = Finished::none_of(&plan);
        let gaps = |finished: &Finished, units| finished.unfinished(units).collect::<Vec<_>>();
        assert_eq!(gaps(&finished, 0..12), vec![0..12]);
        assert_eq!(finished.add(3, &[7, 8], &plan), Ok(2));
        assert_eq!(finished.add(9, &[1, 1, 1], &plan), Ok(3));
        assert_eq!(gaps(&finished, 0..12), vec![0..3, 5..9]);
        assert_eq!(gaps(&finished, 4..7), vec![5..7]);
        assert_eq!(finished.unfinished(9..12).count(), 0);
        assert_eq!((finished.units_done(), finished.solutions()), (5, 18));
        assert_eq!((finished.count(4), finished.count(5)), (Some(8), None));

        assert_eq!(finished.add(0, &[1, 1, 1, 1], &plan), Err(3));
        assert_eq!(finished.units_done(), 5, "nothing was added");
        assert_eq!(finished.add(2, &[1, 7, 8], &plan), Ok(1), "equal counts do no harm");
        assert_eq!((finished.units_done(), finished.solutions()), (6, 19));

        assert_eq!(finished.withdraw(1..4, &plan), 2);
        assert_eq!((finished.units_done(), finished.solutions()), (4, 11));
        assert_eq!(finished.add(0, &[1, 1, 1, 9], &plan), Ok(4));
        assert_eq!(finished.add(5, &[0; 4], &plan), Ok(4));
        assert!(finished.is_complete());
    }
}
