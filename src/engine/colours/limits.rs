//! The limits that a counter takes from the size of the board, and the memory that follows from them.
//!
//! All limits are in one value. Tests make them tiny, so that small boards take every path that large boards take.

use super::code::{MAX_ITEMS, MAX_PLANES};
use super::kernel::{Bytes, DIGITS, Entries, LANES};
use super::subsets::MAX_SETS;
use crate::board::size::BoardSize;
use crate::engine::plain::binomial;

/// The factor by which the program of the light colour is shorter than that of the heavy one.
pub(super) const LIGHT_PROGRAM_DIVISOR: usize = 3;

/// The limits of a counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The number of labels of a block.
    pub(super) block_labels: usize,
    /// The number of words after which a section of a list ends. A longer list is made and counted section by
    /// section.
    pub(super) section_words: usize,
    /// The largest length of a program that is kept for other batches, in words of code. A longer one is compiled for
    /// each batch, part by part. A part may be longer by what is below one node. For the light colour this is divided
    /// by [`LIGHT_PROGRAM_DIVISOR`].
    pub(super) part_len: usize,
    /// The number of rows of the light matrix. Batches that need more are counted a few row sets at a time.
    pub(super) matrix_rows: usize,
    /// The largest entry of the light matrix.
    pub(super) largest_entry: u16,
    /// The number of bits of a digit of the weights.
    pub(super) digit_bits: u32,
    /// The largest number of words with which a node is a leaf, by the number of rows left. With more rows left, no
    /// node is a leaf.
    pub(super) leaf_words: &'static [usize],
    /// The largest number of planes of a leaf: its squares, its pairs, and plane 0.
    pub(super) leaf_planes: usize,
    /// The largest number of pairs of halves that are tried for a row set of a leaf, so that a section has no more
    /// items.
    pub(super) section_items: usize,
}

impl Limits {
    pub(super) fn new(size: BoardSize) -> Self {
        let n = size.get();
        Self {
            block_labels: LANES,
            section_words: 1 << 22,
            // These are 4, 14, 60, 160 and 256 MiB.
            part_len: match n {
                ..=20 => 1 << 20,
                21..=22 => 7 << 19,
                23..=24 => 15 << 20,
                25..=26 => 40 << 20,
                _ => 64 << 20,
            },
            // These are 448 MiB.
            matrix_rows: 7 << 19,
            // A larger entry may have been cut off.
            largest_entry: u16::MAX - 1,
            digit_bits: u8::BITS,
            // With at most one row left, every node is a leaf.
            leaf_words: &[usize::MAX, usize::MAX, 4000, 4000, 3000, 800],
            leaf_planes: MAX_PLANES,
            section_items: MAX_ITEMS,
        }
    }
}

/// Returns the bytes with which a thread can count every unit of a board. The thread keeps its memory from unit to
/// unit, so each part may grow to its maximum over all numbers of white queens.
pub(crate) fn bytes(size: BoardSize) -> u64 {
    let (limits, side) = (Limits::new(size), size.get().div_ceil(2));
    let of_a = (0..=side).map(|a| bytes_of(&limits, side, a));
    let largest = of_a
        .fold([0; 3], |largest, of_a| std::array::from_fn(|part| of_a[part].max(largest[part])));
    // Each colour has a program, or a part of one. A part may be longer by what is below a node: an eighth is added
    // for this.
    let programs = (limits.part_len + limits.part_len / LIGHT_PROGRAM_DIVISOR) as u64 * 9 / 2;
    // The last 4 MiB are for everything else, which is little.
    largest.iter().sum::<u64>() + programs + (4 << 20)
}

/// Returns the bytes of the matrix, the weights and the words for units with `a` white queens in even rows, on a
/// board with `side` rows and columns of each parity.
fn bytes_of(limits: &Limits, side: u32, a: u32) -> [u64; 3] {
    let (heavy, light) = (a.max(side - a), a.min(side - a));
    let labels = binomial(side as usize, light as usize) as u64;
    let rows_of_set = labels.div_ceil(limits.block_labels as u64) * labels;
    let rows = (MAX_SETS as u64 * rows_of_set).min(rows_of_set.max(limits.matrix_rows as u64));
    let matrix = rows * size_of::<Entries>() as u64;
    let weights = MAX_SETS as u64 * labels * (DIGITS * size_of::<Bytes>()) as u64;
    let words = |rows| most_words(side, rows);
    let listed = words(heavy).min(1.05 * limits.section_words as f64);
    // The first block has the labels with the most words, up to half as many again as the mean.
    let block = listed.min(1.5 * words(heavy) * limits.block_labels as f64 / labels as f64);
    let zones = 2.0 * (words(heavy.div_ceil(2)) + words(heavy / 2));
    // Words are found, then ordered, so they exist twice. Each depth of a tree keeps the words of two blocks: the
    // block for which programs are compiled, and the block that is counted.
    let words = 2.0 * (listed + words(light)) + zones + 2.0 * block;
    [matrix, weights, size_of::<u64>() as u64 * words as u64]
}

/// Returns the largest number of placements of queens in this number of rows of a sub-board, within some percent.
///
/// Two queens in different columns share a diagonal with a probability of 1 to 2 divided by the number of columns. It
/// is lower if their rows are farther apart. The formula was fitted to measurements for 10 to 15 columns and four
/// rows and more.
pub(super) fn most_words(columns: u32, rows: u32) -> f64 {
    let (columns, rows) = (f64::from(columns), f64::from(rows));
    let ways: f64 = (0..rows as u32).map(|taken| columns - f64::from(taken)).product();
    let share = rows / columns;
    let shared = (0.85 + 0.5 * share + 0.5 * share * share) / columns;
    ways * (-shared * rows * (rows - 1.0) / 2.0).exp()
}
