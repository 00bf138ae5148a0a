//! What the entries of the light matrix weigh, transposed for a block of the heavy list.
//!
//! ```text
//!     light matrix, white            weights for black
//!     block of 64 labels Ce          block of 64 labels Co
//!         Ce Ce Ce ..                    Co Co Co ..
//!     Co   3  1  0                   Ce   6  2  0
//!     Co   1  0  2         ->        Ce   2  0  4
//!     Co   0  2  1                   Ce   0  4  2
//! ```
//!
//! Entries of most pairs of labels weigh alike. Where a label ties with the rows, each pair has a weight of
//! its own. Weights are cut into digits of a byte, the lowest digits of all in one list, the next ones in
//! another: the kernels multiply bytes, and small boards need the lowest digits only.

use super::kernel::{Bytes, Entries, LANES, Pairs, Weights};
use super::program::Tree;
use super::side::ColourState;
use super::squares::Colour;
use super::units::LabelWeights;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// The light matrix, and what its labels weigh.
pub(super) struct Light<'a> {
    pub(super) side: &'a ColourState,
    pub(super) matrix: &'a [Entries],
    pub(super) columns: LabelWeights<'a>,
    /// The y of each row set.
    pub(super) odd_ranks: &'a [u32],
}

impl Light<'_> {
    /// Writes the weights for a block of these labels: for each row set, a row for each label of the heavy
    /// tree, and at the end a row of zeros. An entry that has no room in 16 bits is an error.
    pub(super) fn weigh(
        &self,
        heavy_labels: &[u32],
        heavy_tree: &Tree,
        kernel: Kernel,
        weights: &mut Weights,
    ) -> Result<(), Interrupt> {
        let ColourState { colour, limits, list, tree, .. } = self.side;
        let labels = heavy_tree.labels_len;
        let Weights { digits, upper_digits_len } = weights;
        upper_digits_len.clear();
        upper_digits_len.resize(self.odd_ranks.len() * labels + 1, 0);
        digits[0].clear();
        digits[0].resize(upper_digits_len.len(), Bytes::ZERO);
        let rows_of = |tree: &Tree, labels: &[u32]| -> Vec<usize> {
            let row = |label: &u32| tree.label(*label).expect("kept for the whole class");
            labels.iter().map(row).collect()
        };
        let rows = rows_of(tree, heavy_labels);
        let heavy = self.base_weights(colour.other(), heavy_labels);
        let mask = u8::MAX >> (u8::BITS - limits.digit_bits);
        for (number, block) in list.blocks.iter().enumerate() {
            let heavy_rows = rows_of(heavy_tree, &block.labels);
            let light = self.base_weights(*colour, &block.labels);
            let mut weights = heavy.0.map(|heavy| Entries(light.0.map(|light| heavy * light)));
            let own = |lane: usize, at: usize| {
                let (heavy, light) = (heavy_labels[lane], block.labels[at]);
                let [even, odd] = match colour {
                    Colour::White => [light, heavy],
                    Colour::Black => [heavy, light],
                };
                (lane, at, self.columns.weight(even, odd))
            };
            let of_lanes =
                heavy.1.iter().flat_map(|lane| (0..block.labels.len()).map(|at| own(*lane, at)));
            let of_light =
                light.1.iter().flat_map(|at| (0..heavy_labels.len()).map(|lane| own(lane, *at)));
            let ties: Vec<_> = of_lanes.chain(of_light).collect();
            for (place, y) in self.odd_ranks.iter().enumerate() {
                for (lane, at, weight) in &ties {
                    weights[*lane].0[*at] = weight(*y);
                }
                let first = (number * self.odd_ranks.len() + place) * tree.labels_len;
                let entries = &self.matrix[first..][..tree.labels_len];
                let pairs = Pairs { entries, rows: &rows, weights: &weights };
                let of_set = place * labels..(place + 1) * labels;
                let to = &mut digits[0][of_set.clone()];
                let largest = kernel.weigh(&pairs, 0, mask, to, &heavy_rows);
                if largest > limits.largest_entry {
                    return Err(Interrupt::LargeEntry);
                }
                let last = (4 * u32::from(largest)).max(1).ilog2() / limits.digit_bits;
                for number in 1..=last {
                    let digits = &mut digits[number as usize];
                    digits.resize(upper_digits_len.len().max(digits.len()), Bytes::ZERO);
                    let to = &mut digits[of_set.clone()];
                    kernel.weigh(&pairs, number * limits.digit_bits, mask, to, &heavy_rows);
                    for row in &heavy_rows {
                        if to[*row] != Bytes::ZERO {
                            upper_digits_len[of_set.start + row] = number as u8;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// What labels weigh, and which of them tie.
    fn base_weights(&self, colour: Colour, labels: &[u32]) -> ([u16; LANES], Vec<usize>) {
        let (mut clear, mut ties) = ([0; LANES], Vec::new());
        for (at, label) in labels.iter().enumerate() {
            match self.columns.label(colour, *label) {
                Some(weight) => clear[at] = weight,
                None => ties.push(at),
            }
        }
        (clear, ties)
    }
}
