//! Placements one by one, in lexicographic order of their columns.
//!
//! The search is that of engine `bitmask`, with a stack of its own, so that it can stop at each
//! solution and go on from there. Nothing is held but the current placement.

use crate::size::BoardSize;
use crate::solution::Solution;
use crate::square::FixedQueens;

/// The placements of a board; an iterator.
///
/// ```
/// use nqueens::{BoardSize, Placements};
///
/// let columns: Vec<Vec<u8>> =
///     Placements::new(BoardSize::new(4)?).map(|solution| solution.columns().to_vec()).collect();
/// assert_eq!(columns, [[1, 3, 0, 2], [2, 0, 3, 1]]);
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Placements {
    size: BoardSize,
    allowed: [u32; BoardSize::MAX as usize],
    /// One level for each row that is being tried.
    levels: Vec<Level>,
    /// The queens of the rows above the last level.
    columns: Vec<u8>,
}

/// The search at one row.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Columns taken, and squares of this row attacked along diagonals.
    columns: u32,
    falling: u32,
    rising: u32,
    /// Squares of this row that are left to try.
    free: u32,
}

impl Level {
    fn with_queen(self, queen: u32, allowed: u32) -> Self {
        let columns = self.columns | queen;
        let falling = (self.falling | queen) << 1;
        let rising = (self.rising | queen) >> 1;
        Self { columns, falling, rising, free: allowed & !(columns | falling | rising) }
    }
}

impl Placements {
    /// All placements of a board.
    #[must_use]
    pub fn new(size: BoardSize) -> Self {
        Self::with_queens(size, &FixedQueens::default())
    }

    /// The placements that have these queens.
    #[must_use]
    pub fn with_queens(size: BoardSize, queens: &FixedQueens) -> Self {
        let allowed = queens.allowed(size);
        let first = Level { columns: 0, falling: 0, rising: 0, free: allowed[0] };
        Self { size, allowed, levels: vec![first], columns: Vec::new() }
    }

    /// Goes on with the first placement after this one; nothing happens if it is of another size.
    #[must_use]
    pub fn after(mut self, solution: &Solution) -> Self {
        if solution.columns().len() != self.size.rows() {
            return self;
        }
        // The empty placement is the only one of its board.
        self.levels.truncate(self.size.rows().min(1));
        self.columns.clear();
        for (row, column) in solution.columns().iter().enumerate() {
            let queen = 1u32 << column;
            let Some(level) = self.levels.last_mut() else { break };
            let was_free = self.allowed[row] & level.free & queen != 0;
            // Smaller columns, and this one if it can be gone on from, are done with.
            level.free &= !(queen - 1);
            if !was_free || row + 1 == self.size.rows() {
                if was_free {
                    level.free &= !queen;
                }
                break;
            }
            level.free &= !queen;
            let below = level.with_queen(queen, self.allowed[row + 1]);
            self.levels.push(below);
            self.columns.push(*column);
        }
        self
    }
}

impl Iterator for Placements {
    type Item = Solution;

    fn next(&mut self) -> Option<Solution> {
        let n = self.size.rows();
        loop {
            let row = self.columns.len();
            let level = self.levels.last_mut()?;
            if n == 0 {
                // The empty board has one placement, the empty one.
                self.levels.clear();
                return Some(Solution::of_legal(Vec::new()));
            }
            if level.free == 0 {
                self.levels.pop();
                self.columns.pop();
                continue;
            }
            let queen = level.free & level.free.wrapping_neg();
            level.free ^= queen;
            #[expect(clippy::cast_possible_truncation, reason = "a column is below 32")]
            let column = queen.trailing_zeros() as u8;
            if row + 1 == n {
                let mut columns = self.columns.clone();
                columns.push(column);
                return Some(Solution::of_legal(columns));
            }
            let below = level.with_queen(queen, self.allowed[row + 1]);
            self.columns.push(column);
            self.levels.push(below);
        }
    }
}

/// One placement on a board of any size, without a search: the columns of the rows, counted from 0.
/// `None` for n = 2 and 3, which have none.
///
/// Even numbers first, then the odd ones; for n mod 6 = 2 and 3 a few of them change places.
/// Legal for all other n >= 4 (E. Pauls, Deutsche Schachzeitung 29, 1874; E. J. Hoffman, J. C.
/// Loessi, R. C. Moore, "Constructions for the Solution of the m Queens Problem", Mathematics
/// Magazine 42, 1969); [`is_legal`] checks it.
#[must_use]
pub fn one_placement(n: u32) -> Option<Vec<u32>> {
    if n == 2 || n == 3 {
        return None;
    }
    let (mut even, mut odd): (Vec<u32>, Vec<u32>) = (1..=n).partition(|column| column % 2 == 0);
    match n % 6 {
        2 => {
            odd.swap(0, 1); // 3, 1, then 7 ...
            let five = odd.remove(2);
            odd.push(five);
        }
        3 => {
            even.rotate_left(1); // 4, 6, ..., 2
            odd.rotate_left(2); // 5, 7, ..., 1, 3
        }
        _ => {}
    }
    even.append(&mut odd);
    Some(even.into_iter().map(|column| column - 1).collect())
}

/// Whether queens in these columns, one in each row, do not attack each other.
#[must_use]
pub fn is_legal(columns: &[u32]) -> bool {
    let n = columns.len();
    let mut lines = [vec![false; n], vec![false; 2 * n], vec![false; 2 * n]];
    columns.iter().enumerate().all(|(row, column)| {
        let column = *column as usize;
        column < n
            && [column, row + column, row + n - column]
                .into_iter()
                .zip(&mut lines)
                .all(|(line, taken)| !std::mem::replace(&mut taken[line], true))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: u32) -> BoardSize {
        BoardSize::new(n).expect("in range")
    }

    #[test]
    fn the_list_goes_on_after_any_placement() {
        for n in 0..=8 {
            let all: Vec<Solution> = Placements::new(size(n)).collect();
            for (place, solution) in all.iter().enumerate() {
                let rest: Vec<Solution> = Placements::new(size(n)).after(solution).collect();
                assert_eq!(rest, all[place + 1..], "n = {n}, after {place}");
            }
        }
    }

    /// A placement that the fixed queens exclude still has a place in the order.
    #[test]
    fn the_list_goes_on_after_a_placement_that_it_does_not_hold() {
        let queens =
            FixedQueens::new(size(7), &["c1".parse().expect("a square")]).expect("one queen");
        let all: Vec<Solution> = Placements::with_queens(size(7), &queens).collect();
        assert_eq!(all.len(), 6);
        for solution in Placements::new(size(7)) {
            let rest: Vec<Solution> =
                Placements::with_queens(size(7), &queens).after(&solution).collect();
            let expected: Vec<Solution> =
                all.iter().filter(|other| **other > solution).cloned().collect();
            assert_eq!(rest, expected, "after {:?}", solution.columns());
        }
    }

    #[test]
    fn the_construction_is_legal() {
        assert_eq!((one_placement(2), one_placement(3)), (None, None));
        for n in (0..2).chain(4..600).chain([10_000, 100_001, 100_002]) {
            let columns = one_placement(n).expect("there is one");
            assert_eq!(columns.len(), n as usize);
            assert!(is_legal(&columns), "n = {n}");
        }
        assert!(!is_legal(&[0, 2, 4, 1, 3, 5]) && !is_legal(&[0, 0]) && !is_legal(&[1]));
    }
}
