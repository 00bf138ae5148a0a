//! Blocks of placements of the other rows, and the number of fillings that fit them.
//!
//! Placement i of a block is bit i of every [`Set`].

use super::fillings::{Filling, Fillings, NorthernColumns, PAIRS};
use super::kernel::{self, EMPTY, LANES, Set, WORDS};
use super::rows::FreeColumns;
use crate::engine::domains::{RowDomains, Weighing};
use crate::engine::kernel::Kernel;

const UNKNOWN: u8 = u8::MAX;

/// The weights are sums of these: one set of placements for each.
const WEIGHT_PARTS: [u64; 2] = [1, 2];

#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// The squares of the west rows that it leaves free.
    pub(super) free: FreeColumns,
    /// The number of the set of columns that its northern rows take.
    pub(super) northern: u16,
}

/// A block and the tables made from it.
#[derive(Debug)]
pub(super) struct Block {
    kernel: Kernel,
    placements: Vec<Placement>,
    /// For each west row and column: the placements that leave the square free.
    free: Box<[[Set; 16]; 16]>,
    /// For each pair of west rows and each pair of columns: those that leave both squares free.
    pairs: Box<[[Set; 256]; PAIRS]>,
    /// For each set of northern columns of the fillings: the placements that count once, and those
    /// that count twice. A placement in both counts three times.
    counting: Vec<[Set; 2]>,
    /// The weights for each set of northern columns of the other rows and each of the fillings.
    weights: Vec<u8>,
    /// The placements of each set of northern columns in the block.
    groups: Vec<(u16, Set)>,
}

impl Block {
    pub(super) fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            placements: Vec::with_capacity(LANES),
            free: Box::new([[EMPTY; 16]; 16]),
            pairs: Box::new([[EMPTY; 256]; PAIRS]),
            counting: Vec::new(),
            weights: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Removes everything that belongs to the last unit.
    pub(super) fn clear(&mut self) {
        self.placements.clear();
        self.weights.clear();
    }

    /// Adds a placement; returns whether the block is full.
    pub(super) fn push(&mut self, placement: Placement) -> bool {
        self.placements.push(placement);
        self.placements.len() == LANES
    }

    /// Counts the pairs of a placement and a filling that fit, with their weights, and empties the
    /// block.
    pub(super) fn count(
        &mut self,
        list: &[Filling],
        fillings: &Fillings,
        domains: &RowDomains,
        northern: &NorthernColumns,
    ) -> u64 {
        if self.placements.is_empty() || list.is_empty() {
            self.placements.clear();
            return 0;
        }
        self.make_free(fillings.rows);
        self.make_pairs(fillings);
        self.make_groups();
        self.make_counting(&fillings.northern, domains.weighing.as_ref(), northern);
        self.placements.clear();
        let pairs = &self.pairs[..fillings.rows.div_ceil(2)];
        let found = kernel::count(self.kernel, pairs, &self.counting, list);
        found.into_iter().zip(WEIGHT_PARTS).map(|(found, weight)| found * weight).sum()
    }

    /// Turns the domains, a row of bits for each placement, into sets of placements.
    fn make_free(&mut self, rows: usize) {
        for (word, placements) in self.placements.chunks(64).enumerate() {
            for (four, free) in self.free.chunks_mut(4).enumerate().take(rows.div_ceil(4)) {
                let mut bits = [0; 64];
                for (bits, placement) in bits.iter_mut().zip(placements) {
                    let free = placement.free[4 * four..].iter().take(4).rev();
                    *bits = free.fold(0, |bits, domain| bits << 16 | u64::from(*domain));
                }
                transpose(&mut bits);
                for (set, bits) in free.as_flattened_mut().iter_mut().zip(bits) {
                    set.0[word] = bits;
                }
            }
        }
        for word in self.placements.len().div_ceil(64)..WORDS {
            for set in self.free.as_flattened_mut() {
                set.0[word] = 0;
            }
        }
    }

    /// Makes the sets of pairs of rows from those of single squares.
    fn make_pairs(&mut self, fillings: &Fillings) {
        let (rows, width) = (fillings.rows, fillings.width as usize);
        for (rows, pairs) in self.free[..rows].chunks(2).zip(self.pairs.iter_mut()) {
            let (one, other) = (&rows[0], rows.get(1));
            for (set, pairs) in one.iter().zip(pairs.chunks_mut(width)).take(width) {
                match other {
                    None => pairs[0] = *set,
                    Some(other) => {
                        for (pair, other) in pairs.iter_mut().zip(other) {
                            *pair = set.and(other);
                        }
                    }
                }
            }
        }
    }

    /// Groups the placements by their northern columns. Neighbours usually have the same.
    fn make_groups(&mut self) {
        self.groups.clear();
        let mut group = 0;
        for (place, placement) in self.placements.iter().enumerate() {
            let number = placement.northern;
            if self.groups.get(group).is_none_or(|(of, _)| *of != number) {
                let known = self.groups.iter().position(|(of, _)| *of == number);
                group = known.unwrap_or(self.groups.len());
                if known.is_none() {
                    self.groups.push((number, EMPTY));
                }
            }
            self.groups[group].1.0[place / 64] |= 1 << (place % 64);
        }
    }

    /// Finds out which placements count, and how often, with each set of northern columns.
    fn make_counting(
        &mut self,
        of_fillings: &NorthernColumns,
        weighing: Option<&Weighing>,
        of_placements: &NorthernColumns,
    ) {
        let sets = &of_fillings.sets;
        self.counting.clear();
        self.counting.resize(sets.len(), [EMPTY; 2]);
        self.weights.resize(sets.len() * of_placements.sets.len(), UNKNOWN);
        for (number, placements) in &self.groups {
            let number = usize::from(*number);
            let weights = &mut self.weights[number * sets.len()..][..sets.len()];
            if weights[0] == UNKNOWN {
                for (weight, set) in weights.iter_mut().zip(sets) {
                    *weight = weight_of(weighing, of_placements.sets[number] | set);
                }
            }
            for (weight, counting) in weights.iter().zip(&mut self.counting) {
                for (part, counting) in counting.iter_mut().enumerate() {
                    let mask = 0u64.wrapping_sub(u64::from(weight >> part & 1));
                    for (word, placements) in counting.0.iter_mut().zip(placements.0) {
                        *word |= placements & mask;
                    }
                }
            }
        }
    }
}

/// The weight of solutions whose northern rows take these columns.
fn weight_of(weighing: Option<&Weighing>, columns: u32) -> u8 {
    let weight = weighing.map_or(1, |weighing| (weighing.weight)(columns));
    // A larger weight is not a sum of the parts: taken for another, it would make the count wrong.
    assert!(weight <= WEIGHT_PARTS.iter().sum(), "a solution counts {weight} times");
    weight as u8
}

/// Makes bit i of word k bit k of word i.
fn transpose(words: &mut [u64; 64]) {
    let mut mask = u64::MAX;
    for distance in [32, 16, 8, 4, 2, 1] {
        mask ^= mask << distance;
        for pair in words.chunks_mut(2 * distance) {
            let (low, high) = pair.split_at_mut(distance);
            for (low, high) in low.iter_mut().zip(high) {
                let swapped = ((*low >> distance) ^ *high) & mask;
                *low ^= swapped << distance;
                *high ^= swapped;
            }
        }
    }
}
