//! The limits that a counter takes from the size of the board, and the memory that it takes with them.
//!
//! All limits are in one value. Tests make them tiny, so that small boards take every path that large boards take.

use super::code::{MAX_COMPLETIONS, MAX_PLANES};
use super::kernel::BLOCK_LABELS;
use crate::board::size::BoardSize;

/// The limits of a counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The number of labels of a block.
    pub(super) block_labels: usize,
    /// The number of words after which a stretch of a list ends. A longer list is made and counted stretch by stretch.
    pub(super) stretch_words: usize,
    /// The largest length of a heavy program that is kept for other batches, in numbers of 32 bits. A longer one is
    /// compiled for each batch, part by part. A part may be longer by what is below one node.
    pub(super) part_len: usize,
    /// The largest length of a light program.
    pub(super) light_part_len: usize,
    /// The number of rows of the light matrix. Batches that need more are counted a few row sets at a time.
    pub(super) matrix_rows: usize,
    /// The largest entry of the light matrix.
    pub(super) largest_entry: u16,
    /// The number of bits of a digit of the coefficients.
    pub(super) digit_bits: u32,
    /// The largest number of words with which a node is a leaf, by the number of rows left. With more rows left, no
    /// node is a leaf.
    pub(super) leaf_words: &'static [usize],
    /// The largest number of planes of a leaf: its squares, its combinations, and plane 0.
    pub(super) leaf_planes: usize,
    /// The largest number of completions that are tried for a row set of a leaf, so that a section has no more of them.
    pub(super) section_completions: usize,
}

impl Limits {
    pub(super) fn new(size: BoardSize) -> Self {
        let [part_len, light_part_len] = part_lens(size);
        Self {
            block_labels: BLOCK_LABELS,
            stretch_words: 1 << 22,
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
            section_completions: MAX_COMPLETIONS,
        }
    }
}

/// Returns the largest lengths of a heavy and a light program that are kept.
///
/// Up to n = 25 no program that was compiled is longer. All were compiled for n = 20 to 22, and several hundred for
/// n = 23 to 25, among them the longest heavy ones, which have three white queens in even rows: they have 1.9, 4.4,
/// 10.0, 23.9, 55.3 and 142.6 MiB for n = 20 to 25. The longest light ones have 0.6, 0.6, 1.4, 1.9, 9.7 and 10.1 MiB.
/// On larger boards a heavy program gets more memory than a light one, because a heavy program that does not fit costs
/// more.
fn part_lens(size: BoardSize) -> [usize; 2] {
    /// The length of code with a quarter of a MiB.
    const QUARTER: usize = 1 << 16;
    match size.get() {
        ..=20 => [8 * QUARTER, 3 * QUARTER],
        21 => [20 * QUARTER, 3 * QUARTER],
        22 => [42 * QUARTER, 6 * QUARTER],
        23 => [100 * QUARTER, 8 * QUARTER],
        24 => [228 * QUARTER, 42 * QUARTER],
        25 => [580 * QUARTER, 64 * QUARTER],
        26 => [640 * QUARTER, 96 * QUARTER],
        27 => [1024 * QUARTER, 160 * QUARTER],
        _ => [1024 * QUARTER, 340 * QUARTER],
    }
}

/// Returns the bytes with which a thread can count every unit of a board of up to n = 30.
///
/// They were measured, up to n = 26 also where Linux uses huge pages for every process, which takes 2 to 7% more. They
/// are at most a tenth more than the peak of resident memory with huge pages, and a sixth more than without.
///
/// A counter keeps its memory from batch to batch, so each vector grows to its maximum over all batches. For n = 20
/// to 22 a process counted the whole board on one thread. On larger boards one counter began batches of each number of
/// white queens: it listed both colours, made the matrix, compiled both programs, and ran them on a first block. These
/// were random batches, some thousands for n = 23 and more than a hundred for n = 30.
pub(crate) fn bytes(size: BoardSize) -> u64 {
    /// The board of the first number.
    const FIRST: usize = 20;
    /// The MiB of a thread for n = 20 to 30. Smaller boards take less than the first number.
    const MIB: [u64; 11] = [11, 19, 34, 62, 130, 280, 392, 640, 1010, 1200, 1120];
    MIB[size.rows().saturating_sub(FIRST)] << 20
}
