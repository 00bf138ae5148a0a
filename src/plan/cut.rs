//! The choices that make a plan, and the memory that it will take.

use std::fmt::Display;
use std::path::Path;

use super::Plan;
use crate::engine::{Engine, SplitRows};
use crate::error::{Error, JournalError};
use crate::memory::Memory;
use crate::size::BoardSize;
use crate::square::FixedQueens;

/// Bytes for each unit in the record of finished units: its count.
const RECORDED_BYTES: u64 = 8;

/// Every machine can spare this many bytes.
const SMALL: u64 = 16 << 20;

/// The choices that make a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut<'a> {
    pub(crate) size: BoardSize,
    pub(crate) engine: Engine,
    pub(crate) split_rows: Option<SplitRows>,
    pub(crate) queens: Option<&'a FixedQueens>,
}

/// The length of a plan's list of units, and the memory that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    pub(crate) units: usize,
    /// Bytes of the list.
    pub(crate) list: u64,
}

impl Forecast {
    /// Bytes of the record of finished units.
    pub(crate) fn record(self) -> u64 {
        self.units as u64 * RECORDED_BYTES
    }
}

impl Cut<'_> {
    /// The plan.
    pub(crate) fn plan(&self) -> Plan {
        match self.queens {
            None => Plan::new(self.size, self.engine, self.split_rows),
            Some(queens) => Plan::with_queens(self.size, queens, self.split_rows),
        }
    }

    /// Makes sure that the plan of the journal at this path is the requested one. No journal holds
    /// a plan with given queens.
    pub(crate) fn check(&self, held: &Plan, path: &Path) -> Result<(), Error> {
        let differ = |what: &str, held: &dyn Display, asked: &dyn Display| {
            let (holds, asked) = (format!("{what} = {held}"), format!("{what} = {asked}"));
            Err(JournalError::OtherCount { holds, asked }.at(path))
        };
        let rows = |split_rows: Option<SplitRows>| split_rows.map_or(0, SplitRows::get);
        if held.size != self.size {
            return differ("n", &held.size, &self.size);
        }
        if held.engine != self.engine {
            return differ("engine", &held.engine, &self.engine);
        }
        if held.split_rows != self.split_rows {
            return differ("split rows", &rows(held.split_rows), &rows(self.split_rows));
        }
        Ok(())
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

    /// Whether the plan and one record of its units fit in the memory of this process.
    pub(crate) fn check_memory(&self) -> Result<(), JournalError> {
        let forecast = self.forecast();
        let needed = forecast.list + forecast.record();
        // Asking the operating system takes longer than reading a small journal.
        if needed < SMALL {
            return Ok(());
        }
        let available = Memory::detect().available;
        if needed <= available {
            return Ok(());
        }
        let (n, units) = (self.size.get(), forecast.units);
        Err(JournalError::TooLarge { n, engine: self.engine.name(), units, needed, available })
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
                        let cut = Cut { size, engine, split_rows, queens };
                        let plan = cut.plan();
                        assert_eq!(cut.forecast().units, plan.units(), "{cut:?}");
                        assert!(cut.check(&plan, Path::new("")).is_ok(), "{cut:?}");
                    }
                }
            }
        }
    }
}
