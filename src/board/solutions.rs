//! Solutions one at a time, in lexicographic order of their columns.
//!
//! The search is the one of engine `bitmask`, but with an explicit stack, so that it can stop at each solution. It
//! stores only the queens placed so far.

use std::iter::FusedIterator;

use crate::board::size::{BoardSize, Squares};
use crate::board::solution::Solution;
use crate::board::square::{Square, squares_left_by};
use crate::cancel::Cancel;
use crate::error::Error;

/// An iterator over solutions of a board, in lexicographic order of their columns.
///
/// ```
/// use nqueens::{BoardSize, Solutions};
///
/// let texts: Vec<String> =
///     Solutions::new(BoardSize::new(4)?).map(|solution| solution.to_string()).collect();
/// assert_eq!(texts, ["2 4 1 3", "3 1 4 2"]);
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "an iterator finds no solution until it is asked for one"]
pub struct Solutions {
    size: BoardSize,
    allowed: Squares,
    wanted: Wanted,
    /// The node of each row that is being tried, from the first row on. When all queens are placed, the last node is
    /// below the board.
    open_rows: Vec<Node>,
    /// The columns of the queens placed so far: one fewer than there are open rows.
    columns: Vec<u32>,
    cancel: Cancel,
}

/// Which of the solutions that the search finds the iterator returns.
#[derive(Clone, Debug)]
enum Wanted {
    /// All of them.
    All,
    /// One of each class: the smallest one that has queens on these squares, as all solutions have that are found.
    OneOfEachClass(Vec<Square>),
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
        Self::on_squares(size.squares(), size, Wanted::All)
    }

    /// Makes an iterator over the solutions with queens on the given squares. A square may be named twice.
    ///
    /// ```
    /// use nqueens::{BoardSize, Solutions};
    ///
    /// let solutions = Solutions::with_queens(BoardSize::new(8)?, &["a1".parse()?])?;
    /// assert_eq!(solutions.count(), 4);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] for a square that is off the board or attacked by another queen.
    pub fn with_queens(size: BoardSize, queens: &[Square]) -> Result<Self, Error> {
        Ok(Self::on_squares(squares_left_by(queens, size)?, size, Wanted::All))
    }

    /// Makes an iterator over the fundamental solutions: the smallest one of each class of solutions that rotations and
    /// reflections turn into each other.
    ///
    /// ```
    /// use nqueens::{BoardSize, Solutions};
    ///
    /// let solutions = Solutions::fundamental(BoardSize::new(8)?);
    /// let class_sizes: Vec<usize> = solutions.map(|solution| solution.class_size()).collect();
    /// assert_eq!(class_sizes.len(), 12);
    /// assert_eq!(class_sizes.iter().sum::<usize>(), 92);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn fundamental(size: BoardSize) -> Self {
        Self::on_squares(size.squares(), size, Wanted::OneOfEachClass(Vec::new()))
    }

    /// Makes an iterator over the solutions with queens on the given squares, of which it returns only the smallest one
    /// of each class.
    ///
    /// # Errors
    ///
    /// The errors of [`Solutions::with_queens`].
    pub(crate) fn fundamental_with_queens(
        size: BoardSize,
        queens: &[Square],
    ) -> Result<Self, Error> {
        let wanted = Wanted::OneOfEachClass(queens.to_vec());
        Ok(Self::on_squares(squares_left_by(queens, size)?, size, wanted))
    }

    /// Makes an iterator over the wanted ones of the solutions whose queens all stand on these squares.
    fn on_squares(allowed: Squares, size: BoardSize, wanted: Wanted) -> Self {
        let open_rows = vec![Node::top(allowed[0])];
        Self { size, allowed, wanted, open_rows, columns: Vec::new(), cancel: Cancel::new() }
    }

    /// Ends the search when this flag is raised, because it may take hours from one solution to the next.
    ///
    /// ```
    /// use nqueens::{BoardSize, Cancel, Solutions};
    ///
    /// let cancel = Cancel::new();
    /// let mut solutions = Solutions::new(BoardSize::new(8)?).cancel_on(&cancel);
    /// assert!(solutions.next().is_some());
    /// cancel.cancel(); // usually on another thread
    /// assert_eq!(solutions.next(), None);
    /// assert!(solutions.was_cancelled());
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn cancel_on(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Returns whether a cancellation ended the search. Methods such as `count` consume the iterator, so ask them by
    /// `solutions.by_ref().count()`.
    pub fn was_cancelled(&self) -> bool {
        self.cancel.is_cancelled() && !self.open_rows.is_empty()
    }

    /// Returns whether the iterator returns this solution, which the search has found.
    fn is_wanted(&self, solution: &Solution) -> bool {
        match &self.wanted {
            Wanted::All => true,
            Wanted::OneOfEachClass(queens) => solution.is_smallest_with(queens),
        }
    }

    /// Closes the lowest open row, and removes the queen above it.
    fn go_back(&mut self) {
        self.open_rows.pop();
        self.columns.pop();
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
                if self.is_wanted(&solution) {
                    return Some(solution);
                }
                continue;
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
