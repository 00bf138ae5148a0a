//! The size of a board, checked once.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The side of a board: a number of rows, columns and queens from 0 to [`BoardSize::MAX`].
///
/// Every value is in this range. So a row fits in a `u32`, and a set of diagonals fits in a `u64`.
///
/// ```
/// use nqueens::BoardSize;
///
/// let size = BoardSize::new(8)?;
/// assert_eq!(size.get(), 8);
/// assert_eq!("8".parse(), Ok(size));
/// assert!(BoardSize::try_from(BoardSize::MAX + 1).is_err());
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoardSize(u32);

impl BoardSize {
    /// The largest size: a row has one bit of a `u32` for each column.
    pub const MAX: u32 = 32;

    /// Makes the size of a board with `n` rows and `n` columns.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] for `n` above [`BoardSize::MAX`].
    pub fn new(n: u32) -> Result<Self, Error> {
        if n <= Self::MAX { Ok(Self(n)) } else { Err(Self::out_of_range(n)) }
    }

    fn out_of_range(given: impl ToString) -> Error {
        Error::out_of_range("a board size", given, 0..=Self::MAX as usize)
    }

    /// Returns the number of rows, which is also the number of columns and of queens.
    pub fn get(self) -> u32 {
        self.0
    }

    /// Returns the number of rows as a `usize`, to index arrays.
    pub(crate) fn rows(self) -> usize {
        self.0 as usize
    }

    /// Returns a bit set with one bit for each column: the lowest `n` bits are 1.
    pub(crate) fn columns(self) -> u32 {
        u32::MAX.checked_shr(Self::MAX - self.get()).unwrap_or(0)
    }

    /// Returns all squares of the board.
    pub(crate) fn squares(self) -> Squares {
        let mut squares = [0; Self::MAX as usize];
        squares[..self.rows()].fill(self.columns());
        squares
    }
}

/// A set of squares: bit c of word r stands for the square in row r and column c.
pub(crate) type Squares = [u32; BoardSize::MAX as usize];

impl TryFrom<u32> for BoardSize {
    type Error = Error;

    fn try_from(n: u32) -> Result<Self, Error> {
        Self::new(n)
    }
}

impl From<BoardSize> for u32 {
    fn from(size: BoardSize) -> Self {
        size.get()
    }
}

impl FromStr for BoardSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.parse() {
            Ok(n) => Self::new(n),
            Err(_) => Err(Self::out_of_range(text)),
        }
    }
}

impl fmt::Display for BoardSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_0_to_32_are_boards_and_no_others() {
        for n in 0..=BoardSize::MAX {
            let size = BoardSize::new(n).expect("in range");
            assert_eq!(size.columns().count_ones(), n);
            assert_eq!(n.to_string().parse::<BoardSize>().expect("in range"), size);
        }
        for text in ["33", "-1", "x", "", "4294967296", "8.0"] {
            assert!(text.parse::<BoardSize>().is_err(), "{text:?} is not a board size");
        }
    }
}
