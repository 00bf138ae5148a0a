//! What an engine provides: the independent units of a count, and counters for them.
//!
//! The units of all engines have one form: the queen of each row stands in one of the columns that the unit allows
//! there. So any backtracker can count a unit again ([`RowDomains`]).

use std::fmt;
use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::str::FromStr;

use super::simd::Kernel;
use crate::board::size::{BoardSize, Squares};
use crate::board::solution::Solution;
use crate::cancel::Cancel;
use crate::error::Error;

/// The even columns of all boards.
pub(crate) const EVEN: u32 = 0x5555_5555;

/// The independent units of one count, numbered from 0. The list depends only on the board, the engine and the number
/// of split rows, never on the machine.
pub(crate) trait Units: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Returns the number of units.
    fn len(&self) -> usize;

    /// Returns the number of solutions of the whole board that each solution of this unit stands for: 1 for engines
    /// that do not use symmetry.
    fn weight(&self, _unit: usize) -> u64 {
        1
    }

    /// Returns the range of units around this one that a thread counts fastest one after the other. Each unit of the
    /// range has this range.
    fn counted_together(&self, unit: usize) -> Range<usize> {
        unit..unit + 1
    }

    /// Returns which solutions the first or the second pass counts in a unit, and how many times.
    fn domains(&self, unit: usize, pass: Pass) -> RowDomains;

    /// Makes a counter for one thread, for the first or the second pass.
    fn counter(&self, pass: Pass, kernel: Kernel) -> Box<dyn Counter + '_>;
}

/// The first or the second pass over the units of a plan: each unit may be counted twice.
///
/// A total that is not published yet should be counted twice before it is believed. The second pass has the units of
/// the first one, with equal counts, but it finds them from other data: it counts the image of each unit under a
/// symmetry of the board. So a fault that depends on the data does not hit both passes alike.
///
/// ```
/// use nqueens::plan::Pass;
///
/// assert_eq!("second".parse(), Ok(Pass::Second));
/// assert_eq!(Pass::Second.to_string(), "second");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pass {
    /// Counts the units as they are.
    #[default]
    First,
    /// Counts the images of the units.
    Second,
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}

impl FromStr for Pass {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "first" => Ok(Self::First),
            "second" => Ok(Self::Second),
            _ => Err(Error::invalid("a count of a plan", name, "choose first or second")),
        }
    }
}

/// A counter of units on one thread.
pub(crate) trait Counter: Send {
    /// Counts the solutions in this unit, before they are multiplied by its weight.
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt>;

    /// Counts the first of these units, and the following ones of them that the engine counts at once with it, and
    /// appends their counts. The range must not be empty.
    ///
    /// Counts that were finished before an interrupt are appended, too, so that they are not lost. The interrupt
    /// belongs to the unit behind them.
    fn count_batch(
        &mut self,
        units: Range<usize>,
        cancel: &Cancel,
        counts: &mut Vec<u64>,
    ) -> Result<(), Interrupt> {
        counts.push(self.count(units.start, cancel)?);
        Ok(())
    }
}

/// Lets a function be the counter of an engine that counts each unit by itself.
impl<F: FnMut(usize, &Cancel) -> Result<u64, Interrupt> + Send> Counter for F {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        self(unit, cancel)
    }
}

/// The solutions that a unit counts, and how many times it counts each.
///
/// The queen of each row stands in a column that the unit allows there. Units of engine `colours` allow columns of
/// the same parity in each row, and count each solution 0, 1, 2 or 4 times. Units of other engines count each solution
/// once.
///
/// ```
/// use nqueens::plan::Plan;
/// use nqueens::{BoardSize, Engine, Solutions};
///
/// let size = BoardSize::new(8)?;
/// let plan = Plan::new(size, Engine::Subtrees, None)?;
/// let mut total = 0;
/// for unit in 0..plan.units() {
///     let domains = plan.domains(unit);
///     let count: u64 = Solutions::new(size).map(|solution| domains.times(&solution)).sum();
///     total += u128::from(plan.weight(unit)) * u128::from(count);
/// }
/// assert_eq!(total, 92);
/// # Ok::<(), nqueens::Error>(())
/// ```
pub struct RowDomains {
    pub(crate) size: BoardSize,
    /// The columns in which the queen of each row may stand, as bits. Rows beyond the board have no columns.
    pub(crate) allowed: Squares,
    /// The number of times that the unit counts each solution. `None` stands for once.
    pub(crate) multiplicity: Option<Multiplicity>,
}

