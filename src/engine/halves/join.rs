//! Counts the pairs of an east and a west half-board that share no diagonal.
//!
//! **Counts:** pairs (p, q) of words, one from each list, with p & q = 0.
//!
//! **Idea:**
//!
//! ```text
//! join(X, Y, bits):                         X is the longer list
//!     if X, Y are short, or no bit is left: leaf(X, Y)
//!     split X into X0, X1 by the next bit, select from Y the words Y0 without it
//!     return join(X1, Y0, other bits) + join(X0, Y, other bits)
//! ```
//!
//! Of the four products of halves only X1 x Y1 is dropped: a fraction p·q of all pairs, where p and q
//! are the fractions of words that have the bit. The bits are ranked by p·q, from a sample of each
//! list, and the best ones are used first. Always splitting the *longer* list keeps both sides long
//! enough to fill the blocks of the leaf. The leaf cuts one list, the build side, into blocks and looks
//! up the words of the other, the probe side, in tables (see the kernels). The best bits are moved to
//! the top of the words, so a leaf usually needs only the lowest 30 bits.
//!
//! **Time** (AVX-512): while the lists fit the second-level cache, `partition` takes 0.35 ns for each
//! word and `select` 0.25 ns; on lists of 2^17 words or more, 0.7 to 1.1 ns and 0.6 to 1 ns.
//! docs/HALVES.md gives the share of each step, and what was tried and lost.
//!
//! **Memory:** the parts go into an arena of `ARENA` times the lists. The bits of the lists themselves
//! are permuted in place; after that they are only read.
//!
//! **Invariants:** no pair in a part shares a bit that was split on, since one of its words lacks it.

use super::kernel::{BitOrder, CHUNK_BITS, JoinKernel, Tables};
use super::word_list::{PIECE, SLACK};
use crate::cancel::Cancel;

/// Words that are sampled from each list to rank the bits; a byte cannot count more.
const SAMPLE: usize = 255;

/// Lists at most this long are joined by comparing all pairs.
const PLAIN: usize = 12;

/// Bits that the leaf of a deep join uses: five chunks.
const LEAF_BITS: u32 = 30;

/// Bits of words short enough to stay in their order: six chunks.
const SHORT_BITS: u32 = 36;

/// Most words of the shorter list in a leaf: joined with a piece of the longer list they take some
/// milliseconds. Leaves are shorter unless the arena is used up.
const LEAF_PIECE: usize = 1 << 13;

/// Space for the parts of the lists, in lengths of both lists together. Each split shortens the lists
/// to about 0.6 of their length, so this is rarely used up; if it is, a leaf comes early.
const ARENA: usize = 4;

/// The working memory of one thread.
pub(crate) struct Join {
    kernel: JoinKernel,
    tables: Tables,
    arena: Vec<u64>,
}

/// The bits to split on, after the permutation.
struct Splits<'a> {
    /// Best first; 0 after the last one.
    bits: [u64; 64],
    cancel: &'a Cancel,
}

impl Join {
    pub(crate) fn new(kernel: JoinKernel) -> Self {
        Self { kernel, tables: kernel.tables(), arena: Vec::new() }
    }

    pub(crate) fn release(&mut self) {
        self.arena = Vec::new();
    }

    /// Counts the disjoint pairs of east and west half-boards, whose fields have `field` bits each.
    /// The order of the bits changes in both lists. A cancelled count is meaningless.
    pub(crate) fn count(
        &mut self,
        field: u32,
        east: &mut [u64],
        west: &mut [u64],
        cancel: &Cancel,
    ) -> u64 {
        if east.is_empty() || west.is_empty() {
            return 0;
        }
        let mut ranked = [0; 64];
        let ranked = &mut ranked[..2 * field as usize];
        for (bit, place) in ranked.iter_mut().enumerate() {
            *place = bit as u32;
        }
        let (shorter, longer) = (east.len().min(west.len()), east.len().max(west.len()));
        if !self.is_leaf(longer, shorter) {
            let space = ARENA * (shorter + longer) + SLACK;
            if self.arena.len() < space {
                // Fresh memory, which the operating system clears page by page when it is used:
                // nothing in the old arena is needed, and much of the new one never will be.
                self.arena = Vec::new();
                self.arena = vec![0; space + space / 4];
            }
            self.rank_bits(field, east, west, ranked);
        }
        let (place, splits) = plan_splits(field, ranked, cancel);
        let swapped = |bit: u32| if bit < field { bit + field } else { bit - field };
        let bits = 0..2 * field;
        let order = BitOrder::new(bits.clone().map(|bit| (bit, place[bit as usize])));
        self.permute_bits(east, &order, cancel);
        let order = BitOrder::new(bits.map(|bit| (swapped(bit), place[bit as usize])));
        self.permute_bits(west, &order, cancel);
        let mut arena = std::mem::take(&mut self.arena);
        let all = u64::MAX >> (64 - 2 * field);
        let pairs = self.split(east, west, &mut arena, 0, all, &splits);
        self.arena = arena;
        pairs
    }

    /// Permutes the bits of a list.
    fn permute_bits(&self, words: &mut [u64], order: &BitOrder, cancel: &Cancel) {
        for piece in words.chunks_mut(PIECE) {
            if cancel.is_cancelled() {
                return;
            }
            self.kernel.permute_bits(piece, order);
        }
    }

