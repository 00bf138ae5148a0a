//! Engine `bitmask`: three words of flags, lowest free bit first.
//!
//! **Counts** the solutions whose queen in the first row stands in a given column.
//!
//! **Idea.** Bit c of a word stands for column c of the current row. One word holds the columns that are taken. Two
//! more hold the squares of this row that earlier queens attack along falling and along rising diagonals. One row
//! further down, a falling diagonal has moved one column up, and a rising one has moved one column down. So two
//! shifts take the whole state to the next row.
//!
//! ```text
//! columns  0 1 2 3 4 5
//! row r    . . Q . . .     bit 2
//! row r+1  . r . f . .     rising: bit >> 1, falling: bit << 1
//! row r+2  r . . . f .     rising: bit >> 2, falling: bit << 2
//! ```
//!
//! The free squares of a row are the zeros of the union. The lowest free square is `free & -free`.
//!
//! **Compared with `bool-arrays`.** Attacked squares are never visited.
//!
//! **Time** O(1) for each node of the search tree, about 77 nodes for each solution at n = 16. **Memory** O(n) of
//! stack.
//!
//! **Sources.** J. Somers, "The N Queens Problem: a study in optimization", 1999–2002. M. Richards, "Backtracking
//! algorithms in MCPL using bit patterns and recursion", 1997.

use crate::cancel::Cancel;

pub(crate) fn count(n: usize, first_column: usize, cancel: &Cancel) -> u64 {
    let board = u32::MAX >> (32 - n);
    let queen = 1 << first_column;
    fill(board, queen, queen << 1, queen >> 1, cancel)
}

/// Counts the ways to fill the remaining rows.
fn fill(board: u32, columns: u32, falling: u32, rising: u32, cancel: &Cancel) -> u64 {
    if columns == board {
        return 1;
    }
    if cancel.is_cancelled() {
        return 0;
    }
    let mut solutions = 0;
    let mut free = board & !(columns | falling | rising);
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        solutions +=
            fill(board, columns | queen, (falling | queen) << 1, (rising | queen) >> 1, cancel);
    }
    solutions
}
