//! Where the work of a join is cut: how large products, leaves, batches and samples are.
//!
//! Half or twice these numbers make no difference in speed. So the [second count](Pass) has others:
//! its products and its batches have other lengths, its splits come at other depths and use other
//! bits, and a fault that depends on any of these does not hit both counts alike.
//!
//! **Batches** show what this is good for. Suppose that words are lost when the last batch of a long
//! list is shorter than a vector: in the first count, when the list is 1 to 7 words longer than a
//! multiple a of 2^18. In the second count a batch is about 2^18 divided by the golden ratio, of which
//! no small multiple is near to a whole number. So its last batch is then at least 32 words long, for
//! all a up to 5000, or lists of 10^9 words. And if such a fault hits different lists of both counts,
//! it loses different half-boards.
//!
//! The first split of a large unit uses the second best bit in the second count. It is nearly as
//! good as the best one. Otherwise the sides of both counts would often be split on bits that are each
//! other's images, into parts of the same lengths.

use crate::engine::unit::Pass;

/// The numbers of one count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuts {
    /// The half-boards of units with at most this many pairs of words are all made, without any split.
    pub(crate) small: u64,
    /// In larger units they are made below this many pairs, or below `few_per_group` for each group:
    /// short groups are split at a greater cost for each word.
    pub(crate) few: u64,
    pub(crate) few_per_group: u64,
    /// If memory limits products, they have at most this many eighths of what it allows.
    pub(crate) product_eighths: u64,
    /// The place, among the ranked bits, of the one that a unit is split on first.
    pub(crate) first_split: usize,
    /// Pairs of words that are sampled on each side for one factored split, and before a product.
    pub(crate) split_sample: u64,
    pub(crate) product_sample: u64,
    /// Half-boards that are sampled on each side if there was no split.
    pub(crate) list_sample: usize,
    /// Long lists are processed in batches of this many words. None takes half a millisecond, and
    /// between two of them a count can be cancelled.
    pub(crate) batch: usize,
    /// Two lists are a leaf if they have at most as many pairs as this many pairs of full blocks.
    pub(crate) leaf_blocks: usize,
    /// The same if the shorter one has at most this many eighths of a block. The optimum is flat: half
    /// or twice these sizes cost 1 % to 4 %.
    pub(crate) leaf_eighths: usize,
    /// Most words of the shorter list in a leaf: joined with a batch of the longer list they take some
    /// milliseconds. Leaves are shorter unless the arena is used up.
    pub(crate) leaf_batch: usize,
}

impl Cuts {
    pub(crate) const FIRST: Self = Self {
        small: 1_000_000,
        few: 300_000,
        few_per_group: 600,
        product_eighths: 8,
        first_split: 0,
        split_sample: 600,
        product_sample: 765,
        list_sample: 255,
        batch: 1 << 18,
        leaf_blocks: 4,
        leaf_eighths: 10,
        leaf_batch: 1 << 13,
    };

    /// None is larger than in the first count, so the plan for the memory holds for both.
    const SECOND: Self = Self {
        small: 700_000,
        few: 210_000,
        few_per_group: 450,
        product_eighths: 6,
        first_split: 1,
        split_sample: 500,
        product_sample: 640,
        list_sample: 203,
        batch: 162_016,
        leaf_blocks: 3,
        leaf_eighths: 9,
        leaf_batch: 6_000,
    };

    pub(crate) fn of(pass: Pass) -> Self {
        match pass {
            Pass::First => Self::FIRST,
            Pass::Second => Self::SECOND,
        }
    }

    /// The most pairs that a product may have, if memory limits it to this many.
    pub(crate) fn most_pairs(self, limit: u64) -> u64 {
        limit * self.product_eighths / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_last_batches_never_come_in_both_counts() {
        let (first, second) = (Cuts::FIRST.batch, Cuts::SECOND.batch);
        assert!((1..5000).all(|batches| batches * first % second >= 32));
        assert!((1..5000).all(|batches| batches * first % second < second - 8));
    }
}
