//! One solution: whether it is legal, its text, and its eight images.

use std::fmt;
use std::str::FromStr;

use crate::board::square::{Square, read_from_one};
use crate::error::Error;

/// A way to place n queens on an n x n board so that none attacks another.
///
/// As text it is the column of the queen in each row, counted from 1: `2 4 1 3`.
///
/// ```
/// use nqueens::Solution;
///
/// let solution: Solution = "2 4 1 3".parse()?;
/// assert_eq!(solution, Solution::new([1, 3, 0, 2])?);
/// assert_eq!(solution.to_string(), "2 4 1 3");
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Solution {
    /// The column of each row's queen, from the first row on. Pictures show the first row at the bottom.
    pub(super) columns: Vec<u32>,
}

impl Solution {
    /// Makes the solution whose queen in row r stands in column `columns[r]`. Rows and columns count from 0. The number
    /// of queens may be larger than [`BoardSize::MAX`](crate::BoardSize::MAX).
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// assert_eq!(Solution::new([1, 3, 0, 2])?.columns(), [1, 3, 0, 2]);
    /// let error = Solution::new([0, 1, 2, 3]).expect_err("a diagonal");
    /// assert_eq!(error.to_string(), "'1 2 3 4' is not a solution: the queen on a1 attacks b2");
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if a column is off the board, or if two queens attack each other. Its message names the
    /// columns, counted from 1.
    pub fn new(columns: impl Into<Vec<u32>>) -> Result<Self, Error> {
        let columns = columns.into();
        match first_fault(&columns) {
            None => Ok(Self { columns }),
            Some(fault) => Err(Error::invalid("a solution", ColumnsFromOne(&columns), fault)),
        }
    }

    /// Returns the column of each row's queen, counted from 0.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns the squares of the queens, from the first row on.
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// let solution = Solution::new([1, 3, 0, 2])?;
    /// let names: Vec<String> = solution.squares().map(|square| square.to_string()).collect();
    /// assert_eq!(names, ["b1", "d2", "a3", "c4"]);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn squares(&self) -> impl Iterator<Item = Square> {
        squares(&self.columns)
    }

    /// Returns the size of the solution's class, which are its different [images](Self::images): 1, 2, 4 or 8.
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// let solution = Solution::new([1, 3, 0, 2])?;
    /// assert_eq!(solution.class_size(), 2, "a quarter-turn leaves it unchanged");
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn class_size(&self) -> usize {
        let mut images = Vec::from(self.images());
        images.sort_unstable();
        images.dedup();
        images.len()
    }

    /// Returns whether the solution is the smallest one of its class, in lexicographic order of the columns.
    /// [`Solutions::fundamental`] returns these solutions.
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// assert!(Solution::new([1, 3, 0, 2])?.is_fundamental());
    /// assert!(!Solution::new([2, 0, 3, 1])?.is_fundamental());
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// [`Solutions::fundamental`]: crate::Solutions::fundamental
    pub fn is_fundamental(&self) -> bool {
        self.is_smallest_with(&[])
    }

    /// Returns whether the solution, which has queens on these squares, is the smallest one of its class that has.
    pub(super) fn is_smallest_with(&self, squares: &[Square]) -> bool {
        for image in self.images() {
            if image < *self && squares.iter().all(|square| image.has_queen_on(*square)) {
                return false;
            }
        }
        true
    }

    fn has_queen_on(&self, square: Square) -> bool {
        self.columns.get(square.row as usize) == Some(&square.column)
    }

    /// Returns the images under the eight symmetries of the square: the turns by 0°, 90°, 180° and 270°, then these
    /// four mirrored. The images of a symmetric solution repeat.
    ///
    /// ```
    /// use nqueens::Solution;
    ///
    /// let solution = Solution::new([0, 2, 4, 1, 3])?;
    /// let [_, turn_90, _, _, mirrored, ..] = solution.images();
    /// assert_eq!(turn_90.columns(), [4, 1, 3, 0, 2]);
    /// assert_eq!(mirrored.columns(), [4, 2, 0, 3, 1]);
    /// # Ok::<(), nqueens::Error>(())
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

/// Returns the squares of queens, given the column of each row's queen.
fn squares(columns: &[u32]) -> impl Iterator<Item = Square> {
    (0..).zip(columns).map(|(row, column)| Square { row, column: *column })
}

