//! One solution: whether it is legal, and its eight images.

/// A way to place n queens on an n x n board so that none attacks another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Solution {
    /// The column of each row's queen, from the first row on. Pictures show the first row at the bottom.
    pub(super) columns: Vec<u32>,
}

impl Solution {
    /// Makes the solution whose queen in row r stands in column `columns[r]`. Rows and columns count from 0. Returns
    /// `None` if a column is off the board, or if two queens attack each other.
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// assert!(Solution::new([1, 3, 0, 2]).is_some());
    /// assert!(Solution::new([0, 1, 2, 3]).is_none());
    /// ```
    pub fn new(columns: impl Into<Vec<u32>>) -> Option<Self> {
        let columns = columns.into();
        let n = columns.len();
        let mut columns_taken = vec![false; n];
        let mut rising_taken = vec![false; 2 * n];
        let mut falling_taken = vec![false; 2 * n];
        for (row, column) in columns.iter().enumerate() {
            let column = *column as usize;
            if column >= n {
                return None;
            }
            let lines = [
                &mut columns_taken[column],
                &mut rising_taken[row + column],
                &mut falling_taken[row + n - column],
            ];
            for is_taken in lines {
                if *is_taken {
                    return None;
                }
                *is_taken = true;
            }
        }
        Some(Self { columns })
    }

    /// Returns the size of the solution's class, which are its different [images](Self::images): 1, 2, 4 or 8.
    pub fn class_size(&self) -> usize {
        let mut images = Vec::from(self.images());
        images.sort_unstable();
        images.dedup();
        images.len()
    }

    /// Returns whether the solution is the smallest one of its class, so that it can represent the class. The class sizes
    /// of the representatives add up to the number of all solutions.
    ///
    /// ```
    /// use nqueens::{BoardSize, Solutions};
    ///
    /// let all = Solutions::new(BoardSize::new(8)?);
    /// let representatives: Vec<_> = all.filter(|solution| solution.is_representative()).collect();
    /// assert_eq!(representatives.len(), 12);
    /// assert_eq!(representatives.iter().map(|solution| solution.class_size()).sum::<usize>(), 92);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn is_representative(&self) -> bool {
        self.images().iter().all(|image| self <= image)
    }

    /// Returns the column of each row's queen, counted from 0.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns the images under the eight symmetries of the square: the turns by 0°, 90°, 180° and 270°, then these
    /// four mirrored. The images of a symmetric solution repeat.
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// let solution = Solution::new([1, 3, 0, 2]).expect("no queen attacks another");
    /// let mut images = solution.images().to_vec();
    /// images.sort();
    /// images.dedup();
    /// assert_eq!(images.len(), 2); // a quarter-turn leaves it unchanged
    /// ```
    pub fn images(&self) -> [Self; 8] {
        let turn_90 = self.turned();
        let turn_180 = turn_90.turned();
        let turn_270 = turn_180.turned();
        [
            self.clone(),
            turn_90.clone(),
            turn_180.clone(),
            turn_270.clone(),
            self.mirrored(),
            turn_90.mirrored(),
            turn_180.mirrored(),
            turn_270.mirrored(),
        ]
    }

    /// Returns the solution turned clockwise by 90°: the queen in row r and column c goes to row c and column n - 1 -
    /// r.
    fn turned(&self) -> Self {
        let mut columns = self.columns.clone();
        for (column, from) in (0..).zip(self.columns.iter().rev()) {
            columns[*from as usize] = column;
        }
        Self { columns }
    }

    /// Returns the solution with left and right swapped.
    fn mirrored(&self) -> Self {
        // All columns are taken, so the largest one is n - 1.
        let last = self.columns.iter().max().copied().unwrap_or(0);
        let columns = self.columns.iter().map(|column| last - column).collect();
        Self { columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queens_that_attack_each_other_are_no_solution() {
        for bad in [&[0, 2, 4, 1, 3, 5][..], &[0, 0], &[1]] {
            assert_eq!(Solution::new(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn four_turns_or_two_mirrorings_change_nothing() {
        let solution = Solution::new([0, 4, 7, 5, 2, 6, 1, 3]).expect("legal");
        let [_, turn_90, _, turn_270, mirrored, ..] = solution.images();
        assert_eq!(turn_90.turned().turned().turned(), solution);
        assert_eq!(turn_270.turned(), solution);
        assert_eq!(mirrored.mirrored(), solution);
        for image in solution.images() {
            assert_eq!(Solution::new(image.columns()), Some(image.clone()), "images are legal");
        }
    }
}
