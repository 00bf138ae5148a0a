//! The textbook engines, and their units: one for each column of the first row's queen.
//!
//! Their counts form a palindrome, since mirroring the board maps the solutions of column c to those
//! of column n - 1 - c. The textbook engines do not use that, but the tests do. The empty board has
//! one unit with one solution (A000170).

pub(super) mod bitmask;
pub(super) mod board_scan;
pub(super) mod bool_arrays;
pub(super) mod column_array;
pub(super) mod permutation;

use super::unit::{Interrupt, Pass, Prepared, Resources, RowDomains, UnitEstimate, Units, Worker};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::machine::cpu::Stopwatch;

/// Counts the solutions of an n x n board, n >= 1, whose queens in the first rows stand in these
/// columns. The result after a cancellation is meaningless.
pub(crate) type CountWithQueens = fn(n: usize, first_columns: &[usize], cancel: &Cancel) -> u64;

/// Whether an engine goes on with queens that already attack each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attacked {
    Abandoned,
    Completed,
}

/// A textbook engine's units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstRowUnits {
    size: BoardSize,
    count: CountWithQueens,
    attacked: Attacked,
}

impl FirstRowUnits {
    pub(crate) fn boxed(
        size: BoardSize,
        count: CountWithQueens,
        attacked: Attacked,
    ) -> Box<dyn Units> {
        Box::new(Self { size, count, attacked })
    }

    /// Whether the engine tries this column after these ones.
    fn is_tried(&self, columns: &[usize], column: usize) -> bool {
        let row = columns.len();
        columns.iter().enumerate().all(|(above, &taken)| {
            let is_attacked = taken.abs_diff(column) == row - above;
            taken != column && !(is_attacked && self.attacked == Attacked::Abandoned)
        })
    }
}

impl Units for FirstRowUnits {
    fn len(&self) -> usize {
        self.size.rows().max(1)
    }

    fn domains(&self, unit: usize) -> RowDomains {
        let mut domains = RowDomains::whole_board(self.size);
        domains.allowed[0] &= 1 << unit;
        domains
    }

    fn prepare(&self, _: Pass, _: &Resources, _: &Cancel) -> Result<Box<dyn Prepared + '_>, Error> {
        Ok(Box::new(*self))
    }
}

impl Worker for FirstRowUnits {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        if self.size.rows() == 0 {
            return Ok(1);
        }
        let count = (self.count)(self.size.rows(), &[unit], cancel);
        if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(count) }
    }

    fn deepest(&self) -> usize {
        self.size.rows().saturating_sub(1)
    }

    /// The path places queens at random, each on one of the squares that the engine tries in its row.
    fn sample(
        &mut self,
        unit: usize,
        depth: usize,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Result<UnitEstimate, Interrupt> {
        let n = self.size.rows();
        let (mut columns, mut probability) = (vec![unit], 1.0);
        for _ in 0..depth {
            let is_tried = |column: &usize| self.is_tried(&columns, *column);
            let tried: Vec<usize> = (0..n).filter(is_tried).collect();
            let Some(column) = random.choice(&tried) else { return Ok(UnitEstimate::default()) };
            columns.push(*column);
            probability /= tried.len() as f64;
        }
        let mut stopwatch = Stopwatch::start();
        let solutions = (self.count)(n, &columns, cancel);
        match cancel.is_cancelled() {
            true => Err(Interrupt::Cancelled),
            false => Ok(UnitEstimate::of_path(solutions, stopwatch.lap(), probability)),
        }
    }
}
