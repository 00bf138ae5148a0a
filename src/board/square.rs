//! Squares of a board, and those that queens leave to others.

use std::fmt;
use std::str::FromStr;

use crate::board::size::{BoardSize, Squares};
use crate::error::Error;

/// A square. Row and column count from 0, and as in chess, a1 is at the bottom left.
///
/// ```
/// use nqueens::Square;
///
/// let square: Square = "d5".parse()?;
/// assert_eq!(square, Square { row: 4, column: 3 });
/// assert_eq!("5:4".parse(), Ok(square));
/// assert_eq!(square.to_string(), "d5");
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square {
    /// The row, counted from the bottom.
    pub row: u32,
    /// The column, counted from the left.
    pub column: u32,
}

impl Square {
    /// Returns whether queens on this square and on another one attack each other. A queen does not attack itself.
    fn attacks(self, other: Self) -> bool {
        let rows_apart = self.row.abs_diff(other.row);
        let columns_apart = self.column.abs_diff(other.column);
        self != other && (rows_apart == 0 || columns_apart == 0 || rows_apart == columns_apart)
    }

    /// Checks that this board has the square.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] for a square that is off the board.
    pub(crate) fn check(self, size: BoardSize) -> Result<(), Error> {
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

/// Returns the squares on which queens may stand if queens are placed on the given squares: these squares, and those
/// that they do not attack. A square may be named twice.
///
/// # Errors
///
/// [`Error::InvalidValue`] for a square that is off the board or attacked by another queen.
pub(crate) fn squares_left_by(queens: &[Square], size: BoardSize) -> Result<Squares, Error> {
    for queen in queens {
        queen.check(size)?;
    }
    for first in queens {
        if let Some(second) = queens.iter().find(|second| second.attacks(*first)) {
            let advice = format!("the queen on {first} attacks it");
            return Err(Error::invalid("a free square", second, advice));
        }
    }
    let mut left = [0; BoardSize::MAX as usize];
    for row in 0..size.get() {
        for column in 0..size.get() {
            let square = Square { row, column };
            if !queens.iter().any(|queen| queen.attacks(square)) {
                left[row as usize] |= 1 << column;
            }
        }
    }
    Ok(left)
}

/// Writes column and row, `d5`, or row and column, `5:31`, if no letter names the column. Both count from 1.
impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A square that is off the board may have the largest number of 32 bits.
        let row = u64::from(self.row) + 1;
        match u8::try_from(self.column) {
            Ok(column @ 0..26) => write!(f, "{}{row}", char::from(b'a' + column)),
            _ => write!(f, "{row}:{}", u64::from(self.column) + 1),
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
pub(super) fn read_from_one(number: &str) -> Option<u32> {
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
        let last = Square { row: u32::MAX, column: u32::MAX };
        assert_eq!(last.to_string(), "4294967296:4294967296");
    }

    #[test]
    fn queens_do_not_attack_each_other() {
        let size = BoardSize::new(8).expect("in range");
        let left = squares_left_by(&squares(&["a1", "b3", "a1"]), size).expect("two queens");
        assert_eq!(Ok(left), squares_left_by(&squares(&["b3", "a1"]), size));
        assert_eq!((left[0], left[2]), (1, 2), "the queens stay");
        let clash = squares_left_by(&squares(&["a1", "b3", "h8"]), size).expect_err("a diagonal");
        assert_eq!(clash.to_string(), "'h8' is not a free square: the queen on a1 attacks it");
        let off = squares_left_by(&squares(&["i1"]), size).expect_err("off the board");
        assert_eq!(
            off.to_string(),
            "'i1' is not a square of the board: choose rows and columns from 1 to 8"
        );
        for (n, advice) in [(0, "the board has no squares"), (1, "choose a1, the only one")] {
            let size = BoardSize::new(n).expect("in range");
            let off = squares_left_by(&squares(&["b1"]), size).expect_err("off the board");
            assert_eq!(off.to_string(), format!("'b1' is not a square of the board: {advice}"));
        }
    }

    #[test]
    fn no_queen_leaves_all_squares() {
        for n in 0..=BoardSize::MAX {
            let size = BoardSize::new(n).expect("in range");
            assert_eq!(squares_left_by(&[], size), Ok(size.squares()), "n = {n}");
        }
    }
}
