//! The row sets of an off-centre unit, and its image for the second count.
//!
//! The middle row joins the southern rows of the half in which its queen stands. In the first count
//! that is the east, whose southern rows stay the same for many units.
//!
//! The second count is that of the unit's image under the half-turn: the queen of the middle column
//! stands in the north, that of the middle row in the west, and both halves change places.

use super::half_board::{Half, HalvedBoard};
use super::quadrants::{HalfRows, Piece};
use crate::engine::pass::Pass;

/// An off-centre unit on the board on which it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffCentre {
    half: u32,
    /// The outer rows of both halves.
    pub(crate) east: u32,
    west: u32,
    /// The row of the middle column's queen.
    queen: u32,
    /// The half with the middle row's queen.
    middle_row: Half,
    /// That queen stands nearer to the centre than the middle column's: in one of this many columns.
    middle_columns: u32,
}

impl OffCentre {
    pub(crate) fn new(board: HalvedBoard, below: u32, east: u32) -> Self {
        let half = board.half;
        let queen = half + below;
        let west = !(east | 1 << (queen - 1)) & (u32::MAX >> (32 - 2 * half));
        Self { half, east, west, queen, middle_row: Half::East, middle_columns: below - 1 }
    }

    /// The unit as it is counted for the first or the second time.
    pub(crate) fn in_pass(self, pass: Pass) -> Self {
        let turned = |rows: u32| rows.reverse_bits() >> (32 - 2 * self.half);
        match pass {
            Pass::First => self,
            Pass::Second => Self {
                east: turned(self.west),
                west: turned(self.east),
                queen: 2 * self.half - self.queen,
                middle_row: self.middle_row.other(),
                ..self
            },
        }
    }

    /// The rows of one half.
    pub(crate) fn rows_of(&self, half: Half, piece: Piece) -> HalfRows {
        let rows = if half == Half::East { self.east } else { self.west };
        let middle_columns = if half == self.middle_row { self.middle_columns } else { 0 };
        let middle_queen = Some(self.queen);
        // All groups count, whatever the rows.
        HalfRows { half, rows, deciding_rows: 0, middle_queen, middle_columns, piece }
    }

    /// The numbers of rows of the larger quadrant in the east and in the west, given the number in the
    /// north-east. With the middle row, each half has h rows.
    pub(crate) fn larger_quadrants(pass: Pass, half: u32, north_east: u32) -> [u32; 2] {
        // Without the middle row and that of the middle column's queen, the north has h rows and the
        // south h - 1 in the first count, the other way round in the second.
        let north_west = match pass {
            Pass::First => half - north_east,
            Pass::Second => (half - 1).saturating_sub(north_east),
        };
        [north_east, north_west].map(|north| north.max(half - north))
    }
}
