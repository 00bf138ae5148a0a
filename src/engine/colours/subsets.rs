//! The subsets of the rows or columns of one parity, in an order in which subsets that are alike in the centre are
//! neighbours.
//!
//! The numbers 0..len are divided into the centre and the outer numbers, three at either end:
//!
//! ```text
//!     0 1 2 | 3 4 5 6 | 7 8 9        len = 10
//!     outer   centre    outer
//! ```
//!
//! Subsets of the same size are compared by their numbers in the centre, then by their outer numbers, both as the
//! digits of a binary number. Subsets with the same numbers in the centre are a **class**: at most (6 choose 3) = 20
//! neighbours in the order. The complement reverses the order. The rules of [`units`](super::units) need no other
//! property of the order.

use std::ops::Range;

/// The number of outer numbers at either end.
const OUTER: u32 = 3;
/// The row sets of a class, at most: 3 of the 6 outer rows.
pub(super) const MAX_SETS: usize = 20;
/// The most rows of a sub-board.
pub(super) const MAX_ROWS: usize = 16;

/// All subsets of 0..len, by size and in order.
pub(super) struct Subsets {
    len: u32,
    /// The subsets by their size, in order.
    by_size: Vec<Vec<u32>>,
    /// The place of each subset among the subsets of its size.
    rank: Vec<u32>,
    /// The ranks of each class, by size, in order.
    classes: Vec<Vec<Range<u32>>>,
}

impl Subsets {
    /// Makes the subsets of 0..len, where len is at most 16.
    pub(super) fn new(len: u32) -> Self {
        let mut subsets = Self {
            len,
            by_size: vec![Vec::new(); len as usize + 1],
            rank: vec![0; 1 << len],
            classes: Vec::new(),
        };
        let outer = subsets.outer();
        let mut sets: Vec<u32> = (0..1 << len).collect();
        sets.sort_by_key(|set| (set & !outer, set & outer));
        for set in sets {
            let sets_of_size = &mut subsets.by_size[set.count_ones() as usize];
            let rank = u32::try_from(sets_of_size.len()).expect("sets have 16 bits");
            subsets.rank[set as usize] = rank;
            sets_of_size.push(set);
        }
        subsets.classes = subsets.by_size.iter().map(|sets| classes(sets, outer)).collect();
        subsets
    }

    /// Returns the subsets of this size, in order.
    pub(super) fn of_size(&self, size: u32) -> &[u32] {
        &self.by_size[size as usize]
    }

    /// Returns the place of a subset among the subsets of its size.
    pub(super) fn rank(&self, set: u32) -> u32 {
        self.rank[set as usize]
    }

    /// Returns the whole set 0..len.
    pub(super) fn all(&self) -> u32 {
        (1 << self.len) - 1
    }

    /// Returns the outer numbers.
    pub(super) fn outer(&self) -> u32 {
        self.all() & !(self.all() >> (2 * OUTER) << OUTER)
    }

    /// Returns the set with number i replaced by len - 1 - i.
    pub(super) fn reversed(&self, set: u32) -> u32 {
        set.reverse_bits() >> (32 - self.len)
    }

    /// Returns the rank of the reverse of a subset.
    pub(super) fn rank_of_reversed(&self, set: u32) -> u32 {
        self.rank(self.reversed(set))
    }

    /// Returns the ranks of each class of subsets of this size, in order.
    pub(super) fn classes(&self, size: u32) -> &[Range<u32>] {
        &self.classes[size as usize]
    }
}

/// Finds the ranks of each class among the subsets of one size.
fn classes(sets: &[u32], outer: u32) -> Vec<Range<u32>> {
    let mut ranks = Vec::new();
    let mut first = 0;
    for class in sets.chunk_by(|one, other| one & !outer == other & !outer) {
        let end = first + u32::try_from(class.len()).expect("a class has at most 20 sets");
        ranks.push(first..end);
        first = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complements_come_in_reverse_and_classes_are_short() {
        for len in 1..=12 {
            let subsets = Subsets::new(len);
            for size in 0..=len {
                let sets = subsets.of_size(size);
                let mut next = 0;
                for class in subsets.classes(size) {
                    assert_eq!(class.start, next, "no gap");
                    assert!((1..=20).contains(&class.len()), "{class:?}");
                    next = class.end;
                }
                assert_eq!(next as usize, sets.len());
                for (rank, set) in (0..).zip(sets) {
                    assert_eq!(subsets.rank(*set), rank);
                    let complement = subsets.rank(subsets.all() & !set);
                    let mirrored = sets.len() - 1 - rank as usize;
                    assert_eq!(complement as usize, mirrored, "{set:b} of {len}");
                }
            }
        }
    }
}
