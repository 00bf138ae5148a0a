//! Joins two lists of half-boards: splits them on bits until they are short, then counts the pairs of
//! a leaf hundreds at a time.

use super::super::cuts::Cuts;
use super::super::kernel::Tables;
use super::super::word_list::SLACK;
use super::bits::SplitBits;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;

/// Lists at most this long are joined by comparing all pairs.
const PLAIN: usize = 12;

/// Space for the parts of the lists, in lengths of both lists together. Each split shortens the lists
/// to about 0.6 of their length, so this is rarely used up; if it is, a leaf comes early.
const ARENA: usize = 4;

/// The working memory for joining lists.
pub(super) struct ListJoin {
    kernel: Kernel,
    cuts: Cuts,
    tables: Tables,
    arena: Vec<u64>,
}

/// The bits to split on, and how to stop.
struct Splits<'a> {
    bits: &'a SplitBits,
    cancel: &'a Cancel,
}

impl ListJoin {
    pub(super) fn new(kernel: Kernel, cuts: Cuts) -> Self {
        Self { kernel, cuts, tables: kernel.tables(), arena: Vec::new() }
    }

    /// Counts the disjoint pairs of two lists. A cancelled count is meaningless.
    pub(super) fn count(&mut self, x: &[u64], y: &[u64], bits: &SplitBits, cancel: &Cancel) -> u64 {
        let space = ARENA * (x.len() + y.len()) + SLACK;
        if self.arena.len() < space {
            // Fresh memory, which the operating system clears page by page when it is used:
            // nothing in the old arena is needed, and much of the new one never will be.
            self.arena = Vec::new();
            self.arena = vec![0; space + space / 4];
        }
        let mut arena = std::mem::take(&mut self.arena);
        let pairs = self.split(x, y, &mut arena, 0, bits.unused, &Splits { bits, cancel });
        self.arena = arena;
        pairs
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
            return in_batches(x, self.cuts.batch, splits, |x| self.kernel.nested_loop(x, y));
        }
        let needed = x.len() + y.len() + SLACK;
        if unused == 0 || needed > free.len() || self.is_leaf(x.len(), y.len()) {
            let bits = u64::BITS - unused.leading_zeros();
            return in_batches(x, self.cuts.batch, splits, |x| {
                y.chunks(self.cuts.leaf_batch).map(|y| self.leaf(x, y, bits, splits)).sum()
            });
        }
        let bit = splits.bits.order[depth];
        let (depth, unused) = (depth + 1, unused & !bit);
        let (parts, free) = free.split_at_mut(x.len());
        let (mut middle, mut end) = (0, parts.len());
        for x in x.chunks(self.cuts.batch) {
            if splits.cancel.is_cancelled() {
                return 0;
            }
            let without = self.kernel.partition(x, bit, &mut parts[middle..end]);
            middle += without;
            end -= x.len() - without;
        }
        let (without, with) = parts.split_at(middle);
        let mut kept = 0;
        for y in y.chunks(self.cuts.batch) {
            if splits.cancel.is_cancelled() {
                return 0;
            }
            kept += self.kernel.select(y, bit, &mut free[kept..]);
        }
        let (y_without, rest) = free.split_at_mut(kept);
        self.split(with, y_without, rest, depth, unused, splits)
            + self.split(without, y, free, depth, unused, splits)
    }

    /// Counts the pairs of a leaf, with the build side that costs less.
    fn leaf(&mut self, x: &[u64], y: &[u64], bits: u32, splits: &Splits) -> u64 {
        // Before a leaf of usual length, the split has already checked.
        if x.len() + y.len() >= self.cuts.leaf_batch && splits.cancel.is_cancelled() {
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

    /// Whether another split would not pay for lists this short.
    pub(super) fn is_leaf(&self, longer: usize, shorter: usize) -> bool {
        let block = self.kernel.block();
        longer * shorter <= self.cuts.leaf_blocks * block * block
            || shorter <= block * self.cuts.leaf_eighths / 8
    }
}

/// The sum over the batches of a list; less after a cancellation.
fn in_batches(x: &[u64], batch: usize, splits: &Splits, count: impl FnMut(&[u64]) -> u64) -> u64 {
    // A list of usual length is one batch, and the split has already checked.
    let is_long = x.len() > batch;
    let batches = x.chunks(batch).take_while(|_| !(is_long && splits.cancel.is_cancelled()));
    batches.map(count).sum()
}
