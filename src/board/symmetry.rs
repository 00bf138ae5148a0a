//! Symmetric solutions, and from them the solutions up to rotation and reflection.
//!
//! No solution of more than one queen is its own mirror image: queens next to the axis or on it would
//! attack each other. So a solution has eight images, or four if a half-turn leaves it unchanged, or
//! two if a quarter-turn does. By Burnside's lemma, the number of fundamental solutions is the mean
//! number of solutions that each of the eight symmetries leaves unchanged: all of them for the
//! identity, the half-turn solutions for 180°, the quarter-turn solutions for 90° and 270°, and none
//! for the reflections.
//!
//! ```text
//! fundamental = (total + half-turn + 2 x quarter-turn) / 8        for n > 1
//! ```
//!
//! The two symmetric counts come from searches of their own, over half and a quarter of the queens. At
//! n = 20 these have about 10⁷ and 10³ nodes, where a search for the total has 10¹¹.

use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::error::Error;

/// The number of solutions up to rotation and reflection, [A002562](https://oeis.org/A002562), from
/// the total. The empty board and the board with one square have one each.
///
/// # Errors
///
/// [`Error::Inconsistent`] if the sum is not a multiple of eight, so one of the three counts is wrong;
/// [`Error::StoppedBefore`] after a cancellation.
///
/// ```
/// use nqueens::{BoardSize, Cancel, symmetry};
///
/// assert_eq!(symmetry::fundamental(BoardSize::new(8)?, 92, &Cancel::new())?, 12);
/// # Ok::<(), nqueens::Error>(())
/// ```
pub fn fundamental(size: BoardSize, total: u128, cancel: &Cancel) -> Result<u128, Error> {
    if size.get() <= 1 {
        return Ok(total);
    }
    let unchanged = total + half_turn(size, cancel)? + 2 * quarter_turn(size, cancel)?;
    if !unchanged.is_multiple_of(8) {
        return Err(Error::Inconsistent { n: size.get(), total });
    }
    Ok(unchanged / 8)
}

/// The number of solutions that a turn of 180° leaves unchanged,
/// [A032522](https://oeis.org/A032522).
///
/// # Errors
///
/// [`Error::StoppedBefore`] after a cancellation.
pub fn half_turn(size: BoardSize, cancel: &Cancel) -> Result<u128, Error> {
    unchanged_by(|last, row, column| (last - row, last - column), size, cancel)
}

/// The number of solutions that a turn of 90° leaves unchanged,
/// [A033148](https://oeis.org/A033148); 0 unless n is a multiple of four or one more, because queens
/// come in fours then.
///
/// # Errors
///
/// [`Error::StoppedBefore`] after a cancellation.
pub fn quarter_turn(size: BoardSize, cancel: &Cancel) -> Result<u128, Error> {
    unchanged_by(|last, row, column| (column, last - row), size, cancel)
}

/// What a turn makes of a square, given the last row and column of the board, and the square's.
type Turn = fn(u32, u32, u32) -> (u32, u32);

/// The number of solutions that a turn leaves unchanged.
///
/// A queen is placed together with all its images, in the first free row from the middle of the board
/// down: there a queen attacks most.
///
/// ```text
///   . . . . . . Q .
///   . . . Q . . . .    with a half-turn: the image of the first queen
///   . . . . Q . . .    first queen, in row 3
///   . Q . . . . . .    second queen, in row 2
/// ```
///
/// Mirroring the board maps these solutions to each other, so the first queen is tried only in the
/// left half. On an odd board the queen of the middle row stands in the centre, as its own image.
fn unchanged_by(turn: Turn, size: BoardSize, cancel: &Cancel) -> Result<u128, Error> {
    let (last, half) = (size.get().saturating_sub(1), size.get() / 2);
    if half == 0 {
        return Ok(1);
    }
    let mut start = Placed { turn, last, taken: [0; 4] };
    if last.is_multiple_of(2) {
        start = start.with_images(half, half).unwrap_or(start);
    }
    let found = start.complete(half, (1 << half) - 1, cancel);
    cancel.check("the symmetric solutions were counted")?;
    Ok(2 * u128::from(found))
}

/// Queens on a board with this last row and column.
#[derive(Clone, Copy)]
struct Placed {
    turn: Turn,
    last: u32,
    /// The rows, columns, rising and falling diagonals that they take: one bit for each.
    taken: [u64; 4],
}

impl Placed {
    /// The number of ways to fill the free rows below this one, with the first queen in `allowed`.
    fn complete(self, below: u32, allowed: u64, cancel: &Cancel) -> u64 {
        let [rows, columns, rising, falling] = self.taken;
        let Some(row) = (0..below).rev().find(|row| rows & 1 << row == 0) else { return 1 };
        if cancel.is_cancelled() {
            return 0;
        }
        let taken = columns | rising >> row | falling >> (self.last - row);
        let (mut free, mut solutions) = (allowed & !taken, 0);
        while free != 0 {
            let column = free.trailing_zeros();
            free &= free - 1;
            if let Some(next) = self.with_images(row, column) {
                solutions += next.complete(row, (2 << self.last) - 1, cancel);
            }
        }
        solutions
    }

    /// With one more queen and its images, or `None` if one of them is attacked.
    fn with_images(mut self, row: u32, column: u32) -> Option<Self> {
        let mut square = (row, column);
        loop {
            let lines = [square.0, square.1, square.0 + square.1, self.last - square.0 + square.1];
            for (taken, line) in self.taken.iter_mut().zip(lines) {
                if *taken >> line & 1 == 1 {
                    return None;
                }
                *taken |= 1 << line;
            }
            square = (self.turn)(self.last, square.0, square.1);
            if square == (row, column) {
                return Some(self);
            }
        }
    }
}
