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

use super::kernel::{Bytes, Entries, LANES, TILE, Weights};
use super::program::Tree;
use super::side::Side;
use super::sub_board::Colour;
use super::units::Columns;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// The light matrix, and what its labels weigh.
pub(super) struct Light<'a> {
    pub(super) side: &'a Side,
    pub(super) matrix: &'a [Entries],
    pub(super) columns: Columns<'a>,
    /// The y of each row set.
    pub(super) ys: &'a [u32],
}

impl Light<'_> {
    /// Writes the weights for a block of these labels: for each row set, a row for each label of the heavy
    /// tree. Entries that are too large are an overflow.
    pub(super) fn weigh(
        &self,
        heavy_labels: &[u32],
        heavy_tree: &Tree,
        kernel: Kernel,
        weights: &mut Weights,
    ) -> Result<(), Interrupt> {
        let rows = self.ys.len() * heavy_tree.labels_len;
        let Weights { digits, more } = weights;
        digits.iter_mut().for_each(Vec::clear);
        digits[0].resize(rows, Bytes::ZERO);
        more.clear();
        more.resize(rows, 0);
        let Side { colour, limits, list, tree, .. } = self.side;
        let row_of = |tree: &Tree, label| tree.label(label).expect("kept for the whole class");
        let light_rows: Vec<usize> =
            heavy_labels.iter().map(|label| row_of(tree, *label)).collect();
        let (mut clear, mut ties) = ([0; LANES], Vec::new());
        for (lane, label) in heavy_labels.iter().enumerate() {
            match self.columns.label(colour.other(), *label) {
                Some(weight) => clear[lane] = weight,
                None => ties.push(lane),
            }
        }
        let mut tile = [[0; TILE]; TILE];
        for (number, block) in list.blocks.iter().enumerate() {
            let of_label = |label: &u32| {
                (*label, row_of(heavy_tree, *label), self.columns.label(*colour, *label))
            };
            let light_labels: Vec<_> = block.labels.iter().map(of_label).collect();
            for (place, y) in self.ys.iter().enumerate() {
                let first = (number * self.ys.len() + place) * tree.labels_len;
                let mut entries = [[0; LANES]; LANES];
                let mut largest = 0;
                for (across, light_rows) in light_rows.chunks(TILE).enumerate() {
                    for down in 0..block.labels.len().div_ceil(TILE) {
                        for (to, row) in tile.iter_mut().zip(light_rows) {
                            to.copy_from_slice(&self.matrix[first + row].0[down * TILE..][..TILE]);
                        }
                        largest = largest.max(kernel.transpose(&mut tile));
                        for (to, from) in entries[down * TILE..].iter_mut().zip(&tile) {
                            to[across * TILE..][..TILE].copy_from_slice(from);
                        }
                    }
                }
                if largest > limits.largest_entry {
                    return Err(Interrupt::Overflow);
                }
                let digit_bits = limits.digit_bits;
                let needed = ((4 * u32::from(largest)).max(1).ilog2() / digit_bits) as usize + 1;
                let mask = u8::MAX >> (u8::BITS - digit_bits);
                for digits in &mut digits[..needed] {
                    digits.resize(rows, Bytes::ZERO);
                }
                for (entries, &(label, row, weight)) in entries.iter().zip(&light_labels) {
                    let row = place * heavy_tree.labels_len + row;
                    let own = |lane: usize| self.pair(*y, label, heavy_labels[lane]);
                    let weights: [u16; LANES] = match weight {
                        Some(weight) => {
                            let mut weights = clear.map(|lane| lane * weight);
                            ties.iter().for_each(|lane| weights[*lane] = own(*lane));
                            weights
                        }
                        None => std::array::from_fn(|lane| {
                            if lane < heavy_labels.len() { own(lane) } else { 0 }
                        }),
                    };
                    if needed == 1 {
                        digits[0][row].0 = std::array::from_fn(|lane| {
                            (entries[lane] * weights[lane]) as u8 & mask
                        });
                        continue;
                    }
                    for (number, digits) in (0..).zip(&mut digits[..needed]) {
                        digits[row].0 = std::array::from_fn(|lane| {
                            let product = u32::from(entries[lane]) * u32::from(weights[lane]);
                            (product >> (digit_bits * u32::from(number))) as u8 & mask
                        });
                        if digits[row].0 != [0; LANES] {
                            more[row] = number;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// What a pair of a light and a heavy label weighs in the unit with this y.
    fn pair(&self, y: u32, light: u32, heavy: u32) -> u16 {
        let (even, odd) =
            if self.side.colour == Colour::White { (light, heavy) } else { (heavy, light) };
        self.columns.weight(y, even, odd)
    }
}
