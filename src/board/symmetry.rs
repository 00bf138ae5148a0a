//! The numbers of symmetric solutions, and from them the number of solutions up to rotation and reflection.
//!
//! No solution with more than one queen is its own mirror image: queens next to the axis or on it would attack each
//! other. So a solution has eight different images, or four if a half-turn leaves it unchanged, or two if a
//! quarter-turn does. A solution and its images form a class. So for n > 1:
//!
//! ```text
//! classes of eight = (total - half-turn) / 8
//! classes of four  = (half-turn - quarter-turn) / 4      fundamental = the sum of the three
//! classes of two   = quarter-turn / 2
//! ```
//!
//! Separate searches find the two symmetric counts. They place only half or a quarter of the queens. At n = 20 these
//! searches have about 10⁷ and 10³ nodes, where a search for the total has 10¹¹.

use std::ops::Range;

use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::error::Error;

/// The numbers of classes of solutions. A class is a solution with its images under rotation and reflection.
///
/// ```
/// use nqueens::{BoardSize, Cancel, Classes};
///
/// let classes = Classes::count(BoardSize::new(8)?, 92, &Cancel::new())?;
/// assert_eq!((classes.of_eight, classes.of_four), (11, 1));
/// assert_eq!(classes.fundamental(), 12);
/// let unchanged_by_half_turn = 4 * classes.of_four + 2 * classes.of_two;
/// assert_eq!(unchanged_by_half_turn, 4);
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Classes {
    /// The number of classes of eight solutions: no symmetry leaves them unchanged,
    /// [A260320](https://oeis.org/A260320).
    pub of_eight: u128,
    /// The number of classes of four solutions: a half-turn leaves them unchanged.
    pub of_four: u128,
    /// The number of classes of two solutions: a quarter-turn leaves them unchanged.
    pub of_two: u128,
    /// The number of classes of one solution: on the empty board and on the board with one square.
    pub of_one: u128,
}

impl Classes {
    /// Counts the classes of a board, given its number of solutions.
    ///
    /// # Errors
    ///
    /// [`Error::Inconsistent`] if a number of classes would not be whole: then the total or a number of symmetric
    /// solutions is wrong. [`Error::Cancelled`] after a cancellation.
    pub fn count(size: BoardSize, total: u128, cancel: &Cancel) -> Result<Self, Error> {
        Self::count_in_steps(size, total, cancel, |_, _| {})
    }

    /// Counts the classes of a board as [`Classes::count`] does. Before the first of its steps and after each, it calls
    /// `note` with the number of steps that are done, and of all.
    pub(crate) fn count_in_steps(
        size: BoardSize,
        total: u128,
        cancel: &Cancel,
        note: impl FnMut(usize, usize),
    ) -> Result<Self, Error> {
        cancel.check()?;
        let inconsistent = Error::Inconsistent { n: size.get(), total };
        if size.get() <= 1 {
            let classes = Self { of_eight: 0, of_four: 0, of_two: 0, of_one: 1 };
            return if total == 1 { Ok(classes) } else { Err(inconsistent) };
        }
        // The other search takes no time.
        let half = unchanged_by(HALF_TURN, size, cancel, note)?;
        let quarter = unchanged_by(QUARTER_TURN, size, cancel, |_, _| {})?;
        Self::from_solutions(total, half, quarter).ok_or(inconsistent)
    }

    /// Returns the classes of a board with more than one square, given its number of solutions, and how many of them a
    /// half-turn and a quarter-turn leave unchanged. Returns `None` if a number of classes would not be whole.
    fn from_solutions(total: u128, half: u128, quarter: u128) -> Option<Self> {
        // Two quarter-turns are a half-turn, so the half-turn leaves every solution unchanged that the quarter-turn
        // does.
        Some(Self {
            of_eight: divided_evenly(total.checked_sub(half)?, 8)?,
            of_four: divided_evenly(half.checked_sub(quarter)?, 4)?,
            of_two: divided_evenly(quarter, 2)?,
            of_one: 0,
        })
    }

    /// Returns the number of all classes: the solutions up to rotation and reflection,
    /// [A002562](https://oeis.org/A002562).
    pub fn fundamental(&self) -> u128 {
        self.of_eight + self.of_four + self.of_two + self.of_one
    }
}

/// Returns the number of classes, if this number of solutions fills classes of this size.
fn divided_evenly(solutions: u128, class_size: u128) -> Option<u128> {
    if solutions.is_multiple_of(class_size) { Some(solutions / class_size) } else { None }
}

/// A function that turns a square, given the last row of the board, and the row and column of the square.
type Turn = fn(u32, u32, u32) -> (u32, u32);

/// The turn by 180°. The numbers of solutions that it leaves unchanged are [A032522](https://oeis.org/A032522).
const HALF_TURN: Turn = |last, row, column| (last - row, last - column);

/// The turn by 90°. The numbers of solutions that it leaves unchanged are [A033148](https://oeis.org/A033148): 0 unless
/// n is a multiple of four or one more, because the queens that are not in the centre come in fours.
const QUARTER_TURN: Turn = |last, row, column| (column, last - row);

