//! The reduction by all eight symmetries: a few cases, each with the squares that it forbids.
//!
//! Each of the four border lines (first row, last column, last row, first column) holds one queen. The queen has two
//! distances, one from each end of its line, so a solution has eight *border distances*. The eight symmetries of the
//! square permute them. Each of the eight places of a border distance is reached from the first place by exactly one
//! symmetry:
//!
//! ```text
//!        a →      ← .              a: first row from the left    (this place: "top")
//!      ↓ . . Q . . . . ↓           right:  last column from the top
//!      . . . . . . . . right       bottom: last row from the right
//!      . . . . . . . . .           left:   first column from the bottom
//!      left  . . . . . .           These four are the images of `top` under rotations; the
//!      ↑     bottom ←  ↑           other four, marked by bare arrows, are those under reflections.
//! ```
//!
//! Count only solutions in which `top` is the smallest of the eight distances. An orbit is a solution with its
//! images. In an orbit of eight images, one image is counted for each place that shares the smallest value. Which
//! places can share it?
//!
//! * **`top` = 0: a corner queen.** The queen stands on two borders, so two places share the value, and the
//!   reflection in the main diagonal exchanges them. No other corner can hold a queen as well. This reflection also
//!   exchanges "the column of row 1's queen" and "the row of column 1's queen". The two numbers differ: if they were
//!   equal, the two queens would attack each other, or be one queen on the diagonal of the corner queen. Count only
//!   solutions in which the former is smaller: column 1 is forbidden down to row `column of row 1's queen`. There is
//!   one case for each such column, with weight 8.
//! * **`top` = a > 0.** A reflected place cannot share the value: its queen would stand in the column of the first
//!   row's queen or on a diagonal with it. (A queen in the middle of the first row would need all four border queens
//!   in the middle of their lines.) The rotated places can share the value. Let T be the set of the places among
//!   {right, bottom, left} that equal a. Rotating another of the tied places to the top shows which sets belong to
//!   one orbit:
//!
//! | T | in one orbit with | counted | weight |
//! |---|---|---|---|
//! | none | | | 8 |
//! | right | left | right | 8 |
//! | bottom | | bottom | 4: two of eight images are counted, or one of the four of a half-turn solution |
//! | right, bottom | right, left; bottom, left | right, bottom | 8 |
//! | all | | all | 2: four of eight images, two of four, or one of two |
//!
//! The queen of a place in T is known from the start: all other squares of its row, and all squares that it attacks,
//! are forbidden. The values of places outside T must be larger than a, so squares near the corners are forbidden.

use crate::board::size::{BoardSize, Squares};
use crate::board::square::{Square, squares_left_by};

/// A part of the solutions: the queen of each row stands in a column that the case allows there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// The columns in which the queen of each row may stand, as bits.
    pub(super) allowed: Squares,
    /// The number of solutions of the board that each solution of the case stands for.
    pub(super) weight: u64,
}

/// Returns all cases of a board of at least four rows. The sum of weight times solutions over the cases is the total.
pub(super) fn all(size: BoardSize) -> Vec<Case> {
    let n = size.get();
    debug_assert!(n >= 4, "smaller boards have no two distinct borders");
    let mut cases = Vec::new();
    for second_column in 2..size.rows() {
        cases.push(corner_case(size, second_column));
    }
    for distance in 1..n / 2 {
        cases.extend(border_cases(size, distance));
    }
    cases
}

/// Returns the case with queens at (0, 0) and (1, `second_column`).
fn corner_case(size: BoardSize, second_column: usize) -> Case {
    let mut allowed = size.squares();
    allowed[0] = 1;
    allowed[1] = 1 << second_column;
    for row in &mut allowed[2..=second_column] {
        *row &= !0b10;
    }
    Case { allowed, weight: 8 }
}

/// Returns the cases with the first row's queen at `distance` from the left: one for each set of tied places that is
/// counted, unless two of its queens attack each other.
fn border_cases(size: BoardSize, distance: u32) -> Vec<Case> {
    let last = size.get() - 1;
    let right = Square { row: distance, column: last };
    let bottom = Square { row: last, column: last - distance };
    let left = Square { row: last - distance, column: 0 };
    let ties: [(&[Square], u64); 5] = [
        (&[], 8),
        (&[right], 8),
        (&[bottom], 4),
        (&[right, bottom], 8),
        (&[right, bottom, left], 2),
    ];
    let mut cases = Vec::new();
    for (tied, weight) in ties {
        // Only the tied queens are fixed here, because the search itself carries the attacks of the first row's queen
        // down.
        if let Ok(left) = squares_left_by(tied, size) {
            let allowed = border_allowed(size, distance, tied, left);
            cases.push(Case { allowed, weight });
        }
    }
    cases
}

/// Returns the columns that a case allows in each row, if these places are tied with the first row's queen at
/// `distance`, and their queens leave these squares. The distances of all other places must be larger.
fn border_allowed(size: BoardSize, distance: u32, tied: &[Square], left: Squares) -> Squares {
    let last = size.get() - 1;
    // The columns from 0 to `distance`: queens in these columns of the last row would be too near a corner.
    let left_corner = (2 << distance) - 1;
    let right_corner = left_corner << (last - distance);
    let mut allowed = left;
    allowed[0] &= 1 << distance;
    for row in 1..=last {
        if tied.iter().any(|queen| queen.row == row) {
            continue;
        }
        if row == last {
            allowed[row as usize] &= !(left_corner | right_corner);
        } else if row <= distance || row >= last - distance {
            // A queen in the first or in the last column would be too near a corner.
            allowed[row as usize] &= !(1 | 1 << last);
        }
    }
    allowed
}
