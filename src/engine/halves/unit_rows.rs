//! A unit on the board on which it is counted: the rows of both halves, and which groups of half-boards
//! count.
//!
//! **Off-centre units.** The middle row joins the southern rows of the half in which its queen stands. In
//! the first count that is the east, whose southern rows stay the same for many units.
//!
//! The second count is that of the unit's image under the half-turn: the queen of the middle column
//! stands in the north, that of the middle row in the west, and both halves change places.

use std::cmp::Ordering;

use super::canonical::CanonicalRows;
use super::half_board::{Half, HalvedBoard, Quadrant};
use super::quadrants::{HalfRows, Piece};
use super::units::Unit;
use crate::engine::unit::Pass;

/// A unit on the board on which it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnitRows {
    /// The row sets, and the row of the queen in the centre of an odd board.
    Canonical(CanonicalRows, Option<u32>),
    OffCentre(OffCentre),
}

impl UnitRows {
    /// The unit as it is counted for the first or the second time.
    pub(crate) fn new(board: HalvedBoard, unit: Unit, pass: Pass) -> Self {
        match unit {
            Unit::Canonical { rows } => {
                let canonical = CanonicalRows::new(board.half, rows).in_pass(pass);
                Self::Canonical(canonical, (board.gap == 1).then_some(board.half))
            }
            Unit::OffCentre { below, rows } => {
                Self::OffCentre(OffCentre::new(board, below, rows).in_pass(pass))
            }
        }
    }

    /// The rows of one half.
    pub(crate) fn rows_of(&self, half: Half, piece: Piece) -> HalfRows {
        match self {
            Self::OffCentre(unit) => unit.rows_of(half, piece),
            Self::Canonical(unit, middle_queen) => HalfRows {
                half,
                rows: unit.rows_of(half),
                deciding_rows: unit.top_rows(),
                middle_queen: *middle_queen,
                middle_columns: 0,
                piece,
                returning: None,
            },
        }
    }

    /// Whether a group with these southern columns counts with all of the other half (`Greater`), with
    /// some of it (`Equal`: the group ties), or not at all.
    pub(crate) fn compare_group(&self, half: Half, south: u32) -> Ordering {
        match self {
            Self::Canonical(unit, _) => unit.compare_group(half, south),
            Self::OffCentre(_) => Ordering::Greater,
        }
    }

    /// How many times a pair of half-boards counts that does not tie.
    pub(crate) fn strict_weight(&self) -> u64 {
        match self {
            Self::Canonical(..) => 2,
            Self::OffCentre(_) => 1,
        }
    }

    /// How many times a pair of half-boards counts (2, 1 or 0), given their southern columns.
    pub(crate) fn pair_weight(&self, south_east: u32, south_west: u32) -> u64 {
        match self {
            Self::Canonical(unit, _) => unit.transposed_weight(south_east, south_west),
            Self::OffCentre(_) => 1,
        }
    }
}

/// An off-centre unit on the board on which it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffCentre {
    half: u32,
    /// The outer rows of both halves.
    east: u32,
    west: u32,
    /// The row of the middle column's queen.
    queen: u32,
    /// The half with the middle row's queen.
    middle_row: Half,
    /// That queen stands nearer to the centre than the middle column's: in one of this many columns.
    middle_columns: u32,
}

impl OffCentre {
    fn new(board: HalvedBoard, below: u32, east: u32) -> Self {
        let half = board.half;
        let queen = half + below;
        let west = !(east | 1 << (queen - 1)) & (u32::MAX >> (32 - 2 * half));
        Self { half, east, west, queen, middle_row: Half::East, middle_columns: below - 1 }
    }

    /// The unit as it is counted for the first or the second time.
    fn in_pass(self, pass: Pass) -> Self {
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
    fn rows_of(&self, half: Half, piece: Piece) -> HalfRows {
        let rows = if half == Half::East { self.east } else { self.west };
        let middle_columns = if half == self.middle_row { self.middle_columns } else { 0 };
        let middle_queen = Some(self.queen);
        // The half-turn of the second count moves the northern row sets to the south.
        let returning = Some(match self.middle_row {
            Half::East => Quadrant::North,
            Half::West => Quadrant::South,
        });
        // All groups count, whatever the rows.
        HalfRows { half, rows, deciding_rows: 0, middle_queen, middle_columns, piece, returning }
    }
}
