//! The light matrix, the coefficients of its entries, and the dot product with the heavy matrix.
//!
//! ```text
//!     light matrix, white            coefficients for black
//!     block of 64 labels Ce          block of 64 labels Co
//!         Ce Ce Ce ..                    Co Co Co ..
//!     Co   3  1  0                   Ce   6  2  0
//!     Co   1  0  2         ->        Ce   2  0  4
//!     Co   0  2  1                   Ce   0  4  2
//! ```
//!
//! The coefficient of a heavy hit is the light entry with the same **pair** of labels, a Ce and a Co, times the
//! multiplicity of the pair: 0 to 4 times. Most pairs of two blocks have the same multiplicity. Where a label ties with
//! the white rows of the unit, each pair has its own. Rows that are not called white are rows of a matrix here.
//!
//! Coefficients are cut into digits of a byte. The lowest digits are in one list, the next ones in another, and so on.
//! So the kernels multiply bytes, and small boards need only the lowest digits.

use std::ops::Range;

use super::kernel::{BLOCK_LABELS, Bytes, Coefficients, DIGITS, LabelPairs, Numbers, Totals};
use super::limits::Limits;
use super::role::Role;
use super::squares::Parity;
use super::tree::Tree;
use super::units::{Multiplicities, PairMultiplicity};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// The largest multiplicity of a pair of labels: twice for the transposition, and twice for the flip of the columns.
const MAX_MULTIPLICITY: u32 = 4;

/// The matrix of the light colour, and the coefficients for one block of the heavy colour.
pub(super) struct Matrix {
    /// The entries: for each block of the light list, for each row set that is being counted, a row for each label of
    /// the light tree.
    entries: Vec<Numbers>,
    /// The number of rows that each block of the light list has.
    rows_of_block: usize,
    coefficients: Coefficients,
    /// The ties of two blocks, in memory that is kept.
    ties: Vec<Tie>,
    limits: Limits,
}

impl Matrix {
    pub(super) fn new(limits: Limits) -> Self {
        let largest_coefficient = u64::from(MAX_MULTIPLICITY) * u64::from(limits.largest_entry);
        let numbers_of_digits = 1_u64 << (limits.digit_bits as usize * DIGITS);
        assert!(largest_coefficient < numbers_of_digits, "digits for all coefficients");
        Self {
            entries: Vec::new(),
            rows_of_block: 0,
            coefficients: Coefficients::default(),
            ties: Vec::new(),
            limits,
        }
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
        let rows = blocks * rows_of_block;
        if self.entries.capacity() < rows {
            // The old matrix is given back before the new one is made, because a vector that grows holds both for a
            // moment.
            self.entries = Vec::new();
        }
        self.entries.reserve_exact(rows);
        for _ in 0..blocks {
            // A cancellation must not wait until the whole matrix is written, which has up to 448 MiB.
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            self.entries.resize(self.entries.len() + rows_of_block, Numbers([0; BLOCK_LABELS]));
        }
        Ok(())
    }

    /// Says whether the hits of the heavy colour are rare in the batches that follow.
    pub(super) fn expect_rare_hits(&mut self, are_rare: bool) {
        self.coefficients.are_of_rare_hits = are_rare;
    }

    /// Returns the rows of a block of the light list.
    pub(super) fn block(&mut self, number: usize) -> &mut [Numbers] {
        &mut self.entries[number * self.rows_of_block..][..self.rows_of_block]
    }

    /// Returns the coefficients for a block of the heavy list: for each row set, a row for each label of the heavy
    /// tree.
    pub(super) fn make_coefficients(
        &mut self,
        light: &Role,
        heavy_labels: &[u32],
        heavy_tree: &Tree,
        multiplicities: Multiplicities<'_>,
        odd_ranks: &[u32],
        kernel: Kernel,
    ) -> Result<&Coefficients, Interrupt> {
        self.coefficients.clear(odd_ranks.len() * heavy_tree.labels_len);
        let light_tree = &light.program.tree;
        let mut room_for_light_rows = [0; BLOCK_LABELS];
        // A label of the heavy list is a label of the light tree, too: both are columns of one parity.
        let light_rows = rows_of_labels(light_tree, heavy_labels, &mut room_for_light_rows);
        let mut room_for_heavy_rows = [0; BLOCK_LABELS];
        for block in light.list.blocks() {
            let heavy_rows = rows_of_labels(heavy_tree, block.labels, &mut room_for_heavy_rows);
            let mut pair_multiplicities = PairMultiplicities::new(
                multiplicities,
                light.list_parity,
                block.labels,
                heavy_labels,
                &mut self.ties,
            );
            for (place, y) in odd_ranks.iter().enumerate() {
                pair_multiplicities.resolve_ties(*y);
                let first_entry = block.number * self.rows_of_block + place * light_tree.labels_len;
                let pairs = LabelPairs {
                    entries: &self.entries[first_entry..][..light_tree.labels_len],
                    rows: light_rows,
                    multiplicities: &pair_multiplicities.rows,
                };
                let first_row = place * heavy_tree.labels_len;
                let rows = first_row..first_row + heavy_tree.labels_len;
                self.coefficients.write_block(&pairs, rows, heavy_rows, &self.limits, kernel)?;
            }
        }
        Ok(&self.coefficients)
    }

