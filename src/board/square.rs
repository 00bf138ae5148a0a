//! Squares of a board, and queens that are fixed on some of them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::board::size::{BoardSize, Squares};
use crate::error::Error;

/// A square. Row and column count from 0, and as in chess, a1 is at the bottom left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square {
    /// The row, counted from the bottom.
    pub row: u32,
    /// The column, counted from the left.
    pub column: u32,
}

/// Queens that a solution must contain. None of them attacks another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedQueens(BTreeSet<Square>);

impl Square {
    /// Returns whether queens on this square and on another one attack each other. A queen does not attack itself.
    fn attacks(self, other: Self) -> bool {
        let rows_apart = self.row.abs_diff(other.row);
        let columns_apart = self.column.abs_diff(other.column);
        self != other && (rows_apart == 0 || columns_apart == 0 || rows_apart == columns_apart)
    }

    /// Checks that this board has the square.
    fn check(self, size: BoardSize) -> Result<(), Error> {
        let n = size.get();
        if self.row < n && self.column < n {
            return Ok(());
        }
        let advice = match n {
            0 => "the board has no squares".to_owned(),
            1 => "choose a1, the only one".to_owned(),
            _ => format!("choose rows and columns from 1 to {n}"),
        };
        Err(Error::invalid("a square of the board", self, advice))
    }
}

impl FixedQueens {
    /// Fixes queens on these squares. A square may be named twice.
    ///
    /// ```
    /// use nqueens::{BoardSize, FixedQueens, Solutions};
    ///
    /// let size = BoardSize::new(8)?;
    /// let queens = FixedQueens::new(size, &["a1".parse()?])?;
    /// assert_eq!(Solutions::with_queens(size, &queens).count(), 4);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] for a square that is off the board or attacked by another queen.
    pub fn new(size: BoardSize, squares: &[Square]) -> Result<Self, Error> {
        let queens = Self(squares.iter().copied().collect());
        queens.check(size)?;
        for first in squares {
            if let Some(second) = squares.iter().find(|second| second.attacks(*first)) {
                let advice = format!("the queen on {first} attacks it");
                return Err(Error::invalid("a free square", second, advice));
            }
        }
        Ok(queens)
    }

    /// Checks that all queens stand on this board.
    pub(crate) fn check(&self, size: BoardSize) -> Result<(), Error> {
        self.0.iter().try_for_each(|square| square.check(size))
    }

    /// Returns whether no queen is fixed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the columns in which the queen of each row may stand beside the fixed ones, as bits. If a fixed queen
    /// is off the board, there are none.
    pub(crate) fn allowed(&self, size: BoardSize) -> Squares {
        let mut allowed = [0; BoardSize::MAX as usize];
        if self.check(size).is_err() {
            return allowed;
        }
        for row in 0..size.get() {
            for column in 0..size.get() {
                let square = Square { row, column };
                if !self.0.iter().any(|queen| queen.attacks(square)) {
                    allowed[row as usize] |= 1 << column;
                }
            }
        }
        allowed
    }

    /// Returns the squares that [`FixedQueens::allowed`] returns, without the blocked ones.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] for a blocked square that is off the board or has a fixed queen.
    pub(crate) fn allowed_without(
        &self,
        size: BoardSize,
        blocked: &[Square],
    ) -> Result<Squares, Error> {
        let mut allowed = self.allowed(size);
        for square in blocked {
            square.check(size)?;
            if self.0.contains(square) {
                return Err(Error::invalid("a square to block", square, "a queen is placed on it"));
            }
            allowed[square.row as usize] &= !(1 << square.column);
        }
        Ok(allowed)
    }
}

/// Writes column and row, `d5`, or row and column, `5:31`, if no letter names the column. Both count from 1.
impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, column } = self;
        match u8::try_from(*column) {
            Ok(column @ 0..26) => write!(f, "{}{}", char::from(b'a' + column), row + 1),
            _ => write!(f, "{}:{}", row + 1, column + 1),
        }
    }
}

/// Reads column and row, `d5`, or row and column, `5:4`. Both count from 1.
impl FromStr for Square {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some(square) = read_square(text) else {
            let advice = "write d5 (column and row) or 5:4 (row and column), counted from 1";
            return Err(Error::invalid("a square", text, advice));
        };
        Ok(square)
    }
}

/// Reads a square. Returns `None` if the text is not a square.
fn read_square(text: &str) -> Option<Square> {
    if let Some((row, column)) = text.split_once(':') {
        return Some(Square { row: read_from_one(row)?, column: read_from_one(column)? });
    }
    let letter = text.chars().next()?;
    if !letter.is_ascii_alphabetic() {
        return None;
    }
    let column = u32::from(letter.to_ascii_lowercase()) - u32::from('a');
    Some(Square { row: read_from_one(&text[1..])?, column })
}

/// Reads a number that counts from 1, and returns it counted from 0.
fn read_from_one(number: &str) -> Option<u32> {
    number.parse::<u32>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(names: &[&str]) -> Vec<Square> {
        names.iter().map(|name| name.parse().expect("a square")).collect()
    }

    #[test]
    fn squares_have_two_names() {
        for (name, row, column) in [("a1", 0, 0), ("d5", 4, 3), ("5:4", 4, 3), ("Z26", 25, 25)] {
            assert_eq!(name.parse::<Square>(), Ok(Square { row, column }), "{name}");
        }
        for bad in ["", "a", "a0", "0:1", "1", "1:", ":", "aa1", "a-1", "1:2:3", "é1"] {
            assert!(bad.parse::<Square>().is_err(), "{bad}");
        }
        assert_eq!(Square { row: 4, column: 3 }.to_string(), "d5");
        assert_eq!(Square { row: 4, column: 30 }.to_string(), "5:31");
    }

    #[test]
    fn fixed_queens_do_not_attack_each_other() {
        let size = BoardSize::new(8).expect("in range");
        let queens = FixedQueens::new(size, &squares(&["a1", "b3", "a1"])).expect("two queens");
        assert_eq!(Ok(queens), FixedQueens::new(size, &squares(&["b3", "a1"])));
        let clash = FixedQueens::new(size, &squares(&["a1", "b3", "h8"])).expect_err("a diagonal");
        assert_eq!(clash.to_string(), "'h8' is not a free square: the queen on a1 attacks it");
        let off = FixedQueens::new(size, &squares(&["i1"])).expect_err("off the board");
        assert_eq!(
            off.to_string(),
            "'i1' is not a square of the board: choose rows and columns from 1 to 8"
        );
        for (n, advice) in [(0, "the board has no squares"), (1, "choose a1, the only one")] {
            let size = BoardSize::new(n).expect("in range");
            let off = FixedQueens::new(size, &squares(&["b1"])).expect_err("off the board");
            assert_eq!(off.to_string(), format!("'b1' is not a square of the board: {advice}"));
        }
        let large = FixedQueens::new(BoardSize::new(20).expect("in range"), &squares(&["t20"]));
        assert_eq!(large.expect("on the board").allowed(size), [0; 32], "of a larger board");
    }
}
