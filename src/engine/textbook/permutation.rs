//! Engine `permutation`: every permutation in lexicographic order, diagonals tested at the end.
//!
//! **Counts** the solutions whose queen in the first row stands in a given column.
//!
//! **Idea.** An arrangement with one queen in each row and each column is a permutation: the queen of row `r` stands
//! in column `columns[r]`. Go through all permutations, and keep each one in which no two queens share a diagonal.
//!
//! **Compared with the others.** The oldest and slowest engine. Nothing is pruned, so a clash between the first two
//! rows is found again for each of the (n - 2)! orders of the rest.
//!
//! **Time** O(n! n²) at worst, in practice a few comparisons for each permutation. **Memory** O(n).
//!
//! **Sources.** The next permutation in lexicographic order is Narayana Pandita's (14th century): D. E. Knuth, *The
//! Art of Computer Programming* 7.2.1.2, Algorithm L.

use crate::cancel::Cancel;

pub(crate) fn count(n: usize, first_column: usize, cancel: &Cancel) -> u64 {
    let mut columns = vec![first_column];
    columns.extend((0..n).filter(|column| *column != first_column));
    let mut solutions = 0;
    while !cancel.is_cancelled() {
        solutions += u64::from(no_shared_diagonal(&columns));
        if !next_permutation(&mut columns[1..]) {
            break;
        }
    }
    solutions
}

/// Returns whether no two queens share a diagonal: whether no two are equally many rows and columns apart.
fn no_shared_diagonal(columns: &[usize]) -> bool {
    (1..columns.len())
        .all(|row| (0..row).all(|above| row - above != columns[row].abs_diff(columns[above])))
}

/// Advances to the next permutation in lexicographic order. Returns false after the last one.
fn next_permutation(items: &mut [usize]) -> bool {
    // The longest falling tail is the last of its permutations, so the item before it must grow.
    let Some(pivot) = items.windows(2).rposition(|pair| pair[0] < pair[1]) else {
        return false;
    };
    let Some(successor) = items.iter().rposition(|item| *item > items[pivot]) else {
        unreachable!("the item after the pivot is larger");
    };
    items.swap(pivot, successor);
    items[pivot + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_permutations_come_in_order() {
        let mut items = [0, 1, 2, 3];
        let mut previous = items;
        let mut seen = 1;
        while next_permutation(&mut items) {
            assert!(previous < items);
            previous = items;
            seen += 1;
        }
        assert_eq!((seen, items), (24, [3, 2, 1, 0]));
    }
}
