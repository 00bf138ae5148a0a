//! The light matrix, the weights of its entries, and the dot product with the heavy matrix.
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
//! The weight of a pair of labels is the number of times that its column sets count, 0 to 4. Most pairs of two blocks
//! have the same weight. Where a label ties with the rows, each pair has a weight of its own. Entries times weights are
//! cut into digits of a byte. The lowest digits are in one list, the next ones in another, and so on. So the kernels
//! multiply bytes, and small boards need only the lowest digits.

use super::colour::ColourState;
use super::kernel::{Bytes, DIGITS, Entries, LANES, Pairs, Totals, Weights};
use super::limits::Limits;
use super::squares::Colour;
use super::tree::Tree;
use super::units::LabelWeights;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// The matrix of the light colour, and its weights for one block of the heavy colour.
pub(super) struct Matrix {
    /// The entries: for each block of the light list, for each row set that is being counted, a row for each label of
    /// the light tree.
    entries: Vec<Entries>,
    rows_of_block: usize,
    weights: Weights,
    limits: Limits,
}

impl Matrix {
    pub(super) fn new(limits: Limits) -> Self {
        let weight_bits = limits.digit_bits * DIGITS as u32;
        assert!(4 * u32::from(limits.largest_entry) < 1 << weight_bits, "digits for all weights");
        Self { entries: Vec::new(), rows_of_block: 0, weights: Weights::default(), limits }
    }

    /// Makes a matrix of zeros with this number of blocks.
    pub(super) fn clear(
        &mut self,
        blocks: usize,
        rows_of_block: usize,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        self.rows_of_block = rows_of_block;
        self.entries.clear();
        self.entries.reserve_exact(blocks * rows_of_block);
        for _ in 0..blocks {
            // A cancellation must not wait until gigabytes are written.
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            self.entries.resize(self.entries.len() + rows_of_block, Entries([0; LANES]));
        }
        Ok(())
    }

    pub(super) fn block(&mut self, number: usize) -> &mut [Entries] {
        &mut self.entries[number * self.rows_of_block..][..self.rows_of_block]
    }

    /// Returns the weights for a block of the heavy list: for each row set, a row for each label of the heavy tree.
    pub(super) fn weigh(
        &mut self,
        light: &ColourState,
        heavy_labels: &[u32],
        heavy_tree: &Tree,
        columns: LabelWeights<'_>,
        odd_ranks: &[u32],
        kernel: Kernel,
    ) -> Result<&Weights, Interrupt> {
        let Weights { digits, upper_digits_len } = &mut self.weights;
        let (labels, digit_bits) = (heavy_tree.labels_len, self.limits.digit_bits);
        upper_digits_len.clear();
        upper_digits_len.resize(odd_ranks.len() * labels, 0);
        digits[0].clear();
        digits[0].resize(upper_digits_len.len(), Bytes::ZERO);
        let mask = u8::MAX >> (u8::BITS - digit_bits);
        let rows_of = |tree: &Tree, labels: &[u32]| -> Vec<usize> {
            labels.iter().map(|label| tree.label(*label)).collect()
        };
        let rows = rows_of(&light.tree, heavy_labels);
        for block in light.list.blocks() {
            let heavy_rows = rows_of(heavy_tree, block.labels);
            let (mut weights, ties) =
                pair_weights(columns, light.colour, block.labels, heavy_labels);
            let weight = |(lane, at): (usize, usize)| {
                let [even, odd] = match light.colour {
                    Colour::White => [block.labels[at], heavy_labels[lane]],
                    Colour::Black => [heavy_labels[lane], block.labels[at]],
                };
                (lane, at, columns.pair(even, odd))
            };
            let ties: Vec<_> = ties.into_iter().map(weight).collect();
            for (place, y) in odd_ranks.iter().enumerate() {
                for (lane, at, weight) in &ties {
                    weights[*lane].0[*at] = weight(*y);
                }
                let first = block.number * self.rows_of_block + place * light.tree.labels_len;
                let entries = &self.entries[first..][..light.tree.labels_len];
                let pairs = Pairs { entries, rows: &rows, weights: &weights };
                let of_set = place * labels..(place + 1) * labels;
                let to = &mut digits[0][of_set.clone()];
                let largest = kernel.weigh(&pairs, 0, mask, to, &heavy_rows);
                if largest > self.limits.largest_entry {
                    return Err(Interrupt::LargeEntry);
                }
                let last = (4 * u32::from(largest)).max(1).ilog2() / digit_bits;
                for number in 1..=last {
                    let digits = &mut digits[number as usize];
                    digits.resize(upper_digits_len.len().max(digits.len()), Bytes::ZERO);
                    let to = &mut digits[of_set.clone()];
                    kernel.weigh(&pairs, number * digit_bits, mask, to, &heavy_rows);
                    for row in &heavy_rows {
                        if to[*row] != Bytes::ZERO {
                            upper_digits_len[of_set.start + row] = number as u8;
                        }
                    }
                }
            }
        }
        Ok(&self.weights)
    }

    /// Returns the sum over all lanes and digits.
    pub(super) fn total(&self, totals: &Totals) -> Result<u64, Interrupt> {
        let digits = totals.iter().map(|lanes| lanes.iter().map(|lane| u128::from(*lane)).sum());
        let shifted =
            (0..).zip(digits).map(|(at, sum): (_, u128)| sum << (at * self.limits.digit_bits));
        u64::try_from(shifted.sum::<u128>()).map_err(|_| Interrupt::Overflow)
    }
}

/// Returns the weight of each pair of a heavy label, by lane, and a light label. Also returns the pairs whose weight
/// depends on y.
fn pair_weights(
    columns: LabelWeights<'_>,
    light_colour: Colour,
    light_labels: &[u32],
    heavy_labels: &[u32],
) -> ([Entries; LANES], Vec<(usize, usize)>) {
    let weights_of = |colour, labels: &[u32]| -> [Option<u16>; LANES] {
        let weight = |at| labels.get(at).map_or(Some(0), |label| columns.label(colour, *label));
        std::array::from_fn(weight)
    };
    let light = weights_of(light_colour, light_labels);
    let heavy = weights_of(light_colour.other(), heavy_labels);
    let known = [light, heavy].map(|weights| weights.map(Option::unwrap_or_default));
    let weights = known[1].map(|heavy| Entries(known[0].map(|light| heavy * light)));
    if light.iter().chain(&heavy).all(Option::is_some) {
        return (weights, Vec::new());
    }
    let pairs =
        (0..heavy_labels.len()).flat_map(|lane| (0..light_labels.len()).map(move |at| (lane, at)));
    (weights, pairs.filter(|(lane, at)| heavy[*lane].is_none() || light[*at].is_none()).collect())
}