/// Counts the solutions that a turn leaves unchanged, on a board with more than one square. Each placement of the first
/// two queens is a step: `note` is called with the number of steps that are done, and of all.
///
/// A queen is placed together with all its images. Each queen goes into the first free row from the middle of the
/// board down, because a queen in the middle attacks most.
///
/// ```text
///   . Q . . . . . .    with a half-turn: the image of the second queen
///   . . . . . . . Q    the image of the first queen
///   Q . . . . . . .    first queen, in row 3
///   . . . . . . Q .    second queen, in row 2
/// ```
///
/// Mirroring the board maps these solutions to each other, so the first queen is tried only in the left half. On an
/// odd board the queen of the middle row stands in the centre and is its own image.
fn unchanged_by(
    turn: Turn,
    size: BoardSize,
    cancel: &Cancel,
    mut note: impl FnMut(usize, usize),
) -> Result<u128, Error> {
    let half = size.get() / 2;
    let last = size.get() - 1;
    let mut start = Placed { turn, last, taken: [0; 4] };
    if last.is_multiple_of(2) {
        start = start.with_images(half, half).unwrap_or(start);
    }
    let mut steps = Vec::new();
    for first in start.with_next(half, 0..half) {
        steps.extend(first.with_next(half, 0..size.get()));
    }
    let mut found = 0;
    for (done, step) in steps.iter().enumerate() {
        note(done, steps.len());
        found += step.complete(half, cancel);
    }
    note(steps.len(), steps.len());
    cancel.check()?;
    Ok(2 * u128::from(found))
}

/// Queens on a board.
#[derive(Clone, Copy)]
struct Placed {
    turn: Turn,
    /// The number of the last row, which is also that of the last column.
    last: u32,
    /// The rows, columns, rising and falling diagonals that the queens take, one bit for each.
    taken: [u64; 4],
}

impl Placed {
    /// Returns the placements with one more queen and its images, in the first free row below this one and in one of
    /// these columns. If no row is free, only these queens are placed.
    fn with_next(self, below: u32, columns: Range<u32>) -> Vec<Self> {
        match self.free_row(below) {
            Some(row) => columns.filter_map(|column| self.with_images(row, column)).collect(),
            None => vec![self],
        }
    }

    /// Counts the ways to fill the free rows below this one.
    fn complete(self, below: u32, cancel: &Cancel) -> u64 {
        let Some(row) = self.free_row(below) else { return 1 };
        if cancel.is_cancelled() {
            return 0;
        }
        let [_, columns, rising, falling] = self.taken;
        let all = (2 << self.last) - 1;
        let mut free = all & !(columns | rising >> row | falling >> (self.last - row));
        let mut solutions = 0;
        while free != 0 {
            let column = free.trailing_zeros();
            free &= free - 1;
            if let Some(next) = self.with_images(row, column) {
                solutions += next.complete(row, cancel);
            }
        }
        solutions
    }

    /// Returns the first free row below this one.
    fn free_row(&self, below: u32) -> Option<u32> {
        (0..below).rev().find(|row| self.taken[0] & 1 << row == 0)
    }

    /// Places one more queen and its images. Returns `None` if one of them is attacked.
    fn with_images(mut self, row: u32, column: u32) -> Option<Self> {
        let mut image_row = row;
        let mut image_column = column;
        loop {
            let rising = image_row + image_column;
            let falling = self.last - image_row + image_column;
            let lines = [image_row, image_column, rising, falling];
            for (taken, line) in self.taken.iter_mut().zip(lines) {
                if *taken >> line & 1 == 1 {
                    return None;
                }
                *taken |= 1 << line;
            }
            (image_row, image_column) = (self.turn)(self.last, image_row, image_column);
            if (image_row, image_column) == (row, column) {
                return Some(self);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On larger boards than those of which half-turns can be counted in a test.
    #[test]
    fn solutions_that_a_quarter_turn_leaves_unchanged_are_as_published() {
        for n in 2..=27 {
            let size = BoardSize::new(n).expect("in range");
            let counted = unchanged_by(QUARTER_TURN, size, &Cancel::new(), |_, _| {});
            assert_eq!(counted.ok(), size.published().quarter_turn, "A033148, n = {n}");
        }
    }

    #[test]
    fn each_search_can_be_cancelled() {
        let cancel = Cancel::new();
        cancel.cancel();
        let size = BoardSize::new(12).expect("in range");
        for turn in [HALF_TURN, QUARTER_TURN] {
            let cancelled = unchanged_by(turn, size, &cancel, |_, _| {});
            assert!(cancelled.is_err_and(|error| error.is_cancelled()));
        }
    }

    #[test]
    fn every_step_is_noted() {
        for n in 2..=12 {
            let size = BoardSize::new(n).expect("in range");
            let mut notes = Vec::new();
            let total = size.published().total.expect("published");
            let note = |done, all| notes.push((done, all));
            let classes = Classes::count_in_steps(size, total, &Cancel::new(), note);
            assert_eq!(classes, Classes::count(size, total, &Cancel::new()));
            let all = notes.len() - 1;
            let wanted: Vec<(usize, usize)> = (0..=all).map(|done| (done, all)).collect();
            assert_eq!(notes, wanted, "n = {n}");
        }
    }
}
