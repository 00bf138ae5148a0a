//! The limits that a counter takes from the size of the board, and the memory that follows from them.
//!
//! All limits are in one value. Tests make them tiny, so that small boards take every path that large boards take.

use super::code::{MAX_ITEMS, MAX_PLANES};
use super::kernel::{Bytes, DIGITS, Entries, LANES};
use super::subsets::MAX_SETS;
use crate::board::size::BoardSize;
use crate::engine::plain::binomial;

/// The limits of a counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The number of labels of a block.
    pub(super) block_labels: usize,
    /// The number of words after which a section of a list ends. A longer list is made and counted section by
    /// section.
    pub(super) section_words: usize,
    /// The largest length of a heavy program that is kept for other batches, in words of code. A longer one is compiled
    /// for each batch, part by part. A part may be longer by what is below one node.
    pub(super) part_len: usize,
    /// The largest length of a light program.
    pub(super) light_part_len: usize,
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
        let [part_len, light_part_len] = part_lens(size);
        Self {
            block_labels: LANES,
            section_words: 1 << 22,
            part_len,
            light_part_len,
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

/// The largest board whose programs are all whole.
const LARGEST_WHOLE: u32 = 25;

/// Returns the largest lengths of a heavy and a light program.
///
/// Up to n = 25 no program is longer. All programs were compiled for n = 20 to 24. The longest heavy programs, those with
/// three white queens in even rows, had 1.9, 4.4, 10.0, 23.9 and 55.3 MiB, and 142.6 MiB at n = 25. The longest light ones
/// had 0.6, 0.6, 1.4, 1.9 and 9.8 MiB. For n = 25 to 27 some light programs were compiled, the longest with 9.4, 17.0 and
/// 26.8 MiB. A light program gets a third of the memory of a heavy one at most, because heavy programs that do not fit
/// cost more.
fn part_lens(size: BoardSize) -> [usize; 2] {
    /// The number of words of code in a quarter of a MiB.
    const QUARTER: usize = 1 << 16;
    match size.get() {
        ..=20 => [8 * QUARTER, 3 * QUARTER],
        21 => [20 * QUARTER, 3 * QUARTER],
        22 => [42 * QUARTER, 6 * QUARTER],
        23 => [100 * QUARTER, 8 * QUARTER],
        24 => [228 * QUARTER, 42 * QUARTER],
        LARGEST_WHOLE => [580 * QUARTER, 64 * QUARTER],
        26 => [640 * QUARTER, 96 * QUARTER],
        27 => [1024 * QUARTER, 160 * QUARTER],
        _ => [1024 * QUARTER, 340 * QUARTER],
    }
}

/// Returns the bytes with which a thread can count every unit of a board. The thread keeps its memory from unit to
/// unit, so each part may grow to its maximum over all numbers of white queens.
///
/// The largest batches of each number of white queens, six class pairs of each or more, took 0.79 to 0.91 of these bytes
/// for n = 20 to 30.
pub(crate) fn bytes(size: BoardSize) -> u64 {
    let limits = Limits::new(size);
    let n = size.get();
    let even = n.div_ceil(2);
    let numbers_of_white = if n % 2 == 1 { 1..=even } else { 0..=n / 4 };
    let mut largest = Parts::default();
    for a in numbers_of_white {
        largest = largest.max(&Parts::new(size, &limits, a));
    }
    let code_len = (limits.part_len + limits.light_part_len) as u64;
    let programs = size_of::<u32>() as u64 * code_len;
    // A part of a program may be longer by what is below one node.
    let beyond_parts = if n > LARGEST_WHOLE { programs / 8 } else { 0 };
    // Some fifty zones of each colour are kept, each with a table by columns.
    let tables = 100 * size_of::<u32>() as u64 * (2 << even);
    let rest = 3 << 19;
    largest.bytes() + programs + beyond_parts + tables + rest
}

/// The memory that depends on the number of white queens.
#[derive(Clone, Copy, Default)]
struct Parts {
    /// The bytes of the light matrix.
    matrix: u64,
    /// The bytes of the weights for a block.
    weights: u64,
    /// The number of words of the white and of the black list. Each colour keeps its memory when it becomes the light one.
    listed: [f64; 2],
    /// The number of words of the first block of a list.
    block: f64,
    /// The number of words of the two zones of a list.
    zones: f64,
}

impl Parts {
    /// Returns the memory for `a` white queens in even rows.
    fn new(size: BoardSize, limits: &Limits, a: u32) -> Self {
        let n = size.get();
        let even = n.div_ceil(2);
        let odd = n / 2;
        let white_in_odd_rows = a - n % 2;
        // Of the labels Ce and their reverses, an odd board counts one each.
        let even_sets = binomial(even as usize, a as usize) as u64;
        let even_labels =
            if n % 2 == 1 { (even_sets + palindromes(even, a)) / 2 } else { even_sets };
        let odd_labels = binomial(odd as usize, white_in_odd_rows as usize) as u64;
        let is_white_light = 2 * (a + white_in_odd_rows) < n;
        let (light_labels, heavy_labels) =
            if is_white_light { (even_labels, odd_labels) } else { (odd_labels, even_labels) };

        let rows_of_set = light_labels.div_ceil(limits.block_labels as u64) * heavy_labels;
        let sets = odd_labels.min(MAX_SETS as u64);
        // A matrix has at least the rows of one set.
        let rows = (sets * rows_of_set).min(rows_of_set.max(limits.matrix_rows as u64));
        let white = most_words(even, a) * (even_labels as f64 / even_sets as f64);
        let black = most_words(odd, even - a);
        let heavy_words = if is_white_light { black } else { white };
        let section = 1.05 * limits.section_words as f64;
        let heavy_listed = heavy_words.min(section);
        // The first block has the labels with the most words, up to half as many again as the mean.
        let block = 1.5 * heavy_words * limits.block_labels as f64 / heavy_labels as f64;
        let heavy_queens = if is_white_light { even - a } else { a };
        let zones = most_words(even, heavy_queens.div_ceil(2)) + most_words(even, heavy_queens / 2);
        Self {
            matrix: rows * size_of::<Entries>() as u64,
            weights: sets * light_labels * (DIGITS * size_of::<Bytes>()) as u64,
            listed: if is_white_light { [white, heavy_listed] } else { [heavy_listed, black] },
            block: heavy_listed.min(block),
            zones,
        }
    }

    /// Returns the larger one of each part.
    fn max(self, other: &Self) -> Self {
        Self {
            matrix: self.matrix.max(other.matrix),
            weights: self.weights.max(other.weights),
            listed: [self.listed[0].max(other.listed[0]), self.listed[1].max(other.listed[1])],
            block: self.block.max(other.block),
            zones: self.zones.max(other.zones),
        }
    }

    fn bytes(&self) -> u64 {
        // Words of a list are found, then ordered, so they exist twice. Each depth of a tree keeps the words of two
        // blocks: the block for which programs are compiled, and the block that is counted.
        let words = 2.0 * (self.listed[0] + self.listed[1]) + 2.0 * self.block + self.zones;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an estimate, of far less than 2^64 words"
        )]
        let whole_words = words as u64;
        self.matrix + self.weights + size_of::<u64>() as u64 * whole_words
    }
}

/// Returns the number of sets of `members` of `len` rows or columns that are their own reverse.
fn palindromes(len: u32, members: u32) -> u64 {
    // The middle one of an odd number of rows is its own reverse, and all others come in pairs.
    if len.is_multiple_of(2) && !members.is_multiple_of(2) {
        return 0;
    }
    binomial((len / 2) as usize, (members / 2) as usize) as u64
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
