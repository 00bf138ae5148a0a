//! Half-boards: h queens on one half of the board, one in each column and in each of h given rows.
//!
//! **What a word holds.** In either half let j = 0..h-1 be the distance of a column from the middle
//! line. A queen in row r at distance j stands on the diagonals u = r - j and v = r + j. With
//! s = 1 for even and s = 2 for odd boards, an east queen attacks a west queen exactly if
//! u_east = v_west + s or v_east = u_west - s. So one word describes the half-board completely:
//!
//! ```text
//!     bits 0 .. f-1       U: bit u - s      f = n - s bits of each family cross the middle line
//!     bits f .. 2f-1      V: bit v
//!     bit  2f             odd boards only: v = n - 2, which does not reach the other half but
//!                         may be blocked by the queen of the middle column
//! ```
//!
//! An east word clashes with a west word if they share a bit after the two fields of one of them are
//! swapped.
//!
//! **How they are made.** A half-board is a north and a south quadrant with complementary column
//! sets that share no diagonal; all diagonals that they can share are in the word. So the list of
//! words of every (row set, column set) of a quadrant is kept, in the coordinates of the north and
//! of the south, and half-boards are made by comparing two short lists, a vector at a time. They
//! are grouped by the column set of the south, so that whole groups can be skipped.

use super::kernel::JoinKernel;
use super::word_list::{PIECE, WordList};
use crate::cancel::Cancel;

/// The first bit of the second family of diagonals in a word of quadrant coordinates.
const RAW_FIELD: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// The columns right of the middle line.
    East,
    /// Those left of it.
    West,
}

/// The measures of a board that is cut into halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HalvedBoard {
    pub(crate) size: u32,
    /// Columns of one half.
    pub(crate) half: u32,
    /// Rows between the northern and the southern quadrants: 1 if `size` is odd.
    pub(crate) gap: u32,
}

impl HalvedBoard {
    pub(crate) fn new(size: u32) -> Self {
        Self { size, half: size / 2, gap: size % 2 }
    }

    /// The number of diagonals of each family that cross both halves.
    pub(crate) fn field(self) -> u32 {
        self.size - 1 - self.gap
    }

    /// The word of diagonals u and v, without those that a word does not hold.
    pub(crate) fn word(self, u: u32, v: u32) -> u64 {
        let shift = 1 + self.gap;
        let rising = if (shift..self.size).contains(&u) { 1 << (u - shift) } else { 0 };
        let falling = if v + 1 < self.size { 1 << (self.field() + v) } else { 0 };
        rising | falling
    }

    /// Converts a word of quadrant coordinates to that of a northern quadrant.
    pub(crate) fn north(self, raw: u64) -> u64 {
        let rising = (raw & u64::from(u32::MAX)) >> (self.half - 1 + 1 + self.gap);
        rising | (raw >> RAW_FIELD) << self.field()
    }

    /// Converts a word of quadrant coordinates to that of a southern quadrant.
    pub(crate) fn south(self, raw: u64) -> u64 {
        let rising = raw & u64::from(u32::MAX);
        let falling = (raw >> RAW_FIELD) << (self.half + self.gap);
        rising | (falling & ((1 << (self.size - 1)) - 1)) << self.field()
    }

    /// The diagonals of one square in quadrant coordinates: u + h - 1 and v.
    pub(crate) fn raw_square(self, row: u32, column: u32) -> u64 {
        1 << (row + self.half - 1 - column) | 1 << (RAW_FIELD + row + column)
    }
}

/// Appends all half-boards of the two lists; fewer after a cancellation.
pub(crate) fn append_half_boards(
    kernel: JoinKernel,
    north: &[u64],
    south: &[u64],
    out: &mut WordList,
    cancel: &Cancel,
) {
    let (short, long) = if north.len() <= south.len() { (north, south) } else { (south, north) };
    for long in long.chunks(PIECE) {
        for short in short.chunks(PIECE / long.len()) {
            if cancel.is_cancelled() {
                return;
            }
            let count = kernel.combine(short, long, out.room(short.len() * long.len()));
            out.grow(count);
        }
    }
}
