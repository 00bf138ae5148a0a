//! One placement of queens: its legality, its eight images, its picture.

mod pictures;

use std::fmt;

pub use pictures::{SvgSheet, TextBoard, UnicodeBoard};

use crate::size::BoardSize;

/// A legal placement: one queen in each row, none attacking another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Solution {
    /// The column of each row's queen.
    columns: Vec<u8>,
}

impl Solution {
    /// The placement with row r's queen in column `columns[r]`, counted from 0; `None` if the board
    /// is larger than [`BoardSize::MAX`], a column is off the board, or two queens attack each
    /// other.
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// assert!(Solution::new(&[1, 3, 0, 2]).is_some());
    /// assert!(Solution::new(&[0, 1, 2, 3]).is_none());
    /// ```
    #[must_use]
    pub fn new(columns: &[u8]) -> Option<Self> {
        let n = columns.len();
        let on_board =
            BoardSize::MAX as usize >= n && columns.iter().all(|column| usize::from(*column) < n);
        let attacks = |row: usize, above: usize| {
            let apart = usize::from(columns[row].abs_diff(columns[above]));
            apart == 0 || apart == row - above
        };
        let legal = (1..n).all(|row| (0..row).all(|above| !attacks(row, above)));
        (on_board && legal).then(|| Self { columns: columns.to_vec() })
    }

    /// A placement that is known to be legal.
    pub(crate) fn of_legal(columns: Vec<u8>) -> Self {
        debug_assert!(Self::new(&columns).is_some(), "queens attack each other: {columns:?}");
        Self { columns }
    }

    /// If this is the smallest of its images, how many different ones there are: 1, 2, 4 or 8.
    /// The smallest ones, with these numbers, stand for all placements.
    #[must_use]
    pub fn class_size(&self) -> Option<usize> {
        let mut images = self.images();
        if images.iter().any(|image| image < self) {
            return None;
        }
        images.sort_unstable();
        Some(1 + images.windows(2).filter(|pair| pair[0] != pair[1]).count())
    }

    /// The column of each row's queen.
    #[must_use]
    pub fn columns(&self) -> &[u8] {
        &self.columns
    }

    /// The images under the eight symmetries of the square: turns by 0°, 90°, 180° and 270°, then
    /// the same mirrored. Symmetric solutions repeat.
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// let solution = Solution::new(&[1, 3, 0, 2]).expect("no queen attacks another");
    /// let mut images = solution.images().to_vec();
    /// images.sort();
    /// images.dedup();
    /// assert_eq!(images.len(), 2); // a quarter-turn leaves it unchanged
    /// ```
    #[must_use]
    pub fn images(&self) -> [Self; 8] {
        let turn_90 = self.turned();
        let turn_180 = turn_90.turned();
        let turn_270 = turn_180.turned();
        let mirrored = [&turn_90, &turn_180, &turn_270].map(Self::mirrored);
        let [mirrored_90, mirrored_180, mirrored_270] = mirrored;
        [
            self.clone(),
            turn_90,
            turn_180,
            turn_270,
            self.mirrored(),
            mirrored_90,
            mirrored_180,
            mirrored_270,
        ]
    }

    /// Turned clockwise by 90°: row r, column c goes to row c, column n - 1 - r.
    fn turned(&self) -> Self {
        let mut columns = self.columns.clone();
        for (column, from) in (0..).zip(self.columns.iter().rev()) {
            columns[usize::from(*from)] = column;
        }
        Self { columns }
    }

    /// Left and right exchanged.
    fn mirrored(&self) -> Self {
        let last = self.columns.iter().max().copied().unwrap_or(0); // n - 1: all columns are taken
        let columns = self.columns.iter().map(|column| last - column);
        Self { columns: columns.collect() }
    }
}

/// The board as text: a line for each row, `Q` for a queen, `.` for an empty square.
impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (row, queen) in self.columns.iter().enumerate() {
            if row > 0 {
                writeln!(f)?;
            }
            for column in 0..self.columns.len() {
                let gap = if column == 0 { "" } else { " " };
                let square = if column == usize::from(*queen) { 'Q' } else { '.' };
                write!(f, "{gap}{square}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_shows_each_queen() {
        let solution = Solution::new(&[1, 3, 0, 2]).expect("legal");
        assert_eq!(solution.to_string(), ". Q . .\n. . . Q\nQ . . .\n. . Q .");
    }

    #[test]
    fn four_turns_and_two_mirrorings_change_nothing() {
        let solution = Solution::new(&[0, 4, 7, 5, 2, 6, 1, 3]).expect("legal");
        let [_, turn_90, _, turn_270, mirrored, ..] = solution.images();
        assert_eq!(turn_90.turned().turned().turned(), solution);
        assert_eq!(turn_270.turned(), solution);
        assert_eq!(mirrored.mirrored(), solution);
        for image in solution.images() {
            assert_eq!(Solution::new(image.columns()), Some(image.clone()), "images are legal");
        }
    }
}