/// A function from the columns of a solution's white queens to the number of times that a unit counts the solution. A
/// queen is white if its row and its column have the same parity.
pub(crate) type Multiplicity = Box<dyn Fn(u32) -> u64 + Send + Sync>;

impl RowDomains {
    /// Returns the columns in which the queen of a row may stand: bit c stands for column c. Rows and columns count
    /// from 0.
    ///
    /// # Panics
    ///
    /// If the board has no such row.
    pub fn columns(&self, row: usize) -> u32 {
        assert!(row < self.size.rows(), "row {row} of {}", self.size);
        self.allowed[row]
    }

    /// Returns how many times the unit counts a solution of its board. This is not yet multiplied by the weight of
    /// the unit.
    ///
    /// # Panics
    ///
    /// If the solution is one of another board.
    pub fn times(&self, solution: &Solution) -> u64 {
        let queens = solution.columns().len();
        assert_eq!(queens, self.size.rows(), "a solution of another board");
        let mut white_columns = 0;
        for (row, column) in solution.columns().iter().enumerate() {
            let queen = 1 << column;
            if self.allowed[row] & queen == 0 {
                return 0;
            }
            if self.is_white(row) {
                white_columns |= queen;
            }
        }
        match &self.multiplicity {
            Some(multiplicity) => multiplicity(white_columns),
            None => 1,
        }
    }

    /// Returns whether the queen of a row is white in each solution of a unit of engine `colours`. Its row and its
    /// column then have the same parity.
    pub(crate) fn is_white(&self, row: usize) -> bool {
        row.is_multiple_of(2) == (self.allowed[row] & EVEN != 0)
    }

    /// Returns the image of the domains under the flip of the columns. They must count each solution once.
    pub(crate) fn with_columns_flipped(mut self) -> Self {
        assert!(self.multiplicity.is_none(), "a multiplicity has columns of its own");
        let n = self.size.rows();
        for columns in &mut self.allowed[..n] {
            *columns = columns.reverse_bits() >> (u32::BITS as usize - n);
        }
        self
    }

    /// Returns the image of the domains under the flip of the rows, with the multiplicities of the original solutions.
    pub(crate) fn with_rows_flipped(mut self) -> Self {
        let n = self.size.rows();
        self.allowed[..n].reverse();
        // On even boards the flip takes each row to a row of the other parity, so each queen changes its colour.
        if n.is_multiple_of(2)
            && let Some(multiplicity) = self.multiplicity
        {
            let board = self.size.columns();
            self.multiplicity = Some(Box::new(move |columns| multiplicity(board & !columns)));
        }
        self
    }

    /// Makes the domains that allow all solutions of a board.
    pub(crate) fn all(size: BoardSize) -> Self {
        Self { size, allowed: size.squares(), multiplicity: None }
    }
}

impl fmt::Debug for RowDomains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let allowed = &self.allowed[..self.size.rows()];
        f.debug_struct("RowDomains").field("allowed", &allowed).finish_non_exhaustive()
    }
}

/// The reason why a unit has no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// The count was cancelled.
    Cancelled,
    /// The count of the unit is larger than `u64::MAX`, or an entry of a matrix of engine `colours` does not fit in 16
    /// bits.
    Overflow,
}

impl Interrupt {
    /// Makes the error for this unit.
    pub(crate) fn in_unit(self, unit: usize) -> Error {
        match self {
            Self::Cancelled => Error::Cancelled,
            Self::Overflow => Error::Overflow { unit },
        }
    }
}
