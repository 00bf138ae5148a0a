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
    let limits = Limits::new(size);
    let side = size.get().div_ceil(2);
    let mut matrix_bytes = 0;
    let mut weights_bytes = 0;
    let mut words_bytes = 0;
    for a in 0..=side {
        let heavy_queens = a.max(side - a);
        let light_queens = a.min(side - a);
        let labels = binomial(side as usize, light_queens as usize) as u64;
        matrix_bytes = matrix_bytes.max(bytes_of_matrix(&limits, labels));
        weights_bytes = weights_bytes.max(bytes_of_weights(labels));
        words_bytes =
            words_bytes.max(bytes_of_words(&limits, side, heavy_queens, light_queens, labels));
    }
    // Each colour has a program, or a part of one, with four bytes for a word of code. A part may be longer by what is
    // below one node, and an eighth is added for this.
    let code_len = limits.part_len + limits.part_len / LIGHT_PROGRAM_DIVISOR;
    let programs_bytes = code_len as u64 * 9 / 2;
    // The rest is little.
    let rest_bytes = 4 << 20;
    matrix_bytes + weights_bytes + words_bytes + programs_bytes + rest_bytes
}

/// Returns the bytes of the light matrix, if each of its sides has this number of labels.
fn bytes_of_matrix(limits: &Limits, labels: u64) -> u64 {
    let blocks = labels.div_ceil(limits.block_labels as u64);
    let rows_of_set = blocks * labels;
    let rows_of_class = MAX_SETS as u64 * rows_of_set;
    // A matrix has at least the rows of one set.
    let rows = rows_of_class.min(rows_of_set.max(limits.matrix_rows as u64));
    rows * size_of::<Entries>() as u64
}

/// Returns the bytes of the weights for a block of heavy labels, with this number of labels of the heavy tree.
fn bytes_of_weights(labels: u64) -> u64 {
    MAX_SETS as u64 * labels * (DIGITS * size_of::<Bytes>()) as u64
}

/// Returns the bytes of the lists and of the words that trees keep, for these numbers of queens of the heavy and the
/// light colour in even rows. A sub-board has `side` rows and columns.
fn bytes_of_words(
    limits: &Limits,
    side: u32,
    heavy_queens: u32,
    light_queens: u32,
    labels: u64,
) -> u64 {
    let heavy_words = most_words(side, heavy_queens);
    let light_words = most_words(side, light_queens);
    let listed_words = heavy_words.min(1.05 * limits.section_words as f64);
    // The first block has the labels with the most words, up to half as many again as the mean.
    let mean_block_words = heavy_words * limits.block_labels as f64 / labels as f64;
    let block_words = listed_words.min(1.5 * mean_block_words);
    let centre_words = most_words(side, heavy_queens.div_ceil(2));
    let outer_words = most_words(side, heavy_queens / 2);
    let zones_words = 2.0 * (centre_words + outer_words);
    // Words are found, then ordered, so they exist twice. Each depth of a tree keeps the words of two blocks: the
    // block for which programs are compiled, and the block that is counted.
    let words = 2.0 * (listed_words + light_words) + zones_words + 2.0 * block_words;
    #[expect(clippy::cast_possible_truncation, reason = "an estimate, of far less than 2^64 words")]
    let whole_words = words as u64;
    size_of::<u64>() as u64 * whole_words
}

/// Returns the largest number of placements of queens in this number of rows of a sub-board, within some percent.
///
/// Two queens in different columns share a diagonal with a probability of 1 to 2 divided by the number of columns. It
/// is lower if their rows are farther apart. The formula was fitted to measurements for 10 to 15 columns and four
/// rows and more.
pub(super) fn most_words(columns: u32, rows: u32) -> f64 {
    let ways: f64 = (0..rows).map(|taken| f64::from(columns - taken)).product();
    let columns = f64::from(columns);
    let rows = f64::from(rows);
    let filled = rows / columns;
    // The probability that two queens share a diagonal.
    let shared = (0.85 + 0.5 * filled + 0.5 * filled * filled) / columns;
    let pairs_of_queens = rows * (rows - 1.0) / 2.0;
    ways * (-shared * pairs_of_queens).exp()
}
