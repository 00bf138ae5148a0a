//! Engine `board-scan`: a 0/1 board, scanned upwards and along both diagonals.
//!
//! **Counts** the solutions whose queen in the first row stands in a given column.
//!
//! **Idea.** Fill the board row by row. A square is safe if no queen stands above it in its column, on the diagonal
//! towards the upper left or on the diagonal towards the upper right. To find out, walk along the three lines square
//! by square. When a row has no safe square left, go back to the previous row.
//!
//! **Compared with `permutation`.** A prefix with a clash is abandoned at once, with everything below it.
//!
//! **Time** O(n) for each of the n squares tried at each node of the search tree. **Memory** O(n²).
//!
//! **Sources.** The way the problem is usually taught. For backtracking itself: R. J. Walker, "An enumerative
//! technique for a class of combinatorial problems", 1960.

use crate::cancel::Cancel;

/// `board[row][column]` is true where a queen stands.
type Board = Vec<Vec<bool>>;

pub(crate) fn count(n: usize, first_column: usize, cancel: &Cancel) -> u64 {
    let mut board = vec![vec![false; n]; n];
    board[0][first_column] = true;
    fill_from(&mut board, 1, cancel)
}

/// Counts the ways to fill the rows from this one on.
fn fill_from(board: &mut Board, row: usize, cancel: &Cancel) -> u64 {
    let n = board.len();
    if row == n {
        return 1;
    }
    if cancel.is_cancelled() {
        return 0;
    }
    let mut solutions = 0;
    for column in 0..n {
        if is_safe(board, row, column) {
            board[row][column] = true;
            solutions += fill_from(board, row + 1, cancel);
            board[row][column] = false;
        }
    }
    solutions
}

/// Returns whether no queen in the rows above attacks this square.
fn is_safe(board: &Board, row: usize, column: usize) -> bool {
    let n = board.len();
    let above = (0..row).any(|up| board[up][column]);
    let upper_left = (1..=row.min(column)).any(|step| board[row - step][column - step]);
    let upper_right = (1..=row.min(n - 1 - column)).any(|step| board[row - step][column + step]);
    !(above || upper_left || upper_right)
}
