//! The choices that make a plan, and the memory that it will take.

use super::Plan;
use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::engine::{Engine, Pass, SplitRows};
use crate::error::Error;

/// The choices that make a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut<'a> {
    pub(crate) size: BoardSize,
    pub(crate) engine: Engine,
    pub(crate) split_rows: Option<SplitRows>,
    pub(crate) pass: Pass,
    pub(crate) queens: Option<&'a FixedQueens>,
}

/// The length of a plan's list of units, and the memory that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    pub(crate) units: usize,
    /// Bytes of the list.
    pub(crate) list: u64,
}

impl Cut<'_> {
    /// The plan.
    pub(crate) fn plan(&self) -> Plan {
        let plan = match self.queens {
            None => Plan::new(self.size, self.engine, self.split_rows),
            Some(queens) => Plan::with_queens(self.size, queens, self.split_rows),
        };
        plan.in_pass(self.pass)
    }

    /// Makes sure that the engine can count in this way.
    pub(crate) fn check_pass(&self) -> Result<(), Error> {
        match self.pass {
            Pass::Second if !self.engine.has_second_count() => {
                Err(Error::NoSecondCount { engine: self.engine.name() })
            }
            _ => Ok(()),
        }
    }

    /// What the plan will take. For large boards its list alone takes hundreds of megabytes, and
    /// nobody should wait for it only to learn that the rest does not fit.
    pub(crate) fn forecast(&self) -> Forecast {
        let split_rows = self.split_rows.unwrap_or(SplitRows::TWO);
        let no_queens = FixedQueens::default();
        let queens = self.queens.unwrap_or(&no_queens);
        let (units, list) = self.engine.forecast(self.size, queens, split_rows);
        Forecast { units, list }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_is_as_long_as_forecast() {
        for n in 0..=12 {
            let size = BoardSize::new(n).expect("in range");
            let queens = if n > 4 { "b1" } else { "" };
            let squares = queens.parse().into_iter().collect::<Vec<_>>();
            let queens = FixedQueens::new(size, &squares).expect("one queen");
            for engine in Engine::ALL {
                for rows in 1..=4 {
                    let split_rows =
                        SplitRows::new(rows).ok().filter(|_| engine == Engine::Subtrees);
                    let given = Some(&queens).filter(|_| engine == Engine::Subtrees);
                    for queens in [None, given] {
                        let pass = Pass::First;
                        let cut = Cut { size, engine, split_rows, pass, queens };
                        let plan = cut.plan();
                        assert_eq!(cut.forecast().units, plan.units(), "{cut:?}");
                    }
                }
            }
        }
    }
}