    /// Returns the sum over all digits.
    pub(super) fn total(&self, totals: &Totals) -> Result<u64, Interrupt> {
        let mut total = 0;
        for (number, sums) in (0..).zip(totals) {
            let of_digit: u128 = sums.iter().map(|sum| u128::from(*sum)).sum();
            total += of_digit << (number * self.limits.digit_bits);
        }
        u64::try_from(total).map_err(|_| Interrupt::Overflow)
    }
}

/// Returns the row that each label of a block has in a matrix of this tree. They are in `room`, because a vector for
/// each pair of blocks would take time.
fn rows_of_labels<'a>(
    tree: &Tree,
    labels: &[u32],
    room: &'a mut [usize; BLOCK_LABELS],
) -> &'a [usize] {
    let rows = &mut room[..labels.len()];
    for (row, label) in rows.iter_mut().zip(labels) {
        *row = tree.index_of(*label);
    }
    rows
}

impl Coefficients {
    /// Makes this number of rows of zeros. The upper digits keep what they have, because their lengths become 0.
    fn clear(&mut self, rows: usize) {
        self.upper_digits_len.clear();
        self.upper_digits_len.resize(rows, 0);
        self.digits[0].clear();
        self.digits[0].resize(rows, Bytes::ZERO);
    }

    /// Writes the coefficients of a block of the light list, digit by digit, into the `rows` of one row set.
    /// `heavy_rows` has the row of each light label among them.
    fn write_block(
        &mut self,
        pairs: &LabelPairs<'_>,
        rows: Range<usize>,
        heavy_rows: &[usize],
        limits: &Limits,
        kernel: Kernel,
    ) -> Result<(), Interrupt> {
        let digit_bits = limits.digit_bits;
        let mask = u8::MAX >> (u8::BITS - digit_bits);
        let lowest = &mut self.digits[0][rows.clone()];
        let largest_entry = kernel.make_digits(pairs, 0, mask, lowest, heavy_rows);
        if largest_entry > limits.largest_entry {
            return Err(Interrupt::Overflow);
        }
        let largest_coefficient = MAX_MULTIPLICITY * u32::from(largest_entry);
        let last_digit = largest_coefficient.max(1).ilog2() / digit_bits;
        for number in 1..=last_digit {
            let upper_digits = u8::try_from(number).expect("there are three digits");
            let digits = &mut self.digits[number as usize];
            digits.resize(self.upper_digits_len.len().max(digits.len()), Bytes::ZERO);
            let digits = &mut digits[rows.clone()];
            kernel.make_digits(pairs, number * digit_bits, mask, digits, heavy_rows);
            for row in heavy_rows {
                if digits[*row] != Bytes::ZERO {
                    self.upper_digits_len[rows.start + row] = upper_digits;
                }
            }
        }
        Ok(())
    }
}

/// The multiplicities of the pairs of labels of two blocks, a heavy one and a light one.
struct PairMultiplicities<'a> {
    /// A row for each heavy label, with a multiplicity for each light label.
    rows: [Numbers; BLOCK_LABELS],
    /// The pairs with a label that ties with the white rows. Their multiplicities depend on y.
    ties: &'a mut Vec<Tie>,
}

/// A pair of labels whose multiplicity depends on y.
struct Tie {
    /// The place of the heavy label in its block.
    heavy: usize,
    /// The place of the light label in its block.
    light: usize,
    pair: PairMultiplicity,
}

impl<'a> PairMultiplicities<'a> {
    /// Finds the multiplicities of the pairs of two blocks. Pairs with ties get theirs from
    /// [`PairMultiplicities::resolve_ties`]. Whatever is in `ties` goes.
    fn new(
        multiplicities: Multiplicities<'_>,
        light_parity: Parity,
        light_labels: &[u32],
        heavy_labels: &[u32],
        ties: &'a mut Vec<Tie>,
    ) -> Self {
        let light_factors = factors(multiplicities, light_parity, light_labels);
        let heavy_factors = factors(multiplicities, light_parity.other(), heavy_labels);
        let light_known = light_factors.map(Option::unwrap_or_default);
        let heavy_known = heavy_factors.map(Option::unwrap_or_default);
        let rows = heavy_known.map(|heavy| Numbers(light_known.map(|light| heavy * light)));
        ties.clear();
        if light_factors.iter().chain(&heavy_factors).all(Option::is_some) {
            return Self { rows, ties };
        }
        for (heavy, heavy_label) in heavy_labels.iter().enumerate() {
            for (light, light_label) in light_labels.iter().enumerate() {
                if heavy_factors[heavy].is_some() && light_factors[light].is_some() {
                    continue;
                }
                let pair = match light_parity {
                    Parity::Even => multiplicities.of_pair(*light_label, *heavy_label),
                    Parity::Odd => multiplicities.of_pair(*heavy_label, *light_label),
                };
                ties.push(Tie { heavy, light, pair });
            }
        }
        Self { rows, ties }
    }

    /// Finds the multiplicities of the pairs with ties for the unit with this y.
    fn resolve_ties(&mut self, y: u32) {
        for tie in &*self.ties {
            self.rows[tie.heavy].0[tie.light] = tie.pair.in_unit(y);
        }
    }
}

/// Returns the factor that each label of a block contributes to multiplicities, and 0 in the places after the last
/// label. A label that ties with the white rows has no factor.
fn factors(
    multiplicities: Multiplicities<'_>,
    parity: Parity,
    labels: &[u32],
) -> [Option<u16>; BLOCK_LABELS] {
    let mut factors = [Some(0); BLOCK_LABELS];
    for (factor, label) in factors.iter_mut().zip(labels) {
        *factor = multiplicities.of_label(parity, *label);
    }
    factors
}
