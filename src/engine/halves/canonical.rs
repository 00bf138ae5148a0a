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

use std::cmp::Ordering;

use super::half_board::Half;
use crate::size::BoardSize;

/// A canonical row set and its symmetries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CanonicalRows {
    half: u32,
    pub(crate) rows: u32,
    /// Whether k = h/2, so that all four flips keep the case.
    balanced: bool,
    pub(crate) weight: u64,
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
        Self { half, rows, balanced: 2 * north_east == half, weight: 0 }
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

    /// Whether this row set, with at least half of its rows in the north, is the smallest of its images.
    pub(crate) fn is_canonical(half: u32, rows: u32) -> bool {
        Self::without_weight(half, rows).key(rows) == rows
    }

    /// The weight of a pair of half-boards (2, 1 or 0), given the distances from the middle line of
    /// the columns whose queens are in the south.
    pub(crate) fn transposed_weight(&self, south_east: u32, south_west: u32) -> u64 {
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
        let top = self.rows >> self.half;
        let other = !south & ((1 << self.half) - 1);
        let image = match (self.balanced, half) {
            (true, _) => south.min(other),
            (false, Half::East) => south,
            (false, Half::West) => other,
        };
        image.cmp(&top)
    }
}
