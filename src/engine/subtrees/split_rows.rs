//! The number of rows that the prefixes of a count fill.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The number of first rows that a prefix fills: 1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SplitRows(pub(super) u8);

impl SplitRows {
    /// The fewest rows.
    pub const MIN: u32 = 1;
    /// The most rows: with more, the list of units itself becomes long.
    pub const MAX: u32 = 4;
    /// Prefixes of two rows.
    pub const TWO: Self = Self(2);

    /// Prefixes of this many rows, but at most n - 3 of the rows of an n x n board.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] unless `rows` is 1 to 4.
    pub fn new(rows: u32) -> Result<Self, Error> {
        match u8::try_from(rows) {
            Ok(small) if (Self::MIN..=Self::MAX).contains(&rows) => Ok(Self(small)),
            _ => Err(Self::out_of_range(rows)),
        }
    }

    fn out_of_range(given: impl ToString) -> Error {
        let numbers = Self::MIN as usize..=Self::MAX as usize;
        Error::out_of_range("a number of split rows", given, numbers)
    }

    /// The number of rows.
    pub fn get(self) -> u32 {
        u32::from(self.0)
    }
}

impl fmt::Display for SplitRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SplitRows {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text.parse().map_err(|_| Self::out_of_range(text))?)
    }
}
