//! Solutions one at a time, in lexicographic order of their columns.
//!
//! The search is the one of engine `bitmask`, but with an explicit stack, so that it can stop at each solution. It
//! stores only the queens placed so far.

use std::iter::FusedIterator;

use crate::board::size::{BoardSize, Squares};
use crate::board::solution::Solution;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;

/// An iterator over the solutions of a board, in lexicographic order of their columns.
///
/// ```
/// use nqueens::{BoardSize, Solutions};
///
/// let columns: Vec<Vec<u32>> =
///     Solutions::new(BoardSize::new(4)?).map(|solution| solution.columns().to_vec()).collect();
/// assert_eq!(columns, [[1, 3, 0, 2], [2, 0, 3, 1]]);
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solutions {
    size: BoardSize,
    allowed: Squares,
    /// The node of each row that is being tried, from the first row on. When all queens are placed, the last node is
    /// below the board.
    open_rows: Vec<Node>,
    /// The columns of the queens placed so far: one fewer than there are open rows.
    columns: Vec<u32>,
    cancel: Cancel,
}

/// The state of a search before a row is filled. Bit c of a word stands for column c. In the kernels a vector of
/// words takes the place of each word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<Word = u32> {
    /// The columns that are taken.
    pub(crate) columns: Word,
    /// The squares of this row on falling diagonals of the queens above.
    pub(crate) falling: Word,
    /// The squares of this row on rising diagonals of the queens above.
    pub(crate) rising: Word,
    /// The squares of this row that are left to try.
    pub(crate) free: Word,
}

impl Node {
    /// Makes the node before the first row, with these squares to try there.
    pub(crate) fn top(free: u32) -> Self {
        Self { columns: 0, falling: 0, rising: 0, free }
    }

    /// Returns the node of the next row, after a queen is placed in this row.
    pub(crate) fn with_queen(self, queen: u32, allowed_below: u32) -> Self {
        let with_queen = Self {
            columns: self.columns | queen,
            falling: self.falling | queen,
            rising: self.rising | queen,
            ..self
        };
        with_queen.next_row(allowed_below)
    }

    /// Returns the node of the next row, without a queen in this row.
    pub(crate) fn next_row(self, allowed_below: u32) -> Self {
        let falling = self.falling << 1;
        let rising = self.rising >> 1;
        let free = allowed_below & !(self.columns | falling | rising);
        Self { falling, rising, free, ..self }
    }
}

impl Solutions {
    /// Makes an iterator over all solutions of a board.
    pub fn new(size: BoardSize) -> Self {
        Self::with_queens(size, &FixedQueens::default())
    }

    /// Makes an iterator over the solutions that contain these queens. There is none if one of them is off the board.
    pub fn with_queens(size: BoardSize, queens: &FixedQueens) -> Self {
        let allowed = queens.allowed(size);
        let open_rows = vec![Node::top(allowed[0])];
        Self { size, allowed, open_rows, columns: Vec::new(), cancel: Cancel::new() }
    }

    /// Stops the search when this flag is raised: it may take hours from one solution to the next.
    #[must_use]
    pub fn stop_on(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Closes the lowest open row, and removes the queen above it.
    fn go_back(&mut self) {
        self.open_rows.pop();
        self.columns.pop();
    }

    /// Returns whether a cancellation ended the search before all solutions were found.
    pub fn was_stopped(&self) -> bool {
        self.cancel.is_cancelled() && !self.open_rows.is_empty()
    }
}

impl Iterator for Solutions {
    type Item = Solution;

    fn next(&mut self) -> Option<Solution> {
        let n = self.size.rows();
        while !self.cancel.is_cancelled() {
            let row = self.columns.len();
            let open_row = self.open_rows.last_mut()?;
            if row == n {
                let solution = Solution { columns: self.columns.clone() };
                self.go_back();
                return Some(solution);
            }
            if open_row.free == 0 {
                self.go_back();
                continue;
            }
            let queen = open_row.free & open_row.free.wrapping_neg();
            open_row.free ^= queen;
            // Below the last row of the largest board there are no columns.
            let allowed_below = self.allowed.get(row + 1).copied().unwrap_or(0);
            let below = open_row.with_queen(queen, allowed_below);
            self.columns.push(queen.trailing_zeros());
            self.open_rows.push(below);
        }
        None
    }
}

/// After the last solution, and after a cancellation, nothing follows.
impl FusedIterator for Solutions {}
