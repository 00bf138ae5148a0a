//! The choices that make a plan, and the memory that it will take.

use std::fmt::Display;
use std::path::Path;

use super::Plan;
use crate::engine::{Engine, Pass, SplitRows};
use crate::error::{Error, JournalError};
use crate::journal::Counts;
use crate::memory::Memory;
use crate::size::BoardSize;
use crate::square::FixedQueens;

/// Every machine can spare this many bytes.
const SMALL: u64 = 16 << 20;

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

impl Forecast {
    /// Bytes of the counts of all units.
    pub(crate) fn record(self) -> u64 {
        self.units as u64 * Counts::BYTES_A_UNIT
    }
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
        if held.pass != self.pass {
            return Err(JournalError::OtherPass { holds: held.pass }.at(path));
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

    /// Whether the plan fits in the memory of this process. What a journal records of it takes a few
    /// times as much memory as room on the disk, so no line can claim much of that.
    pub(crate) fn check_memory(&self) -> Result<(), JournalError> {
        let forecast = self.forecast();
        let needed = forecast.list;
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
                        let pass = Pass::First;
                        let cut = Cut { size, engine, split_rows, pass, queens };
                        let plan = cut.plan();
                        assert_eq!(cut.forecast().units, plan.units(), "{cut:?}");
                        assert!(cut.check(&plan, Path::new("")).is_ok(), "{cut:?}");
                    }
                }
            }
        }
    }
}
