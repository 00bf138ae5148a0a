//! Engine `column-array`: one column for each row, compared pair by pair.
//!
//! **Counts** the solutions whose queen in the first row stands in a given column.
//!
//! **Idea.** `columns[row]` is the column of that row's queen. Two queens attack each other if their columns are
//! equal or as far apart as their rows: |row - row'| = |column - column'|.
//!
//! **Compared with `board-scan`.** The board is n numbers instead of n² squares, and a test checks the queens placed
//! so far instead of the squares between them.
//!
//! **Time** O(n) for each square tried. **Memory** O(n).
//!
//! **Sources.** N. Wirth, *Algorithms + Data Structures = Programs*, 1976, section 3.5, describes the step from the
//! board to the array.

use crate::cancel::Cancel;

pub(crate) fn count(n: usize, first_column: usize, cancel: &Cancel) -> u64 {
    extend(&mut vec![first_column], n, cancel)
}

/// Counts the ways to fill the remaining rows.
fn extend(columns: &mut Vec<usize>, n: usize, cancel: &Cancel) -> u64 {
    if columns.len() == n {
        return 1;
    }
    if cancel.is_cancelled() {
        return 0;
    }
    let mut solutions = 0;
    for column in 0..n {
        if is_safe(columns, column) {
            columns.push(column);
            solutions += extend(columns, n, cancel);
            columns.pop();
        }
    }
    solutions
}

/// Returns whether a queen in the next row and this column attacks none of the queens placed so far.
fn is_safe(columns: &[usize], column: usize) -> bool {
    let row = columns.len();
    columns
        .iter()
        .enumerate()
        .all(|(above, &taken)| taken != column && taken.abs_diff(column) != row - above)
}