/// Returns why these columns are no solution, or `None` if they are one.
fn first_fault(columns: &[u32]) -> Option<String> {
    let n = columns.len();
    // The queen on each line of the board, if one stands there.
    let mut in_column = vec![None; n];
    let mut on_rising = vec![None; 2 * n];
    let mut on_falling = vec![None; 2 * n];
    for queen in squares(columns) {
        let row = queen.row as usize;
        let column = queen.column as usize;
        if column >= n {
            let column = u64::from(queen.column) + 1;
            return Some(format!("column {column} in row {} is off the board", row + 1));
        }
        let lines = [
            &mut in_column[column],
            &mut on_rising[row + n - column],
            &mut on_falling[row + column],
        ];
        for queen_on_line in lines {
            if let Some(first) = queen_on_line.replace(queen) {
                return Some(format!("the queen on {first} attacks {queen}"));
            }
        }
    }
    None
}

/// Writes columns that count from 0 as numbers that count from 1, with spaces between them.
struct ColumnsFromOne<'a>(&'a [u32]);

impl fmt::Display for ColumnsFromOne<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (row, column) in self.0.iter().enumerate() {
            let space = if row > 0 { " " } else { "" };
            // A column that is off the board may be the largest number of 32 bits.
            write!(f, "{space}{}", u64::from(*column) + 1)?;
        }
        Ok(())
    }
}

/// Writes the column of the queen in each row, counted from 1: `2 4 1 3`.
impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ColumnsFromOne(&self.columns).fmt(f)
    }
}

/// Reads the column of the queen in each row, counted from 1: `2 4 1 3`. An empty text is the solution of the empty
/// board.
impl FromStr for Solution {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut columns = Vec::new();
        for number in text.split_whitespace() {
            let Some(column) = read_from_one(number) else {
                let advice =
                    "write the column of the queen in each row, counted from 1, such as 2 4 1 3";
                return Err(Error::invalid("a solution", text, advice));
            };
            columns.push(column);
        }
        Self::new(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queens_that_attack_each_other_are_no_solution() {
        for (bad, fault) in [
            (
                &[0, 2, 4, 1, 3, 5][..],
                "'1 3 5 2 4 6' is not a solution: the queen on a1 attacks f6",
            ),
            (&[0, 0], "'1 1' is not a solution: the queen on a1 attacks a2"),
            (&[1, 0], "'2 1' is not a solution: the queen on b1 attacks a2"),
            (&[1], "'2' is not a solution: column 2 in row 1 is off the board"),
            (
                &[1, u32::MAX],
                "'2 4294967296' is not a solution: column 4294967296 in row 2 is off the board",
            ),
        ] {
            let error = Solution::new(bad).expect_err("no solution");
            assert_eq!(error.to_string(), fault);
        }
    }

    /// By the definition, for all ways to choose a column in each row.
    #[test]
    fn exactly_the_solutions_are_legal() {
        for n in 0..=5_u32 {
            for number in 0..n.pow(n) {
                let columns: Vec<u32> = (0..n).map(|row| number / n.pow(row) % n).collect();
                let mut is_legal = true;
                for row in 0..n {
                    for above in row + 1..n {
                        let apart = columns[row as usize].abs_diff(columns[above as usize]);
                        is_legal &= apart != 0 && apart != above - row;
                    }
                }
                assert_eq!(Solution::new(&*columns).is_ok(), is_legal, "{columns:?}");
            }
        }
    }

    #[test]
    fn a_solution_is_read_as_it_is_written() {
        for n in 0..=8 {
            let size = crate::BoardSize::new(n).expect("in range");
            for solution in crate::Solutions::new(size) {
                assert_eq!(solution.to_string().parse(), Ok(solution));
            }
        }
        // A knight's walk fills any board whose size has no divisor 2 or 3.
        let large: Vec<u32> = (0..1001).map(|row| 2 * row % 1001).collect();
        let large = Solution::new(large).expect("no attack");
        assert_eq!(large.to_string().parse(), Ok(large));
        let advice = "write the column of the queen in each row, counted from 1, such as 2 4 1 3";
        for bad in ["0 2", "x", "2 4 1 3 (2)", "2,4,1,3", "-1"] {
            let error = bad.parse::<Solution>().expect_err("no solution");
            assert_eq!(error.to_string(), format!("'{bad}' is not a solution: {advice}"));
        }
        let error = "2 4 1 1".parse::<Solution>().expect_err("an attack");
        assert_eq!(error.to_string(), "'2 4 1 1' is not a solution: the queen on a3 attacks a4");
    }

    #[test]
    fn four_turns_or_two_mirrorings_change_nothing() {
        let solution = Solution::new([0, 4, 7, 5, 2, 6, 1, 3]).expect("legal");
        let [_, turn_90, _, turn_270, mirrored, ..] = solution.images();
        assert_eq!(turn_90.turned().turned().turned(), solution);
        assert_eq!(turn_270.turned(), solution);
        assert_eq!(mirrored.mirrored(), solution);
        for image in solution.images() {
            assert_eq!(Solution::new(image.columns()), Ok(image.clone()), "images are legal");
        }
    }
}