    /// Sorts the bits: first those that are most frequent in both lists.
    fn rank_bits(&self, field: u32, east: &[u64], west: &[u64], bits: &mut [u32]) {
        let in_east = self.sampled_counts(east);
        let in_west = self.sampled_counts(west);
        // One number holds the score above the bit, which is cheap to sort.
        for bit in &mut *bits {
            let swapped = if *bit < field { *bit + field } else { *bit - field };
            let score = u32::from(in_east[*bit as usize]) * u32::from(in_west[swapped as usize]);
            *bit |= (!score & 0xffff) << 6;
        }
        bits.sort_unstable();
        for bit in bits {
            *bit &= 63;
        }
    }

    fn sampled_counts(&self, words: &[u64]) -> [u8; 64] {
        let mut sample = [0; SAMPLE];
        let stride = words.len().div_ceil(SAMPLE).max(1);
        let size = words.len().div_ceil(stride);
        for (place, word) in sample.iter_mut().zip(words.iter().step_by(stride)) {
            *place = *word;
        }
        self.kernel.positional_popcount(&sample[..size])
    }

    /// Counts the disjoint pairs of words; they can only clash in the bits `unused`.
    fn split(
        &mut self,
        x: &[u64],
        y: &[u64],
        free: &mut [u64],
        depth: usize,
        unused: u64,
        splits: &Splits,
    ) -> u64 {
        let (x, y) = if x.len() >= y.len() { (x, y) } else { (y, x) };
        if y.is_empty() {
            return 0;
        }
        if y.len() <= PLAIN {
            return in_pieces(x, splits, |x| self.kernel.nested_loop(x, y));
        }
        let needed = x.len() + y.len() + SLACK;
        if unused == 0 || needed > free.len() || self.is_leaf(x.len(), y.len()) {
            let bits = u64::BITS - unused.leading_zeros();
            return in_pieces(x, splits, |x| {
                y.chunks(LEAF_PIECE).map(|y| self.leaf(x, y, bits, splits)).sum()
            });
        }
        let bit = splits.bits[depth];
        let (depth, unused) = (depth + 1, unused & !bit);
        let (parts, free) = free.split_at_mut(x.len());
        let (mut middle, mut end) = (0, parts.len());
        for x in x.chunks(PIECE) {
            if splits.cancel.is_cancelled() {
                return 0;
            }
            let without = self.kernel.partition(x, bit, &mut parts[middle..end]);
            middle += without;
            end -= x.len() - without;
        }
        let (without, with) = parts.split_at(middle);
        let mut kept = 0;
        for y in y.chunks(PIECE) {
            if splits.cancel.is_cancelled() {
                return 0;
            }
            kept += self.kernel.select(y, bit, 0, &mut free[kept..]);
        }
        let (y_without, rest) = free.split_at_mut(kept);
        self.split(with, y_without, rest, depth, unused, splits)
            + self.split(without, y, free, depth, unused, splits)
    }

    /// Counts the pairs of a leaf, with the build side that costs less.
    fn leaf(&mut self, x: &[u64], y: &[u64], bits: u32, splits: &Splits) -> u64 {
        // Before a leaf of usual length, the split has already checked.
        if x.len() + y.len() >= LEAF_PIECE && splits.cancel.is_cancelled() {
            return 0;
        }
        let swap = self.leaf_cost(x.len(), y.len()) > self.leaf_cost(y.len(), x.len());
        let (build, probe) = if swap { (y, x) } else { (x, y) };
        self.kernel.count_bit_sliced(build, probe, bits, &mut self.tables)
    }

    /// The cost of a leaf in lookups of one word in one block. Filling the tables of a block costs
    /// about as much as 150 lookups.
    fn leaf_cost(&self, build: usize, probe: usize) -> usize {
        build.div_ceil(self.kernel.block()) * (probe + 150)
    }

    /// Whether another split would not pay for lists this short. The optimum is flat: half or twice
    /// these sizes cost 1 % to 4 %.
    fn is_leaf(&self, longer: usize, shorter: usize) -> bool {
        let block = self.kernel.block();
        longer * shorter <= 4 * block * block || shorter <= block * 5 / 4
    }
}

/// The sum over the pieces of a list; less after a cancellation.
fn in_pieces(x: &[u64], splits: &Splits, count: impl FnMut(&[u64]) -> u64) -> u64 {
    // A list of usual length is one piece, and the split has already checked.
    let is_long = x.len() > PIECE;
    let pieces = x.chunks(PIECE).take_while(|_| !(is_long && splits.cancel.is_cancelled()));
    pieces.map(count).sum()
}

/// The destinations of the bits, and the bits to split on. The best ones go to the top, in groups of a
/// chunk, so that a leaf that comes before all splits are used needs only one or two chunks more.
fn plan_splits<'a>(field: u32, ranked: &[u32], cancel: &'a Cancel) -> ([u32; 64], Splits<'a>) {
    let total = 2 * field;
    let mut splits = Splits { bits: [0; 64], cancel };
    let mut place = [0; 64];
    let best = if total <= SHORT_BITS { 0 } else { (total - LEAF_BITS) as usize };
    let first = best.saturating_sub(CHUNK_BITS);
    let mut next = 0;
    for group in [&ranked[best..], &ranked[first..best], &ranked[..first]] {
        let set = group.iter().fold(0_u64, |set, bit| set | 1 << bit);
        for bit in (0..total).filter(|bit| set >> bit & 1 == 1) {
            place[bit as usize] = next;
            next += 1;
        }
    }
    for (split, &bit) in splits.bits.iter_mut().zip(ranked) {
        *split = 1 << place[bit as usize];
    }
    (place, splits)
}
