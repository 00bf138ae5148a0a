//! Canonical row sets: one E of each orbit under the flips, and the weight of its half-boards.
//!
//! Let rev be the reversal of 2h bits, ~ the complement, k the number of queens in the north-east
//! quadrant, and G the set of outer columns whose queen is in the south.
//!
//! * k ≠ h/2: only k > h/2 is counted, with weight 2. A half-turn maps E to r(E) = rev ~E; the
//!   smaller of the two is counted, with another factor of 2 unless they are equal.
//! * k = h/2: the smallest of E, rev E, ~E, rev ~E is counted, weighted by the number of distinct ones.
//! * Transposing swaps E and G. Let key(X) be the smallest image of X under the maps of its case.
//!   A pair counts twice if key(G) > key(E), once if they are equal, and otherwise not at all.
//!
//! The top half of key(G) is the minimum of numbers that each depend on one half-board alone. So nearly
//! all pairs are decided by leaving whole groups out of the lists. Only the few groups that *tie* with
//! the top half of E are joined one by one, with the groups of the other half that give weight 2 or 1.
//!
//! **The second count** of a unit is that of its image under the half-turn. The row sets are then
//! rev ~E in the east and rev E in the west. A half-turned half-board of one half is one of the other,
//! and the columns that its southern queens take are those that the northern ones took before. So
//! the groups are compared as those of the other half, with the complements of their columns. If
//! E = rev ~E, the half-turn would change nothing, and the rows are flipped instead.

use std::cmp::Ordering;

use super::half_board::Half;
use crate::board::size::BoardSize;
use crate::engine::unit::Pass;

/// A canonical row set and its symmetries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CanonicalRows {
    half: u32,
    rows: u32,
    /// Whether k = h/2, so that all four flips keep the case.
    balanced: bool,
    image: Image,
    pub(crate) weight: u64,
}

/// The board on which a unit is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Image {
    Itself,
    HalfTurned,
    RowsFlipped,
}

impl CanonicalRows {
    pub(crate) fn new(half: u32, rows: u32) -> Self {
        let mut canonical = Self::without_weight(half, rows);
        let mut images = canonical.images(rows);
        images.sort_unstable();
        let different = 1 + images.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
        canonical.weight = if canonical.balanced { different } else { 2 * different };
        canonical
    }

    fn without_weight(half: u32, rows: u32) -> Self {
        let north_east = (rows & ((1 << half) - 1)).count_ones();
        Self { half, rows, balanced: 2 * north_east == half, image: Image::Itself, weight: 0 }
    }

    /// The unit as it is counted for the first or the second time.
    pub(crate) fn in_pass(self, pass: Pass) -> Self {
        let is_turned_to_itself = self.reversed(self.complement(self.rows)) == self.rows;
        let image = match pass {
            Pass::First => Image::Itself,
            Pass::Second if is_turned_to_itself => Image::RowsFlipped,
            Pass::Second => Image::HalfTurned,
        };
        Self { image, ..self }
    }

    /// The outer rows of a half on the board on which the unit is counted.
    pub(crate) fn rows_of(&self, half: Half) -> u32 {
        let east = match self.image {
            Image::Itself => self.rows,
            Image::HalfTurned => self.reversed(self.complement(self.rows)),
            Image::RowsFlipped => self.reversed(self.rows),
        };
        if half == Half::East { east } else { self.complement(east) }
    }

    /// The southern rows of E, on which it depends which groups count.
    pub(crate) fn top_rows(&self) -> u32 {
        self.rows >> self.half
    }

    /// The half and the southern columns of a group before it became one of the image. They are
    /// distances from the middle line, so only a flip of the rows changes them.
    fn before_image(&self, half: Half, south: u32) -> (Half, u32) {
        let north = !south & ((1 << self.half) - 1);
        match self.image {
            Image::Itself => (half, south),
            Image::HalfTurned => (half.other(), north),
            Image::RowsFlipped => (half, north),
        }
    }

    /// The images of a set of outer rows or columns under the maps of this case.
    fn images(&self, set: u32) -> [u32; 4] {
        let turned = self.reversed(self.complement(set));
        if self.balanced {
            [set, turned, self.reversed(set), self.complement(set)]
        } else {
            [set, turned, set, turned]
        }
    }

    fn reversed(&self, set: u32) -> u32 {
        set.reverse_bits() >> (32 - 2 * self.half)
    }

    pub(crate) fn complement(&self, set: u32) -> u32 {
        !set & (u32::MAX >> (32 - 2 * self.half))
    }

    /// The outer columns in a set of columns of the whole board: all but the middle one of an odd
    /// board.
    pub(crate) fn outer_columns(&self, size: BoardSize, columns: u32) -> u32 {
        let west = (1 << self.half) - 1;
        columns & west | (columns >> (self.half + size.get() % 2) & west) << self.half
    }

    fn key(&self, set: u32) -> u32 {
        let [a, b, c, d] = self.images(set);
        a.min(b).min(c.min(d))
    }

    /// The smallest set of southern rows among the images of a row set whose southern rows come from its
    /// northern ones: all but itself and, if it is balanced, its complement.
    pub(crate) fn smallest_south_of_images(half: u32, north: u32) -> u32 {
        let reversed = |rows: u32| rows.reverse_bits() >> (32 - half);
        let turned = reversed(!north & ((1 << half) - 1));
        let is_balanced = 2 * north.count_ones() == half;
        if is_balanced { turned.min(reversed(north)) } else { turned }
    }

    /// Whether this row set, with at least half of its rows in the north, is the smallest of its images.
    pub(crate) fn is_canonical(half: u32, rows: u32) -> bool {
        Self::without_weight(half, rows).key(rows) == rows
    }

    /// The weight of a pair of half-boards (2, 1 or 0), given the distances from the middle line of
    /// the columns whose queens are in the south.
    pub(crate) fn transposed_weight(&self, south_east: u32, south_west: u32) -> u64 {
        let one = self.before_image(Half::East, south_east);
        let (_, other) = self.before_image(Half::West, south_west);
        let (south_east, south_west) = match one {
            (Half::East, one) => (one, other),
            (Half::West, one) => (other, one),
        };
        let reversed_west = south_west.reverse_bits() >> (32 - self.half);
        self.columns_weight(south_east << self.half | reversed_west)
    }

    /// The same, given the outer columns whose queens are in the south, numbered from the west.
    pub(crate) fn columns_weight(&self, columns: u32) -> u64 {
        match self.key(columns).cmp(&self.rows) {
            Ordering::Greater => 2,
            Ordering::Equal => 1,
            Ordering::Less => 0,
        }
    }

    /// Compares a group of half-boards with the top half of E: if it is less, nothing counts; if it
    /// is greater, all pairs count twice unless the group of the other half ties or is less.
    pub(crate) fn compare_group(&self, half: Half, south: u32) -> Ordering {
        let (half, south) = self.before_image(half, south);
        let other = !south & ((1 << self.half) - 1);
        let image = match (self.balanced, half) {
            (true, _) => south.min(other),
            (false, Half::East) => south,
            (false, Half::West) => other,
        };
        image.cmp(&self.top_rows())
    }
}
