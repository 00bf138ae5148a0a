//! Half-boards: h queens on one half of the board, one in each column and in each of h given rows.
//!
//! **What a word holds.** In either half let j = 0..h-1 be the distance of a column from the middle
//! line. A queen in row r at distance j stands on the diagonals u = r - j and v = r + j. With
//! s = 1 for even and s = 2 for odd boards, an east queen attacks a west queen exactly if
//! u_east = v_west + s or v_east = u_west - s. So one word describes the half-board completely:
//!
//! ```text
//!                         east          west
//!     bits 0 .. f-1       U: bit u - s  V: bit v      f = n - s diagonals of each family cross
//!     bits f .. 2f-1      V: bit v      U: bit u - s  the middle line
//! ```
//!
//! The fields of the west are swapped, so two half-boards fit exactly if their words share no bit.
//!
//! **How they are made.** A half-board is a north and a south quadrant with complementary column
//! sets that share no diagonal; all diagonals that they can share are in the word. So the list of
//! words of every column set of a quadrant is kept, and half-boards are made by comparing two short
//! lists, a vector at a time. They are grouped by the column set of the south, so that whole groups
//! can be skipped.
//!
//! **Raw words.** The lists of quadrants grow in the coordinates of the quadrant, in which the north
//! and the south, the east and the west look the same:
//!
//! ```text
//!     row 0               the middle row of an odd board, above the southern quadrant
//!     rows 1 .. h         the rows of the quadrant
//!     bits 0 .. 31        bit row + h - 1 - j     the diagonals of u
//!     bits 32 .. 63       bit 32 + row + j        those of v
//! ```
//!
//! A raw word has all diagonals of its queens, so what a queen of the middle column attacks can be
//! found in it. Those that do not cross the middle line are dropped when a word is moved to the places
//! of the join.

use super::kernel::BitMove;

/// The bits of one family of diagonals in a raw word.
const RAW_FIELD: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// The columns right of the middle line.
    East,
    /// Those left of it.
    West,
}

impl Half {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::East => Self::West,
            Self::West => Self::East,
        }
    }
}

/// One of the two quadrants of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quadrant {
    /// Rows 0..h.
    North,
    /// The last h rows.
    South,
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

    /// The diagonals of one square as a raw word, if they are among those of a quadrant. The middle
    /// column is column -1, because it is as far from the middle line as column 0, on the other side.
    pub(crate) fn raw(self, row: i32, column: i32) -> u64 {
        let bit = |at: i32| if (0..RAW_FIELD as i32).contains(&at) { 1 << at } else { 0 };
        bit(row + self.half as i32 - 1 - column) | bit(row + column) << RAW_FIELD
    }

    /// The diagonals of the middle column's queen in a quadrant, as a raw word. It stands in `row` of
    /// the board.
    pub(crate) fn raw_middle_column(self, quadrant: Quadrant, row: u32) -> u64 {
        self.raw(row as i32 - self.raw_row_0(quadrant), -1)
    }

    /// The row of the board that is row 0 of a quadrant.
    fn raw_row_0(self, quadrant: Quadrant) -> i32 {
        match quadrant {
            Quadrant::North => -1,
            Quadrant::South => (self.half + self.gap) as i32 - 1,
        }
    }

    /// How the diagonals of a raw word move to the places that they have in the join; those that do not
    /// cross the middle line are dropped.
    pub(crate) fn moves(self, quadrant: Quadrant, half: Half) -> [BitMove; 2] {
        let (size, field) = (self.half as i32, self.field() as i32);
        let row_0 = self.raw_row_0(quadrant);
        let (rising_field, falling_field) = match half {
            Half::East => (0, field),
            Half::West => (field, 0),
        };
        // A raw bit `at` of a family is bit `at + shift` of its field, if that is in 0..field.
        let crossing = |raw_field: i32, to_field: i32, shift: i32| {
            let places = shift.max(0)..field.min(RAW_FIELD as i32 + shift);
            let mask = ((1_u64 << places.end) - (1 << places.start)) << to_field;
            BitMove { shift: shift + to_field - raw_field, mask }
        };
        [
            crossing(0, rising_field, row_0 - size - self.gap as i32),
            crossing(RAW_FIELD as i32, falling_field, row_0),
        ]
    }
}
